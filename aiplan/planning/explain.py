"""Why a number is what it is: the calls that produced it, their arguments, and where those come from."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from aiplan.core.formula import Call, Recording, recording
from aiplan.engine.evaluate import evaluate
from aiplan.planning.estimate import columns

if TYPE_CHECKING:
    from collections.abc import Callable

    from aiplan.scenario.load import Scenario
    from aiplan.scenario.values import Value


class Form(NamedTuple):
    """What the docstring of a closed form says: sentence, formula, parameters, limits, source."""

    sentence: str
    formula: str
    parameters: dict[str, tuple[str, str]]
    unit: str
    notes: str
    source: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """A number, the closed form that made it and what went in; or an input and its origin.

    `kind` is `computed` (by `call`), `given`, `catalog`, `default`, `assumed`, `derived`, or `arithmetic` for a plain
    product or quotient of other numbers.
    """

    name: str
    text: str
    unit: str
    value: float | None
    kind: str
    where: str = ""
    call: str = ""
    form: Form | None = None
    arguments: tuple[Explanation, ...] = ()


def explain(scenario: Scenario, term: str, depth: int = 1) -> Explanation | None:
    """Explain a term of the estimate of a scenario; None if there is no such term.

    The estimate is made once more while calls are recorded; what is shown are the calls that made the number.

    Parameters
    ----------
    scenario : Scenario
        The scenario.
    term : str
        Dotted name, such as `step.tensor`.
    depth : int
        Closed forms to descend into: 1 shows the one that made the term with its arguments.
    """
    values = columns([scenario])
    named = {id(array): name for name, array in values.named()}
    with recording() as calls:
        terms = evaluate(values)
    if term not in terms:
        return None
    return _Reader(calls, named, scenario.values).read(term, "", "", terms[term], depth)


def term_names(scenario: Scenario) -> list[str]:
    """Return the names that can be explained."""
    return sorted(evaluate(columns([scenario])))


class _Reader:
    def __init__(self, calls: Recording, named: dict[int, str], values: dict[str, Value]) -> None:
        self.calls = calls
        self.named = named
        self.values = values

    def read(self, name: str, text: str, unit: str, value: Any, depth: int) -> Explanation:
        number = _number(value)
        own = self.named.get(id(value))
        if own is not None and own in self.values:
            origin = self.values[own].origin
            where = " ".join(part for part in (origin.where, origin.detail) if part)
            return Explanation(own, text, unit, number, origin.kind, where)
        call = self.calls.producer(value)
        if call is None:
            return Explanation(name, text, unit, number, "arithmetic" if isinstance(value, np.ndarray) else "constant")
        form = read_form(call.function)
        arguments = self._arguments(call, form, depth - 1) if depth > 0 else ()
        return Explanation(name, text, unit or form.unit, number, "computed", "", call.name, form, arguments)

    def _arguments(self, call: Call, form: Form, depth: int) -> tuple[Explanation, ...]:
        if "*" in "".join(form.parameters):
            text, unit = next(iter(form.parameters.values()))
            parts = enumerate(call.positional, start=1)
            return tuple(self.read(f"part {index}", text, unit, part, depth) for index, part in parts)
        return tuple(
            self.read(name, *form.parameters.get(name, ("", "")), value, depth)
            for name, value in call.arguments.items()
        )


def _number(value: Any) -> float | None:
    array = np.asarray(value, dtype=float)
    return float(array.flat[0]) if array.size == 1 and np.isfinite(array.flat[0]) else None


@cache
def read_form(function: Callable[..., Any]) -> Form:
    """Read the docstring of a closed form."""
    lines = (function.__doc__ or "").expandtabs().splitlines()
    indent = min((len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()), default=0)
    body = [lines[0].strip(), *(line[indent:] for line in lines[1:])]
    sections = _sections(body)
    head = [part for part in "\n".join(sections[""]).split("\n\n") if part.strip()]
    source = " ".join(" ".join(sections.get("References", [])).split()).removeprefix(".. [1] ")
    return Form(
        sentence=" ".join(head[0].split()),
        formula=" ".join(head[1].split()) if len(head) > 1 else "",
        parameters=_parameters(sections.get("Parameters", [])),
        unit=_unit(" ".join(sections.get("Returns", []))),
        notes=" ".join(" ".join(sections.get("Notes", [])).split()),
        source=source,
    )


def _sections(body: list[str]) -> dict[str, list[str]]:
    sections: dict[str, list[str]] = {"": []}
    name = ""
    for index, line in enumerate(body):
        following = body[index + 1] if index + 1 < len(body) else ""
        if line.strip() and re.fullmatch(r"-{3,}", following.strip()):
            name = line.strip()
            sections[name] = []
        elif not re.fullmatch(r"-{3,}", line.strip()):
            sections[name].append(line)
    return sections


def _parameters(lines: list[str]) -> dict[str, tuple[str, str]]:
    found: dict[str, tuple[str, str]] = {}
    name = ""
    for line in lines:
        if line and not line.startswith(" "):
            name = line.split(" : ")[0].strip()
            found[name] = ("", "")
        elif line.strip() and name:
            text = f"{found[name][0]} {line.strip()}".strip()
            found[name] = (text, "")
    return {key: (re.sub(r"\s*\[[^\]]*\]$", "", text).rstrip("."), _unit(text)) for key, (text, _) in found.items()}


def _unit(text: str) -> str:
    match = re.search(r"\[([^\]]*)\]\s*$", text.strip())
    return match[1] if match else ""
