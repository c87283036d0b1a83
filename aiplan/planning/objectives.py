"""What a search looks for, and how the plans of a chunk are ranked by it.

A search is fast because few arrays have all axes. What grows with the time of a step needs the fastest plans only, and
the rest of the run depends on few options besides: it is computed for the fastest plan of each of their choices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aiplan.engine.evaluate import at_step, run_terms, timed_terms, whole_terms

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from aiplan.core.arrays import Array
    from aiplan.engine.inputs import Inputs
    from aiplan.engine.run_inputs import RunInputs

BY_STEP, BY_RUN, BY_ITSELF, BY_PLAN = "step", "run", "itself", "plan"
"""Grows with the step alone; with it and the choices that checkpoints depend on; is memory; needs every plan."""
STEPS_ALONE = {
    "wallclock": "run.time_to_train",
    "total.cost": "run.cost",
    "total.energy": "run.energy",
    "total.carbon": "run.carbon",
    "total.power": "run.power",
}
"""What stands for a result of the run as a whole where a scenario speaks of steps alone."""


class Objective(NamedTuple):
    """What is to be least: the term that says so, its sign, and what it depends on."""

    name: str
    term: str
    sign: float = 1.0
    depends: str = BY_RUN


OBJECTIVES = {
    item.name: item
    for item in (
        Objective("time", "wallclock"),
        Objective("cost", "total.cost"),
        Objective("energy", "total.energy", depends=BY_PLAN),
        Objective("carbon", "total.carbon", depends=BY_PLAN),
        Objective("goodput", "run.goodput", sign=-1.0, depends=BY_PLAN),
        Objective("tokens_per_s_per_gpu", "run.tokens_per_s_per_gpu", sign=-1.0, depends=BY_STEP),
        Objective("memory", "memory.needed", depends=BY_ITSELF),
    )
}
OF_THE_RUN = ("goodput",)
"""Objectives that need a scenario that speaks of storage, checkpoints or failures."""


class Ranked(NamedTuple):
    """The least objective of each layout, and what orders the options of one; infinite where no plan will do."""

    objective: Array
    key: Array


def named(terms: Mapping[str, Array], term: str) -> Array:
    """Return a term of the run as a whole, or what stands for it; unknown is NaN."""
    found = terms.get(term)
    return terms.get(STEPS_ALONE.get(term, ""), np.full((1, 1), np.nan)) if found is None else found


def ranked(
    values: Inputs, run: RunInputs | None, terms: dict[str, Array], legal: NDArray[np.bool_], objective: Objective
) -> Ranked:
    """Rank the plans of a chunk.

    Parameters
    ----------
    values : Inputs
        The plans.
    run : RunInputs or None
        What the scenario says of the run as a whole.
    terms : dict
        Terms of their steps.
    legal : array of bool
        Which of them will do, with all axes.
    objective : Objective
        What they are ranked by.
    """
    if objective.depends == BY_ITSELF:
        return _over(np.where(legal, terms["memory.needed"], np.inf))
    if objective.depends == BY_PLAN:
        found = objective.sign * named(whole_terms(values, run, terms), objective.term)
        return _over(np.where(legal & (found == found), found, np.inf))  # noqa: PLR0124 - unknown is no answer
    key = np.where(legal, terms["step"], np.inf)
    if objective.depends == BY_STEP:
        least = fastest(None, key)
        found = run_terms(values, _safe(least))[objective.term]
    else:
        least = fastest(values if run else None, np.where(legal, busy(terms), np.inf))
        found = named(after_step(values, run, terms, _safe(least)), objective.term)
    found = np.where(np.isfinite(least), objective.sign * found, np.inf)
    best = found == found.min(axis=_options(found), keepdims=True)
    return Ranked(_over(found).objective, np.where(best, key, np.inf))


def busy(terms: Mapping[str, Array]) -> Array:
    """Return the time of a step without waiting for data."""
    return terms.get("loading.busy", terms["step"])


def fastest(saved: Inputs | None, times: Array, needed: Array | None = None) -> Array:
    """Return the least of some times over the options that nothing else depends on.

    Parameters
    ----------
    saved : Inputs or None
        The plans, if who writes their checkpoints matters.
    times : array
        Times with all axes; infinite for a plan that will not do.
    needed : array, optional
        Memory, if that matters.
    """
    kept = [array for array in (None if saved is None else saved.plan.zero, needed) if array is not None]
    axes = tuple(axis for axis in range(times.ndim - 2) if all(_length(array, axis, times.ndim) == 1 for array in kept))
    least: Array = times.min(axis=axes, keepdims=True) if axes else times
    return least


def after_step(values: Inputs, run: RunInputs | None, terms: dict[str, Array], times: Array) -> dict[str, Array]:
    """Return what follows from times of steps, waiting for data not counted."""
    return timed_terms(values, run, at_step(values, run, terms, times))


def _safe(times: Array) -> Array:
    return np.where(np.isfinite(times), times, 1.0)


def _options(array: Array) -> tuple[int, ...]:
    return tuple(range(array.ndim - 2))


def _over(key: Array) -> Ranked:
    """Rank by a key that has all axes."""
    axes = _options(key)
    return Ranked(key.min(axis=axes)[0] if axes else key[0], key)


def _length(array: Array, axis: int, dimensions: int) -> int:
    """Return the length of an axis of an array that lacks some in front."""
    place = axis - (dimensions - array.ndim)
    return array.shape[place] if place >= 0 else 1
