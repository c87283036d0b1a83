"""Finding and reading scenario, model and software files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from aiplan.catalog.folders import data_folder
from aiplan.declare import Mapping, Mark, Scalar, Sequence, is_file, read, read_file, read_start

if TYPE_CHECKING:
    from aiplan.declare import Diagnostics, Node

LIBRARY = "scenarios"
PUBLISHED = "published"
UNSEEN = "unseen"
"""Published runs that no constant is fitted on, and no interval comes from."""
TRAININGS = "trainings"


class Place(NamedTuple):
    """A file: the name it has in messages, and where it lies."""

    name: str
    path: Path


def exists(path: Path) -> bool:
    """Whether there is a file or a folder of this name."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def library_ids(kind: str) -> list[str]:
    """Return the names in a folder of the library: `models`, `software`, or `` for scenarios."""
    return sorted(path.stem for path in (data_folder(LIBRARY) / kind).glob("*.yaml"))


def find_scenario(text: str) -> Place:
    """Return the file that a command line argument means: a path, or the name of a scenario of the library."""
    path = Path(text)
    in_library = data_folder(LIBRARY) / f"{text}.yaml"
    if not exists(path) and path.name == text and is_file(in_library):
        return Place(f"{LIBRARY}/{text}.yaml", in_library)
    return Place(text, path)


def find_in_library(kind: str, ident: str) -> Place | None:
    """Return a file of the library by name, if there is one."""
    path = data_folder(LIBRARY) / kind / f"{ident}.yaml"
    plain = ident not in {"", ".", ".."} and "/" not in ident and "\\" not in ident
    return Place(f"{LIBRARY}/{kind}/{ident}.yaml", path) if plain and is_file(path) else None


def read_place(place: Place, diagnostics: Diagnostics) -> Node:
    """Read a file, named in messages as its place says."""
    if place.name == str(place.path):
        return read_file(place.name, diagnostics)
    return read(read_start(place.path), place.name, diagnostics)


def locate(tree: Node, path: str) -> Mark:
    """Return where a dotted path stands in a file; if it does not, where the nearest part of it does."""
    mark = tree.mark
    for name in path.split("."):
        if not isinstance(tree, Mapping):
            break
        entry = next(((key, child) for key, child in tree.items if key.text == name), None)
        if entry is None:
            break
        key, tree = entry
        mark = tree.mark if isinstance(tree, Scalar | Sequence) else key.mark
    return mark


def scalar_at(tree: Node, path: str) -> str | None:
    """Return the text at a dotted path, if there is text."""
    for name in path.split("."):
        if not isinstance(tree, Mapping):
            return None
        child = next((child for key, child in tree.items if key.text == name), None)
        if child is None:
            return None
        tree = child
    return tree.value if isinstance(tree, Scalar) and isinstance(tree.value, str) else None
