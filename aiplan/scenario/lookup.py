"""What a scenario names, looked up: model, software, node, accelerator, link, network, switch, region."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from aiplan.catalog.records import Node as NodeEntry
from aiplan.catalog.records import ScaleUp
from aiplan.declare import Diagnostics, Origins, build, is_file
from aiplan.declare.nearest import did_you_mean
from aiplan.scenario import communication, environment, legality, resolve_run, resolve_storage
from aiplan.scenario.files import (
    LIBRARY,
    Place,
    find_in_library,
    library_ids,
    locate,
    read_place,
    scalar_at,
)
from aiplan.scenario.model import Model
from aiplan.scenario.records import Plan
from aiplan.scenario.resolve import Parts
from aiplan.scenario.software import Software

if TYPE_CHECKING:
    from aiplan.catalog.load import Catalog
    from aiplan.catalog.records import Accelerator, Link, Network, Switch
    from aiplan.declare import Node
    from aiplan.scenario.records import ScenarioFile


ReadModel = Callable[[Place, Diagnostics], "Node"]

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


def check_names(tree: Node, place: Place, catalog: Catalog, diagnostics: Diagnostics) -> None:
    """Note every name that is unknown in a file that has other errors, so that all can be mended in one go."""
    check_words(tree, diagnostics)
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


def check_words(tree: Node, diagnostics: Diagnostics) -> None:
    """Note what cannot be meant, whatever the rest of the file says."""
    for path in (communication.PATH, communication.LATE):
        legality.report(communication.unknown(scalar_at(tree, path) or "none", path), tree, diagnostics)
    legality.report(environment.check(environment.names(tree)), tree, diagnostics)


def look_up(
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
    """Return the link to the host, over which checkpoints and states leave; looked up only where they matter."""
    use = accelerator.host_link
    offloads = isinstance(file.plan, Plan) and file.plan.offload != "none"
    if use is None or not (offloads or resolve_run.given_blocks(file)):
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
            Place(text, path) if is_file(path) else Place(f"{text}/{inside.name}", inside) if is_file(inside) else None
        )
    return find_in_library("models", text)


def load_model(
    place: Place, diagnostics: Diagnostics, read_model: ReadModel = read_place
) -> tuple[Model, Origins] | None:
    """Read a model file; one of the library once for all scenarios that name it."""
    if not place.name.startswith(f"{LIBRARY}/"):
        return _read_model(place, diagnostics, read_model)
    model, origins, sources = _library_model(place)
    diagnostics.sources.update(sources)
    return model, origins


@cache
def _library_model(place: Place) -> tuple[Model, Origins, dict[str, str]]:
    found = Diagnostics()
    read = _read_model(place, found, read_place)
    if read is None:
        raise found.failure()
    return (*read, found.sources)


def _read_model(place: Place, diagnostics: Diagnostics, read_model: ReadModel) -> tuple[Model, Origins] | None:
    tree = read_model(place, diagnostics)
    origins: Origins = {}
    model = build(Model, tree, diagnostics, "", origins)
    if model is None:
        return None
    legality.report(legality.check_model(model), tree, diagnostics)
    return model, origins


def _known_models(text: str) -> str:
    known = library_ids("models")
    listed = f"'aiplan catalog library models' lists {len(known)}; a path or an inline shape works too"
    return did_you_mean(text, known) or listed


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
        known = library_ids("software")
        diagnostics.error(
            "AIP108",
            f"no software preset '{name}'",
            locate(tree, "software"),
            hint=f"{did_you_mean(name, known)} Known presets: {', '.join(known)}".strip(),
        )
    return place
