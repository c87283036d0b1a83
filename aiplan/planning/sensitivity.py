"""What a change of each parameter does to time, cost, energy and memory: one batch, a column for each change."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from aiplan.core.sensitivity import elasticity, kinked
from aiplan.declare import Diagnostics
from aiplan.planning.estimate import estimate
from aiplan.planning.levers import GROUPS, LEVERS
from aiplan.scenario.load import with_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from aiplan.planning.estimate import Estimate
    from aiplan.planning.levers import Lever
    from aiplan.scenario.load import Scenario
    from aiplan.scenario.values import Value

STEP = 1.01
"""Factor by which a parameter is raised and lowered for its elasticity, where it need not be a whole number."""
FACTORS = (2.0, 0.5)


class Outcome(NamedTuple):
    """A result that is watched: what it is called, its unit, and how it is read off an estimate."""

    name: str
    unit: str
    of: Callable[[Estimate], float]


def _time_per_token(one: Estimate) -> float:
    return 1.0 / one.tokens_per_s


OUTCOMES = (
    Outcome("step_time", "s", lambda one: one["step"]),
    Outcome("time_per_token", "s", _time_per_token),
    Outcome("time_to_train", "s", lambda one: one["run.time_to_train"]),
    Outcome("wall_clock", "s", lambda one: one.terms.get("wallclock", math.nan)),
    Outcome("cost", "USD", lambda one: one.of_run("total.cost")),
    Outcome("energy", "J", lambda one: one.of_run("total.energy")),
    Outcome("memory", "B", lambda one: one.needed_memory),
    Outcome("memory_filled", "fraction", lambda one: one.needed_memory / one["memory.capacity"]),
)


TIMES = [one for one in OUTCOMES if one.name in {"time_per_token", "time_to_train", "wall_clock"}]
"""Outcomes that effects are ranked by: the last of them that is known."""


class Trial(NamedTuple):
    """A parameter times a factor: the relative change of every outcome, or why that cannot be.

    A change is None where an outcome is unknown.
    """

    factor: float
    changes: dict[str, float | None]
    fits: bool
    refused: str = ""


class Effect(NamedTuple):
    """What a lever does.

    `span` is largest over smallest value of the parameter that the elasticities were taken between. `below` and `above`
    are the elasticities of the time on either side of the parameter's own value, None where that side is not possible.
    """

    lever: Lever
    value: float
    elasticities: dict[str, float | None]
    span: float
    below: float | None
    above: float | None
    kink: bool
    doubled: Trial
    halved: Trial

    @property
    def better(self) -> Trial:
        """The direction that helps; where the parameter has none, the one that takes less time, if it is possible."""
        if self.lever.better:
            first, second = (self.doubled, self.halved) if self.lever.better > 0 else (self.halved, self.doubled)
            return second if first.refused and not second.refused else first
        return min((self.doubled, self.halved), key=lambda one: (bool(one.refused), not one.fits, _size(one)))

    @property
    def none(self) -> bool:
        """Whether nothing changes in either direction."""
        changes = [*self.doubled.changes.values(), *self.halved.changes.values()]
        known = [change for change in changes if change is not None]
        return bool(known) and not any(known)


class Absent(NamedTuple):
    """A lever that this scenario does not have, and why."""

    lever: Lever
    reason: str


class Sensitivity(NamedTuple):
    """What every lever does to a scenario, by group, the largest effect on time first; `time` is the outcome meant."""

    estimate: Estimate
    time: str
    effects: tuple[Effect, ...]
    absent: tuple[Absent, ...]
    columns: int

    def of(self, group: str) -> list[Effect]:
        """Return the effects of a group of levers, ranked."""
        return [one for one in self.effects if one.lever.group == group]


def sensitivity(scenario: Scenario) -> Sensitivity:
    """Vary every lever of a scenario by itself, all in one batch.

    Parameters
    ----------
    scenario : Scenario
        The scenario, its plan known.
    """
    absent = [Absent(lever, reason) for lever in LEVERS if (reason := _missing(lever, scenario))]
    present = [lever for lever in LEVERS if lever not in {one.lever for one in absent}]
    wanted = {
        (lever.name, factor): _changed(scenario, lever, factor) for lever in present for factor in _factors(lever)
    }
    batch = [scenario, *(found for found in wanted.values() if not isinstance(found, str))]
    base, *others = estimate(batch)
    left = iter(others)
    answers = {key: found if isinstance(found, str) else next(left) for key, found in wanted.items()}
    time = next(one.name for one in reversed(TIMES) if not math.isnan(one.of(base)))
    effects = [_effect(base, lever, answers, time) for lever in present]
    order = {name: index for index, name in enumerate(GROUPS)}
    ranked = sorted(effects, key=lambda one: (order[one.lever.group], *_rank(one, time)))
    return Sensitivity(base, time, tuple(ranked), tuple(absent), len(batch))


def _factors(lever: Lever) -> Iterator[float]:
    yield from FACTORS
    if not lever.fields:
        yield from (STEP, 1.0 / STEP)


def _missing(lever: Lever, scenario: Scenario) -> str:
    """Return why a scenario does not have a lever; nothing if it has."""
    if lever.network and scenario.parts.network is None:
        return "no network between nodes"
    known = [value.number for value in _inputs(scenario, lever).values()]
    if not known:
        return "the scenario says nothing of it"
    if math.isnan(known[0]):
        return "not known"
    return "" if any(number > 0 and math.isfinite(number) for number in known) else "not used"


def _changed(scenario: Scenario, lever: Lever, factor: float) -> Scenario | str:
    """Return a scenario with a parameter times a factor; a text if that cannot be."""
    if lever.fields:
        return _resolved(scenario, lever, factor)
    if _value(scenario, lever) * factor < lever.least:
        return f"{_value(scenario, lever):.3g} cannot be {_done(factor)}"
    scaled = _inputs(scenario, lever)
    changed = {name: value._replace(number=value.number * factor) for name, value in scaled.items()}
    of_run = {name: value for name, value in changed.items() if name in scenario.run}
    of_step = {name: value for name, value in changed.items() if name not in scenario.run}
    return scenario._replace(values=scenario.values | of_step, run=scenario.run | of_run)


def _resolved(scenario: Scenario, lever: Lever, factor: float) -> Scenario | str:
    file: Any = scenario.file
    for index, path in enumerate(lever.fields):
        now = _value(scenario, lever) if index == 0 else _field(scenario.file, path)
        if now is None:
            continue
        then = now * factor
        if then < lever.least or (lever.whole and then != int(then)):
            return f"{now:g} cannot be {_done(factor)}"
        file = _with_field(file, path.split("."), int(then) if lever.whole else then)
    diagnostics = Diagnostics()
    found = with_file(scenario, file, diagnostics)
    return found or next(item.problem for item in diagnostics.items if item.level == "error")


def _value(scenario: Scenario, lever: Lever) -> float:
    """Return the value of a parameter now: the field that is varied, or what stands for it where it is not given."""
    given = _field(scenario.file, lever.fields[0]) if lever.fields else None
    if given is not None:
        return float(given)
    return next(value.number for value in _inputs(scenario, lever).values() if 0 < value.number < math.inf)


def _inputs(scenario: Scenario, lever: Lever) -> dict[str, Value]:
    known = {**scenario.values, **scenario.run}
    return {name: known[name] for name in lever.inputs if name in known}


def _done(factor: float) -> str:
    return {FACTORS[0]: "doubled", FACTORS[1]: "halved"}.get(factor, "varied")


def _field(record: Any, path: str) -> Any:
    for name in path.split("."):
        record = getattr(record, name)
    return record


def _with_field(record: Any, names: Sequence[str], value: float) -> Any:
    """Return a record with one field replaced, however deep it lies."""
    first, *rest = names
    inner = _with_field(getattr(record, first), rest, value) if rest else value
    return type(record)(**(vars(record) | {first: inner}))


def _effect(base: Estimate, lever: Lever, answers: dict[tuple[str, float], Estimate | str], time: str) -> Effect:
    doubled, halved = (_trial(base, answers[lever.name, factor], factor) for factor in FACTORS)
    ratio = FACTORS[0] if lever.fields else STEP
    around = [None if isinstance(one, str) else one for one in (answers[lever.name, f] for f in (1.0 / ratio, ratio))]
    lower, upper = around
    below, above = _elasticity(lower, base, time, ratio), _elasticity(base, upper, time, ratio)
    span = ratio ** sum(one is not None for one in around)
    return Effect(
        lever,
        _value(base.scenario, lever),
        {one.name: _elasticity(lower or base, upper or base, one.name, span) for one in OUTCOMES},
        span,
        below,
        above,
        below is not None and above is not None and bool(kinked(below, above, ratio)),
        doubled,
        halved,
    )


def _trial(base: Estimate, answer: Estimate | str, factor: float) -> Trial:
    if isinstance(answer, str):
        return Trial(factor, dict.fromkeys((one.name for one in OUTCOMES), None), fits=False, refused=answer)
    changes = {one.name: _known(one.of(answer) / one.of(base) - 1.0) for one in OUTCOMES}
    return Trial(factor, changes, answer.fits)


def _elasticity(lower: Estimate | None, upper: Estimate | None, name: str, ratio: float) -> float | None:
    if lower is None or upper is None or ratio == 1.0:
        return None
    outcome = next(one for one in OUTCOMES if one.name == name)
    return _known(float(elasticity(outcome.of(lower), outcome.of(upper), ratio)))


def _known(number: float) -> float | None:
    return number if math.isfinite(number) else None


def _size(trial: Trial) -> float:
    return trial.changes["time_per_token"] or 0.0


def _rank(effect: Effect, time: str) -> tuple[float, ...]:
    """Return what sorts by the size of the effect: on time, then on what else is watched."""
    changes = effect.better.changes
    return tuple(-abs(changes[name] or 0.0) for name in (time, "cost", "energy", "memory", "memory_filled"))
