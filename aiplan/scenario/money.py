"""What an hour of an accelerator costs: rented, rented at a discount, or owned."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from aiplan.core.cost import owned_price
from aiplan.scenario.legality import Fault
from aiplan.scenario.values import Value, assumed, derived, from_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.catalog.records import PurchasePrice
    from aiplan.scenario.resolve import Parts
    from aiplan.scenario.run_records import Ownership

NO_PURCHASE = "no purchase price in the catalog: give cluster.owned.purchase"
NO_ELECTRICITY = "no price of electricity for {} in the catalog: give cluster.electricity, e.g. 0.08 USD/kWh"
NO_POWER = "no power figure in the catalog: give cluster.power"
SHARE_OF_NETWORK = 1.25
"""Price with network, storage and building over that of the nodes alone."""


def check(parts: Parts) -> Iterator[Fault]:
    """Yield what of the ownership of a cluster cannot be."""
    owned, cluster = parts.file.cluster.owned, parts.file.cluster
    if owned is None:
        return
    if cluster.price is not None:
        yield Fault("AIP107", "the cluster is owned and has a price", "cluster.owned", "give price:, or owned:")
    if cluster.discount:
        yield Fault("AIP107", "the cluster is owned, so nothing is off a price", "cluster.discount", "leave it out")


def price(parts: Parts, rent: Value, power: float, pue: float) -> Value:
    """Return the price of an accelerator per second.

    Parameters
    ----------
    parts : Parts
        The scenario.
    rent : Value
        Rental price before any discount. [USD/s]
    power : float
        Draw per accelerator. [W]
    pue : float
        Facility over IT power. [-]
    """
    cluster, owned = parts.file.cluster, parts.file.cluster.owned
    if owned is None:
        if not cluster.discount:
            return rent
        left = rent.number * (1.0 - cluster.discount)
        return Value(
            left, rent.origin._replace(detail=f"{rent.origin.detail}, {100 * cluster.discount:g} % off".strip(", "))
        )
    return _owned(parts, owned, power, pue)


def _owned(parts: Parts, owned: Ownership, power: float, pue: float) -> Value:
    paid = _purchase(parts)
    energy = electricity(parts).number
    if paid is None:
        return assumed(math.nan, NO_PURCHASE)
    if math.isnan(energy):
        return assumed(math.nan, NO_ELECTRICITY.format(parts.region.name))
    if math.isnan(power):
        return assumed(math.nan, NO_POWER)
    hour = owned_price(paid.number, owned.residual, owned.lifetime, owned.upkeep, owned.used, power, pue, energy)
    if paid.origin.kind == "given":
        return derived(float(hour), "purchase price written off, upkeep, electricity")
    return assumed(float(hour), f"{paid.origin.detail}; written off, with upkeep and electricity")


def electricity(parts: Parts) -> Value:
    """Return the price of electricity per joule: given, or that of the region."""
    given = parts.file.cluster.electricity
    if given is not None:
        return from_file(given, parts.origins, "cluster.electricity")
    return from_file(parts.region.electricity, parts.region_origins, "electricity")


def _purchase(parts: Parts) -> Value | None:
    """Return what an accelerator with its share of everything costs to buy: given, or from the catalog."""
    owned = parts.file.cluster.owned
    if owned is not None and owned.purchase is not None:
        origin = parts.origins["cluster.owned.purchase"]
        return Value(owned.purchase, origin)
    node = _middle(parts.node.purchase_price)
    if node is not None:
        each = SHARE_OF_NETWORK * node / parts.node.accelerators
        return assumed(each, f"{SHARE_OF_NETWORK} x the price of the node in the catalog over its accelerators")
    device = _middle(parts.accelerator.purchase_price)
    if device is not None:
        return assumed(
            2 * SHARE_OF_NETWORK * device, f"{2 * SHARE_OF_NETWORK} x the price of the accelerator in the catalog"
        )
    return None


def _middle(bought: PurchasePrice | None) -> float | None:
    if bought is None:
        return None
    return bought.value if bought.range is None else sum(bought.range) / 2
