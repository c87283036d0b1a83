"""All that is known of a few scenarios, side by side: what a page shows of them.

Nothing is computed here: each part is the answer to a question of its own, asked of the same scenario. What cannot be
asked of it is a reason instead.
"""

from __future__ import annotations

from pathlib import PurePath
from string import ascii_uppercase
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aiplan.catalog.records import KINDS as CATALOG_KINDS
from aiplan.core.formula import recording
from aiplan.core.topologies.registry import KINDS
from aiplan.declare import Diagnostics, InputError
from aiplan.engine.evaluate import evaluate
from aiplan.engine.footprint import stage_terms
from aiplan.planning import fabrics
from aiplan.planning.checkpoint import checkpoint_answer
from aiplan.planning.compare import compare
from aiplan.planning.estimate import columns, run_columns
from aiplan.planning.explain import read_form
from aiplan.planning.placement import placement
from aiplan.planning.published import origins_of, runs_like
from aiplan.planning.roofline import roofline
from aiplan.planning.scale import Request, scale
from aiplan.planning.variants import Source, assignments, load_source
from aiplan.planning.ways_out import ways_out

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aiplan.catalog.load import Catalog
    from aiplan.planning.checkpoint import CheckpointAnswer
    from aiplan.planning.compare import Compared, Comparison
    from aiplan.planning.estimate import Estimate
    from aiplan.planning.placement import Group
    from aiplan.planning.published import Origin, PublishedRun
    from aiplan.planning.roofline import Roofline
    from aiplan.planning.scale import Answer as Scaling
    from aiplan.planning.variants import Setting
    from aiplan.planning.ways_out import WayOut
    from aiplan.scenario.load import Scenario

MOST = 8
"""Scenarios that can be told apart on one page."""
ARITHMETIC = "compose"
"""Module of sums and products of terms, of which there is no more to say."""
SPREAD = 3
"""Doublings of the accelerators on either side of the scenario's own."""
USUAL_RUN = ("checkpoint={}", "reliability={}")
"""What a scenario without a word on them would say of checkpoints and failures: nothing, so that defaults hold."""


class Missing(NamedTuple):
    """Why a part is not there."""

    reason: str


class Stage(NamedTuple):
    """Pipeline stages that are alike: the first of them, how many, and bytes by kind on the fullest."""

    first: int
    copies: int
    memory: dict[str, float]

    @property
    def total(self) -> float:
        """All of it, in B."""
        return sum(self.memory.values())


class Fabric(NamedTuple):
    """The fabric of a scenario, and where the groups of its plan lie in it."""

    survey: fabrics.Survey
    groups: tuple[Group, ...]


class Saving(NamedTuple):
    """Checkpoints, and whether the scenario itself says nothing of them, so that all is taken as usual."""

    answer: CheckpointAnswer
    usual: bool


class Sheet(NamedTuple):
    """All that is known of one scenario; `mark` is its letter."""

    mark: str
    label: str
    estimate: Estimate
    ways: tuple[WayOut, ...]
    stages: tuple[Stage, ...]
    scaling: Scaling | Missing
    roofline: Roofline
    fabric: Fabric | Missing
    saving: Saving | Missing
    runs: tuple[PublishedRun, ...]

    @property
    def band(self) -> tuple[float, float] | None:
        """Predicted over measured where the 90 % interval of the step ends; None without one."""
        found, step = self.estimate.interval("step"), self.estimate["step"]
        return None if found is None else (step / found.high, step / found.low)


class CatalogEntry(NamedTuple):
    """An entry of the catalog that numbers come from: which scenarios use it, whether it is verified, its sources."""

    name: str
    files: tuple[str, ...]
    marks: str
    verified: bool
    sources: tuple[str, ...]


class Formula(NamedTuple):
    """A closed form that made a number: its name, what it says, and the formula."""

    name: str
    sentence: str
    formula: str


class Overview(NamedTuple):
    """Everything that a page shows."""

    comparison: Comparison
    sheets: tuple[Sheet, ...]
    entries: tuple[CatalogEntry, ...]
    origins: tuple[Origin, ...]
    formulas: dict[str, list[Formula]]

    @property
    def fits(self) -> bool:
        """Whether all of them fit into memory."""
        return all(sheet.estimate.fits for sheet in self.sheets)


def overview(
    sources: Sequence[Source],
    catalog: Catalog,
    settings: tuple[Setting, ...] = (),
    variations: Sequence[str] = (),
    convention: str = "megatron",
    told: Callable[[int], None] | None = None,
) -> Overview:
    """Ask everything of a few scenarios, or of variants of them.

    Parameters
    ----------
    sources : sequence of Source
        Scenarios.
    catalog : Catalog
        Where ids are looked up.
    settings : tuple
        Changes made to all of them.
    variations : sequence of str
        Values of `--vary`, crossed.
    convention : str
        How operations are counted.
    told : callable, optional
        Takes how many scenarios are done, again and again.

    Raises
    ------
    InputError
        With all that is wrong with any of them, or if they are too many.
    """
    comparison = compare(sources, catalog, settings, variations, convention)
    _refuse(comparison)
    sheets = []
    for mark, item in zip(ascii_uppercase, comparison.items, strict=False):
        sheets.append(_sheet(mark, item, _source(item, sources), catalog, convention))
        if told is not None:
            told(len(sheets))
    named = dict.fromkeys(run.source for sheet in sheets for run in sheet.runs)
    scenarios = [sheet.estimate.scenario for sheet in sheets]
    return Overview(
        comparison, tuple(sheets), _entries(sheets, catalog), tuple(origins_of(named)), _formulas(scenarios)
    )


