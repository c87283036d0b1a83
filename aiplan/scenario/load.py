"""Scenario text to a resolved scenario: every number the engine needs, each with its origin."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from aiplan.catalog.records import Node as NodeEntry
from aiplan.catalog.records import ScaleUp
from aiplan.declare import Diagnostics, Mapping, Mark, Origin, Origins, build, set_value
from aiplan.scenario import cautions, communication, environment, legality, money, pieces, resolve_run, resolve_storage
from aiplan.scenario.conditions import expectations
from aiplan.scenario.files import (
    LIBRARY,
    Place,
    find_in_library,
    find_scenario,
    library_ids,
    locate,
    read_place,
    scalar_at,
)
from aiplan.scenario.model import Model
from aiplan.scenario.records import AUTO_PLAN, SCHEMA_VERSION, Plan, ScenarioFile
from aiplan.scenario.resolve import Parts, resolve, resolve_layout
from aiplan.scenario.software import Software
from aiplan.scenario.stages import stage_table

if TYPE_CHECKING:
    from collections.abc import Mapping as Mapping_
    from collections.abc import Sequence

    from aiplan.catalog.load import Catalog
    from aiplan.catalog.records import Accelerator, Link, Network, Switch
    from aiplan.declare import Node
    from aiplan.scenario.cautions import Caution
    from aiplan.scenario.conditions import Expectation
    from aiplan.scenario.values import Value


NAMES = {
    "model": "models",
    "software": "software",
    "cluster.node": "nodes",
    "cluster.accelerator": "accelerators",
    "cluster.network.fabric": "networks",
    "cluster.network.switch": "switches",
    "cluster.region": "regions",
}
"""Fields that name something else, and where that is looked up."""
MODEL_FILES = (".yaml", ".yml", ".json", ".toml", ".sh", ".args")
"""Endings of what is a path of a model's file rather than a name of the library."""

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


