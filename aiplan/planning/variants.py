"""Scenarios with settings changed: one source, loaded again for each."""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from aiplan.declare import Diagnostics, InputError, Mark, is_file, parse_assignment, parse_variation, read
from aiplan.engine.counts import parameters
from aiplan.planning.estimate import columns
from aiplan.scenario.cautions import Caution
from aiplan.scenario.files import LIBRARY, Place, find_scenario, read_place
from aiplan.scenario.load import load, resolve_tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from aiplan.catalog.load import Catalog
    from aiplan.declare import Node
    from aiplan.scenario.load import Scenario
    from aiplan.scenario.model import Model

MAX_VARIANTS = 10_000
STDIN = "<stdin>"
FOLDER_FILE = "config.json"
MOST_SNIFFED = 2 * 2**20
OURS = re.compile(
    rb"^[\"'{\s]{0,3}(?:schema_version|workload|cluster)[\"']?\s*:|[{,]\s*\"(?:workload|cluster)\"\s*:", re.MULTILINE
)
"""How a scenario of aiplan's own form is known without reading all of it."""

_COUNTED: dict[Model, float] = {}
"""Parameters of shapes that were counted before: many scenarios name one."""
Setting = tuple[str, str, str]
"""Path, value text, and the option that asked for it."""


class Source(NamedTuple):
    """Where a scenario is read from: a path or library name, or text that came through a pipe.

    `place` is where text that came another way would lie: its name in messages, and what models it names are beside.
    `together` are files of other programs that make one scenario, each with what came through a pipe.
    """

    text: str
    piped: bytes | None = None
    place: Place | None = None
    together: tuple[tuple[str, bytes | None], ...] = ()


class Variant(NamedTuple):
    """A change to a scenario, and what it is called."""

    label: str
    settings: tuple[Setting, ...]


class Loaded(NamedTuple):
    """A scenario, or None and what is wrong with it."""

    scenario: Scenario | None
    diagnostics: Diagnostics


def assignments(texts: Iterable[str]) -> tuple[Setting, ...]:
    """Read the values of `--set`."""
    return tuple((*parse_assignment(text), "--set") for text in texts)


def variants(texts: Sequence[str]) -> list[Variant]:
    """Read the values of `--vary` and cross them; nothing to vary is one variant without a label.

    Raises
    ------
    InputError
        A text has not the form `path=values`, or there are too many variants.
    """
    axes = [parse_variation(text) for text in texts]
    names = short_names([path for path, _ in axes])
    count = 1
    for _, values in axes:
        count *= len(values)
    if count > MAX_VARIANTS:
        diagnostics = Diagnostics()
        diagnostics.error(
            "AIP115",
            f"--vary asks for {count:,} variants, more than {MAX_VARIANTS:,}",
            hint="use fewer values or larger steps",
        )
        raise diagnostics.failure()
    return [
        Variant(
            ", ".join(f"{name}={value}" for name, value in zip(names, chosen, strict=True)),
            tuple((path, value, "--vary") for (path, _), value in zip(axes, chosen, strict=True)),
        )
        for chosen in itertools.product(*(values for _, values in axes))
    ]


def short_names(paths: Sequence[str]) -> list[str]:
    """Return the last key of every path, or the whole path where that would not tell two apart."""
    lasts = [path.rpartition(".")[2] for path in paths]
    return [last if lasts.count(last) == 1 else path for last, path in zip(lasts, paths, strict=True)]


def load_source(source: Source, catalog: Catalog, settings: Sequence[Setting] = ()) -> Loaded:
    """Load a scenario with settings changed, its plan searched if it says so; what is wrong is returned, not raised."""
    return _planned(load_written(source, catalog, settings))


def load_tree(tree: Node, place: Place, catalog: Catalog) -> Loaded:
    """Load a scenario that has been read, its plan searched if it says so."""
    diagnostics = Diagnostics()
    scenario = resolve_tree(tree, place, catalog, diagnostics, (), read_any_model)
    return _planned(_sound(scenario, diagnostics))


