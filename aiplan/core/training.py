"""From a step to a training run: steps, rates, utilisation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric


@closed_form
def micro_batch_tokens(micro_batch: Numeric, sequence: Numeric, context: Numeric) -> Numeric:
    """Tokens of a micro-batch that one rank holds.

    T = b s / c

    Parameters
    ----------
    micro_batch : numeric
        Sequences b per micro-batch. [-]
    sequence : numeric
        Tokens s per sequence. [-]
    context : numeric
        Context parallel ranks c. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Tensor parallel ranks hold the same tokens, or a share of them in sequence parallel regions.

    References
    ----------
    .. [1] Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models", 2022.
       https://arxiv.org/abs/2205.05198
    """
    return micro_batch * sequence / context


@closed_form
def micro_batches(global_batch: Numeric, micro_batch: Numeric, data: Numeric) -> Numeric:
    """Micro-batches that a pipeline runs per step.

    m = B / (b d)

    Parameters
    ----------
    global_batch : numeric
        Sequences B per step. [-]
    micro_batch : numeric
        Sequences b per micro-batch. [-]
    data : numeric
        Data parallel ranks d. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Layouts for which this is not whole are refused before.

    References
    ----------
    .. [1] Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters", SC21.
       https://arxiv.org/abs/2104.04473
    """
    return global_batch / (micro_batch * data)


@closed_form
def step_count(tokens: Numeric, global_batch: Numeric, sequence: Numeric) -> Numeric:
    """Optimizer steps of a training run.

    n = D / (B s)

    Parameters
    ----------
    tokens : numeric
        Tokens D to train on. [-]
    global_batch : numeric
        Sequences B per step. [-]
    sequence : numeric
        Tokens s per sequence. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs; not rounded. [-]

    Notes
    -----
    Constant batch: no ramp-up.

    References
    ----------
    .. [1] Brown et al., "Language Models are Few-Shot Learners", 2020. https://arxiv.org/abs/2005.14165
    """
    return tokens / (global_batch * sequence)


@closed_form
def evaluation_time(sequences: Numeric, global_batch: Numeric, step_time: Numeric) -> Numeric:
    """Time to go through some sequences without learning from them.

    t = n T / (3 B)

    Parameters
    ----------
    sequences : numeric
        Sequences n of one evaluation. [-]
    global_batch : numeric
        Sequences B of a step. [-]
    step_time : numeric
        Time T of a step. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    The backward pass takes twice the forward one. Recomputation and the reduction of gradients, which an evaluation
    has not, make it a little high; a batch that does not fill the pipeline, a little low.

    Examples
    --------
    >>> evaluation_time(512.0, 1024.0, 6.0)
    1.0

    References
    ----------
    .. [1] Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM", 2021,
       section 3. https://arxiv.org/abs/2104.04473
    """
    return sequences * step_time / (3.0 * global_batch)


@closed_form
def time_to_train(steps: Numeric, step_time: Numeric) -> Numeric:
    """Time of all steps of a training run.

    t = n t_step

    Parameters
    ----------
    steps : numeric
        Optimizer steps n. [-]
    step_time : numeric
        Time of one, t_step. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    Failures, restarts, checkpoints and evaluations are not in it.

    References
    ----------
    .. [1] Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters", SC21, section 5.1.
       https://arxiv.org/abs/2104.04473
    """
    return steps * step_time


@closed_form
def tokens_per_second(global_batch: Numeric, sequence: Numeric, step_time: Numeric, accelerators: Numeric) -> Numeric:
    """Tokens per second and accelerator.

    r = B s / (t_step g)

    Parameters
    ----------
    global_batch : numeric
        Sequences B per step. [-]
    sequence : numeric
        Tokens s per sequence. [-]
    step_time : numeric
        Time of a step, t_step. [s]
    accelerators : numeric
        Accelerators g of the job; 1 gives the rate of the whole job. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [1/s]

    Notes
    -----
    All accelerators of the job count, whatever they do.

    References
    ----------
    .. [1] Megatron-LM, training log. https://github.com/NVIDIA/Megatron-LM
    """
    return global_batch * sequence / (step_time * accelerators)


@closed_form
def model_flops_rate(flops_per_token: Numeric, tokens_per_s: Numeric) -> Numeric:
    """Model operations per second.

    R = F r

    Parameters
    ----------
    flops_per_token : numeric
        Operations F per token in the convention that is named beside the result. [FLOP]
    tokens_per_s : numeric
        Tokens per second r. [1/s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [FLOP/s]

    Notes
    -----
    Conventions differ by up to a third on the same run; see the nomenclature.

    References
    ----------
    .. [1] Megatron-LM, training log. https://github.com/NVIDIA/Megatron-LM
    """
    return flops_per_token * tokens_per_s


@closed_form
def utilisation(rate: Numeric, peak: Numeric) -> Numeric:
    """Model FLOPs utilisation (MFU), or hardware FLOPs utilisation (HFU) with recomputed operations in the rate.

    u = R / F

    Parameters
    ----------
    rate : numeric
        Operations per second and accelerator R. [FLOP/s]
    peak : numeric
        Dense peak F of the data type of the matmuls. [FLOP/s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Means something only with convention, peak and data type beside it.

    References
    ----------
    .. [1] Chowdhery et al., "PaLM: Scaling Language Modeling with Pathways", 2022, appendix B.
       https://arxiv.org/abs/2204.02311
    """
    return rate / peak
