"""Elastic jobs: going on with fewer nodes, against waiting and against spares."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric


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


@closed_form
def elastic_goodput(
    nodes: Numeric, least: Numeric, replica: Numeric, rate: Numeric, repair: Numeric, cost: Numeric
) -> Numeric:
    """Share of full speed that an elastic job keeps.

    E = sum over k of Binomial(k; N, r T / (1 + r T)) v(k) (1 - c (r (N - k) + k / T))

    Parameters
    ----------
    nodes : numeric
        Nodes N of the job. [-]
    least : numeric
        Nodes below which it stops. [-]
    replica : numeric
        Nodes of a replica. [-]
    rate : numeric
        Rate r at which one node fails. [1/s]
    repair : numeric
        Mean time T until it is back. [s]
    cost : numeric
        Time c that a change of members costs. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    To first order in c. Nodes away are binomial: N places, each away for the share r T / (1 + r T). Not below
    0.

    References
    ----------
    .. [1] PyTorch, "Torch Distributed Elastic". https://pytorch.org/docs/stable/elastic/run.html
    """
    away = rate * repair / (1.0 + rate * repair)
    chance = (1.0 - away) ** nodes
    total = 0.0 * chance
    for count in range(int(np.max(nodes - least)) + 1):
        changes = cost * (rate * (nodes - count) + count / repair)
        speed = np.floor((nodes - count) / replica) * replica / nodes
        total = total + np.where(nodes - count >= least, chance * speed * np.maximum(1.0 - changes, 0.0), 0.0)
        chance = chance * (nodes - count) / (count + 1.0) * away / (1.0 - away)
    return total
