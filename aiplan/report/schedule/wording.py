"""The words and cells of a schedule, for table and Markdown alike."""

from __future__ import annotations

import math
from itertools import groupby
from typing import TYPE_CHECKING

from aiplan.report.facts import BAD, BOLD, GOOD, Fact
from aiplan.report.text import percent
from aiplan.units import duration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiplan.planning.scheduling.outcome import Outcome, Snapshot, Waits
    from aiplan.planning.scheduling.question import Answer, Replayed, Run

HOUR = 3600.0
WAITS = ("waiting time", "jobs", "mean", "median", "90 %", "longest", "never")
RUNS = ("", "used", "useful", "all done", "mean wait", "stops", "lost\nGPU-h", "held\nGPU-h")
REPLAYS = ("", "allocated", "+-", "at 80 %", "at 100 %", "fragments", "lost pods")
FITS = ("job", "pods", "GPUs each", "room for", "room now", "stranded", "left over", "blocked")
GOODPUT = ("on nodes that fail", "pods", "elastic", "waiting for all")
STEPS = ("elastic job", "pods", "GPUs", "step", "rate", "rate of a pod")
SHARES = ("queue", "rules", "own GPUs", "most", "while others use theirs")
NOTE = (
    "Placement, quotas and victims by the rules of the schedulers; times from a simulation of events. Used: GPU time "
    "given to jobs; useful: that of work which was not lost."
)
WAITING = ("waits", "why", "pods", "GPUs", "for")
MOST_LINES = 40
"""Lines of nodes and of waiting jobs."""
SHORT, GAP, WIDE = 10, 3, 100
"""Nodes in a column of the map at least, blanks between its columns, and its width where nothing limits it."""
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
FREE, DOWN, MANY = ".", "x", "*"


def time(seconds: float) -> str:
    """Return a time as people read it; nothing if it is unknown."""
    return "" if math.isnan(seconds) else duration(seconds) if seconds else "0 s"


def gpu_hours(seconds: float) -> str:
    """Return GPU-seconds as GPU-hours."""
    return f"{seconds / HOUR:,.1f}" if seconds else "0"


def title(answer: Answer) -> str:
    """Return the name of the mix and how it was scheduled."""
    return f"{answer.work.plan.name}: {placed(answer)}"


def placed(answer: Answer) -> str:
    """Return how nodes were chosen for the jobs."""
    variant = answer.first.variant
    return f"{variant.strategy}, ties to {_ties(variant.ties, variant.strategy)}"


def _ties(ties: str, strategy: str) -> str:
    words = {"first": "the first node by name", "shuffled": "the first node of an order drawn once"}
    return "any node" if strategy == "random" else words.get(ties, "any node")


def headline(answer: Answer) -> list[Fact]:
    """Return the numbers of the first run."""
    first, machine = answer.first, answer.work.machine
    plural = "" if machine.size == 1 else "s"
    cluster = Fact("cluster", f"{machine.gpu_count:,} GPUs", f"on {machine.size:,} node{plural}")
    if first.replayed is not None:
        return [cluster, *_replay_facts(first.replayed)]
    assert first.outcome is not None  # noqa: S101  one of the two is there
    return [cluster, *_run_facts(first.outcome, answer)]


def _run_facts(found: Outcome, answer: Answer) -> list[Fact]:
    done = f"{found.finished:,} of {found.jobs:,}"
    counts = (
        (found.running, "run"),
        (found.waiting, "wait"),
        (found.never, "can never start"),
        (found.later, "come later"),
    )
    rest = ", ".join(f"{count:,} {word}" for count, word in counts if count)
    facts = [
        Fact("jobs done", done, rest, GOOD if found.finished == found.jobs else BAD if found.never else BOLD),
        Fact("looked at for" if found.running or found.later else "all over after", time(found.span)),
        Fact("GPUs in use", percent(found.utilisation), f"{percent(found.goodput)} in work that was not lost"),
    ]
    stops = (
        (found.preemptions, "preempted"),
        (found.failures, "hit by failures"),
        (found.resizes, "resized"),
        (found.evictions, "timed out"),
    )
    events = ", ".join(f"{count:,} {word}" for count, word in stops if count)
    if events:
        facts.append(Fact("jobs stopped", events, f"{gpu_hours(found.lost)} GPU-hours of work lost"))
    if found.down:
        facts.append(Fact("GPUs down", f"{gpu_hours(found.down)} GPU-hours"))
    if found.held and found.deadlock is None:
        facts.append(Fact("held in vain", f"{gpu_hours(found.held)} GPU-hours", "by jobs that lacked other pods"))
    if found.deadlock is not None:
        facts.append(deadlock(found, answer))
    return facts


