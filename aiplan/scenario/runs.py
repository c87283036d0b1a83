"""Files of measured runs: one base scenario, one row a run that states only what differs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aiplan.declare import Diagnostics, Mapping, Scalar, Sequence, build
from aiplan.declare.fields import flag, integer, listing, text
from aiplan.declare.patch import set_node
from aiplan.scenario.files import LIBRARY, Place, library_ids, read_place
from aiplan.scenario.load import resolve_tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.catalog.load import Catalog
    from aiplan.declare import Node
    from aiplan.scenario.load import Scenario

PUBLISHED = "published"
OWN_KEYS = ("base", "models", "rows")
ROW_KEYS = ("id", "quality", "complete")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsFile:
    """What a file of runs says about itself; base, models and rows are read apart."""

    schema_version: int = integer(doc="Version of this format", default=1)
    name: str = text(doc="What was measured, and by whom")
    source: str = text(doc="Public address")
    single_source: bool = flag(doc="One lab and one code base: left out as a whole in tests", default=True)
    notes: str | None = text(doc="What a reader should know", default=None)
    sources: tuple[str, ...] = listing(text(doc="Address"), doc="Further public addresses")


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """A run: its scenario, or why it has none."""

    ident: str
    source: str
    quality: str
    complete: bool
    scenario: Scenario | None
    problem: str = ""


def published_files() -> list[Place]:
    """Return the files of published runs that came with the program."""
    from aiplan.catalog.folders import data_folder  # noqa: PLC0415  a leaf module, no cycle

    folder = data_folder(LIBRARY) / PUBLISHED
    return [Place(f"{LIBRARY}/{PUBLISHED}/{name}.yaml", folder / f"{name}.yaml") for name in library_ids(PUBLISHED)]


def load_runs(place: Place, catalog: Catalog, diagnostics: Diagnostics) -> Iterator[MeasuredRun]:
    """Yield the runs of a file.

    A row is a mapping of dotted paths to values that replace those of `base`. A row that cannot be planned is a run
    with a problem, not an error of the file; what is wrong with the file itself goes to `diagnostics`.
    """
    root = read_place(place, diagnostics)
    if not isinstance(root, Mapping):
        diagnostics.error("AIP103", "a file of runs is a mapping with base and rows", root.mark)
        return
    parts = {key.text: child for key, child in root.items}
    about = build(RunsFile, Mapping([i for i in root.items if i[0].text not in OWN_KEYS], root.mark), diagnostics)
    base, rows, models = parts.get("base"), parts.get("rows"), parts.get("models")
    if not isinstance(base, Mapping) or not isinstance(rows, Sequence) or about is None:
        diagnostics.error("AIP106", "a file of runs has base: and rows:", root.mark)
        return
    shapes = {key.text: child for key, child in models.items} if isinstance(models, Mapping) else {}
    for row in rows.items:
        if isinstance(row, Mapping):
            yield _run(row, base, shapes, place, catalog)
        else:
            diagnostics.error("AIP103", "a row is a mapping of dotted paths to values", row.mark)


def _run(row: Mapping, base: Mapping, shapes: dict[str, Node], place: Place, catalog: Catalog) -> MeasuredRun:
    own = {key.text: child for key, child in row.items if key.text in ROW_KEYS}
    found = Diagnostics()
    tree = base
    for key, child in row.items:
        if key.text in ROW_KEYS:
            continue
        shape = shapes.get(child.text) if key.text == "model" and isinstance(child, Scalar) else None
        tree = set_node(tree, key.text, child if shape is None else shape, key.mark, found)
    scenario = resolve_tree(tree, place, catalog, found)
    return MeasuredRun(
        ident=_text(own.get("id"), "unnamed"),
        source=place.path.stem,
        quality=_text(own.get("quality"), "B"),
        complete=_text(own.get("complete"), "yes") != "no",
        scenario=scenario,
        problem="; ".join(item.problem for item in found.items),
    )


def _text(node: Node | None, default: str) -> str:
    return node.text if isinstance(node, Scalar) else default
