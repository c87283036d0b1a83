"""One scenario on more and more accelerators: how efficiency holds up, and which part of a step grows."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from aiplan.declare import Diagnostics
from aiplan.engine.tree import TREE
from aiplan.planning.estimate import estimate
from aiplan.planning.scaling import STRONG, WEAK, efficiency
from aiplan.planning.search import none_fits, question_of, search
from aiplan.planning.variants import Loaded, load_written

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aiplan.catalog.load import Catalog
    from aiplan.planning.estimate import Estimate
    from aiplan.planning.variants import Setting, Source
    from aiplan.scenario.conditions import Condition
    from aiplan.scenario.load import Scenario

OPTION = "--gpus"
PARTS = TREE["step"].children
"""What the time of a step is made of."""
HOLDS = 0.8
"""Efficiency below which scaling is said to break, if nothing else is asked for."""


class Request(NamedTuple):
    """What is asked: numbers of accelerators, kinds of scaling, whether plans are chosen anew, under which conditions.

    `holds` is the efficiency below which scaling is said to break.
    """

    accelerators: tuple[int, ...]
    kinds: tuple[str, ...] = (WEAK, STRONG)
    replan: bool = False
    conditions: tuple[Condition, ...] = ()
    holds: float = HOLDS
    convention: str = "megatron"


class Size(NamedTuple):
    """A number of accelerators: the batch, and the estimate, or None and why there is none."""

    accelerators: int
    batch: Fraction
    estimate: Estimate | None
    fault: str = ""
    hint: str = ""

    @property
    def fits(self) -> bool:
        """Whether there is a plan and it fits into memory."""
        return self.estimate is not None and self.estimate.fits

    def share(self, part: str) -> float:
        """Return the share that a part has of a step."""
        return 0.0 if self.estimate is None else self.estimate.share(part, "step")


class Growth(NamedTuple):
    """A part of a step, and its shares of the step at the fewest accelerators and at more of them."""

    part: str
    before: float
    after: float

    @property
    def label(self) -> str:
        """What the part is called."""
        return TREE[self.part].label


class Curve(NamedTuple):
    """One kind of scaling: its sizes in rising order, and the efficiency below which it is said to break."""

    kind: str
    sizes: tuple[Size, ...]
    holds: float = HOLDS

    @property
    def estimated(self) -> list[Size]:
        """The sizes with an estimate."""
        return [size for size in self.sizes if size.estimate is not None]

    @property
    def reference(self) -> Size | None:
        """What efficiency is relative to: the fewest accelerators whose plan fits, or that have one if none fits."""
        found = self.estimated
        return next((size for size in found if size.fits), found[0] if found else None)

    def efficiency(self, size: Size) -> float:
        """Return throughput per accelerator over that of the reference; NaN where there is none."""
        first = self.reference
        if size.estimate is None or first is None or first.estimate is None:
            return float("nan")
        rate = "run.tokens_per_s_per_gpu"
        return efficiency(size.estimate[rate], first.estimate[rate])

    @property
    def breaks(self) -> Size | None:
        """The fewest accelerators, beyond the reference, at which efficiency has fallen too low."""
        first = self.reference
        return next(
            (
                size
                for size in self.estimated
                if first is not None and size.accelerators > first.accelerators and self.efficiency(size) < self.holds
            ),
            None,
        )

    @property
    def last_good(self) -> Size | None:
        """The most accelerators before it breaks."""
        broken = self.breaks
        before = [size for size in self.estimated if broken is None or size.accelerators < broken.accelerators]
        return before[-1] if before else None

    def grown(self, size: Size) -> Growth | None:
        """Return the part of a step whose share has grown most since the reference; None if nothing has been lost."""
        first = self.reference
        if first is None or not self.efficiency(size) < 1.0:
            return None
        part = max(PARTS, key=lambda name: size.share(name) - first.share(name))
        found = Growth(part, first.share(part), size.share(part))
        return found if found.after > found.before else None


class Answer(NamedTuple):
    """The question, the scenario as written, a curve for each kind of scaling, and whether plans were chosen anew."""

    request: Request
    scenario: Scenario
    settings: tuple[str, ...]
    curves: tuple[Curve, ...]
    replanned: bool = False

    @property
    def batch_per_accelerator(self) -> Fraction:
        """Sequences per step and accelerator, which weak scaling keeps."""
        return Fraction(self.scenario.file.workload.global_batch, self.scenario.accelerators)

    @property
    def fits(self) -> bool:
        """Whether any size fits into memory."""
        return any(size.fits for curve in self.curves for size in curve.sizes)

    @property
    def parts(self) -> list[str]:
        """The parts of a step that are not zero everywhere."""
        found = [size for curve in self.curves for size in curve.estimated]
        return [part for part in PARTS if any(size.share(part) for size in found)]

    def raise_if_unanswered(self) -> None:
        """Raise why, if there is no plan at any size."""
        if any(curve.estimated for curve in self.curves):
            return
        diagnostics = Diagnostics()
        for curve in self.curves:
            for size in curve.sizes:
                problem = f"{size.accelerators:,} accelerators, {curve.kind} scaling: {size.fault}"
                diagnostics.error("AIP312", problem, hint=size.hint or None)
        raise diagnostics.failure()


def scale(
    source: Source,
    catalog: Catalog,
    settings: tuple[Setting, ...],
    request: Request,
    told: Callable[[int], None] | None = None,
) -> Answer:
    """Estimate a scenario at several numbers of accelerators, with all plans that are kept as one batch.

    Parameters
    ----------
    source : Source
        Where the scenario comes from.
    catalog : Catalog
        Where ids are looked up.
    settings : tuple
        Changes made to it at every size.
    request : Request
        Sizes, kinds of scaling, and how plans are chosen.
    told : callable, optional
        Takes how many sizes are loaded, again and again.
    """
    base = load_written(source, catalog, settings, searched=True)
    if base.scenario is None:
        raise base.diagnostics.failure()
    written = load_written(source, catalog, settings).scenario
    request = request._replace(replan=request.replan or (written is not None and written.searched))
    found: list[tuple[str, Size, Scenario | None]] = []
    for kind in request.kinds:
        for accelerators in request.accelerators:
            found.append((kind, *_loaded(base.scenario, source, catalog, settings, kind, accelerators, request)))
            if told is not None:
                told(len(found))
    legal = [scenario for _, _, scenario in found if scenario is not None]
    answers = iter(estimate(legal, request.convention) if legal else ())
    sizes = [(kind, size._replace(estimate=next(answers)) if one is not None else size) for kind, size, one in found]
    curves = tuple(
        Curve(kind, tuple(size for own, size in sizes if own == kind), request.holds) for kind in request.kinds
    )
    texts = tuple(f"{path}={value}" for path, value, _ in settings)
    return Answer(request, base.scenario, texts, curves, request.replan)


def _loaded(
    base: Scenario,
    source: Source,
    catalog: Catalog,
    settings: tuple[Setting, ...],
    kind: str,
    accelerators: int,
    request: Request,
) -> tuple[Size, Scenario | None]:
    """Return a size without its estimate, and the scenario on so many accelerators; None if that is not possible."""
    grown = Fraction(accelerators, base.accelerators) if kind == WEAK else Fraction(1)
    size = Size(accelerators, base.file.workload.global_batch * grown, None)
    if size.batch.denominator > 1:
        fault = f"the batch would be {float(size.batch):,.2f} sequences, not a whole number"
        return size._replace(fault=fault, hint="choose sizes that keep it whole"), None
    derived = () if request.replan else (("plan.data", "null", OPTION),)
    changes = (*settings, *at_size(base, accelerators, int(size.batch)), *derived)
    loaded = load_written(source, catalog, changes, searched=request.replan)
    if loaded.scenario is not None and loaded.scenario.searched:
        loaded = _searched(loaded.scenario, request)
    if loaded.scenario is None:
        faults = [item for item in loaded.diagnostics.items if item.level == "error"]
        problems = "; ".join(item.problem for item in faults)
        return size._replace(fault=problems, hint=faults[0].hint or ""), None
    return size, loaded.scenario


def at_size(base: Scenario, accelerators: int, batch: int) -> Sequence[Setting]:
    """Return the settings that put a scenario on so many accelerators with such a batch."""
    nodes = -(-accelerators // base.node.accelerators)
    changes = [("cluster.nodes", str(nodes)), ("workload.global_batch", str(batch))]
    if base.file.cluster.accelerators is not None or accelerators % base.node.accelerators:
        changes.append(("cluster.accelerators", str(accelerators)))
    return [(path, value, OPTION) for path, value in changes]


def _searched(scenario: Scenario, request: Request) -> Loaded:
    """Return the scenario with the fastest plan that fits and meets the conditions."""
    diagnostics = Diagnostics()
    found = search([scenario], question_of(scenario, "time", request.conditions, 1, request.convention))
    if not found.finished:
        raise KeyboardInterrupt
    if found.best:
        return Loaded(found.best[0].estimate.scenario, diagnostics)
    problem, hint = none_fits(found)
    diagnostics.error("AIP311", problem, hint=hint)
    return Loaded(None, diagnostics)
