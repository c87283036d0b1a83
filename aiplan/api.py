"""The library: load a scenario, estimate it, search its plans. These names and what they mean are kept stable."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiplan.catalog.load import Catalog
from aiplan.declare import Diagnostics
from aiplan.planning.estimate import Estimate
from aiplan.planning.estimate import estimate as estimate_all
from aiplan.planning.search import ask, question_of, run
from aiplan.planning.variants import Source, load_source, load_written, variants
from aiplan.planning.workers import engine
from aiplan.report.search.document import HEADER, rows
from aiplan.scenario.conditions import read_conditions
from aiplan.scenario.load import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pandas import DataFrame

    from aiplan.planning.variants import Setting

OPTION = "settings"
"""What messages call a change that was asked for."""


def load(
    source: str | Path | Mapping[str, Any], settings: Mapping[str, Any] | None = None, catalog: Sequence[Path] = ()
) -> Scenario:
    """Load a scenario, every number resolved.

    Parameters
    ----------
    source : str, Path or mapping
        Name of a scenario of the library, path of a file, or what a file would say as nested mappings.
    settings : mapping, optional
        Fields to change, by dotted name: `{"cluster.nodes": 256}`.
    catalog : sequence of Path
        Catalog folders of your own, on top of ours.

    Raises
    ------
    InputError
        With all that is wrong.
    """
    loaded = load_source(_source(source), Catalog(list(catalog)), _settings(settings))
    if loaded.scenario is None:
        raise loaded.diagnostics.failure()
    return loaded.scenario


def estimate(
    source: Scenario | str | Path | Mapping[str, Any],
    settings: Mapping[str, Any] | None = None,
    convention: str = "megatron",
    catalog: Sequence[Path] = (),
) -> Estimate:
    """Estimate a scenario.

    Parameters
    ----------
    source : Scenario, str, Path or mapping
        A scenario that `load` has returned, or what `load` takes.
    settings : mapping, optional
        Fields to change, by dotted name; not of a scenario that is loaded already.
    convention : str
        How operations are counted: `megatron`, `full`, `6nd` or `hardware`.
    catalog : sequence of Path
        Catalog folders of your own, on top of ours.

    Returns
    -------
    Estimate
        Terms by name in SI units (`found["step"]`, `found["memory"]`, `found["run.cost"]`), `fits`, `mfu`, and
        `interval("step")`, the 90 % interval from published runs.

    Raises
    ------
    InputError
        With all that is wrong.
    """
    scenario = source if isinstance(source, Scenario) else load(source, settings, catalog)
    return estimate_all([scenario], convention)[0]


def search(
    source: str | Path | Mapping[str, Any],
    settings: Mapping[str, Any] | None = None,
    *,
    objective: str = "time",
    where: Sequence[str] = (),
    vary: Sequence[str] = (),
    top: int = 10,
    workers: int = 1,
    dask: str | None = None,
    convention: str = "megatron",
    catalog: Sequence[Path] = (),
) -> DataFrame:
    """Search the plans of a scenario, as `aiplan search` does.

    Parameters
    ----------
    source : str, Path or mapping
        What `load` takes. The sizes of its plan do not matter.
    settings : mapping, optional
        Fields to change, by dotted name.
    objective : str
        `time`, `cost`, `energy`, `tokens_per_s_per_gpu` or `memory`.
    where : sequence of str
        Conditions such as `memory <= 90 %`.
    vary : sequence of str
        Fields to search too, such as `cluster.nodes=64..256:x2`.
    top : int
        Layouts to return.
    workers : int
        Processes of this machine that share the work.
    dask : str, optional
        Scheduler of a Dask cluster that shares the work.
    convention : str
        How operations are counted.
    catalog : sequence of Path
        Catalog folders of your own, on top of ours.

    Returns
    -------
    DataFrame
        One row a layout, the best first; columns as in the JSON of `aiplan search`, SI units. `attrs` says how many
        plans were evaluated, how many layouts fit, and how many are too near the best to tell apart.

    Raises
    ------
    InputError
        With all that is wrong.
    ImportError
        pandas is not installed.
    """
    from pandas import DataFrame  # noqa: PLC0415 - an optional extra, and slow to load

    found = Diagnostics()
    conditions = read_conditions(where, found, "where")
    found.raise_if_errors()
    varied, layers = variants(vary), Catalog(list(catalog))
    scenarios = [_unsized(_source(source), layers, (*_settings(settings), *one.settings)) for one in varied]
    question = question_of(scenarios[0], objective, conditions, top, convention)
    answer = run(ask(scenarios, question, None, [one.label for one in varied]), engine(workers, dask))
    frame = DataFrame(list(rows(answer)), columns=list(HEADER))
    frame.attrs = {"plans": answer.plans, "layouts_possible": answer.possible, "layouts_near": answer.near}
    return frame


def _unsized(source: Source, catalog: Catalog, settings: Sequence[Setting]) -> Scenario:
    loaded = load_written(source, catalog, settings, searched=True)
    if loaded.scenario is None:
        raise loaded.diagnostics.failure()
    return loaded.scenario


def _source(source: str | Path | Mapping[str, Any]) -> Source:
    return Source(str(source)) if isinstance(source, str | Path) else Source("", json.dumps(source).encode())


def _settings(settings: Mapping[str, Any] | None) -> tuple[Setting, ...]:
    """Return changes as the command line would write them; a mapping or a list is YAML's flow form, which is JSON."""
    return tuple(
        (path, value if isinstance(value, str) else json.dumps(value), OPTION)
        for path, value in (settings or {}).items()
    )
