"""The words and cells of a size, for table and Markdown alike."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from aiplan.planning.size import best_of
from aiplan.report.estimate import headline
from aiplan.report.facts import BAD, GOOD, Fact
from aiplan.report.text import joined, percent, span
from aiplan.units import duration, quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiplan.planning.size import Answer
    from aiplan.planning.trial import Trial

GOALS = {"gpus": "Fewest GPUs", "cost": "Cheapest cluster", "time": "Fastest training"}
UNITS = {"deadline": "s", "budget": "USD", "power": "W"}
ASKED = ("model", "workload", "cluster", "plan", "software")
RESULTS = ("time to train", "wall clock", "goodput", "MFU", "memory", "cost")
MOST_FAULTS = 5
KEY = (
    "Every row is the fastest plan of that many GPUs. Power is what the facility must provide. Only numbers "
    "over which the model and the batch divide are possible, and another batch makes others so; time does not "
    "fall strictly with GPUs, since some divide better than others."
)


def title(answer: Answer) -> str:
    """Return what was asked."""
    limits = answer.request.limits
    texts = {
        "deadline": f"in {duration(limits.deadline)}",
        "budget": f"for {quantity(limits.budget, 'USD')}",
        "power": f"with {quantity(limits.power, 'W')}",
    }
    sure = " at the upper end of the 90 % interval" if answer.request.sure else ""
    where = [item.text for item in answer.request.conditions]
    goal = f"{GOALS[answer.request.goal]} for {answer.scenario.model.name}"
    return joined([f"{goal} {' and '.join(texts[name] for name in limits.given)}{sure}", *where])


def question(answer: Answer) -> list[Fact]:
    """Return what the answer consists of: cluster and plan, for the model and the workload."""
    best = answer.best
    if best is None or best.estimate is None:
        return []
    return [fact for fact in headline.question(best.estimate) if fact.label in ASKED]


def results(answer: Answer) -> list[Fact]:
    """Return the answer itself, or what comes nearest to one."""
    best = answer.best
    if best is None or best.estimate is None:
        return _nearest(answer)
    lines = [Fact("answer", f"{best.accelerators:,} GPUs", f"{best.nodes:,} x {best.node}", GOOD)]
    lines += [fact for fact in headline.answer(best.estimate) if fact.label in RESULTS]
    lines.append(Fact("power", quantity(best.power, "W")))
    if "deadline" in answer.request.limits.given:
        lines.append(_surely(answer, best))
    below, above = (", ".join(f"{count:,}" for count in part) or "none" for part in answer.possible)
    lines.append(_binds(answer))
    lines.append(Fact("possible", f"{best.accelerators:,} GPUs", f"next below: {below}; next above: {above}", ""))
    return lines


def header(answer: Answer) -> tuple[str, ...]:
    """Return the headings of what was tried."""
    time = "wall\nclock" if answer.scenario.run else "time to\ntrain"
    return _without(answer, ("GPUs", "nodes", time, "90 %", "cost", "power", "MFU", "misses", "node"))


def rows(answer: Answer) -> list[tuple[str, ...]]:
    """Return a row for every number of GPUs that was tried; of several kinds of nodes, the best of each."""
    if len(answer.machines) == 1:
        return [_row(answer, trial) for trial in answer.trials]
    found = []
    for node in answer.machines:
        trials = [trial for trial in answer.trials if trial.node == node]
        found.append(best_of(trials, answer.request) or _closest(trials))
    ordered = sorted(found, key=lambda trial: (bool(_misses(answer, trial)), trial.order(answer.request.goal)))
    return [_row(answer, trial) for trial in ordered]


def left_out(answer: Answer) -> list[tuple[str, str]]:
    """Return the kinds of nodes that were not tried, by reason."""
    reasons: dict[str, list[str]] = {}
    for name, why in answer.left_out:
        reasons.setdefault(why, []).append(name)
    return [(why, joined(names)) for why, names in reasons.items()]


def faults(answer: Answer) -> list[tuple[str, str]]:
    """Return why there is no plan at a number of GPUs; for the fewest, where there is one at none."""
    if len(answer.machines) > 1:
        return []
    return [(f"{trial.accelerators:,}", trial.fault) for trial in answer.trials if trial.fault][:MOST_FAULTS]


def none_meets(answer: Answer) -> str:
    """Return that there is no answer, in one line."""
    limits = answer.request.limits
    texts = [f"{name} {_limit(name, getattr(limits, name))}" for name in limits.given]
    return f"nothing tried meets {' and '.join(texts)}"


def _limit(name: str, value: float) -> str:
    return duration(value) if name == "deadline" else quantity(value, UNITS[name])


def _nearest(answer: Answer) -> list[Fact]:
    limits = answer.request.limits
    lines = [Fact("answer", "no", none_meets(answer), BAD)]
    for label, trial in (("shortest", answer.shortest("all")), ("cheapest", answer.cheapest("all"))):
        if trial is not None:
            lines.append(Fact(label, duration(trial.time), _rest(trial), ""))
    if len(lines) == 1:
        first = answer.trials[0]
        told = f"at any number of GPUs tried; with {first.accelerators:,}: {first.fault}"
        return [*lines, Fact("why", "no plan", told, "")]
    for name, trial in answer.changes():
        needed = {"deadline": trial.needed_time, "budget": trial.needed_cost, "power": trial.power}[name]
        others = " and ".join(other for other in limits.given if other != name)
        kept = f"{others} kept: " if others else ""
        lines.append(
            Fact("would do", f"{name} {_limit(name, needed)}", f"{kept}{duration(trial.time)}, {_rest(trial)}")
        )
    if not answer.changes():
        lines.append(Fact("would do", "no limit alone", "more than one would have to give way, nearest:", ""))
        for name in limits.given:
            one = answer.nearest(name)
            if one is not None:
                lines.append(Fact(f"{name} kept", duration(one.time), _rest(one), ""))
    return lines


def _rest(trial: Trial) -> str:
    cost = "" if math.isnan(trial.cost) else quantity(trial.cost, "USD")
    return joined([cost, quantity(trial.power, "W"), f"{trial.accelerators:,} GPUs, {trial.nodes:,} x {trial.node}"])


def _surely(answer: Answer, best: Trial) -> Fact:
    upper = best.upper_time
    if math.isnan(upper):
        return Fact("deadline", "holds", "no interval: no like run published")
    if best.holds_surely(answer.request.limits):
        return Fact("deadline", "holds", f"at the upper end of the interval too, {duration(upper)}", GOOD)
    return Fact("deadline", "uncertain", f"missed at the upper end of the interval, {duration(upper)}; see --sure")


def _binds(answer: Answer) -> Fact:
    beyond = answer.neighbour
    if beyond is None:
        most = answer.request.goal == "time"
        return Fact("binds", "no limit", f"no {'larger' if most else 'smaller'} number of GPUs was worth a try", "")
    missed = _misses(answer, beyond)
    if missed == ("plan",):
        return Fact("binds", "memory", f"with {beyond.accelerators:,} GPUs {beyond.fault}", "")
    told = f"with {beyond.accelerators:,} GPUs it would be {duration(beyond.time)}, {_rest(beyond)}"
    told = told.rpartition(f", {beyond.accelerators:,} GPUs")[0]
    return Fact("binds", " and ".join(missed) if missed else "no limit", told, "")


def _misses(answer: Answer, trial: Trial) -> tuple[str, ...]:
    return trial.misses(answer.request.limits)


def _row(answer: Answer, trial: Trial) -> tuple[str, ...]:
    missed = joined(list(_misses(answer, trial)))
    counts = f"{trial.accelerators:,}", f"{trial.nodes:,}"
    if trial.estimate is None:
        return _without(answer, (*counts, "", "", "", "", "", "no plan", trial.node))
    interval = trial.estimate.whole_interval()
    cells = (
        *counts,
        duration(trial.time),
        "" if interval is None else span(interval.low, interval.high, "s"),
        quantity(trial.cost, "USD"),
        quantity(trial.power, "W"),
        percent(trial.estimate.mfu),
        missed or ("best" if trial is answer.best else ""),
        trial.node,
    )
    return _without(answer, cells)


def _without(answer: Answer, cells: tuple[str, ...]) -> tuple[str, ...]:
    """Return the cells that a table has room for: of several kinds of nodes their names, else their numbers."""
    gone = {1, 5} if len(answer.machines) > 1 else {8}
    return tuple(cell for place, cell in enumerate(cells) if place not in gone)


def _closest(trials: Sequence[Trial]) -> Trial:
    """Return the fastest trial of a kind of node that meets nothing."""
    return min(trials, key=lambda trial: math.inf if math.isnan(trial.time) else trial.time)
