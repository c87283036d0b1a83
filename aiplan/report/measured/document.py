"""Measured collectives as JSON, and as records: one line a size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aiplan.report import documents

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.adapters.nccl_lines import Half, Row
    from aiplan.planning.curves import Errors
    from aiplan.planning.measured import Fitted, Logs, Measured
    from aiplan.report.records import Cell

FIGURES = ("time_s", "algbw_bytes_per_s", "busbw_bytes_per_s")
HEADER = ("file", "line", "operation", "ranks", "type", "reduction", "root", "size_bytes", *FIGURES)


def document(answer: Logs) -> str:
    """Return a JSON document `aiplan.calibrate-log/1`."""
    limits = answer.limits
    inputs = {
        "files": list(answer.files),
        "link": limits.link,
        "network": limits.network,
        "ports": limits.ports,
        "nodes": limits.nodes,
        "share": limits.share,
    }
    result = {"tables": [_table(item) for item in answer.tables]}
    return documents.document("calibrate-log", inputs, [], result, [])


def rows(answer: Logs) -> Iterator[tuple[Cell, ...]]:
    """Yield a record for every row of every table: the faster half, as printed."""
    for item in answer.tables:
        table = item.table
        for row in table.rows:
            head = (table.file, row.line, table.operation, table.ranks, row.dtype, row.reduction, row.root)
            yield (*head, row.size, *row.best[:3])


def _table(item: Measured) -> dict[str, Any]:
    table = item.table
    return {
        "file": table.file,
        "line": table.line,
        "operation": table.operation,
        "ranks": table.ranks,
        "nodes": item.nodes,
        "type": table.dtype,
        "reduction": table.reduction,
        "root": table.root,
        "latency_s": item.latency,
        "plateau_algbw_bytes_per_s": item.plateau_algbw,
        "plateau_busbw_bytes_per_s": item.plateau_busbw,
        "plateau_size_bytes": item.plateau_size,
        "rows": [_row(row) for row in table.rows],
        "fit": _fit(item.fits[0]) if item.fits else None,
        "fits": [_fit(fit) for fit in item.fits],
        "errors_by_size": [{"from_bytes": decade.from_bytes} | _errors(decade.errors) for decade in item.decades],
        "flags": [flag._asdict() for flag in item.flags],
        "remarks": list(table.remarks),
    }


def _row(row: Row) -> dict[str, Any]:
    best = dict(zip(FIGURES, row.best[:3], strict=True))
    halves = dict(zip(("out_of_place", "in_place"), [*map(_half, row.halves), None][:2], strict=True))
    return {"size_bytes": row.size} | best | halves


def _half(half: Half | None) -> dict[str, Any] | None:
    return None if half is None else dict(zip((*FIGURES, "wrong"), half, strict=True))


def _fit(fit: Fitted) -> dict[str, Any]:
    return {
        "kind": fit.curve.kind,
        "band": fit.curve.band,
        "constants": fit.curve.constants,
        "errors": _errors(fit.errors),
        "errors_unseen": None if fit.unseen is None else _errors(fit.unseen),
    }


def _errors(errors: Errors) -> dict[str, Any]:
    return {
        "n": errors.points,
        "median_abs_error": errors.median,
        "p90_abs_error": errors.p90,
        "worst_abs_error": errors.worst,
        "share_within_10_percent": errors.within_10,
    }
