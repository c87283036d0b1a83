"""Where the numbers of a page come from: what scenarios say, the catalog, published runs, closed forms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report import html

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.planning.overview import Overview
    from aiplan.report.overview.sheet import Section


def sections(answer: Overview) -> list[Section]:
    """Return the sections."""
    return [
        ("sources", "Sources", tuple(_sources(answer))),
        ("formulas", "Formulas", tuple(_formulas(answer))),
    ]


def _sources(answer: Overview) -> Iterator[str]:
    many = len(answer.sheets) > 1
    for sheet in answer.sheets:
        source = sheet.estimate.scenario.source
        given = [
            (name, origin.where.replace(f"{source}:", "line "), origin.detail)
            for name, origin in sheet.estimate.scenario.parts.origins.items()
            if origin.kind == "given"
        ]
        if given:
            title = f"{sheet.mark}: what {source} says" if many else f"What {source} says"
            yield html.wide_table(title, ("field", "place", "text"), given, text=range(3))
    if answer.entries:
        header = ("entry", *(("used by",) if many else ()), "verified", "sources")
        rows = [
            (one.name, *((one.marks,) if many else ()), "yes" if one.verified else "no", " ".join(one.sources))
            for one in answer.entries
        ]
        yield html.wide_table("Entries of the hardware catalog", header, rows, text=range(4))
    if answer.origins:
        rows = [(one.source, one.name, one.address) for one in answer.origins]
        yield html.wide_table("Published runs", ("source", "what was measured", "address"), rows, text=range(3))


def _formulas(answer: Overview) -> Iterator[str]:
    count = sum(len(forms) for forms in answer.formulas.values())
    yield html.paragraph("The closed forms that made these numbers. 'aiplan explain' shows each with its values.")
    yield html.folded(f"{count} closed forms by source", html.definitions(answer.formulas))
