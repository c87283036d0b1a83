"""What the library holds that a command or a scenario can name: scenarios, models, software presets, jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aiplan.declare import Diagnostics, Mapping, Scalar
from aiplan.scenario.files import library_ids, place_in_library, read_place

if TYPE_CHECKING:
    from collections.abc import Iterator

KINDS = {"scenarios": "", "models": "models", "software": "software", "jobs": "jobs"}
"""Kinds, and the folders of the library that they lie in."""
USES = {
    "scenarios": "aiplan estimate NAME",
    "models": "model: NAME in a scenario, or --model NAME",
    "software": "software: NAME in a scenario",
    "jobs": "aiplan schedule NAME",
}
"""Where a name of a kind goes."""


class Item(NamedTuple):
    """An entry: its kind, the name to write, what it is called, and of a model how many parameters it has."""

    kind: str
    ident: str
    name: str
    parameters: int | None = None


class Library(NamedTuple):
    """The entries of one kind, or of all where none is named."""

    kind: str | None
    items: tuple[Item, ...]


def library(kind: str | None) -> Library:
    """Return what the library holds, by kind and name.

    Raises
    ------
    InputError
        There is no such kind.
    """
    if kind is not None and kind not in KINDS:
        diagnostics = Diagnostics()
        diagnostics.error("AIP201", f"no kind '{kind}'", hint=f"kinds: {', '.join(KINDS)}")
        raise diagnostics.failure()
    return Library(kind, tuple(item for one in KINDS if kind in {None, one} for item in _items(one)))


def _items(kind: str) -> Iterator[Item]:
    for ident in library_ids(KINDS[kind]):
        tree = read_place(place_in_library(KINDS[kind], ident), Diagnostics())
        assert isinstance(tree, Mapping)  # noqa: S101  a file of ours
        found = {key.text: child.value for key, child in tree.items if isinstance(child, Scalar)}
        counted = found.get("parameters")
        yield Item(kind, ident, str(found.get("name", ident)), counted if isinstance(counted, int) else None)
