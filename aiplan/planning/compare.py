"""Several scenarios side by side: what differs going in, and what differs coming out."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from aiplan.declare import Diagnostics, parse_variation
from aiplan.planning.estimate import Estimate, estimate
from aiplan.planning.names import unit as unit_of
from aiplan.planning.variants import Loaded, load_source, variants
from aiplan.units import quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiplan.catalog.load import Catalog
    from aiplan.declare import Diagnostic
    from aiplan.planning.variants import Setting, Source
    from aiplan.scenario.records import ScenarioFile

COMPARED = (
    "run.time_to_train",
    "step",
    "run.tokens_per_s_per_gpu",
    "utilisation",
    "memory",
    "run.cost",
)
OF_THE_RUN = ("wallclock", "run.goodput", "total.cost")
"""Results that are compared besides where a scenario speaks of storage, checkpoints or failures."""
NUMBERS = (
    "workload.tokens",
    "workload.sequence",
    "workload.global_batch",
    "cluster.oversubscription",
    "cluster.price",
    "cluster.power",
    "cluster.pue",
    "plan.tensor",
    "plan.pipeline",
    "plan.interleave",
    "plan.context",
    "plan.expert",
    "plan.expert_tensor",
    "plan.data",
    "plan.micro_batch",
    "plan.zero",
    "plan.hidden_gradients",
    "plan.hidden_parameters",
    "plan.hidden_tensor",
    "plan.hidden_pipeline",
)
"""Inputs that are shown where they differ, beside those that are names."""

_LARGE = ((1e12, "T"), (1e9, "B"), (1e6, "M"))
FOLLOW = (
    "reliability.limited",
    *(
        f"checkpoint.{name}"
        for name in (
            "asynchronous",
            "near",
            "in_memory",
            "copies",
            "given",
            "by_young",
            "by_daly",
            "stores_apart",
            "gathers",
            "by_layout",
            "all_ranks",
            "one_rank",
            "all_read",
            "broadcasts",
        )
    ),
)
"""Inputs that follow from others that are shown."""


@dataclass(frozen=True, slots=True)
class Compared:
    """One of the things compared: its estimate, or None and what is wrong with it."""

    label: str
    source: str
    settings: tuple[str, ...]
    loaded: Loaded
    estimate: Estimate | None

    @property
    def fault(self) -> Diagnostic:
        """The first error; there is one where there is no estimate."""
        return next(item for item in self.loaded.diagnostics.items if item.level == "error")


class Varied(NamedTuple):
    """The one field that was varied, and its numbers in rising order, each with its place among the variants."""

    path: str
    unit: str
    places: tuple[tuple[float, int], ...]


class Difference(NamedTuple):
    """An input that is not the same everywhere, as text; empty where a scenario has none."""

    name: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything compared, in the order asked for; the first is what the others are measured against."""

    items: tuple[Compared, ...]
    varied: Varied | None = None

    @property
    def answered(self) -> bool:
        """Whether any of them could be estimated."""
        return any(item.estimate is not None for item in self.items)

    def raise_if_unanswered(self) -> None:
        """Raise everything that is wrong if none of them could be estimated."""
        if self.answered:
            return
        together = Diagnostics()
        for item in self.items:
            for found in item.loaded.diagnostics.items:
                if found not in together.items:
                    together.items.append(found)
            together.sources |= item.loaded.diagnostics.sources
        raise together.failure()

    def warnings(self) -> Diagnostics:
        """Return what the scenarios were warned of, the same about the same field once only."""
        together, seen = Diagnostics(), set()
        for item in self.items:
            told = item.estimate.scenario.cautions if item.estimate is not None else ()
            fresh = [one for one in told if (one.code, one.path, one.hint) not in seen]
            seen |= {(one.code, one.path, one.hint) for one in fresh}
            problems = {one.problem for one in fresh}
            together.items += [found for found in item.loaded.diagnostics.items if found.problem in problems]
            together.sources |= item.loaded.diagnostics.sources
        return together

    def differences(self) -> list[Difference]:
        """Return the inputs that are not the same everywhere, in the order of the scenario."""
        tables = [_inputs(item) for item in self.items]
        names = list(dict.fromkeys(name for table in tables for name in table))
        found = [Difference(name, tuple(table.get(name, "") for table in tables)) for name in names]
        usable = [index for index, item in enumerate(self.items) if item.estimate is not None]
        return [row for row in found if len({row.texts[index] for index in usable}) > 1]

    def changes(self, name: str) -> list[float | None]:
        """Return a result of each relative to the first; None for the first, and where either is unknown."""
        values = [None if item.estimate is None else result(item.estimate, name) for item in self.items]
        first = values[0]
        if first is None or not math.isfinite(first) or first == 0:
            return [None] * len(values)
        rest = [None if value is None or not math.isfinite(value) else value / first - 1.0 for value in values[1:]]
        return [None, *rest]


def compared(answer: Comparison) -> tuple[str, ...]:
    """Return the results that any of the scenarios has."""
    runs = any(item.estimate is not None and item.estimate.scenario.run for item in answer.items)
    return (*COMPARED, *OF_THE_RUN) if runs else COMPARED


