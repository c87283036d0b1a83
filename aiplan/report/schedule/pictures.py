"""The pictures of a schedule: GPUs in use over time, a bar for every job, a map of the cluster at one moment."""

from __future__ import annotations

import math
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from aiplan.report.graph import Even
from aiplan.report.picture import AREA, PAGE, Entry, Picture, at, levels, note, series, shown, uprights
from aiplan.report.schedule import wording
from aiplan.units import quantity, round_steps

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aiplan.planning.scheduling.outcome import Snapshot
    from aiplan.planning.scheduling.simulation import Simulation
    from aiplan.report.picture import Frame

TIME = PAGE.placed(left=112, right=464, top=14)
"""The frame of what goes over time: names to the left."""
USE_HEIGHT, ROW, BAR = 150, 14, 9
MOST_JOBS = 400
MOST_POINTS = 1500
MOST_NODES = 1000
STEPS = 4
RUNS, WAITS = series(0), series(1)
CELL, TALL, SHORTEST = 11, 16, 17
"""Width of a GPU in the map, height of a node in it, and characters of a name that have room."""


class Stretch(NamedTuple):
    """GPUs of a node one after the other with the same job: the first, how many, and the job."""

    first: int
    length: int
    job: str


def use(run: Simulation) -> Picture:
    """Return the GPUs in use over time."""
    frame = TIME.placed(bottom=TIME.top + USE_HEIGHT, height=TIME.top + USE_HEIGHT + 28)
    text = f"How many of {run.bench.machine.gpu_count:,} GPUs have a job, over time."
    return Picture("GPUs in use over time", text, frame, tuple(_use(run, frame)))


