"""Other people's files, read: the scenario they give together, its parameters, and the account of every key."""

from __future__ import annotations

import re
from inspect import get_annotations
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aiplan.adapters.imports import registry
from aiplan.adapters.imports.document import read_bytes
from aiplan.adapters.imports.ledger import Caution
from aiplan.adapters.imports.merge import merged
from aiplan.adapters.imports.scenario_tree import tree_of
from aiplan.catalog.folders import data_folder
from aiplan.declare import Diagnostics, InputError, Mapping, build, read_start
from aiplan.engine.counts import parameters
from aiplan.engine.inputs import ModelInputs
from aiplan.scenario import legality
from aiplan.scenario.files import LIBRARY, Place, find_in_library
from aiplan.scenario.lookup import load_model
from aiplan.scenario.model import Model
from aiplan.scenario.records import Cluster, Plan, Workload
from aiplan.scenario.resolve import model_values

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from aiplan.adapters.imports.kind import Kind
    from aiplan.adapters.imports.ledger import Fact, Ledger, Open
    from aiplan.adapters.imports.machine import Machine
    from aiplan.declare import Node

LABEL_TOLERANCE = 0.15
"""How far a size in a name may be from the parameters: labels are rounded, and leave tables out at times."""
NEAR = 0.3
"""How far from the count a published network may be to be meant."""
SAME = 0.002
"""How far from the count a published network may be to be the same one."""
_LABEL = re.compile(r"(?<![\w.])(?:(\d{1,4})[.\-_])?(\d{1,4}(?:\.\d{1,3})?)(b|t|m)(?![a-z])")
_TIMES = {"m": 1e6, "b": 1e9, "t": 1e12}
PARTS = {"workload": Workload, "cluster": Cluster, "plan": Plan}


class Count(NamedTuple):
    """Parameters of a network: all, those that a token passes, and those of modules for further tokens, in neither."""

    total: int
    active: int
    modules: int


class Imported(NamedTuple):
    """What several files give together.

    Parameters
    ----------
    ledgers : tuple of Ledger
        The account of each file.
    kinds : tuple of Kind
        The kind of each file.
    facts : dict
        What they give together, by field.
    model : Model or None
        The network; None if no file has one, or not all of it.
    total, active : int or None
        Its parameters, all and those that a token passes, without modules for further tokens: as published counts are.
    modules : int or None
        Parameters of the modules for further tokens.
    cautions : tuple of Caution
        What to know about the result.
    """

    ledgers: tuple[Ledger, ...]
    kinds: tuple[Kind, ...]
    facts: dict[str, Fact]
    model: Model | None
    total: int | None
    active: int | None
    modules: int | None
    cautions: tuple[Caution, ...]

    @property
    def with_modules(self) -> int | None:
        """Parameters of the network together with its modules for further tokens."""
        return None if self.total is None or self.modules is None else self.total + self.modules

    @property
    def machine(self) -> Machine | None:
        """The inside of a node, if a file describes one."""
        return next((ledger.machine for ledger in self.ledgers if ledger.machine is not None), None)

    @property
    def open(self) -> list[Open]:
        """What the files leave open together: of the fields that one leaves, another may give some."""
        asked = [entry for ledger in self.ledgers for entry in ledger.open]
        return [entry for entry in asked if entry.path not in self.facts]

    @property
    def fields(self) -> list[Fact]:
        """Facts that are fields of a scenario."""
        return [fact for path, fact in self.facts.items() if not path.startswith("_")]

    @property
    def files(self) -> list[str]:
        """Names of the files."""
        return [ledger.document.name for ledger in self.ledgers]


