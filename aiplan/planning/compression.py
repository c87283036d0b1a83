"""Where the compression of gradients stops to pay: what a user compares with the network there is."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aiplan.core import zero
from aiplan.core.compression import ALL_GATHER
from aiplan.engine import compressed, wires
from aiplan.engine.footprint import held
from aiplan.planning.estimate import columns
from aiplan.scenario.communication import read_compression

if TYPE_CHECKING:
    from aiplan.scenario.load import Scenario


class BreakEven(NamedTuple):
    """Bandwidth below which compression is faster, and what a rank has; density below which it sends less, and its own.

    Densities are None where values are not gathered.
    """

    bandwidth: float
    here: float
    ranks: int
    density: float | None
    sent: float | None


def break_even(scenario: Scenario) -> BreakEven | None:
    """Return where the compression of a scenario breaks even; None without compression or without ranks to reduce over.

    Neither latency nor overlap count: what the backward pass hides anyway is not saved.
    """
    wanted = read_compression(scenario.file.communication.compression)
    if wanted is None or not scenario.values["communication.compresses"].number:
        return None
    values = columns([scenario])
    ranks = zero.gradient_ranks(values.plan.data, values.plan.context)
    if not (ranks > 1).any():
        return None
    edge = compressed.break_even(values, held(values))
    here, _ = wires.ring(wires.wires(values), ranks, values.plan.tensor)
    gathered = wanted.method.collective == ALL_GATHER
    return BreakEven(
        bandwidth=float(edge.bandwidth.item()),
        here=float(here.item()),
        ranks=int(ranks.item()),
        density=float(edge.density.item()) if gathered else None,
        sent=wanted.share if gathered else None,
    )
