"""Parts of a page of HTML: tables, facts, figures, sections. One file, no script, nothing loaded from elsewhere."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aiplan import __version__
from aiplan.report.html_style import style
from aiplan.report.picture import quoted, shown, swatch
from aiplan.report.picture import rules as picture_rules

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from aiplan.report.facts import Fact
    from aiplan.report.picture import Entry, Picture

UNITS = r"(?<=\d) (?=(?:%|[num]?s|min|h|d|days|[kKMGTPE]?i?B(?:/s)?|[kMGTPE]?FLOP(?:/s)?|[kMG]?W)(?![\w/]))"
"""The space between a number and its unit, at which no line is broken."""
WIDE_FROM = 4
"""Columns from which a table may be wider than a telephone, and so scrolls by itself."""


def document(title: str, header: str, contents: Sequence[tuple[str, str]], body: Iterable[str]) -> str:
    """Return a page.

    Parameters
    ----------
    title : str
        What it is called in a browser.
    header : str
        What stands above the contents, with the heading of the first level.
    contents : sequence of tuple
        Id and title of the sections to list.
    body : iterable of str
        The sections.
    """
    links = "".join(f'<li><a href="#{ident}">{shown(name)}</a></li>' for ident, name in contents)
    nav = f'<nav aria-label="Contents"><ul>{links}</ul></nav>\n' if contents else ""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f'<meta name="generator" content="aiplan {__version__}">\n'
        f"<title>{shown(title)}</title>\n<style>\n{style()}{picture_rules('svg')}</style>\n</head>\n<body>\n"
        f'<a class="skip" href="#main">To the content</a>\n<header>\n{header}</header>\n{nav}'
        f'<main id="main">\n{"".join(body)}</main>\n'
        f"<footer><p>Written by aiplan {__version__}.</p></footer>\n</body>\n</html>\n"
    )


def section(ident: str, title: str, level: int, *parts: str) -> str:
    """Return a section with its heading; parts that are empty are left out."""
    body = "".join(f"{part}\n" for part in parts if part)
    name = f'<h{level} id="{ident}-h">{shown(title)}</h{level}>'
    return f'<section id="{ident}" aria-labelledby="{ident}-h">\n{name}\n{body}</section>\n'


def heading(title: str, level: int) -> str:
    """Return a heading inside a section."""
    return f"<h{level}>{shown(title)}</h{level}>\n"


def paragraph(text: str, kind: str = "") -> str:
    """Return a paragraph; nothing for an empty text."""
    return f"<p{_kind(kind)}>{_told(text)}</p>" if text else ""


def _told(text: str) -> str:
    """Return text whose numbers stay on a line with their units."""
    return re.sub(UNITS, "\N{NO-BREAK SPACE}", shown(text))


def folded(summary: str, *parts: str) -> str:
    """Return parts that are shown when somebody asks for them, and so are not on paper else."""
    return f"<details>\n<summary>{shown(summary)}</summary>\n{''.join(parts)}</details>"


def beside(*parts: str) -> str:
    """Return parts side by side where there is room, else one below the other."""
    return f'<div class="beside">\n{"".join(f"<div>{part}</div>" for part in parts if part)}\n</div>'


def tiles(lines: Iterable[Fact]) -> str:
    """Return the few numbers that matter most, large, each with its remark."""
    cells = "".join(
        f"<div{_kind(_verdict(line))}><dt>{shown(line.label)}</dt><dd><strong>{_told(line.value)}</strong>"
        f"{f'<span>{_told(line.note)}</span>' if line.note else ''}</dd></div>\n"
        for line in lines
    )
    return f'<dl class="tiles">\n{cells}</dl>'


def facts(lines: Iterable[Fact]) -> str:
    """Return labelled values with remarks."""
    cells = "".join(f"<div><dt>{shown(line.label)}</dt><dd>{_value(line)}</dd></div>\n" for line in lines)
    return f'<dl class="facts">\n{cells}</dl>'


def _value(line: Fact) -> str:
    told = _told(line.value)
    value = f"<b{_kind(_verdict(line))}>{told}</b>" if line.style and line.value else told
    return f"{value} <span>{_told(line.note)}</span>" if line.note else value


def _verdict(line: Fact) -> str:
    return {"bold green": "good", "bold red": "bad"}.get(line.style, "")


def table(
    caption: str,
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    text: Iterable[int] = (0,),
    looks: Sequence[str] = (),
) -> str:
    """Return a table whose first column names the rows; with many columns it scrolls by itself.

    Parameters
    ----------
    caption : str
        What it shows.
    header : sequence of str
        Headings, in which a line may be broken by a hyphen.
    rows : iterable of sequence of str
        Cells.
    text : iterable of int
        Columns that hold text; the others hold numbers.
    looks : sequence of str
        For every row a class: of its depth in a tree, and of its colour, if it has one.
    """
    found = _table(caption, header, rows, text, looks)
    return found if len(header) < WIDE_FROM else _scrolling(caption, found)


def wide_table(caption: str, header: Sequence[str], rows: Iterable[Sequence[str]], text: Iterable[int] = (0,)) -> str:
    """Return a table that scrolls by itself however few columns it has: nobody knows how long its cells are."""
    return _scrolling(caption, _table(caption, header, rows, text, ()))


def _scrolling(caption: str, found: str) -> str:
    return f'<div class="wide" role="region" tabindex="0" aria-label="{quoted(caption)}">\n{found}\n</div>'


def _table(
    caption: str, header: Sequence[str], rows: Iterable[Sequence[str]], text: Iterable[int], looks: Sequence[str]
) -> str:
    worded = set(text)  # cells and rows have no end tags: HTML needs none, and a page of four has thousands
    names = [name.replace("-\n", "").replace("\n", " ") for name in header]
    head = "".join(_heading(name, worded, at) for at, name in enumerate(names))
    lines = [
        "".join(_cell(cell, worded, at, looks[index] if looks else "") for at, cell in enumerate(row))
        for index, row in enumerate(rows)
    ]
    body = "".join(f"<tr>{line}\n" for line in lines)
    title = f"<caption><span>{shown(caption)}</span></caption>"
    return f"<table>\n{title}\n<thead><tr>{head}</thead>\n<tbody>\n{body}</tbody>\n</table>"


def _heading(name: str, worded: set[int], at: int) -> str:
    kind = "t" if at in worded else ""
    return f'<th scope="col"{_kind(kind)}>{shown(name)}' if name else "<td>"


def _cell(cell: str, worded: set[int], at: int, look: str) -> str:
    if at:
        return f"<td{_kind('t' if at in worded else '')}>{shown(cell)}"
    colour = next((part for part in look.split() if part[0] == "c"), "")
    depth = next((part for part in look.split() if part[0] == "d"), "")
    sample = f'<i class="sample {colour}"></i>' if colour else ""
    return f'<th scope="row"{_kind(depth)}>{sample}{_breakable(cell)}'


def _breakable(name: str) -> str:
    """Return a name, and where a dotted one may be broken at the end of a line."""
    dotted = " " not in name and "/" not in name
    return shown(name).replace(".", ".<wbr>") if dotted else _told(name)


def definitions(groups: Mapping[str, Iterable[tuple[str, str, str]]]) -> str:
    """Return groups of names, each with what it means, and how that is written."""
    lines = []
    for title, rows in groups.items():
        told = "".join(
            f"<dd><b>{shown(name)}</b> {shown(sentence)} <code>{shown(formula)}</code></dd>\n"
            for name, sentence, formula in rows
        )
        lines.append(f"<div><dt>{shown(title)}</dt>\n{told}</div>\n")
    return f'<dl class="forms">\n{"".join(lines)}</dl>'


def figure(picture: Picture, ident: str, *, keyed: bool = True) -> str:
    """Return a picture with its title above and its key below.

    Parameters
    ----------
    picture : Picture
        What is drawn.
    ident : str
        Id of the figure, the only one of its page.
    keyed : bool
        Whether the key is shown; a table may say it already.
    """
    frame = picture.frame
    names = f'<title id="{ident}-t">{shown(picture.title)}</title><desc id="{ident}-d">{shown(picture.text)}</desc>'
    drawn = (
        f'<svg viewBox="0 0 {frame.width} {frame.height}" role="img" aria-labelledby="{ident}-t {ident}-d">{names}\n'
        f"{chr(10).join(picture.parts)}\n</svg>"
    )
    key = _key(picture.key, picture.remarks) if keyed else ""
    return f'<figure id="{ident}">\n<figcaption>{shown(picture.title)}</figcaption>\n{drawn}\n{key}</figure>'


def _key(entries: Iterable[Entry], remarks: Sequence[str]) -> str:
    lines = "".join(
        f'<li><svg viewBox="0 0 26 12" aria-hidden="true">{swatch(one, 0, 6)}</svg>{shown(one.name)}</li>\n'
        for one in entries
    )
    told = f"<li>{shown(' '.join([remarks[0], ', '.join(remarks[1:])]))}</li>\n" if remarks else ""
    return f'<ul class="key">\n{lines}{told}</ul>\n' if lines or told else ""


def name(text: str) -> str:
    """Return a name that a user gave, whatever direction it is written in."""
    return f"<bdi>{shown(text)}</bdi>"


def _kind(name: str) -> str:
    return f' class="{name}"' if name else ""
