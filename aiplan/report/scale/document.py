"""Scaling as JSON, and as records: one line a size and kind of scaling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aiplan.planning.scale import PARTS
from aiplan.report import documents
from aiplan.report.search.document import HEADER as PLAN
from aiplan.report.search.document import plan_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.planning.scale import Answer, Curve, Size
    from aiplan.report.records import Cell

PART_KEYS = {part: f"{part.replace('.', '_')}_s" for part in PARTS}
LEFT_OUT = {"rank", "variant", "gpus"}
PLAN_KEYS = tuple(name for name in PLAN if name not in LEFT_OUT)
HEADER = ("scaling", "gpus", "global_batch", "efficiency", "fits", "not_possible", *PART_KEYS.values(), *PLAN_KEYS)


def document(answer: Answer) -> str:
    """Return a JSON document `aiplan.scale/1`."""
    scenario, request = answer.scenario, answer.request
    inputs = {
        "source": scenario.source,
        "settings": list(answer.settings),
        "gpus": list(request.accelerators),
        "replan": answer.replanned,
        "conditions": [item.text for item in request.conditions],
        "holds": request.holds,
        "flops_convention": request.convention,
    }
    result = {
        "batch_per_gpu": float(answer.batch_per_accelerator),
        "curves": [_curve(curve) for curve in answer.curves],
    }
    return documents.document("scale", inputs, [], result, [])


def rows(answer: Answer) -> Iterator[tuple[Cell, ...]]:
    """Yield a record for every size of every curve."""
    for curve in answer.curves:
        for size in curve.sizes:
            found = _size(curve, size)
            yield tuple(found[name] for name in HEADER)


def _curve(curve: Curve) -> dict[str, Any]:
    first, broken = curve.reference, curve.breaks
    last = curve.estimated[-1] if curve.estimated else None
    told = broken or last
    grown = curve.grown(told) if told else None
    return {
        "scaling": curve.kind,
        "reference_gpus": first.accelerators if first else None,
        "breaks_at_gpus": broken.accelerators if broken else None,
        "grown": None
        if grown is None
        else {"part": grown.part, "label": grown.label, "share_before": grown.before, "share_after": grown.after},
        "sizes": [_size(curve, size) for size in curve.sizes],
    }


def _size(curve: Curve, size: Size) -> dict[str, Any]:
    one = size.estimate
    plan = dict.fromkeys(PLAN_KEYS) if one is None else plan_of(one)
    return {
        "scaling": curve.kind,
        "gpus": size.accelerators,
        "global_batch": float(size.batch),
        "efficiency": curve.efficiency(size),
        "fits": None if one is None else size.fits,
        "not_possible": size.fault or None,
        **{key: None if one is None else one[part] for part, key in PART_KEYS.items()},
        **{name: plan[name] for name in PLAN_KEYS},
    }
