"""JSON text to a tree of nodes that know where they stand.

Numbers stay what they are written as: a whole number with more digits than any count has becomes text, so that it is
refused where a number is due. `NaN` and `Infinity`, which Python writes, are text as well.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from aiplan.declare import Mapping, Mark, Scalar, Sequence

if TYPE_CHECKING:
    from aiplan.declare import Diagnostics, Node

MAX_DEPTH = 50
MOST_DIGITS = 30
_TOKEN = re.compile(
    r"[ \t\r\n]*"
    r'(?:(?P<text>"(?:[^"\\\x00-\x1f]|\\.)*")|(?P<number>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)'
    r"|(?P<word>-?[A-Za-z_]+)|(?P<sign>[][{},:]))"
)
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
_NOT_FINITE = {"NaN", "Infinity", "-Infinity"}


class _Token(NamedTuple):
    """A piece of the text: its kind, what it says, and where."""

    kind: str
    text: str
    mark: Mark


class NotJsonError(Exception):
    """The text is not JSON: why, and where."""

    def __init__(self, problem: str, mark: Mark) -> None:
        super().__init__(problem)
        self.problem, self.mark = problem, mark


def read_json(text: str, name: str, diagnostics: Diagnostics) -> Node:
    """Read one JSON document; a key given twice is noted, and its first value stays.

    Raises
    ------
    NotJsonError
        The text is no JSON.
    """
    return _Reader(text, name, diagnostics).document()


class _Reader:
    """One walk over the tokens of a text."""

    def __init__(self, text: str, name: str, diagnostics: Diagnostics) -> None:
        self.text, self.name, self.diagnostics = text, name, diagnostics
        self.position, self.line, self.line_start = 0, 1, 0

    def document(self) -> Node:
        node = self._node(self._next(), 1)
        rest = self.text[self.position :].strip()
        if rest:
            self._fail("something stands behind the end of the document", self._mark(self.position, 1))
        return node

    def _node(self, token: _Token, depth: int) -> Node:
        if depth > MAX_DEPTH:
            self._fail(f"values are nested more than {MAX_DEPTH} levels deep", token.mark)
        if token.text == "{":
            return self._mapping(token.mark, depth)
        if token.text == "[":
            return self._sequence(token.mark, depth)
        if token.kind == "sign":
            self._fail(f"'{token.text}' stands where a value is due", token.mark)
        return self._scalar(token)

    def _scalar(self, token: _Token) -> Scalar:
        if token.kind == "text":
            try:
                text = json.loads(token.text)
            except ValueError:
                self._fail("the text in quotes has an unknown escape", token.mark)
            return Scalar(text, text, quoted=True, mark=token.mark)
        if token.kind == "number":
            return Scalar(_number(token.text), token.text, quoted=False, mark=token.mark)
        if token.text in _WORDS:
            return Scalar(_WORDS[token.text], token.text, quoted=False, mark=token.mark)
        if token.text in _NOT_FINITE:
            return Scalar(token.text, token.text, quoted=False, mark=token.mark)
        return self._fail(f"'{token.text}' is no value: text stands in double quotes", token.mark)

    def _sequence(self, mark: Mark, depth: int) -> Sequence:
        items: list[Node] = []
        token = self._next()
        while token.text != "]" or token.kind != "sign":
            items.append(self._node(token, depth + 1))
            token = self._behind("]")
        return Sequence(items, mark)

    def _mapping(self, mark: Mark, depth: int) -> Mapping:
        items: dict[str, tuple[Scalar, Node]] = {}
        token = self._next()
        while token.text != "}" or token.kind != "sign":
            if token.kind != "text":
                self._fail("a key in double quotes is due here", token.mark)
            key = self._scalar(token)
            colon = self._next()
            if colon.text != ":":
                self._fail("a ':' is due behind the key", colon.mark)
            value = self._node(self._next(), depth + 1)
            if key.text in items:
                self._twice(key, items[key.text][0])
            items.setdefault(key.text, (key, value))
            token = self._behind("}")
        return Mapping(list(items.values()), mark)

    def _behind(self, closing: str) -> _Token:
        """Return what follows an item: the next one, or the end of the list or mapping."""
        token = self._next()
        if token.kind == "sign" and token.text == closing:
            return token
        if token.text != ",":
            self._fail(f"a ',' or '{closing}' is due here", token.mark)
        token = self._next()
        if token.kind == "sign" and token.text == closing:
            self._fail(f"a ',' stands before '{closing}'", token.mark)
        return token

    def _twice(self, key: Scalar, before: Scalar) -> None:
        self.diagnostics.error(
            "AIP105",
            f"key '{key.text}' is given twice",
            key.mark,
            expected=f"first given at {before.mark.file}:{before.mark.line}:{before.mark.column}",
            hint="keep one of the two",
        )

    def _next(self) -> _Token:
        found = _TOKEN.match(self.text, self.position)
        if found is None:
            rest = re.compile(r"[ \t\r\n]*").match(self.text, self.position)
            at = rest.end() if rest else self.position
            what = "the text ends within a value" if at >= len(self.text) else "nothing that JSON knows stands here"
            self._fail(what, self._mark(at, 1))
        kind = found.lastgroup or "sign"
        token = _Token(kind, found[kind], self._mark(found.start(kind), len(found[kind])))
        self.position = found.end()
        return token

    def _mark(self, position: int, width: int) -> Mark:
        breaks = self.text.count("\n", self.line_start, position)
        if breaks:
            self.line += breaks
            self.line_start = self.text.rindex("\n", 0, position) + 1
        column = position - self.line_start + 1
        return Mark(self.name, self.line, column, column + max(1, width))

    def _fail(self, problem: str, mark: Mark) -> NoReturn:
        raise NotJsonError(problem, mark)


def _number(text: str) -> int | float | str:
    """Return a number; text that is no finite number of usual length stays text."""
    if len(text) > MOST_DIGITS:
        return text
    if text.lstrip("-").isdigit():
        return int(text)
    number = float(text)
    return number if abs(number) < float("inf") else text
