"""What is scheduled and on what: nodes as arrays, and pods of the same size as one class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from aiplan.core.placement import WHOLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Ints: TypeAlias = NDArray[np.int64]
    Truths: TypeAlias = NDArray[np.bool_]

MILLI = int(WHOLE)


class Pod(NamedTuple):
    """A pod's request: thousandths of cores, bytes, GPUs, thousandths of each, and pools it may run in, all if ()."""

    cpu: int = 0
    memory: int = 0
    gpus: int = 0
    each: int = MILLI
    pools: tuple[int, ...] = ()

    @property
    def shared(self) -> bool:
        """Whether it takes a part of a GPU."""
        return self.gpus > 0 and self.each < MILLI

    @property
    def milli(self) -> int:
        """Thousandths of GPUs that it takes in all."""
        return self.gpus * self.each


class Group(NamedTuple):
    """Nodes of one kind in a row: how many, GPUs, thousandths of cores, bytes, type of GPU, and pool."""

    nodes: int
    gpus: int
    cpu: int
    memory: int
    gpu_type: str = ""
    pool: int = 0
    domain_size: int = 0
    name: str = "node"


@dataclass(frozen=True, slots=True)
class Machine:
    """All nodes, in the order that breaks ties: smaller index first. `domain` is the rack or block of a node."""

    names: tuple[str, ...]
    cpu: Ints
    memory: Ints
    gpus: Ints
    gpu_type: Ints
    types: tuple[str, ...]
    pool: Ints
    domain: Ints

    @property
    def size(self) -> int:
        """Number of nodes."""
        return len(self.names)

    @property
    def most_gpus(self) -> int:
        """GPUs of the largest node."""
        return int(self.gpus.max(initial=0))

    @property
    def gpu_count(self) -> int:
        """GPUs of all nodes."""
        return int(self.gpus.sum())

    def allowed(self, pod: Pod) -> Truths:
        """Return which nodes a pod may run on, empty or not."""
        if not pod.pools:
            return np.ones(self.size, dtype=bool)
        return np.isin(self.pool, pod.pools)


def machine(groups: Sequence[Group]) -> Machine:
    """Return the nodes of groups, one after the other; names count up within names of groups."""
    names: list[str] = []
    counts: dict[str, int] = {}
    domains: list[int] = []
    width = len(str(max(sum(group.nodes for group in groups) - 1, 0)))
    for group in groups:
        first = counts.get(group.name, 0)
        names += [f"{group.name}-{first + index:0{width}d}" for index in range(group.nodes)]
        counts[group.name] = first + group.nodes
        base = domains[-1] + 1 if domains else 0
        size = group.domain_size or group.nodes
        domains += [base + index // size for index in range(group.nodes)]
    types = tuple(dict.fromkeys(group.gpu_type for group in groups))

    def spread(values: Sequence[int]) -> Ints:
        return np.repeat(np.asarray(values, dtype=np.int64), [group.nodes for group in groups])

    return Machine(
        names=tuple(names),
        cpu=spread([group.cpu for group in groups]),
        memory=spread([group.memory for group in groups]),
        gpus=spread([group.gpus for group in groups]),
        gpu_type=spread([types.index(group.gpu_type) for group in groups]),
        types=types,
        pool=spread([group.pool for group in groups]),
        domain=np.asarray(domains, dtype=np.int64),
    )
