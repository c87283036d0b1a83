"""Why a text is not readable YAML, in words that say what to change."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from aiplan.declare.lines import split_lines

_CONFLICT = r"^(?:(?:<{7}|>{7}|\|{7})(?:\s.*)?|={7})$"
_CONFLICT_SIGNS = ("<", ">", "|", "=")
_TAB_INDENT = r"^ *\t\s*\S"
_UNPRINTABLE = "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufeff\ufffe\uffff]"


class Fault(NamedTuple):
    """A reason why nothing can be read, at a 0-based position."""

    code: str
    problem: str
    line: int
    column: int
    hint: str | None = None


# libyaml's wording -> ours, the repair, and whether the fault is best shown where the construct began.
_WORDING: tuple[tuple[str, str, str, bool], ...] = (
    (
        "did not find expected ',' or ']'",
        "the list that begins here lacks a ',' or its closing ']'",
        "separate the items with ',' and close the list with ']'",
        True,
    ),
    (
        "did not find expected ',' or '}'",
        "the mapping that begins here lacks a ',' or its closing '}'",
        "separate the entries with ',' and close the mapping with '}'",
        True,
    ),
    (
        "found unexpected end of stream",
        "the quoted text that begins here is not closed",
        "add the closing quote",
        True,
    ),
    (
        "mapping values are not allowed in this context",
        "a ':' cannot stand here",
        "put a text that contains ': ' in quotes, or check the indentation",
        False,
    ),
    (
        "did not find expected key",
        "a key is due here",
        "indent the keys of one mapping by the same number of spaces",
        False,
    ),
    (
        "did not find expected '-' indicator",
        "a list item is due here",
        "begin each item with '- ', or indent this line differently",
        False,
    ),
    (
        "could not find expected ':'",
        "the key that begins here has no ':'",
        "write 'key: value'",
        True,
    ),
    (
        "found unknown escape character",
        "unknown escape in a text in double quotes",
        "use single quotes for a text with backslashes",
        False,
    ),
    (
        "found invalid Unicode character escape code",
        "the escape in a text in double quotes stands for no character",
        "write the character itself",
        False,
    ),
    (
        "did not find expected node content",
        "a value is due here",
        "write a value, or 'null' for unknown",
        False,
    ),
)


def find_unreadable(text: str) -> Fault | None:
    """Return what no YAML reader should be asked to read: control characters or an unfinished merge."""
    lines = split_lines(text)
    # Most texts are printable throughout, which is known without the expression, slow to compile.
    bad = None if all(line.isprintable() for line in lines) else re.search(_UNPRINTABLE, text)
    if bad is not None:
        before = split_lines(text[: bad.start()])
        return Fault(
            "AIP113",
            f"the text holds a character that is not printable (U+{ord(bad[0]):04X})",
            len(before) - 1,
            len(before[-1]),
            "the file may not be text, or may not be saved as UTF-8",
        )
    marked = [number for number, line in enumerate(lines) if line[:1] in _CONFLICT_SIGNS and re.match(_CONFLICT, line)]
    if marked:
        others = ", ".join(str(number + 1) for number in marked[1:])
        return Fault(
            "AIP110",
            f"merge conflict marker '{lines[marked[0]][:7]}'",
            marked[0],
            0,
            "finish the merge and remove the markers" + (f", also in line {others}" if others else ""),
        )
    return None


def explain_syntax_error(text: str, problem: Any) -> Fault:
    """Return the fault behind an exception of the YAML parser."""
    lines = split_lines(text)
    at, began = getattr(problem, "problem_mark", None), getattr(problem, "context_mark", None)
    told = str(getattr(problem, "problem", None) or "the text ends or breaks off unexpectedly")
    if at is None:
        return Fault("AIP101", f"not valid YAML: {told}", 0, 0)
    line, column = _inside(lines, at.line, at.column)
    in_brackets = told.startswith("did not find expected ','")  # where a tab is plain white space
    if re.match(_TAB_INDENT, lines[line]) and not in_brackets:
        return Fault("AIP111", "a tab is used for indentation", line, lines[line].index("\t"), "indent with spaces")
    for wording, ours, hint, show_beginning in _WORDING:
        if told == wording:
            if show_beginning and began is not None:
                line, column = began.line, began.column
            return Fault("AIP101", ours, line, column, hint)
    character = lines[line][column : column + 1]
    if told == "found character that cannot start any token" and character:
        return Fault("AIP101", f"a value cannot begin with '{character}'", line, column, "put the value in quotes")
    return Fault("AIP101", f"not valid YAML: {told}", line, column)


def _inside(lines: list[str], line: int, column: int) -> tuple[int, int]:
    """Return the position, moved to the end of the last line with text if it lies behind it."""
    last = max((number for number, content in enumerate(lines) if content.strip()), default=0)
    return (line, column) if line <= last else (last, len(lines[last].rstrip()))
