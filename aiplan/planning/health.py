"""Whether a table of measured collectives can be true, and whether the system behind it is well.

Impossible is what no network can do: more bytes through a link or a port than its rate. Unhealthy is what a sound
system does not do: a larger message that takes less time, bandwidth that breaks in, a plateau far below what others
reach.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aiplan.core import curves
from aiplan.planning import rates
from aiplan.units import quantity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.adapters.nccl_log import Table
    from aiplan.catalog.records import Link, Network
    from aiplan.core.arrays import Array

FALL = 0.8
"""A time below this share of that of a smaller message, or an algbw below it of that of one, is no noise."""
SHARE = 0.8
"""Share of the catalog's figure below which a plateau is called low, if the user names none."""
LONG = 16.0 * 2**20
"""Size from which on a bandwidth can be called a plateau. [B]"""
FASTEST = 4e12
"""More than any accelerator sends one way, for tables that are held against no link. [B/s]"""


class Flag(NamedTuple):
    """What is wrong with a table, and how badly: impossible, or unhealthy."""

    kind: str
    text: str


class Limits(NamedTuple):
    """Rates one way in B/s that a table is held against: of an accelerator's links, of a node's ports."""

    link: str | None = None
    link_rate: float | None = None
    link_usual: float | None = None
    network: str | None = None
    ports: int | None = None
    port_rate: float | None = None
    port_usual: float | None = None
    nodes: int | None = None
    share: float = SHARE


def link_limits(ident: str, link: Link) -> Limits:
    """Return what a link of the catalog allows each accelerator."""
    if link.bandwidth_one_way is None:
        return Limits(link=ident)
    count = link.links_per_device or 1
    return Limits(link=ident, link_rate=count * link.bandwidth_one_way, link_usual=count * rates.link_rate(link))


def with_network(limits: Limits, ident: str, network: Network, ports: int) -> Limits:
    """Return limits with what the ports of a node allow it."""
    rate, usual = network.bandwidth_one_way, rates.port_rate(network)
    return limits._replace(network=ident, ports=ports, port_rate=rate, port_usual=usual)


def least_through_node(table: Table, nodes: int) -> float | None:
    """Return bytes that must leave a node for each byte of the message, whatever the algorithm."""
    apart = float(curves.bus_factor(nodes, 1.0))
    if table.operation in {"all_gather", "reduce_scatter"}:
        return apart
    if table.operation == "all_to_all":
        return None if table.ranks is None else apart * table.ranks / nodes
    return 1.0


def usual_through_node(table: Table, nodes: int) -> float | None:
    """Return bytes that leave a node for each byte of the message with rings; trees on two nodes need fewer."""
    if table.operation == "all_to_all":
        return least_through_node(table, nodes)
    if table.passes is None:
        return 1.0
    return None if table.ranks is None else float(curves.bus_factor(table.ranks, table.passes))


def flags_of(
    table: Table, nodes: int | None, sizes: Array, times: Array, algbw: float | None, limits: Limits
) -> tuple[Flag, ...]:
    """Return what is wrong with a table.

    Parameters
    ----------
    table : Table
        The table.
    nodes : int or None
        Nodes it ran on, if known.
    sizes : array
        Sizes, ascending. [B]
    times : array
        Times. [s]
    algbw : float or None
        Highest algbw. [B/s]
    limits : Limits
        What it is held against.
    """
    found = [*_alone(table), *_falls(sizes, times), *_breaks(sizes, times)]
    if algbw is not None:
        found += _over(table, nodes, algbw, limits)
        if sizes[-1] >= LONG and not any(flag.kind == "impossible" for flag in found):
            found += _low(table, nodes, algbw, limits)
    return tuple(found)


def _alone(table: Table) -> Iterator[Flag]:
    if table.ranks == 1:
        yield Flag("impossible", "one rank sends nothing: these are copies inside a device")
    fastest = max((half.algbw for row in table.rows for half in row.known), default=0.0)
    if fastest > FASTEST:
        yield Flag(
            "impossible",
            f"algbw of {quantity(fastest, 'B/s')}: no accelerator sends that much, so nothing was transferred",
        )
    if any(half.time <= 0.0 for row in table.rows for half in row.known):
        yield Flag("impossible", "a time is zero")


