"""Data parallelism that shards model states: ZeRO, FSDP."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric


@closed_form
def gradient_ranks(data: Numeric, context: Numeric) -> Numeric:
    """Ranks that hold the same dense parameters and add up their gradients.

    r = d c

    Parameters
    ----------
    data : numeric
        Data parallel ranks d. [-]
    context : numeric
        Context parallel ranks c. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Context parallel ranks see other tokens with the same weights.

    References
    ----------
    .. [1] Megatron-LM, `megatron/core`. https://github.com/NVIDIA/Megatron-LM
    """
    return np.multiply(data, context)


@closed_form
def reaches(zero: Numeric, stage: Numeric) -> Numeric:
    """Whether the ZeRO stage shards a kind of model state.

    c = [z >= s]

    Parameters
    ----------
    zero : numeric
        ZeRO stage z: 0 none, 1 optimizer states, 2 gradients too, 3 weights too. [-]
    stage : numeric
        Stage s from which a kind of state is sharded: 1, 2 or 3. [-]

    Returns
    -------
    numeric
        1 or 0, broadcast shape of the inputs. [-]

    Notes
    -----
    Optimizer states from stage 1, gradients from 2, weights from 3.

    References
    ----------
    .. [1] Rajbhandari et al., "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models", SC20.
       https://arxiv.org/abs/1910.02054
    """
    return np.where(np.asarray(zero) >= stage, 1.0, 0.0)


@closed_form
def state_shards(zero: Numeric, stage: Numeric, ranks: Numeric) -> Numeric:
    """Ranks over which one kind of model state is sharded.

    k = r if z >= s else 1

    Parameters
    ----------
    zero : numeric
        ZeRO stage z: 0 none, 1 optimizer states, 2 gradients too, 3 weights too. [-]
    stage : numeric
        Stage s from which this kind of state is sharded: 1, 2 or 3. [-]
    ranks : numeric
        Ranks r that hold the same parameters. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Optimizer states from stage 1, gradients from 2, weights from 3.

    References
    ----------
    .. [1] Rajbhandari et al., "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models", SC20.
       https://arxiv.org/abs/1910.02054
    """
    return np.where(np.asarray(zero) >= stage, ranks, 1.0)


@closed_form
def sharing_ranks(ranks: Numeric, copies: Numeric) -> Numeric:
    """Ranks that share one copy of the sharded states.

    s = r / R

    Parameters
    ----------
    ranks : numeric
        Ranks r that hold the same parameters. [-]
    copies : numeric
        Copies R of the states. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    1 copy is plain ZeRO. With more, neighbours share one: weights are gathered among them, and gradients are scattered
    among them and then added up over the copies, as often (hybrid sharding of FSDP; MiCS adds up once a step).

    References
    ----------
    .. [1] Zhao et al., "PyTorch FSDP: Experiences on Scaling Fully Sharded Data Parallel", 2023, section 3.2.2.
       https://arxiv.org/abs/2304.11277
    .. [2] Zhang et al., "MiCS: Near-linear Scaling for Training Gigantic Model on Public Cloud", 2022.
       https://arxiv.org/abs/2205.00119
    """
    return np.divide(ranks, copies)


@closed_form
def reductions_per_step(zero: Numeric, micro_batches: Numeric) -> Numeric:
    """How often gradients are reduced per step.

    c = m if z >= 3 else 1

    Parameters
    ----------
    zero : numeric
        ZeRO stage z: 0 none, 1 optimizer states, 2 gradients too, 3 weights too. [-]
    micro_batches : numeric
        Micro-batches m per step and pipeline. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Fully sharded training does not hold whole gradients from one micro-batch to the next.

    References
    ----------
    .. [1] Zhao et al., "PyTorch FSDP: Experiences on Scaling Fully Sharded Data Parallel", 2023.
       https://arxiv.org/abs/2304.11277
    """
    return np.where(np.asarray(zero) >= 3, micro_batches, 1.0)
