"""A schedule as a page of HTML: what came out, GPUs and jobs over time, the cluster at one moment, every table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report import html
from aiplan.report.schedule import pictures, wording

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aiplan.planning.scheduling.outcome import Snapshot
    from aiplan.planning.scheduling.question import Answer

KIND = "Jobs on a cluster"
Section = tuple[str, str, tuple[str, ...]]
"""Id, title and parts."""


def page(answer: Answer) -> str:
    """Return the page."""
    found = list(_sections(answer))
    told = html.paragraph(wording.placed(answer), "soft")
    header = f'<p class="soft">{KIND}</p>\n<h1>{html.name(answer.work.plan.name)}</h1>\n{told}\n'
    body = [html.section(ident, title, 2, *parts) for ident, title, parts in found]
    return html.document(wording.title(answer), header, [(ident, title) for ident, title, _ in found], body)


def _sections(answer: Answer) -> Iterator[Section]:
    first = answer.first
    yield "result", "Result", tuple(_result(answer))
    if first.simulation is not None:
        use, jobs = pictures.use(first.simulation), pictures.jobs(first.simulation)
        drawn = html.figure(use, "use-picture") + html.figure(jobs, "jobs-picture")
        yield "time", "Over time", (html.beside(drawn, "".join(_waits(answer))),)
    if first.snapshot is not None:
        yield "moment", "At one moment", tuple(_moment(first.snapshot))
    static = tuple(_static(answer))
    if static:
        yield "room", "Queues and kinds of jobs", static


def _result(answer: Answer) -> Iterator[str]:
    yield html.facts(wording.headline(answer))
    if len(answer.runs) > 1:
        yield _table("Side by side", *wording.compare(answer))
        yield from (html.paragraph(told, "bad") for told in wording.deadlocks(answer))
    yield html.paragraph(wording.NOTE, "soft")


def _waits(answer: Answer) -> Iterator[str]:
    outcome = answer.first.outcome
    if outcome is not None:
        yield _table("How long jobs waited", wording.WAITS, wording.waits(outcome))
        reasons = wording.reasons(outcome)
        yield html.paragraph(f"{reasons[:1].upper()}{reasons[1:]}.", "soft") if reasons else ""


def _moment(shot: Snapshot) -> Iterator[str]:
    picture = pictures.cluster(shot)
    if picture is not None:
        yield html.figure(picture, "cluster-picture")
        yield html.paragraph(wording.legend(shot), "soft")
    else:
        yield html.paragraph(f"The cluster {wording.moment(shot)}.")
    if shot.waiting:
        yield _table("What waits", wording.WAITING, wording.waiting(shot), text=(0, 1))


def _static(answer: Answer) -> Iterator[str]:
    if len(answer.static.shares) > 1:
        yield _table("Queues", wording.SHARES, wording.shares(answer), text=(0, 1))
    for title, header, rows in (
        ("Jobs on the empty cluster", wording.FITS, wording.fits(answer)),
        ("Elastic jobs by size", wording.STEPS, wording.steps(answer)),
        ("Elastic jobs on nodes that fail", wording.GOODPUT, wording.goodput(answer)),
    ):
        if rows:
            yield _table(title, header, rows)


def _table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]], text: Sequence[int] = (0,)) -> str:
    """Return a table without the columns in which no row says anything."""
    kept = [at for at, _ in enumerate(header) if not at or any(row[at] for row in rows)]
    cells = [[row[at] for at in kept] for row in rows]
    return html.table(title, [header[at] for at in kept], cells, [place for place, at in enumerate(kept) if at in text])
