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
    return _slowed(communication, np.maximum(communication - share * computation, 0.0), contention)


def _slowed(communication: Numeric, exposed: Numeric, contention: Numeric) -> Numeric:
    return exposed + contention * (communication - exposed)


@closed_form
def slowed_time(communication: Numeric, exposed: Numeric, contention: Numeric) -> Numeric:
    """Time that a communication adds to the computation beside it, where it is known what is left of it.

    t = t_e + c (t_comm - t_e)

    Parameters
    ----------
    communication : numeric
        Time of the communication alone, t_comm. [s]
    exposed : numeric
        Time t_e of it with no computation beside it. [s]
    contention : numeric
        Share c of the hidden communication by which it slows the computation down. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    Where c comes from a slowdown of the computation: `contention_share`.

    References
    ----------
    .. [1] "Characterizing Compute-Communication Overlap in GPU-Accelerated Distributed Deep Learning", 2025.
       https://arxiv.org/abs/2507.03114
    """
    return _slowed(communication, exposed, contention)


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
def bucketed_exposed_time(
    first_time: Numeric,
    each: Numeric,
    last: Numeric,
    computation: Numeric,
    first: Numeric,
    filled: Numeric,
    between: Numeric,
) -> Numeric:
    """Time of a reduction in buckets that is left after the backward pass it runs beside.

    t = max(f C + t_f + m t_b + t_l, (f + q) C + m t_b + t_l, (f + m q) C + t_b + t_l, C + t_l) - C

    Parameters
    ----------
    first_time : numeric
        Time t_f to reduce the first bucket that is full. [s]
    each : numeric
        Time t_b to reduce each of those between the first and the last. [s]
    last : numeric
        Time t_l to reduce the last one. [s]
    computation : numeric
        Time C of the backward pass. [s]
    first : numeric
        Share f of the pass after which the first bucket is full; 1 or more if there is but one, the last. [-]
    filled : numeric
        Share q of the pass that each further bucket takes to fill. [-]
    between : numeric
        Number m of buckets between the first and the last. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    Exact: buckets go one after the other, each when it is full, so that one of them waits for the pass and those
    behind it for each other. The last one starts when the pass ends and cannot be hidden; one bucket hides nothing.
    The middle two apply where m >= 1, the first where f < 1. A collective in k pieces beside the matmul that feeds it,
    or that it feeds (tensor parallelism), is the same with pieces alike, f = q = 1 / k and m = k - 2.

    References
    ----------
    .. [1] Li et al., "PyTorch Distributed: Experiences on Accelerating Data Parallel Training", VLDB 13(12), 2020.
       https://arxiv.org/abs/2006.15704
    """
    queued = np.maximum(between, 0.0) * each
    waits_for_first = np.where(np.asarray(first) < 1.0, first_time + queued - (1.0 - first) * computation, 0.0)
    waits_for_second = queued - (1.0 - first - filled) * computation
    waits_for_last_but_one = each - (1.0 - first - between * filled) * computation
    waits = np.where(np.asarray(between) >= 1.0, np.maximum(waits_for_second, waits_for_last_but_one), 0.0)
    return last + np.maximum(np.maximum(waits_for_first, waits), 0.0)


@closed_form
def bucketed_time(first_time: Numeric, each: Numeric, last: Numeric, first: Numeric, between: Numeric) -> Numeric:
    """Time of a reduction in buckets, nothing hidden.

    t = [f < 1] t_f + m t_b + t_l

    Parameters
    ----------
    first_time : numeric
        Time t_f to reduce the first bucket that is full. [s]
    each : numeric
        Time t_b to reduce each of those between the first and the last. [s]
    last : numeric
        Time t_l to reduce the last one. [s]
    first : numeric
        Share f of the backward pass after which the first bucket is full; 1 or more if there is but one. [-]
    between : numeric
        Number m of buckets between the first and the last. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    Each bucket has the latency of a collective of its own.

    References
    ----------
    .. [1] Li et al., "PyTorch Distributed: Experiences on Accelerating Data Parallel Training", VLDB 13(12), 2020.
       https://arxiv.org/abs/2006.15704
    """
    return np.where(np.asarray(first) < 1.0, first_time, 0.0) + between * each + last