def import_files(
    files: Sequence[tuple[str, bytes | None]],
    diagnostics: Diagnostics,
    kind: str | None = None,
    *,
    strict: bool = False,
) -> Imported:
    """Read files of other programs.

    Parameters
    ----------
    files : sequence of tuple
        Name of each file, and what it holds if it was read already.
    diagnostics : Diagnostics
        Takes everything that is wrong.
    kind : str, optional
        Kind of the files; found out from what they hold if not given.
    strict : bool
        Whether a key that may matter and is not used is an error.

    Raises
    ------
    InputError
        A file cannot be used, or files contradict each other.
    """
    asked = registry.named(kind, diagnostics) if kind is not None else None
    ledgers: list[Ledger] = []
    kinds: list[Kind] = []
    for name, data in files:
        held = data if data is not None else read_bytes(Path(name), name, diagnostics)
        document = registry.open_document(held, name, diagnostics)
        kinds.append(asked or registry.kind_of(document, diagnostics))
        ledgers.append(registry.read(document, kinds[-1], diagnostics))
    if strict:
        _refuse_unused(ledgers, diagnostics)
    diagnostics.raise_if_errors()
    facts = merged(ledgers, diagnostics)
    _name(facts, ledgers)
    model = _checked(facts, ledgers, diagnostics)
    diagnostics.raise_if_errors()
    cautions = [caution for ledger in ledgers for caution in ledger.cautions]
    counted = count(model) if model is not None else None
    if model is not None and counted is not None:
        cautions += _doubts(model, counted, ledgers, kinds)
    total, active, modules = counted or (None, None, None)
    return Imported(tuple(ledgers), tuple(kinds), facts, model, total, active, modules, tuple(cautions))


def is_known(data: bytes, name: str) -> bool:
    """Whether an importer, or a refusal that names what it is, knows what a file holds."""
    found = Diagnostics()
    try:
        return registry.detected(registry.open_document(data, name, found)) is not None
    except InputError:
        return any(item.code == "AIP341" for item in found.items)


def title_of(name: str) -> str | None:
    """Return what a file is, if an importer knows it."""
    try:
        data = read_start(Path(name))
        kind = registry.detected(registry.open_document(data, name, Diagnostics()))
    except (InputError, OSError, ValueError):
        return None
    return None if kind is None else kind.title


def count(model: Model) -> Count:
    """Count the parameters of a network, exact to the last digit."""
    values = model_values(model, {})
    columns = {name: np.array([[values[name].number]]) for name in get_annotations(ModelInputs)}
    whole = parameters(ModelInputs(**columns))
    main = parameters(ModelInputs(**columns | {"mtp_layers": np.zeros((1, 1))}))
    total = int(main.total.item())
    return Count(total, int(main.active.item()), int(whole.total.item()) - total)


def read_model(place: Place, diagnostics: Diagnostics) -> Node:
    """Read the file of a model: one of aiplan's own form, or one of another program as if it were one."""
    from aiplan.scenario.files import read_place  # noqa: PLC0415  the other reader of the same thing

    data = read_start(place.path)
    if re.search(rb"^\s*[\"']?layers[\"']?\s*:", data, re.MULTILINE):
        return read_place(place, diagnostics)
    imported = import_files([(place.name, data)], diagnostics)
    tell(imported, diagnostics)
    shape = [fact for fact in imported.fields if fact.path.startswith("model.")]
    named = imported.facts.get("model")
    if not shape and named is not None:
        found = find_in_library("models", str(named.value))
        if found is not None:
            return read_place(found, diagnostics)
    if not shape:
        diagnostics.error("AIP345", f"'{place.name}' says nothing about a model", imported.ledgers[0].document.start)
        raise diagnostics.failure()
    return _below(tree_of(shape, imported.ledgers[0].document.start), "model") or tree_of(shape, shape[0].mark)


def tell(imported: Imported, diagnostics: Diagnostics) -> None:
    """Note what to know about the result."""
    for caution in imported.cautions:
        diagnostics.warning("AIP344", caution.problem, caution.mark, hint=caution.hint)


def _name(facts: dict[str, Fact], ledgers: Sequence[Ledger]) -> None:
    """Name a network without a name after its file."""
    for ledger in ledgers:
        layers = ledger.facts.get("model.layers")
        if layers is not None and "model.name" not in facts:
            name = PurePath(ledger.document.name).stem.strip("<>") or "model"
            facts["model.name"] = layers._replace(path="model.name", value=name, key="", why="the file", taken=False)


def _refuse_unused(ledgers: Iterable[Ledger], diagnostics: Diagnostics) -> None:
    for ledger in ledgers:
        for skipped in ledger.skipped:
            if skipped.matters:
                diagnostics.error("AIP343", f"'{skipped.key}' is not used: {skipped.why}", skipped.mark)


