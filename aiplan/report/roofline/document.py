"""Kernels between the roofs as JSON, and as records: one line a class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aiplan.report import documents

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.planning.kernels import Kernel
    from aiplan.planning.roofline import Class, Roofline
    from aiplan.report.records import Cell

HEADER = (
    "class",
    "time_s",
    "share_of_step",
    "flops",
    "bytes",
    "intensity_flops_per_byte",
    "rate_flops_per_s",
    "attainable_flops_per_s",
    "peak_flops_per_s",
    "bandwidth_bytes_per_s",
    "memory_bound_share",
    "launch_share",
)


def document(answer: Roofline) -> str:
    """Return a JSON document `aiplan.roofline/1`."""
    scenario, roofs = answer.scenario, answer.roofs
    inputs = {"scenario": scenario.name, "source": scenario.source, "settings": list(scenario.settings)}
    result = {
        "step_time_s": answer.step,
        "roofs": {
            "matmul_peak_flops_per_s": roofs.matmul_peak,
            "matmul_sustained_flops_per_s": roofs.matmul_sustained,
            "attention_peak_flops_per_s": roofs.attention_peak,
            "bandwidth_bytes_per_s": roofs.bandwidth,
            "bandwidth_sustained_bytes_per_s": roofs.bandwidth_sustained,
            "ridge_flops_per_byte": roofs.ridge,
        },
        "classes": [
            dict(zip(HEADER, _row(answer, one), strict=True)) | {"kernels": [_kernel(kernel) for kernel in one.kernels]}
            for one in answer.classes
        ],
    }
    return documents.document("roofline", inputs, [], result, [])


def rows(answer: Roofline) -> Iterator[tuple[Cell, ...]]:
    """Yield a record for every class of kernels."""
    for one in answer.classes:
        yield _row(answer, one)


def _row(answer: Roofline, one: Class) -> tuple[Cell, ...]:
    at = one.intensity
    return (
        one.name,
        one.time,
        answer.share(one),
        one.flops,
        one.nbytes,
        at,
        one.rate,
        None if at is None else answer.roofs.attainable(at),
        one.peak,
        one.bandwidth,
        one.memory_bound,
        one.launching,
    )


def _kernel(one: Kernel) -> dict[str, Any]:
    return {
        "closed_form": one.form,
        "times": one.times,
        "time_s": one.time,
        "flops": one.flops,
        "bytes": one.nbytes,
        "peak_flops_per_s": one.peak,
        "sustained_flops_per_s": one.sustained,
        "bandwidth_bytes_per_s": one.bandwidth,
        "launch_s": one.launch,
        "memory_bound": one.moves,
    }
