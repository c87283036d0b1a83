"""JSON Schema of fabrics side by side."""

from __future__ import annotations

from typing import Any

from aiplan.report.schema_parts import COUNT, NUMBER, TEXT, UNKNOWN, closed, items
from aiplan.report.topology.document import HEADER


def inputs() -> dict[str, Any]:
    """Return the schema of what was asked."""
    asked = {"type": "object", "additionalProperties": NUMBER}
    counts = dict.fromkeys(("gpus", "network_ports_per_node", "switch_ports"), COUNT)
    names = {"scenario": {"type": ["string", "null"]}, "node": TEXT, "switch": TEXT}
    return closed(counts | names | {"oversubscription": asked})


def result() -> dict[str, Any]:
    """Return the schema of what was found."""
    words = dict.fromkeys(("topology", "reason", "title", "validity", "source"), TEXT) | {"fits": {"type": "boolean"}}
    fabric = dict.fromkeys(HEADER, UNKNOWN) | words
    counts = ("ranks", "stride", "ranks_in_scale_up_network", "ranks_below_leaf", "ranks_in_pod")
    group = dict.fromkeys(counts, COUNT) | dict.fromkeys(("group", "traffic", "reach"), TEXT)
    rates = dict.fromkeys(("bandwidth_bytes_per_s", "bandwidth_share"), UNKNOWN)
    return closed({"fabrics": items(closed(fabric)), "placement": items(closed(group | rates))})
