"""Curves of collective time over message size, and the two bandwidths that nccl-tests prints.

`nbytes` is the size column of nccl-tests: what each rank holds in an all-reduce, broadcast, reduce or all-to-all, the
whole tensor in an all-gather or a reduce-scatter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric

FILL_SHARE = 0.235
"""Share of the latency that fills the pipeline of chunks: median over public logs of healthy systems."""


@closed_form
def algorithm_bandwidth(nbytes: Numeric, time: Numeric) -> Numeric:
    """Algorithm bandwidth (algbw): size over time.

    b = n / t

    Parameters
    ----------
    nbytes : numeric
        Message n. [B]
    time : numeric
        Time t. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B/s]

    Notes
    -----
    Until June 2020 nccl-tests took (p - 1) / p of the size for all-gather and reduce-scatter.

    References
    ----------
    .. [1] NVIDIA, nccl-tests, "Performance reported by NCCL tests".
       https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md
    """
    return nbytes / time


@closed_form
def bus_factor(ranks: Numeric, passes: Numeric) -> Numeric:
    """Bus bandwidth (busbw) over algorithm bandwidth (algbw).

    f = k (p - 1) / p

    Parameters
    ----------
    ranks : numeric
        Number of ranks p, at least 1. [-]
    passes : numeric
        Times k that the data goes round: 2 for an all-reduce, 1 for all-gather, reduce-scatter and all-to-all. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    p = 1 gives 0. Broadcast, reduce and send/receive have no factor: both bandwidths are the same.

    Examples
    --------
    >>> float(bus_factor(8, 2.0))
    1.75

    References
    ----------
    .. [1] NVIDIA, nccl-tests, "Performance reported by NCCL tests".
       https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md
    """
    return passes * (ranks - 1.0) / ranks


@closed_form
def ranks_of_bus_factor(factor: Numeric, passes: Numeric) -> Numeric:
    """Count the ranks from bus bandwidth over algorithm bandwidth.

    p = k / (k - f)

    Parameters
    ----------
    factor : numeric
        Factor f, below k. [-]
    passes : numeric
        Times k that the data goes round. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Printed figures have two decimals, so many ranks are known within a range only; f = k or more gives infinity.

    References
    ----------
    .. [1] NVIDIA, nccl-tests, "Performance reported by NCCL tests".
       https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md
    """
    short = np.asarray(passes - factor, dtype=float)
    return np.where(short > 0.0, passes / np.where(short > 0.0, short, 1.0), np.inf)


@closed_form
def anchored_time(nbytes: Numeric, latency: Numeric, bandwidth: Numeric, fill_share: Numeric) -> Numeric:
    """Time of a collective from two anchors: small-message time and plateau of the algorithm bandwidth.

    t = a + n / b + 2 sqrt(s a n / b)

    Parameters
    ----------
    nbytes : numeric
        Message n. [B]
    latency : numeric
        Time a of a small message. [s]
    bandwidth : numeric
        Algorithm bandwidth b of a long message. [B/s]
    fill_share : numeric
        Share s of the latency that fills the pipeline of chunks; `FILL_SHARE` if nothing better is known. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    The root is what a pipelined algorithm loses with the best size of chunk. Weakest between 64 KiB and 64 MiB, where
    the library changes algorithm and protocol. s = 0 is Hockney's model.

    References
    ----------
    .. [1] Sanders, Speck and Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan",
       Parallel Computing 35, 2009. https://doi.org/10.1016/j.parco.2009.09.001
    """
    stream = nbytes / bandwidth
    return latency + stream + 2.0 * np.sqrt(fill_share * latency * stream)


@closed_form
def anchor_bandwidth(nbytes: Numeric, time: Numeric, latency: Numeric, fill_share: Numeric) -> Numeric:
    """Bandwidth with which the curve of two anchors passes through one long message.

    b = n / (sqrt(s a + t - a) - sqrt(s a))^2

    Parameters
    ----------
    nbytes : numeric
        Long message n. [B]
    time : numeric
        Its time t, above the latency. [s]
    latency : numeric
        Time a of a small message. [s]
    fill_share : numeric
        Share s of the latency that fills the pipeline of chunks. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B/s]

    Notes
    -----
    Inverse of `anchored_time`; s = 0 gives n / (t - a), t = a or less infinity.

    References
    ----------
    .. [1] Sanders, Speck and Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan",
       Parallel Computing 35, 2009. https://doi.org/10.1016/j.parco.2009.09.001
    """
    fill = fill_share * latency
    longer = np.maximum(time - latency, 0.0)
    stream = (np.sqrt(fill + longer) - np.sqrt(fill)) ** 2
    return np.where(stream > 0.0, nbytes / np.where(stream > 0.0, stream, 1.0), np.inf)


@closed_form
def two_branch_time(
    nbytes: Numeric,
    short_latency: Numeric,
    short_bandwidth: Numeric,
    long_latency: Numeric,
    long_bandwidth: Numeric,
    root: Numeric,
) -> Numeric:
    """Time of a collective by a calibrated curve: the better of a low-latency and a pipelined protocol.

    t = min(a1 + n / b1, a2 + n / b2 + c sqrt(n / 1 B))

    Parameters
    ----------
    nbytes : numeric
        Message n. [B]
    short_latency : numeric
        Latency a1 of the low-latency protocol. [s]
    short_bandwidth : numeric
        Algorithm bandwidth b1 of the low-latency protocol. [B/s]
    long_latency : numeric
        Latency a2 of the pipelined protocol. [s]
    long_bandwidth : numeric
        Algorithm bandwidth b2 of the pipelined protocol. [B/s]
    root : numeric
        Loss c to filling and draining the pipeline, for a message of one byte. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    Five constants of one system, operation and number of ranks: not to be carried over to others. Below the smallest
    and above the largest size it was fitted on, it is a guess.

    References
    ----------
    .. [1] Hockney, "The communication challenge for MPP: Intel Paragon and Meiko CS-2", Parallel Computing 20, 1994.
       https://doi.org/10.1016/S0167-8191(06)80021-9
    .. [2] Sanders, Speck and Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan",
       Parallel Computing 35, 2009. https://doi.org/10.1016/j.parco.2009.09.001
    """
    short = short_latency + nbytes / short_bandwidth
    long = long_latency + nbytes / long_bandwidth + root * np.sqrt(nbytes)
    return np.minimum(short, long)
