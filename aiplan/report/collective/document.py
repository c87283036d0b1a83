"""A collective as JSON, and as records: one line a size and algorithm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aiplan.report import documents

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.planning.collective import Collective
    from aiplan.report.records import Cell

HEADER = (
    "operation",
    "ranks",
    "size_bytes",
    "algorithm",
    "protocol",
    "in_nccl",
    "nccl_choice",
    "fastest",
    "time_s",
    "algbw_bytes_per_s",
    "busbw_bytes_per_s",
)


def document(answer: Collective) -> str:
    """Return a JSON document `aiplan.collective/1`."""
    machine = answer.machine
    inputs = {
        "operation": answer.operation,
        "node": machine.node,
        "nodes": machine.nodes,
        "ranks": machine.ranks,
        "ranks_per_node": machine.local_ranks,
        "generation": machine.generation,
        "network": machine.network,
        "nccl_version": ".".join(map(str, answer.version)),
        "inside_bandwidth_bytes_per_s_per_gpu": machine.link_bandwidth,
        "network_bandwidth_bytes_per_s_per_gpu": machine.port_bandwidth,
    }
    assumptions = [
        {"name": item.name, "value": item.value, "origin": "assumed", "why": item.why} for item in answer.assumptions
    ]
    result: dict[str, Any] = {
        "busbw_factor": answer.factor,
        "sizes": list(_sizes(answer)),
        "rows": [dict(zip(HEADER[2:], row[2:], strict=True)) for row in rows(answer)],
        "crossovers": [
            {"size_bytes": item.size, "algorithm": item.algorithm, "protocol": item.protocol}
            for item in answer.crossovers
        ],
        "left_out": [{"algorithm": name, "reason": why} for name, why in answer.left_out],
        "cautions": list(answer.cautions),
    }
    return documents.document("collective", inputs, assumptions, result, [])


def rows(answer: Collective) -> Iterator[tuple[Cell, ...]]:
    """Yield a record for every size and algorithm."""
    choice, best = answer.choice, answer.best
    for curve in answer.curves:
        algbw, busbw = answer.algbw(curve.time), answer.busbw(curve.time)
        for at, size in enumerate(answer.sizes):
            yield (
                answer.operation,
                answer.machine.ranks,
                int(size),
                curve.algorithm[at],
                curve.protocol[at],
                curve.nccl,
                choice.algorithm[at] == curve.algorithm[at],
                best.algorithm[at] == curve.algorithm[at],
                float(curve.time[at]),
                float(algbw[at]),
                float(busbw[at]),
            )


def _sizes(answer: Collective) -> Iterator[dict[str, Any]]:
    """Yield for every size what NCCL chooses, what is the fastest, and the bound."""
    busbw, least = answer.busbw(answer.choice.time), answer.busbw(answer.bound)
    for at, size in enumerate(answer.sizes):
        yield {
            "size_bytes": int(size),
            "nccl_choice": {"algorithm": answer.choice.algorithm[at], "protocol": answer.choice.protocol[at]},
            "fastest": {"algorithm": answer.best.algorithm[at], "protocol": answer.best.protocol[at]},
            "time_s": float(answer.choice.time[at]),
            "busbw_bytes_per_s": float(busbw[at]),
            "bound_time_s": float(answer.bound[at]),
            "bound_busbw_bytes_per_s": float(least[at]),
            "time_band": float(answer.band[at]),
        }
