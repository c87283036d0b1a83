"""Reading the pages of the codes from `pages.md`, and examples that can be run."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from aiplan.declare import CODES, Code

EXAMPLE = "example.yaml"
COMMAND = f"aiplan check {EXAMPLE}"
_SECTION = r"^## (AIP\d{3})$"
_FENCE = r"^```(yaml|console) (base|example|instead) ?(\S*)\n(.*?)^```$"
_KEY = r"^(?=[A-Za-z_]\w*:)"


class Sample(NamedTuple):
    """A piece of a file, or all of a file that is named, and the command that reads it."""

    text: str
    file: str
    command: str

    def written(self) -> dict[str, str]:
        """Return the files that the command needs, by name: the piece stands in a scenario that is otherwise right."""
        if self.file:
            return {EXAMPLE: base(), self.file: self.text}
        return {EXAMPLE: _with(base(), self.text)}


class Page(NamedTuple):
    """What there is to say about a code; without an example where none can be written down."""

    code: Code
    why: str
    example: Sample
    instead: Sample | None


@cache
def base() -> str:
    """Return the scenario in which the pieces stand."""
    found: list[tuple[str, ...]] = re.findall(_FENCE, _text(), re.DOTALL | re.MULTILINE)
    return next(text for _, kind, _, text in found if kind == "base")


@cache
def pages() -> dict[str, Page]:
    """Return the page of every code."""
    _, *parts = re.split(_SECTION, _text(), flags=re.MULTILINE)
    return {code: _page(code, body) for code, body in zip(parts[::2], parts[1::2], strict=True)}


@cache
def _text() -> str:
    return (files(__package__) / "pages.md").read_text(encoding="utf-8")


def _page(code: str, body: str) -> Page:
    why = body.partition("```")[0].strip().replace("\n", " ")
    found: dict[tuple[str, str], tuple[str, str]] = {
        (kind, language): (file, text)
        for language, kind, file, text in re.findall(_FENCE, body, re.DOTALL | re.MULTILINE)
    }
    usual = found.get(("example", "console"), ("", ""))[1]
    samples = [_sample(found, kind, usual) for kind in ("example", "instead")]
    if samples[0] is None:
        raise ValueError(f"the page of {code} has no example")
    return Page(CODES[code], why, samples[0], samples[1])


def _sample(found: dict[tuple[str, str], tuple[str, str]], kind: str, usual: str) -> Sample | None:
    file, text = found.get((kind, "yaml"), ("", ""))
    command = found.get((kind, "console"), ("", usual))[1].removeprefix("$ ").strip() or COMMAND
    known = (kind, "yaml") in found or (kind, "console") in found
    return Sample(text, file, command) if known else None


def _with(whole: str, piece: str) -> str:
    """Return a scenario with the top-level keys of a piece in place of its own; what is no key goes to the end."""
    chunks = {chunk.partition(":")[0]: chunk for chunk in re.split(_KEY, whole, flags=re.MULTILINE) if chunk}
    first, *rest = re.split(_KEY, piece, flags=re.MULTILINE)
    if first:
        return whole + piece
    return "".join((chunks | {chunk.partition(":")[0]: chunk for chunk in rest}).values())
