"""Several files as one scenario: what each says together, contradictions with both places, and what follows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.adapters.imports.batches import (
    ACCUMULATION,
    BATCH,
    COPIES,
    DATA,
    IN_NODE,
    MICRO,
    PER_NODE,
    SHARDS,
    STEPS,
)
from aiplan.adapters.imports.ledger import Fact

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aiplan.adapters.imports.ledger import Ledger
    from aiplan.declare import Diagnostics

Facts = dict[str, Fact]
LABELS = ("model.name", "model.family", "software")
"""Fields about which files may differ: the first that says something is heard."""
DEFAULT_PER_NODE = 8
TOKENS, SEQUENCE = "workload.tokens", "workload.sequence_length"
ACCELERATORS, NODES = "cluster.accelerators", "cluster.nodes"


def merged(ledgers: Iterable[Ledger], diagnostics: Diagnostics) -> Facts:
    """Return what several files give together; what a file states counts more than what another leaves to a default."""
    facts: Facts = {}
    for ledger in ledgers:
        for path, fact in ledger.facts.items():
            before = facts.get(path)
            if before is None or (fact.taken and not before.taken):
                facts[path] = fact
            elif before.taken and fact.taken and before.value != fact.value and path not in LABELS:
                _contradiction(path, before, fact, diagnostics)
    _no_two_models(facts, diagnostics)
    follow(facts, diagnostics)
    return facts


def _contradiction(path: str, before: Fact, fact: Fact, diagnostics: Diagnostics) -> None:
    diagnostics.error(
        "AIP342",
        f"{path.lstrip('_')} is {_shown(fact)} here and {_shown(before)} in {before.mark.file}",
        fact.mark,
        expected=f"{before.key or 'it'} is set at {before.mark.file}:{before.mark.line}:{before.mark.column}",
        hint="change one of the two",
    )


def _shown(fact: Fact) -> str:
    return str(fact.value).lower() if isinstance(fact.value, bool) else str(fact.value)


def _no_two_models(facts: Facts, diagnostics: Diagnostics) -> None:
    """Refuse a shape beside the name of a model of the library; a shape is more exact, but they may differ."""
    named = facts.get("model")
    shape = next((fact for path, fact in facts.items() if path == "model.layers"), None)
    if named is not None and shape is not None:
        del facts["model"]
        diagnostics.warning(
            "AIP344",
            f"the shape of {shape.mark.file} is taken, and the name '{named.value}' is not",
            named.mark,
            hint="both files should mean the same model",
        )


def follow(facts: Facts, diagnostics: Diagnostics) -> None:
    """Add what follows from the facts: nodes, the batch, tokens; note where they contradict each other."""
    _nodes(facts)
    data = _data(facts, diagnostics)
    if data is not None:
        _shards(facts, data, diagnostics)
    micro, times, whole = facts.get(MICRO), facts.get(ACCUMULATION), facts.get(BATCH)
    if data is not None and micro is not None and times is not None:
        product = _number(micro) * _number(times) * data
        if whole is None:
            why = f"micro-batch {micro.value} x accumulation {times.value} x data {data}"
            facts[BATCH] = times._replace(path=BATCH, value=product, why=why)
        elif product != _number(whole):
            diagnostics.error(
                "AIP306",
                f"micro-batch {micro.value} x accumulation {times.value} x data {data} = {product}, "
                f"and the batch is {whole.value}",
                whole.mark,
                expected=f"{times.key} is set at {times.mark.file}:{times.mark.line}",
            )
    steps, batch, sequence = facts.get(STEPS), facts.get(BATCH), facts.get(SEQUENCE)
    if steps is not None and batch is not None and sequence is not None and TOKENS not in facts:
        tokens = _number(steps) * _number(batch) * _number(sequence)
        facts[TOKENS] = steps._replace(path=TOKENS, value=tokens, why="steps x batch x sequence")


def _nodes(facts: Facts) -> None:
    """Spread accelerators over nodes where no file says how many there are."""
    world, each = facts.get(ACCELERATORS), facts.pop(PER_NODE, None)
    if each is not None:
        facts.setdefault("cluster.accelerators_per_node", each._replace(path="cluster.accelerators_per_node"))
    if world is None or NODES in facts:
        return
    size = (
        _number(facts["cluster.accelerators_per_node"])
        if "cluster.accelerators_per_node" in facts
        else DEFAULT_PER_NODE
    )
    count = -(-_number(world) // size)
    facts[NODES] = world._replace(path=NODES, value=count, why=f"{size} accelerators a node", taken=each is not None)


def _shards(facts: Facts, data: int, diagnostics: Diagnostics) -> None:
    """Add how many ranks share a copy of the states, from the copies or from the size of a node."""
    ranks = data * (_number(facts["plan.context"]) if "plan.context" in facts else 1)
    copies, inside = facts.get(COPIES), facts.get(IN_NODE)
    if SHARDS in facts:
        return
    if copies is not None and ranks % _number(copies):
        diagnostics.error(
            "AIP313", f"{ranks} ranks do not divide into {copies.value} copies of the states", copies.mark
        )
    elif copies is not None:
        why = f"{ranks} ranks / {copies.value} copies of the states"
        facts[SHARDS] = copies._replace(path=SHARDS, value=ranks // _number(copies), why=why)
    size = _node_size(facts)
    if copies is None and inside is not None and size is not None:
        each = min(ranks, size // (_number(facts["plan.tensor"]) if "plan.tensor" in facts else 1)) or 1
        facts[SHARDS] = inside._replace(path=SHARDS, value=each, why=f"those of a node of {size}")


def _node_size(facts: Facts) -> int | None:
    """Return the accelerators of a node, as files give them."""
    each, world, nodes = facts.get("cluster.accelerators_per_node"), facts.get(ACCELERATORS), facts.get(NODES)
    if each is not None:
        return _number(each)
    if world is None or nodes is None or not nodes.taken:
        return None
    return _number(world) // _number(nodes)


def _data(facts: Facts, diagnostics: Diagnostics) -> int | None:
    """Return data parallel ranks: stated, or what the accelerators leave; note where they differ."""
    stated, world = facts.get(DATA), facts.get(ACCELERATORS)
    shards = 1
    for name in ("tensor", "pipeline", "context"):
        fact = facts.get(f"plan.{name}")
        shards *= _number(fact) if fact is not None else 1
    if world is None:
        return _number(stated) if stated is not None else None
    if stated is not None and _number(stated) * shards != _number(world):
        diagnostics.error(
            "AIP301",
            f"data {stated.value} x tensor, pipeline and context {shards} = {_number(stated) * shards}, "
            f"and there are {world.value} accelerators",
            stated.mark,
            expected=f"{world.key} is set at {world.mark.file}:{world.mark.line}",
        )
        return None
    return _number(world) // shards if _number(world) % shards == 0 else None


def _number(fact: Fact) -> int:
    return fact.value if isinstance(fact.value, int) else 0
