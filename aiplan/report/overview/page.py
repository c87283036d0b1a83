"""The page: scenarios side by side, then all that is known of each, then where the numbers come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.html import document, name, paragraph, section
from aiplan.report.overview import side, sources
from aiplan.report.overview.sheet import sections

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.planning.overview import Overview, Sheet

KIND = "Capacity plan of an AI training cluster"


def page(answer: Overview) -> str:
    """Return the page."""
    return document(_title(answer), _header(answer), list(_contents(answer)), _body(answer))


def _title(answer: Overview) -> str:
    labels = [sheet.label for sheet in answer.sheets]
    return labels[0] if len(labels) == 1 else f"{len(labels)} scenarios: {', '.join(labels)}"


def _header(answer: Overview) -> str:
    if len(answer.sheets) == 1:
        one = answer.sheets[0]
        source = one.estimate.scenario.source
        return f'<p class="soft">{KIND}</p>\n<h1>{name(one.label)}</h1>\n{paragraph(source, "soft")}\n'
    names = "".join(
        f'<li>{sheet.mark} <a href="#{_ident(sheet)}">{name(sheet.label)}</a></li>' for sheet in answer.sheets
    )
    title = f"<h1>{len(answer.sheets)} scenarios side by side</h1>"
    return f'<p class="soft">{KIND}</p>\n{title}\n<ul class="named">{names}</ul>\n'


def _ident(sheet: Sheet) -> str:
    return f"scenario-{sheet.mark.lower()}"


def _contents(answer: Overview) -> Iterator[tuple[str, str]]:
    if len(answer.sheets) == 1:
        yield from ((ident, title) for ident, title, _ in sections(answer.sheets[0], 2))
    else:
        yield side.IDENT, side.TITLE
        yield from ((_ident(sheet), f"{sheet.mark}: {sheet.label}") for sheet in answer.sheets)
    yield from ((ident, title) for ident, title, _ in sources.sections(answer))


def _body(answer: Overview) -> Iterator[str]:
    if len(answer.sheets) == 1:
        for ident, title, parts in sections(answer.sheets[0], 2):
            yield section(ident, title, 2, *parts)
    else:
        yield section(side.IDENT, side.TITLE, 2, *side.parts(answer))
        for sheet in answer.sheets:
            inner = [section(ident, title, 3, *parts) for ident, title, parts in sections(sheet, 3)]
            source = paragraph(sheet.estimate.scenario.source, "soft")
            yield section(_ident(sheet), f"{sheet.mark}: {sheet.label}", 2, source, *inner)
    for ident, title, parts in sources.sections(answer):
        yield section(ident, title, 2, *parts)
