"""Logs of collectives as a user names them, and what of the catalog they are held against."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.adapters.nccl_log import read_log
from aiplan.planning.health import Limits, link_limits, with_network

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aiplan.adapters.nccl_log import Table
    from aiplan.catalog.load import Catalog
    from aiplan.declare import Diagnostics


def read_logs(texts: Iterable[tuple[str, bytes]], diagnostics: Diagnostics) -> list[Table]:
    """Return the tables of all logs, in order.

    Parameters
    ----------
    texts : iterable of tuple
        Name and bytes of each log. Bytes that are no UTF-8 stand for nothing in a row, so they are replaced.
    diagnostics : Diagnostics
        Takes which logs hold no table.
    """
    return [table for name, raw in texts for table in read_log(raw.decode("utf-8", "replace"), name, diagnostics)]


def check_nodes(tables: Iterable[Table], nodes: int | None, diagnostics: Diagnostics) -> None:
    """Note tables with fewer ranks than the nodes that they are said to have run on.

    Parameters
    ----------
    tables : iterable of Table
        Tables of all logs.
    nodes : int or None
        What the user says.
    diagnostics : Diagnostics
        Takes what is wrong.
    """
    for table in tables:
        if nodes is not None and table.ranks is not None and table.ranks < nodes:
            diagnostics.error(
                "AIP107",
                f"--nodes {nodes} for the {table.ranks} ranks of '{table.file}'",
                expected="no more nodes than ranks",
                hint="leave it out where the log lists its devices",
            )


def limits_of(
    link: str | None,
    network: str | None,
    ports: int | None,
    nodes: int | None,
    share: float,
    catalog: Catalog,
    diagnostics: Diagnostics,
) -> Limits:
    """Return what the named link and network allow; note names that the catalog does not have.

    Parameters
    ----------
    link, network : str or None
        Ids in the catalog.
    ports : int or None
        Ports of a node; those of the entry if not given.
    nodes : int or None
        Nodes of the run, where the log does not list them.
    share : float
        Share of the usual bandwidth below which a plateau is called low.
    catalog : Catalog
        Where ids are looked up.
    diagnostics : Diagnostics
        Takes what is wrong.
    """
    limits = Limits()
    if link is not None:
        found = catalog.link(link, diagnostics)
        limits = link_limits(link, found[0]) if found else limits
    if network is not None:
        entry = catalog.network(network, diagnostics)
        count = ports or (entry[0].ports_per_node if entry else None)
        if entry and count:
            limits = with_network(limits, network, entry[0], count)
        elif entry:
            diagnostics.error(
                "AIP106",
                f"network '{network}' does not say how many ports a node has",
                expected="the number of ports of a node, to compare what leaves it",
                hint="give it with --ports, e.g. --ports 8",
            )
    return limits._replace(nodes=nodes, share=share)
