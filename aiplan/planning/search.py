"""The best plans of a scenario, or of several variants of it, beside the plan it has."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from aiplan.planning import evidence
from aiplan.planning.chunks import OBJECTIVES, Part, Place, Question, chunks, spaces
from aiplan.planning.estimate import Estimate, estimate
from aiplan.scenario.load import with_plan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from aiplan.planning.front import Point
    from aiplan.planning.space import Space
    from aiplan.scenario.conditions import Condition
    from aiplan.scenario.load import Scenario
    from aiplan.scenario.records import Plan

FOUND = "found by search"
"""Origin of the values of a plan that nobody gave."""
MOST_ON_FRONT = 12


class Choice(NamedTuple):
    """A plan that was found: which variant it belongs to, the plan, and its estimate."""

    variant: int
    plan: Plan
    estimate: Estimate


class Answer(NamedTuple):
    """What a search has found.

    `near` counts the layouts that the model cannot tell from the best one, `ahead` those that beat the scenario's own
    plan. `fallen` counts what was left out by reason: combinations of sizes that are illegal, then plans.
    """

    question: Question
    scenarios: tuple[Scenario, ...]
    best: tuple[Choice, ...]
    front: tuple[Choice, ...]
    own: Estimate | None
    plans: int
    layouts: int
    possible: int
    near: int
    ahead: int
    too_large: int
    unwanted: int
    fallen: dict[str, int]
    finished: bool

    @property
    def objective(self) -> float:
        """The objective of the best plan."""
        return value_of(self.best[0].estimate, self.question)


def question_of(
    scenario: Scenario,
    objective: str,
    conditions: Sequence[Condition] = (),
    shown: int = 10,
    convention: str = "megatron",
    own: Estimate | None = None,
) -> Question:
    """Return what to search for; near is what lies in the interval of a prediction like that of the scenario."""
    found = evidence.published_interval(evidence.like(scenario))
    asked = Question(OBJECTIVES[objective], tuple(conditions), shown, found.high if found else 1.0, convention)
    usable = own is not None and own.fits
    return asked._replace(own=asked.objective.sign * value_of(own, asked)) if own is not None and usable else asked


def value_of(found: Estimate, question: Question) -> float:
    """Return the objective of an estimate."""
    value = found[question.objective.term]
    return found["step"] if math.isnan(value) and question.objective.name == "time" else value


def merged(parts: Iterable[Part], question: Question, told: Callable[[Part], None] | None = None) -> tuple[Part, bool]:
    """Return all parts as one, and whether it was finished: an interrupt ends the search with what there is.

    Parameters
    ----------
    parts : iterable of Part
        Parts of the answer, in any order.
    question : Question
        What is searched for.
    told : callable, optional
        Takes what has been found so far after each part.
    """
    total = Part()
    try:
        for part in parts:
            total = total.merge(part, question)
            if told is not None:
                told(total)
    except KeyboardInterrupt:
        return total, False
    return total, True


def answer(
    found: Sequence[Space], question: Question, part: Part, own: Estimate | None, *, finished: bool = True
) -> Answer:
    """Return the plans behind the places that a search has kept, each with its estimate."""
    best = _choices(found, question, [item.place for item in part.best])
    front = _choices(found, question, [point.place for point in _spread(part.front)])
    fallen: dict[str, int] = {}
    for one in found:
        for rule, count in one.fallen.items():
            fallen[rule] = fallen.get(rule, 0) + count
    return Answer(
        question=question,
        scenarios=tuple(one.scenario for one in found),
        best=best,
        front=front,
        own=own,
        plans=part.plans,
        layouts=sum(one.layouts for one in found),
        possible=part.layouts,
        near=len(part.near),
        ahead=part.ahead,
        too_large=part.too_large,
        unwanted=part.unwanted,
        fallen=fallen,
        finished=finished,
    )


def search(
    scenarios: Sequence[Scenario],
    question: Question,
    own: Estimate | None = None,
    engine: Callable[[Sequence[Space], Question], Iterator[Part]] | None = None,
) -> Answer:
    """Search the plans of some scenarios.

    Parameters
    ----------
    scenarios : sequence of Scenario
        Variants of a scenario; their own plans say only what a search does not vary.
    question : Question
        What is searched for.
    own : Estimate, optional
        Estimate of the plan to compare with.
    engine : callable, optional
        Evaluates the chunks; one after the other in this process if not given.
    """
    from aiplan.planning.workers import serial  # noqa: PLC0415 - the engines import what evaluates

    found = spaces(scenarios, question)
    part, finished = merged((engine or serial)(found, question), question)
    return answer(found, question, part, own, finished=finished)


def total_chunks(found: Sequence[Space]) -> int:
    """Return how many chunks there are."""
    return sum(1 for _ in chunks(found))


def _choices(found: Sequence[Space], question: Question, places: Sequence[Place]) -> tuple[Choice, ...]:
    plans = [found[place.variant].plan(*place[1:]) for place in places]
    scenarios = [
        with_plan(found[place.variant].scenario, plan, FOUND) for place, plan in zip(places, plans, strict=True)
    ]
    answers = estimate(scenarios, question.convention) if scenarios else []
    return tuple(Choice(place.variant, plan, one) for place, plan, one in zip(places, plans, answers, strict=True))


def _spread(points: Sequence[Point]) -> list[Point]:
    """Return both ends of a front and some points between them."""
    if len(points) <= MOST_ON_FRONT:
        return list(points)
    last = len(points) - 1
    return [points[round(index * last / (MOST_ON_FRONT - 1))] for index in range(MOST_ON_FRONT)]
