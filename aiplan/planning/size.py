"""How many accelerators a training needs: the fewest, the cheapest or the fastest within limits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from aiplan.declare import Diagnostics
from aiplan.planning.counts import accelerator_seconds_at_peak, fewest_for_weights, possible_counts
from aiplan.planning.ladder import Ladder
from aiplan.planning.scale import at_size
from aiplan.planning.search import none_fits, question_of, search
from aiplan.planning.trial import COST, GPUS, TIME, Limits, Trial
from aiplan.planning.variants import load_written

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aiplan.catalog.load import Catalog
    from aiplan.planning.variants import Setting, Source
    from aiplan.scenario.conditions import Condition
    from aiplan.scenario.load import Scenario

OPTION = "--node"
NEXT = 3
"""Possible numbers that are told on either side of the best."""
ALL_NODES = "all"
OF_THE_MACHINE = (
    "accelerator",
    "accelerators",
    "domain",
    "price",
    "power",
    "pue",
    "network.fabric",
    "network.ports",
    "network.switch",
    "network.nodes_per_leaf",
    "network.nodes_per_pod",
    "network.efficiency",
)
"""Fields of a cluster that belong to its kind of node: another one has its own."""


class Request(NamedTuple):
    """What is asked: limits, what is to be least, kinds of nodes (none: the scenario's own), conditions on plans.

    With `sure`, time and cost count at the upper end of their interval.
    """

    limits: Limits
    goal: str
    nodes: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()
    sure: bool = False
    convention: str = "megatron"


class Machine(NamedTuple):
    """A kind of node: its id (empty for the scenario's own), the scenario on it, and the settings that put it there."""

    ident: str
    scenario: Scenario
    settings: tuple[Setting, ...]

    @property
    def name(self) -> str:
        """What the node is called."""
        return self.scenario.node.name

    @property
    def cost_at_peak(self) -> float:
        """Cost if every accelerator worked at its peak, which no plan can beat; NaN without a price."""
        return accelerator_seconds_at_peak(self.scenario) * self.scenario.values["cluster.price"].number


class Answer(NamedTuple):
    """The question, the scenario as it is written, everything tried, and kinds of nodes left out with the reason."""

    request: Request
    scenario: Scenario
    settings: tuple[str, ...]
    trials: tuple[Trial, ...]
    left_out: tuple[tuple[str, str], ...] = ()

    @property
    def best(self) -> Trial | None:
        """The trial that meets all limits and is best."""
        return best_of(self.trials, self.request)

    @property
    def machines(self) -> list[str]:
        """The kinds of nodes that were tried."""
        return list(dict.fromkeys(trial.node for trial in self.trials))

    @property
    def neighbour(self) -> Trial | None:
        """The nearest trial on the same node that would be better by its count, and is not: what binds."""
        best = self.best
        if best is None:
            return None
        more = self.request.goal == TIME
        beyond = [
            trial
            for trial in self.trials
            if trial.node == best.node and (trial.accelerators > best.accelerators) == more and trial is not best
        ]
        return min(beyond, key=lambda trial: abs(trial.accelerators - best.accelerators), default=None)

    @property
    def possible(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The next numbers of accelerators below and above the best that are possible at all on the same nodes."""
        best = self.best
        if best is None or best.estimate is None:
            return (), ()
        counts = [int(count) for count in possible_counts(best.estimate.scenario)]
        place = counts.index(best.accelerators)
        return tuple(counts[max(place - NEXT, 0) : place]), tuple(counts[place + 1 : place + 1 + NEXT])

    def shortest(self, without: str = "") -> Trial | None:
        """Return the fastest trial that meets all limits but one; none but that if it is `all`."""
        return self._least(lambda trial: trial.time, without)

    def cheapest(self, without: str = "") -> Trial | None:
        """Return the cheapest trial that meets all limits but one; none but that if it is `all`."""
        return self._least(lambda trial: trial.cost, without)

    def leanest(self, without: str = "") -> Trial | None:
        """Return the trial with the least power that meets all limits but one; none but that if it is `all`."""
        return self._least(lambda trial: trial.power, without)

    def _least(self, key: Callable[[Trial], float], without: str) -> Trial | None:
        limits = self.request.limits
        found = [
            trial
            for trial in self.trials
            if trial.estimate is not None
            and (without == "all" or not set(trial.misses(limits)) - {without})
            and not math.isnan(key(trial))
        ]
        return min(found, key=key, default=None)

    def nearest(self, kept: str) -> Trial | None:
        """Return, of the trials that meet one limit, that which exceeds the others by the smallest factor."""
        limits = self.request.limits
        met = [trial for trial in self.trials if trial.estimate is not None and kept not in trial.misses(limits)]
        return min(met, key=lambda trial: trial.excess(limits), default=None)

    def changes(self) -> list[tuple[str, Trial]]:
        """Return for every limit the trial to which it would have to give way, all others met."""
        least = {"deadline": self.shortest, "budget": self.cheapest, "power": self.leanest}
        pairs = [(name, least[name](name)) for name in self.request.limits.given]
        return [(name, trial) for name, trial in pairs if trial is not None]


def usual_goal(limits: Limits, nodes: Sequence[str]) -> str:
    """Return what is to be least if nobody says: with a deadline accelerators, or cost where their kinds differ."""
    if "deadline" not in limits.given:
        return TIME
    return COST if len(nodes) > 1 or ALL_NODES in nodes else GPUS


def best_of(trials: Sequence[Trial], request: Request) -> Trial | None:
    """Return the best of the trials that meet all limits."""
    met = [trial for trial in trials if not trial.misses(request.limits)]
    return min(met, key=lambda trial: trial.order(request.goal), default=None)


def size(
    source: Source,
    catalog: Catalog,
    settings: tuple[Setting, ...],
    request: Request,
    told: Callable[[int], None] | None = None,
) -> Answer:
    """Find how many accelerators, of which kind, a training needs.

    Parameters
    ----------
    source : Source
        Where the scenario comes from.
    catalog : Catalog
        Where ids are looked up.
    settings : tuple
        Changes made to it everywhere.
    request : Request
        Limits and what is to be least.
    told : callable, optional
        Takes how many searches have been made, again and again.
    """
    base = _loaded(source, catalog, settings)
    _refuse_unknown(base, request)
    machines, left_out = _machines(base, source, catalog, settings, request)
    trials: list[Trial] = []

    def ladder(machine: Machine) -> Ladder:
        def once(count: int) -> Trial:
            trials.append(_tried(machine, count, source, catalog, settings, request))
            if told is not None:
                told(len(trials))
            return trials[-1]

        needed = accelerator_seconds_at_peak(machine.scenario) / request.limits.deadline
        counts = [int(count) for count in possible_counts(machine.scenario)]
        floor = fewest_for_weights(machine.scenario)
        return Ladder(counts, math.ceil(needed), floor, request.limits, request.goal, once)

    ladders = []
    for machine in machines:
        why = _no_better(machine, best_of(trials, request), request)
        if why:
            left_out.append((machine.name, why))
        else:
            ladders.append(ladder(machine))
            ladders[-1].climb()
    if best_of(trials, request) is None:
        for one in ladders:
            one.widen()
    texts = tuple(f"{path}={value}" for path, value, _ in settings)
    places = {machine.name: place for place, machine in enumerate(machines)}
    ordered = sorted(trials, key=lambda trial: (places[trial.node], trial.accelerators))
    return Answer(request, base, texts, tuple(ordered), tuple(left_out))


def _loaded(source: Source, catalog: Catalog, settings: tuple[Setting, ...]) -> Scenario:
    loaded = load_written(source, catalog, settings, searched=True)
    if loaded.scenario is None:
        raise loaded.diagnostics.failure()
    return loaded.scenario


def _refuse_unknown(scenario: Scenario, request: Request) -> None:
    """Refuse a question that cannot be answered for lack of a number."""
    diagnostics = Diagnostics()
    if math.isnan(scenario.values["workload.tokens"].number):
        problem = "workload.tokens is not given, so the length of the run is unknown"
        diagnostics.error("AIP106", problem, hint="give it with --set workload.tokens=15T")
    priced = not math.isnan(scenario.values["cluster.price"].number)
    if not request.nodes and not priced and _asks_price(request):
        problem = "the catalog has no price for this accelerator"
        diagnostics.error("AIP203", problem, hint="give it with --set 'cluster.price=2.50 USD/h'")
    diagnostics.raise_if_errors()


def _asks_price(request: Request) -> bool:
    return request.goal == COST or "budget" in request.limits.given


def _machines(
    base: Scenario, source: Source, catalog: Catalog, settings: tuple[Setting, ...], request: Request
) -> tuple[list[Machine], list[tuple[str, str]]]:
    """Return the kinds of nodes, the one that could be best first, and those that cannot be asked about."""
    if not request.nodes:
        return [Machine("", base, ())], []
    everything = ALL_NODES in request.nodes
    found: list[Machine] = []
    left_out: list[tuple[str, str]] = []
    for ident in catalog.ids("nodes") if everything else request.nodes:
        changes = [("cluster.node", ident), *((f"cluster.{name}", "null") for name in OF_THE_MACHINE)]
        own = tuple((path, value, OPTION) for path, value in changes)
        loaded = load_written(source, catalog, (*settings, *own), searched=True)
        if loaded.scenario is None:
            if not everything:
                raise loaded.diagnostics.failure()
            errors = [item.problem for item in loaded.diagnostics.items if item.level == "error"]
            left_out.append((ident, "; ".join(errors)))
            continue
        machine = Machine(ident, loaded.scenario, own)
        why = _unusable(machine, found, request)
        if why:
            left_out.append((machine.name, why))
        else:
            found.append(machine)
    bound = {GPUS: _seconds, COST: _cost_at_peak, TIME: _seconds}[request.goal]
    return sorted(found, key=bound), left_out


def _seconds(machine: Machine) -> float:
    return accelerator_seconds_at_peak(machine.scenario)


def _cost_at_peak(machine: Machine) -> float:
    return machine.cost_at_peak


def _unusable(machine: Machine, before: Sequence[Machine], request: Request) -> str:
    """Return why a kind of node cannot be asked about, or need not be; empty if it can."""
    if _asks_price(request) and math.isnan(machine.cost_at_peak):
        return "no price in the catalog"
    if math.isnan(machine.scenario.values["cluster.link_bandwidth"].number):
        return "no link between its accelerators in the catalog"
    numbers = _hardware(machine)
    return next((f"the same as {one.name} for this question" for one in before if _hardware(one) == numbers), "")


def _hardware(machine: Machine) -> dict[str, str]:
    """Return all that is known of a node, as text: unknown equals unknown."""
    return {
        name: repr(value.number) for name, value in machine.scenario.values.items() if name.startswith("cluster.")
    } | {"node": str(machine.scenario.node.accelerators)}


def _no_better(machine: Machine, best: Trial | None, request: Request) -> str:
    """Return why a kind of node cannot be better than what was found, even at its peak; empty if it might."""
    if best is None:
        return ""
    if machine.cost_at_peak > request.limits.budget:
        return "beyond the budget even at its peak"
    if request.goal == COST and machine.cost_at_peak >= best.cost:
        return "dearer even at its peak"
    if request.goal == GPUS and _seconds(machine) / request.limits.deadline > best.accelerators:
        return "more accelerators even at its peak"
    return ""


def _tried(
    machine: Machine,
    count: int,
    source: Source,
    catalog: Catalog,
    settings: tuple[Setting, ...],
    request: Request,
) -> Trial:
    """Return the fastest plan on so many accelerators."""
    batch = machine.scenario.file.workload.global_batch
    changes = (*settings, *machine.settings, *at_size(machine.scenario, count, batch))
    trial = Trial(machine.name, count, count // machine.scenario.node.accelerators, None, sure=request.sure)
    loaded = load_written(source, catalog, changes, searched=True)
    if loaded.scenario is None:
        errors = [item.problem for item in loaded.diagnostics.items if item.level == "error"]
        return trial._replace(fault="; ".join(errors))
    found = search([loaded.scenario], question_of(loaded.scenario, "time", request.conditions, 1, request.convention))
    if not found.finished:
        raise KeyboardInterrupt
    if not found.best:
        return trial._replace(fault=none_fits(found)[0])
    return trial._replace(estimate=found.best[0].estimate)
