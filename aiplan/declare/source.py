"""YAML text to a tree of nodes that know where they stand.

The text is read as a stream of events and typed here, by the rules of YAML 1.2 and a little stricter: only
`true` and `false` are truth values, numbers are decimal, everything else is text. Keys are always text.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from aiplan.declare.diagnostics import Diagnostics, Mark
from aiplan.declare.syntax import explain_syntax_error, find_unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_DEPTH = 50
MAX_BYTES = 16 * 2**20
MAX_VALUES = 250_000
"""How deep, how large and of how many values a file may be: far beyond any that is meant."""

_WORDS: dict[str, bool | None] = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}
_DIGITS = r"[0-9]+(?:_[0-9]+)*"
_NUMBER = re.compile(rf"[-+]?(?:{_DIGITS}(?:\.(?:{_DIGITS})?)?|\.{_DIGITS})(?:[eE][-+]?[0-9]+)?")
_INTEGER = re.compile(rf"[-+]?{_DIGITS}")
_LEADING_ZERO = re.compile(r"[-+]?0[0-9_]")


class Scalar(NamedTuple):
    """A single value: typed (`value`), as written (`text`), and whether it was written in quotes."""

    value: str | int | float | bool | None
    text: str
    quoted: bool
    mark: Mark


class Sequence(NamedTuple):
    """A list of nodes."""

    items: list[Node]
    mark: Mark


class Mapping(NamedTuple):
    """Keys and values in the order written; no key appears twice."""

    items: list[tuple[Scalar, Node]]
    mark: Mark


Node = Scalar | Sequence | Mapping


def resolve(text: str) -> str | int | float | bool | None:
    """Value of unquoted text: a truth value, null, a finite decimal number, or else the text itself.

    Examples
    --------
    >>> resolve("1e12"), resolve("1_000"), resolve("no"), resolve("0755"), resolve("12:30:00")
    (1000000000000.0, 1000, 'no', '0755', '12:30:00')
    """
    if text in _WORDS:
        return _WORDS[text]
    if not _NUMBER.fullmatch(text) or _LEADING_ZERO.match(text):
        return text
    number = float(text.replace("_", ""))
    if not math.isfinite(number):
        return text
    return int(text.replace("_", "")) if _INTEGER.fullmatch(text) else number


def is_file(path: Path) -> bool:
    """Whether there is a file of this name; there is none of a name that no file can have."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def read_file(path: str, diagnostics: Diagnostics | None = None) -> Node:
    """Read the YAML file at `path`, as `read` does; `path` is also its name in messages."""
    found = Diagnostics() if diagnostics is None else diagnostics
    try:
        data = read_start(Path(path))
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        found.error("AIP113", f"cannot read '{path}': {reason.lower()}", hint=_similar_file(path))
        raise found.failure() from None
    return read(data, path, diagnostics)


def read_start(path: Path) -> bytes:
    """Return what a file holds; of one that is too large enough to see that it is."""
    with path.open("rb") as stream:
        return stream.read(MAX_BYTES + 1)


def read(text: str | bytes, name: str, diagnostics: Diagnostics | None = None) -> Node:
    """Read one YAML (or JSON) document.

    Parameters
    ----------
    text : str or bytes
        The document; bytes must be UTF-8.
    name : str
        What to call the input in messages, usually its path as the user wrote it.
    diagnostics : Diagnostics, optional
        Takes the findings. Given one, a duplicate key is only noted there (the first value stays), so that
        later checks can add theirs.

    Returns
    -------
    Node
        The root of the tree.

    Raises
    ------
    InputError
        The text cannot be read; or `diagnostics` is not given and there are errors.
    """
    found = Diagnostics() if diagnostics is None else diagnostics
    if len(text) > MAX_BYTES:
        found.error(
            "AIP113", f"'{name}' is larger than {MAX_BYTES >> 20} MiB", hint="no file that is meant is this large"
        )
        raise found.failure()
    root = Reader(name, found).document(decode(text, name, found))
    if diagnostics is None:
        found.raise_if_errors()
    return root


def read_value(source: str, start: int, diagnostics: Diagnostics) -> Node:
    """Read the YAML value that begins at column `start` (0-based) of a command line option."""
    diagnostics.sources[source] = source
    return Reader(source, diagnostics, shift=start).document(source[start:], blank_is_null=True)


