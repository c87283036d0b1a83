"""A scenario from a few words: model, accelerator and how many; the rest is assumed, and said."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from aiplan.declare import Diagnostics
from aiplan.planning.usual import usual_batch
from aiplan.scenario.files import Place

if TYPE_CHECKING:
    from aiplan.catalog.load import Catalog

PLACE = Place("<command line>", Path("scenario"))
"""What such a scenario is called in messages."""
SEQUENCE = 4096
PER_NODE = 8
FABRIC = "ib-ndr"
REFERENCE = ("dgx", "gb", "atlas", "hgx", "gcp-tpu")
"""How ids of nodes begin that are taken before those of cloud providers: the maker's own design."""


class Words(NamedTuple):
    """What was said on the command line."""

    model: str
    gpu: str
    gpus: int
    tokens: str | None = None
    sequence: int | None = None
    batch: int | None = None
    precision: str = "bf16"


class Text(NamedTuple):
    """A scenario as text, and what was assumed to write it."""

    yaml: str
    assumed: tuple[str, ...]


def scenario_text(words: Words, catalog: Catalog) -> Text:
    """Return the scenario that a few words mean.

    Raises
    ------
    InputError
        The catalog has no such accelerator or node.
    """
    cluster, assumed = _cluster(words, catalog)
    sequence = words.sequence or SEQUENCE
    batch = words.batch or usual_batch(sequence, words.gpus)
    if words.sequence is None:
        assumed.append(f"sequence length {sequence:,}")
    if words.batch is None:
        assumed.append(f"global batch {batch:,}: {batch * sequence / 1e6:.1f} M tokens, a multiple of the GPUs")
    tokens = "" if words.tokens is None else f"tokens: {words.tokens}, "
    lines = (
        "schema_version: 1",
        f"name: {words.model} on {words.gpus:,} x {words.gpu}",
        f"model: {words.model}",
        f"workload: {{{tokens}sequence_length: {sequence}, global_batch: {batch}, precision: {words.precision}}}",
        f"cluster: {{{cluster}}}",
        "plan: auto",
        "software: megatron-core",
    )
    assumed += [f"{words.precision}, adam, software megatron-core", "plan: the fastest that fits"]
    return Text("".join(f"{line}\n" for line in lines), tuple(assumed))


def with_plan_line(text: Text, plan: str) -> str:
    """Return the text of a scenario with the plan that was found, what was assumed above it."""
    head = "".join(f"# assumed: {line}\n" for line in text.assumed)
    return head + text.yaml.replace("plan: auto", plan)


def _cluster(words: Words, catalog: Catalog) -> tuple[str, list[str]]:
    """Return the cluster as it stands in a file, and what of it was assumed."""
    if words.gpu in catalog.ids("nodes"):
        return _of_nodes(words, words.gpu, catalog), []
    found = Diagnostics()
    accelerator = catalog.accelerator(words.gpu, found)
    if accelerator is None:
        raise found.failure()
    nodes = sorted(_nodes_with(words.gpu, catalog), key=_preference)
    if nodes:
        others = f"; others: {', '.join(nodes[1:4])}" if nodes[1:] else ""
        return _of_nodes(words, nodes[0], catalog), [f"node {nodes[0]}{others}"]
    count = math.ceil(words.gpus / PER_NODE)
    text = f"accelerator: {words.gpu}, nodes: {count}, network: {{fabric: {FABRIC}}}"
    assumed = [f"{PER_NODE} accelerators in a node, one port of {FABRIC} each node: the catalog has no node with this"]
    return text + _part(words.gpus, count * PER_NODE), assumed


def _of_nodes(words: Words, node: str, catalog: Catalog) -> str:
    found = catalog.node(node, Diagnostics())
    each = found[0].accelerators if found else PER_NODE
    count = math.ceil(words.gpus / each)
    return f"node: {node}, nodes: {count}" + _part(words.gpus, count * each)


def _part(gpus: int, whole: int) -> str:
    return "" if gpus == whole else f", accelerators: {gpus}"


def _preference(node: str) -> tuple[int, str]:
    rank = next((place for place, begin in enumerate(REFERENCE) if node.startswith(begin)), len(REFERENCE))
    return rank, node


def _nodes_with(accelerator: str, catalog: Catalog) -> list[str]:
    """Return the nodes that hold an accelerator; files are searched as text, for reading all takes too long."""
    pattern = re.compile(rf"^accelerator:\s*{re.escape(accelerator)}\s*(?:#.*)?$", re.MULTILINE)
    found = {
        path.stem
        for _, folder in catalog.folders()
        for path in (folder / "nodes").glob("*.yaml")
        if _says(path, pattern)
    }
    return sorted(found & set(catalog.ids("nodes")))


def _says(path: Path, pattern: re.Pattern[str]) -> bool:
    return pattern.search(path.read_text(encoding="utf-8", errors="replace")) is not None