def _falls(sizes: Array, times: Array) -> Iterator[Flag]:
    """Find messages that take much less time than smaller ones."""
    if len(times) == 0:
        return
    highest = np.maximum.accumulate(times)
    worst = int(np.argmin(times / highest))
    if times[worst] < FALL * highest[worst]:
        before = int(np.argmax(times[: worst + 1]))
        yield Flag(
            "unhealthy",
            f"not monotone: {_size(sizes[before])} take {quantity(times[before], 's')}, "
            f"{_size(sizes[worst])} only {quantity(times[worst], 's')}",
        )


def _breaks(sizes: Array, times: Array) -> Iterator[Flag]:
    """Find messages with much less bandwidth than smaller ones."""
    if len(times) == 0:
        return
    algbw = curves.algorithm_bandwidth(sizes, times)
    highest = np.maximum.accumulate(algbw)
    worst = int(np.argmin(algbw / highest))
    if algbw[worst] < FALL * highest[worst]:
        before = int(np.argmax(algbw[: worst + 1]))
        yield Flag(
            "unhealthy",
            f"bandwidth breaks in: algbw {quantity(float(algbw[before]), 'B/s')} at {_size(sizes[before])}, "
            f"{quantity(float(algbw[worst]), 'B/s')} at {_size(sizes[worst])}",
        )


def _over(table: Table, nodes: int | None, algbw: float, limits: Limits) -> Iterator[Flag]:
    """Find more bytes than a rate allows."""
    if limits.port_rate is not None and limits.ports is not None and nodes is not None and nodes > 1:
        through = least_through_node(table, nodes)
        rate = limits.ports * limits.port_rate
        if through is not None and algbw * through > rate:
            yield Flag(
                "impossible",
                f"{quantity(algbw * through, 'B/s')} at least leave a node, {limits.ports} ports of {limits.network} "
                f"carry {quantity(rate, 'B/s')}",
            )
    elif limits.link_rate is not None and limits.network is None:
        # With reduction in the switch every rank sends its buffer once.
        passes = 1.0 if table.operation in {"all_gather", "reduce_scatter", "all_to_all"} else None
        through = 1.0 if passes is None or table.ranks is None else float(curves.bus_factor(table.ranks, passes))
        if algbw * through > limits.link_rate:
            yield Flag(
                "impossible",
                f"{quantity(algbw * through, 'B/s')} at least leave a rank, its links {limits.link} carry "
                f"{quantity(limits.link_rate, 'B/s')}",
            )


def expected_algbw(table: Table, nodes: int | None, limits: Limits) -> tuple[float, str] | None:
    """Return the algbw that the catalog leads one to expect of long messages, and from what.

    Parameters
    ----------
    table : Table
        The table.
    nodes : int or None
        Nodes it ran on, if known.
    limits : Limits
        What the catalog says.
    """
    found = []
    if limits.link_usual is not None and table.ranks is not None and table.ranks > 1:
        factor = 1.0 if table.passes is None else float(curves.bus_factor(table.ranks, table.passes))
        found.append((limits.link_usual / factor, f"links {limits.link}"))
    if limits.port_usual is not None and limits.ports is not None and nodes is not None and nodes > 1:
        through = usual_through_node(table, nodes)
        if through:
            found.append((limits.ports * limits.port_usual / through, f"{limits.ports} ports of {limits.network}"))
    return min(found, default=None)


def _low(table: Table, nodes: int | None, algbw: float, limits: Limits) -> Iterator[Flag]:
    """Find a plateau below the stated share of what the catalog leads one to expect."""
    expected = expected_algbw(table, nodes, limits)
    if expected is not None and algbw < limits.share * expected[0]:
        yield Flag(
            "unhealthy",
            f"highest algbw {quantity(algbw, 'B/s')} is {quantity(algbw / expected[0], '%')} of the "
            f"{quantity(expected[0], 'B/s')} that {expected[1]} usually give",
        )


def _size(nbytes: float) -> str:
    return quantity(nbytes, "B")
