"""Waiting for the host to start kernels, and for the slowest of several hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric


@closed_form
def waiting_time(starts: Numeric, computation: Numeric) -> Numeric:
    """Time that a device waits for the host to start its kernels.

    t = (t_h^3 + t_comp^3)^(1/3) - t_comp

    Parameters
    ----------
    starts : numeric
        Time t_h that the host takes to start the kernels. [s]
    computation : numeric
        Time t_comp that they run. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    A smooth maximum of the two, less t_comp: where both take about as long, short kernels wait for the host and long
    ones do not. The exponent 3 goes with the single-node runs of vTrain and those of nanotron.

    References
    ----------
    .. [1] NVIDIA, "CUDA C++ Best Practices Guide", asynchronous execution.
       https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/index.html
    """
    return np.maximum(np.cbrt(np.power(starts, 3.0) + np.power(computation, 3.0)) - computation, 0.0)


@closed_form
def waiting_for_slowest(starts: Numeric, delay: Numeric, ranks: Numeric, computation: Numeric) -> Numeric:
    """Time that a device waits for the slowest of several hosts to start the kernels that its ranks run together.

    t = max(t_h + d (H_r - 1) - t_comp, 0), H_r = 1 + 1/2 + ... + 1/r

    Parameters
    ----------
    starts : numeric
        Time t_h that one host takes to start the kernels. [s]
    delay : numeric
        Mean d of the time by which something else holds up a host meanwhile. [s]
    ranks : numeric
        Ranks r that wait for each other in every layer: whole numbers from 1. [-]
    computation : numeric
        Time t_comp that the kernels run. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    The mean of the largest of r independent exponential delays is d H_r, and t_h holds the delay of one host. Ranks
    that meet once a micro-batch or once a step wait less: delays average out before they do.

    References
    ----------
    .. [1] Renyi, "On the theory of order statistics", 1953. https://doi.org/10.1007/BF02127580
    .. [2] Dean, Barroso, "The Tail at Scale", CACM 2013. https://doi.org/10.1145/2408776.2408794
    """
    return np.maximum(starts + delay * _slowest_beyond_one(ranks) - computation, 0.0)


@closed_form
def late_reduction_time(delay: Numeric, ranks: Numeric) -> Numeric:
    """Time by which late hosts hold up gradients that are reduced beside the backward pass.

    t = d r

    Parameters
    ----------
    delay : numeric
        Delay d a rank. [s]
    ranks : numeric
        Ranks r of the job. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    Hosts start such reductions bucket by bucket, and the step ends when the last rank of all has reduced. The longest
    of r delays grows as r where delays have a heavy tail (exponent 1), and only as ln r where they have none. The runs
    that show it reduced 4 to 18 GB over 64 to 512 ranks: neither the bytes nor the ranks of one reduction tell them
    apart, the ranks of the job do. Gradients that are reduced at once, after the backward pass, were not held up.

    References
    ----------
    .. [1] David, Nagaraja, "Order Statistics", 3rd edition, 2003, chapter 10. https://doi.org/10.1002/0471722162
    .. [2] Dean, Barroso, "The Tail at Scale", CACM 2013. https://doi.org/10.1145/2408776.2408794
    """
    return delay * ranks


@closed_form
def straggling_time(step: Numeric, share: Numeric, nodes: Numeric) -> Numeric:
    """Time by which a step is longer because it waits for the slowest of several nodes.

    t = s t_step (H_n - 1), H_n = 1 + 1/2 + ... + 1/n, about ln n + 0.58

    Parameters
    ----------
    step : numeric
        Time t_step of the step as a node by itself has it. [s]
    share : numeric
        Share s of it by which a node varies, from step to step and between nodes. [-]
    nodes : numeric
        Nodes n; part of a node counts as one. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    The mean of the largest of n independent exponential delays of mean s t_step, less one of them. A node that is slow
    for good is not meant: it costs more, and is found and taken out.

    References
    ----------
    .. [1] Renyi, "On the theory of order statistics", 1953. https://doi.org/10.1007/BF02127580
    .. [2] Lin et al., "Understanding Stragglers in Large Model Training Using What-if Analysis", OSDI 2025.
       https://arxiv.org/abs/2505.05713
    """
    return step * share * _slowest_beyond_one(nodes)


def _slowest_beyond_one(count: Numeric) -> Numeric:
    """Mean of the largest of several exponential delays of mean 1, less one of them."""
    whole = np.maximum(np.ceil(count), 1.0).astype(np.int64)
    harmonic = np.cumsum(1.0 / np.arange(1, whole.max(initial=1) + 1))
    return harmonic[whole - 1] - 1.0
