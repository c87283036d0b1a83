"""JSON Schema of kernels between the roofs."""

from __future__ import annotations

from typing import Any

from aiplan.report.roofline.document import HEADER
from aiplan.report.schema_parts import NUMBER, TEXT, TEXTS, UNKNOWN, closed, items


def inputs() -> dict[str, Any]:
    """Return the schema of what was asked."""
    return closed({"scenario": TEXT, "source": TEXT, "settings": TEXTS})


def result() -> dict[str, Any]:
    """Return the schema of what was found."""
    roofs = (
        "matmul_peak_flops_per_s",
        "matmul_sustained_flops_per_s",
        "attention_peak_flops_per_s",
        "bandwidth_bytes_per_s",
        "bandwidth_sustained_bytes_per_s",
        "ridge_flops_per_byte",
    )
    numbers = ("times", "time_s", "flops", "bytes", "bandwidth_bytes_per_s", "launch_s")
    kernel = {"closed_form": TEXT, "memory_bound": {"type": "boolean"}} | dict.fromkeys(numbers, NUMBER)
    kernel |= dict.fromkeys(("peak_flops_per_s", "sustained_flops_per_s"), UNKNOWN)
    found = dict.fromkeys(HEADER, UNKNOWN) | {"class": TEXT, "kernels": items(closed(kernel))}
    return closed(
        {"step_time_s": UNKNOWN, "roofs": closed(dict.fromkeys(roofs, NUMBER)), "classes": items(closed(found))}
    )
