"""Chunks of a space of plans: evaluated as arrays, reduced to what is worth keeping, and merged.

What is computed is what one estimate computes, by the same functions on the same numbers, so that a plan that is found
has the estimate of that plan to the last bit. A chunk is reduced to what is worth keeping as soon as it is evaluated:
memory does not grow with the space. Parts of the answer can be merged in any order, so it does not matter who computes
which chunk.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aiplan.engine.evaluate import run_terms, step_and_memory
from aiplan.planning.front import Point, front_of
from aiplan.planning.space import AS_THEY_ARE, Space, space

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from aiplan.core.arrays import Array
    from aiplan.engine.inputs import Inputs
    from aiplan.scenario.conditions import Condition
    from aiplan.scenario.load import Scenario

CHUNK = 400_000
"""Plans that are evaluated at once: arrays of a few megabytes, large enough that Python's share is small."""


class Objective(NamedTuple):
    """What is to be least: the term that says so, its sign, and whether it grows with the time of a step."""

    name: str
    term: str
    sign: float = 1.0
    by_step: bool = True


OBJECTIVES = {
    item.name: item
    for item in (
        Objective("time", "run.time_to_train"),
        Objective("cost", "run.cost"),
        Objective("energy", "run.energy"),
        Objective("tokens_per_s_per_gpu", "run.tokens_per_s_per_gpu", sign=-1.0),
        Objective("memory", "memory.needed", by_step=False),
    )
}


class Question(NamedTuple):
    """What is searched for: least of what, under which conditions, how many answers, and how near counts as near."""

    objective: Objective
    conditions: tuple[Condition, ...] = ()
    shown: int = 10
    near: float = 1.0
    convention: str = "megatron"
    own: float = float("nan")


class Place(NamedTuple):
    """Where a plan is: variant of the scenario, group, layout, combination of options."""

    variant: int
    group: int
    layout: int
    option: int


class Found(NamedTuple):
    """A plan that was found: what orders it, and where it is.

    Less is better. Between equals decides the memory (the time of a step, if memory is what is searched for), then the
    smaller sizes in their order, then the first choice of each option.
    """

    objective: float
    second: float
    sizes: tuple[int, ...]
    place: Place


class Part(NamedTuple):
    """What is worth keeping of some chunks.

    `best` holds the best plan of each of the best layouts, `near` the objective of all layouts near the best one,
    `front` the plans that none beats in time, cost and memory at once. `ahead` counts layouts that beat the plan of
    the scenario; `leanest` is the least memory that any plan needs which meets the conditions.
    """

    best: tuple[Found, ...] = ()
    near: tuple[float, ...] = ()
    front: tuple[Point, ...] = ()
    plans: int = 0
    layouts: int = 0
    too_large: int = 0
    unwanted: int = 0
    ahead: int = 0
    leanest: float = math.inf

    def merge(self, other: Part, question: Question) -> Part:
        """Return both parts as one."""
        best = _first({*self.best, *other.best}, question)
        return Part(
            best,
            _near(np.array(self.near + other.near), best, question),
            tuple(front_of([*self.front, *other.front])),
            self.plans + other.plans,
            self.layouts + other.layouts,
            self.too_large + other.too_large,
            self.unwanted + other.unwanted,
            self.ahead + other.ahead,
            min(self.leanest, other.leanest),
        )


class Chunk(NamedTuple):
    """Some layouts of a group."""

    variant: int
    group: int
    start: int
    stop: int


def spaces(scenarios: Sequence[Scenario], question: Question) -> list[Space]:
    """Return the space of every variant, layouts that a condition on the plan rules out left out."""
    on_plan = [item for item in question.conditions if item.on_plan and item.name in AS_THEY_ARE]

    def wanted(table: dict[str, NDArray[np.int64]]) -> NDArray[np.bool_]:
        kept = np.ones(table["tensor"].shape, dtype=bool)
        for item in on_plan:
            if item.name in table:
                kept &= item.holds(lambda term: table[term.removeprefix("plan.")])
        return kept

    return [space(scenario, wanted) for scenario in scenarios]


