"""A schedule as JSON, and as records: one line a run where there are several, else one line a job."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from aiplan.planning.scheduling.outcome import waits_of
from aiplan.report import documents

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aiplan.planning.scheduling.outcome import Outcome, Snapshot, Waits
    from aiplan.planning.scheduling.question import Answer, Replayed, Run
    from aiplan.planning.scheduling.simulation import Simulation
    from aiplan.report.records import Cell

JOBS = (
    "name",
    "gpus",
    "submitted_s",
    "started_s",
    "ended_s",
    "waited_s",
    "reason",
    "preempted",
    "failed",
    "resized",
    "lost_gpu_s",
    "nodes",
)
RUN = (
    "variant",
    "strategy",
    "ties",
    "jobs",
    "finished",
    "waiting",
    "never",
    "span_s",
    "utilisation",
    "goodput",
    "mean_wait_s",
    "p90_wait_s",
    "preemptions",
    "failures",
    "resizes",
    "evictions",
    "lost_gpu_s",
    "held_gpu_s",
    "deadlock",
)
REPLAY = (
    "variant",
    "strategy",
    "ties",
    "seeds",
    "arrived",
    "allocation",
    "allocation_std",
    "fragmentation",
    "lost_pods",
)


def document(answer: Answer) -> str:
    """Return a JSON document `aiplan.schedule/1`."""
    plan, machine = answer.work.plan, answer.work.machine
    inputs = {"file": plan.place.name, "name": plan.name, "seed": answer.seed, "settings": list(plan.settings)}
    first = answer.first
    result: dict[str, Any] = {
        "cluster": {"nodes": machine.size, "gpus": machine.gpu_count},
        "runs": [_run(run) for run in answer.runs],
        "fits": _fits(answer),
        "goodput": [row._asdict() for row in answer.static.goodput],
        "steps": [
            {"name": row.name, "pods": row.pods, "gpus": row.gpus, "step_time_s": row.step, "rate": row.rate}
            for row in answer.static.steps
        ],
        "queues": [row._asdict() for row in answer.static.shares],
        "jobs": []
        if first.simulation is None
        else [dict(zip(JOBS, row, strict=True)) for row in jobs(first.simulation)],
        "timeline": [] if first.simulation is None else [[t, busy / 1000.0] for t, busy in first.simulation.timeline],
        "snapshot": None if first.snapshot is None else _snapshot(first.snapshot),
    }
    return documents.document("schedule", inputs, [], result, [])


def _fits(answer: Answer) -> list[dict[str, Any]]:
    shot = answer.first.snapshot
    now = [None] * len(answer.static.fits) if shot is None else shot.room
    return [
        row._asdict() | {"blocked": _known(row.blocked), "most_now": room}
        for row, room in zip(answer.static.fits, now, strict=True)
    ]


def header(answer: Answer) -> tuple[str, ...]:
    """Return the heading of the records."""
    return _flat(answer)[0]


def rows(answer: Answer) -> Iterable[tuple[Cell, ...]]:
    """Return the records: of a replayed trace, of the runs, or of the jobs."""
    return _flat(answer)[1]


def _flat(answer: Answer) -> tuple[tuple[str, ...], Iterable[tuple[Cell, ...]]]:
    """Return heading and records."""
    first = answer.first
    if first.replayed is not None:
        return REPLAY, [_replay_row(run) for run in answer.runs]
    if len(answer.runs) > 1 or first.simulation is None:
        return RUN, [_run_row(run) for run in answer.runs]
    return JOBS, jobs(first.simulation)


def jobs(run: Simulation) -> Iterable[tuple[Cell, ...]]:
    """Yield a record for every job."""
    waits, gpus = waits_of(run), run.jobs.gpus()
    for job, record in enumerate(run.records):
        yield (
            run.jobs.names[job],
            float(gpus[job]),
            float(run.jobs.submit[job]),
            _known(record.started),
            _known(record.ended),
            float(waits[job]),
            run.never.get(job, record.first_reason),
            record.preempted,
            record.failed,
            record.resized,
            record.lost,
            " ".join(run.bench.machine.names[node] for node in record.nodes),
        )


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _run_row(run: Run) -> tuple[Cell, ...]:
    found = run.outcome
    assert found is not None  # noqa: S101  the caller has looked
    everyone = found.everyone
    return (
        run.variant.label,
        run.variant.strategy,
        run.variant.ties,
        found.jobs,
        found.finished,
        found.waiting,
        found.never,
        found.span,
        found.utilisation,
        found.goodput,
        _known(everyone.mean),
        _known(everyone.p90),
        found.preemptions,
        found.failures,
        found.resizes,
        found.evictions,
        found.lost,
        found.held,
        found.deadlock is not None,
    )


def _replay_row(run: Run) -> tuple[Cell, ...]:
    found = run.replayed
    assert found is not None  # noqa: S101  the caller has looked
    variant = run.variant
    names = (variant.label, variant.strategy, variant.ties)
    return (*names, found.seeds, found.arrived, found.allocation, found.spread, found.fragmentation, found.lost_pods)


def _run(run: Run) -> dict[str, Any]:
    if run.replayed is not None:
        return dict(zip(REPLAY, _replay_row(run), strict=True)) | _replayed(run.replayed)
    assert run.outcome is not None  # noqa: S101  one of the two is there
    return dict(zip(RUN, _run_row(run), strict=True)) | _outcome(run.outcome)


def _replayed(found: Replayed) -> dict[str, Any]:
    lost = [{"size": size, "arrived": all_, "lost": gone} for size, (all_, gone) in found.lost.items()]
    return {"pods": found.pods, "lost": lost, "allocation_at_50_80_100": list(found.at_marks)}


def _outcome(found: Outcome) -> dict[str, Any]:
    return {
        "waits_by_class": [_wait(row) for row in found.by_class],
        "waits_by_size": [_wait(row) for row in found.by_size],
        "waits_by_queue": [_wait(row) for row in found.by_queue],
        "first_reasons": found.reasons,
        "gpus_in_deadlock": found.deadlock.gpus if found.deadlock else 0.0,
    }


def _wait(row: Waits) -> dict[str, Any]:
    return {
        "label": row.label,
        "jobs": row.jobs,
        "never": row.never,
        "mean_s": _known(row.mean),
        "median_s": _known(row.median),
        "p90_s": _known(row.p90),
        "longest_s": _known(row.longest),
    }


def _snapshot(found: Snapshot) -> dict[str, Any]:
    return {
        "time_s": found.time,
        "allocated": found.allocated,
        "fragmentation": found.fragmentation,
        "nodes": [{"name": name, "gpus": list(devices)} for name, devices in found.nodes],
        "waiting": [
            {"name": row.name, "reason": row.reason, "waited_s": row.waited, "pods": row.pods, "gpus": row.gpus}
            for row in found.waiting
        ],
    }
