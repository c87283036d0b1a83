"""Files of measured runs: one base scenario, one row a run that states only what differs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aiplan.declare import Diagnostics, InputError, Mapping, Scalar, Sequence, build
from aiplan.declare.fields import Declared, flag, integer, listing, text
from aiplan.declare.patch import set_node
from aiplan.scenario.files import LIBRARY, PUBLISHED, Place, library_ids, read_place, scalar_at
from aiplan.scenario.load import resolve_tree

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Sequence as Listed

    from aiplan.catalog.load import Catalog
    from aiplan.declare import Node
    from aiplan.scenario.load import Scenario
    from aiplan.scenario.lookup import ReadModel

    Settings = Listed[tuple[str, str, str]]

OWN_KEYS = ("base", "models", "columns", "rows")
ROW_KEYS = ("id", "quality", "complete", "assumed", "circumstances")
OF_A_WHOLE_TRAINING = ("measured.time_to_train", "measured.accelerator_time")
FORM_ERRORS = "AIP1"
"""Codes of a value that cannot be read, as against one that does not suit this run."""


class RunsFile(Declared):
    """What a file of runs says about itself; base, models and rows are read apart."""

    schema_version: int = integer(doc="Version of this format", default=1)
    name: str = text(doc="What was measured, and by whom")
    source: str = text(doc="Public address")
    part_of: str | None = text(
        doc="File of runs whose source these come from too: left out together with it in tests", default=None
    )
    single_source: bool = flag(doc="One lab and one code base: left out as a whole in tests", default=True)
    notes: str | None = text(doc="What a reader should know", default=None)
    sources: tuple[str, ...] = listing(text(doc="Address"), doc="Further public addresses", default=())


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """A run: its scenario, or why it has none, and what was taken for granted about it.

    `whole` says that a training was measured from its beginning to its end, and `circumstances` what was published of
    it that no model of steps and failures knows; `tree` and `place` are what the scenario was resolved from, for those
    who try other plans.
    """

    ident: str
    source: str
    quality: str
    complete: bool
    scenario: Scenario | None
    problem: str = ""
    assumed: tuple[str, ...] = ()
    whole: bool = False
    circumstances: str = ""
    tree: Node | None = None
    place: Place | None = None


def published_files(kind: str = PUBLISHED) -> list[Place]:
    """Return the files of published runs, or of whole trainings, that came with the program."""
    from aiplan.catalog.folders import data_folder  # noqa: PLC0415  a leaf module, no cycle

    folder = data_folder(LIBRARY) / kind
    return [Place(f"{LIBRARY}/{kind}/{name}.yaml", folder / f"{name}.yaml") for name in library_ids(kind)]


def runs_of(
    root: Node,
    place: Place,
    catalog: Catalog,
    diagnostics: Diagnostics,
    settings: Settings = (),
    read_model: ReadModel = read_place,
) -> Iterator[MeasuredRun]:
    """Yield the runs of a file that has been read.

    A row is a mapping of dotted paths to values that replace those of `base`, or a list of the values for the paths
    in `columns`, `~` where it is that of `base`. A row that cannot be planned is a run with a problem, not an error of
    the file; what is wrong with the file itself goes to `diagnostics`.

    Parameters
    ----------
    root : Node
        What the file holds.
    place : Place
        The file.
    catalog : Catalog
        Where ids are looked up.
    diagnostics : Diagnostics
        Takes what is wrong with the file, and settings that no run can take.
    settings : sequence of tuple
        Changes to every run: path, value text, option name.
    read_model : callable
        Reads the file of a model; files of aiplan's own form if not given.
    """
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
    base = Mapping([(key, _shape(key.text, child, shapes)) for key, child in base.items], base.mark)
    columns, source = _columns(parts.get("columns"), diagnostics), about.part_of or place.path.stem
    for row in rows.items:
        found = _listed(row, columns, diagnostics) if isinstance(row, Sequence) else row
        if isinstance(found, Mapping):
            _check_assumed(found, diagnostics)
            tree, wrong = _row(found, base, shapes)
            scenario = resolve_run(tree, place, catalog, wrong, diagnostics, settings, read_model)
            yield _run(found, tree, scenario, wrong, place, source)
        elif found is not None:
            diagnostics.error("AIP103", "a row is a mapping of dotted paths to values, or a list of values", row.mark)


def _columns(node: Node | None, diagnostics: Diagnostics) -> list[Scalar]:
    """Return the paths that the values of a row in a list stand for."""
    if node is None:
        return []
    paths = [item for item in node.items if isinstance(item, Scalar)] if isinstance(node, Sequence) else []
    if not isinstance(node, Sequence) or len(paths) < len(node.items):
        diagnostics.error("AIP103", "columns is a list of dotted paths", node.mark)
    return paths


def _listed(row: Sequence, columns: list[Scalar], diagnostics: Diagnostics) -> Mapping | None:
    """Return a row in a list as a mapping; what is as in the base is left out."""
    if len(row.items) != len(columns):
        problem = f"a row of {len(row.items)} values for {len(columns)} columns"
        diagnostics.error(
            "AIP103", problem, row.mark, hint="give a value for every path in columns:, ~ for that of base"
        )
        return None
    cells = zip(columns, row.items, strict=True)
    kept = [(path, cell) for path, cell in cells if not (isinstance(cell, Scalar) and cell.value is None)]
    return Mapping(kept, row.mark)


def _row(row: Mapping, base: Mapping, shapes: dict[str, Node]) -> tuple[Node, Diagnostics]:
    """Return the scenario of a row, and what is wrong with its paths."""
    found, tree = Diagnostics(), base
    for key, child in row.items:
        if key.text not in ROW_KEYS:
            tree = set_node(tree, key.text, _shape(key.text, child, shapes), key.mark, found)
    return tree, found


def _run(
    row: Mapping, tree: Node, scenario: Scenario | None, found: Diagnostics, place: Place, source: str
) -> MeasuredRun:
    own = {key.text: child for key, child in row.items if key.text in ROW_KEYS}
    return MeasuredRun(
        ident=_text(own.get("id"), "unnamed"),
        source=source,
        quality=_text(own.get("quality"), "B"),
        complete=_text(own.get("complete"), "yes") != "no",
        scenario=scenario,
        problem="; ".join(item.problem for item in found.items if item.level == "error"),
        assumed=_texts(own.get("assumed")),
        whole=any(scalar_at(tree, path) is not None for path in OF_A_WHOLE_TRAINING),
        circumstances=_text(own.get("circumstances"), ""),
        tree=tree,
        place=place,
    )


def _check_assumed(row: Mapping, diagnostics: Diagnostics) -> None:
    """Note what is assumed and no text: a remark with a colon in it is a mapping, and would be lost."""
    lists = [child for key, child in row.items if key.text == "assumed" and isinstance(child, Sequence)]
    for item in (item for found in lists for item in found.items):
        if not isinstance(item, Scalar):
            diagnostics.error(
                "AIP103", "what is assumed is a text", item.mark, hint="a text with ': ' in it needs quotes"
            )


def _shape(key: str, node: Node, shapes: dict[str, Node]) -> Node:
    """Return the shape that a model of the file stands for; everything else as it is."""
    return shapes.get(node.text, node) if key == "model" and isinstance(node, Scalar) else node


def resolve_run(
    tree: Node,
    place: Place,
    catalog: Catalog,
    found: Diagnostics,
    diagnostics: Diagnostics,
    settings: Settings,
    read_model: ReadModel = read_place,
) -> Scenario | None:
    """Resolve one run; a setting that cannot be read is wrong for all of them, so an error of its own.

    Parameters
    ----------
    tree : Node
        Scenario of the run.
    place : Place
        Where it comes from.
    catalog : Catalog
        Where ids are looked up.
    found : Diagnostics
        Takes what is wrong with the run.
    diagnostics : Diagnostics
        Takes what is wrong with a setting, once.
    settings : sequence of tuple
        Changes: path, value text, option name.
    read_model : callable
        Reads the file of a model; files of aiplan's own form if not given.
    """
    try:
        scenario = resolve_tree(tree, place, catalog, found, settings, read_model)
    except InputError:  # the file of a model cannot be used, as is noted: no fault of the other runs
        scenario = None
    for item in found.items:
        of_setting = item.mark is not None and item.mark.is_option and item.code.startswith(FORM_ERRORS)
        if of_setting and item not in diagnostics.items:
            diagnostics.items.append(item)
            diagnostics.sources.update(found.sources)
    return scenario


def _text(node: Node | None, default: str) -> str:
    return node.text if isinstance(node, Scalar) else default


def _texts(node: Node | None) -> tuple[str, ...]:
    return tuple(item.text for item in node.items if isinstance(item, Scalar)) if isinstance(node, Sequence) else ()
