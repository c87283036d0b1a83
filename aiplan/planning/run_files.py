"""Measured runs from wherever they are kept: files of runs, CSV tables, folders, standard input, the library."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from aiplan.adapters.runs_csv import is_table, read_runs, unused_columns
from aiplan.adapters.trainings_csv import (
    address_of,
    is_submission,
    is_trainings_table,
    measured_of,
    read_trainings,
    unused_training_columns,
)
from aiplan.declare import Diagnostics, InputError, Mapping, Scalar, read, read_start
from aiplan.declare.nearest import did_you_mean
from aiplan.declare.patch import set_node
from aiplan.planning.variants import STDIN, Source, read_any_model
from aiplan.scenario.files import PUBLISHED, TRAININGS, UNSEEN, Place, find_in_library, library_ids
from aiplan.scenario.runs import MeasuredRun, published_files, resolve_run, runs_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aiplan.adapters.runs_csv import Run
    from aiplan.catalog.load import Catalog
    from aiplan.declare import Node
    from aiplan.planning.variants import Setting

YAML = (".yaml", ".yml")
KEYS = {"base", "rows"}
HINT = "a file of runs has base: and rows:; a CSV table has columns such as accelerator, n_gpus, layers and seq_len"


def measured_runs(
    sources: Sequence[Source], catalog: Catalog, diagnostics: Diagnostics, settings: Sequence[Setting] = ()
) -> list[MeasuredRun]:
    """Read runs; without a source, the published ones that came with the program.

    Parameters
    ----------
    sources : sequence of Source
        Files of runs, CSV tables, folders of files of runs, names of published files, `unseen` for those that took
        no part in the fit, or text from a pipe.
    catalog : Catalog
        Where ids are looked up.
    diagnostics : Diagnostics
        Takes what is wrong with the files and the settings, and warnings about them.
    settings : sequence of tuple
        Changes to every run: path, value text, option name.
    """
    texts = [text for source in sources for text in _texts(source, diagnostics)] if sources else _library(PUBLISHED)
    return [run for place, text in texts for run in _runs(place, text, catalog, diagnostics, settings)]


def library_trainings(
    catalog: Catalog, diagnostics: Diagnostics, settings: Sequence[Setting] = ()
) -> list[MeasuredRun]:
    """Read the whole trainings that came with the program.

    Parameters
    ----------
    catalog : Catalog
        Where ids are looked up.
    diagnostics : Diagnostics
        Takes what is wrong with the settings.
    settings : sequence of tuple
        Changes to every run: path, value text, option name.
    """
    texts = _library(TRAININGS)
    return [run for place, text in texts for run in _runs(place, text, catalog, diagnostics, settings)]


def _library(kind: str) -> list[tuple[Place, bytes]]:
    return [(place, place.path.read_bytes()) for place in published_files(kind)]


def _texts(source: Source, diagnostics: Diagnostics) -> Iterator[tuple[Place, bytes]]:
    """Yield the files that an argument means, with what they hold."""
    if source.piped is not None:
        yield Place(STDIN, Path("stdin")), source.piped
        return
    path, name = Path(source.text), source.text
    if not path.exists():
        if source.text == UNSEEN:
            yield from _library(UNSEEN)
            return
        known = find_in_library(PUBLISHED, source.text) or find_in_library(UNSEEN, source.text)
        path, name = (known.path, known.name) if known else (path, name)
    if not path.is_dir():
        yield from _text(Place(name, path), diagnostics)
        return
    files = sorted(item for item in path.iterdir() if item.suffix in YAML)
    if not files:
        diagnostics.error("AIP113", f"no file of runs in '{name}'", hint="a folder is searched for YAML files of runs")
    for item in files:
        yield from _text(Place(str(item), item), diagnostics)


def _text(place: Place, diagnostics: Diagnostics) -> Iterator[tuple[Place, bytes]]:
    try:
        yield place, read_start(place.path)
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or "it is no path"
        known = [UNSEEN, *library_ids(PUBLISHED), *library_ids(UNSEEN)]
        hint = did_you_mean(place.name, known) or "give a file or folder of runs"
        diagnostics.error("AIP113", f"cannot read '{place.name}': {reason}", hint=hint)


def _runs(
    place: Place, text: bytes, catalog: Catalog, diagnostics: Diagnostics, settings: Sequence[Setting]
) -> Iterator[MeasuredRun]:
    """Yield the runs of a text, whatever its form."""
    table = text.decode("utf-8-sig", errors="replace")
    if is_trainings_table(table):
        yield from _trainings(place, table, catalog, diagnostics, settings)
        return
    if is_table(table):
        yield from _table(place, table, catalog, diagnostics, settings)
        return
    root = _tree(place, text, diagnostics)
    if isinstance(root, Mapping) and {key.text for key, _ in root.items} >= KEYS:
        yield from runs_of(root, place, catalog, diagnostics, settings, read_any_model)
    elif root is not None:
        _refuse(place, diagnostics)


def _tree(place: Place, text: bytes, diagnostics: Diagnostics) -> Node | None:
    """Return a YAML file as a tree; other files that are not YAML are refused as what they are not."""
    found, root = Diagnostics(), None
    try:
        root = read(text, place.name, found)
    except InputError as failure:
        if place.path.suffix not in YAML:
            _refuse(place, diagnostics)
            return None
        found = Diagnostics(list(failure.diagnostics), failure.sources)
    diagnostics.items += found.items
    diagnostics.sources.update(found.sources)
    return root


def _refuse(place: Place, diagnostics: Diagnostics) -> None:
    problem = f"'{place.name}' is neither a file of runs nor a table of them"
    diagnostics.error("AIP113", problem, hint=HINT)


def _table(
    place: Place, text: str, catalog: Catalog, diagnostics: Diagnostics, settings: Sequence[Setting]
) -> Iterator[MeasuredRun]:
    _warn_of(unused_columns(text), place, diagnostics)
    for run in read_runs(StringIO(text, newline=""), place.name):
        yield _planned(run, place, catalog, diagnostics, settings)


def _warn_of(unused: Sequence[str], place: Place, diagnostics: Diagnostics) -> None:
    if unused:
        diagnostics.warning("AIP104", f"columns of '{place.name}' that mean nothing here: {', '.join(unused)}")


def _trainings(
    place: Place, text: str, catalog: Catalog, diagnostics: Diagnostics, settings: Sequence[Setting]
) -> Iterator[MeasuredRun]:
    """Yield the whole trainings of a table; results of submissions take layout and precision from the library."""
    _warn_of(unused_training_columns(text), place, diagnostics)
    rows = list(read_trainings(StringIO(text, newline=""), place.name))
    library = library_trainings(catalog, Diagnostics()) if any(map(is_submission, rows)) else []
    known = {_address(run): run for run in library}
    for row in rows:
        like = known.get(address_of(row)) if is_submission(row) else None
        if like is None:
            run = _planned(row, place, catalog, diagnostics, settings)
            yield replace(run, complete=False, whole=True, tree=row.scenario, place=place)
        else:
            yield _as_submitted(row, like, catalog, diagnostics, settings)


def _address(run: MeasuredRun) -> tuple[str, int]:
    measured = run.scenario.file.measured if run.scenario else None
    return (measured.source, run.scenario.accelerators) if run.scenario and measured else (run.ident, 0)


def _as_submitted(
    row: Run, like: MeasuredRun, catalog: Catalog, diagnostics: Diagnostics, settings: Sequence[Setting]
) -> MeasuredRun:
    """Return a training of the library with what a row measured."""
    found = Diagnostics()
    root = like.tree
    for path, text in measured_of(row).items():
        if isinstance(root, Mapping):
            root = set_node(root, path, Scalar(text, text, quoted=False, mark=root.mark), root.mark, found)
    if root is None or like.place is None:
        return like
    return replace(
        like,
        ident=row.ident,
        source=row.cell("source_title") or like.source,
        quality=row.cell("quality") or "B",
        scenario=resolve_run(root, like.place, catalog, found, diagnostics, settings),
        problem="; ".join(item.problem for item in found.items if item.level == "error"),
        tree=root,
    )


def _planned(
    run: Run, place: Place, catalog: Catalog, diagnostics: Diagnostics, settings: Sequence[Setting]
) -> MeasuredRun:
    found = Diagnostics()
    scenario = None
    if run.scenario is not None:
        scenario = resolve_run(run.scenario, place, catalog, found, diagnostics, settings)
    problems = (*run.problems, *(item.problem for item in found.items if item.level == "error"))
    return MeasuredRun(
        ident=run.ident,
        source=run.cell("source_title") or place.path.stem,
        quality=run.cell("quality") or "B",
        complete=run.cell("complete") != "no",
        scenario=scenario,
        problem="; ".join(problems),
        assumed=run.assumed,
    )
