"""Where each class of kernels stands between the roofs of an accelerator, from the calls that timed them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aiplan.core.compute import attainable, intensity
from aiplan.core.formula import recording
from aiplan.engine.evaluate import evaluate
from aiplan.planning.estimate import columns
from aiplan.planning.kernels import FORMS, MATMUL, MEMORY, kernels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from aiplan.planning.kernels import Kernel
    from aiplan.scenario.load import Scenario


class Class(NamedTuple):
    """The kernels of a part of the step, taken together; times and amounts are those of a step."""

    name: str
    label: str
    kernels: tuple[Kernel, ...]

    @property
    def time(self) -> float:
        """Time in a step, in s."""
        return self._sum(lambda one: one.time)

    @property
    def flops(self) -> float:
        """Operations in a step, in FLOP."""
        return self._sum(lambda one: one.flops)

    @property
    def nbytes(self) -> float:
        """Bytes read and written in a step, in B."""
        return self._sum(lambda one: one.nbytes)

    @property
    def intensity(self) -> float | None:
        """Operations for each byte; None where none are counted."""
        return float(intensity(self.flops, self.nbytes)) if self.flops else None

    @property
    def rate(self) -> float | None:
        """Operations a second that are reached; None where none are counted, in FLOP/s."""
        return self.flops / self.time if self.flops else None

    @property
    def bandwidth(self) -> float:
        """Bytes a second that are reached, in B/s."""
        return self.nbytes / self.time

    @property
    def peak(self) -> float | None:
        """Dense peak of the data type of its arithmetic, the highest if there are several, in FLOP/s."""
        return max((one.peak for one in self.kernels if one.peak is not None), default=None)

    @property
    def memory_bound(self) -> float:
        """Share of the time in kernels that memory limits."""
        return self._sum(lambda one: one.time if one.moves else 0.0) / self.time

    @property
    def launching(self) -> float:
        """Share of the time in which kernels are started."""
        return self._sum(lambda one: one.launch) / self.time

    def _sum(self, of: Callable[[Kernel], float]) -> float:
        return sum(one.times * of(one) for one in self.kernels)


class Roofs(NamedTuple):
    """What an accelerator can do at most: as printed, and as long kernels sustain it."""

    matmul_peak: float
    matmul_sustained: float
    attention_peak: float
    bandwidth: float
    bandwidth_sustained: float

    @property
    def ridge(self) -> float:
        """Arithmetic intensity from which the printed peak can be reached, in FLOP/B."""
        return float(intensity(self.matmul_peak, self.bandwidth))

    def attainable(self, at: float) -> float:
        """Rate that matmuls can reach at an arithmetic intensity, as kernels sustain it, in FLOP/s."""
        return float(attainable(self.matmul_sustained, self.bandwidth_sustained, at))


class Roofline(NamedTuple):
    """The classes of kernels of a step, the most time first, and the roofs above them."""

    scenario: Scenario
    step: float
    roofs: Roofs
    classes: tuple[Class, ...]

    def share(self, one: Class) -> float:
        """Return the share of the step that a class takes."""
        return one.time / self.step

    def reached(self, one: Class) -> float | None:
        """Return the share of the sustained roof at its intensity that a class reaches; None if it has none."""
        if one.intensity is None or one.rate is None:
            return None
        return one.rate / self.roofs.attainable(one.intensity)


class _Part(NamedTuple):
    name: str
    label: str
    term: str
    forms: tuple[str, ...] = FORMS


PARTS = (
    _Part("projections", "Attention projections", "step.compute.projections"),
    _Part("attention", "Attention core", "step.compute.attention"),
    _Part("feed_forward", "Feed-forward", "step.compute.feed_forward"),
    _Part("experts", "Experts", "step.compute.experts"),
    _Part("elementwise", "Norms, residuals, activations", "step.compute.elementwise"),
    _Part("logits", "Logits", "step.compute.ends", (MATMUL,)),
    _Part("ends", "Embedding and loss", "step.compute.ends", (MEMORY,)),
    _Part("accumulation", "Gradient accumulation", "step.compute.accumulation"),
    _Part("recompute", "Recomputation", "step.compute.recompute"),
    _Part("optimizer", "Optimizer", "step.optimizer"),
)
"""Classes of kernels: the term of the step that they are part of, and those of its closed forms that belong to it."""


def roofline(scenario: Scenario) -> Roofline:
    """Place the kernels of a scenario's step between the roofs.

    Parameters
    ----------
    scenario : Scenario
        The scenario, its plan known.
    """
    values = columns([scenario])
    with recording() as calls:
        terms = evaluate(values)
    found = [Class(part.name, part.label, tuple(kernels(terms[part.term], calls, part.forms))) for part in PARTS]
    classes = sorted((one for one in found if one.kernels and one.time > 0), key=lambda one: -one.time)
    cluster = scenario.values
    matmul_peak = cluster["cluster.matmul_peak"].number
    roofs = Roofs(
        matmul_peak=matmul_peak,
        matmul_sustained=_best(classes, lambda one: one.sustained if one.form == MATMUL else None, matmul_peak),
        attention_peak=cluster["cluster.attention_peak"].number,
        bandwidth=cluster["cluster.memory_bandwidth"].number,
        bandwidth_sustained=_best(classes, lambda one: one.bandwidth, cluster["cluster.memory_bandwidth"].number),
    )
    return Roofline(scenario, float(terms["step"].flat[0]), roofs, tuple(classes))


def _best(classes: Iterable[Class], of: Callable[[Kernel], float | None], otherwise: float) -> float:
    """Return the highest of a roof over all kernels: small ones have lower ones of their own."""
    every = (of(one) for found in classes for one in found.kernels)
    return max((roof for roof in every if roof is not None), default=otherwise)
