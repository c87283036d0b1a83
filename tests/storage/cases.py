"""Scenarios that several tests of the run as a whole share."""

PLAIN = {
    "model": "llama-3-70b",
    "workload": {"tokens": "2e12", "sequence_length": 8192, "global_batch": 512},
    "cluster": {"node": "dgx-h100", "nodes": 32},
    "plan": {"tensor": 8, "pipeline": 4},
}
LUSTRE = {"system": "lustre-oss-modern", "servers": 4}
RUN = PLAIN | {"storage": LUSTRE, "checkpoint": {}, "reliability": {}}
HOURS = 3600.0
DAYS = 24 * HOURS
LLAMA = {
    "model": "llama-3.1-405b",
    "workload": {"tokens": "15.6e12", "sequence_length": 8192, "global_batch": 2048},
    "cluster": {"node": "dgx-h100", "nodes": 2048},
    "plan": {"tensor": 8, "pipeline": 16, "count_embedding_as_layer": True},
    "storage": {"read": "2 TB/s", "write": "2 TB/s"},
    "checkpoint": {},
}
