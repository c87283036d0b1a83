"""The constants that are fitted on measured runs: which there are, where they stand, and which runs each applies to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aiplan.scenario.resolve import PEAK_TYPE, usual_matmul_fraction

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from aiplan.engine.inputs import Inputs
    from aiplan.scenario.load import Scenario

EVERYWHERE = "all software"
LEAST_RUNS = 4
"""Runs that a constant must apply to, or it stays as it is."""


class Kind(NamedTuple):
    """A kind of constant: its column and bounds, what it usually is, and how far from that (as a logarithm).

    It plays a part only where the column `needs` is not zero.
    """

    column: str
    low: float
    high: float
    usual: float
    spread: float
    needs: str = ""


EXPERTS, FLASH = "model.experts", "plan.flash"
MATMUL = Kind("cluster.matmul_fraction", 0.05, 1.0, 0.6, 0.3)
ATTENTION = Kind("cluster.attention_fraction", 0.02, 1.0, 0.35, 0.4, FLASH)
CONTENTION = Kind("plan.contention", 0.01, 1.0, 0.2, 0.7)
HOST_TIME = Kind("cluster.host_time", 1e-5, 1e-2, 1e-3, 1.0)
OF_SOFTWARE = {
    "kernel_share": Kind("cluster.kernel_share", 0.2, 1.5, 0.9, 0.15),
    "attention_share": Kind("cluster.attention_share", 0.1, 3.0, 1.0, 0.4, FLASH),
    "host_time": HOST_TIME,
    "host_time_experts": Kind("cluster.host_time_experts", 1e-5, 1e-1, 1.5e-3, 1.0, EXPERTS),
    "step_overhead": Kind("cluster.step_overhead", 1e-4, 10.0, 0.05, 1.0),
    "expert_share": Kind("cluster.expert_share", 0.1, 1.5, 0.7, 0.4, EXPERTS),
    "expert_passes": Kind("cluster.expert_passes", 0.1, 20.0, 3.0, 0.7, EXPERTS),
    "hidden_by_hybridep": Kind("plan.hidden_dispatch", 0.01, 0.99, 0.5, 0.7, EXPERTS),
    "contention": CONTENTION,
    "overlap.pipeline.share": Kind("plan.hidden_pipeline", 0.01, 1.0, 0.5, 0.7),
    "overlap.expert.share": Kind("plan.hidden_expert", 0.01, 1.0, 0.3, 0.7, EXPERTS),
}
OF_ALL = {
    "attention_ramp": Kind("cluster.attention_ramp", 1.0, 1e4, 500.0, 0.7, FLASH),
    "contention": CONTENTION,
    "host_time": HOST_TIME,
    "straggling": Kind("cluster.straggling", 1e-5, 0.1, 1e-2, 1.5),
    "late_host": Kind("cluster.late_host", 1e-5, 1e-1, 1e-3, 1.0),
    "late_reduction": Kind("cluster.late_reduction", 1e-5, 1e-1, 1e-3, 1.0),
    "expert_lost_work": Kind("cluster.expert_lost_work", 1e7, 1e12, 1e10, 1.0, EXPERTS),
}
"""Constants that are the same for all software: defaults of the preset format."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant: what it belongs to and is called there, and the runs that it applies to."""

    owner: str
    key: str
    kind: Kind
    rows: NDArray[np.bool_]

    @property
    def file(self) -> str:
        """File that states it."""
        if self.key.startswith("fitted."):
            return f"hardware_catalog/accelerators/{self.owner}.yaml"
        return f"scenarios/software/{self.owner}.yaml" if self.owner != EVERYWHERE else "all software presets"

    @property
    def runs(self) -> int:
        """Runs that it applies to."""
        return int(self.rows.sum())

    def read(self, inputs: Inputs) -> float:
        """Return its value."""
        return float(np.median(_column(inputs, self.kind.column)[0, self.rows]))

    def write(self, inputs: Inputs, value: float) -> None:
        """Set its value on all runs that it applies to."""
        _column(inputs, self.kind.column)[0, self.rows] = value


def constants(scenarios: Sequence[Scenario], inputs: Inputs) -> list[Constant]:
    """Return the constants that the runs tell something about.

    Parameters
    ----------
    scenarios : sequence of Scenario
        The runs.
    inputs : Inputs
        The same as columns.
    """
    found = [*_of_accelerators(scenarios), *_of_software(scenarios), *_of_all(scenarios)]
    in_use = [Constant(str(owner), key, kind, rows & _plays_a_part(inputs, kind)) for owner, key, kind, rows in found]
    return [constant for constant in in_use if constant.runs >= LEAST_RUNS]


Found = tuple[str, str, Kind, "NDArray[np.bool_]"]


def _of_accelerators(scenarios: Sequence[Scenario]) -> Iterator[Found]:
    owners = np.array([_accelerator(scenario) for scenario in scenarios])
    types = np.array([_type(scenario) for scenario in scenarios])
    first = {_accelerator(scenario): scenario for scenario in reversed(scenarios)}
    for owner in sorted({name for name in owners if name}):
        for dtype in sorted(set(types[owners == owner])):
            key = "fitted.matmul_fraction" + (f"_by_type.{dtype}" if dtype else "")
            usual = usual_matmul_fraction(first[owner].accelerator, dtype or "bf16") or MATMUL.usual
            yield owner, key, MATMUL._replace(usual=usual), (owners == owner) & (types == dtype)
        yield owner, "fitted.attention_fraction", ATTENTION, owners == owner


def _accelerator(scenario: Scenario) -> str:
    """Return the accelerator whose file holds the constants of a run; none if they were never fitted."""
    fitted = scenario.accelerator.fitted
    return "" if fitted is None else fitted.shared_with or scenario.node.accelerator


def _type(scenario: Scenario) -> str:
    """Return the narrow type that has a share of its own; none if the general one applies."""
    precision, fitted = scenario.file.workload.precision, scenario.accelerator.fitted
    dtype = PEAK_TYPE.get(precision, precision)
    return dtype if fitted is not None and dtype in fitted.matmul_fraction_by_type else ""


def _of_software(scenarios: Sequence[Scenario]) -> Iterator[Found]:
    owners = np.array([scenario.software.fitted_with or scenario.file.software for scenario in scenarios])
    presets = np.array([scenario.file.software for scenario in scenarios])
    fitted = {scenario.file.software: scenario.software.fitted for scenario in scenarios}
    for owner in sorted(set(owners)):
        for key, kind in OF_SOFTWARE.items():
            own = [name for name in set(presets[owners == owner]) if key in fitted[name]]
            yield owner, key, kind, np.isin(presets, own)


def _of_all(scenarios: Sequence[Scenario]) -> Iterator[Found]:
    for key, kind in OF_ALL.items():
        yield EVERYWHERE, key, kind, np.array([key not in scenario.software.fitted for scenario in scenarios])


def _plays_a_part(inputs: Inputs, kind: Kind) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = _column(inputs, kind.column)[0] > 0
    return found & (_column(inputs, kind.needs)[0] > 0) if kind.needs else found


def _column(inputs: Inputs, name: str) -> NDArray[np.float64]:
    group, field = name.split(".")
    column: NDArray[np.float64] = getattr(getattr(inputs, group), field)
    return column
