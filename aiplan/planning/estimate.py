"""One estimate per scenario: the engine's arrays read as numbers, trees, a bottleneck and assumptions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from aiplan.engine.evaluate import evaluate
from aiplan.engine.footprint import first_stage_terms
from aiplan.engine.inputs import SCALAR_NAMES, Inputs, inputs
from aiplan.engine.tree import walk
from aiplan.planning import evidence
from aiplan.planning.objectives import STEPS_ALONE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aiplan.core.arrays import Array
    from aiplan.engine.run_inputs import RunInputs
    from aiplan.planning.intervals import Interval
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

    @property
    def matters(self) -> bool:
        """Whether a reader should see it: a judgement with a reason, not the usual absence of something."""
        return len(self.why.split()) > 2 and not self.name.startswith("model.")


class Unknown(NamedTuple):
    """An input that nobody knows, and the results that are unknown for lack of it."""

    code: str
    name: str
    problem: str
    hint: str
    results: tuple[str, ...]


class Against(NamedTuple):
    """A published measurement: what was measured, the unit, both numbers, and the relative error of the prediction."""

    name: str
    unit: str
    measured: float
    predicted: float
    error: float


UNSEEN = {
    "device": (),
    "reserved": ("memory.reserved",),
    "allocated": ("memory.reserved", "memory.fragmentation", "memory.cached"),
}
"""Terms of the memory that a measurement does not count, by what it does count."""

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
    "the host's pace of starting kernels": (
        ("step.host", "step.overhead"),
        "CUDA graphs, a compiler or a larger micro-batch",
    ),
    "recomputation": (("step.compute.recompute",), "selective recomputation, if memory allows it"),
    "tensor parallel communication": (("step.tensor",), "a smaller tensor parallel size, or overlap"),
    "context parallel communication": (("step.context",), "a smaller context parallel size"),
    "expert parallel communication": (("step.expert",), "a smaller expert parallel size, or a faster network"),
    "pipeline bubble": (("step.bubble",), "more micro-batches or interleaving"),
    "sends between pipeline stages": (("step.pipeline",), "less interleaving, or overlap"),
    "waiting for the slowest node": (("step.stragglers",), "taking slow nodes out"),
    "waiting for data": (("step.loading",), "faster storage, a cache, or more batches under way (storage.prefetch)"),
    "states on the host": (("step.offload",), "a larger global batch, a faster host, or states on the accelerators"),
    "data parallel communication": (("step.data",), "overlap with the backward pass, or a larger global batch"),
}


RESTS_ON = {
    "step": (
        "cluster.matmul_fraction",
        "cluster.attention_fraction",
        "cluster.memory_fraction",
        "cluster.multiprocessors",
        "cluster.link_bandwidth",
        "cluster.link_fraction",
        "cluster.link_latency",
        "cluster.network_ports",
        "cluster.network_fraction",
        "cluster.network_latency",
    ),
    "run.cost": ("cluster.price",),
    "run.energy": ("cluster.device_power", "cluster.pue"),
    "run.carbon": ("cluster.device_power", "cluster.pue", "cluster.carbon_intensity"),
}
"""Inputs that a result takes directly, and that may be a judgement."""

UNKNOWNS = (
    Unknown(
        "AIP106",
        "workload.tokens",
        "workload.tokens is not given, so the length of the run is unknown",
        "give workload.tokens, e.g. 300e9",
        ("run.steps", "run.time_to_train", "run.cost", "run.energy", "run.carbon"),
    ),
    Unknown(
        "AIP203",
        "cluster.price",
        "the catalog has no price for this accelerator",
        "give cluster.price, e.g. 2.50 USD/h",
        ("run.cost",),
    ),
    Unknown(
        "AIP203",
        "cluster.power",
        "the catalog has no power figure for this accelerator",
        "give cluster.power, e.g. 700 W",
        ("run.energy", "run.carbon"),
    ),
    Unknown(
        "AIP203",
        "cluster.carbon_intensity",
        "the catalog has no carbon intensity for this region",
        "choose another cluster.region",
        ("run.carbon",),
    ),
    Unknown(
        "AIP203",
        "cluster.link_bandwidth",
        "the catalog has no link between the accelerators of this node",
        "choose a node of the catalog with cluster.node",
        ("step", "run.tokens_per_s_per_gpu", "run.time_to_train", "run.cost", "run.energy", "run.carbon"),
    ),
)


@dataclass(frozen=True, slots=True)
class Estimate:
    """The answer for one scenario. All numbers in SI; NaN is unknown."""

    scenario: Scenario
    convention: str
    terms: dict[str, float]
    first_stage: dict[str, float] | None = None

    def __getitem__(self, name: str) -> float:
        """Return a term by its dotted name."""
        return self.terms[name]

    @property
    def fits(self) -> bool:
        """Whether what the fullest stage cannot do without fits into device memory, and the rest into the host's."""
        return self.needed_memory <= self.terms["memory.capacity"] and not self.host_is_short

    @property
    def host_is_short(self) -> bool:
        """Whether states on the host need more memory than a node has; it does not say so where that is unknown."""
        return self.terms["host.memory"] > self.given("cluster.host_memory")

    def memory_as(self, kind: str) -> float:
        """Return the memory that a tool would report which sees all of the device or the allocator's part of it."""
        return self.terms["memory"] - sum(self.terms[name] for name in UNSEEN[kind])

    @property
    def needed_memory(self) -> float:
        """Memory of the fullest stage without what an allocator gives back when it must."""
        return self.terms["memory.needed"]

    def measured_memory(self) -> float:
        """Return the memory that the published run's figure counts, at the stage where it was measured."""
        measured = self.scenario.file.measured
        kind = "device" if measured is None else measured.memory_kind
        if self.first_stage is None:
            return self.memory_as(kind)
        return sum(value for name, value in self.first_stage.items() if name not in UNSEEN[kind])

    def measured_memory_interval(self, without: frozenset[str] = frozenset()) -> Interval | None:
        """Return the 90 % interval of the memory that the published run's figure counts.

        Parameters
        ----------
        without : frozenset of str
            Sources whose runs are no evidence.
        """
        measured = self.scenario.file.measured
        kind = "device" if measured is None else measured.memory_kind
        return _around(self.measured_memory(), evidence.memory_interval(self.scenario, kind, without))

    @property
    def fullest_stage(self) -> int:
        """Pipeline stage that holds most memory, from 0."""
        return int(self.terms["memory.stage"])

    @property
    def mfu(self) -> float:
        """Model FLOPs utilisation in the convention of this estimate."""
        return self.terms[f"utilisation.{self.convention}"]

    @property
    def hfu(self) -> float:
        """Hardware FLOPs utilisation: with the attention square and what the plan computes again."""
        return self.terms["utilisation.hardware"]

    @property
    def accelerator_time(self) -> float:
        """Time of the training times accelerators."""
        return self.whole_time * self.scenario.accelerators

    @property
    def whole_time(self) -> float:
        """Wall clock of the training, or the time of all steps where nothing is said of the run as a whole."""
        return self.of_run("wallclock")

    def of_run(self, name: str) -> float:
        """Return a term of the run as a whole, or of steps alone where nothing is said of it; NaN if unknown."""
        return self.terms[name] if self.scenario.run else self.terms.get(STEPS_ALONE.get(name, ""), math.nan)

    @property
    def tokens_per_s(self) -> float:
        """Tokens per second of the whole job."""
        return self.terms["run.tokens_per_s_per_gpu"] * self.scenario.accelerators

    def interval(self, name: str, without: frozenset[str] = frozenset()) -> Interval | None:
        """Return the 90 % interval of the step or of what grows with it, from published runs that are alike.

        Parameters
        ----------
        name : str
            `step`, `run.time_to_train`, `run.cost` or `memory`.
        without : frozenset of str
            Sources whose runs are no evidence.

        Returns
        -------
        Interval or None
            None if the value is unknown or there is no evidence.
        """
        if name == "memory":
            found = evidence.memory_interval(self.scenario, "device", without)
        else:
            found = evidence.step_interval(self.scenario, without)
        return _around(self.terms[name], found)

    def wallclock_interval(self, without: frozenset[str] = frozenset()) -> Interval | None:
        """Return the 90 % interval of the wall clock: the error of the step, and the chance of interruptions.

        Parameters
        ----------
        without : frozenset of str
            Sources whose runs are no evidence.
        """
        whole, found = self.terms["wallclock"], self.interval("step", without)
        if found is None or not math.isfinite(whole):
            return None
        step = self.terms["step"]
        low = math.hypot(whole * (1.0 - found.low / step), whole - self.terms["run.wallclock_low"])
        high = math.hypot(whole * (found.high / step - 1.0), self.terms["run.wallclock_high"] - whole)
        return found._replace(low=whole - low, high=whole + high)

    def whole_interval(self, without: frozenset[str] = frozenset()) -> Interval | None:
        """Return the 90 % interval of the wall clock, or of the time of the steps where nothing is said of the run."""
        return self.wallclock_interval(without) if self.scenario.run else self.interval("run.time_to_train", without)

    def given(self, name: str) -> float:
        """Return an input by its dotted name."""
        return (self.scenario.values | self.scenario.run)[name].number

    def against(self) -> list[Against]:
        """Compare with what a published run measured, where both speak of the same thing."""
        measured = self.scenario.file.measured
        if measured is None:
            return []
        pairs = (
            ("time_to_train", "s", measured.time_to_train, self.whole_time),
            ("accelerator_time", "s", measured.accelerator_time, self.accelerator_time),
            ("step_time", "s", measured.step_time, self.terms["step"]),
            ("tokens_per_s_per_gpu", "1", measured.tokens_per_s_per_gpu, self.terms["run.tokens_per_s_per_gpu"]),
            ("memory", "B", measured.memory, self.measured_memory()),
        )
        return [
            Against(name, unit, there, here, here / there - 1.0)
            for name, unit, there, here in pairs
            if there is not None and math.isfinite(here)
        ]

    def unknowns(self) -> list[Unknown]:
        """Return the inputs nobody knows for lack of which a result is unknown."""
        return [
            unknown
            for unknown in UNKNOWNS
            if math.isnan(self.given(unknown.name)) and math.isnan(self.terms[unknown.results[0]])
        ]

    def share(self, name: str, root: str) -> float:
        """Return the share that a term has of a root of the tree."""
        return self.terms[name] / self.terms[root]

    def rests_on(self, result: str) -> bool:
        """Whether a result rests directly on a number that nobody gave."""
        assumed = {item.name for item in self.assumptions() if item.matters}
        return any(name in assumed for name in RESTS_ON.get(result, ()))

    def rows(self, root: str) -> Iterator[Row]:
        """Yield the tree below a root, terms that are zero left out."""
        for name, branch, depth in walk(root):
            value = self.terms[name]
            if value != 0.0:
                yield Row(name, branch.label, branch.unit, depth, value, self.share(name, root))

    def causes(self) -> list[Cause]:
        """Return what the step consists of by cause, the largest first."""
        found = [
            Cause(label, sum(self.terms[name] for name in names) / self.terms["step"], remedy)
            for label, (names, remedy) in CAUSES.items()
        ]
        return sorted(found, key=lambda cause: -cause.share)

    def assumptions(self) -> list[Assumption]:
        """Return the numbers that nobody gave and that the estimate rests on."""
        values = self.scenario.values | self.scenario.run
        return [
            Assumption(name, _known(values[name].number), values[name].origin.kind, values[name].origin.detail)
            for name in (*SCALAR_NAMES, *self.scenario.run)
            if values[name].origin.kind in {"default", "assumed"} and values[name].origin.where == ""
            if values[name].origin.detail
        ]


