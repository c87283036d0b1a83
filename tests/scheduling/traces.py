"""The extracts of public traces that the tests replay, and synthetic jobs."""

import csv
from pathlib import Path

import numpy as np

from aiplan.planning.scheduling.jobs import Jobs
from aiplan.planning.scheduling.machine import Group, Pod, machine

DATA = Path(__file__).parents[1] / "data"
MIB = 2**20


def table(name):
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def openb_machine(*, with_gpus=True):
    rows = [row for row in table("openb_nodes.csv") if int(row["gpus"]) or not with_gpus]
    return machine(
        [
            Group(int(row["nodes"]), int(row["gpus"]), int(row["cpu"]), int(row["memory_mib"]) * MIB, row["gpu_type"])
            for row in rows
        ]
    )


def openb_pods():
    return {
        Pod(int(row["cpu"]), int(row["memory_mib"]) * MIB, int(row["gpus"]), int(row["each"]) or 1000): int(row["pods"])
        for row in table("openb_pods.csv")
    }


def jobs_of(rows, budgets=(), **shared):
    """Jobs from dicts of what differs; the rest has plain values."""
    plain = {
        "pod": Pod(gpus=1),
        "submit": 0.0,
        "duration": 3600.0,
        "replicas": 1,
        "queue": 0,
        "priority": 0,
        "preempts": True,
        "gang": True,
        "topology": 0,
        "checkpoint": np.inf,
    }
    rows = [plain | shared | row for row in rows]
    classes = tuple(dict.fromkeys(row["pod"] for row in rows))
    column = lambda key, kind: np.array([row[key] for row in rows], dtype=kind)  # noqa: E731
    return Jobs(
        names=tuple(f"job-{index}" for index in range(len(rows))),
        classes=classes,
        kind=np.array([classes.index(row["pod"]) for row in rows]),
        submit=column("submit", float),
        duration=column("duration", float),
        replicas=column("replicas", int),
        least=np.array([row.get("least", row["replicas"]) for row in rows]),
        queue=column("queue", int),
        priority=column("priority", int),
        preempts=column("preempts", bool),
        gang=column("gang", bool),
        topology=column("topology", int),
        checkpoint=column("checkpoint", float),
        speeds=(),
        budgets=tuple(budgets),
    )


def uniform(nodes, gpus=8, cpu=0, memory=0, domain_size=0):
    return machine([Group(nodes, gpus, cpu, memory, domain_size=domain_size)])