def deadlock(found: Outcome, answer: Answer) -> Fact:
    """Return who holds what for ever."""
    assert found.deadlock is not None  # noqa: S101  the caller has looked
    assert answer.work.jobs is not None  # noqa: S101  replays have no jobs
    names = [answer.work.jobs.names[job] for job in found.deadlock.jobs]
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    held = f"{found.deadlock.gpus:g} GPUs held for ever"
    return Fact("deadlock", held, f"by {', '.join(names[:5])}{more}, from {time(found.deadlock.time)} on", BAD)


def deadlocks(answer: Answer) -> list[str]:
    """Return what is held for ever in runs other than the first, which has it among its facts."""
    found = []
    for run in answer.runs[1:]:
        if run.outcome is not None and run.outcome.deadlock is not None:
            fact = deadlock(run.outcome, answer)
            each = f"{run.outcome.deadlock.gpus:g} GPU-hours of every hour"
            found.append(f"{run.variant.label}: {fact.label}, {fact.value} {fact.note}: {each} are wasted")
    return found


def _replay_facts(found: Replayed) -> list[Fact]:
    seeds = f"mean of {found.seeds} seeds, +- {100 * found.spread:.2f} points" if found.seeds > 1 else "one seed"
    marks = f"at 80 % of arrivals, {percent(found.at_marks[2])} at 100 %"
    lost = ", ".join(f"{gone:,.4g} of {all_:,.4g} with {size}" for size, (all_, gone) in found.lost.items() if gone)
    plural = "" if round(found.lost_pods) == 1 else "s"
    return [
        Fact("arrivals", percent(found.arrived), f"of all GPUs asked for by {found.pods:,} pods that never leave"),
        Fact("GPUs allocated", percent(found.allocation), seeds),
        Fact("on the way", percent(found.at_marks[1]), marks),
        Fact("fragments", percent(found.fragmentation), "of what is idle is of no use to typical pods"),
        Fact("no place for", f"{found.lost_pods:,.0f} pod{plural}", lost),
    ]


def compare(answer: Answer) -> tuple[Sequence[str], list[tuple[str, ...]]]:
    """Return the runs side by side."""
    if answer.first.replayed is not None:
        return REPLAYS, [_replay_cells(run) for run in answer.runs]
    return RUNS, [_run_cells(run) for run in answer.runs]


def _replay_cells(run: Run) -> tuple[str, ...]:
    found = run.replayed
    assert found is not None  # noqa: S101  the caller has looked
    return (
        run.variant.label,
        f"{100 * found.allocation:.2f} %",
        f"{100 * found.spread:.2f}",
        f"{100 * found.at_marks[1]:.2f} %",
        f"{100 * found.at_marks[2]:.2f} %",
        percent(found.fragmentation),
        f"{found.lost_pods:,.0f}",
    )


def _run_cells(run: Run) -> tuple[str, ...]:
    found = run.outcome
    assert found is not None  # noqa: S101  the caller has looked
    everyone = found.everyone
    if found.deadlock is not None:
        state = "deadlock"
    elif found.finished < found.jobs:
        state = f"{found.finished:,} done"
    else:
        state = time(found.span)
    held = f"{found.deadlock.gpus:g} an hour" if found.deadlock is not None else gpu_hours(found.held)
    return (
        run.variant.label,
        percent(found.utilisation),
        percent(found.goodput),
        state,
        time(everyone.mean),
        f"{found.preemptions + found.failures + found.evictions:,}",
        gpu_hours(found.lost),
        held,
    )


def waits(found: Outcome) -> list[tuple[str, ...]]:
    """Return waits by class, by size, and by queue if there are several."""
    queues = found.by_queue if 1 < len(found.by_queue) <= MOST_LINES else ()
    named = [row._replace(label=f"queue {row.label}") for row in queues]
    return [_wait(row) for row in (*found.by_class, *found.by_size, *named)]


def _wait(row: Waits) -> tuple[str, ...]:
    times = (time(row.mean), time(row.median), time(row.p90), time(row.longest))
    return (row.label, f"{row.jobs:,}", *times, f"{row.never:,}" if row.never else "")


def reasons(found: Outcome) -> str:
    """Return what was first in the way of jobs that had to wait."""
    listed = ", ".join(f"{count:,} {reason}" for reason, count in found.reasons.items())
    return f"in the way at first: {listed}" if listed else ""


def fits(answer: Answer) -> list[tuple[str, ...]]:
    """Return jobs on the empty cluster, and the largest gang of each that could start at the time of the snapshot."""
    shot = answer.first.snapshot
    now = [None] * len(answer.static.fits) if shot is None else shot.room
    return [
        (
            row.name,
            f"{row.pods:,}",
            f"{row.gpus_per_pod:g}",
            _room(row.most),
            _room(room),
            f"{row.stranded:,}" if row.stranded else "",
            f"{row.unused:,}" if row.unused else "",
            "" if math.isnan(row.blocked) else percent(row.blocked),
        )
        for row, room in zip(answer.static.fits, now, strict=True)
    ]


