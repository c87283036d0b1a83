"""What is wrong with an input, where, and how to fix it: collected first, shown together."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple

from aiplan.declare.codes import CODES
from aiplan.declare.lines import split_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Level = Literal["error", "warning"]

_NOT_DRAWABLE = r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff]"
_FRAME_WIDTH = 120
_FRAME_LEAD = 60
_OPTION_PREFIX = "--"


class Mark(NamedTuple):
    """A place in an input: 1-based line and columns, `end_column` being the first one after it."""

    file: str
    line: int
    column: int
    end_column: int

    @property
    def is_option(self) -> bool:
        """Whether the place is a command line option rather than a file."""
        return self.file.startswith(_OPTION_PREFIX)

    @property
    def where(self) -> str:
        """The place for a reader: `file:line`, or the option itself."""
        return self.file if self.is_option else f"{self.file}:{self.line}"


MAX_ERRORS = 1_000
"""Errors after which nobody reads on: what has so many is no file of ours."""
LONGEST, LONGEST_HINT = 500, 2_000
"""Characters of a message and of a hint; the rest of a value that is longer can be read in the file."""


class Diagnostic(NamedTuple):
    """One finding about an input."""

    code: str
    level: Level
    problem: str
    mark: Mark | None = None
    expected: str | None = None
    hint: str | None = None


class Diagnostics:
    """Collects findings and the texts they point into, so that all of them are shown in one go."""

    def __init__(self, items: Iterable[Diagnostic] = (), sources: Mapping[str, str] | None = None) -> None:
        self.items = list(items)
        self.sources = dict(sources or {})
        self.errors = 0

    def error(
        self,
        code: str,
        problem: str,
        mark: Mark | None = None,
        *,
        expected: str | None = None,
        hint: str | None = None,
    ) -> None:
        """Add an error."""
        self._add(Diagnostic(code, "error", problem, mark, expected, hint))

    def warning(
        self,
        code: str,
        problem: str,
        mark: Mark | None = None,
        *,
        expected: str | None = None,
        hint: str | None = None,
    ) -> None:
        """Add a warning."""
        self._add(Diagnostic(code, "warning", problem, mark, expected, hint))

    def _add(self, item: Diagnostic) -> None:
        if item.code not in CODES:
            raise KeyError(item.code)
        hint = item.hint and _short(item.hint, LONGEST_HINT)
        self.items.append(item._replace(problem=_short(item.problem, LONGEST), hint=hint))
        if item.level == "error":
            self.errors += 1
            if self.errors >= MAX_ERRORS:
                raise self.failure()

    @property
    def has_errors(self) -> bool:
        """Whether any finding is an error."""
        return any(item.level == "error" for item in self.items)

    def failure(self) -> InputError:
        """Everything found so far, as the exception to raise."""
        return InputError(self.items, self.sources)

    def raise_if_errors(self) -> None:
        """Raise `InputError` with everything found so far if any of it is an error."""
        if self.has_errors:
            raise self.failure()


class InputError(Exception):
    """An input that cannot be used, with every finding about it and the texts they point into."""

    def __init__(self, diagnostics: Iterable[Diagnostic], sources: Mapping[str, str]) -> None:
        self.diagnostics = tuple(diagnostics)
        self.sources = dict(sources)
        super().__init__(self.diagnostics, self.sources)

    def __str__(self) -> str:
        return render(self.diagnostics, self.sources)


def render(diagnostics: Iterable[Diagnostic], sources: Mapping[str, str], width: int | None = None) -> str:
    """Text of all findings in order of position, each with its line of source, and a count at the end.

    Parameters
    ----------
    diagnostics : iterable of Diagnostic
        The findings, in any order.
    sources : mapping of str to str
        The text of each input by the name used in the marks. A finding without its text has no code frame.
    width : int, optional
        Columns of the terminal, in which sentences are broken between words; lines of source never are.

    Returns
    -------
    str
        Blocks separated by an empty line, without a final newline; empty if there are no findings.
    """
    order = {name: position for position, name in enumerate(sources)}

    def position(item: Diagnostic) -> tuple[int, str, int, int]:
        if item.mark is None:
            return (-1, "", 0, 0)
        return (order.get(item.mark.file, len(order)), item.mark.file, item.mark.line, item.mark.column)

    items = sorted(diagnostics, key=position)
    if not items:
        return ""
    lines = {name: split_lines(sources[name]) for name in {i.mark.file for i in items if i.mark} & order.keys()}
    blocks = [_block(item, lines, width) for item in items]
    return "\n\n".join([*blocks, _count(items)])


def _block(item: Diagnostic, lines: Mapping[str, list[str]], width: int | None) -> str:
    """Draw one finding: headline, place, code frame, expectation, hint."""
    out = _broken(f"{item.level}[{item.code}]: {_drawable(item.problem)}", "  ", width)
    gutter = "  "
    if item.mark is not None:
        gutter = " " * max(2, len(str(item.mark.line)))
        out.append(f"{gutter}--> {_drawable(item.mark.file)}:{item.mark.line}:{item.mark.column}")
        source = lines.get(item.mark.file, [])
        if item.mark.line <= len(source):
            out += _frame(source[item.mark.line - 1], item.mark, gutter)
    if item.expected is not None:
        out += _broken(f"{gutter} = {_drawable(item.expected)}", f"{gutter}   ", width)
    if item.hint is not None:
        out += _broken(f"hint: {_drawable(item.hint)}", "      ", width)
    return "\n".join(out)


def _broken(text: str, indent: str, width: int | None) -> list[str]:
    """Return a sentence as lines of a width, those after the first indented."""
    if width is None or len(text) <= width:
        return [text]
    from textwrap import wrap  # noqa: PLC0415 - only for people at a narrow terminal

    lead = text[: len(text) - len(text.lstrip())]
    return wrap(
        text.lstrip(),
        width,
        initial_indent=lead,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _frame(line: str, mark: Mark, gutter: str) -> list[str]:
    """Draw the marked line with carets below; of a very long line only the part around the mark."""
    start, end = mark.column - 1, mark.end_column - 1
    if len(line) > _FRAME_WIDTH:
        cut = max(0, start - _FRAME_LEAD)
        part = line[cut : cut + _FRAME_WIDTH]
        before, after = "... " if cut else "", " ..." if cut + _FRAME_WIDTH < len(line) else ""
        line = before + part + after
        start, end = start - cut + len(before), min(end - cut, len(part)) + len(before)
    carets = " " * start + "^" * max(1, end - start)
    return [f"{gutter} |", f"{mark.line:>{len(gutter)}} | {_drawable(line)}".rstrip(), f"{gutter} | {carets}"]


def _short(text: str, most: int) -> str:
    """Return a text of limited length: its beginning and its end, where the sentence about a long value goes on."""
    if len(text) <= most:
        return text
    head = most * 2 // 3
    return f"{text[:head]} ... {text[head - most :]}"


def _drawable(text: str) -> str:
    """Text in which every character takes one place on the line and none can steer a terminal."""
    return re.sub(_NOT_DRAWABLE, lambda match: " " if match[0] == "\t" else "\N{REPLACEMENT CHARACTER}", text)


def _count(items: list[Diagnostic]) -> str:
    """Return the last line, such as `2 errors and 1 warning in 1 file`."""
    errors = sum(item.level == "error" for item in items)
    counts = [_plural(n, word) for n, word in ((errors, "error"), (len(items) - errors, "warning")) if n]
    files = {item.mark.file for item in items if item.mark and not item.mark.is_option}
    places = [f"in {_plural(len(files), 'file')}"] if files else []
    if any(item.mark and item.mark.is_option for item in items):
        places.append("on the command line")
    more = "; there may be more" if errors >= MAX_ERRORS else ""
    return " ".join(filter(None, [" and ".join(counts), " and ".join(places)])) + more


def _plural(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
