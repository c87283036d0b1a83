"""Explanations as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aiplan.report import documents
from aiplan.report.explain import Terms

if TYPE_CHECKING:
    from aiplan.planning.explain import Explanation
    from aiplan.report.explain import Explained


def document(answer: Terms | Explained) -> str:
    """Return a JSON document `aiplan.explain/1`."""
    scenario = answer.scenario
    inputs = {"scenario": scenario.name, "source": scenario.source, "settings": list(scenario.settings)}
    if isinstance(answer, Terms):
        result: dict[str, Any] = {"terms": [_head(term) for term in answer.terms]}
    else:
        result = {"term": explained(answer.explanation)}
    return documents.document("explain", inputs, [], result, [])


def explained(one: Explanation) -> dict[str, Any]:
    """Return an explanation with all below it."""
    found = _head(one)
    if one.form is not None:
        found |= {
            "closed_form": one.call,
            "sentence": one.form.sentence,
            "formula": one.form.formula,
            "limits": one.form.notes,
            "source": one.form.source,
        }
    return found | {"arguments": [explained(argument) for argument in one.arguments]}


def _head(one: Explanation) -> dict[str, Any]:
    return {
        "name": one.name,
        "text": one.text,
        "unit": one.unit,
        "value": one.value,
        "size": one.size,
        "origin": one.kind,
        "where": one.where,
    }
