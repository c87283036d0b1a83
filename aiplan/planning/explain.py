"""Why a number is what it is: the calls that produced it, their arguments, and where those come from."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from aiplan.core.formula import Call, Recording, recording
from aiplan.declare import Diagnostics
from aiplan.engine.evaluate import evaluate
from aiplan.engine.tree import BRANCHES
from aiplan.planning.estimate import columns, run_columns
from aiplan.planning.names import label
from aiplan.planning.names import unit as unit_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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

    `kind` is `computed` (by `call`), `given`, `catalog`, `default`, `assumed`, `derived`, `constant` for a number of
    the formula that calls, or `arithmetic` for what no closed form made. `size` tells how many numbers it stands for:
    if not 1, one per pipeline stage that differs, in `values`, and `value` is None. Unknown numbers have neither.
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
    size: int = 1
    values: tuple[float, ...] = ()


STAGES = {
    "stages.index": "position of each pipeline stage, from 0",
    "stages.dense_layers": "layers without experts of each stage",
    "stages.moe_layers": "layers with experts of each stage",
    "stages.has_embedding": "1 for the first stage",
    "stages.has_head": "1 for the last stage",
    "stages.copies": "how many stages are like each of these",
}
"""Where the columns come from that a plan's split of layers over pipeline stages gives."""


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
    run = run_columns([scenario], values)
    inputs = dict(values.named()) | ({} if run is None else dict(run.named()))
    named = {id(array): name for name, array in inputs.items()}
    with recording() as calls:
        terms = evaluate(values, run)
    known = inputs | terms
    if term not in known:
        return None
    term_of = {id(array): name for name, array in reversed(terms.items())}
    reader = _Reader(calls, named, term_of, scenario.values | scenario.run)
    return replace(reader.read(term, label(term), unit_of(term), known[term], depth), name=term)


def explain_known(scenario: Scenario, term: str, depth: int = 1) -> Explanation:
    """Explain a term of the estimate of a scenario.

    Raises
    ------
    InputError
        There is no such term.
    """
    found = explain(scenario, term, depth)
    if found is None:
        diagnostics = Diagnostics()
        close = get_close_matches(term, [one.name for one in explain_all(scenario)], n=3)
        meant = f"did you mean {' or '.join(repr(name) for name in close)}? " if close else ""
        diagnostics.error("AIP108", f"no term '{term}'", hint=f"{meant}'aiplan explain SCENARIO' lists all terms")
        raise diagnostics.failure()
    return found


def explain_all(scenario: Scenario) -> list[Explanation]:
    """Return all that can be explained, without what is below: the terms of the answer, then the inputs."""
    values = columns([scenario])
    terms = evaluate(values, run_columns([scenario], values))
    ordered = [*(name for name in BRANCHES if name in terms), *(name for name in terms if name not in BRANCHES)]
    computed = [Explanation(name, label(name), unit_of(name), _number(terms[name]), "computed") for name in ordered]
    return [
        *computed,
        *(
            Explanation(name, label(name), unit_of(name), _number(value.number), value.origin.kind, _place(value))
            for name, value in (scenario.values | scenario.run).items()
        ),
    ]


class _Reader:
    def __init__(
        self, calls: Recording, named: dict[int, str], term_of: dict[int, str], values: dict[str, Value]
    ) -> None:
        self.calls = calls
        self.named = named
        self.term_of = term_of
        self.values = values
        self.read_before: dict[tuple[int, int], tuple[Explanation, ...]] = {}

    def read(self, name: str, text: str, unit: str, value: Any, depth: int) -> Explanation:
        number = _number(value)
        own = self.named.get(id(value))
        if own is not None and own in self.values:
            given = self.values[own]
            return Explanation(own, text, unit_of(own), number, given.origin.kind, _place(given))
        size, several = int(np.size(value)), _numbers(value)
        if own in STAGES:
            return Explanation(own, text, unit_of(own), number, "derived", STAGES[own], size=size, values=several)
        call = self.calls.producer(value)
        if call is None:
            kind = "arithmetic" if isinstance(value, np.ndarray) else "constant"
            return Explanation(name, text, unit, number, kind, size=size, values=several)
        form = read_form(call.function)
        return Explanation(
            name,
            text,
            unit or form.unit,
            number,
            "computed",
            call=call.name,
            form=form,
            arguments=self._below(call, form, depth),
            size=size,
            values=several,
        )

    def _below(self, call: Call, form: Form, depth: int) -> tuple[Explanation, ...]:
        """Read the arguments of a call once for each depth, however many terms it went into."""
        key = id(call.result), depth
        if key not in self.read_before:
            self.read_before[key] = self._arguments(call, form, depth - 1) if depth > 0 else ()
        return self.read_before[key]

    def _arguments(self, call: Call, form: Form, depth: int) -> tuple[Explanation, ...]:
        if "*" in "".join(form.parameters):
            parts = enumerate(call.positional, start=1)
            return tuple(self._part(index, part, depth) for index, part in parts)
        return tuple(self.read(name, *about, value, depth) for name, about, value in _named(call, form))

    def _part(self, index: int, part: Any, depth: int) -> Explanation:
        """Read a part of a sum: a term of the tree by its name, anything else by its place."""
        name = self.term_of.get(id(part))
        if name is None:
            return self.read(f"part {index}", "", "", part, depth)
        return self.read(name, label(name), unit_of(name), part, depth)


def _named(call: Call, form: Form) -> Iterator[tuple[str, tuple[str, str], Any]]:
    """Yield the arguments of a call with text and unit; a record of numbers stands as its fields that were set."""
    for name, value in call.arguments.items():
        if hasattr(value, "_asdict"):
            record: Callable[..., Any] = type(value)
            about, unset = read_form(record).parameters, value._field_defaults
            for field, part in value._asdict().items():
                if part is not unset.get(field):
                    yield field, about.get(field, ("", "")), part
        else:
            yield name, form.parameters.get(name, ("", "")), value


def _place(value: Value) -> str:
    return " ".join(part for part in (value.origin.where, value.origin.detail) if part)


def _number(value: Any) -> float | None:
    array = np.asarray(value, dtype=float)
    return float(array.flat[0]) if array.size == 1 and np.isfinite(array.flat[0]) else None


def _numbers(value: Any) -> tuple[float, ...]:
    """Return the numbers of a vector; none if there is only one, or if one of them is unknown."""
    array = np.asarray(value, dtype=float).ravel()
    return tuple(array.tolist()) if array.size > 1 and np.isfinite(array).all() else ()


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
