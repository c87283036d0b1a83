"""The host of a node as numbers: its link, its memory, and how fast it updates states that lie there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.scenario.legality import Fault
from aiplan.scenario.values import Value, assumed, default, derived, from_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.scenario.resolve import Parts

LINK_FRACTION = 0.8
LINK_RATE = 10e9
UPDATE_RATE = 85e9
"""Between the 69 and 105 GB/s that two public reports come to; `core.offload.host_update_time` has them."""
ON_HOST = {"none": (0.0, 0.0), "optimizer": (1.0, 0.0), "all": (1.0, 1.0)}
"""Whether optimizer states, and weights too, lie on the host."""


def link_rate(parts: Parts) -> Value:
    """Return the rate of copies between a device and its host, one way."""
    use, link = parts.accelerator.host_link, parts.host_link
    if link is None or use is None or link[0].bandwidth_one_way is None:
        return assumed(LINK_RATE, "no link to the host in the catalog")
    rate = LINK_FRACTION * use.count * link[0].bandwidth_one_way
    return default(rate, f"{LINK_FRACTION} of the link to the host ({link[0].name}), pinned memory")


def host_values(parts: Parts) -> dict[str, Value]:
    """Return the values of the host."""
    memory = from_file(parts.node.memory, parts.node_origins, "memory")
    if parts.file.plan.offload == "none":
        link, rate = (derived(value, "nothing lies on the host") for value in (LINK_RATE, UPDATE_RATE))
        return {"host_link": link, "host_update_rate": rate, "host_memory": memory}
    given = parts.file.cluster.host_update_rate
    usual = assumed(UPDATE_RATE, "two public reports come to 69 and 105 GB/s a node")
    rate = usual if given is None else from_file(given, parts.origins, "cluster.host_update_rate")
    return {"host_link": link_rate(parts), "host_update_rate": rate, "host_memory": memory}


def check(offload: str, zero: float) -> Iterator[Fault]:
    """Yield why states cannot lie on the host as a plan asks."""
    least = {"none": 0, "optimizer": 1, "all": 3}[offload]
    if zero < least:
        yield Fault(
            "AIP314",
            f"offload {offload} goes with ZeRO stage {least} and above, and the plan has stage {zero:g}",
            "plan.offload",
            f"plan.zero: {least}" + (", or offload: optimizer" if offload == "all" and zero >= 1 else ""),
        )
