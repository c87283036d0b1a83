"""How long a collective takes, by size and algorithm, what NCCL would choose, and where one overtakes another."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aiplan.core.algorithms import algorithms_of, least_time
from aiplan.core.busbw import bus_factor_of
from aiplan.core.curves import algorithm_bandwidth
from aiplan.core.nccl_tables import NEWEST, PROTOCOLS
from aiplan.planning.collective_band import band, cautions
from aiplan.planning.nccl_model import Model, obstacle, time_of, wire_net

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiplan.core.arrays import Array
    from aiplan.planning.machine import Assumption, Machine

AUTO, ALL = "auto", "all"
GRID = 16
"""Points per doubling on which crossovers are looked for."""


class Curve(NamedTuple):
    """The time of an operation over the sizes: predicted by one algorithm, or by the best of several.

    `protocol` and `algorithm` say for every size what it is; `nccl` whether NCCL has it.
    """

    name: str
    nccl: bool
    time: Array
    algorithm: tuple[str, ...]
    protocol: tuple[str, ...]


class Crossover(NamedTuple):
    """A size from which on another algorithm or protocol is the best."""

    size: int
    algorithm: str
    protocol: str


class Collective(NamedTuple):
    """The answer: curves over the same sizes, the choice of NCCL among them, and the least time.

    `compared` says that algorithms were asked for by name, rather than what NCCL takes.
    """

    operation: str
    machine: Machine
    version: tuple[int, int]
    sizes: Array
    curves: tuple[Curve, ...]
    choice: Curve
    best: Curve
    crossovers: tuple[Crossover, ...]
    bound: Array
    factor: float
    band: Array
    cautions: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...]
    compared: bool

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """What was taken for granted about the machine."""
        return self.machine.assumptions

    def algbw(self, time: Array) -> Array:
        """Bytes of the full buffer over time, as nccl-tests define it [B/s]."""
        return np.asarray(algorithm_bandwidth(self.sizes, np.where(time > 0, time, np.nan)))

    def busbw(self, time: Array) -> Array:
        """Algorithm bandwidth times the factor of the operation [B/s]."""
        return self.algbw(time) * self.factor


def predict(
    operation: str,
    machine: Machine,
    sizes: Sequence[int],
    algorithms: Sequence[str] = (ALL,),
    protocol: str = AUTO,
    version: tuple[int, int] | None = None,
) -> Collective:
    """Predict a collective.

    Parameters
    ----------
    operation : str
        A key of `OPERATIONS`.
    machine : Machine
        What it runs on.
    sizes : sequence of int
        Bytes of the full buffer.
    algorithms : sequence of str
        Names of algorithms; `all` for every one that can be had, `auto` for what NCCL would choose from.
    protocol : str
        `ll`, `ll128` or `simple`; `auto` for the best at every size.
    version : tuple of int, optional
        Major and minor version of NCCL; the newest known if not given.

    Returns
    -------
    Collective
        Without curves if none of the algorithms can be had.
    """
    model = Model(machine, version or NEWEST, operation)
    every = algorithms_of(operation)
    compared = set(algorithms) != {AUTO}
    named = [row.name for row in every if ALL in algorithms or row.name in algorithms]
    named += [row.name for row in every if AUTO in algorithms and operation in row.nccl and row.name not in named]
    obstacles = {name: obstacle(model, operation, name) for name in named}
    left_out = tuple((name, why) for name, why in obstacles.items() if why)
    here = [name for name in named if not obstacles[name]]
    at = np.asarray(sizes, dtype=np.float64)
    curves = [curve for name in here for curve in _curve(model, operation, name, protocol, at)]
    chosen = [curve for curve in curves if curve.nccl] or curves
    return Collective(
        operation=operation,
        machine=machine,
        version=model.version,
        sizes=at,
        curves=tuple(curves),
        choice=_best(AUTO, chosen, at),
        best=_best("best", curves, at),
        crossovers=_crossovers(model, operation, [curve.name for curve in chosen], protocol, at),
        bound=_bound(operation, model, at),
        factor=bus_factor_of(operation, machine.ranks),
        band=band(operation, machine, at),
        cautions=tuple(item.why for item in cautions(operation, machine)) if machine.ranks > 1 else (),
        left_out=left_out if compared else (),
        compared=compared,
    )


def _curve(model: Model, operation: str, name: str, protocol: str, sizes: Array) -> list[Curve]:
    """Return the curve of an algorithm, of the best protocol at every size; none if it cannot take the protocol."""
    found = [item for item in model.protocols(name) if protocol in {AUTO, PROTOCOLS[item]}]
    if not found:
        return []
    times = np.stack([np.broadcast_to(time_of(model, operation, name, item, sizes), sizes.shape) for item in found])
    which = np.argmin(times, axis=0)
    row = next(row for row in algorithms_of(operation) if row.name == name)
    protocols = tuple(PROTOCOLS[found[index]] for index in which)
    return [Curve(name, operation in row.nccl, np.min(times, axis=0), (name,) * sizes.size, protocols)]


def _best(name: str, curves: Sequence[Curve], sizes: Array) -> Curve:
    if not curves:
        unknown = ("",) * sizes.size
        return Curve(name, False, np.full(sizes.shape, np.nan), unknown, unknown)
    which = np.argmin(np.stack([curve.time for curve in curves]), axis=0)
    pairs = [(curves[chosen].algorithm[at], curves[chosen].protocol[at]) for at, chosen in enumerate(which)]
    time = np.min(np.stack([curve.time for curve in curves]), axis=0)
    return Curve(
        name, all(curve.nccl for curve in curves), time, tuple(a for a, _ in pairs), tuple(p for _, p in pairs)
    )


def _crossovers(
    model: Model, operation: str, names: Sequence[str], protocol: str, sizes: Array
) -> tuple[Crossover, ...]:
    """Return where the best of the algorithms changes, on a fine grid between the smallest and the largest size."""
    if not names or sizes.size < 2 or model.machine.ranks == 1:
        return ()
    low, high = np.log2(sizes.min()), np.log2(sizes.max())
    grid = np.exp2(np.linspace(low, high, round(GRID * (high - low)) + 2))
    best = _best("", [curve for name in names for curve in _curve(model, operation, name, protocol, grid)], grid)
    found: list[Crossover] = []
    for size, algorithm, item in zip(grid, best.algorithm, best.protocol, strict=True):
        if not found or (algorithm, item) != (found[-1].algorithm, found[-1].protocol):
            found.append(Crossover(round(float(size)), algorithm, item))
    return tuple(found[1:])


def _bound(operation: str, model: Model, sizes: Array) -> Array:
    """Return the least time that links, ports and steps allow any of the algorithms to be had."""
    rows = [row for row in algorithms_of(operation) if not obstacle(model, operation, row.name)]
    net = wire_net(model)
    times = [least_time(operation, row)(sizes, float(model.machine.ranks), net) for row in rows]
    return np.asarray(np.min(np.stack([np.broadcast_to(time, sizes.shape) for time in times]), axis=0))
