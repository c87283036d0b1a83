"""What is known besides the error of single steps: order of plans, scaling, whole trainings; in words and cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aiplan.planning.alike import REPEATS_DIFFER
from aiplan.planning.ranking import GOOD_SPEARMAN, SMALL_REGRET
from aiplan.planning.trainings import ACCELERATOR_HOURS, MOST_EXCESS, NEAR, STEPS, WALL_CLOCK
from aiplan.report.text import change, joined, percent, span
from aiplan.units import duration

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.planning.accuracy import Accuracy
    from aiplan.planning.alike import Conditions
    from aiplan.planning.ranking import RankedGroup, Ranking, RankingSummary
    from aiplan.planning.scaling import Scaling, ScalingGroup, ScalingSummary
    from aiplan.planning.trainings import Class, Training, Trainings

Cells = tuple[str, ...]
PUBLISHED = {STEPS: "steps", WALL_CLOCK: "wall clock", ACCELERATOR_HOURS: "GPU-hours"}
"""What the published duration of a training counts."""


class Listing(NamedTuple):
    """A table: headings, of which the first is a name, and rows; `details` are folded or cut where space is short."""

    title: str
    headings: Cells
    rows: list[Cells]
    details: bool = False


class Block(NamedTuple):
    """A part of the report: sentences, and tables."""

    title: str
    lines: list[str]
    listings: list[Listing]


def blocks(answer: Accuracy) -> list[Block]:
    """Return the parts there is something to say in."""
    found = (_ranking(answer.ranking()), _scaling(answer.scaling()), _trainings(answer.trainings))
    return [block for block in found if block is not None]


def _ranking(ranking: Ranking) -> Block | None:
    whole = ranking.overall()
    if whole is None:
        return None
    order = (
        f"{_groups(whole.groups)} of plans for one model, batch and machine, {whole.plans:,} plans: Spearman "
        f"{_ranks(whole)}; {percent(whole.good_share)} of the groups at {GOOD_SPEARMAN} or more"
    )
    again = (
        f"if times measured again differ by {percent(REPEATS_DIFFER)} (standard deviation), a second measurement would "
        f"put {percent(ranking.repeatable_share())} of the groups at {GOOD_SPEARMAN} or more"
    )
    cost = (
        "regret, by which the plan predicted to be the fastest took longer than the fastest one: median "
        f"{percent(whole.median_regret)}, worst {percent(whole.worst_regret)}; "
        f"{percent(whole.small_regret_share)} of the groups within {percent(SMALL_REGRET)}"
    )
    headings = ("source", "groups", "plans", "median", "worst", "pooled", ">= 0.9", "worst regret", "<= 5 %")
    sources = Listing("", headings, [_of_source(part) for part in ranking.by_source()])
    groups = [_ranked(group) for group in ranking.worst_first()]
    columns = ("group", "plans", "Spearman", "regret")
    return Block(
        "Order of plans", [order, again, cost], [sources, Listing("Groups of plans", columns, groups, details=True)]
    )


def _ranks(part: RankingSummary) -> str:
    return f"median {part.median_spearman:.2f}, worst {part.worst_spearman:.2f}, pooled {part.pooled_spearman:.2f}"


def _of_source(part: RankingSummary) -> Cells:
    correlations = (part.median_spearman, part.worst_spearman, part.pooled_spearman)
    shares = (part.good_share, part.worst_regret, part.small_regret_share)
    return (
        part.name,
        f"{part.groups:,}",
        f"{part.plans:,}",
        *(f"{value:.2f}" for value in correlations),
        *map(percent, shares),
    )


def _ranked(group: RankedGroup) -> Cells:
    where = f"{group.accelerators:,} x {group.conditions.accelerator}, batch {group.global_batch:,}"
    return (_named(group.conditions, where), f"{len(group.plans):,}", f"{group.spearman:.2f}", percent(group.regret))


def _scaling(scaling: Scaling) -> Block | None:
    whole = scaling.overall()
    if whole is None:
        return None
    line = (
        f"efficiency at the most accelerators, predicted less measured, in {_groups(whole.groups)}: median size "
        f"{_points(whole.median_size)}, worst {_points(whole.worst_size)}, bias {_signed(whole.bias)}; "
        f"{percent(whole.near_share)} of the groups within 5 points"
    )
    again = (
        f"if times measured again differ by {percent(REPEATS_DIFFER)} (standard deviation), a prediction without error "
        f"would have {percent(scaling.attainable_share())} of the groups within 5 points"
    )
    headings = ("scaling", "groups", "median size", "worst", "bias", "within 5 points")
    kinds = Listing("", headings, [_of_kind(part) for part in scaling.by_kind()])
    columns = ("group", "runs", "accelerators", "measured", "predicted", "difference")
    groups = [_scaled(group) for group in scaling.worst_first()]
    details = Listing("Groups with more and more accelerators", columns, groups, details=True)
    return Block("Scaling", [line, again], [kinds, details])


def _of_kind(part: ScalingSummary) -> Cells:
    sizes = (_points(part.median_size), _points(part.worst_size))
    return (part.name, f"{part.groups:,}", *sizes, _signed(part.bias), percent(part.near_share))


def _scaled(group: ScalingGroup) -> Cells:
    return (
        _named(group.conditions, f"{group.conditions.accelerator}, {group.kind}"),
        f"{group.runs:,}",
        f"{group.smallest.accelerators:,} to {group.largest.accelerators:,}",
        percent(group.measured_efficiency),
        percent(group.predicted_efficiency),
        _signed(group.difference),
    )


def _groups(count: int) -> str:
    return "1 group" if count == 1 else f"{count:,} groups"


def _named(conditions: Conditions, where: str) -> str:
    return joined([f"{conditions.source}: {conditions.model}", conditions.precision, where])


def _points(difference: float) -> str:
    return percent(difference).replace("%", "points")


def _signed(difference: float) -> str:
    return change(difference).replace("%", "points")


def _trainings(trainings: Trainings) -> Block | None:
    rows = [_training(item) for item in trainings.counted]
    left_out: list[Cells] = [(reason, f"{count:,}") for reason, count in trainings.skipped()]
    if not rows and not left_out:
        return None
    classes = Listing("", CLASS_HEADINGS, [_class(part) for part in trainings.classes()])
    headings = ("training", "accelerators", "published", "predicted", "90 %", "error", "counts", "layout")
    far: list[Cells] = [(_name(item), change(item.error), why) for item in trainings.counted if (why := _why(item))]
    stated = [_training(item) for item in trainings.counted if not item.own_plan and item.counts != STEPS]
    listings = [
        classes,
        Listing("Pre-trainings that state their layout", headings, stated),
        Listing("Whole trainings, one by one", headings, rows, details=True),
        Listing(f"Why trainings are off by more than {percent(NEAR)}", ("training", "error", "why"), far, details=True),
        Listing("Whole trainings left out", ("reason", "trainings"), left_out, details=True),
    ]
    return Block("Whole trainings", list(_of_trainings(trainings)), [part for part in listings if part.rows])


CLASS_HEADINGS = (
    "published",
    "layout",
    "trainings",
    "median error",
    f"within {100 * NEAR:.0f} %",
    "published over predicted",
)


def _class(part: Class) -> Cells:
    found = part.summary
    return (
        PUBLISHED[part.counts],
        "ours" if part.own_plans else "published",
        f"{found.number:,}",
        percent(found.error),
        percent(found.near),
        f"{found.median:.2f}, {found.lowest:.2f} to {found.highest:.2f}",
    )


def _of_trainings(trainings: Trainings) -> Iterator[str]:
    found, stated = trainings.summary(), trainings.stated()
    if found is None:
        return
    if stated is not None:
        yield (
            f"{stated.number:,} trainings state their layout: median error of the time {percent(stated.error)}, "
            f"{percent(stated.near)} of them within {percent(NEAR)}"
        )
    if found.own_plans:
        yield (
            f"{found.own_plans:,} do not, and the fastest of a grid that fits into memory stands in: the least that "
            "they could have taken"
        )
    yield f"{found.exceeding:,} are predicted to take longer than was published by more than {percent(MOST_EXCESS)}"


def _training(item: Training) -> Cells:
    scenario = item.run.scenario if item.estimate is None else item.estimate.scenario
    machine = f"{scenario.accelerators:,} x {scenario.accelerator.name}" if scenario else ""
    likely = item.interval
    return (
        _name(item),
        machine,
        duration(item.measured_time),
        duration(item.predicted_time),
        "" if likely is None else span(likely.low, likely.high, "s"),
        change(item.error),
        PUBLISHED[item.counts],
        "ours" if item.own_plan else "published",
    )


def _name(item: Training) -> str:
    scenario = item.run.scenario if item.estimate is None else item.estimate.scenario
    return f"{item.run.ident}: {scenario.model.name if scenario else ''}"


def _why(item: Training) -> str:
    """Return what was published of a training that is far off, or what is not known of it."""
    if abs(item.error) <= NEAR:
        return ""
    unknown = ["layout ours: what is predicted is the least"] if item.own_plan and item.error < 0 else []
    assumed = [f"assumed: {', '.join(item.run.assumed)}"] if item.run.assumed else []
    return "; ".join(filter(None, (item.run.circumstances, *unknown, *assumed)))
