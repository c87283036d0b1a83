"""The best plans of a scenario, or of several variants of it, beside the plan it has."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from aiplan.planning import evidence
from aiplan.planning.chunks import Part, Place, Question, spaces
from aiplan.planning.estimate import Estimate, estimate
from aiplan.planning.fit import Tight, tightness
from aiplan.planning.objectives import OBJECTIVES, STEPS_ALONE
from aiplan.planning.space import sized
from aiplan.planning.workers import serial
from aiplan.scenario.load import with_plan
from aiplan.units import quantity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from aiplan.declare import Diagnostics
    from aiplan.planning.front import Point
    from aiplan.planning.space import Space
    from aiplan.planning.workers import Engine
    from aiplan.scenario.conditions import Condition
    from aiplan.scenario.load import Scenario
    from aiplan.scenario.records import Plan

FOUND = "found by search"
"""Origin of the values of a plan that nobody gave."""
SLOWEST_ON_FRONT = 3.0
"""Times the fastest plan that a plan on the front may take."""
LEANER = 0.9
"""Share of the memory of the one before that the next plan shown of the front needs at most."""


class Choice(NamedTuple):
    """A plan that was found: which variant it belongs to, the plan, and its estimate."""

    variant: int
    plan: Plan
    estimate: Estimate


class Asked(NamedTuple):
    """A search before it runs: the spaces of all variants with their names, the question, and the plan to beat."""

    spaces: tuple[Space, ...]
    labels: tuple[str, ...]
    question: Question
    own: Estimate | None = None

    @property
    def plans(self) -> int:
        """Plans to go through."""
        return sum(one.plans for one in self.spaces)


class Answer(NamedTuple):
    """What a search has found.

    `near` counts the layouts that the model cannot tell from the best one, `ahead` those that beat the scenario's own
    plan. `fallen` counts what was left out by reason: combinations of sizes that are illegal, then plans.
    """

    question: Question
    scenarios: tuple[Scenario, ...]
    labels: tuple[str, ...]
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
    leanest: float
    fallen: dict[str, int]
    finished: bool

    @property
    def behind(self) -> float:
        """How far the own plan is behind the best one, as a share; 0 if there is none."""
        if self.own is None or not self.best:
            return 0.0
        own, best = (value_of(one, self.question) for one in (self.own, self.best[0].estimate))
        return (own / best if self.question.objective.sign > 0 else best / own) - 1.0

    @property
    def beyond(self) -> float:
        """How far from the best a plan must be to be told apart, as a share; 0 if it is not known."""
        return self.question.near - 1.0

    def against(self, one: Estimate) -> float | None:
        """Return the change of the step against the own plan, or the best one; None for that plan itself."""
        yardstick = self.own if self.own is not None else self.best[0].estimate
        return None if one is yardstick else one["step"] / yardstick["step"] - 1.0

    def tight(self) -> Tight | None:
        """Return how tightly the best plan fits, if by less than what predictions of memory are off by."""
        return tightness(self.best[0].estimate)


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
    if own is None or not own.fits:
        return asked
    known = own if own.scenario is (whole := sized(own.scenario)) else estimate([whole], convention)[0]
    return asked._replace(own=asked.objective.sign * value_of(known, asked))


def value_of(found: Estimate, question: Question) -> float:
    """Return the objective of an estimate."""
    term = question.objective.term
    value = found.of_run(term) if term in STEPS_ALONE else found.terms.get(term, math.nan)
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


def answer(asked: Asked, part: Part, *, finished: bool = True) -> Answer:
    """Return the plans behind the places that a search has kept, each with its estimate."""
    found, question = asked.spaces, asked.question
    best = _choices(found, question, [item.place for item in part.best])
    front = _choices(found, question, [point.place for point in _spread(part.front)])
    fallen: dict[str, int] = {}
    for one in found:
        for rule, count in one.fallen.items():
            fallen[rule] = fallen.get(rule, 0) + count
    return Answer(
        question=question,
        scenarios=tuple(one.scenario for one in found),
        labels=asked.labels,
        best=best,
        front=front,
        own=asked.own,
        plans=part.plans,
        layouts=sum(one.layouts for one in found),
        possible=part.layouts,
        near=len(part.near),
        ahead=part.ahead,
        too_large=part.too_large,
        unwanted=part.unwanted,
        leanest=part.leanest,
        fallen=fallen,
        finished=finished,
    )


def ask(
    scenarios: Sequence[Scenario], question: Question, own: Estimate | None = None, labels: Sequence[str] = ("",)
) -> Asked:
    """Return a search that can run.

    Parameters
    ----------
    scenarios : sequence of Scenario
        Variants of a scenario; their own plans say only what a search does not vary.
    question : Question
        What is searched for.
    own : Estimate, optional
        Estimate of the plan to compare with.
    labels : sequence of str
        What the variants are called.
    """
    return Asked(tuple(spaces(scenarios, question)), tuple(labels), question, own)


def run(asked: Asked, engine: Engine = serial, told: Callable[[Part], None] | None = None) -> Answer:
    """Run a search.

    Parameters
    ----------
    asked : Asked
        The search.
    engine : callable
        Evaluates the chunks: one after the other in this process, or shared out.
    told : callable, optional
        Takes what has been found so far, again and again.
    """
    part, finished = merged(engine(asked.spaces, asked.question), asked.question, told)
    return answer(asked, part, finished=finished)


def search(scenarios: Sequence[Scenario], question: Question, own: Estimate | None = None) -> Answer:
    """Search the plans of some scenarios in this process."""
    return run(ask(scenarios, question, own, [""] * len(scenarios)))


def best_plan(scenario: Scenario, diagnostics: Diagnostics) -> Scenario | None:
    """Return a scenario with the fastest plan that fits; None, and why, if none does."""
    found = search([scenario], question_of(scenario, "time", shown=1))
    if found.best:
        return found.best[0].estimate.scenario
    problem, hint = none_fits(found)
    diagnostics.error("AIP311", problem, hint=hint)
    return None


def none_fits(found: Answer) -> tuple[str, str]:
    """Return why there is no answer, and what would help."""
    if not found.plans:
        reasons = ", ".join(f"{rule} ({count:,})" for rule, count in sorted(found.fallen.items()))
        return f"no layout is legal: {reasons}", "change the accelerators or the batch to numbers with more divisors"
    if not math.isfinite(found.leanest):
        return f"none of {found.plans:,} legal plans meets the conditions", "ask for less with --where"
    capacity = found.scenarios[0].values["cluster.memory_capacity"].number
    if found.leanest <= capacity:
        return (
            f"none of {found.plans:,} legal plans has an answer: some fit, but the run as a whole never ends",
            "look at reliability and checkpoint: failures, restarts or warm-ups take all of the time",
        )
    needed, there = quantity(found.leanest, "B"), quantity(capacity, "B")
    return (
        f"none of {found.plans:,} legal plans fits: the leanest needs {needed} per GPU, and there is {there}",
        "use more accelerators, such with more memory, or a shorter sequence",
    )


def _choices(found: Sequence[Space], question: Question, places: Sequence[Place]) -> tuple[Choice, ...]:
    plans = [found[place.variant].plan(*place[1:]) for place in places]
    scenarios = [
        with_plan(found[place.variant].scenario, plan, FOUND) for place, plan in zip(places, plans, strict=True)
    ]
    answers = estimate(scenarios, question.convention) if scenarios else []
    return tuple(Choice(place.variant, plan, one) for place, plan, one in zip(places, plans, answers, strict=True))


def _spread(points: Sequence[Point]) -> list[Point]:
    """Return the points of a front that are worth a look: each cheaper or a good deal leaner than those before."""
    kept: list[Point] = []
    for point in points:
        near = not kept or point.time <= SLOWEST_ON_FRONT * kept[0].time
        if near and all(point.cost < one.cost or point.memory <= LEANER * one.memory for one in kept):
            kept.append(point)
    return kept
