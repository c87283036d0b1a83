"""What lies between many scenarios before and after: each changed, added, removed, the same, or not to be read."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from aiplan.declare import Diagnostics
from aiplan.planning.causes import Side, alone
from aiplan.planning.diff import diff, figures
from aiplan.planning.estimate import estimate
from aiplan.planning.saved import is_saved, read_if_there, read_saved
from aiplan.planning.variants import Loaded, load_source, place_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from aiplan.catalog.load import Catalog
    from aiplan.planning.causes import Alone
    from aiplan.planning.diff import Difference, Document, Number
    from aiplan.planning.estimate import Estimate
    from aiplan.planning.pairs import Pair
    from aiplan.planning.variants import Setting, Source
    from aiplan.scenario.load import Scenario

STATES = ("changed", "added", "removed", "mended", "broken", "same")
"""`mended` could not be read before, `broken` cannot be read now."""


class Change(NamedTuple):
    """What became of one scenario.

    `figures` are its main results, before and after; `problem` says why the old one could not be read, and `loaded`
    holds what is wrong with the new one.
    """

    name: str
    state: str
    figures: tuple[Number, ...] = ()
    difference: Difference | None = None
    problem: str = ""
    loaded: Loaded | None = None

    @property
    def counts(self) -> bool:
        """Whether anything that somebody plans with is not what it was."""
        return self.state in {"added", "removed", "mended"} or (self.difference is not None and self.difference.changed)


@dataclass(frozen=True, slots=True)
class Changes:
    """All scenarios of a comparison by name; `revision` is empty where two folders are compared."""

    all: tuple[Change, ...]
    paths: tuple[str, ...]
    revision: str
    threshold: float

    @property
    def changed(self) -> bool:
        """Whether a scenario came or went, or a result of one changed by more than the threshold."""
        return any(one.counts for one in self.all)

    @property
    def broken(self) -> list[Change]:
        """Those that cannot be read now."""
        return [one for one in self.all if one.state == "broken"]

    def counts(self) -> dict[str, int]:
        """Return how many scenarios became what."""
        found = Counter(one.state for one in self.all)
        return {state: found[state] for state in STATES}


class _Read(NamedTuple):
    """One side of a pair: its document or its scenario, and what is wrong with it."""

    document: Document | None
    scenario: Scenario | None
    loaded: Loaded
    source: Source


def changes(
    pairs: Sequence[Pair],
    catalog: Catalog,
    settings: Sequence[Setting],
    convention: str,
    threshold: float,
    document: Callable[[Estimate], Document],
) -> tuple[Change, ...]:
    """Return what became of each scenario; those that are not the same are estimated in one batch.

    Parameters
    ----------
    pairs : sequence of Pair
        Scenarios before and after.
    catalog : Catalog
        Where ids are looked up, before and after.
    settings : sequence of tuple
        Changes made to all of them.
    convention : str
        How operations are counted.
    threshold : float
        Relative change up to which results count as the same. [-]
    document : callable
        Makes of an estimate what is saved of it.
    """
    causes = partial(alone, catalog=catalog, convention=convention)
    moved = [pair for pair in pairs if not pair.same]
    sides = [(_read(pair.old, catalog, settings), _read(pair.new, catalog, settings)) for pair in moved]
    legal = [side.scenario for pair in sides for side in pair if side is not None and side.scenario is not None]
    answers = iter(estimate(legal, convention) if legal else ())
    found = {
        pair.name: _change(
            pair.name, _answered(old, answers, document), _answered(new, answers, document), threshold, causes
        )
        for pair, (old, new) in zip(moved, sides, strict=True)
    }
    return tuple(found.get(pair.name, Change(pair.name, "same")) for pair in pairs)


def _read(source: Source | None, catalog: Catalog, settings: Sequence[Setting]) -> _Read | None:
    if source is None:
        return None
    content = source.piped if source.piped is not None else read_if_there(Path(source.text))
    if content is not None and is_saved(content):
        found = Diagnostics()
        return _Read(read_saved(content, source.text, found), None, Loaded(None, found), source)
    loaded = load_source(source, catalog, settings)
    return _Read(None, loaded.scenario, loaded, source)


def _answered(
    side: _Read | None, answers: Iterator[Estimate], document: Callable[[Estimate], Document]
) -> _Read | None:
    return side if side is None or side.scenario is None else side._replace(document=document(next(answers)))


def _change(
    name: str, old: _Read | None, new: _Read | None, threshold: float, causes: Callable[..., tuple[Alone, ...]]
) -> Change:
    before, after = (None if side is None else side.document for side in (old, new))
    told = tuple(figures(before, after))
    if new is None:
        return Change(name, "removed", told)
    if after is None:
        return Change(name, "broken", told, loaded=new.loaded)
    if old is None:
        return Change(name, "added", told)
    if before is None:
        return Change(name, "mended", told, problem=_problem(old.loaded))
    found = diff(before, after, threshold)
    if not (found.results or found.fields or found.follows or found.hidden or found.remarks):
        return Change(name, "same")
    if old.scenario is not None and new.scenario is not None:
        first, second = Side(old.scenario, place_of(old.source)), Side(new.scenario, place_of(new.source))
        found = replace(found, alone=causes(first, second, found.fields))
    return Change(name, "changed", told, found)


def _problem(loaded: Loaded) -> str:
    return next((item.problem for item in loaded.diagnostics.items if item.level == "error"), "")