def place_of(source: Source) -> Place:
    """Return where a scenario lies, and what it is called in messages."""
    if source.piped is None:
        return find_scenario(source.text)
    return source.place or Place(STDIN, Path("stdin"))


def _planned(loaded: Loaded) -> Loaded:
    """Return a scenario with its plan, which is searched if it says so."""
    if loaded.scenario is None or not loaded.scenario.searched:
        return loaded
    from aiplan.planning.search import best_plan  # noqa: PLC0415 - only where a plan is searched

    return Loaded(best_plan(loaded.scenario, loaded.diagnostics), loaded.diagnostics)


def load_written(
    source: Source, catalog: Catalog, settings: Sequence[Setting] = (), *, searched: bool = False
) -> Loaded:
    """Load a scenario as it is written, or without the sizes of its plan if these are to be searched."""
    diagnostics = Diagnostics()
    try:
        scenario = _load(source, catalog, diagnostics, settings, searched=searched)
    except InputError as failure:
        return Loaded(None, Diagnostics(list(failure.diagnostics), failure.sources))
    return _sound(scenario, diagnostics)


def _sound(scenario: Scenario | None, diagnostics: Diagnostics) -> Loaded:
    """Return a scenario that has been resolved, if nothing in it contradicts itself."""
    if scenario is not None and not (_as_stated(scenario, diagnostics) and _possible(scenario, diagnostics)):
        scenario = None
    return Loaded(scenario, diagnostics)


def _as_stated(scenario: Scenario, diagnostics: Diagnostics) -> bool:
    """Whether the shape of the model has as many parameters as its file states, if it states a number."""
    stated = scenario.values["model.stated_parameters"]
    if math.isnan(stated.number):
        return True
    counted = _COUNTED.get(scenario.model)
    if counted is None:
        counted = _COUNTED[scenario.model] = float(parameters(columns([scenario]).model).total[0, 0])
    if stated.number == counted:
        return True
    file, _, line = stated.origin.where.rpartition(":")
    diagnostics.error(
        "AIP310",
        f"{scenario.model.name} is stated to have {stated.number:,.0f} parameters, and its shape has {counted:,.0f}",
        Mark(file, int(line), 1, 2) if line.isdigit() else None,
        hint="mend the shape, or leave parameters out",
    )
    return False


def _possible(scenario: Scenario, diagnostics: Diagnostics) -> bool:
    """Whether checkpoints can be made as a scenario asks, if it speaks of them."""
    if not scenario.run or scenario.searched:
        return True
    from aiplan.planning.run_checks import impossible  # noqa: PLC0415  most scenarios do without

    found = impossible(scenario)
    for fault, mark in found:
        diagnostics.error(fault.code, fault.problem, mark, hint=fault.hint)
    return not found


def _load(
    source: Source, catalog: Catalog, diagnostics: Diagnostics, settings: Sequence[Setting], *, searched: bool
) -> Scenario | None:
    if source.together:
        return _put_together(source, catalog, diagnostics, settings)
    data = _content(source)
    if _is_saved(data):
        from aiplan.planning.saved import made_from  # noqa: PLC0415  as in _is_saved

        hint = f"give the scenario itself{made_from(data)}; 'aiplan diff' and 'aiplan check' take saved results"
        diagnostics.error("AIP116", f"'{source.text}' is a saved result, and not a scenario", hint=hint)
        return None
    if data.strip() and not OURS.search(data):
        return _imported(source, data, catalog, diagnostics, settings)
    if source.piped is None:
        return load(source.text, catalog, diagnostics, settings, read_any_model, searched=searched)
    place = place_of(source)
    tree = read(source.piped, place.name, diagnostics)
    return resolve_tree(tree, place, catalog, diagnostics, settings, read_any_model, searched=searched)


