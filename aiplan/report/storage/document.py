"""Demand against supply of storage as JSON, and as records: one line for everything that training asks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from aiplan.report import documents
from aiplan.report.estimate.document import assumptions, inputs, warnings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.planning.storage import Need, StorageAnswer
    from aiplan.report.records import Cell

HEADER = (
    "what",
    "way",
    "size_bytes",
    "demand_bytes_per_s",
    "supply_bytes_per_s",
    "time_s",
    "met",
    "binding_stage",
    "binding_bytes_per_s",
)
KEYS = {
    "read_bytes_per_s": "storage.read",
    "read_bytes_per_s_low": "storage.read_low",
    "read_bytes_per_s_high": "storage.read_high",
    "write_bytes_per_s": "storage.write",
    "write_bytes_per_s_low": "storage.write_low",
    "write_bytes_per_s_high": "storage.write_high",
    "cache_hits": "loading.hits",
    "prefetch_depth": "loading.depth",
    "data_stall_per_step_s": "step.loading",
    "accelerator_utilisation": "loading.utilisation",
    "kept_bytes": "storage.kept",
    "cost_usd": "total.cost.storage",
}
"""Keys of the document and the terms they are."""


def document(answer: StorageAnswer) -> str:
    """Return a JSON document `aiplan.storage/1`."""
    one = answer.estimate
    result = {
        **{key: one[name] for key, name in KEYS.items()},
        "dataset_bytes": one.given("storage.dataset"),
        "provision_bytes": answer.capacity,
        "cost_usd_per_month": answer.month,
        "met": answer.met,
        "stages": [
            {"name": stage.name, "read_bytes_per_s": stage.read, "write_bytes_per_s": stage.write}
            for stage in answer.stages
        ],
        "needs": [dict(zip(HEADER, _cells(answer, need), strict=True)) | {"note": need.note} for need in answer.needs],
        "levels": [
            {
                "name": level.name,
                "read_bytes_per_s": level.read,
                "write_bytes_per_s": level.write,
                "enough": level.enough,
            }
            for level in answer.levels
        ],
    }
    return documents.document("storage", inputs(one), assumptions(one), result, warnings(one))


def rows(answer: StorageAnswer) -> Iterator[tuple[Cell, ...]]:
    """Yield a record for everything that training asks of storage."""
    for need in answer.needs:
        yield _cells(answer, need)


def _cells(answer: StorageAnswer, need: Need) -> tuple[Cell, ...]:
    stage = answer.binding(need.way)
    limit = getattr(stage, need.way)
    known = limit if math.isfinite(limit) else None
    return (need.name, need.way, need.size, need.demand, need.supply, need.time, need.met, stage.name, known)


def schema() -> dict[str, Any]:
    """Return the JSON Schema of the result."""
    from aiplan.report.schema_parts import TEXT, UNKNOWN, closed

    rates = {"read_bytes_per_s": UNKNOWN, "write_bytes_per_s": UNKNOWN}
    truth = {"type": "boolean"}
    need = dict.fromkeys(HEADER, UNKNOWN) | dict.fromkeys(("what", "way", "binding_stage", "note"), TEXT)
    numbers = dict.fromkeys((*KEYS, "dataset_bytes", "provision_bytes", "cost_usd_per_month"), UNKNOWN)
    lists = {
        "stages": closed({"name": TEXT} | rates),
        "needs": closed(need | {"met": truth}),
        "levels": closed({"name": TEXT, "enough": truth} | rates),
    }
    arrays = {name: {"type": "array", "items": items} for name, items in lists.items()}
    return closed(numbers | {"met": truth} | arrays)
