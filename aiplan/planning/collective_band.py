"""How far off a predicted time may be: on a healthy system, and where the formulas are known to fail."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from aiplan.core.algorithms import EXCHANGES

if TYPE_CHECKING:
    from aiplan.core.arrays import Array
    from aiplan.planning.machine import Machine

FROM = (0.0, 4.0 * 2**10, 64.0 * 2**20, 512.0 * 2**20)
"""Where each part of the range of sizes begins: latency, middle, shoulder of the plateau, plateau."""

Shares: TypeAlias = tuple[float, float, float, float]
HEALTHY: Shares = (1.4, 1.6, 0.26, 0.12)
"""What nine in ten sizes of public logs stay within, every system counted alike (tests/collective). What is measured is
nearly always slower than the formulas."""
WELL_RUN: Shares = (0.25, 0.60, 0.25, 0.12)
"""What systems stay within that run one GPU a process and nothing else; wider only where a caution says why."""
RING_RANKS, FEW_NODES, SWITCH_RANKS = 512, 4, 8


class Caution(NamedTuple):
    """A place where the formulas are known to fail: why, and how far off they are there."""

    why: str
    shares: Shares


def cautions(operation: str, machine: Machine) -> list[Caution]:
    """Return what makes a prediction worse than on a healthy system of usual size."""
    found = []
    if machine.slow_start:
        why = f"latency and bandwidth over {machine.network_kind} are known within a factor of two only"
        found.append(Caution(why, (1.5, 2.0, 0.7, 0.7)))
    if machine.domains > FEW_NODES and operation in EXCHANGES:
        why = f"an {operation} of small and middle size over many nodes was seen to take six times as long"
        found.append(Caution(why, (5.0, 5.0, 0.5, 0.1)))
    if machine.ranks > RING_RANKS:
        why = "rings of a thousand ranks take three times the latency of the formula"
        found.append(Caution(why, (0.25, 2.0, 2.0, 1.0)))
    if machine.local_ranks > SWITCH_RANKS and machine.reduces_in_node:
        if machine.domains > 1:
            found.append(Caution("twenty racks reached 40 % of what the formula says", (0.25, 1.6, 1.6, 1.6)))
        else:
            why = "reduction in the switches of a whole rack reached 80 % of what the formula says"
            found.append(Caution(why, (0.25, 0.60, 0.25, 0.25)))
    return found


def band(operation: str, machine: Machine, sizes: Array, usual: Shares = HEALTHY) -> Array:
    """Return how far off a time may be, as a share of the shorter one, for every size."""
    worst = np.max([usual, *(item.shares for item in cautions(operation, machine))], axis=0)
    return np.asarray(worst[np.searchsorted(FROM, sizes, side="right") - 1])
