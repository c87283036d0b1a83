"""Looking up catalog entries: one file a look-up, overlays on top."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from aiplan.catalog.folders import data_folder
from aiplan.catalog.records import ID_PATTERN, KINDS, Accelerator, Entry, Link, Network, Node, Region
from aiplan.declare import Diagnostics, Mapping, build, read
from aiplan.declare import Node as Tree

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from aiplan.declare import Mark, Origins

E = TypeVar("E", bound=Entry)
FOLDER = "hardware_catalog"


@dataclass(frozen=True, slots=True)
class Found:
    """An entry, where its values stand, and the files it was read from."""

    entry: Entry
    origins: Origins
    files: tuple[str, ...]


@dataclass(slots=True)
class Catalog:
    """The catalog that came with the program, with overlay folders on top, the last one winning.

    An overlay is laid out like the catalog (`accelerators/h100-sxm.yaml`); a file of the same name replaces only the
    keys it gives.
    """

    overlays: Sequence[Path] = ()
    _found: dict[tuple[str, str], Found | None] = field(default_factory=dict)

    def folders(self) -> list[tuple[str, Path]]:
        """Return name and place of every layer, the lowest first."""
        return [(FOLDER, data_folder(FOLDER)), *((str(folder), folder) for folder in self.overlays)]

    def ids(self, kind: str) -> list[str]:
        """Return the ids of a kind, sorted; reads no file."""
        return sorted({path.stem for _, folder in self.folders() for path in (folder / kind).glob("*.yaml")})

    def find(self, kind: str, ident: str, diagnostics: Diagnostics, mark: Mark | None = None) -> Found | None:
        """Return an entry, or note what is wrong and return None."""
        if (kind, ident) not in self._found:
            self._found[kind, ident] = self._read(kind, ident, diagnostics, mark)
        return self._found[kind, ident]

    def _read(self, kind: str, ident: str, diagnostics: Diagnostics, mark: Mark | None) -> Found | None:
        paths = []
        if re.fullmatch(ID_PATTERN, ident):
            paths = [
                (f"{name}/{kind}/{ident}.yaml", folder / kind / f"{ident}.yaml") for name, folder in self.folders()
            ]
            paths = [(name, path) for name, path in paths if path.is_file()]
        if not paths:
            diagnostics.error("AIP201", f"no entry '{ident}' in {kind}", mark, hint=self._nearest(kind, ident))
            return None
        trees = [read(path.read_bytes(), name, diagnostics) for name, path in paths]
        merged = trees[0]
        for tree in trees[1:]:
            merged = overlay(merged, tree)
        origins: Origins = {}
        entry = build(KINDS[kind], merged, diagnostics, "", origins, "catalog")
        return None if entry is None else Found(entry, origins, tuple(name for name, _ in paths))

    def _nearest(self, kind: str, ident: str) -> str:
        import difflib  # noqa: PLC0415  only when a look-up fails

        known = self.ids(kind)
        close = difflib.get_close_matches(ident.lower(), known, n=3, cutoff=0.5)
        if close:
            names = " or ".join(repr(name) for name in close)
            return f"did you mean {names}? 'aiplan catalog list {kind}' lists all {len(known)}"
        return f"'aiplan catalog list {kind}' lists all {len(known)}"

    def accelerator(
        self, ident: str, diagnostics: Diagnostics, mark: Mark | None = None
    ) -> tuple[Accelerator, Origins] | None:
        """Return an accelerator and the origins of its values."""
        return self._typed(Accelerator, "accelerators", ident, diagnostics, mark)

    def link(self, ident: str, diagnostics: Diagnostics, mark: Mark | None = None) -> tuple[Link, Origins] | None:
        """Return a link and the origins of its values."""
        return self._typed(Link, "links", ident, diagnostics, mark)

    def network(self, ident: str, diagnostics: Diagnostics, mark: Mark | None = None) -> tuple[Network, Origins] | None:
        """Return a network and the origins of its values."""
        return self._typed(Network, "networks", ident, diagnostics, mark)

    def node(self, ident: str, diagnostics: Diagnostics, mark: Mark | None = None) -> tuple[Node, Origins] | None:
        """Return a node and the origins of its values."""
        return self._typed(Node, "nodes", ident, diagnostics, mark)

    def region(self, ident: str, diagnostics: Diagnostics, mark: Mark | None = None) -> tuple[Region, Origins] | None:
        """Return a region and the origins of its values."""
        return self._typed(Region, "regions", ident, diagnostics, mark)

    def _typed(
        self, record: type[E], kind: str, ident: str, diagnostics: Diagnostics, mark: Mark | None
    ) -> tuple[E, Origins] | None:
        found = self.find(kind, ident, diagnostics, mark)
        if found is None or not isinstance(found.entry, record):
            return None
        return found.entry, found.origins


def overlay(below: Tree, above: Tree) -> Tree:
    """Lay one tree over another: mappings are merged key by key, anything else is replaced."""
    if not (isinstance(below, Mapping) and isinstance(above, Mapping)):
        return above
    replaced = {key.text: (key, child) for key, child in above.items}
    items = []
    for key, child in below.items:
        new = replaced.pop(key.text, None)
        items.append((key, child) if new is None else (new[0], overlay(child, new[1])))
    return Mapping([*items, *replaced.values()], below.mark)