class Reader:
    """Turns the event stream of one document into nodes; what points elsewhere in the text is refused."""

    def __init__(self, name: str, diagnostics: Diagnostics, shift: int = 0) -> None:
        self.name = name
        self.diagnostics = diagnostics
        self.shift = shift
        self.refused = False
        self.values = 0

    def document(self, text: str, *, blank_is_null: bool = False) -> Node:
        """Return the only document of a text."""
        import yaml  # noqa: PLC0415 - start-up: only a command that reads a file pays for it

        unreadable = find_unreadable(text)
        if unreadable is not None:
            self._fail(
                unreadable.code,
                unreadable.problem,
                self._at(unreadable.line, unreadable.column),
                unreadable.hint,
            )
        self.yaml: Any = yaml
        try:
            self.events: Iterator[Any] = yaml.parse(text, Loader=yaml.CSafeLoader)
            root = self._only_document(blank_is_null=blank_is_null)
        except yaml.YAMLError as problem:
            fault = explain_syntax_error(text, problem)
            self._fail(fault.code, fault.problem, self._at(fault.line, fault.column), fault.hint)
        if self.refused:
            raise self.diagnostics.failure()
        return root

    def _only_document(self, *, blank_is_null: bool) -> Node:
        """Read the first document; a second one is refused."""
        root: Node | None = None
        for event in self.events:
            if isinstance(event, self.yaml.DocumentStartEvent):
                if root is not None:
                    self._refuse("a second document begins here", event, "keep one document per file")
                    break
                root = self._node(next(self.events), 1)
        empty = root is None or (isinstance(root, Scalar) and root.value is None and not root.quoted)
        if empty and not blank_is_null:
            self._fail("AIP114", f"'{self.name}' holds no values", self._at(0, 0), None)
        return Scalar(None, "", quoted=False, mark=self._at(0, 0)) if root is None else root

    def _node(self, event: Any, depth: int) -> Node:
        mark = self._mark(event)
        self.values += 1
        if self.values > MAX_VALUES:
            self._fail("AIP113", f"'{self.name}' holds more than {MAX_VALUES:,} values", mark, None)
        if isinstance(event, self.yaml.AliasEvent):
            return self._alias(event, mark, depth)
        if event.tag is not None:
            self._refuse("a tag ('!...') is not accepted", event, "write the plain value without it")
        node = self._content(event, mark, depth)
        if event.anchor is not None:
            self._anchor(event.anchor, node, event)
        return node

    def _content(self, event: Any, mark: Mark, depth: int) -> Node:
        if isinstance(event, self.yaml.ScalarEvent):
            text: str = event.value
            return Scalar(text, text, True, mark) if event.style else Scalar(resolve(text), text, False, mark)
        if depth > MAX_DEPTH:
            self._fail("AIP101", f"values are nested more than {MAX_DEPTH} levels deep", mark, None)
        if isinstance(event, self.yaml.SequenceStartEvent):
            items = []
            while not isinstance(event := next(self.events), self.yaml.SequenceEndEvent):
                items.append(self._node(event, depth + 1))
            return Sequence(items, mark)
        return self._mapping(mark, depth)

    def _mapping(self, mark: Mark, depth: int) -> Mapping:
        first: dict[str, Scalar] = {}
        items: list[tuple[Scalar, Node]] = []
        merged: list[tuple[Scalar, Node]] = []
        while not isinstance(event := next(self.events), self.yaml.MappingEndEvent):
            key = self._node(event, depth + 1)
            value = self._node(next(self.events), depth + 1)
            if not isinstance(key, Scalar):
                self._refuse("a list or mapping cannot be a key", event, "write the key as plain text", code="AIP101")
            elif key.text == "<<" and not key.quoted:
                merged += self._merge(value, event)
            elif key.text in first:
                before = first[key.text].mark
                self.diagnostics.error(
                    "AIP105",
                    f"key '{key.text}' is given twice",
                    key.mark,
                    expected=f"first given at {before.file}:{before.line}:{before.column}",
                    hint="keep one of the two",
                )
            else:
                first[key.text] = key
                items.append((key, value))
        for key, value in merged:  # what is written here counts more than what is merged
            if key.text not in first:
                first[key.text] = key
                items.append((key, value))
        return Mapping(items, mark)

    def _alias(self, event: Any, mark: Mark, depth: int) -> Node:  # noqa: ARG002  others put in what it stands for
        self._refuse(f"alias '*{event.anchor}' is not accepted", event, "write the value out in each place")
        return Scalar(None, "", quoted=False, mark=mark)

    def _anchor(self, name: str, node: Node, event: Any) -> None:  # noqa: ARG002
        self._refuse(f"anchor '&{name}' is not accepted", event, "write the value out in each place")

    def _merge(self, value: Node, event: Any) -> list[tuple[Scalar, Node]]:  # noqa: ARG002
        self._refuse("merge key '<<' is not accepted", event, "write the keys out in each place")
        return []

    def _refuse(self, problem: str, event: Any, hint: str, code: str = "AIP112") -> None:
        """Note a construct that leaves the tree unusable, and read on for more."""
        self.refused = True
        self.diagnostics.error(code, problem, self._mark(event), hint=hint)

    def _fail(self, code: str, problem: str, mark: Mark, hint: str | None) -> NoReturn:
        self.diagnostics.error(code, problem, mark, hint=hint)
        raise self.diagnostics.failure() from None

    def _mark(self, event: Any) -> Mark:
        start, end = event.start_mark, event.end_mark
        width = end.column - start.column if end.line == start.line else 1
        return self._at(start.line, start.column, max(1, width))

    def _at(self, line: int, column: int, width: int = 1) -> Mark:
        """Return the mark of a 0-based position in the text that was handed to the YAML parser."""
        first = column + 1 + (self.shift if line == 0 else 0)
        return Mark(self.name, line + 1, first, first + width)


def decode(text: str | bytes, name: str, diagnostics: Diagnostics) -> str:
    """Text without byte order mark, kept for code frames; or a clear refusal of what is not UTF-8."""
    if isinstance(text, bytes):
        try:
            text = text.decode()
        except UnicodeDecodeError as problem:
            diagnostics.error(
                "AIP113",
                f"'{name}' is not UTF-8 text (byte {problem.start + 1} is 0x{text[problem.start]:02x})",
                hint="save the file with the encoding UTF-8",
            )
            raise diagnostics.failure() from None
    text = text.removeprefix("\ufeff")
    diagnostics.sources[name] = text
    return text


def _similar_file(path: str) -> str | None:
    from difflib import get_close_matches  # noqa: PLC0415 - only after a mistake

    try:
        names = [entry.name for entry in Path(path).parent.iterdir()]
    except (OSError, ValueError):
        return None
    close = get_close_matches(Path(path).name, names, n=1)
    return f"did you mean '{Path(path).with_name(close[0])}'?" if close and close[0] != Path(path).name else None