ReadModel = Callable[[Place, Diagnostics], "Node"]
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
    if not place.path.exists():
        diagnostics.error(
            "AIP113",
            f"no scenario '{text}'",
            hint=_known_scenarios(text) or "give the path of a scenario file",
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
        _check_names(tree, place, catalog, diagnostics)
        expectations(tree, diagnostics)
        return None
    if not _version_known(file.schema_version, tree, diagnostics):
        return None
    searched = searched or file.plan == AUTO_PLAN
    if searched:
        file = ScenarioFile(**(vars(file) | {"plan": Plan() if file.plan == AUTO_PLAN else unsized(file.plan)}))
    parts = _parts(file, tree, origins, place, catalog, diagnostics, read_model)
    expect = expectations(tree, diagnostics)
    complete = parts is not None and not diagnostics.has_errors
    _check_words(tree, diagnostics)
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
        legality.report(pieces.check(file, parts.model, values, searched=searched), tree, diagnostics)
    legality.report(money.check(parts), tree, diagnostics)
    legality.report(resolve_run.check(parts), tree, diagnostics)
    split = legality.stage_layers(parts.model, file.plan)
    if values is None or split is None or diagnostics.has_errors:
        return None
    system = environment.system(parts)
    told = (
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
    kept = ("attention", "gradient_precision", "cuda_graphs", "dispatch", "count_embedding_as_layer", "overlap")
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


def _known_scenarios(text: str) -> str | None:
    import difflib  # noqa: PLC0415  only when a look-up fails

    close = difflib.get_close_matches(text, library_ids(""), n=3)
    return f"did you mean {' or '.join(repr(name) for name in close)}?" if close else None


def _check_names(tree: Node, place: Place, catalog: Catalog, diagnostics: Diagnostics) -> None:
    """Note every name that is unknown in a file that has other errors, so that all can be mended in one go."""
    _check_words(tree, diagnostics)
    for path, kind in NAMES.items():
        name = scalar_at(tree, path)
        if name is None:
            continue
        if kind == "models":
            _find_named_model(name, tree, place, diagnostics)
        elif kind == "software":
            _find_software(name, tree, diagnostics)
        else:
            catalog.find(kind, name, diagnostics, locate(tree, path))


def _check_words(tree: Node, diagnostics: Diagnostics) -> None:
    """Note what cannot be meant, whatever the rest of the file says."""
    for path in (communication.PATH, communication.LATE):
        legality.report(communication.unknown(scalar_at(tree, path) or "none", path), tree, diagnostics)
    legality.report(environment.check(environment.names(tree)), tree, diagnostics)


def _version_known(version: int, tree: Node, diagnostics: Diagnostics) -> bool:
    if version != SCHEMA_VERSION:
        diagnostics.error(
            "AIP116",
            f"schema_version {version} is not known",
            locate(tree, "schema_version"),
            hint=f"this version reads schema_version {SCHEMA_VERSION}",
        )
    return version == SCHEMA_VERSION


def _parts(
    file: ScenarioFile,
    tree: Node,
    origins: Origins,
    place: Place,
    catalog: Catalog,
    diagnostics: Diagnostics,
    read_model: ReadModel,
) -> Parts | None:
    """Look up what the scenario names: model, software, node, accelerator, link, network, region."""
    model = _model(file, tree, origins, place, diagnostics, read_model)
    software = _software(file, tree, diagnostics)
    node = _node(file, tree, catalog, diagnostics)
    region_id = file.cluster.region or "world"
    region = catalog.region(region_id, diagnostics, locate(tree, "cluster.region"))
    network = _network(file, tree, node[0] if node else None, catalog, diagnostics)
    switch = _switch(file, tree, catalog, diagnostics)
    accelerator = catalog.accelerator(node[0].accelerator, diagnostics, locate(tree, "cluster.node")) if node else None
    link = _link(accelerator[0] if accelerator else None, tree, catalog, diagnostics)
    if model is None or software is None or node is None or accelerator is None or region is None:
        return None
    return Parts(
        file=file,
        origins=origins,
        model=model[0],
        model_origins=model[1],
        software=software[0],
        software_origins=software[1],
        node=node[0],
        node_origins=node[1],
        accelerator=accelerator[0],
        accelerator_origins=accelerator[1],
        link=link,
        network=network,
        switch=switch,
        region=region[0],
        region_origins=region[1],
        storage=resolve_storage.find(file, tree, catalog, diagnostics),
        host_link=_host_link(file, accelerator[0], tree, catalog, diagnostics),
    )


def _node(
    file: ScenarioFile, tree: Node, catalog: Catalog, diagnostics: Diagnostics
) -> tuple[NodeEntry, Origins] | None:
    """Return the node of the catalog, or a plain one round an accelerator."""
    cluster = file.cluster
    if cluster.node is not None and cluster.accelerator is None:
        return catalog.node(cluster.node, diagnostics, locate(tree, "cluster.node"))
    if cluster.node is not None or cluster.accelerator is None:
        both = cluster.node is not None
        diagnostics.error(
            "AIP106" if not both else "AIP107",
            "cluster has both node and accelerator" if both else "cluster has neither node nor accelerator",
            locate(tree, "cluster"),
            hint="give node: an id of 'aiplan catalog list nodes'; or accelerator: for a node of your own",
        )
        return None
    found = catalog.accelerator(cluster.accelerator, diagnostics, locate(tree, "cluster.accelerator"))
    if found is None:
        return None
    entry = found[0]
    wiring = "switched" if entry.scale_up and entry.scale_up != entry.host_link else "pcie"
    plain = NodeEntry(
        name=f"{cluster.accelerators_per_node} x {entry.name}",
        accelerator=cluster.accelerator,
        accelerators=cluster.accelerators_per_node,
        scale_up=ScaleUp(topology=wiring),
        verified=False,
    )
    return plain, {}


def _network(
    file: ScenarioFile, tree: Node, node: NodeEntry | None, catalog: Catalog, diagnostics: Diagnostics
) -> tuple[Network, Origins] | None:
    fabric = file.cluster.network.fabric
    if fabric is not None:
        return catalog.network(fabric, diagnostics, locate(tree, "cluster.network.fabric"))
    if node is None or not node.nics:
        if node is not None and file.cluster.nodes > 1:
            diagnostics.error(
                "AIP203",
                f"the node has no network ports in the catalog, and there are {file.cluster.nodes} nodes",
                locate(tree, "cluster.node"),
                hint="give cluster.network.fabric and cluster.network.ports",
            )
        return None
    return catalog.network(node.nics[0].network, diagnostics, locate(tree, "cluster.node"))


def _switch(
    file: ScenarioFile, tree: Node, catalog: Catalog, diagnostics: Diagnostics
) -> tuple[Switch, Origins] | None:
    ident = file.cluster.network.switch
    return catalog.switch(ident, diagnostics, locate(tree, "cluster.network.switch")) if ident else None


def _link(
    accelerator: Accelerator | None, tree: Node, catalog: Catalog, diagnostics: Diagnostics
) -> tuple[Link, Origins] | None:
    use = accelerator and (accelerator.scale_up or accelerator.host_link)
    return catalog.link(use.link, diagnostics, locate(tree, "cluster.node")) if use else None


def _host_link(
    file: ScenarioFile, accelerator: Accelerator, tree: Node, catalog: Catalog, diagnostics: Diagnostics
) -> tuple[Link, Origins] | None:
    """Return the link to the host, over which checkpoints leave; looked up only where they matter."""
    use = accelerator.host_link
    if use is None or not resolve_run.given_blocks(file):
        return None
    return catalog.link(use.link, diagnostics, locate(tree, "cluster.node"))


def _model(
    file: ScenarioFile, tree: Node, origins: Origins, place: Place, diagnostics: Diagnostics, read_model: ReadModel
) -> tuple[Model, Origins] | None:
    if isinstance(file.model, Model):
        legality.report(legality.check_model(file.model), tree, diagnostics, "model.")
        return file.model, {path.removeprefix("model."): origin for path, origin in origins.items()}
    found = _find_named_model(file.model, tree, place, diagnostics)
    return None if found is None else load_model(found, diagnostics, read_model)


def _find_named_model(name: str, tree: Node, place: Place, diagnostics: Diagnostics) -> Place | None:
    found = find_model(name, place)
    if found is None:
        diagnostics.error("AIP113", f"no model '{name}'", locate(tree, "model"), hint=_known_models(name))
    return found


def find_model(text: str, beside: Place) -> Place | None:
    """Return the file of a model: a path beside the scenario that names it, or a name of the library."""
    if "/" in text or text.endswith(MODEL_FILES):
        path = beside.path.parent / text
        inside = path / "config.json"
        return (
            Place(text, path)
            if path.is_file()
            else Place(f"{text}/{inside.name}", inside)
            if inside.is_file()
            else None
        )
    return find_in_library("models", text)


def load_model(
    place: Place, diagnostics: Diagnostics, read_model: ReadModel = read_place
) -> tuple[Model, Origins] | None:
    """Read a model file."""
    tree = read_model(place, diagnostics)
    origins: Origins = {}
    model = build(Model, tree, diagnostics, "", origins)
    if model is None:
        return None
    legality.report(legality.check_model(model), tree, diagnostics)
    return model, origins


def _known_models(text: str) -> str:
    import difflib  # noqa: PLC0415  only when a look-up fails

    known = library_ids("models")
    close = difflib.get_close_matches(text.lower(), known, n=3, cutoff=0.5)
    listed = f"{LIBRARY}/models/ has {len(known)} models; a path or an inline shape works too"
    return f"did you mean {' or '.join(repr(name) for name in close)}?" if close else listed


def _software(file: ScenarioFile, tree: Node, diagnostics: Diagnostics) -> tuple[Software, Origins] | None:
    place = _find_software(file.software, tree, diagnostics)
    if place is None:
        return None
    return _preset(place)


@cache
def _preset(place: Place) -> tuple[Software, Origins]:
    """Read a preset of the library, once for all scenarios that name it."""
    found, origins = Diagnostics(), Origins()
    preset = build(Software, read_place(place, found), found, "", origins)
    if preset is None:
        raise found.failure()
    return preset, origins


def _find_software(name: str, tree: Node, diagnostics: Diagnostics) -> Place | None:
    place = find_in_library("software", name)
    if place is None:
        diagnostics.error(
            "AIP108",
            f"no software preset '{name}'",
            locate(tree, "software"),
            hint=f"known presets: {', '.join(library_ids('software'))}",
        )
    return place