def chunks(found: Sequence[Space]) -> Iterator[Chunk]:
    """Yield the chunks of all variants in order."""
    for variant, one in enumerate(found):
        for number, group in enumerate(one.groups):
            step = max(1, CHUNK // group.options)
            for start in range(0, len(group.sizes), step):
                yield Chunk(variant, number, start, min(start + step, len(group.sizes)))


def evaluated(found: Sequence[Space], chunk: Chunk, question: Question) -> Part:
    """Evaluate a chunk and keep what is worth it."""
    values = found[chunk.variant].inputs(chunk.group, chunk.start, chunk.stop)
    terms = step_and_memory(values)
    needed, step = terms["memory.needed"], terms["step"]
    fits = needed <= terms["memory.capacity"]
    wanted = _wanted(values, terms, question)
    shape = np.broadcast_shapes(step.shape, np.shape(wanted))
    legal = fits & wanted
    key = np.where(legal, step if question.objective.by_step else needed, np.inf)
    key = np.broadcast_to(key, shape)
    options = tuple(range(key.ndim - 2))
    least = key.min(axis=options)[0] if options else key[0]
    times = np.where(legal, step, np.inf)
    total = _count(np.ones((1, 1), dtype=bool), shape)
    part = Part(
        plans=total,
        layouts=int(np.count_nonzero(np.isfinite(least))),
        too_large=_count(~fits, shape),
        unwanted=total - _count(~fits, shape) - _count(legal, shape),
        leanest=float(np.min(np.where(wanted, needed, np.inf))),
    )
    if not part.layouts:
        return part
    objective = _objective(values, least, question)
    part = part._replace(
        best=_best(found, chunk, question, objective, key, needed if question.objective.by_step else times),
        front=_front(chunk, values, times, np.broadcast_to(needed, _along(needed.shape, shape))),
        ahead=int(np.count_nonzero(objective < question.own)),
    )
    return part._replace(near=_near(objective, part.best, question))


def _wanted(values: Inputs, terms: dict[str, Array], question: Question) -> NDArray[np.bool_]:
    """Return which plans meet all conditions; terms beyond the tree are computed only if one asks for them."""
    holds: NDArray[np.bool_] = np.ones((1, 1), dtype=bool)
    asked = [item for item in question.conditions if not (item.on_plan and item.name in AS_THEY_ARE)]
    if any(item.term not in terms and not item.on_plan for item in asked):
        terms = terms | run_terms(values, terms["step"])
        terms["utilisation"] = terms[f"utilisation.{question.convention}"]
    plan = vars(values.plan)
    extra = {
        "plan.recompute": np.where(
            plan["recompute_full"] > 0, 2.0, np.where(plan["recompute_selective"] > 0, 1.0, 0.0)
        ),
        "cluster.accelerators": values.cluster.accelerators,
    }

    def of(term: str) -> Array:
        if term in extra:
            return extra[term]
        return plan[term.removeprefix("plan.")] if term.startswith("plan.") else terms[term]

    for item in asked:
        holds = holds & item.holds(of)
    return holds


def _count(where: NDArray[np.bool_], shape: tuple[int, ...]) -> int:
    """Count where something holds in the shape that it broadcasts to."""
    return int(np.count_nonzero(where)) * (int(np.prod(shape, dtype=np.int64)) // where.size)


def _along(shape: tuple[int, ...], full: tuple[int, ...]) -> tuple[int, ...]:
    """Return a shape with as many axes as another, and all of its last one."""
    return (*(1,) * (len(full) - len(shape)), *shape[:-1], full[-1])


def _objective(values: Inputs, least: Array, question: Question) -> Array:
    """Return the objective of each layout; infinite where none of its plans will do."""
    if not question.objective.by_step:
        return least
    possible = np.isfinite(least)
    safe = np.where(possible, least, 1.0)
    found = question.objective.sign * run_terms(values, safe[None, :])[question.objective.term][0]
    return np.where(possible, found, np.inf)


def _best(
    found: Sequence[Space], chunk: Chunk, question: Question, objective: Array, key: Array, second: Array
) -> tuple[Found, ...]:
    """Return the best plan of each of the best layouts; `second` decides between equal ones."""
    bound = np.unique(objective)[: question.shown][-1]
    sizes = found[chunk.variant].groups[chunk.group].sizes
    best, second = [], np.broadcast_to(second, key.shape)
    for layout in np.flatnonzero((objective <= bound) & np.isfinite(objective)):
        options = key[..., 0, layout].ravel()
        seconds = second[..., 0, layout].ravel()
        equal = np.flatnonzero(options == options.min())
        option = int(equal[np.argmin(seconds[equal])])
        at = chunk.start + int(layout)
        place = Place(chunk.variant, chunk.group, at, option)
        best.append(Found(float(objective[layout]), float(seconds[option]), sizes.row(at), place))
    return _first(best, question)


def _first(found: Iterable[Found], question: Question) -> tuple[Found, ...]:
    """Return the best, one of each that are alike: context and micro-batch, say, can change places for nothing."""
    alike: dict[tuple[str, str], Found] = {}
    for item in sorted(found):
        alike.setdefault((f"{item.objective:.9e}", f"{item.second:.9e}"), item)
    return tuple(alike.values())[: question.shown]


def _near(objective: Array, best: Sequence[Found], question: Question) -> tuple[float, ...]:
    """Return the objectives that are so near the best one that the model cannot tell them apart."""
    if not best:
        return ()
    bound = best[0].objective * (question.near if best[0].objective > 0 else 1.0 / question.near)
    return tuple(np.sort(objective[objective <= bound]).tolist())


def _front(chunk: Chunk, values: Inputs, step: Array, needed: Array) -> tuple[Point, ...]:
    """Return the plans of a chunk that no other beats in time and memory; cost and time are in step with each other.

    Where memory does not depend on an option, only the fastest choice of that option can be on the front.
    """
    axes = tuple(axis for axis in range(step.ndim - 2) if needed.shape[axis] == 1)
    fastest = step.min(axis=axes, keepdims=True) if axes else step
    held = np.broadcast_to(needed, fastest.shape)
    times, memory = fastest.ravel(), held.ravel()
    order = np.flatnonzero(np.isfinite(times))
    order = order[np.lexsort((memory[order], times[order]))]
    least = np.minimum.accumulate(memory[order])
    first = np.concatenate(([True], least[1:] < least[:-1])) if order.size else np.zeros(0, dtype=bool)
    chosen = order[first]
    run = run_terms(values, times[chosen][None, :])
    duration, cost = run["run.time_to_train"][0], run["run.cost"][0]
    points = []
    for index, flat in enumerate(chosen):
        where = np.unravel_index(flat, fastest.shape)
        options = step[tuple(slice(None) if axis in axes else place for axis, place in enumerate(where))]
        within = np.unravel_index(int(np.argmin(options)), options.shape)
        full, free = [int(place) for place in where], iter(within)
        for axis in axes:
            full[axis] = int(next(free))
        option = int(np.ravel_multi_index(full[:-2], step.shape[:-2])) if len(full) > 2 else 0
        place = Place(chunk.variant, chunk.group, chunk.start + full[-1], option)
        points.append(Point(float(duration[index]), float(cost[index]), float(memory[flat]), place))
    return tuple(points)
