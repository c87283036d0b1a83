"""The shape of the answer: which terms a term is made of, and what they are called."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aiplan.core import compose

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from aiplan.core.arrays import Array


class Branch(NamedTuple):
    """A term: label, unit, and the terms that add up to it."""

    label: str
    unit: str
    children: tuple[str, ...] = ()


TREE: dict[str, Branch] = {
    "step": Branch(
        "Step",
        "s",
        (
            "step.compute",
            "step.host",
            "step.tensor",
            "step.context",
            "step.expert",
            "step.pipeline",
            "step.bubble",
            "step.data",
            "step.optimizer",
            "step.offload",
            "step.overhead",
            "step.stragglers",
            "step.loading",
        ),
    ),
    "step.compute": Branch(
        "Computation",
        "s",
        (
            "step.compute.projections",
            "step.compute.attention",
            "step.compute.feed_forward",
            "step.compute.experts",
            "step.compute.elementwise",
            "step.compute.ends",
            "step.compute.accumulation",
            "step.compute.recompute",
        ),
    ),
    "step.compute.projections": Branch("Attention projections", "s"),
    "step.compute.attention": Branch("Attention core", "s"),
    "step.compute.feed_forward": Branch("Feed-forward", "s"),
    "step.compute.experts": Branch("Experts", "s"),
    "step.compute.elementwise": Branch("Norms, residuals, activations", "s"),
    "step.compute.ends": Branch("Embedding, output head, loss", "s"),
    "step.compute.accumulation": Branch("Gradient accumulation", "s"),
    "step.compute.recompute": Branch("Recomputation", "s"),
    "step.host": Branch("Waiting for the host to start kernels", "s"),
    "step.tensor": Branch("Tensor parallel communication", "s"),
    "step.context": Branch("Context parallel communication", "s"),
    "step.expert": Branch("Expert parallel communication", "s"),
    "step.pipeline": Branch("Pipeline sends", "s"),
    "step.bubble": Branch("Pipeline bubble", "s"),
    "step.data": Branch(
        "Data parallel communication",
        "s",
        ("step.data.gradients", "step.data.parameters", "step.data.embedding", "step.data.compression"),
    ),
    "step.data.gradients": Branch("Beside the backward pass: gradients", "s"),
    "step.data.parameters": Branch("Beside the forward pass: parameters", "s"),
    "step.data.embedding": Branch("Tied embedding gradients", "s"),
    "step.data.compression": Branch("Encoding and decoding of compressed gradients", "s"),
    "step.overhead": Branch("Data loading, logging, synchronisation", "s"),
    "step.optimizer": Branch("Optimizer", "s"),
    "step.offload": Branch("Update on the host, copies to and from it", "s"),
    "step.stragglers": Branch("Waiting for the slowest node", "s"),
    "step.loading": Branch("Waiting for data", "s"),
    "memory": Branch(
        "Memory",
        "B",
        (
            "memory.weights",
            "memory.gradients",
            "memory.optimizer",
            "memory.activations",
            "memory.logits",
            "memory.inputs",
            "memory.gathered",
            "memory.compression",
            "memory.fragmentation",
            "memory.cached",
            "memory.reserved",
        ),
    ),
    "memory.weights": Branch("Weights", "B"),
    "memory.gradients": Branch("Gradients", "B"),
    "memory.optimizer": Branch("Optimizer states", "B"),
    "memory.activations": Branch("Activations", "B"),
    "memory.logits": Branch("Logits and loss", "B"),
    "memory.inputs": Branch("Inputs gathered over tensor parallel ranks", "B"),
    "memory.gathered": Branch("Gathered weights", "B"),
    "memory.compression": Branch("Error feedback and compressed gradients", "B"),
    "memory.fragmentation": Branch("Fragmentation", "B"),
    "memory.cached": Branch("Cached by the allocator while there is room", "B"),
    "memory.reserved": Branch("Context and communication buffers", "B"),
}
ROOTS = ("step", "memory")


def _energy(root: str, label: str) -> dict[str, Branch]:
    parts = {
        "computing": "Accelerators that compute",
        "waiting": "Accelerators that wait",
        "idle": "Accelerators without a process",
        "nodes": "Processors, memory, fans, adapters",
        "network": "Switches and optical modules",
        "cooling": "Cooling and power conversion",
    }
    names = {f"{root}.energy.{name}": Branch(text, "J") for name, text in parts.items()}
    return {f"{root}.energy": Branch(label, "J", tuple(names))} | names


RUN_TREE: dict[str, Branch] = {
    "wallclock": Branch(
        "Wall clock",
        "s",
        (
            "wallclock.steps",
            "wallclock.loading",
            "wallclock.evaluation",
            "wallclock.saves",
            "wallclock.lost",
            "wallclock.restarts",
            "wallclock.nodes",
            "wallclock.maintenance",
            "wallclock.startup",
        ),
    ),
    "wallclock.steps": Branch("Steps", "s"),
    "wallclock.loading": Branch("Waiting for data", "s"),
    "wallclock.evaluation": Branch("Evaluation", "s"),
    "wallclock.saves": Branch("Stalls of checkpoints", "s"),
    "wallclock.lost": Branch("Work done again", "s"),
    "wallclock.restarts": Branch(
        "Restarts",
        "s",
        (
            "wallclock.restarts.detect",
            "wallclock.restarts.replace",
            "wallclock.restarts.start",
            "wallclock.restarts.initialise",
            "wallclock.restarts.load",
            "wallclock.restarts.warm_up",
        ),
    ),
    "wallclock.restarts.detect": Branch("Detection", "s"),
    "wallclock.restarts.replace": Branch("Taking a spare node in", "s"),
    "wallclock.restarts.start": Branch("Scheduler, container, processes", "s"),
    "wallclock.restarts.initialise": Branch("Communicators", "s"),
    "wallclock.restarts.load": Branch("Loading the checkpoint", "s"),
    "wallclock.restarts.warm_up": Branch("Compilation and first step", "s"),
    "wallclock.nodes": Branch("Without a spare node", "s"),
    "wallclock.maintenance": Branch("Planned stops", "s"),
    "wallclock.startup": Branch("First start", "s"),
    "total.cost": Branch(
        "Cost of the whole run", "USD", ("total.cost.accelerators", "total.cost.spares", "total.cost.storage")
    ),
    "total.cost.accelerators": Branch("Accelerators", "USD"),
    "total.cost.spares": Branch("Spare nodes", "USD"),
    "total.cost.storage": Branch("Storage", "USD"),
} | _energy("total", "Energy of the whole run")
"""Terms of a run as a whole: there only where a scenario speaks of storage, checkpoints or failures."""
RUN_ROOTS = ("wallclock", "total.cost", "total.energy")
ENERGY = {name: branch for root in ("run", "total") for name, branch in _energy(root, "Energy of all steps").items()}
"""Energy of steps alone, and of a run as a whole, by who draws it."""
BRANCHES = TREE | ENERGY | RUN_TREE


def add_up(leaves: Mapping[str, Array], tree: Mapping[str, Branch] = TREE) -> dict[str, Array]:
    """Add the parents of a tree to its leaves: each the sum of its children, from left to right."""
    terms = dict(leaves)
    for name in reversed(list(tree)):
        children = tree[name].children
        if children:
            terms[name] = compose.summed(*(terms[child] for child in children))
    return terms


def walk(root: str, depth: int = 0) -> Iterator[tuple[str, Branch, int]]:
    """Yield a term and all below it, parents first, with their depth."""
    branch = BRANCHES[root]
    yield root, branch, depth
    for child in branch.children:
        yield from walk(child, depth + 1)
