"""The published runs behind an interval, one by one, and where each was published."""

from __future__ import annotations

import csv
from itertools import takewhile
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from aiplan.catalog.folders import data_folder
from aiplan.declare import Diagnostics, Mapping, build, read
from aiplan.planning.evidence import like, place, published
from aiplan.planning.intervals import select
from aiplan.scenario.files import LIBRARY, PUBLISHED
from aiplan.scenario.runs import RunsFile

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aiplan.scenario.load import Scenario

BODY = ("models:", "base:", "columns:", "rows:")
"""How the part of a file of runs begins that is not about the file itself."""


class PublishedRun(NamedTuple):
    """A run: its id, the file that holds it, accelerators, and predicted over measured step time."""

    ident: str
    source: str
    accelerators: int
    ratio: float


class Spread(NamedTuple):
    """The runs of one source: how many, and the least, the median and the largest of predicted over measured."""

    source: str
    runs: int
    least: float
    median: float
    largest: float


class Origin(NamedTuple):
    """Where runs come from: the id of their file, what was measured, and the public address."""

    source: str
    name: str
    address: str


def runs_like(scenario: Scenario) -> tuple[PublishedRun, ...]:
    """Return the published runs from which the interval of a scenario's step comes; none if there are too few."""
    table = published()
    found = select(table, like(scenario))
    if found is None:
        return ()
    lines = place().read_text(encoding="utf-8").splitlines()
    counts = {row["id"]: int(row["gpus"]) for row in csv.DictReader(lines[1:])}
    return tuple(
        PublishedRun(table.ident[at], str(table.source[at]), counts[table.ident[at]], 1.0 / float(table.ratio[at]))
        for at in found[1].nonzero()[0]
    )


def spreads(runs: Iterable[PublishedRun]) -> list[Spread]:
    """Return how predictions of the runs of each source were off, the source with most runs first."""
    found: dict[str, list[float]] = {}
    for run in runs:
        found.setdefault(run.source, []).append(run.ratio)
    each = [Spread(name, len(some), min(some), median(some), max(some)) for name, some in found.items()]
    return sorted(each, key=lambda one: -one.runs)


def origins_of(sources: Iterable[str]) -> list[Origin]:
    """Return what is said of the files that runs come from."""
    return [_origin(source) for source in sources]


def _origin(source: str) -> Origin:
    """Read what a file of runs says of itself, without its runs."""
    name = f"{source}.yaml"
    with (data_folder(LIBRARY) / PUBLISHED / name).open(encoding="utf-8") as file:
        head = "".join(takewhile(lambda line: not line.startswith(BODY), file))
    diagnostics = Diagnostics()
    tree = read(head.encode(), name, diagnostics)
    about = build(RunsFile, tree, diagnostics) if isinstance(tree, Mapping) else None
    diagnostics.raise_if_errors()
    return Origin(source, "" if about is None else about.name, "" if about is None else about.source)
