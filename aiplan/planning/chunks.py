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

from aiplan.engine.evaluate import step_and_memory, whole_terms
from aiplan.engine.saving import intervals_kept
from aiplan.planning.front import Point, front_of
from aiplan.planning.objectives import BY_ITSELF, BY_PLAN, Objective, after_step, busy, fastest, named, ranked
from aiplan.planning.space import AS_THEY_ARE, Space, space

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from aiplan.core.arrays import Array
    from aiplan.engine.inputs import Inputs
    from aiplan.engine.run_inputs import RunInputs
    from aiplan.scenario.conditions import Condition
    from aiplan.scenario.load import Scenario

CHUNK = 400_000
"""Plans that are evaluated at once: arrays of a few megabytes, large enough that Python's share is small."""


WHOLE = 8
"""Chunks are so much smaller where the run as a whole is computed for every plan: more arrays have all axes then."""


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


def chunks(found: Sequence[Space], question: Question) -> Iterator[Chunk]:
    """Yield the chunks of all variants in order."""
    for variant, one in enumerate(found):
        most = CHUNK // WHOLE if _plan_by_plan(one.run, question) else CHUNK
        for number, group in enumerate(one.groups):
            step = max(1, most // group.options)
            for start in range(0, len(group.sizes), step):
                yield Chunk(variant, number, start, min(start + step, len(group.sizes)))


def _plan_by_plan(run: RunInputs | None, question: Question) -> bool:
    """Whether more than the step is computed for every plan."""
    conditions = any(item.of_whole_run for item in question.conditions)
    return question.objective.depends == BY_PLAN or (run is not None and (conditions or _paced(run)))


def _paced(run: RunInputs) -> bool:
    """Whether intervals between checkpoints are given: then they may be too short for a plan."""
    return bool(run.checkpoint.given.any() or run.checkpoint.stores_apart.any())


def evaluated(found: Sequence[Space], chunk: Chunk, question: Question) -> Part:
    """Evaluate a chunk and keep what is worth it."""
    run = found[chunk.variant].run
    values = found[chunk.variant].inputs(chunk.group, chunk.start, chunk.stop)
    terms = step_and_memory(values, run)
    needed, step = terms["memory.needed"], terms["step"]
    fits = needed <= terms["memory.capacity"]
    wanted = _wanted(values, run, terms, question)
    shape = np.broadcast_shapes(step.shape, np.shape(wanted))
    legal = np.broadcast_to(fits & wanted, shape)
    objective, key = ranked(values, run, terms, legal, question.objective)
    by_memory = question.objective.depends == BY_ITSELF
    times = np.where(legal, busy(terms), np.inf)
    total = _count(np.ones((1, 1), dtype=bool), shape)
    part = Part(
        plans=total,
        layouts=int(np.count_nonzero(np.isfinite(objective))),
        too_large=_count(~fits, shape),
        unwanted=total - _count(~fits, shape) - _count(legal, shape),
        leanest=float(np.min(np.where(wanted, needed, np.inf))),
    )
    if not part.layouts:
        return part
    part = part._replace(
        best=_best(found, chunk, question, objective, key, times if by_memory else needed),
        front=_front(chunk, values, run, terms, times, np.broadcast_to(needed, _along(needed.shape, shape))),
        ahead=int(np.count_nonzero(objective < question.own)),
    )
    return part._replace(near=_near(objective, part.best, question))


def _wanted(values: Inputs, run: RunInputs | None, terms: dict[str, Array], question: Question) -> NDArray[np.bool_]:
    """Return which plans meet all conditions; terms beyond the tree are computed only if one asks for them."""
    holds: NDArray[np.bool_] = np.ones((1, 1), dtype=bool)
    asked = [item for item in question.conditions if not (item.on_plan and item.name in AS_THEY_ARE)]
    paced = run is not None and _paced(run)
    if paced or any(item.term not in terms and not item.on_plan for item in asked):
        terms = whole_terms(values, run, terms)
        terms["utilisation"] = terms[f"utilisation.{question.convention}"]
    if paced and run is not None:
        holds = intervals_kept(run, terms)
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
        return plan[term.removeprefix("plan.")] if term.startswith("plan.") else named(terms, term)

    for item in asked:
        holds = holds & item.holds(of)
    return holds


def _count(where: NDArray[np.bool_], shape: tuple[int, ...]) -> int:
    """Count where something holds in the shape that it broadcasts to."""
    return int(np.count_nonzero(where)) * (int(np.prod(shape, dtype=np.int64)) // where.size)


def _along(shape: tuple[int, ...], full: tuple[int, ...]) -> tuple[int, ...]:
    """Return a shape with as many axes as another, and all of its last one."""
    return (*(1,) * (len(full) - len(shape)), *shape[:-1], full[-1])


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


def _front(
    chunk: Chunk, values: Inputs, run: RunInputs | None, terms: dict[str, Array], step: Array, needed: Array
) -> tuple[Point, ...]:
    """Return the plans of a chunk that no other beats in time and memory; cost and time are in step with each other.

    Where neither memory nor checkpoints depend on an option, only the fastest choice of it can be on the front.
    """
    least = fastest(values if run else None, step, needed)
    axes = tuple(axis for axis in range(step.ndim - 2) if least.shape[axis] < step.shape[axis])
    possible = np.isfinite(least)
    found = after_step(values, run, terms, np.where(possible, least, 1.0))
    cost = np.broadcast_to(named(found, "total.cost"), least.shape).ravel()
    times = np.where(possible, named(found, "wallclock"), np.inf).ravel()
    memory = np.broadcast_to(needed, least.shape).ravel()
    order = np.flatnonzero(np.isfinite(times))
    order = order[np.lexsort((memory[order], times[order]))]
    leaner = np.minimum.accumulate(memory[order])
    first = np.concatenate(([True], leaner[1:] < leaner[:-1])) if order.size else np.zeros(0, dtype=bool)
    points = []
    for flat in order[first]:
        where = np.unravel_index(flat, least.shape)
        options = step[tuple(slice(None) if axis in axes else place for axis, place in enumerate(where))]
        within = np.unravel_index(int(np.argmin(options)), options.shape)
        full, free = [int(place) for place in where], iter(within)
        for axis in axes:
            full[axis] = int(next(free))
        option = int(np.ravel_multi_index(full[:-2], step.shape[:-2])) if len(full) > 2 else 0
        place = Place(chunk.variant, chunk.group, chunk.start + full[-1], option)
        points.append(Point(float(times[flat]), float(cost[flat]), float(memory[flat]), place))
    return tuple(points)
