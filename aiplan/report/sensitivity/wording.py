"""The words and cells of a what-if, for table and Markdown alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.planning.levers import GROUPS, HARDWARE, MONEY, WORK
from aiplan.planning.names import unit
from aiplan.planning.sensitivity import STEP
from aiplan.report.text import change, joined, number, percent
from aiplan.units import duration, quantity

if TYPE_CHECKING:
    from aiplan.planning.sensitivity import Effect, Sensitivity, Trial

TIMES = {"wall_clock": "wall-clock time", "time_to_train": "time to train", "time_per_token": "time per token"}
HEADINGS = {
    "time": "time",
    "step_time": "step",
    "cost": "cost",
    "energy": "energy",
    "memory_filled": "filled",
}
SHOWN = {
    HARDWARE: ("time", "cost", "energy", "memory_filled"),
    MONEY: ("cost", "energy"),
    WORK: ("time", "step_time", "cost", "energy", "memory_filled"),
}
"""What is shown of each group: the step changes as the time does where the work stays the same."""
FIRST = 3
KEY = (
    "change: what doubling or halving a parameter does while all others stay; money at today's prices. filled: memory "
    "that is needed over that of an accelerator. elasticity: percent of time for one percent more of the parameter, a "
    f"central difference over {(STEP - 1.0) * 100:.0f} % either way; for whole numbers (*) from half to double, after "
    "resolving the scenario again."
)


def title(answer: Sensitivity) -> str:
    """Return what is varied."""
    return f"What if: {answer.estimate.scenario.name}"


def now(answer: Sensitivity) -> str:
    """Return the results that the changes are changes of."""
    one = answer.estimate
    timed = "" if answer.time == "time_per_token" else f"{duration(one['run.time_to_train'])} to train"
    filled = percent(one.needed_memory / one["memory.capacity"])
    fits = "" if one.fits else ", which does not fit"
    memory = f"memory {quantity(one.needed_memory, 'B')}, {filled} of an accelerator's{fits}"
    return joined([f"step {quantity(one['step'], 's')}", timed, memory])


def sentences(answer: Sensitivity) -> list[str]:
    """Return in words what the first few changes of the hardware do."""
    return [sentence(one, answer.time) for one in answer.of(HARDWARE)[:FIRST] if one.better.changes[answer.time]]


def sentence(one: Effect, time: str) -> str:
    """Return in words what a change of one parameter does to the time."""
    relative = one.better.changes[time] or 0.0
    verb = "saves" if relative < 0 else "costs"
    what = action(one, one.better)
    return f"{what[0].upper()}{what[1:]} {verb} {percent(abs(relative))} of the {TIMES[time]}."


def action(one: Effect, trial: Trial) -> str:
    """Return a change as a phrase: "doubling the NICs"."""
    return f"{'doubling' if trial.factor > 1 else 'halving'} {one.lever.noun}"


def groups(answer: Sensitivity) -> list[tuple[str, tuple[str, ...], list[tuple[str, ...]]]]:
    """Return title, headings and rows of every group of parameters of which some change something."""
    found = []
    for group, name in GROUPS.items():
        rows = [_row(one, answer) for one in answer.of(group) if not one.none and not one.better.refused]
        names = (HEADINGS[shown] for shown in SHOWN[group])
        if rows:
            found.append((name, ("change", "now", *names, *(("elasticity",) if group != MONEY else ())), rows))
    return found


def _row(one: Effect, answer: Sensitivity) -> tuple[str, ...]:
    trial, time = one.better, answer.time
    fits = "" if trial.fits == answer.estimate.fits else " (fits)" if trial.fits else " (does not fit)"
    value = number(one.value, unit(one.lever.inputs[0]))
    cells = [signed(trial.changes[time if name == "time" else name]) for name in SHOWN[one.lever.group]]
    elastic = () if one.lever.group == MONEY else (_elasticity(one, time),)
    return (f"{action(one, trial)}{fits}", value, *cells, *elastic)


def _elasticity(one: Effect, time: str) -> str:
    elastic = one.elasticities[time]
    bare = "" if elastic is None else f"{elastic:.3f}".replace("-0.000", "0.000")
    return f"{bare}{'*' if one.lever.fields else ''}{'!' if one.kink else ''}"


def signed(relative: float | None) -> str:
    """Return a change; nothing where it is not known, 0 where there is none, 0.0 % where it is too small to see."""
    if relative == 0:
        return "0"
    text = change(relative)
    return "0.0 %" if text.lstrip("+-") == "0.0 %" else text


def remarks(answer: Sensitivity) -> list[tuple[str, str]]:
    """Return what the tables cannot say: kinks, what cannot be, what has no effect, what is not there."""
    kinks = [("! at a kink", _kink(one, answer.time)) for one in answer.effects if one.kink and not one.none]
    refused = [
        ("not possible", f"{action(one, trial)}: {trial.refused}")
        for one in answer.effects
        for trial in (one.doubled, one.halved)
        if trial.refused and (one.better.refused or one.lever.better == 0)
    ]
    without = [one.lever.noun for one in answer.effects if one.none]
    absent = [f"{one.lever.noun} ({one.reason})" for one in answer.absent]
    listed = [("no effect", joined(without)), ("not varied", joined(absent))]
    return [*kinks, *refused, *((name, text) for name, text in listed if text)]


def _kink(one: Effect, time: str) -> str:
    """Return how the time bends at the value that a parameter has."""
    below, above = one.below or 0.0, one.above or 0.0
    return f"{one.lever.noun}: elasticity of the {TIMES[time]} {below:.3f} for less of it, {above:.3f} for more"
