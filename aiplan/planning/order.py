"""How far apart two predicted step times must be for their order to be trusted, from pairs of published runs.

What all predictions of a source have in common (its machine, its software, what it counts) cancels between two plans,
so this is another question than how far off one prediction may be.
"""

from __future__ import annotations

import csv
from functools import cache
from io import StringIO
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from aiplan.catalog.folders import data_folder
from aiplan.scenario.files import LIBRARY, PUBLISHED

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from aiplan.planning.ranking import Ranking

HEADER = ("lead", "pairs", "wrong")
PERCENTS = range(51)
"""Leads that are counted, in percent."""
WRONG = 0.1
"""Share of the pairs that may be in the other order: predictions hold in nine of ten cases elsewhere too."""


class Lead(NamedTuple):
    """Pairs of plans of which one is predicted to take longer by at least a share, and how many did not."""

    lead: float
    pairs: int
    wrong: int


def leads(ranking: Ranking) -> tuple[Lead, ...]:
    """Return how often the order of two plans was predicted wrong, by the least lead that was predicted.

    Parameters
    ----------
    ranking : Ranking
        Groups of plans that one source measured under the same conditions; all pairs inside a group count.
    """
    found = [pair for group in ranking.groups for pair in _pairs(group.predicted, group.measured)]
    rows = []
    for percent in PERCENTS:
        kept = [slower for lead, slower in found if lead > 0 and lead >= percent / 100]
        rows.append(Lead(percent / 100, len(kept), sum(not slower for slower in kept)))
    return tuple(rows)


def _pairs(predicted: Sequence[float], measured: Sequence[float]) -> Iterable[tuple[float, bool]]:
    """Yield by how much the plan predicted to be slower takes longer, and whether it did take longer."""
    for one, other in combinations(zip(predicted, measured, strict=True), 2):
        fast, slow = sorted((one, other))
        yield slow[0] / fast[0] - 1.0, slow[1] > fast[1]


def trusted(rows: Sequence[Lead], wrong: float = WRONG) -> Lead | None:
    """Return the least lead from which on the predicted order is wrong in no more than a share of the pairs.

    Parameters
    ----------
    rows : sequence of Lead
        By rising lead.
    wrong : float
        Share of the pairs that may be in the other order. [-]

    Returns
    -------
    Lead or None
        None if no lead is large enough, or there are no pairs.
    """
    found = None
    for row in reversed([row for row in rows if row.pairs]):
        if row.wrong > wrong * row.pairs:
            break
        found = row
    return found


def place() -> Path:
    """Return the file of the pairs of the published runs."""
    return data_folder(LIBRARY) / PUBLISHED / "order.csv"


@cache
def published() -> tuple[Lead, ...]:
    """Return the pairs of the published runs that came with the program."""
    return parse(place().read_text(encoding="utf-8").splitlines())


def parse(lines: Iterable[str]) -> tuple[Lead, ...]:
    """Return the rows of a table with a heading."""
    _, *rows = csv.reader(lines)
    return tuple(Lead(float(lead), int(pairs), int(wrong)) for lead, pairs, wrong in rows)


def text(rows: Sequence[Lead]) -> str:
    """Return rows as a table with a heading."""
    target = StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(HEADER)
    writer.writerows((f"{row.lead:.2f}", row.pairs, row.wrong) for row in rows)
    return target.getvalue()
