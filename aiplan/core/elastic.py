"""Elastic jobs: going on with fewer nodes, against waiting and against spares."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric


@closed_form
def replica_nodes(ranks: Numeric, each: Numeric, nodes: Numeric) -> Numeric:
    """Nodes that a replica of the model takes.

    k = min(max(1, r / g), n)

    Parameters
    ----------
    ranks : numeric
        Ranks r of a replica: tensor x pipeline x context parallel. [-]
    each : numeric
        Accelerators g of a node. [-]
    nodes : numeric
        Nodes n of the job. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    A node that several replicas share is lost to all of them.

    References
    ----------
    .. [1] Fault-tolerant HSDP on 100,000 GPUs, 2026. https://arxiv.org/abs/2602.00277
    """
    return np.minimum(np.maximum(ranks / each, 1.0), nodes)


@closed_form
def replicas_left(nodes: Numeric, away: Numeric, replica: Numeric) -> Numeric:
    """Share of the speed that is left when nodes are away and whole replicas stop.

    v = floor((N - k) / m) m / N

    Parameters
    ----------
    nodes : numeric
        Nodes N of the job. [-]
    away : numeric
        Nodes k that are away. [-]
    replica : numeric
        Nodes m of a replica. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Local batch as before: the global batch shrinks.

    References
    ----------
    .. [1] PyTorch, "Torch Distributed Elastic". https://pytorch.org/docs/stable/elastic/run.html
    """
    return np.floor((nodes - away) / replica) * replica / nodes


@closed_form
def waiting_loss(repair: Numeric, restart: Numeric, interval: Numeric) -> Numeric:
    """Time that a failure costs a job that waits for repair.

    c = T + u + t / 2

    Parameters
    ----------
    repair : numeric
        Time T until the node is back. [s]
    restart : numeric
        Time u of a restart. [s]
    interval : numeric
        Time t between two saves. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. In time of the whole job. [s]

    Notes
    -----
    One failure at a time.

    References
    ----------
    .. [1] PyTorch, "Torch Distributed Elastic". https://pytorch.org/docs/stable/elastic/run.html
    """
    return repair + restart + interval / 2.0


@closed_form
def shrinking_loss(repair: Numeric, restart: Numeric, interval: Numeric, speed: Numeric) -> Numeric:
    """Time that a failure costs a job that goes on with fewer nodes and grows again.

    c = 2 (u + t / 2) + T (1 - v)

    Parameters
    ----------
    repair : numeric
        Time T until the node is back. [s]
    restart : numeric
        Time u of a restart; a change of members restarts all. [s]
    interval : numeric
        Time t between two saves. [s]
    speed : numeric
        Share v of the speed meanwhile. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. In time of the whole job. [s]

    Notes
    -----
    One failure at a time. Growing at the next save instead spares the second t / 2.

    References
    ----------
    .. [1] PyTorch, "Torch Distributed Elastic". https://pytorch.org/docs/stable/elastic/run.html
    """
    return 2.0 * (restart + interval / 2.0) + repair * (1.0 - speed)


@closed_form
def spare_loss(restart: Numeric, interval: Numeric) -> Numeric:
    """Time that a failure costs a job with a spare node at hand.

    c = u + t / 2

    Parameters
    ----------
    restart : numeric
        Time u of a restart. [s]
    interval : numeric
        Time t between two saves. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    The spare is ready.

    References
    ----------
    .. [1] PyTorch, "Torch Distributed Elastic". https://pytorch.org/docs/stable/elastic/run.html
    """
    return restart + interval / 2.0


@closed_form
def break_even_repair(restart: Numeric, interval: Numeric, speed: Numeric) -> Numeric:
    """Time to repair above which shrinking beats waiting.

    T = (u + t / 2) / v

    Parameters
    ----------
    restart : numeric
        Time u of a restart. [s]
    interval : numeric
        Time t between two saves. [s]
    speed : numeric
        Share v of the speed meanwhile. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    Where `waiting_loss` equals `shrinking_loss`.

    References
    ----------
    .. [1] PyTorch, "Torch Distributed Elastic". https://pytorch.org/docs/stable/elastic/run.html
    """
    return (restart + interval / 2.0) / speed
