"""A catalog entry of a network with what was measured on it, as a file for a catalog folder of one's own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aiplan.adapters.nodes import tree
from aiplan.catalog.load import overlay
from aiplan.catalog.records import Network
from aiplan.core import collectives
from aiplan.declare import Mapping, Scalar, Sequence, build
from aiplan.declare.diagnostics import Mark
from aiplan.planning.health import least_through_node
from aiplan.planning.measured import bus_factor_of
from aiplan.units import quantity

if TYPE_CHECKING:
    from aiplan.catalog.load import Catalog, Found
    from aiplan.declare import Diagnostics, Node
    from aiplan.planning.measured import Logs, Measured

ROUNDS = {"all_reduce": 2.0, "broadcast": 1.0, "reduce": 1.0}
"""Times that a tree over the nodes is passed."""


class Figures(NamedTuple):
    """What a network is measured to reach: bandwidth of a port one way [B/s], and time of a network step [s]."""

    bandwidth: float
    capped: bool
    latency: float | None
    fitted_on: str
    source: str


def overlay_file(answer: Logs, catalog: Catalog, diagnostics: Diagnostics) -> str:
    """Return the file of a network's entry with what was measured; empty if something is wrong with it.

    Parameters
    ----------
    answer : Logs
        Measured tables, and the network with its ports.
    catalog : Catalog
        Where the entry is.
    diagnostics : Diagnostics
        Takes what is wrong.
    """
    measured = figures(answer, diagnostics)
    found = catalog.find("networks", answer.limits.network or "", diagnostics)
    return "" if measured is None or found is None else overlay_text(found, measured, diagnostics)


def figures(answer: Logs, diagnostics: Diagnostics) -> Figures | None:
    """Return what the tables that cross the network say of a port and a step; or note why they say nothing.

    Parameters
    ----------
    answer : Logs
        Measured tables, and the network with its ports.
    diagnostics : Diagnostics
        Takes why there is nothing to write.
    """
    limits = answer.limits
    crossing = [item for item in answer.tables if (item.nodes or 0) > 1 and not item.impossible]
    rates = [(rate, item) for item in crossing if (rate := ring_rate(item)) is not None]
    if not rates or limits.ports is None or limits.port_rate is None:
        _nothing(answer, diagnostics)
        return None
    best, item = max(rates, key=lambda pair: pair[0])
    steps = [step for one in crossing if (step := step_latency(one)) is not None]
    port = best / limits.ports
    return Figures(
        min(port, limits.port_rate),
        port > limits.port_rate,
        float(np.median(steps)) if steps else None,
        _on(item),
        ", ".join(dict.fromkeys(one.table.file for one in crossing)),
    )


def _nothing(answer: Logs, diagnostics: Diagnostics) -> None:
    if any(item.impossible for item in answer.tables):
        why, hint = "the figures are impossible, see above", "check the log, --network and --ports"
    else:
        why, hint = "no table is known to cross nodes", "give the number of nodes of the run with --nodes"
    diagnostics.error("AIP118", f"nothing to write about network '{answer.limits.network}': {why}", hint=hint)


def ring_rate(item: Measured) -> float | None:
    """Return bytes per second that leave a node, by the rings of the step-time model."""
    if item.plateau_algbw is None or item.nodes is None:
        return None
    if item.table.operation == "all_to_all":
        through = least_through_node(item.table, item.nodes)
    else:
        through = bus_factor_of(item.table)
    return None if through is None else item.plateau_algbw * through


def step_latency(item: Measured) -> float | None:
    """Return time of a small message over network steps in it; what happens inside the nodes counts as theirs."""
    if item.latency is None or item.nodes is None:
        return None
    rounds = ROUNDS.get(item.table.operation)
    if item.table.operation == "send_recv":
        steps = 1.0
    elif rounds is not None:
        steps = rounds * float(collectives.binomial_tree_depth(item.nodes))
    else:
        steps = item.nodes - 1.0
    return item.latency / steps


def _on(item: Measured) -> str:
    size = "" if item.plateau_size is None else f" at {quantity(item.plateau_size, 'B')}"
    ranks = "" if item.table.ranks is None else f" over {item.table.ranks:,} ranks"
    return f"{item.table.operation.replace('_', '-')}{ranks} on {item.nodes} nodes{size}, {len(item.sizes)} sizes"


def overlay_text(found: Found, measured: Figures, diagnostics: Diagnostics) -> str:
    """Return a whole entry with what was measured in place of what the catalog says.

    Parameters
    ----------
    found : Found
        The entry of the catalog.
    measured : Figures
        What was measured.
    diagnostics : Diagnostics
        Takes what would be wrong with the entry.
    """
    values = {
        "achieved": {
            "bandwidth_one_way": f"{measured.bandwidth / 1e9:.6g} GB/s",
            "fitted_on": measured.fitted_on,
            "source": measured.source,
        },
        "collective_latency": None if measured.latency is None else f"{measured.latency * 1e6:.6g} us",
    }
    mark = Mark("measured", 1, 1, 2)
    merged = overlay(found.tree, tree(values, mark, {}))
    build(Network, merged, diagnostics)
    return "".join(f"{line}\n" for line in _lines(merged))


def _lines(node: Node, depth: int = 0) -> list[str]:
    """Return a mapping as YAML."""
    lines = []
    indent = "  " * depth
    for key, child in node.items if isinstance(node, Mapping) else []:
        if isinstance(child, Mapping):
            lines += [f"{indent}{key.text}:", *_lines(child, depth + 1)]
        elif isinstance(child, Sequence):
            lines.append(f"{indent}{key.text}: [{', '.join(_cell(item) for item in child.items)}]")
        else:
            lines.append(f"{indent}{key.text}: {_cell(child)}")
    return lines


def _cell(node: Node) -> str:
    """Return a scalar: numbers and truth values as written, text in quotes. Networks have no deeper lists."""
    if isinstance(node, Scalar) and isinstance(node.value, str):
        return json.dumps(node.value, ensure_ascii=False)
    return node.text if isinstance(node, Scalar) else "null"
