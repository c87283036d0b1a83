"""One estimate per scenario: the engine's arrays read as numbers, trees, a bottleneck and assumptions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from aiplan.engine.evaluate import evaluate
from aiplan.engine.inputs import SCALAR_NAMES, Inputs, inputs
from aiplan.engine.tree import TREE, walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aiplan.core.arrays import Array
    from aiplan.scenario.load import Scenario


class Row(NamedTuple):
    """A term of a tree: name, label, unit, depth, value, and its share of the root."""

    name: str
    label: str
    unit: str
    depth: int
    value: float
    share: float


class Cause(NamedTuple):
    """What limits a step: a group of terms, its share of the step, and what usually helps."""

    label: str
    share: float
    remedy: str


class Assumption(NamedTuple):
    """A number nobody gave: its dotted name, its value in SI, how it came about, and why."""

    name: str
    value: float | None
    kind: str
    why: str


CAUSES: dict[str, tuple[tuple[str, ...], str]] = {
    "matrix multiplication": (
        (
            "step.compute.projections",
            "step.compute.feed_forward",
            "step.compute.experts",
            "step.compute.ends",
        ),
        "a faster accelerator or a narrower data type",
    ),
    "attention": (("step.compute.attention",), "a fused (flash) attention kernel or context parallelism"),
    "kernels bound by memory bandwidth": (
        ("step.compute.elementwise", "step.compute.accumulation", "step.optimizer"),
        "fused kernels, sequence parallelism or a larger micro-batch",
    ),
    "recomputation": (("step.compute.recompute",), "selective recomputation, if memory allows it"),
    "tensor parallel communication": (("step.tensor",), "a smaller tensor parallel size, or overlap"),
    "context parallel communication": (("step.context",), "a smaller context parallel size"),
    "expert parallel communication": (("step.expert",), "a smaller expert parallel size, or a faster network"),
    "pipeline bubble": (("step.bubble",), "more micro-batches or interleaving"),
    "sends between pipeline stages": (("step.pipeline",), "less interleaving, or overlap"),
    "data parallel communication": (("step.data",), "overlap with the backward pass, or a larger global batch"),
}


@dataclass(frozen=True, slots=True)
class Estimate:
    """The answer for one scenario. All numbers in SI; NaN is unknown."""

    scenario: Scenario
    convention: str
    terms: dict[str, float]

    def __getitem__(self, name: str) -> float:
        """Return a term by its dotted name."""
        return self.terms[name]

    @property
    def fits(self) -> bool:
        """Whether the fullest stage fits into device memory."""
        return self.terms["memory"] <= self.terms["memory.capacity"]

    @property
    def fullest_stage(self) -> int:
        """Pipeline stage that holds most memory, from 0."""
        return int(self.terms["memory.stage"])

    @property
    def mfu(self) -> float:
        """Model FLOPs utilisation in the convention of this estimate."""
        return self.terms[f"utilisation.{self.convention}"]

    def rows(self, root: str) -> Iterator[Row]:
        """Yield the tree below a root, terms that are zero left out."""
        whole = self.terms[root]
        for name, branch, depth in walk(root):
            value = self.terms[name]
            if value != 0.0:
                yield Row(name, branch.label, branch.unit, depth, value, value / whole)

    def causes(self) -> list[Cause]:
        """Return what the step consists of by cause, the largest first."""
        found = [
            Cause(label, sum(self.terms[name] for name in names) / self.terms["step"], remedy)
            for label, (names, remedy) in CAUSES.items()
        ]
        return sorted(found, key=lambda cause: -cause.share)

    def assumptions(self) -> list[Assumption]:
        """Return the numbers that nobody gave and that the estimate rests on."""
        values = self.scenario.values
        return [
            Assumption(name, _known(values[name].number), values[name].origin.kind, values[name].origin.detail)
            for name in SCALAR_NAMES
            if values[name].origin.kind in {"default", "assumed"} and values[name].origin.where == ""
            if values[name].origin.detail
        ]


def _known(number: float) -> float | None:
    return number if math.isfinite(number) else None


def columns(scenarios: Sequence[Scenario]) -> Inputs:
    """Stack scenarios into the engine's inputs."""
    rows = [{name: value.number for name, value in scenario.values.items()} for scenario in scenarios]
    return inputs(rows, [scenario.stages for scenario in scenarios])


def estimate(scenarios: Sequence[Scenario], convention: str = "megatron") -> list[Estimate]:
    """Estimate scenarios as one batch.

    Parameters
    ----------
    scenarios : sequence of Scenario
        Resolved scenarios, in any mix.
    convention : str
        How operations are counted for TFLOP/s and utilisation: `megatron`, `full`, `6nd` or `hardware`.
    """
    terms = evaluate(columns(scenarios))
    return [Estimate(scenario, convention, _column(terms, index)) for index, scenario in enumerate(scenarios)]


def _column(terms: dict[str, Array], index: int) -> dict[str, float]:
    return {name: float(array[index if array.shape[0] > 1 else 0, 0]) for name, array in terms.items()}


def label(name: str) -> str:
    """Return what a term of the tree is called."""
    return TREE[name].label
