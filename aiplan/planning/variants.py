"""Scenarios with settings changed: one source, loaded again for each."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from aiplan.declare import Diagnostics, InputError, Mark, parse_assignment, parse_variation, read
from aiplan.engine.counts import parameters
from aiplan.planning.estimate import columns
from aiplan.scenario.files import Place
from aiplan.scenario.load import load, resolve_tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from aiplan.catalog.load import Catalog
    from aiplan.scenario.load import Scenario

MAX_VARIANTS = 10_000
STDIN = "<stdin>"

Setting = tuple[str, str, str]
"""Path, value text, and the option that asked for it."""


class Source(NamedTuple):
    """Where a scenario is read from: a path or library name, or text that came through a pipe."""

    text: str
    piped: bytes | None = None


class Variant(NamedTuple):
    """A change to a scenario, and what it is called."""

    label: str
    settings: tuple[Setting, ...]


class Loaded(NamedTuple):
    """A scenario, or None and what is wrong with it."""

    scenario: Scenario | None
    diagnostics: Diagnostics


def assignments(texts: Iterable[str]) -> tuple[Setting, ...]:
    """Read the values of `--set`."""
    return tuple((*parse_assignment(text), "--set") for text in texts)


def variants(texts: Sequence[str]) -> list[Variant]:
    """Read the values of `--vary` and cross them; nothing to vary is one variant without a label.

    Raises
    ------
    InputError
        A text has not the form `path=values`, or there are too many variants.
    """
    axes = [parse_variation(text) for text in texts]
    names = short_names([path for path, _ in axes])
    count = 1
    for _, values in axes:
        count *= len(values)
    if count > MAX_VARIANTS:
        diagnostics = Diagnostics()
        diagnostics.error(
            "AIP115",
            f"--vary asks for {count:,} variants, more than {MAX_VARIANTS:,}",
            hint="use fewer values or larger steps",
        )
        raise diagnostics.failure()
    return [
        Variant(
            ", ".join(f"{name}={value}" for name, value in zip(names, chosen, strict=True)),
            tuple((path, value, "--vary") for (path, _), value in zip(axes, chosen, strict=True)),
        )
        for chosen in itertools.product(*(values for _, values in axes))
    ]


def short_names(paths: Sequence[str]) -> list[str]:
    """Return the last key of every path, or the whole path where that would not tell two apart."""
    lasts = [path.rpartition(".")[2] for path in paths]
    return [last if lasts.count(last) == 1 else path for last, path in zip(lasts, paths, strict=True)]


def load_source(source: Source, catalog: Catalog, settings: Sequence[Setting] = ()) -> Loaded:
    """Load a scenario with settings changed; what is wrong is returned, not raised."""
    diagnostics = Diagnostics()
    try:
        scenario = _load(source, catalog, diagnostics, settings)
    except InputError as failure:
        return Loaded(None, Diagnostics(list(failure.diagnostics), failure.sources))
    if scenario is not None and not (_as_stated(scenario, diagnostics) and _possible(scenario, diagnostics)):
        scenario = None
    return Loaded(scenario, diagnostics)


def _as_stated(scenario: Scenario, diagnostics: Diagnostics) -> bool:
    """Whether the shape of the model has as many parameters as its file states, if it states a number."""
    stated = scenario.values["model.stated_parameters"]
    counted = float(parameters(columns([scenario]).model).total[0, 0])
    if math.isnan(stated.number) or stated.number == counted:
        return True
    file, _, line = stated.origin.where.rpartition(":")
    diagnostics.error(
        "AIP310",
        f"{scenario.model.name} is stated to have {stated.number:,.0f} parameters, and its shape has {counted:,.0f}",
        Mark(file, int(line), 1, 2) if line.isdigit() else None,
        hint="mend the shape, or leave parameters out",
    )
    return False


def _possible(scenario: Scenario, diagnostics: Diagnostics) -> bool:
    """Whether checkpoints can be made as a scenario asks, if it speaks of them."""
    if not scenario.run:
        return True
    from aiplan.planning.run_checks import impossible  # noqa: PLC0415  most scenarios do without

    found = impossible(scenario)
    for fault, mark in found:
        diagnostics.error(fault.code, fault.problem, mark, hint=fault.hint)
    return not found


def _load(source: Source, catalog: Catalog, diagnostics: Diagnostics, settings: Sequence[Setting]) -> Scenario | None:
    if source.piped is None:
        return load(source.text, catalog, diagnostics, settings)
    tree = read(source.piped, STDIN, diagnostics)
    return resolve_tree(tree, Place(STDIN, Path("stdin")), catalog, diagnostics, settings)
