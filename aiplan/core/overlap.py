"""What of a communication is left when computation runs beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric


@closed_form
def exposed_time(communication: Numeric, computation: Numeric, share: Numeric, contention: Numeric = 0.0) -> Numeric:
    """Time that a communication adds to the computation beside it.

    t = t_e + c (t_comm - t_e), t_e = max(t_comm - s t_comp, 0)

    Parameters
    ----------
    communication : numeric
        Time of the communication alone, t_comm. [s]
    computation : numeric
        Time of the computation that may run beside it, t_comp. [s]
    share : numeric
        Share s of that computation under which communication really proceeds; 0 switches overlap off. [-]
    contention : numeric
        Share c of the hidden communication by which it slows the computation down: its kernels take multiprocessors
        and memory bandwidth. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    NCCL takes 16 to 32 of the 108 to 148 multiprocessors of a device while it runs, hence c of 0.1 to 0.3.

    References
    ----------
    .. [1] Li et al., "PyTorch Distributed: Experiences on Accelerating Data Parallel Training", VLDB 13(12), 2020.
       https://arxiv.org/abs/2006.15704
    """
    exposed = np.maximum(communication - share * computation, 0.0)
    return exposed + contention * (communication - exposed)


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
def share_exposed(communication: Numeric, hidden_share: Numeric) -> Numeric:
    """Time of a communication of which a fixed share is pipelined with the computation it feeds.

    t = t_comm (1 - s)

    Parameters
    ----------
    communication : numeric
        Time of the communication alone, t_comm. [s]
    hidden_share : numeric
        Share s that is hidden. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    For communication on the critical path that is split into pieces, as tensor parallel overlap does.

    References
    ----------
    .. [1] NVIDIA Transformer Engine, communication overlap. https://github.com/NVIDIA/TransformerEngine
    """
    return communication * (1.0 - hidden_share)


@closed_form
def bucketed_exposed_time(communication: Numeric, computation: Numeric, first: Numeric, bucket: Numeric) -> Numeric:
    """Time of a reduction in buckets that is left after the backward pass it runs beside.

    t = max(T - (1 - f) C, (1 - f) T - (1 - f - q) C, q T)

    Parameters
    ----------
    communication : numeric
        Time T of all buckets alone. [s]
    computation : numeric
        Time C of the backward pass. [s]
    first : numeric
        Share f of the bytes in the first bucket that is full. [-]
    bucket : numeric
        Share q of the bytes in each of the others. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    Gradients come at an even pace, buckets go one after the other. The last bucket starts when the backward pass ends
    and cannot be hidden: q T at least. The first can only start when it is full. Exact where buckets fill up the whole;
    one bucket (f = 1) hides nothing. A collective in k pieces beside the matmul that feeds it (tensor parallelism) is
    the same with f = q = 1 / k.

    References
    ----------
    .. [1] Li et al., "PyTorch Distributed: Experiences on Accelerating Data Parallel Training", VLDB 13(12), 2020.
       https://arxiv.org/abs/2006.15704
    """
    rest = 1.0 - np.minimum(first, 1.0)
    second = np.minimum(bucket, rest)
    waits_for_first = communication - rest * computation
    waits_for_second = rest * communication - (rest - second) * computation
    tail = np.where(rest > 0.0, second, 1.0) * communication
    return np.maximum(np.maximum(waits_for_first, waits_for_second), tail)


@closed_form
def prefetched_exposed_time(gather: Numeric, scatter: Numeric, computation: Numeric, units: Numeric) -> Numeric:
    """Time that sharded weights and gradients add to a pass where the next unit is fetched beside the one in use.

    t = g + s + (u - 1) max(g + s - c, 0)

    Parameters
    ----------
    gather : numeric
        Time g to gather the weights of a unit. [s]
    scatter : numeric
        Time s to reduce and scatter its gradients; 0 in the forward pass. [s]
    computation : numeric
        Time c of a unit. [s]
    units : numeric
        Number of units u that are gathered one at a time. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    Units alike, one ahead, one communication stream. The first gather and the last scatter cannot be hidden.

    References
    ----------
    .. [1] Zhao et al., "PyTorch FSDP: Experiences on Scaling Fully Sharded Data Parallel", 2023.
       https://arxiv.org/abs/2304.11277
    """
    return gather + scatter + (units - 1.0) * np.maximum(gather + scatter - computation, 0.0)


@closed_form
def contention_slowdown(multiprocessors: Numeric, left: Numeric) -> Numeric:
    """Relative slowdown of computation while communication kernels hold multiprocessors.

    s = m / k - 1

    Parameters
    ----------
    multiprocessors : numeric
        Multiprocessors m of the device. [-]
    left : numeric
        Those k that communication leaves, at least 1: NCCL takes one a channel. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    A lower bound for kernels that fill the device: a wave more (`wave_slowdown`) and shared memory bandwidth come on
    top. An upper one for kernels that leave multiprocessors idle.

    References
    ----------
    .. [1] NVIDIA, NCCL environment variables, `NCCL_MAX_CTAS`.
       https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html
    """
    return multiprocessors / left - 1.0


@closed_form
def wave_slowdown(tiles: Numeric, multiprocessors: Numeric, left: Numeric) -> Numeric:
    """Relative slowdown of a matmul whose tiles need more waves when multiprocessors are taken.

    s = ceil(n / k) / ceil(n / m) - 1

    Parameters
    ----------
    tiles : numeric
        Output tiles n of the matmul. [-]
    multiprocessors : numeric
        Multiprocessors m of the device. [-]
    left : numeric
        Those k that communication leaves, at least 1. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    A matmul that just fills the device takes twice as long. Persistent kernels that share tiles out suffer less.

    References
    ----------
    .. [1] NVIDIA, "Matrix Multiplication Background User's Guide", wave quantisation.
       https://docs.nvidia.com/deeplearning/performance/dl-performance-matrix-multiplication/index.html
    """
    return np.ceil(tiles / left) / np.ceil(tiles / multiprocessors) - 1.0


@closed_form
def contended_time(
    communication: Numeric, computation: Numeric, computation_slowdown: Numeric, communication_slowdown: Numeric
) -> Numeric:
    """Time of communication and computation that run beside each other and slow each other down.

    t = max(t_comp (1 + s_comp), t_comm (1 + s_comm))

    Parameters
    ----------
    communication : numeric
        Time of the communication alone, t_comm. [s]
    computation : numeric
        Time of the computation alone, t_comp. [s]
    computation_slowdown : numeric
        Relative slowdown s_comp of the computation. [-]
    communication_slowdown : numeric
        Relative slowdown s_comm of the communication. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    Slowed down all the while, so an upper bound where one ends long before the other; `exposed_time` charges only what
    is hidden. Measured on several devices: 0.19 in the mean for computation, 0.40 at most.

    References
    ----------
    .. [1] "Characterizing Compute-Communication Overlap in GPU-Accelerated Distributed Deep Learning", 2025.
       https://arxiv.org/abs/2507.03114
    """
    return np.maximum(computation * (1.0 + computation_slowdown), communication * (1.0 + communication_slowdown))