def _around(value: float, factors: Interval | None) -> Interval | None:
    """Return the interval around a value; None if either is unknown."""
    if factors is None or not math.isfinite(value):
        return None
    return factors._replace(low=value * factors.low, high=value * factors.high)


def _known(number: float) -> float | None:
    return number if math.isfinite(number) else None


def columns(scenarios: Sequence[Scenario]) -> Inputs:
    """Stack scenarios into the engine's inputs."""
    rows = [{name: value.number for name, value in scenario.values.items()} for scenario in scenarios]
    return inputs(rows, [scenario.stages for scenario in scenarios])


def run_columns(scenarios: Sequence[Scenario], values: Inputs) -> RunInputs | None:
    """Stack what scenarios say of the run as a whole; None if they do not."""
    if not scenarios[0].run:
        return None
    from aiplan.engine.run_inputs import run_inputs  # noqa: PLC0415  most estimates do without

    rows = [{name: value.number for name, value in scenario.run.items()} for scenario in scenarios]
    return run_inputs(rows, values.workload.tokens.shape)


def estimate(scenarios: Sequence[Scenario], convention: str = "megatron") -> list[Estimate]:
    """Estimate scenarios as one batch.

    Parameters
    ----------
    scenarios : sequence of Scenario
        Resolved scenarios, in any mix.
    convention : str
        How operations are counted for TFLOP/s and utilisation: `megatron`, `full`, `6nd` or `hardware`.
    """
    answers: dict[int, Estimate] = {}
    for whole in (False, True):
        part = [index for index, scenario in enumerate(scenarios) if bool(scenario.run) is whole]
        if part:
            answers |= zip(part, _estimate([scenarios[index] for index in part], convention), strict=True)
    return [answers[index] for index in range(len(scenarios))]


def _estimate(scenarios: Sequence[Scenario], convention: str) -> list[Estimate]:
    """Estimate scenarios that all speak of the run as a whole, or none of which does."""
    values = columns(scenarios)
    terms = evaluate(values, run_columns(scenarios, values))
    watched = [_measured_at_first(scenario) for scenario in scenarios]
    first = first_stage_terms(values) if any(watched) else {}
    return [
        Estimate(scenario, convention, _column(terms, index), _column(first, index) if watched[index] else None)
        for index, scenario in enumerate(scenarios)
    ]


def _measured_at_first(scenario: Scenario) -> bool:
    measured = scenario.file.measured
    return measured is not None and measured.memory_stage == "first"


def _column(terms: dict[str, Array], index: int) -> dict[str, float]:
    return {name: float(array[0, index if array.shape[1] > 1 else 0]) for name, array in terms.items()}