def _refuse(comparison: Comparison) -> None:
    """Raise everything that is wrong with any scenario, or that there are too many."""
    together = Diagnostics()
    for item in comparison.items:
        if item.estimate is None:
            together.items += [found for found in item.loaded.diagnostics.items if found not in together.items]
            together.sources |= item.loaded.diagnostics.sources
    if len(comparison.items) > MOST:
        problem = f"{len(comparison.items)} scenarios are too many for one page"
        together.error("AIP115", problem, expected=f"at most {MOST}", hint="'aiplan compare' takes more")
    together.raise_if_errors()


def _source(item: Compared, sources: Sequence[Source]) -> Source:
    return next(source for source in sources if source.text == item.source)


def _sheet(mark: str, item: Compared, source: Source, catalog: Catalog, convention: str) -> Sheet:
    one, settings = item.estimate, assignments(item.settings)
    assert one is not None  # noqa: S101  others are refused
    scenario = one.scenario
    return Sheet(
        mark=mark,
        label=item.label,
        estimate=one,
        ways=() if one.fits else tuple(ways_out(source, catalog, settings, one)),
        stages=_stages(scenario),
        scaling=_scaling(scenario, source, catalog, settings, convention),
        roofline=roofline(scenario),
        fabric=_fabric(scenario, catalog),
        saving=_saving(scenario, source, catalog, settings),
        runs=runs_like(scenario),
    )


def _stages(scenario: Scenario) -> tuple[Stage, ...]:
    """Return what the memory of each pipeline stage holds."""
    values = columns([scenario])
    terms, table = stage_terms(values), scenario.stages
    count = len(table["copies"])
    every = {name: np.broadcast_to(part, (count, 1))[:, 0] for name, part in terms.items()}
    rows = zip(table["index"], table["copies"], strict=True)
    return tuple(
        Stage(int(first), int(copies), {name: float(part[at]) for name, part in every.items()})
        for at, (first, copies) in enumerate(rows)
    )


def _scaling(
    scenario: Scenario, source: Source, catalog: Catalog, settings: tuple[Setting, ...], convention: str
) -> Scaling | Missing:
    own = scenario.accelerators
    sizes = {own * 2**power for power in range(SPREAD + 1)} | {own // 2**power for power in range(1, SPREAD + 1)}
    answer = scale(source, catalog, settings, Request(tuple(sorted(sizes - {0})), convention=convention))
    if any(len(curve.estimated) > 1 for curve in answer.curves):
        return answer
    faults = dict.fromkeys(size.fault for curve in answer.curves for size in curve.sizes if size.fault)
    return Missing(f"no other number of GPUs is possible with this plan: {next(iter(faults), '')}")


def _fabric(scenario: Scenario, catalog: Catalog) -> Fabric | Missing:
    use = scenario.file.cluster.network
    try:
        machine = fabrics.machine_of(scenario, None, catalog)
    except InputError as failure:
        return Missing(failure.diagnostics[0].problem)
    survey = fabrics.survey(machine, (KINDS[use.topology],), use.oversubscription)
    if not survey.fits:
        return Missing(f"{use.topology} of these switches: {survey.rows[0].reason}")
    return Fabric(survey, placement(scenario))


def _saving(scenario: Scenario, source: Source, catalog: Catalog, settings: tuple[Setting, ...]) -> Saving | Missing:
    if scenario.run:
        if not scenario.run["checkpoint.made"].number:
            return Missing("the scenario makes no checkpoints")
        return Saving(checkpoint_answer(scenario, source, catalog, settings), usual=False)
    settings = (*settings, *assignments(USUAL_RUN))
    loaded = load_source(source, catalog, settings)
    if loaded.scenario is None:
        faults = [item.problem for item in loaded.diagnostics.items if item.level == "error"]
        return Missing(f"with what is usual, it cannot be said: {faults[0]}")
    return Saving(checkpoint_answer(loaded.scenario, source, catalog, settings), usual=True)


def _entries(sheets: Sequence[Sheet], catalog: Catalog) -> tuple[CatalogEntry, ...]:
    """Return the entries of the catalog that the numbers of the scenarios come from, by kind and id."""
    marks: dict[tuple[str, str], str] = {}
    for sheet in sheets:
        scenario = sheet.estimate.scenario
        for value in (scenario.values | scenario.run).values():
            if value.origin.kind == "catalog":
                path = PurePath(value.origin.where.rpartition(":")[0])
                key = path.parent.name, path.stem
                if sheet.mark not in marks.setdefault(key, ""):
                    marks[key] += sheet.mark
    found = []
    for kind, ident in sorted(marks):
        one = catalog.find(kind, ident, Diagnostics()) if kind in CATALOG_KINDS else None
        if one is not None:
            entry = one.entry
            found.append(CatalogEntry(entry.name, one.files, marks[kind, ident], entry.verified, entry.sources))
    return tuple(found)


def _formulas(scenarios: Sequence[Scenario]) -> dict[str, list[Formula]]:
    """Return the closed forms that made the numbers of the scenarios, each once, by their source."""
    found: dict[str, tuple[str, Formula]] = {}
    for scenario in scenarios:
        values = columns([scenario])
        with recording() as calls:
            evaluate(values, run_columns([scenario], values))
        for function in calls.functions:
            form, module = read_form(function), function.__module__.rpartition(".")[2]
            if module != ARITHMETIC:
                name = f"{module}.{function.__name__}"
                found[name] = form.source, Formula(name, form.sentence, form.formula)
    by_source: dict[str, list[Formula]] = {}
    for source, formula in (found[name] for name in sorted(found)):
        by_source.setdefault(source, []).append(formula)
    return dict(sorted(by_source.items()))
