"""What would make a plan fit: small changes, tried out as one batch."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

from aiplan.planning.estimate import Estimate, estimate
from aiplan.planning.layouts import Layout
from aiplan.planning.variants import Setting, load_source, short_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.catalog.load import Catalog
    from aiplan.planning.variants import Source

MOST_CHANGES = 3
SHOWN = 3


class WayOut(NamedTuple):
    """A change after which the plan fits: its name, the settings, the estimate with them, how much longer a step is."""

    label: str
    settings: tuple[str, ...]
    estimate: Estimate
    slower: float


def ways_out(source: Source, catalog: Catalog, settings: tuple[Setting, ...], stuck: Estimate) -> list[WayOut]:
    """Return the changes that make a plan fit, the fastest step first.

    Single changes are tried first, two at once where fewer than three of those help, three where nothing else does.

    Parameters
    ----------
    source : Source
        Where the scenario comes from.
    catalog : Catalog
        Where ids are looked up.
    settings : tuple
        Settings it was loaded with; the changes come on top.
    stuck : Estimate
        The estimate that does not fit.
    """
    changes = list(_changes(stuck))
    settings = (*settings, *_taken_layout(stuck))
    found: list[WayOut] = []
    for count in range(1, MOST_CHANGES + 1):
        if len(found) >= SHOWN or (found and count == MOST_CHANGES):
            break
        enough = [set(way.settings) for way in found]
        tries = [chosen for chosen in _together(changes, count) if not any(few <= _texts(chosen) for few in enough)]
        found += _fitting(source, catalog, settings, stuck, tries)
    return sorted(found, key=lambda way: way.estimate["step"])[:SHOWN]


def _taken_layout(stuck: Estimate) -> Iterator[Setting]:
    """Yield the layout of a scenario whose file says nothing about it, so that the changes are to that one."""
    if stuck.scenario.values["plan.tensor"].origin.kind == "assumed":
        for name, value in vars(stuck.scenario.file.plan).items():
            if name in Layout._fields and value is not None:
                yield f"plan.{name}", str(value), "--set"


def _changes(stuck: Estimate) -> Iterator[Setting]:
    """Yield single changes; whether they are legal shows when the scenario is loaded with them."""
    plan = stuck.scenario.file.plan
    zero = int(stuck.given("plan.zero"))
    if plan.recompute == "none":
        yield "plan.recompute", "selective", "--set"
    if plan.recompute != "full":
        yield "plan.recompute", "full", "--set"
    if zero < 3:
        yield "plan.zero", str(zero + 1), "--set"
    if plan.shards is not None:
        yield "plan.shards", "null", "--set"
    if plan.micro_batch > 1:
        yield "plan.micro_batch", "1", "--set"
    yield "plan.tensor", str(2 * plan.tensor), "--set"
    yield "plan.pipeline", str(2 * plan.pipeline), "--set"


def _together(changes: list[Setting], count: int) -> list[tuple[Setting, ...]]:
    """Return all ways to take `count` changes of different fields."""
    return [
        chosen for chosen in itertools.combinations(changes, count) if len({path for path, _, _ in chosen}) == count
    ]


def _fitting(
    source: Source,
    catalog: Catalog,
    settings: tuple[Setting, ...],
    stuck: Estimate,
    tries: list[tuple[Setting, ...]],
) -> list[WayOut]:
    loaded = [(chosen, load_source(source, catalog, (*settings, *chosen)).scenario) for chosen in tries]
    legal = [(chosen, scenario) for chosen, scenario in loaded if scenario is not None]
    if not legal:
        return []
    answers = estimate([scenario for _, scenario in legal], stuck.convention)
    return [
        WayOut(
            _name(chosen),
            tuple(sorted(_texts(chosen))),
            answer,
            answer["step"] / stuck["step"] - 1.0,
        )
        for (chosen, _), answer in zip(legal, answers, strict=True)
        if answer.fits
    ]


def _texts(chosen: tuple[Setting, ...]) -> set[str]:
    return {f"{path}={value}" for path, value, _ in chosen}


def _name(chosen: tuple[Setting, ...]) -> str:
    names = short_names([path for path, _, _ in chosen])
    return ", ".join(f"{name} {value}" for name, (_, value, _) in zip(names, chosen, strict=True))
