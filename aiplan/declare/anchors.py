"""YAML with anchors, aliases and merge keys, as other programs read it: put in, within bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from aiplan.declare.diagnostics import Diagnostics
from aiplan.declare.source import MAX_DEPTH, Mapping, Reader, Scalar, Sequence, decode

if TYPE_CHECKING:
    from aiplan.declare.diagnostics import Mark
    from aiplan.declare.source import Node

MOST_VALUES = 20_000
"""Values that aliases may stand for together: files that people write have a few hundred."""


class Anchored(NamedTuple):
    """What an anchor names: the node, its values with those below, and how many levels they are deep."""

    node: Node
    values: int
    levels: int


def read_anchored(text: str | bytes, name: str, diagnostics: Diagnostics | None = None) -> Node:
    """Read one YAML document as `read` does, with what aliases and merge keys stand for in their place.

    What an alias stands for is where its anchor is, so that messages point there.

    Raises
    ------
    InputError
        The text cannot be read, or aliases stand for too much.
    """
    found = Diagnostics() if diagnostics is None else diagnostics
    root = _Anchors(name, found).document(decode(text, name, found))
    if diagnostics is None:
        found.raise_if_errors()
    return root


class _Anchors(Reader):
    """Turns the event stream of a document into nodes, and puts in what aliases stand for."""

    def __init__(self, name: str, diagnostics: Diagnostics) -> None:
        super().__init__(name, diagnostics)
        self.named: dict[str, Anchored] = {}
        self.put_in = 0

    def _alias(self, event: Any, mark: Mark, depth: int) -> Node:
        found = self.named.get(event.anchor)
        if found is None:
            self._refuse(f"no anchor '&{event.anchor}' stands before this alias", event, "name the anchor first")
            return Scalar(None, "", quoted=False, mark=mark)
        self.put_in += found.values
        if self.put_in > MOST_VALUES:
            self._fail("AIP112", f"aliases stand for more than {MOST_VALUES:,} values", mark, "write less of them")
        if depth + found.levels > MAX_DEPTH:
            self._fail("AIP112", f"aliases nest values more than {MAX_DEPTH} levels deep", mark, None)
        return found.node

    def _anchor(self, name: str, node: Node, event: Any) -> None:  # noqa: ARG002
        self.named[name] = Anchored(node, *_size(node))

    def _merge(self, value: Node, event: Any) -> list[tuple[Scalar, Node]]:
        parts = value.items if isinstance(value, Sequence) else [value]
        found: dict[str, tuple[Scalar, Node]] = {}
        for part in parts:
            if not isinstance(part, Mapping):
                self._refuse("a merge key '<<' takes a mapping, or a list of them", event, "give an alias of a mapping")
                continue
            for key, child in part.items:
                found.setdefault(key.text, (key, child))
        return list(found.values())


def _size(node: Node) -> tuple[int, int]:
    """Return how many values a node has with those below it, and how many levels they are deep."""
    if isinstance(node, Scalar):
        return 1, 0
    below = node.items if isinstance(node, Sequence) else [child for _, child in node.items]
    sizes = [_size(child) for child in below]
    return 1 + sum(values for values, _ in sizes), 1 + max((levels for _, levels in sizes), default=0)
