"""Elastic training: what is done per time when nodes fail and come back, with fewer nodes or waiting for all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric


@closed_form
def waiting_goodput(nodes: Numeric, between: Numeric, repair: Numeric, restart: Numeric, lost: Numeric) -> Numeric:
    """Share of the full rate at which a job gets on that waits until all its nodes are back.

    g = a^N max(1 - (N / m) (r + l), 0), a = m / (m + d)

    Parameters
    ----------
    nodes : numeric
        Nodes N of the job, without spares. [-]
    between : numeric
        Mean time m between failures of one node. [s]
    repair : numeric
        Time d until a node is back. [s]
    restart : numeric
        Time r that a restart takes. [s]
    lost : numeric
        Work lost at a failure, l: half the time between checkpoints. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs, 0 to 1. [-]

    Notes
    -----
    Nodes fail independently, whether they are used or not.

    Examples
    --------
    >>> round(float(waiting_goodput(64.0, 2.592e7, 43200.0, 600.0, 1800.0)), 4)
    0.8936

    References
    ----------
    .. [1] Young, "A First Order Approximation to the Optimum Checkpoint Interval", CACM 17(9), 1974.
       https://doi.org/10.1145/361147.361115
    """
    up = (between / (between + repair)) ** nodes
    return up * np.maximum(1.0 - nodes / between * (restart + lost), 0.0)


@closed_form
def resizing_goodput(
    values: Numeric, least: Numeric, between: Numeric, repair: Numeric, restart: Numeric, lost: Numeric
) -> Numeric:
    """Share of the full rate at which a job gets on that shrinks when nodes fail and grows when they are back.

    g = sum_k P(k) (s_k - (u_k / m) (l + r s_k-1) - ((N - k) / d) r s_k+1), P(k) = C(N, k) a^k (1 - a)^(N - k)

    Parameters
    ----------
    values : numeric
        Rates s_k with 1 to N nodes over that with all N, along the last axis. [-]
    least : numeric
        Fewest nodes with which it runs. [-]
    between : numeric
        Mean time m between failures of one node. [s]
    repair : numeric
        Time d until a node is back; a = m / (m + d). [s]
    restart : numeric
        Time r that a change of size takes. [s]
    lost : numeric
        Work lost at a failure, l, in time at the full rate. [s]

    Returns
    -------
    numeric
        Shape of `values` without its last axis. [-]

    Notes
    -----
    u_k is the smallest number of nodes that is as fast as k: where not every size divides the batch, the rest idles and
    its failures do no harm; a node that makes it no faster is not waited for. First order: one failure at a time.

    References
    ----------
    .. [1] PyTorch, "Torch Distributed Elastic". https://docs.pytorch.org/docs/stable/distributed.elastic.html
    """
    speeds = np.atleast_1d(np.asarray(values, dtype=float))
    most = speeds.shape[-1]
    size = np.arange(1, most + 1)
    running = np.where(size >= least, speeds, 0.0)
    nothing = np.zeros_like(running[..., :1])
    below = np.concatenate([nothing, running[..., :-1]], axis=-1)
    above = np.concatenate([running[..., 1:], nothing], axis=-1)
    used = np.maximum.accumulate(np.where(running > below, size, 0), axis=-1)
    up = between / (between + repair)
    steps = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, most + 1)))])
    ways = np.exp(steps[most] - steps[size] - steps[most - size])
    share = ways * up**size * (1.0 - up) ** (most - size)
    failing = used / between * (np.where(running > 0, lost, 0.0) + restart * below)
    growing = (most - size) / repair * restart * np.where((above > running) & (running > 0), above, 0.0)
    return np.maximum((share * (running - failing - growing)).sum(axis=-1), 0.0)
