"""Scenario text to a resolved scenario: every number the engine needs, each with its origin."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from aiplan.declare import Diagnostics, Mapping, Mark, Origin, Origins, build, set_value
from aiplan.declare.nearest import did_you_mean
from aiplan.scenario import cautions, communication, environment, host, legality, money, pieces, resolve_run
from aiplan.scenario.conditions import expectations
from aiplan.scenario.files import (
    Place,
    exists,
    find_scenario,
    library_ids,
    locate,
    read_place,
)
from aiplan.scenario.lookup import ReadModel, check_names, check_words, look_up
from aiplan.scenario.records import AUTO_PLAN, SCHEMA_VERSION, Plan, ScenarioFile
from aiplan.scenario.resolve import Parts, resolve, resolve_layout
from aiplan.scenario.stages import stage_table

if TYPE_CHECKING:
    from collections.abc import Mapping as Mapping_
    from collections.abc import Sequence

    from aiplan.catalog.load import Catalog
    from aiplan.catalog.records import Accelerator
    from aiplan.catalog.records import Node as NodeEntry
    from aiplan.declare import Node
    from aiplan.scenario.cautions import Caution
    from aiplan.scenario.conditions import Expectation
    from aiplan.scenario.model import Model
    from aiplan.scenario.software import Software
    from aiplan.scenario.values import Value


NOWHERE = Mapping([], Mark("", 1, 1, 1))
"""The text of a scenario whose fields were changed after it was read."""


class Scenario(NamedTuple):
    """A scenario, resolved; `tree` is the text it was read from, for who wants to point into it.

    `searched` says that its plan is still to be searched: what stands in its place is no layout that anyone chose.
    """

    name: str
    source: str
    parts: Parts
    values: dict[str, Value]
    stages: dict[str, list[float]]
    data: int
    system: environment.System
    cautions: tuple[Caution, ...] = ()
    settings: tuple[str, ...] = ()
    run: dict[str, Value] = {}  # noqa: RUF012  nothing writes to it
    searched: bool = False
    expect: tuple[Expectation, ...] = ()
    tree: Node | None = None

    @property
    def file(self) -> ScenarioFile:
        """The file as it was read, settings put in."""
        return self.parts.file

    @property
    def model(self) -> Model:
        """Shape of the network."""
        return self.parts.model

    @property
    def node(self) -> NodeEntry:
        """Kind of the nodes."""
        return self.parts.node

    @property
    def accelerator(self) -> Accelerator:
        """Kind of the accelerators."""
        return self.parts.accelerator

    @property
    def software(self) -> Software:
        """Preset of the framework."""
        return self.parts.software

    @property
    def accelerators(self) -> int:
        """Accelerators of the job."""
        return int(self.values["cluster.accelerators"].number)


"""Reads the file of a model to a tree."""


def load(
    text: str,
    catalog: Catalog,
    diagnostics: Diagnostics,
    settings: Sequence[tuple[str, str, str]] = (),
    read_model: ReadModel = read_place,
    *,
    searched: bool = False,
) -> Scenario | None:
    """Load a scenario by path or by its name in the library.

    Parameters
    ----------
    text : str
        Path, or name of a scenario of the library.
    catalog : Catalog
        Where ids are looked up.
    diagnostics : Diagnostics
        Takes everything that is wrong.
    settings : sequence of tuple
        Changes from the command line: path, value text, option name.
    read_model : callable
        Reads the file of a model; files of aiplan's own form if not given.
    searched : bool
        Whether the sizes of the plan do not matter, for they are to be searched.

    Returns
    -------
    Scenario or None
        None if there are errors.
    """
    place = find_scenario(text)
    if not exists(place.path):
        diagnostics.error(
            "AIP113",
            f"no scenario '{text}'",
            hint=_known_scenarios(text),
        )
        return None
    return resolve_tree(
        read_place(place, diagnostics), place, catalog, diagnostics, settings, read_model, searched=searched
    )


def resolve_tree(
    tree: Node,
    place: Place,
    catalog: Catalog,
    diagnostics: Diagnostics,
    settings: Sequence[tuple[str, str, str]] = (),
    read_model: ReadModel = read_place,
    assumed: Mapping_[str, str] = MappingProxyType({}),
    *,
    searched: bool = False,
) -> Scenario | None:
    """Resolve a scenario that has been read; `assumed` gives the reason for values nobody gave, by path."""
    for path, value, option in settings:
        if isinstance(tree, Mapping):
            tree = set_value(tree, path, value, diagnostics, option)
    origins: Origins = {}
    file = build(ScenarioFile, tree, diagnostics, "", origins)
    origins |= {path: Origin("assumed", "", why) for path, why in assumed.items()}
    if file is None:
        check_names(tree, place, catalog, diagnostics)
        expectations(tree, diagnostics)
        return None
    if not _version_known(file.schema_version, tree, diagnostics):
        return None
    searched = searched or file.plan == AUTO_PLAN
    if searched:
        file = ScenarioFile(**(vars(file) | {"plan": Plan() if file.plan == AUTO_PLAN else unsized(file.plan)}))
    parts = look_up(file, tree, origins, place, catalog, diagnostics, read_model)
    expect = expectations(tree, diagnostics)
    complete = parts is not None and not diagnostics.has_errors
    check_words(tree, diagnostics)
    if parts is None or not complete:
        return None
    texts = tuple(f"{path}={value}" for path, value, _ in settings)
    found = _checked(parts, tree, place, diagnostics, texts, searched=searched)
    return found and found._replace(expect=expect, tree=tree)


def _checked(
    parts: Parts, tree: Node, place: Place, diagnostics: Diagnostics, settings: tuple[str, ...], *, searched: bool
) -> Scenario | None:
    file = parts.file
    values = resolve(parts, tree, diagnostics)
    accelerators = file.cluster.accelerators or file.cluster.nodes * parts.node.accelerators
    if not searched:
        legality.report(legality.check_plan(parts.model, file.workload, file.plan, accelerators), tree, diagnostics)
    if values is not None:
        zero = values["plan.zero"].number
        legality.report(communication.check(file.communication, zero), tree, diagnostics)
        if not searched:
            legality.report(host.check(file.plan.offload, zero), tree, diagnostics)
            legality.report(legality.check_shards(file.plan, values["plan.data"].number, zero), tree, diagnostics)
            legality.report(communication.check_copies(file.communication, file.plan.shards), tree, diagnostics)
        legality.report(pieces.check(file, parts.model, values, searched=searched), tree, diagnostics)
    legality.report(money.check(parts), tree, diagnostics)
    legality.report(resolve_run.check(parts), tree, diagnostics)
    split = legality.stage_layers(parts.model, file.plan)
    if values is None or split is None or diagnostics.has_errors:
        return None
    system = environment.system(parts)
    told = (
        *cautions.of_tokens(file.workload),
        *communication.cautions(file.communication, values["plan.zero"].number),
        *(() if searched else pieces.cautions(file, values)),
        *environment.lint(file.environment, system, tree),
        *resolve_run.cautions(file, accelerators),
    )
    cautions.report(told, tree, diagnostics)
    return Scenario(
        name=file.name or place.path.stem,
        source=place.name,
        parts=parts,
        values=values,
        stages=stages_of(parts.model, split),
        data=int(values["plan.data"].number),
        cautions=told,
        system=system,
        settings=settings,
        searched=searched,
        run=resolve_run.run_values(parts, values),
    )


def unsized(plan: Plan) -> Plan:
    """Return what of a plan a search keeps: kernels, precision and how tokens are sent, but no sizes."""
    kept = (
        "attention",
        "gradient_precision",
        "cuda_graphs",
        "dispatch",
        "count_embedding_as_layer",
        "overlap",
        "offload",
    )
    return Plan(**{name: getattr(plan, name) for name in kept})


def with_plan(scenario: Scenario, plan: Plan, how: str) -> Scenario:
    """Return a scenario with a legal plan in place of its own.

    Parameters
    ----------
    scenario : Scenario
        The scenario, resolved.
    plan : Plan
        The plan; that it is legal is not checked.
    how : str
        How the plan came about, which is what its values say of their origin.
    """
    origins = {path: origin for path, origin in scenario.parts.origins.items() if not path.startswith("plan.")}
    fields = {f"plan.{name}": Origin("derived", "", how) for name, value in vars(plan).items() if value is not None}
    file = ScenarioFile(**(vars(scenario.file) | {"plan": plan}))
    parts = scenario.parts._replace(file=file, origins=origins | fields)
    values = scenario.values | resolve_layout(parts)
    split = legality.stage_layers(parts.model, plan) or ()
    return scenario._replace(
        parts=parts,
        values=values,
        stages=stages_of(parts.model, split),
        data=int(values["plan.data"].number),
        system=environment.system(parts),
        searched=False,
        run=resolve_run.run_values(parts, values),
    )


def with_file(scenario: Scenario, file: ScenarioFile, diagnostics: Diagnostics) -> Scenario | None:
    """Return a scenario with other numbers in its file, resolved again; None, and what is wrong noted, if it cannot be.

    What the file names in the library or the catalog must be as it was.
    """
    parts, place = scenario.parts._replace(file=file), Place(scenario.source, Path(scenario.source))
    found = _checked(parts, NOWHERE, place, diagnostics, scenario.settings, searched=False)
    return None if found is None else found._replace(name=scenario.name)


def stages_of(model: Model, split: tuple[int, ...]) -> dict[str, list[float]]:
    """Return the pipeline stages that differ, from the layers of each stage."""
    with_experts = model.experts is not None
    moe_layers = (model.experts.layers or model.layers) if model.experts else 0
    layers = (*split[:-1], split[-1] + model.mtp_layers)
    moe_total = moe_layers + (model.mtp_layers if with_experts else 0)
    dense = sum(layers) - moe_total
    dense_first = not (model.experts is not None and model.experts.interleaved)
    return stage_table(len(split), dense, moe_total, layers, dense_first=dense_first)


def _known_scenarios(text: str) -> str:
    known = library_ids("")
    ways = f"give the path of a scenario file, or one of the {len(known)} scenarios that 'aiplan catalog library' lists"
    return did_you_mean(text, known) or ways


def _version_known(version: int, tree: Node, diagnostics: Diagnostics) -> bool:
    if version != SCHEMA_VERSION:
        diagnostics.error(
            "AIP116",
            f"schema_version {version} is not known",
            locate(tree, "schema_version"),
            hint=f"this version reads schema_version {SCHEMA_VERSION}",
        )
    return version == SCHEMA_VERSION