@closed_form
def bucket_bytes(size: Numeric, tensor: Numeric) -> Numeric:
    """Bytes of a bucket that takes whole tensors.

    n = max(b, w)

    Parameters
    ----------
    size : numeric
        Size b at which a bucket is closed. [B]
    tensor : numeric
        Bytes w of a tensor. [B]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B]

    Notes
    -----
    No framework splits a tensor, so a bucket is as large as its tensor at least. In the mean it closes half a tensor
    later than at b, which is left out.

    References
    ----------
    .. [1] PyTorch, DistributedDataParallel, `bucket_cap_mb`.
       https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html
    """
    return np.maximum(size, tensor)


@closed_form
def buckets_between(filling: Numeric, first: Numeric, bucket: Numeric) -> Numeric:
    """Count the buckets between the first and the last.

    m = max(ceil((n - n_f) / b) - 1, 0)

    Parameters
    ----------
    filling : numeric
        Bytes n of the gradients that come while the backward pass runs. [B]
    first : numeric
        Bytes n_f of the first bucket. [B]
    bucket : numeric
        Bytes b of each of the others, but for the last. [B]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    The last bucket takes what is left, at most b.

    References
    ----------
    .. [1] Li et al., "PyTorch Distributed: Experiences on Accelerating Data Parallel Training", VLDB 13(12), 2020,
       section 3.2.3. https://arxiv.org/abs/2006.15704
    """
    return np.maximum(np.ceil((filling - first) / bucket) - 1.0, 0.0)


@closed_form
def last_bucket_bytes(
    filling: Numeric, at_the_end: Numeric, first: Numeric, bucket: Numeric, between: Numeric
) -> Numeric:
    """Bytes of the last bucket: what the others leave, and what comes at the very end.

    n_l = n - [n_f < n] n_f - m b + e

    Parameters
    ----------
    filling : numeric
        Bytes n of the gradients that come while the backward pass runs. [B]
    at_the_end : numeric
        Bytes e of the gradient that comes last, that of the embedding. [B]
    first : numeric
        Bytes n_f of the first bucket. [B]
    bucket : numeric
        Bytes b of each of the others. [B]
    between : numeric
        Number m of those between the first and the last. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B]

    Notes
    -----
    A first bucket that takes everything is the last one.

    References
    ----------
    .. [1] Li et al., "PyTorch Distributed: Experiences on Accelerating Data Parallel Training", VLDB 13(12), 2020,
       section 3.2.3. https://arxiv.org/abs/2006.15704
    """
    return filling - np.where(first / filling < 1.0, first, 0.0) - between * bucket + at_the_end


@closed_form
def prefetched_exposed_time(
    gather: Numeric, scatter: Numeric, computation: Numeric, units: Numeric, ahead: Numeric
) -> Numeric:
    """Time that sharded weights and gradients add to a pass where units are gathered ahead of their use.

    t = g + s + [u > 1] (max(g - c, 0) + max(s - c, 0)) + max(u - 2, 0) max(g + s - c, 0); u (g + s) if a = 0

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
    ahead : numeric
        Units a that are gathered ahead of the one in use; 0 is none. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    Units alike, one communication stream; gradients go before the weights that are gathered next. Exact for none and
    for one ahead. The first gather and the last scatter cannot be hidden. More ahead helps units that are not alike
    against each other; alike, a forward pass gains nothing, a backward one less than the time of a unit.

    References
    ----------
    .. [1] Zhao et al., "PyTorch FSDP: Experiences on Scaling Fully Sharded Data Parallel", 2023.
       https://arxiv.org/abs/2304.11277
    """
    ends = np.maximum(gather - computation, 0.0) + np.maximum(scatter - computation, 0.0)
    inner = np.maximum(units - 2.0, 0.0) * np.maximum(gather + scatter - computation, 0.0)
    in_use = gather + scatter + np.where(np.asarray(units) > 1.0, ends, 0.0) + inner
    return np.where(np.asarray(ahead) > 0.0, in_use, units * (gather + scatter))


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
def contention_share(slowdown: Numeric) -> Numeric:
    """Share of the time of a communication that the computation beside it loses.

    c = s / (1 + s)

    Parameters
    ----------
    slowdown : numeric
        Relative slowdown s of the computation while the communication runs. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    While the communication runs for t, computation of t / (1 + s) is done. With k of m multiprocessors taken, k / m.

    References
    ----------
    .. [1] "Characterizing Compute-Communication Overlap in GPU-Accelerated Distributed Deep Learning", 2025.
       https://arxiv.org/abs/2507.03114
    """
    return slowdown / (1.0 + slowdown)


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
