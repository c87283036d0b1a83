"""Conditions on an estimate, such as `memory <= 90 %`, `mfu >= 0.4` or `tensor <= 8`: what they may ask, and of what.

A condition compares one result or one size of the plan with a value. A share asked of a time or of the memory means the
share of the step, or of what the device has. `fits` alone is a condition too. The same words serve `--where`, `expect:`
of a scenario, and the rules of a policy.
"""

from __future__ import annotations

import operator
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from aiplan import units
from aiplan.declare import Mapping as Block
from aiplan.declare import Mark, Scalar, Sequence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from aiplan.core.arrays import Numeric
    from aiplan.declare import Diagnostics, Node

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
WORDS = {"fits": "memory <= 100 %"}
"""Conditions that are a word, and what each stands for."""


class Field(NamedTuple):
    """What a condition may ask of: the term that answers, its dimension, and the term that a share is a share of."""

    term: str
    dimension: str
    whole: str | None = None


RESULTS = {
    "time_to_train": Field("run.time_to_train", "time"),
    "step_time": Field("step", "time"),
    "wallclock": Field("wallclock", "time"),
    "goodput": Field("run.goodput", SHARE),
    "cost": Field("total.cost", "money"),
    "energy": Field("total.energy", "energy"),
    "carbon": Field("total.carbon", "carbon"),
    "power": Field("total.power", "power"),
    "memory": Field("memory.needed", "data", "memory.capacity"),
    "mfu": Field("utilisation", SHARE),
    "hfu": Field("utilisation.hardware", SHARE),
    "tokens_per_s_per_gpu": Field("run.tokens_per_s_per_gpu", "count"),
    "accelerators": Field("cluster.accelerators", "count"),
}
PARTS = (
    "compute",
    "host",
    "tensor",
    "context",
    "expert",
    "pipeline",
    "bubble",
    "data",
    "optimizer",
    "overhead",
    "loading",
)
SIZES = ("tensor", "context", "pipeline", "interleave", "expert", "expert_tensor", "micro_batch", "data", "zero")
CHOICES = {"recompute": ("none", "selective", "full"), "sequence_parallel": ("false", "true")}
FIELDS = (
    RESULTS
    | {f"step.{name}": Field(f"step.{name}", "time", "step") for name in PARTS}
    | {name: Field(f"plan.{name}", "count") for name in SIZES}
    | {name: Field(f"plan.{name}", name) for name in CHOICES}
)


class Condition(NamedTuple):
    """A condition as written, the term that it asks, the term that is the whole of it if any, and the number.

    `dimension` is that of the number: of the term, a share, or the name of the choices it is one of.
    """

    text: str
    name: str
    term: str
    whole: str | None
    sign: str
    number: float
    dimension: str

    @property
    def on_plan(self) -> bool:
        """Whether the plan alone answers it."""
        return self.term.startswith("plan.")

    @property
    def of_whole_run(self) -> bool:
        """Whether it takes more than a step to answer it."""
        return not self.on_plan and not self.term.startswith(("step", "memory", "cluster"))

    def left(self, of: Callable[[str], Numeric]) -> Numeric:
        """Return what is compared with the number, from a function that returns terms by name."""
        found = of(self.term)
        return found if self.whole is None else found / of(self.whole)

    def holds(self, of: Callable[[str], Numeric]) -> Numeric:
        """Whether the condition holds; unknown does not."""
        return _SIGNS[self.sign](self.left(of), self.number)


class Expectation(NamedTuple):
    """A condition that a file puts on its own results, and where it stands there."""

    condition: Condition
    mark: Mark


def expectations(tree: Node, diagnostics: Diagnostics, key: str = "expect") -> tuple[Expectation, ...]:
    """Read the conditions in a list of a file; note what is wrong with any at its place."""
    block = next((child for name, child in tree.items if name.text == key), None) if isinstance(tree, Block) else None
    found = (at_node(node, diagnostics) for node in (block.items if isinstance(block, Sequence) else ()))
    return tuple(one for one in found if one is not None)


def at_node(node: Node, diagnostics: Diagnostics) -> Expectation | None:
    """Read the condition that stands at a node; note what is wrong with it there."""
    if not isinstance(node, Scalar) or not isinstance(node.value, str):
        return None  # the declaration of the field has complained
    try:
        return Expectation(read_condition(node.text), node.mark)
    except units.UnitError as fault:
        diagnostics.error("AIP210", fault.problem, node.mark, hint=fault.hint or _HINT)
        return None


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


def read_condition(text: str, fields: Mapping[str, Field] = FIELDS) -> Condition:
    """Read one condition.

    Parameters
    ----------
    text : str
        The condition.
    fields : mapping of str to Field
        What it may ask of.

    Raises
    ------
    UnitError
        It has not the form, names nothing that is known, or its value is of another kind.
    """
    word = text.strip()
    if word in WORDS:
        return read_condition(WORDS[word])._replace(text=word, name=word)
    match = re.fullmatch(_FORM, text, re.DOTALL)
    if match is None:
        raise units.UnitError(f"'{word}' is not a condition", _meant(word))
    name, sign, value = match["name"], {"==": "="}.get(match["sign"], match["sign"]), match["value"]
    field = fields.get(name)
    if field is None:
        raise units.UnitError(f"no result or size '{name}' to put a condition on", _similar(name, fields))
    if field.dimension in CHOICES:
        return Condition(word, name, field.term, None, sign, _choice(name, sign, value), field.dimension)
    share = field.whole is not None and re.fullmatch(_SHARE, value) is not None
    dimension = SHARE if share else field.dimension
    whole = field.whole if share else None
    return Condition(word, name, field.term, whole, sign, units.parse(value, dimension), dimension)


def _choice(name: str, sign: str, value: str) -> float:
    choices = CHOICES[name]
    if value.lower() not in choices or sign not in {"=", "!="}:
        raise units.UnitError(f"'{name} {sign} {value}' has no meaning", f"write '{name} = {' | '.join(choices)}'")
    return float(choices.index(value.lower()))


def _meant(word: str) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - only after a mistake

    close = get_close_matches(word, WORDS, n=1)
    return f"did you mean '{close[0]}'?" if close else _HINT


def _similar(name: str, fields: Mapping[str, Field]) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - only after a mistake

    close = get_close_matches(name, (*fields, *WORDS), n=3)
    if close:
        return f"did you mean {' or '.join(repr(text) for text in close)}?"
    return f"known: {', '.join((*WORDS, *RESULTS, *SIZES, *CHOICES))}, and parts of the step such as step.bubble"
