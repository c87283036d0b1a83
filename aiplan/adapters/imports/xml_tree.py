"""XML text to elements that know where they stand; entities are refused, so that none can grow."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, NoReturn
from xml.parsers import expat

from aiplan.declare import Mark

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.declare import Diagnostics

MAX_DEPTH = 50


class Element(NamedTuple):
    """An element: its name, attributes, children, and where it begins."""

    name: str
    attributes: dict[str, str]
    children: list[Element]
    mark: Mark

    def walk(self) -> Iterator[Element]:
        """Yield this element and all below it, in the order written."""
        yield self
        for child in self.children:
            yield from child.walk()


def read_xml(text: str, name: str, diagnostics: Diagnostics) -> Element:
    """Read one XML document."""
    return _Reader(name, diagnostics).document(text)


class _Reader:
    """Builds the tree from the events of the parser."""

    def __init__(self, name: str, diagnostics: Diagnostics) -> None:
        self.name, self.diagnostics = name, diagnostics
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.EntityDeclHandler = self._entity
        self.roots: list[Element] = []
        self.open: list[Element] = []

    def document(self, text: str) -> Element:
        try:
            self.parser.Parse(text.encode(), True)
        except expat.ExpatError as problem:
            told = expat.errors.messages.get(problem.code, "unreadable")
            self._fail(
                f"not valid XML: {told}", Mark(self.name, problem.lineno, problem.offset + 1, problem.offset + 2)
            )
        return self.roots[0]

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        element = Element(name, attributes, [], self._here())
        if len(self.open) >= MAX_DEPTH:
            self._fail(f"elements are nested more than {MAX_DEPTH} levels deep", element.mark)
        (self.open[-1].children if self.open else self.roots).append(element)
        self.open.append(element)

    def _end(self, _name: str) -> None:
        self.open.pop()

    def _entity(self, *_declared: object) -> None:
        self._fail("an entity is declared, which is not accepted", self._here())

    def _here(self) -> Mark:
        column = self.parser.CurrentColumnNumber + 1
        return Mark(self.name, self.parser.CurrentLineNumber, column, column + 1)

    def _fail(self, problem: str, mark: Mark) -> NoReturn:
        self.diagnostics.error("AIP101", problem, mark)
        raise self.diagnostics.failure()
