"""Pipeline parallel schedules: one-forward-one-backward, plain and interleaved."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric


@closed_form
def bubble_time(all_stages: Numeric, busiest: Numeric, interleave: Numeric) -> Numeric:
    """Idle time of the busiest stage in a step of 1F1B, plain or interleaved.

    t = (sum of t_i - t_max) / v

    Parameters
    ----------
    all_stages : numeric
        Sum over stages of the time t_i one micro-batch takes there, forward and backward. [s]
    busiest : numeric
        Largest of them, t_max. [s]
    interleave : numeric
        Model chunks v per stage. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    Equal stages give (p - 1) t / v, so a share (p - 1) / (m v + p - 1) of the step. One stage gives 0.

    References
    ----------
    .. [1] Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters", SC21, section 2.2.
       https://arxiv.org/abs/2104.04473
    """
    return np.maximum(all_stages - busiest, 0.0) / interleave


@closed_form
def micro_batches_in_flight(pipeline: Numeric, stage: Numeric, interleave: Numeric, micro_batches: Numeric) -> Numeric:
    """Micro-batches whose activations a stage holds at its peak, in units of a whole stage.

    plain: min(m, p - i); interleaved: min(m, (2 (p - i - 1) + (v - 1) p + 1) / v)

    Parameters
    ----------
    pipeline : numeric
        Stages p. [-]
    stage : numeric
        Index i of the stage, from 0. [-]
    interleave : numeric
        Model chunks v per stage. [-]
    micro_batches : numeric
        Micro-batches m per step and pipeline. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    The first stage of an interleaved schedule holds p (1 + (p - 1) / (p v)).

    References
    ----------
    .. [1] Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models", 2022, section 4.2.3.
       https://arxiv.org/abs/2205.05198
    """
    plain = pipeline - stage
    chunks = 2.0 * (pipeline - stage - 1.0) + (interleave - 1.0) * pipeline + 1.0
    return np.minimum(micro_batches, np.where(np.asarray(interleave) > 1, chunks / interleave, plain))


@closed_form
def sends_per_micro_batch(pipeline: Numeric, interleave: Numeric) -> Numeric:
    """Messages of a stage to its neighbours for every micro-batch: activations one way, gradients the other.

    c = 2 v if p > 1 else 0

    Parameters
    ----------
    pipeline : numeric
        Pipeline stages p. [-]
    interleave : numeric
        Model chunks v per stage. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Sends and receives run at the same time; each is counted once.

    References
    ----------
    .. [1] Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters", SC21.
       https://arxiv.org/abs/2104.04473
    """
    return np.where(np.asarray(pipeline) > 1, 2.0 * interleave, 0.0)


@closed_form
def head_passes(modules: Numeric, has_head: Numeric) -> Numeric:
    """How often a micro-batch passes the output head and the loss at a stage.

    c = (1 + m) [head]

    Parameters
    ----------
    modules : numeric
        Multi-token-prediction modules m. [-]
    has_head : numeric
        1 for the stage with the output head. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Every module predicts one token more with the same head.

    References
    ----------
    .. [1] DeepSeek-AI, "DeepSeek-V3 Technical Report", 2024, section 2.2. https://arxiv.org/abs/2412.19437
    """
    return (1.0 + modules) * has_head
