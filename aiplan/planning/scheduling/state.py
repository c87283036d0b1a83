"""What is left on the nodes, changed by placing and releasing pods; every change is logged for who keeps scores."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from aiplan.planning.scheduling.machine import MILLI

if TYPE_CHECKING:
    from aiplan.planning.scheduling.machine import Ints, Machine, Pod, Truths

    Devices = tuple[int, ...]

NO_LIMIT = 1 << 40
"""Room for pods that ask for nothing that a node has little of."""


@cache
def _limits(pod: Pod) -> tuple[Ints, Ints]:
    """Return the columns of a state of which a pod asks for something that adds up, and how much."""
    asked = (pod.cpu, pod.memory, 0, 0 if pod.shared else pod.gpus)
    columns = [column for column, amount in enumerate(asked) if amount]
    return np.array(columns, dtype=np.int64), np.array([asked[column] for column in columns], dtype=np.int64)


class State:
    """Free resources of all nodes. `log` lists the node of every change since the start."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.there = np.stack([machine.cpu, machine.memory, machine.gpus * MILLI], axis=-1)
        self._columns = np.column_stack([self.there, machine.gpus])
        # Views: what changes one changes the others.
        self.left = self._columns[:, :3]
        self.cpu_left, self.memory_left, self.milli_left, self.whole_left = self._columns.T
        width = max(machine.most_gpus, 1)
        there = np.arange(width) < machine.gpus[:, np.newaxis]
        self.gpu_left: Ints = np.where(there, MILLI, 0).astype(np.int64)
        self.idle = int(self.milli_left.sum())
        self.up: Truths = np.ones(machine.size, dtype=bool)
        self.log: list[int] = []
        self.freed = 0
        """Changes up to the last one that can have made room anywhere."""

    def copy(self) -> State:
        """Return a state that can be changed without changing this one; what changed so far is not in its log."""
        other = State(self.machine)
        other._columns[:] = self._columns
        other.gpu_left[:] = self.gpu_left
        other.up[:] = self.up
        other.idle = self.idle
        return other

    def room(self, pod: Pod, nodes: Ints) -> Ints:
        """Return how many such pods fit on each of some nodes, whatever else they may not allow."""
        columns, amounts = _limits(pod)
        if columns.size:
            found = np.minimum.reduce(self._columns[nodes[:, np.newaxis], columns] // amounts, axis=1)
        else:
            found = np.full(nodes.shape, NO_LIMIT, dtype=np.int64)
        if pod.shared:
            found = np.minimum(found, np.add.reduce(self.gpu_left[nodes] // pod.each, axis=1))
        return np.asarray(found * self.up[nodes])

    def place(self, pod: Pod, node: int, devices: Devices) -> None:
        """Put a pod on a node, on these of its GPUs."""
        self._change(pod, node, devices, 1)

    def release(self, pod: Pod, node: int, devices: Devices) -> None:
        """Take a pod away again."""
        self._change(pod, node, devices, -1)

    def _change(self, pod: Pod, node: int, devices: Devices, sign: int) -> None:
        self.cpu_left[node] -= sign * pod.cpu
        self.memory_left[node] -= sign * pod.memory
        left = self.gpu_left[node]
        for device in devices:
            whole = left[device] == MILLI
            left[device] -= sign * pod.each
            self.whole_left[node] += int(left[device] == MILLI) - int(whole)
        self.milli_left[node] -= sign * pod.milli
        self.idle -= sign * pod.milli
        self.log.append(node)
        if sign < 0:
            self.freed = len(self.log)

    def set_up(self, node: int, *, up: bool) -> None:
        """Take a node out of service, or back into it."""
        self.up[node] = up
        self.log.append(node)
        self.freed = len(self.log)

    def whole_devices(self, pod: Pod, node: int) -> Devices:
        """Return the first GPUs of a node that are free as a whole, as many as the pod asks for."""
        if not pod.gpus:
            return ()
        return tuple(np.flatnonzero(self.gpu_left[node] == MILLI)[: pod.gpus].tolist())

    def tightest_device(self, pod: Pod, node: int) -> Devices:
        """Return the GPU with the least left that still takes a shared pod."""
        left = self.gpu_left[node]
        return (int(np.where(left >= pod.each, left, NO_LIMIT).argmin()),)
