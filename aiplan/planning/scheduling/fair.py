"""Fair sharing of Kueue: of the workloads that are next, the one whose queue would borrow least for its weight."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class Entry(NamedTuple):
    """A workload: what orders it otherwise, its tree, and the share of each node of its path, root's child first."""

    order: tuple[Any, ...]
    root: int
    shares: list[tuple[int, float]]


def fairest(entries: Sequence[Entry]) -> Entry:
    """Return the workload that goes first.

    In each cohort the queues and cohorts below it send the one that goes first of theirs, and of these the one whose
    share is lowest goes on, with the workload counted; equal ones as they are ordered otherwise. Trees lend each other
    nothing, so that only the other order counts between them.
    """
    trees: dict[int, list[Entry]] = {}
    for entry in entries:
        trees.setdefault(entry.root, []).append(entry)
    return min((_first(members, 0) for members in trees.values()), key=lambda entry: entry.order)


def _first(entries: Sequence[Entry], depth: int) -> Entry:
    below: dict[int, list[Entry]] = {}
    for entry in entries:
        if depth == len(entry.shares):
            return min(entries, key=lambda entry: entry.order)
        below.setdefault(entry.shares[depth][0], []).append(entry)
    sent = [_first(members, depth + 1) for members in below.values()]
    return min(sent, key=lambda entry: (entry.shares[depth][1], entry.order))
