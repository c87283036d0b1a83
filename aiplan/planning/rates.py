"""What long messages reach of the rate of a link or a port: as measured, else the usual share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.scenario.resolve import LINK_FRACTION, NETWORK_FRACTION

if TYPE_CHECKING:
    from aiplan.catalog.records import Link, Network


def link_rate(link: Link) -> float:
    """Return what long messages reach over one link, one way [B/s]."""
    rate = link.bandwidth_one_way or 0.0
    return link.achieved.bandwidth_one_way if link.achieved else LINK_FRACTION * rate


def port_rate(network: Network) -> float:
    """Return what long messages reach through one port, one way [B/s]."""
    rate = network.bandwidth_one_way
    return network.achieved.bandwidth_one_way if network.achieved else rate * (network.efficiency or NETWORK_FRACTION)
