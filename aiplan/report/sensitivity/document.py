"""What a change of each parameter does as JSON, and as records: one line a parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aiplan.planning.names import unit
from aiplan.planning.sensitivity import OUTCOMES
from aiplan.report import documents
from aiplan.report.sensitivity.keys import VALUES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.planning.sensitivity import Effect, Sensitivity, Trial
    from aiplan.report.records import Cell

HEADER = (
    "group",
    "parameter",
    "value",
    "unit",
    "kink",
    *(f"elasticity_{name}" for name in VALUES),
    *(f"doubled_{name}" for name in VALUES),
    "doubled_fits",
    "doubled_refused",
    *(f"halved_{name}" for name in VALUES),
    "halved_fits",
    "halved_refused",
)


def document(answer: Sensitivity) -> str:
    """Return a JSON document `aiplan.sensitivity/1`."""
    scenario = answer.estimate.scenario
    inputs = {"scenario": scenario.name, "source": scenario.source, "settings": list(scenario.settings)}
    result = {
        "ranked_by": answer.time,
        "columns": answer.columns,
        "now": {VALUES[one.name]: one.of(answer.estimate) for one in OUTCOMES} | {"fits": answer.estimate.fits},
        "parameters": [_effect(one) for one in answer.effects],
        "absent": [{"parameter": one.lever.name, "reason": one.reason} for one in answer.absent],
    }
    return documents.document("sensitivity", inputs, [], result, [])


def _effect(one: Effect) -> dict[str, Any]:
    return {
        "parameter": one.lever.name,
        "group": one.lever.group,
        "inputs": list(one.lever.inputs),
        "fields": list(one.lever.fields),
        "value": one.value,
        "unit": unit(one.lever.inputs[0]),
        "elasticity": one.elasticities,
        "elasticity_below": one.below,
        "elasticity_above": one.above,
        "between": one.span,
        "kink": one.kink,
        "doubled": _trial(one.doubled),
        "halved": _trial(one.halved),
    }


def _trial(one: Trial) -> dict[str, Any]:
    return {"change": one.changes, "fits": None if one.refused else one.fits, "refused": one.refused or None}


def rows(answer: Sensitivity) -> Iterator[tuple[Cell, ...]]:
    """Yield a record for every parameter, in the order of their effect in each group."""
    for one in answer.effects:
        head = (one.lever.group, one.lever.name, one.value, unit(one.lever.inputs[0]), one.kink)
        trials = [
            (*trial.changes.values(), None if trial.refused else trial.fits, trial.refused)
            for trial in (one.doubled, one.halved)
        ]
        yield (*head, *one.elasticities.values(), *trials[0], *trials[1])