def _content(source: Source) -> bytes:
    """Return how a source begins, by which its kind is known; nothing for what is no file."""
    return source.piped if source.piped is not None else _held(source.text) or b""


def _held(text: str) -> bytes | None:
    """Return what a file holds, as far as one of a scenario would; None where there is no file."""
    path = Path(text)
    path = path / FOLDER_FILE if path.is_dir() else path
    if not is_file(path):
        return None
    with path.open("rb") as file:
        return file.read(MOST_SNIFFED + 1)


def _is_saved(data: bytes) -> bool:
    """Whether something is a result that was saved as JSON."""
    if not data.lstrip().startswith(b"{"):
        return False
    from aiplan.planning.saved import is_saved  # noqa: PLC0415  no scenario in YAML pays for reading JSON

    return is_saved(data)


def _imported(
    source: Source, data: bytes, catalog: Catalog, diagnostics: Diagnostics, settings: Sequence[Setting]
) -> Scenario | None:
    """Load a file of another program as a scenario, if an importer knows it; else say what is wrong with it as ours."""
    from aiplan.planning import imports  # noqa: PLC0415  only such a file pays for it

    name = source.text if source.piped is None else STDIN if source.place is None else source.place.name
    if len(data) > MOST_SNIFFED:
        diagnostics.error(
            "AIP113", f"'{name}' is larger than {MOST_SNIFFED >> 20} MiB", hint="a scenario is far smaller"
        )
        return None
    if not imports.is_known(data, name):
        tree = read(data, name, diagnostics)
        return resolve_tree(tree, Place(name, Path(name)), catalog, diagnostics, settings, read_any_model)
    return _scenario_of([(name, data)], Path(name), catalog, diagnostics, settings)


def _put_together(
    source: Source, catalog: Catalog, diagnostics: Diagnostics, settings: Sequence[Setting]
) -> Scenario | None:
    """Load several files of other programs as one scenario; one of aiplan's own form is whole without others."""
    named: list[tuple[str, bytes | None]] = []
    for text, piped in source.together:
        data = piped if piped is not None else _held(text)
        name = STDIN if piped is not None else text
        if (data is None and find_scenario(text).path.exists()) or (data is not None and OURS.search(data)):
            diagnostics.error(
                "AIP341",
                f"'{name}' is a scenario of its own, and files of other programs are put together here",
                hint="give it alone; 'aiplan compare' sets several scenarios side by side",
            )
        named.append((name, data))
    diagnostics.raise_if_errors()
    return _scenario_of(named, Path(source.together[0][0]), catalog, diagnostics, settings)


def _scenario_of(
    files: Sequence[tuple[str, bytes | None]],
    path: Path,
    catalog: Catalog,
    diagnostics: Diagnostics,
    settings: Sequence[Setting],
) -> Scenario | None:
    """Load files of other programs as one scenario, with what is to be known about it."""
    from aiplan.planning import imported, imports  # noqa: PLC0415  only such files pay for it

    found = imports.import_files(files, diagnostics)
    kinds = (f"{name} ({kind.title})" for name, kind in zip(found.files, found.kinds, strict=True))
    place = Place(" + ".join(kinds), path)
    scenario = imported.scenario_of(found, place, catalog, diagnostics, settings)
    if scenario is None:
        return None
    imports.tell(found, diagnostics)
    told = (Caution("AIP344", one.mark.where, one.problem, one.hint or "") for one in found.cautions)
    return scenario._replace(cautions=(*scenario.cautions, *told))


def read_any_model(place: Place, diagnostics: Diagnostics) -> Node:
    """Read the file of a model in any form; one of the library is in ours."""
    if place.name.startswith(f"{LIBRARY}/"):
        return read_place(place, diagnostics)
    from aiplan.planning.imports import read_model  # noqa: PLC0415  only a file outside the library pays for it

    return read_model(place, diagnostics)
