"""Scenarios with settings changed: one source, loaded again for each."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from aiplan.catalog.load import Catalog
from aiplan.declare import Diagnostics, InputError, parse_assignment, parse_variation, read
from aiplan.scenario.files import Place
from aiplan.scenario.load import load, resolve_tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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


@dataclass(frozen=True, slots=True)
class Loaded:
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
        if scenario is None and not diagnostics.has_errors:
            # The catalog tells of a bad entry once; a fresh one tells again.
            scenario = _load(source, Catalog(catalog.overlays), diagnostics, settings)
    except InputError as failure:
        return Loaded(None, Diagnostics(list(failure.diagnostics), failure.sources))
    return Loaded(scenario, diagnostics)


def _load(source: Source, catalog: Catalog, diagnostics: Diagnostics, settings: Sequence[Setting]) -> Scenario | None:
    if source.piped is None:
        return load(source.text, catalog, diagnostics, settings)
    tree = read(source.piped, STDIN, diagnostics)
    return resolve_tree(tree, Place(STDIN, Path("stdin")), catalog, diagnostics, settings)
