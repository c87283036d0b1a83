"""Conditions on an estimate, such as `memory <= 90 %`, `mfu >= 0.4` or `tensor <= 8`: what they may ask, and of what.

A condition compares one result or one size of the plan with a value. A share asked of a time or of the memory means the
share of the step, or of what the device has.
"""

from __future__ import annotations

import operator
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from aiplan import units
from aiplan.declare import Mark

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from aiplan.core.arrays import Numeric
    from aiplan.declare import Diagnostics

_FORM = r"\s*(?P<name>[A-Za-z_][\w.]*)\s*(?P<sign>>=|<=|!=|==|=|>|<)\s*(?P<value>[^\s=<>!](?:.*\S)?)\s*"
_SHARE = r"[0-9.]+(?:e-?[0-9]+)?\s*%?"
_HINT = "write e.g. 'memory <= 90 %', 'tensor <= 8' or 'time_to_train <= 30 days'"
_SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
    "!=": operator.ne,
}
SHARE = "fraction"


class Field(NamedTuple):
    """What a condition may ask of: the term that answers, its dimension, and the term that a share is a share of."""

    term: str
    dimension: str
    whole: str | None = None


RESULTS = {
    "time_to_train": Field("run.time_to_train", "time"),
    "step_time": Field("step", "time"),
    "cost": Field("run.cost", "money"),
    "energy": Field("run.energy", "energy"),
    "carbon": Field("run.carbon", "carbon"),
    "memory": Field("memory.needed", "data", "memory.capacity"),
    "mfu": Field("utilisation", SHARE),
    "hfu": Field("utilisation.hardware", SHARE),
    "tokens_per_s_per_gpu": Field("run.tokens_per_s_per_gpu", "count"),
    "accelerators": Field("cluster.accelerators", "count"),
}
PARTS = ("compute", "host", "tensor", "context", "expert", "pipeline", "bubble", "data", "optimizer", "overhead")
SIZES = ("tensor", "context", "pipeline", "interleave", "expert", "expert_tensor", "micro_batch", "data", "zero")
CHOICES = {"recompute": ("none", "selective", "full"), "sequence_parallel": ("false", "true")}
FIELDS = (
    RESULTS
    | {f"step.{name}": Field(f"step.{name}", "time", "step") for name in PARTS}
    | {name: Field(f"plan.{name}", "count") for name in SIZES}
    | {name: Field(f"plan.{name}", name) for name in CHOICES}
)


class Condition(NamedTuple):
    """A condition as written, the term that it asks, the term that is the whole of it if any, and the number."""

    text: str
    name: str
    term: str
    whole: str | None
    sign: str
    number: float

    @property
    def on_plan(self) -> bool:
        """Whether the plan alone answers it."""
        return self.term.startswith("plan.")

    def left(self, of: Callable[[str], Numeric]) -> Numeric:
        """Return what is compared with the number, from a function that returns terms by name."""
        found = of(self.term)
        return found if self.whole is None else found / of(self.whole)

    def holds(self, of: Callable[[str], Numeric]) -> Numeric:
        """Whether the condition holds; unknown does not."""
        return _SIGNS[self.sign](self.left(of), self.number)


def read_conditions(texts: Iterable[str], diagnostics: Diagnostics, option: str = "--where") -> tuple[Condition, ...]:
    """Read conditions from the command line; note what is wrong with any."""
    found = []
    for text in texts:
        try:
            found.append(read_condition(text))
        except units.UnitError as fault:
            source = f"{option} {text}"
            diagnostics.sources[source] = source
            mark = Mark(source, 1, len(option) + 2, len(source) + 1)
            diagnostics.error("AIP210", fault.problem, mark, hint=fault.hint or _HINT)
    return tuple(found)


def read_condition(text: str) -> Condition:
    """Read one condition.

    Raises
    ------
    UnitError
        It has not the form, names nothing that is known, or its value is of another kind.
    """
    match = re.fullmatch(_FORM, text, re.DOTALL)
    if match is None:
        raise units.UnitError(f"'{text.strip()}' is not a condition", _HINT)
    name, sign, value = match["name"], {"==": "="}.get(match["sign"], match["sign"]), match["value"]
    field = FIELDS.get(name)
    if field is None:
        raise units.UnitError(f"no result or size '{name}' to put a condition on", _similar(name))
    if field.dimension in CHOICES:
        return Condition(text.strip(), name, field.term, None, sign, _choice(name, sign, value))
    share = field.whole is not None and re.fullmatch(_SHARE, value) is not None
    number = units.parse(value, SHARE if share else field.dimension)
    return Condition(text.strip(), name, field.term, field.whole if share else None, sign, number)


def _choice(name: str, sign: str, value: str) -> float:
    choices = CHOICES[name]
    if value.lower() not in choices or sign not in {"=", "!="}:
        raise units.UnitError(f"'{name} {sign} {value}' has no meaning", f"write '{name} = {' | '.join(choices)}'")
    return float(choices.index(value.lower()))


def _similar(name: str) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - only after a mistake

    close = get_close_matches(name, FIELDS, n=3)
    if close:
        return f"did you mean {' or '.join(repr(text) for text in close)}?"
    return f"known: {', '.join((*RESULTS, *SIZES, *CHOICES))}, and parts of the step such as step.bubble"