def _below(tree: Mapping, name: str) -> Node | None:
    return next((child for key, child in tree.items if key.text == name), None)


def _checked(facts: dict[str, Fact], ledgers: Sequence[Ledger], diagnostics: Diagnostics) -> Model | None:
    """Check facts as a scenario file would be, part by part; return the network if it is whole."""
    tree = tree_of([fact for path, fact in facts.items() if not path.startswith("_")], ledgers[0].document.start)
    for name, record in PARTS.items():
        part = _below(tree, name)
        if part is not None:
            _check_part(record, part, diagnostics, name)
    named = facts.get("model")
    if named is not None:
        place = find_in_library("models", str(named.value))
        found = load_model(place, Diagnostics()) if place is not None else None
        return found[0] if found is not None else None
    shape = _below(tree, "model")
    lacking = {entry.path for ledger in ledgers for entry in ledger.open} - facts.keys()
    if shape is None or any(path.startswith("model.") for path in lacking):
        return None
    model = build(Model, shape, diagnostics, "model")
    if model is not None:
        legality.report(legality.check_model(model), shape, diagnostics)
    return model


def _check_part(record: type, part: Node, diagnostics: Diagnostics, name: str) -> None:
    """Check values of a part that need not be whole: a missing key is no fault here."""
    found = Diagnostics()
    build(record, part, found, name)
    diagnostics.items += [item for item in found.items if item.code != "AIP106"]


def _doubts(model: Model, counted: Count, ledgers: Sequence[Ledger], kinds: Sequence[Kind]) -> list[Caution]:
    """Return why the network may not be the one on the label."""
    total = counted.total
    for ledger, kind in zip(ledgers, kinds, strict=True):
        if not any(path.startswith("model") for path in ledger.facts) or "model.layers" not in ledger.facts:
            continue
        mark = ledger.facts["model.layers"].mark
        label = _wrong_label(ledger, counted)
        near = _nearest(model, total) if label or kind.name != "hf-config" else None
        hint = f"the nearest published shape: {near}" if near else None
        if label is not None:
            return [Caution(f"the name says {label}, and the shape has {total / 1e9:,.2f}B parameters", mark, hint)]
        if near is not None:
            return [
                Caution(f"the shape has {total / 1e9:,.2f}B parameters; a published one is close to it", mark, hint)
            ]
    return []


def _wrong_label(ledger: Ledger, counted: Count) -> str | None:
    """Return the size in a name that no count comes near to; None if there is none, or one that fits."""
    names = [
        PurePath(ledger.document.name).name,
        *(ledger.document.text_at(path) for path in ("general.run", "run.name", "_name_or_path")),
    ]
    found: list[tuple[str, float]] = []
    for name in names:
        for before, number, unit in _LABEL.findall(name.lower()):
            found.append((f"{number}{unit.upper()}", float(number) * _TIMES[unit]))
            if before and "." not in number:
                found.append((f"{before}.{number}{unit.upper()}", float(f"{before}.{number}") * _TIMES[unit]))
    sizes = (counted.total, counted.active, counted.total + counted.modules)
    fits = [abs(label / size - 1) < LABEL_TOLERANCE for _, label in found for size in sizes]
    return None if any(fits) or not found else found[0][0]


def _nearest(model: Model, total: int) -> str | None:
    """Return the published network that differs from this one in little but its count, if there is one."""
    marks = (f"layers: {model.layers}", f"hidden: {model.hidden}", f"heads: {model.heads}")
    close: list[tuple[bool, float, str]] = []
    groups = model.kv_heads or model.heads
    for path in (data_folder(LIBRARY) / "models").glob("*.yaml"):
        lines = path.read_text(encoding="utf-8").splitlines()
        alike = all(mark in lines for mark in marks) and ("gated: false" in lines) is not model.gated
        stated = next((line.partition(": ")[2] for line in lines if line.startswith("parameters: ")), "")
        if alike and stated.isdigit() and abs(int(stated) / total - 1) < NEAR:
            other = f"kv_heads: {groups}" not in lines and groups != model.heads
            close.append((other, abs(int(stated) - total), f"{path.stem}, {int(stated) / 1e9:,.2f}B"))
    best = min(close, default=None)
    return None if best is None or best[1] < SAME * total else best[2]
