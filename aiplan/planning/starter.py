"""A scenario to begin with: a model on some nodes, what is usual for the rest, and the fastest plan that fits."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aiplan.declare import Diagnostics
from aiplan.planning.usual import usual_batch
from aiplan.planning.variants import Source, load_source, load_written

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiplan.catalog.load import Catalog
    from aiplan.planning.variants import Setting
    from aiplan.scenario.files import Place
    from aiplan.scenario.load import Scenario

TEXT = b"""schema_version: 1
model: llama-3-8b
workload: {tokens: 100B, sequence_length: 8192, global_batch: 1, precision: bf16, optimizer: adam}
cluster: {node: dgx-h100, nodes: 4}
plan: auto
software: megatron-core
expect: [fits]
"""


class Wanted(NamedTuple):
    """What was asked for, as texts that are put into the scenario; None stands for what is usual."""

    model: str | None = None
    node: str | None = None
    nodes: int | None = None
    tokens: str | None = None
    sequence: int | None = None
    batch: int | None = None


PATHS = {
    "model": "model",
    "node": "cluster.node",
    "nodes": "cluster.nodes",
    "tokens": "workload.tokens",
    "sequence": "workload.sequence_length",
    "batch": "workload.global_batch",
}
"""Where what is asked for stands in a scenario; the names are those of the options."""


def starter(wanted: Wanted, place: Place, catalog: Catalog) -> Scenario:
    """Return a scenario to begin with, its plan searched.

    Parameters
    ----------
    wanted : Wanted
        What was asked for.
    place : Place
        Where it will lie: a model that is a file is looked for from there.
    catalog : Catalog
        Where ids are looked up.

    Raises
    ------
    InputError
        There is no such model or node, or no plan fits.
    """
    asked = {name: text for name, text in wanted._asdict().items() if text is not None}
    settings: list[Setting] = [(PATHS[name], str(text), f"--{name}") for name, text in asked.items()]
    if wanted.batch is None:
        settings.append((PATHS["batch"], str(_batch(place, catalog, settings)), "--batch"))
    return _loaded(place, catalog, settings)


def _batch(place: Place, catalog: Catalog, settings: Sequence[Setting]) -> int:
    """Return a usual batch; one as large as the accelerators divides, so that the rest can be read first."""
    loaded = load_written(Source("", TEXT, place), catalog, settings, searched=True)
    if loaded.scenario is None:
        raise _own(loaded.diagnostics).failure()
    work = loaded.scenario.file.workload
    return usual_batch(work.sequence_length, loaded.scenario.accelerators)


def _loaded(place: Place, catalog: Catalog, settings: Sequence[Setting]) -> Scenario:
    loaded = load_source(Source("", TEXT, place), catalog, settings)
    if loaded.scenario is None:
        raise _own(loaded.diagnostics).failure()
    return loaded.scenario


def _own(found: Diagnostics) -> Diagnostics:
    """Return findings without places in a text that nobody has written yet."""
    items = [item if item.mark is None or item.mark.is_option else item._replace(mark=None) for item in found.items]
    return Diagnostics(items, found.sources)
