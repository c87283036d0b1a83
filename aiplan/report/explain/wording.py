"""How an explanation is worded, for table and Markdown alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.text import number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.planning.explain import Explanation, Form

ORIGINS = {
    "given": "given in",
    "catalog": "catalog,",
    "default": "default:",
    "assumed": "assumed:",
    "derived": "derived:",
    "calibrated": "calibrated,",
}
PLAIN = {
    "arithmetic": "a product or quotient of others",
    "constant": "a constant of the model",
}


def amount(one: Explanation) -> str:
    """Return the value, or how many values it stands for."""
    return f"{one.size} stages" if one.value is None and one.size > 1 else number(one.value, one.unit)


def origin(one: Explanation) -> str:
    """Return where a value comes from."""
    if one.call:
        return f"computed by {one.call}"
    return PLAIN.get(one.kind) or f"{ORIGINS.get(one.kind, one.kind)} {one.where or 'nobody gave it'}"


def below(one: Explanation, depth: int = 0) -> Iterator[tuple[int, Explanation]]:
    """Yield all arguments with their depth, parents first."""
    for argument in one.arguments:
        yield depth, argument
        yield from below(argument, depth + 1)


def forms(one: Explanation) -> dict[str, Form]:
    """Return the closed forms that the explanation goes into, by name."""
    shown = [one, *(argument for _, argument in below(one) if argument.arguments)]
    return {each.call: each.form for each in shown if each.form is not None}
