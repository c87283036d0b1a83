"""How tightly a plan fits, against what predictions of memory are off by."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from aiplan.planning.estimate import Estimate


class Tight(NamedTuple):
    """How tightly a plan fits: the share of the memory that it needs, and by how much that may be too low."""

    used: float
    error: float


def tightness(one: Estimate) -> Tight | None:
    """Return how tightly a plan fits, if by less than what predictions of memory are off by."""
    likely = one.interval("memory")
    if likely is None or likely.high <= one["memory.capacity"]:
        return None
    return Tight(one["memory.needed"] / one["memory.capacity"], likely.high / one["memory"] - 1.0)