def _use(run: Simulation, frame: Frame) -> Iterator[str]:
    most = max(run.bench.machine.gpu_count, 1)
    across, up = _over_time(run, frame), Even(0.0, float(most), frame.bottom, frame.top)
    yield from levels(frame, ((up.at(gpus), f"{gpus:,g}") for gpus in round_steps(float(most), "1", STEPS)))
    yield from _times(run, frame)
    steps = run.timeline[:: max(1, len(run.timeline) // MOST_POINTS)]
    path = "".join(f"H{at(across.at(time))}V{at(up.at(busy / 1000.0))}" for time, busy in steps)
    start, end = f"M{frame.left} {frame.bottom}", f"H{frame.right}V{frame.bottom}Z"
    yield f'<path class="area {RUNS}" d="{start}{path}{end}"/>'
    yield f'<path class="bound" d="M{frame.left} {frame.top}H{frame.right}"/>'
    yield note(frame.right, frame.top - 3, f"all {most:,} GPUs", "small e")


def jobs(run: Simulation) -> Picture:
    """Return the jobs in the order of the file: when each waits, and when it runs with how many of its pods."""
    count = min(run.jobs.size, MOST_JOBS)
    more = f", the first {count:,} of {run.jobs.size:,}" if count < run.jobs.size else ""
    frame = TIME.placed(bottom=TIME.top + ROW * count, height=TIME.top + ROW * count + 28)
    text = "A row for each job: a line while it waits, a bar while it runs, as high as it has pods."
    key = (Entry("runs", RUNS, AREA), Entry("waits", f"series {WAITS}"))
    return Picture(f"Jobs over time{more}", text, frame, tuple(_jobs(run, frame, count)), key)


def _jobs(run: Simulation, frame: Frame, count: int) -> Iterator[str]:
    across = _over_time(run, frame)
    yield from _times(run, frame)
    waits: list[str] = []
    for job in range(count):
        record, middle = run.records[job], frame.top + ROW * (job + 0.5)
        yield note(frame.left - 6, middle + 4, _cut(run.jobs.names[job]), "small e")
        end = run.now if math.isnan(record.ended) else record.ended
        for start, stop in _gaps(float(run.jobs.submit[job]), end, record.segments):
            waits.append(f"M{at(across.at(start))} {at(middle)}H{at(across.at(stop))}")
        for start, stop, pods in record.segments:
            x, high = across.at(start), BAR * pods / run.bench.most[job]
            size = f'width="{at(max(across.at(stop) - x, 0.5))}" height="{at(high)}"'
            yield f'<rect class="area {RUNS}" x="{at(x)}" y="{at(middle - high / 2)}" {size}/>'
    if waits:
        yield f'<path class="curve series {WAITS}" d="{"".join(waits)}"/>'


def _gaps(submit: float, end: float, segments: Sequence[tuple[float, float, int]]) -> Iterator[tuple[float, float]]:
    """Yield when a job that is there does not run."""
    free = submit
    for start, stop, _ in sorted(segments):
        if start > free:
            yield free, start
        free = max(free, stop)
    if end > free:
        yield free, end


def _over_time(run: Simulation, frame: Frame) -> Even:
    return Even(0.0, run.now or 1.0, frame.left, frame.right)


def _times(run: Simulation, frame: Frame) -> Iterator[str]:
    across = _over_time(run, frame)
    steps = round_steps(run.now or 1.0, "s", STEPS)
    yield from uprights(frame, ((across.at(time), quantity(time, "s")) for time in steps))


def cluster(shot: Snapshot) -> Picture | None:
    """Return every node as a row of GPUs with the letters of their jobs; None if there are too many to be drawn."""
    nodes = [(name, devices) for name, devices in shot.nodes if devices]
    if not nodes or len(nodes) > MOST_NODES:
        return None
    named = min(max(len(name) for name, _ in nodes), SHORTEST) * 6.6 + 8
    step = named + CELL * max(len(devices) for _, devices in nodes) + 14
    columns = max(int(PAGE.width / step), 1)
    rows = math.ceil(len(nodes) / columns)
    frame = PAGE.placed(width=max(PAGE.width, math.ceil(step)), height=TALL * rows + 4)
    text = "Each node with a letter for the job on each of its GPUs; the letters are named below."
    parts: list[str] = []
    letters: dict[str, str] = {}
    for place, (name, devices) in enumerate(nodes):
        corner = (step * (place // rows) + named, TALL * (place % rows) + 2.0)
        parts += [note(corner[0] - 5, corner[1] + 10, _cut(name), "small e"), *_node(name, devices, corner, letters)]
    return Picture(f"The cluster {wording.moment(shot)}", text, frame, tuple(parts))


def _node(name: str, devices: Sequence[str], corner: tuple[float, float], letters: dict[str, str]) -> Iterator[str]:
    x, y = corner
    high = TALL - 3
    edges = "".join(f"M{at(x + CELL * gpu)} {at(y)}v{high}" for gpu in range(1, len(devices)))
    yield f'<rect class="box" x="{at(x)}" y="{at(y)}" width="{CELL * len(devices)}" height="{high}"/>'
    for first, length, job in _stretches(devices):
        if not job:
            continue
        letter, left = wording.letter(job, letters), x + CELL * first
        look = f"area {series(list(letters).index(job))}" if job in letters else "box"
        told = f"<title>{shown(f'{name}, {_gpus(first, length)}: {job}')}</title>"
        size = f'x="{at(left)}" y="{at(y)}" width="{CELL * length}" height="{high}"'
        yield f'<rect class="{look}" {size}>{told}</rect>'
        yield from (note(left + CELL * (gpu + 0.5), y + 10.5, letter, "label m") for gpu in range(length))
    if edges:
        yield f'<path class="grid" d="{edges}"/>'


def _stretches(devices: Sequence[str]) -> Iterator[Stretch]:
    place = 0
    for job, alike in groupby(devices):
        found = Stretch(place, len(list(alike)), job)
        yield found
        place += found.length


def _gpus(first: int, length: int) -> str:
    return f"GPU {first}" if length == 1 else f"GPUs {first} to {first + length - 1}"


def _cut(name: str) -> str:
    return name if len(name) <= SHORTEST else f"{name[: SHORTEST - 1]}\N{HORIZONTAL ELLIPSIS}"