def result(answer: Estimate, name: str) -> float:
    """Return one of the results that are compared; `utilisation` is the MFU. Of a run nobody spoke of they are NaN."""
    if name in OF_THE_RUN and not answer.scenario.run:
        return math.nan
    return answer.mfu if name == "utilisation" else answer[name]


def compare(
    sources: Sequence[Source],
    catalog: Catalog,
    settings: tuple[Setting, ...] = (),
    variations: Sequence[str] = (),
    convention: str = "megatron",
) -> Comparison:
    """Compare scenarios, and variants of each, evaluated as one batch.

    Parameters
    ----------
    sources : sequence of Source
        Scenarios.
    catalog : Catalog
        Where ids are looked up.
    settings : tuple
        Changes made to all of them.
    variations : sequence of str
        Values of `--vary`, crossed.
    convention : str
        How operations are counted.
    """
    loaded = [
        (variant, source, load_source(source, catalog, (*settings, *variant.settings)))
        for source in sources
        for variant in variants(variations)
    ]
    legal = [one.scenario for _, _, one in loaded if one.scenario is not None]
    answers = iter(estimate(legal, convention) if legal else ())
    names = _names([one.scenario.name if one.scenario else source.text for _, source, one in loaded], sources)
    items = []
    for (variant, source, one), name in zip(loaded, names, strict=True):
        called = name if not variant.label else variant.label if len(sources) == 1 else f"{name}, {variant.label}"
        texts = tuple(f"{path}={value}" for path, value, _ in (*settings, *variant.settings))
        answer = next(answers) if one.scenario is not None else None
        items.append(Compared(called, source.text, texts, one, answer))
    return Comparison(tuple(items), _varied(variations) if len(sources) == 1 else None)


def _varied(variations: Sequence[str]) -> Varied | None:
    """Return the field that is varied; None if there are several, or its values are no numbers of one unit."""
    if len(variations) != 1:
        return None
    path, values = parse_variation(variations[0])
    found = [re.fullmatch(r"([0-9_.]+(?:e[+-]?[0-9]+)?)\s*(.*)", value, re.IGNORECASE) for value in values]
    if not all(found) or len({match[2] for match in found if match}) != 1:
        return None
    numbers = {float(match[1]): place for place, match in enumerate(found) if match}
    return Varied(path, found[0][2] if found[0] else "", tuple(sorted(numbers.items())))


def _names(names: list[str], sources: Sequence[Source]) -> list[str]:
    """Return the names, each with the file behind it where two files bear the same."""
    each = len(names) // len(sources)
    shown = []
    for index, name in enumerate(names):
        own = sources[index // each]
        twins = {sources[other // each].text for other, again in enumerate(names) if again == name}
        shown.append(name if len(twins) == 1 else f"{name} ({own.text})")
    return shown


def _inputs(item: Compared) -> dict[str, str]:
    """Return the inputs of a scenario as people would write them, by dotted name."""
    if item.estimate is None:
        return dict(text.split("=", 1) for text in item.settings)
    scenario = item.estimate.scenario
    file = scenario.file
    named = {
        "model": scenario.model.name,
        "cluster.node": scenario.node.name,
        "cluster.nodes": f"{file.cluster.nodes:,}",
        "cluster.accelerators": f"{scenario.accelerators:,}",
        "cluster.network.fabric": file.cluster.network.fabric or "",
        "cluster.network.topology": file.cluster.network.topology,
        "cluster.network.placement": file.cluster.network.placement,
        "cluster.network.switch": file.cluster.network.switch or "",
        "cluster.region": file.cluster.region or "",
        "workload.precision": file.workload.precision,
        "workload.optimizer": file.workload.optimizer,
        "software": file.software,
        "plan.recompute": file.plan.recompute,
        "plan.sequence_parallel": "yes" if scenario.values["plan.sequence_parallel"].number else "no",
        "plan.attention": file.plan.attention or "",
    }
    run = {
        name: _text(name, one.number)
        for name, one in scenario.run.items()
        if one.origin.kind == "given" and name not in FOLLOW
    }
    named |= {"storage": _storage(file), "checkpoint.mode": getattr(file.checkpoint, "mode", "")}
    return named | {name: _text(name, scenario.values[name].number) for name in NUMBERS} | run


def _storage(file: ScenarioFile) -> str:
    """Return the id of the storage system, if one is named."""
    use = file.storage
    return use if isinstance(use, str) else (use.system or "") if use is not None else ""


def _text(name: str, number: float) -> str:
    """Return a number as people write it; all digits of a plain one, but for tokens that are so many millions."""
    unit = unit_of(name)
    if name == "workload.tokens" and number.is_integer() and number % 1e6 == 0:
        factor, letter = next(scale for scale in _LARGE if number >= scale[0])
        return f"{number / factor:,.10g}{letter}"
    if unit != "1" or not math.isfinite(number):
        return quantity(number, unit, digits=4)
    return f"{number:,.0f}" if number.is_integer() else f"{number:.6g}"
