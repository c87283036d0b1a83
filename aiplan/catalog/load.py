"""Looking up catalog entries: one file a look-up, overlays on top."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from aiplan.catalog.folders import data_folder
from aiplan.catalog.leaves import locate
from aiplan.catalog.records import ID_PATTERN, KINDS, Accelerator, Entry, Link, Network, Node, Region, Storage, Switch
from aiplan.declare import Diagnostics, Mapping, build, is_file, read
from aiplan.declare import Node as Tree
from aiplan.declare.nearest import did_you_mean, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from aiplan.declare import Mark, Origins

E = TypeVar("E", bound=Entry)
FOLDER = "hardware_catalog"


class Found(NamedTuple):
    """An entry, where its values stand, the files it was read from, and what they say when merged."""

    entry: Entry
    origins: Origins
    files: tuple[str, ...]
    tree: Tree

    def mark(self, path: str) -> Mark:
        """Return where a field stands, or the nearest group it belongs to."""
        return locate(self.tree, path)


class Catalog:
    """The catalog that came with the program, with overlay folders on top, the last one winning.

    An overlay is laid out like the catalog (`accelerators/h100-sxm.yaml`); a file of the same name replaces only the
    keys it gives.
    """

    def __init__(self, overlays: Sequence[Path] = ()) -> None:
        self.overlays = overlays
        self._found: dict[tuple[str, str], Found] = {}

    def folders(self) -> list[tuple[str, Path]]:
        """Return name and place of every layer, the lowest first."""
        return [(FOLDER, data_folder(FOLDER)), *((str(folder), folder) for folder in self.overlays)]

    def ids(self, kind: str) -> list[str]:
        """Return the ids of a kind, sorted; reads no file."""
        stems = {path.stem for _, folder in self.folders() for path in (folder / kind).glob("*.yaml")}
        return sorted(stem for stem in stems if re.fullmatch(ID_PATTERN, stem))

    def kinds_of(self, ident: str) -> list[str]:
        """Return the kinds that have an entry of this name."""
        return [kind for kind in KINDS if ident in self.ids(kind)]

    def resolve(self, text: str, diagnostics: Diagnostics) -> tuple[str, str] | None:
        """Return kind and id of an entry that is named `id` or `kind/id`; or note why there is none."""
        kind, slash, ident = text.rpartition("/")
        kinds = ([kind] if ident in self.ids(kind) else []) if slash and kind in KINDS else self.kinds_of(ident)
        if slash and kind not in KINDS:
            diagnostics.error("AIP201", f"no kind '{kind}'", hint=f"kinds: {', '.join(KINDS)}")
        elif not kinds:
            names = " or ".join(repr(name) for name in self._close_to(ident))
            hint = f"did you mean {names}?" if names else "'aiplan catalog list' lists all"
            diagnostics.error("AIP201", f"no entry '{text}'", hint=hint)
        elif len(kinds) > 1:
            names = " or ".join(repr(f"{name}/{ident}") for name in kinds)
            diagnostics.error("AIP201", f"several entries are called '{ident}'", hint=f"write {names}")
        else:
            return kinds[0], ident
        return None

    def _close_to(self, ident: str) -> list[str]:
        """Return the entries of any kind with a similar name, as `kind/id`, the closest first."""
        known = {f"{kind}/{name}": name for kind in KINDS for name in self.ids(kind)}
        close = nearest(ident, sorted(set(known.values())))
        return [full for name in close for full, short in known.items() if short == name]

    def strays(self) -> list[str]:
        """Return the files of every layer that no look-up would find."""
        return sorted(
            f"{name}/{path.relative_to(folder).as_posix()}"
            for name, folder in self.folders()
            for path in folder.rglob("*")
            if path.is_file() and not path.name.startswith(".") and not _is_entry(path, folder)
        )

    def find(self, kind: str, ident: str, diagnostics: Diagnostics, mark: Mark | None = None) -> Found | None:
        """Return an entry, or note what is wrong and return None."""
        known = self._found.get((kind, ident))
        if known is not None:
            return known
        found = self._read(kind, ident, diagnostics, mark)
        if found is not None:
            self._found[kind, ident] = found
        return found

    def _read(self, kind: str, ident: str, diagnostics: Diagnostics, mark: Mark | None) -> Found | None:
        paths = []
        if re.fullmatch(ID_PATTERN, ident):
            paths = [
                (f"{name}/{kind}/{ident}.yaml", folder / kind / f"{ident}.yaml") for name, folder in self.folders()
            ]
            paths = [(name, path) for name, path in paths if is_file(path)]
        if not paths:
            diagnostics.error("AIP201", f"no entry '{ident}' in {kind}", mark, hint=self._nearest(kind, ident))
            return None
        trees = [read(path.read_bytes(), name, diagnostics) for name, path in paths]
        merged = trees[0]
        for tree in trees[1:]:
            merged = overlay(merged, tree)
        origins: Origins = {}
        entry = build(KINDS[kind], merged, diagnostics, "", origins, "catalog")
        return None if entry is None else Found(entry, origins, tuple(name for name, _ in paths), merged)

    def _nearest(self, kind: str, ident: str) -> str:
        known = self.ids(kind)
        return f"{did_you_mean(ident, known)} 'aiplan catalog list {kind}' lists all {len(known)}".strip()

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

    def storage(self, ident: str, diagnostics: Diagnostics, mark: Mark | None = None) -> tuple[Storage, Origins] | None:
        """Return a storage system and the origins of its values."""
        return self._typed(Storage, "storage", ident, diagnostics, mark)

    def switch(self, ident: str, diagnostics: Diagnostics, mark: Mark | None = None) -> tuple[Switch, Origins] | None:
        """Return a switch and the origins of its values."""
        return self._typed(Switch, "switches", ident, diagnostics, mark)

    def _typed(
        self, record: type[E], kind: str, ident: str, diagnostics: Diagnostics, mark: Mark | None
    ) -> tuple[E, Origins] | None:
        found = self.find(kind, ident, diagnostics, mark)
        if found is None or not isinstance(found.entry, record):
            return None
        return found.entry, found.origins


def _is_entry(path: Path, folder: Path) -> bool:
    in_kind = path.parent.parent == folder and path.parent.name in KINDS
    return in_kind and path.suffix == ".yaml" and re.fullmatch(ID_PATTERN, path.stem) is not None


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
