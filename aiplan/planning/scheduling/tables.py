"""Room and scores of all nodes for pods of one class, brought up to date for the nodes that changed only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aiplan.planning.scheduling.strategies import ANY, SHUFFLED

if TYPE_CHECKING:
    from aiplan.planning.scheduling.machine import Ints, Pod, Truths
    from aiplan.planning.scheduling.state import Devices, State
    from aiplan.planning.scheduling.strategies import Strategy


NO_ROOM = np.iinfo(np.int64).min
"""Score of a node on which the pod does not fit; scores can be negative."""


class Table:
    """Room and score of every node for one pod; `total` is the largest gang of such pods that could start now."""

    def __init__(self, state: State, pod: Pod, strategy: Strategy, order: Ints | None = None) -> None:
        self.state, self.pod, self.strategy, self._order = state, pod, strategy, order
        self.allowed: Truths = state.machine.allowed(pod)
        size = state.machine.size
        self.room: Ints = np.zeros(size, dtype=np.int64)
        self.score: Ints = np.full(size, NO_ROOM, dtype=np.int64)
        self.total = 0
        self._seen = len(state.log)
        self._update(np.flatnonzero(self.allowed))

    def refresh(self) -> None:
        """Take account of what changed since the last time."""
        log = self.state.log
        if self._seen == len(log) or (self.total == 0 and self.state.freed <= self._seen):
            return
        changed = set(log[self._seen :])
        self._seen = len(log)
        nodes = np.fromiter(changed, dtype=np.int64, count=len(changed))
        self._update(nodes[self.allowed[nodes]])

    def _update(self, nodes: Ints) -> None:
        room = self.state.room(self.pod, nodes)
        self.total += int(room.sum() - self.room[nodes].sum())
        self.room[nodes] = room
        if self.strategy.score is None:
            return
        open_to_it = nodes[room > 0]
        self.score[nodes] = NO_ROOM
        if open_to_it.size:
            found = self.strategy.score(self.state, self.pod, open_to_it)
            self.score[open_to_it] = found if self._order is None else found * self.score.size + self._order[open_to_it]

    def best(self, generator: np.random.Generator, within: Truths | None = None) -> int:
        """Return the node to take, or -1; `within` limits it to some nodes."""
        if self.strategy.score is None:
            return _any(self.room > 0 if within is None else (self.room > 0) & within, generator)
        score = self.score if within is None else np.where(within, self.score, NO_ROOM)
        node = int(score.argmax())
        if score[node] == NO_ROOM:
            return -1
        return node if self.strategy.ties != ANY else _any(score == score[node], generator)


def _any(nodes: Truths, generator: np.random.Generator) -> int:
    found = np.flatnonzero(nodes)
    return int(found[generator.integers(found.size)]) if found.size else -1


class Tables:
    """The tables of all classes of pods, made when first asked for."""

    def __init__(self, state: State, strategy: Strategy, generator: np.random.Generator) -> None:
        self.state, self.strategy, self.generator = state, strategy, generator
        self._tables: dict[Pod, Table] = {}
        self._order: Ints | None = None
        """Added to scores times the number of nodes, so that no two are equal."""
        if strategy.ties == SHUFFLED:
            # A generator of its own: what is drawn at random otherwise stays the same.
            self._order = generator.spawn(1)[0].permutation(state.machine.size)

    def of(self, pod: Pod) -> Table:
        """Return the table of a class of pods, up to date."""
        table = self._tables.get(pod)
        if table is None:
            table = self._tables[pod] = Table(self.state, pod, self.strategy, self._order)
        table.refresh()
        return table

    def put(self, pod: Pod, within: Truths | None = None) -> tuple[int, Devices] | None:
        """Place a pod where the strategy wants it; return node and GPUs, or None if it fits nowhere."""
        node = self.of(pod).best(self.generator, within)
        if node < 0:
            return None
        devices = self.strategy.devices(self.state, pod, node, self.generator)
        self.state.place(pod, node, devices)
        return node, devices
