"""A measured collective beside the predicted one, as JSON and as records: one line a size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aiplan.planning.shortfall import as_if_ports, part_of
from aiplan.report import documents

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.planning.shortfall import Verdict
    from aiplan.report.records import Cell

HEADER = (
    "size_bytes",
    "part",
    "algorithm",
    "protocol",
    "predicted_time_s",
    "measured_time_s",
    "predicted_busbw_bytes_per_s",
    "measured_busbw_bytes_per_s",
    "ratio",
    "band",
    "verdict",
)


def document(answer: Verdict) -> str:
    """Return a JSON document `aiplan.collective-measured/1`."""
    machine, table = answer.predicted.machine, answer.table
    inputs = {
        "operation": answer.predicted.operation,
        "node": machine.node,
        "nodes": machine.nodes,
        "ranks": machine.ranks,
        "network": machine.network,
        "nccl_version": ".".join(map(str, answer.predicted.version)),
        "log": table.file,
        "line": table.line,
        "log_ranks": table.ranks,
    }
    assumptions = [
        {"name": item.name, "value": item.value, "origin": "assumed", "why": item.why} for item in machine.assumptions
    ]
    result: dict[str, Any] = {
        "normal": answer.normal,
        "rows": [dict(zip(HEADER, row, strict=True)) for row in rows(answer)],
        "shortfalls": [
            {"part": one.part, "sizes_bytes": [int(size) for size in one.sizes], "worst_ratio": one.worst}
            for one in answer.shortfalls
        ],
        "as_if_ports": as_if_ports(answer),
        "causes": [{"what": one.what, "look": one.look, "source": one.source} for one in answer.causes],
        "remarks": list(answer.remarks),
        "cautions": list(answer.predicted.cautions),
    }
    return documents.document("collective-measured", inputs, assumptions, result, [])


def rows(answer: Verdict) -> Iterator[tuple[Cell, ...]]:
    """Yield a record for every size."""
    predicted = answer.predicted
    choice, words, ratio, band = predicted.choice, answer.words, answer.ratio, answer.band
    expected, measured = predicted.busbw(choice.time), predicted.busbw(answer.measured)
    for at, size in enumerate(predicted.sizes):
        yield (
            int(size),
            part_of(float(size)),
            choice.algorithm[at],
            choice.protocol[at],
            float(choice.time[at]),
            float(answer.measured[at]),
            float(expected[at]),
            float(measured[at]),
            float(ratio[at]),
            float(band[at]),
            words[at],
        )
