"""The words and cells of checkpoints, for table and Markdown alike."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from aiplan.report.facts import BAD, GOOD, Fact
from aiplan.report.text import joined, number, percent
from aiplan.units import duration, quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiplan.planning.checkpoint import CheckpointAnswer, Interval

INTERVALS = ("interval", "", "saves", "work lost", "restarts", "goodput", "")
MODES = ("mode", "stall", "durable after", "interval", "host memory", "goodput", "")
FLEETS = ("rate of", "interrupted every", "interval", "interruptions", "goodput")
IMPOSSIBLE = "too short: a save takes longer"


def title(answer: CheckpointAnswer) -> str:
    """Return whose checkpoints they are."""
    scenario = answer.estimate.scenario
    return f"{scenario.name}: {scenario.model.name} on {scenario.accelerators:,} x {scenario.accelerator.name}"


def facts(answer: CheckpointAnswer) -> list[Fact]:
    """Return size, stall, drain, memory, restart, interval, loss, and the bandwidth needed."""
    one, used = answer.estimate, answer.used
    saves = one.scenario.file.checkpoint
    per = one.given("checkpoint.weight_bytes") + one.given("checkpoint.state_bytes")
    writers = f"{one['checkpoint.writers']:,.0f} writers"
    mode = getattr(saves, "mode", "async")
    drain = one["checkpoint.drain"]
    durable = f"durable {duration(drain)} later" if drain else "durable at once"
    mtbf = one["reliability.mtbf"]
    lines = [
        Fact("checkpoint", quantity(one["checkpoint.bytes"], "B si"), f"{per:g} bytes a parameter, {writers}"),
        Fact("stall", duration(one["checkpoint.stall"]), f"{mode}; {durable}"),
        _memory(answer),
        Fact("load", duration(one["checkpoint.load"]), f"of {duration(one['reliability.restart'])} for a restart"),
        Fact("interrupted", f"every {duration(mtbf)}" if math.isfinite(mtbf) else "never", _near(answer)),
        Fact("interval", duration(used.interval), _stored(answer)),
        Fact("loss", share(used.loss), f"saves {share(used.saves)}, work done again {share(used.lost)}"),
        Fact("goodput", share(used.goodput), "with restarts, waiting for data, evaluation and the first start"),
        _needed(answer),
        *_lost_node(answer),
    ]
    return [line for line in lines if line.value or line.note]


def _memory(answer: CheckpointAnswer) -> Fact:
    taken, there = answer.estimate["checkpoint.host_memory"], answer.estimate.scenario.node.memory
    if not taken:
        return Fact("host memory", "none")
    of = "" if there is None else f"of {quantity(there, 'B')} a node"
    return Fact("host memory", quantity(taken, "B"), of, GOOD if answer.fits else BAD)


def _near(answer: CheckpointAnswer) -> str:
    share = answer.estimate["reliability.near_share"]
    return f"the copy close by survives {percent(share)} of it" if share else ""


def _stored(answer: CheckpointAnswer) -> str:
    one = answer.estimate
    stored = one["checkpoint.storage_interval"]
    reaches = "" if stored <= one["checkpoint.interval"] else f"storage has one every {duration(stored)}"
    rule = getattr(one.scenario.file.checkpoint, "interval", "auto")
    return joined(["given" if isinstance(rule, float) else f"by rule: {rule}", reaches])


def _needed(answer: CheckpointAnswer) -> Fact:
    if not answer.estimate["reliability.rate"]:
        return Fact("", "")
    label = f"for {100 * answer.target:g} %"
    if math.isfinite(answer.needed):
        there = (
            quantity(answer.estimate["storage.write"], "B/s")
            if math.isfinite(answer.estimate["storage.write"])
            else "no limit"
        )
        return Fact(label, quantity(answer.needed, "B/s"), f"to storage would keep the loss below; there is {there}")
    return Fact(label, "no storage is fast enough", "the stall, or restarts, take more already")


def _lost_node(answer: CheckpointAnswer) -> list[Fact]:
    lost = answer.lost_node
    if lost is None:
        return []
    costs = [f"with a spare {duration(lost.spare)}", f"waiting for its repair {duration(lost.wait)}"]
    if lost.shrink is not None and lost.break_even is not None:
        pays = f"which pays if repair takes over {duration(lost.break_even)}"
        costs.insert(1, f"shrinking and growing again {duration(lost.shrink)}, {pays}")
    return [
        Fact("a lost node", "", f"{'; '.join(costs)}; in time of the whole job"),
        Fact("spare nodes", f"{lost.spares:.0f}", "suffice at a moment with 99 %"),
    ]


def intervals(answer: CheckpointAnswer) -> list[tuple[str, ...]]:
    """Return what each interval costs, by length; the rules among them."""
    rows = sorted((*answer.rules, *answer.intervals), key=lambda one: one.interval)
    return [_interval(one) for one in rows]


def _interval(one: Interval) -> tuple[str, ...]:
    shares = map(share, (one.saves, one.lost, one.restarts, one.goodput))
    if not one.durable:
        return (duration(one.interval), one.name, "", "", "", "", IMPOSSIBLE)
    return (duration(one.interval), one.name, *shares, "")


def share(part: float) -> str:
    """Return a share of the time, most of which are small here."""
    return f"{100 * part:.2f} %" if math.isfinite(part) else "unknown"


def modes(answer: CheckpointAnswer) -> list[tuple[str, ...]]:
    """Return every way to save beside the others."""
    found: list[tuple[str, ...]] = []
    for mode in answer.modes:
        one = mode.estimate
        if one is None:
            found.append((mode.name, "", "", "", "", "", mode.reason))
            continue
        drain = one["checkpoint.drain"]
        found.append(
            (
                mode.name,
                duration(one["checkpoint.stall"]),
                duration(drain) if drain else "at once",
                duration(one["checkpoint.interval"]),
                quantity(one["checkpoint.host_memory"], "B") if one["checkpoint.host_memory"] else "none",
                share(one["run.goodput"]),
                "",
            )
        )
    return found


def fleets(answer: CheckpointAnswer) -> list[tuple[str, ...]]:
    """Return the same job with the rates of published fleets."""
    return [
        (
            fleet.name,
            duration(fleet.estimate["reliability.mtbf"]),
            duration(fleet.estimate["checkpoint.interval"]),
            number(fleet.estimate["reliability.interruptions"], "1"),
            share(fleet.estimate["run.goodput"]),
        )
        for fleet in answer.fleets
    ]


def filled(header: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[list[str], list[list[str]]]:
    """Return a table without the columns that nothing stands in."""
    kept = [index for index, _ in enumerate(header) if any(row[index] for row in rows)]
    return [header[index] for index in kept], [[row[index] for index in kept] for row in rows]
