"""A page for a browser: GPUs in use over time, a bar for every job, a map of a moment; one file that loads nothing."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

from aiplan.report.schedule import wording

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aiplan.planning.scheduling.outcome import Snapshot
    from aiplan.planning.scheduling.question import Answer
    from aiplan.planning.scheduling.simulation import Simulation

WIDTH, HEIGHT, ROW, LEFT, RIGHT = 900.0, 160.0, 14.0, 190.0, 40.0
MOST_JOBS = 400
MOST_POINTS = 4000
MOST_NODES = 1000
CELL = 12.0
GOLDEN = 137.508
"""Degrees between the hues of jobs one after the other: as far from all before as can be."""
TICKS = 6
STYLE = """
body { font: 14px/1.45 system-ui, sans-serif; margin: 2rem; color: #1c2330; background: #fff; }
h1 { font-size: 1.15rem; } h2 { font-size: 1rem; }
svg { max-width: 100%; height: auto; } text { font-size: 10px; fill: #4a5568; }
.use { fill: #3b6fb6; fill-opacity: .25; stroke: #3b6fb6; } .wait { fill: #d9a441; } .run { fill: #3b6fb6; }
.free { fill: #e6e9ef; } .down { fill: #1c2330; } th, td { padding: .15rem .8rem .15rem 0; text-align: right; }
th:first-child, td:first-child { text-align: left; } table { border-collapse: collapse; margin: 1rem 0; }
.axis { stroke: #cbd2dc; } dt { float: left; clear: left; width: 9rem; color: #4a5568; } dd { margin-left: 9.5rem; }
.key { display: inline-block; width: 1.2rem; height: .6rem; margin: 0 .3rem 0 .8rem; }
.run-key { background: #3b6fb6; } .wait-key { background: #d9a441; }
"""


LEGEND = '<p><b class="key run-key"></b> runs, as high as it has pods <b class="key wait-key"></b> waits</p>'


def timeline(answer: Answer) -> str:
    """Return a page of HTML."""
    run = answer.first.simulation
    facts = "".join(
        f"<dt>{escape(fact.label)}</dt><dd>{escape(fact.value)} {escape(fact.note)}</dd>"
        for fact in wording.headline(answer)
    )
    pictures = "" if run is None else _use(run) + LEGEND + _jobs(run)
    if len(answer.runs) > 1:
        facts += f"</dl>{_table(*wording.compare(answer))}<dl>"
    shot = answer.first.snapshot
    if shot is not None and len(shot.nodes) <= MOST_NODES:
        pictures += _map(shot)
    name = escape(wording.title(answer))
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{name}</title>'
        f"<style>{STYLE}</style></head>\n<body><h1>{name}</h1><dl>{facts}</dl>\n{pictures}</body></html>\n"
    )


def _x(run: Simulation, time: float) -> float:
    return LEFT + WIDTH * time / (run.now or 1.0)


def _svg(height: float, label: str, parts: Iterator[str]) -> str:
    total = LEFT + WIDTH + RIGHT
    return (
        f'<svg viewBox="0 0 {total:g} {height:g}" role="img" aria-label="{escape(label)}">'
        f"<title>{escape(label)}</title>{''.join(parts)}</svg>\n"
    )


def _use(run: Simulation) -> str:
    return _svg(HEIGHT + 30, "GPUs in use over time", _use_parts(run))


def _use_parts(run: Simulation) -> Iterator[str]:
    most = max(run.bench.machine.gpu_count, 1)
    steps = run.timeline[:: max(1, len(run.timeline) // MOST_POINTS)]
    path = [f"M{LEFT:g} {HEIGHT:g}"]
    for time, busy in steps:
        path.append(f"H{_x(run, time):.1f}V{HEIGHT * (1 - busy / 1000.0 / most):.1f}")
    path.append(f"H{LEFT + WIDTH:g}V{HEIGHT:g}Z")
    yield f'<path class="use" d="{"".join(path)}"/>'
    yield f'<text x="{LEFT - 6:g}" y="10" text-anchor="end">{most:,} GPUs</text>'
    yield from _axis(run, HEIGHT)


def _axis(run: Simulation, y: float) -> Iterator[str]:
    yield f'<line class="axis" x1="{LEFT:g}" x2="{LEFT + WIDTH:g}" y1="{y:g}" y2="{y:g}"/>'
    for tick in range(TICKS + 1):
        time = run.now * tick / TICKS
        yield f'<text x="{_x(run, time):.1f}" y="{y + 14:g}" text-anchor="middle">{escape(wording.time(time))}</text>'


def _jobs(run: Simulation) -> str:
    shown = min(run.jobs.size, MOST_JOBS)
    more = f" (the first {shown:,} of {run.jobs.size:,})" if shown < run.jobs.size else ""
    return _svg(ROW * shown + 30, f"Jobs: waiting, then running{more}", _job_parts(run, shown))


def _job_parts(run: Simulation, shown: int) -> Iterator[str]:
    for job in range(shown):
        y, record = ROW * job, run.records[job]
        yield f'<text x="{LEFT - 6:g}" y="{y + 10:g}" text-anchor="end">{escape(run.jobs.names[job][:34])}</text>'
        first, end = float(run.jobs.submit[job]), run.now if math.isnan(record.ended) else record.ended
        if first <= run.now:
            yield _bar(run, "wait", first, end, y + 5, 3.0)
        for start, stop, pods in record.segments:
            yield _bar(run, "run", start, stop, y + 2, 9.0 * pods / run.bench.most[job])
    yield from _axis(run, ROW * shown)


def _bar(run: Simulation, kind: str, start: float, stop: float, y: float, height: float) -> str:
    width = max(_x(run, stop) - _x(run, start), 0.5)
    return f'<rect class="{kind}" x="{_x(run, start):.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"/>'


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    heading = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{heading}</tr>{body}</table>"


def _map(shot: Snapshot) -> str:
    """Return nodes as rows of GPUs, each in the colour of its job; what lies there is told under the pointer."""
    nodes = [(name, devices) for name, devices in shot.nodes if devices]
    widest = max((len(devices) for _, devices in nodes), default=0)
    step = LEFT / 2 + CELL * widest + RIGHT / 2
    across = max(int((LEFT + WIDTH + RIGHT) / step), 1)
    rows = math.ceil(len(nodes) / across)
    label = f"The cluster {wording.moment(shot)}"
    return f"<h2>{escape(label)}</h2>" + _svg(ROW * rows + 4, label, _map_parts(nodes, rows, step))


def _map_parts(nodes: Sequence[tuple[str, tuple[str, ...]]], rows: int, step: float) -> Iterator[str]:
    hues: dict[str, float] = {}
    for place, (name, devices) in enumerate(nodes):
        x, y = step * (place // rows) + LEFT / 2, ROW * (place % rows)
        yield f'<text x="{x - 6:g}" y="{y + 10:g}" text-anchor="end">{escape(name[:14])}</text>'
        for device, job in enumerate(devices):
            corner = f'x="{x + CELL * device:g}" y="{y + 1:g}" width="{CELL - 1:g}" height="{CELL - 1:g}"'
            if job in {"", "down"}:
                yield f'<rect class="{job or "free"}" {corner}/>'
            else:
                hue = hues.setdefault(job, GOLDEN * len(hues) % 360)
                told = f"<title>{escape(f'{name}, GPU {device}: {job}')}</title>"
                yield f'<rect style="fill:hsl({hue:.0f} 55% 55%)" {corner}>{told}</rect>'
