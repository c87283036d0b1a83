"""A timeline for a browser: GPUs in use over time, and a bar for every job; one file, nothing loaded from elsewhere."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

from aiplan.report.schedule import wording

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.planning.scheduling.question import Answer
    from aiplan.planning.scheduling.simulation import Simulation

WIDTH, HEIGHT, ROW, LEFT, RIGHT = 900.0, 160.0, 14.0, 190.0, 40.0
MOST_JOBS = 400
MOST_POINTS = 4000
TICKS = 6
STYLE = """
body { font: 14px/1.45 system-ui, sans-serif; margin: 2rem; color: #1c2330; background: #fff; }
h1 { font-size: 1.15rem; } svg { max-width: 100%; height: auto; } text { font-size: 10px; fill: #4a5568; }
.use { fill: #3b6fb6; fill-opacity: .25; stroke: #3b6fb6; } .wait { fill: #d9a441; } .run { fill: #3b6fb6; }
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
