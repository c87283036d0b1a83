"""Checkpoints of one scenario: size, stall, the best interval, and what other intervals, modes and rates would cost.

Every what-if is the same estimate with one number of the run replaced.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aiplan.core import elastic, reliability, save_intervals
from aiplan.declare import Diagnostics
from aiplan.planning.estimate import Estimate, estimate
from aiplan.planning.variants import load_source
from aiplan.scenario.resolve_run import FLEET_RATES, NEAR_MODES, fleet_mtbf
from aiplan.scenario.run_records import MODES
from aiplan.scenario.values import derived

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from aiplan.catalog.load import Catalog
    from aiplan.planning.variants import Setting, Source
    from aiplan.scenario.load import Scenario

FACTORS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
CURVE_POINTS = 49
CURVE_SPAN = 32.0
TARGET = 0.01
BY_BEST_RULE = {f"checkpoint__{name}": 0.0 for name in ("given", "by_young", "by_daly", "stores_apart")}
"""No interval that is given, no rule of thumb: what is left is the exact optimum."""
SLOWEST, FASTEST = 1e6, 1e15
STEPS = 37
AT_HAND = 0.99
"""Probability with which spares suffice at a moment."""
SOME_TOKENS = 1e12
"""Length of a run whose tokens are not given: shares of its wall clock hardly depend on it."""
RULES = (
    ("exact optimum", save_intervals.exact),
    ("Daly, higher order", save_intervals.daly),
    ("Daly, first order", save_intervals.daly_first_order),
    ("Young", save_intervals.young),
    ("most available", save_intervals.most_available),
    ("a tenth of the MTBF", save_intervals.tenth),
)


class Interval(NamedTuple):
    """An interval between saves: what it is called, its length, and shares of the wall clock."""

    name: str
    interval: float
    saves: float
    lost: float
    restarts: float
    goodput: float
    durable: bool

    @property
    def loss(self) -> float:
        """Share that saves take, and the work that is done again for want of one."""
        return self.saves + self.lost


class Mode(NamedTuple):
    """A way to save: its name, the estimate with it, or why it is not possible."""

    name: str
    estimate: Estimate | None
    reason: str = ""


class Fleet(NamedTuple):
    """The same job with the rate of interruptions of a published fleet."""

    name: str
    estimate: Estimate


class LostNode(NamedTuple):
    """What a lost node costs a job, in time of the whole job: with a spare, shrinking, waiting for repair."""

    spare: float
    shrink: float | None
    wait: float
    break_even: float | None
    spares: float


@dataclass(frozen=True, slots=True)
class CheckpointAnswer:
    """Checkpoints of one scenario."""

    estimate: Estimate
    intervals: tuple[Interval, ...]
    rules: tuple[Interval, ...]
    curve: tuple[Interval, ...]
    modes: tuple[Mode, ...]
    fleets: tuple[Fleet, ...]
    lost_node: LostNode | None
    target: float
    needed: float

    @property
    def used(self) -> Interval:
        """The interval of the scenario."""
        return self.intervals[FACTORS.index(1.0)]

    @property
    def fits(self) -> bool:
        """Whether the host has room for what is saved in its memory; yes if its memory is not known."""
        memory = self.estimate.scenario.node.memory
        return memory is None or self.estimate["checkpoint.host_memory"] <= memory

    @property
    def met(self) -> bool:
        """Whether saves and lost work take no more than the target, at the interval used."""
        return self.used.loss <= self.target


def checkpoint_answer(
    scenario: Scenario,
    source: Source,
    catalog: Catalog,
    settings: tuple[Setting, ...] = (),
    target: float = TARGET,
) -> CheckpointAnswer:
    """Answer for the checkpoints of a scenario.

    Parameters
    ----------
    scenario : Scenario
        With checkpoints or failures.
    source : Source
        Where it was read, for the other modes.
    catalog : Catalog
        Where ids are looked up.
    settings : tuple
        Changes made to it.
    target : float
        Share of the time that saves and the work they lose may take, for the bandwidth needed. [-]

    Raises
    ------
    InputError
        The scenario makes no checkpoints.
    """
    if not scenario.run or not scenario.run["checkpoint.made"].number:
        diagnostics = Diagnostics()
        hint = "add checkpoint: {} and reliability: {} for all defaults, or --set checkpoint.mode=async"
        diagnostics.error("AIP106", f"{scenario.name} makes no checkpoints", hint=hint)
        raise diagnostics.failure()
    sized = _sized(scenario)
    used = estimate([sized])[0]
    middle = used["checkpoint.interval"]
    factors = [(("used here" if factor == 1.0 else ""), factor * middle) for factor in FACTORS]
    around = [("", float(value)) for value in np.geomspace(middle / CURVE_SPAN, middle * CURVE_SPAN, CURVE_POINTS)]
    return CheckpointAnswer(
        estimate([scenario])[0],
        _intervals(sized, factors),
        _intervals(sized, _ruled(used)),
        _intervals(sized, around),
        _modes(source, catalog, settings),
        _fleets(sized),
        _lost_node(used),
        target,
        _needed(sized, target),
    )


def beside_the_best(one: Estimate) -> tuple[Estimate, Estimate] | None:
    """Return an estimate, and the same with the best interval; None where nothing is saved, or nothing fails.

    Where tokens are not given, both are of a long run: shares of the wall clock hardly depend on it.
    """
    run = one.scenario.run
    if not run or not run["checkpoint.made"].number or not one["reliability.rate"]:
        return None
    sized = _sized(one.scenario)
    used, best = estimate([sized, _changed(sized, **BY_BEST_RULE)], one.convention)
    return used, best


def _lost_node(used: Estimate) -> LostNode | None:
    """Return what a lost node costs, and the spares with which a node is at hand nearly always; None if none fails."""
    rate, nodes = used["reliability.rate"] * used.given("reliability.node_share"), used.given("storage.nodes")
    if not rate:
        return None
    restart, interval = used["reliability.restart"], used["checkpoint.storage_interval"]
    repair, replica = used.given("reliability.repair"), used["checkpoint.replica_nodes"]
    speed = float(elastic.replicas_left(nodes, 1.0, min(replica, nodes)))
    return LostNode(
        float(elastic.spare_loss(restart, interval)),
        float(elastic.shrinking_loss(repair, restart, interval, speed)) if speed else None,
        float(elastic.waiting_loss(repair, restart, interval)),
        float(elastic.break_even_repair(restart, interval, speed)) if speed else None,
        float(reliability.spares_needed(nodes, reliability.availability(nodes / rate, repair), AT_HAND)),
    )


def _sized(scenario: Scenario) -> Scenario:
    if not math.isnan(scenario.values["workload.tokens"].number):
        return scenario
    tokens = derived(SOME_TOKENS, "not given: shares of the wall clock hardly depend on it")
    return scenario._replace(values=scenario.values | {"workload.tokens": tokens})


def _changed(scenario: Scenario, **numbers: float) -> Scenario:
    """Return a scenario with numbers of its run replaced; a double underscore stands for the dot."""
    changes = {name.replace("__", "."): derived(number, "replaced") for name, number in numbers.items()}
    return scenario._replace(run=scenario.run | changes)


def _ruled(used: Estimate) -> list[tuple[str, float]]:
    stall, mtbf, restart = used["checkpoint.stall"], used["reliability.mtbf"], used["reliability.restart"]
    if not math.isfinite(mtbf):
        return []
    return [(name, float(rule(stall, mtbf, restart))) for name, rule in RULES]


def _intervals(scenario: Scenario, wanted: Sequence[tuple[str, float]]) -> tuple[Interval, ...]:
    """Return what the wall clock consists of at each interval; those that cannot be are marked."""
    if not wanted:
        return ()
    answers = estimate(
        [
            _changed(scenario, checkpoint__interval=interval, checkpoint__given=1.0, checkpoint__stores_apart=0.0)
            for _, interval in wanted
        ]
    )
    return tuple(_interval(name, interval, one) for (name, interval), one in zip(wanted, answers, strict=True))


def _interval(name: str, interval: float, answer: Estimate) -> Interval:
    whole = answer["wallclock"]
    possible = min(interval, answer["run.time_to_train"])
    return Interval(
        name,
        interval,
        answer["wallclock.saves"] / whole,
        answer["wallclock.lost"] / whole,
        answer["wallclock.restarts"] / whole,
        answer["run.goodput"],
        durable=answer["checkpoint.interval"] <= possible * (1.0 + 1e-9),
    )


def _modes(source: Source, catalog: Catalog, settings: tuple[Setting, ...]) -> tuple[Mode, ...]:
    """Return the estimate with every way to save."""
    found = []
    for mode in MODES:
        one_level = () if mode in NEAR_MODES else (("checkpoint.storage_interval", "null", "--set"),)
        loaded = load_source(source, catalog, (*settings, ("checkpoint.mode", mode, "--set"), *one_level))
        if loaded.scenario is None:
            reason = next(item.problem for item in loaded.diagnostics.items if item.level == "error")
            found.append(Mode(mode, None, reason))
        else:
            found.append(Mode(mode, estimate([_sized(loaded.scenario)])[0]))
    return tuple(found)


def _fleets(scenario: Scenario) -> tuple[Fleet, ...]:
    """Return the estimate with the rates of published fleets, the most reliable first."""
    names = sorted(FLEET_RATES, key=lambda name: -fleet_mtbf(name))
    answers = estimate([_changed(scenario, reliability__accelerator_mtbf=fleet_mtbf(name)) for name in names])
    return tuple(map(Fleet, names, answers))


def _needed(scenario: Scenario, target: float) -> float:
    """Return the write rate at which saves and lost work take no more than a share; infinite if no rate is enough.

    A faster system never loses more, so a grid is enough, refined once.
    """
    low, high = SLOWEST, FASTEST
    for _ in range(2):
        rates = np.geomspace(low, high, STEPS)
        losses = _losses(scenario, rates)
        enough = [index for index, loss in enumerate(losses) if loss <= target]
        if not enough:
            return math.inf
        low, high = float(rates[max(enough[0] - 1, 0)]), float(rates[enough[0]])
    return high


def _losses(scenario: Scenario, rates: Iterable[float]) -> list[float]:
    free = dict.fromkeys(
        ("storage__write_requests", "storage__write_client", "storage__core", "storage__target"), math.inf
    )
    answers = estimate(
        [_changed(scenario, storage__write_system=float(rate), storage__write_efficiency=1.0, **free) for rate in rates]
    )
    return [(one["wallclock.saves"] + one["wallclock.lost"]) / one["wallclock"] for one in answers]