def _room(pods: int | None) -> str:
    return "" if pods is None else f"{pods:,}" if pods < 10**9 else "any"


def goodput(answer: Answer) -> list[tuple[str, ...]]:
    """Return elastic jobs on nodes that fail, by the closed form."""
    return [
        (row.name, f"{row.least} to {row.most}", percent(row.elastic), percent(row.rigid))
        for row in answer.static.goodput
    ]


def steps(answer: Answer) -> list[tuple[str, ...]]:
    """Return elastic jobs with a scenario at each of their sizes."""
    return [
        (row.name, f"{row.pods:,}", f"{row.gpus:,}", time(row.step), percent(row.rate), percent(row.efficiency))
        for row in answer.static.steps
    ]


def shares(answer: Answer) -> list[tuple[str, ...]]:
    """Return what queues may have."""
    return [(row.name, row.kind, f"{row.nominal:g}", f"{row.most:g}", f"{row.least:g}") for row in answer.static.shares]


def cluster_map(found: Snapshot, width: int | None) -> tuple[list[list[tuple[str, str]]], str]:
    """Return lines of nodes with a letter for each GPU, and what the letters mean; of too many, how many are alike.

    Nodes go down the columns, as many columns as the width has room for once there are more nodes than in a short one.
    """
    names: dict[str, str] = {}
    nodes = [(name, "".join(letter(job, names) for job in devices)) for name, devices in found.nodes if devices]
    if not nodes:
        return [], ""
    widths = [max(len(node[part]) for node in nodes) for part in (0, 1)]
    beside = max(((width or WIDE) + GAP) // (sum(widths) + 1 + GAP), 1)
    rows = math.ceil(len(nodes) / min(beside, math.ceil(len(nodes) / SHORT)))
    if rows > MOST_LINES:
        return [[row] for row in _summary(found)], ""
    cells = [(name.ljust(widths[0]), letters.ljust(widths[1])) for name, letters in nodes]
    jobs = _named(names)
    told = f"{FREE} free, {DOWN} down, {MANY} shared or others; {jobs}" if jobs else f"{FREE} free"
    return [cells[row::rows] for row in range(rows)], told


def legend(found: Snapshot) -> str:
    """Return what the letters of a drawn map mean."""
    names: dict[str, str] = {}
    for _, devices in found.nodes:
        for job in devices:
            letter(job, names)
    return f"{_named(names)}; {MANY} shared or others, {DOWN} down" if names else ""


def _named(names: dict[str, str]) -> str:
    return ", ".join(f"{mark} {job}" for job, mark in names.items())


def letter(job: str, names: dict[str, str]) -> str:
    """Return the letter of what is on a GPU; a job that has none yet is given the next one, if there is one left."""
    if job in {"", "down"}:
        return FREE if not job else DOWN
    if "," in job:
        return MANY
    if job not in names and len(names) < len(LETTERS):
        names[job] = LETTERS[len(names)]
    return names.get(job, MANY)


def _summary(found: Snapshot) -> list[tuple[str, str]]:
    counts: dict[tuple[int, int, int], int] = {}
    for _, devices in found.nodes:
        key = (len(devices), devices.count(""), devices.count("down"))
        counts[key] = counts.get(key, 0) + 1
    return [
        (f"{count:,} nodes", f"{free} of {gpus} GPUs free" if not down else f"down, of {gpus} GPUs")
        for (gpus, free, down), count in sorted(counts.items())
        if gpus
    ]


def waiting(found: Snapshot) -> list[tuple[str, ...]]:
    """Return what waits, and why; those one after the other that are alike in one line."""
    rows: list[tuple[str, ...]] = []
    shown = 0
    for alike, members in groupby(found.waiting, lambda row: (row.reason, row.pods, row.gpus, row.waited)):
        if len(rows) == MOST_LINES:
            return [*rows, (f"and {len(found.waiting) - shown:,} more", "", "", "", "")]
        reason, pods, gpus, waited = alike
        first, *others = (row.name for row in members)
        shown += 1 + len(others)
        name = f"{first} and {len(others):,} more" if others else first
        rows.append((name, reason, f"{pods:,}", f"{gpus:g}", time(waited)))
    return rows


def moment(found: Snapshot) -> str:
    """Return what a snapshot shows."""
    when = f"after {time(found.time)}" if found.time else "at the start"
    idle = (
        f"; {percent(found.fragmentation)} of what is idle is of no use to typical pods" if found.allocated < 1 else ""
    )
    return f"{when}: {percent(found.allocated)} of the GPUs allocated{idle}"
