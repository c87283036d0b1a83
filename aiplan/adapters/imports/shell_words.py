"""Lines of a shell to words that know where they stand; nothing is run.

Understood are comments (those of the batch system give options), quotes, lines that go on behind a backslash, variables
given a value in the same text, and sums of them (`$((NODES * 8))`). What is not known stays as written, and whoever
needs it refuses it.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import NamedTuple

from aiplan.adapters.imports.shell_sums import arithmetic
from aiplan.declare import Mark
from aiplan.declare.lines import split_lines

MOST_WORDS = 20_000
MOST_DEPTH = 10
MOST_LENGTH = 20_000
_WORD = re.compile(
    r"""(?P<comment>(?<![^\s;(])\#.*)|(?P<end>[;&|()<>]+)"""
    r"""|(?P<word>(?:\$\(\((?:[^()]|\([^()]*\))*\)\)|\$\([^()]*\)|`[^`]*`|"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s;&|()<>"'`])+)"""
)
_PLAIN_WORD = re.compile(r"""(?P<comment>(?<!\S)\#.*)|(?P<word>(?:"[^"]*"|'[^']*'|[^\s"'])+)""")
_SCRIPT = re.compile(r"^\s*(?:#!|export\s|set\s|[A-Za-z_]\w*=)", re.MULTILINE)
"""How a script is known; lines of arguments alone have no signs of a shell in them."""
_OPENS, _CLOSES = {"if", "case", "for", "while", "until"}, {"fi", "esac", "done"}
_SBATCH = re.compile(r"^#(?:SBATCH|PBS)(?=\s)")
_ASSIGNED = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_DEFAULT = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*):?[-=]([^{}]*)\}")
_NAMED = re.compile(r"\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?")
_SUM = re.compile(r"\$\(\(([^()]*(?:\([^()]*\)[^()]*)*)\)\)")


class Word(NamedTuple):
    """A word of a command: its text without quotes, known variables put in; where; whether in a branch."""

    text: str
    mark: Mark
    conditional: bool = False


def words(text: str, name: str) -> list[Word]:
    """Return the words of all commands in a text, in order, with variables put in.

    What a branch or loop holds is marked, and a variable that it changes is not known any more: conditions are not
    checked.
    """
    known: dict[str, str] = {}
    found: list[Word] = []
    depth, first = 0, True
    for word in _raw(text, name):
        if first and word.text in _OPENS:
            depth += 1
        elif first and word.text in _CLOSES:
            depth = max(0, depth - 1)
        first = word.text in {"", "then", "else", "do"}
        given = _ASSIGNED.fullmatch(word.text)
        if given is not None and not word.text.startswith("-"):
            _assign(known, given[1], _expanded(_unquoted(given[2]), known), sure=depth == 0)
            first = True
            continue
        whole = _expanded(_unquoted(word.text), known)
        parts = whole.split() if "--" in whole else [whole]
        found += [Word(part, word.mark, depth > 0) for part in parts]
        if len(found) >= MOST_WORDS:
            break
    return found


def _assign(known: dict[str, str], name: str, value: str, *, sure: bool) -> None:
    """Keep the value of a variable; one that a branch changes has none."""
    if sure:
        known[name] = value
    elif known.get(name) != value:
        known[name] = f"${name}"


def _raw(text: str, name: str) -> list[Word]:
    """Return the words as written; where a command ends stands one without text."""
    found: list[Word] = []
    word = _WORD if _SCRIPT.search(text) else _PLAIN_WORD
    for number, line in enumerate(split_lines(text), 1):
        options = _SBATCH.sub(lambda match: " " * len(match[0]), line)
        goes_on = options.endswith("\\")
        for match in islice(word.finditer(options.rstrip("\\")), MOST_WORDS):
            mark = Mark(name, number, match.start() + 1, match.end() + 1)
            found += [Word(match[0], mark)] if match.lastgroup == "word" else [Word("", mark)]
        if len(found) > MOST_WORDS:
            break
        found += [] if goes_on else [Word("", Mark(name, number, len(line) + 1, len(line) + 2))]
    return found


def _unquoted(text: str) -> str:
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    return text.replace('"', "").replace("'", "")


def _expanded(text: str, known: dict[str, str]) -> str:
    """Return a text with known variables and sums of whole numbers put in."""
    for _ in range(MOST_DEPTH):
        before = text
        text = _DEFAULT.sub(lambda match: known.get(match[1], match[2]), text)
        text = _NAMED.sub(lambda match: known.get(match[1], match[0]), text)
        text = _SUM.sub(lambda match: arithmetic(match[1], known) or match[0], text)
        if text == before or len(text) > MOST_LENGTH:
            break
    return text[:MOST_LENGTH]
