"""The words and cells of scaling, for table and Markdown alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.planning.scaling import WEAK
from aiplan.report.search.wording import as_plan, goodput, times
from aiplan.report.text import joined, percent
from aiplan.units import duration, quantity, scale

if TYPE_CHECKING:
    from aiplan.planning.scale import Answer, Curve, Size

DEFINITIONS = (
    "Efficiency at N GPUs is tokens per second and GPU over the same at M, the fewest that fit: (T_N / N) / (T_M / M).",
    "Weak scaling keeps the batch per GPU, so that it is also step_M / step_N.",
    "Strong scaling keeps the whole batch, so that it is also M step_M / (N step_N).",
    "Named is the part whose share of a step has grown most since M.",
)
STEPS_ALONE = "Time to train is that of steps alone: --set reliability={} adds failures and checkpoints."
WHOLE_RUN = "Wall clock and goodput count failures, checkpoints and storage too; efficiency is that of steps."
KEPT = "The plan of the scenario at every size; only data parallelism grows."
CHOSEN = "At every size the fastest plan that fits, so that parts change with the plan."


def definitions(answer: Answer) -> list[str]:
    """Return what the numbers mean, and whether they count more than steps."""
    if answer.scenario.run:
        return [*DEFINITIONS, WHOLE_RUN]
    return [*DEFINITIONS, STEPS_ALONE] if any(_times(curve) for curve in answer.curves) else [*DEFINITIONS]


def title(answer: Answer) -> str:
    """Return what is scaled."""
    scenario = answer.scenario
    gpus = answer.request.accelerators
    sizes = f"{gpus[0]:,} to {gpus[-1]:,}" if len(gpus) > 1 else f"{gpus[0]:,}"
    return f"{scenario.model.name} on {sizes} x {scenario.accelerator.name}"


def heading(answer: Answer, curve: Curve) -> str:
    """Return which kind of scaling a table shows, and what stays."""
    work = answer.scenario.file.workload
    if curve.kind == WEAK:
        each = float(answer.batch_per_accelerator)
        return f"Weak scaling: {each:.4g} {'sequence' if each == 1 else 'sequences'} per GPU"
    return f"Strong scaling: {work.global_batch:,} sequences whatever the size"


def plans(answer: Answer) -> str:
    """Return how plans were chosen."""
    if not answer.replanned:
        return KEPT
    where = joined([item.text for item in answer.request.conditions])
    return f"{CHOSEN[:-1]}; {where}." if where else CHOSEN


def header(curve: Curve) -> tuple[str, ...]:
    """Return the headings of the sizes of a curve."""
    unit, _ = scale(_values(curve, "memory.needed"), "B")
    told = ("",) if any(_remark(size) for size in curve.sizes) else ()
    return (
        "GPUs",
        "batch",
        "data",
        "step",
        "effi-\nciency",
        "MFU",
        f"memory\n[{unit}]",
        *_times(curve),
        *told,
    )


def rows(curve: Curve) -> list[tuple[str, ...]]:
    """Return a row for every size of a curve."""
    memory = iter(scale(_values(curve, "memory.needed"), "B")[1])
    last = any(_remark(size) for size in curve.sizes)
    found = []
    for size in curve.sizes:
        told = (_remark(size),) if last else ()
        batch = f"{int(size.batch):,}" if size.batch.denominator == 1 else ""
        one = size.estimate
        if one is None:
            empty = ("",) * (len(header(curve)) - 2 - len(told))
            found.append((f"{size.accelerators:,}", batch, *empty, *told))
            continue
        timed = (duration(one.whole_time), goodput(one))[: len(_times(curve))]
        share = percent(curve.efficiency(size))
        numbers = (f"{one.scenario.data:,}", quantity(one["step"], "s"), share, percent(one.mfu), next(memory))
        found.append((f"{size.accelerators:,}", batch, *numbers, *timed, *told))
    return found


def notes(answer: Answer, curve: Curve) -> list[tuple[str, str]]:
    """Return the plan of every size, if these differ, and why a size is not possible."""
    found = []
    for size in curve.sizes:
        one = size.estimate
        if one is None:
            found.append((f"{size.accelerators:,}", f"not possible: {size.fault}"))
        elif answer.replanned:
            found.append((f"{size.accelerators:,}", as_plan(one.scenario.file.plan, one.scenario.data)))
    return found


def parts_header(answer: Answer) -> tuple[str, ...]:
    """Return the headings of the parts of a step."""
    names = [name.removeprefix("step.") for name in answer.parts]
    return ("GPUs", *(name if len(name) < 10 else f"{name[:5]}-\n{name[5:]}" for name in names))


def parts(answer: Answer, curve: Curve) -> list[tuple[str, ...]]:
    """Return the shares that the parts have of a step, for every size with an estimate."""
    return [
        (f"{size.accelerators:,}", *(percent(size.share(part)).removesuffix(" %") for part in answer.parts))
        for size in curve.estimated
    ]


def verdict(curve: Curve) -> str:
    """Return where scaling breaks, and which part of a step grows."""
    first, broken, good = curve.reference, curve.breaks, curve.last_good
    if first is None or good is None:
        return "no size is possible"
    if len(curve.estimated) == 1:
        return f"only {first.accelerators:,} GPUs are possible, so there is nothing to compare"
    if broken is None:
        last = curve.estimated[-1]
        return joined(
            [
                f"holds {percent(curve.holds)} up to {last.accelerators:,} GPUs ({percent(curve.efficiency(last))})",
                _grown(curve, last),
            ]
        )
    return joined(
        [
            f"below {percent(curve.holds)} from {broken.accelerators:,} GPUs on ({percent(curve.efficiency(broken))})",
            f"at {good.accelerators:,} still {percent(curve.efficiency(good))}",
            _grown(curve, broken),
        ]
    )


def _grown(curve: Curve, size: Size) -> str:
    found = curve.grown(size)
    if found is None:
        return ""
    return f"grown most: {found.label.lower()}, from {percent(found.before)} to {percent(found.after)} of a step"


def _remark(size: Size) -> str:
    if size.estimate is None:
        return "no plan"
    return "" if size.fits else "does not fit"


def _values(curve: Curve, term: str) -> list[float]:
    return [size.estimate[term] for size in curve.sizes if size.estimate is not None]


def _times(curve: Curve) -> tuple[str, ...]:
    """Return the headings of how long it takes: of steps alone, or of the run as a whole."""
    return times([size.estimate for size in curve.sizes if size.estimate is not None])
