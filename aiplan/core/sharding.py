"""What one rank holds of a layer: heads, widths, rows, experts, parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric


@closed_form
def padded_vocabulary(vocab: Numeric, tensor: Numeric) -> Numeric:
    """Rows of the output head as it is computed: a whole number of 64 on every rank.

    V' = 64 t ceil(V / (64 t))

    Parameters
    ----------
    vocab : numeric
        Rows V of the table. [-]
    tensor : numeric
        Tensor parallel ranks t. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Frameworks pad the table, to 64 or 128 rows, for the sake of matrix units; memory and operations are counted
    without.

    References
    ----------
    .. [1] Megatron-LM, make-vocab-size-divisible-by. https://github.com/NVIDIA/Megatron-LM
    """
    return 64.0 * tensor * np.ceil(vocab / (64.0 * tensor))


@closed_form
def share(whole: Numeric, ranks: Numeric) -> Numeric:
    """Even share that each of several ranks has of a width or a count.

    x_1 = x / p

    Parameters
    ----------
    whole : numeric
        Width, rows or count x of the whole. [-]
    ranks : numeric
        Ranks p that share it. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Layouts that do not divide are refused before.

    References
    ----------
    .. [1] Shoeybi et al., "Megatron-LM: Training Multi-Billion Parameter Language Models Using Model Parallelism",
       2019. https://arxiv.org/abs/1909.08053
    """
    return whole / ranks


@closed_form
def sequence_shards(tensor: Numeric, sequence_parallel: Numeric) -> Numeric:
    """Ranks over which norms, residuals and layer inputs are split.

    q = t if [sequence parallel] else 1

    Parameters
    ----------
    tensor : numeric
        Tensor parallel ranks t. [-]
    sequence_parallel : numeric
        1 if norms and residuals are split along the sequence. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Without sequence parallelism every tensor parallel rank holds them whole.

    References
    ----------
    .. [1] Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models", 2022.
       https://arxiv.org/abs/2205.05198
    """
    return np.where(np.asarray(sequence_parallel) > 0, tensor, 1.0)


@closed_form
def held_kv_heads(heads: Numeric, kv_heads: Numeric, latent: Numeric, tensor: Numeric) -> Numeric:
    """Key-value heads that the tensor parallel ranks hold, all together.

    k_t = a if [latent] else max(k, t)

    Parameters
    ----------
    heads : numeric
        Query heads a. [-]
    kv_heads : numeric
        Key-value heads k. [-]
    latent : numeric
        1 with latent attention, which expands keys and values for every head. [-]
    tensor : numeric
        Tensor parallel ranks t. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    A key-value head is copied when there are fewer of them than ranks.

    References
    ----------
    .. [1] Ainslie et al., "GQA: Training Generalized Multi-Query Transformer Models", 2023.
       https://arxiv.org/abs/2305.13245
    """
    return np.where(np.asarray(latent) > 0, heads, np.maximum(kv_heads, tensor))


@closed_form
def query_key_value_width(heads: Numeric, kv_heads: Numeric, head_dim: Numeric, tensor: Numeric) -> Numeric:
    """Columns of the fused query, key and value projection on one rank.

    w = d (a + 2 k) / t

    Parameters
    ----------
    heads : numeric
        Query heads a. [-]
    kv_heads : numeric
        Key-value heads k, copies included. [-]
    head_dim : numeric
        Head width d. [-]
    tensor : numeric
        Tensor parallel ranks t. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Grouped-query attention; one matmul for all three.

    References
    ----------
    .. [1] Ainslie et al., "GQA: Training Generalized Multi-Query Transformer Models", 2023.
       https://arxiv.org/abs/2305.13245
    """
    return head_dim * (heads + 2.0 * kv_heads) / tensor


@closed_form
def heads_width(heads: Numeric, width: Numeric, tensor: Numeric) -> Numeric:
    """Width of the heads that one rank holds.

    w = a d / t

    Parameters
    ----------
    heads : numeric
        Heads a. [-]
    width : numeric
        Width d of a head. [-]
    tensor : numeric
        Tensor parallel ranks t. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Heads are split over tensor parallel ranks, never cut.

    References
    ----------
    .. [1] Shoeybi et al., "Megatron-LM: Training Multi-Billion Parameter Language Models Using Model Parallelism",
       2019. https://arxiv.org/abs/1909.08053
    """
    return heads * width / tensor


@closed_form
def attention_groups(micro_batch: Numeric, heads: Numeric, tensor: Numeric) -> Numeric:
    """Equal attention matmuls that a rank starts in one launch: one per head and sequence.

    g = b a / t

    Parameters
    ----------
    micro_batch : numeric
        Sequences b per micro-batch. [-]
    heads : numeric
        Query heads a. [-]
    tensor : numeric
        Tensor parallel ranks t. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    For attention kernels that keep their score matrix.

    References
    ----------
    .. [1] Shoeybi et al., "Megatron-LM: Training Multi-Billion Parameter Language Models Using Model Parallelism",
       2019. https://arxiv.org/abs/1909.08053
    """
    return micro_batch * heads / tensor


@closed_form
def held_experts(experts: Numeric, expert: Numeric) -> Numeric:
    """Routed experts of a layer that one rank holds, whole or in part.

    e_1 = max(e / p, 1)

    Parameters
    ----------
    experts : numeric
        Routed experts e of a layer. [-]
    expert : numeric
        Expert parallel ranks p. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Tensor parallelism inside an expert makes it narrower, not fewer.

    References
    ----------
    .. [1] Lepikhin et al., "GShard: Scaling Giant Models with Conditional Computation and Automatic Sharding", 2020.
       https://arxiv.org/abs/2006.16668
    """
    return np.maximum(experts / expert, 1.0)


@closed_form
def routed_rows(tokens: Numeric, top_k: Numeric, expert_tensor: Numeric, tensor: Numeric) -> Numeric:
    """Rows that the experts of one rank compute for a micro-batch.

    r = T k t_e / t

    Parameters
    ----------
    tokens : numeric
        Tokens T of a micro-batch on the rank. [-]
    top_k : numeric
        Routed experts k that a token passes. [-]
    expert_tensor : numeric
        Tensor parallel ranks t_e inside an expert. [-]
    tensor : numeric
        Tensor parallel ranks t. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Tokens are spread evenly over experts. Tensor parallel ranks hand in a share of the tokens each; the ranks inside an
    expert all compute the same rows.

    References
    ----------
    .. [1] Liu et al., "MoE Parallel Folding", 2025. https://arxiv.org/abs/2504.14960
    """
    return tokens * top_k * expert_tensor / tensor


@closed_form
def expert_shards(data: Numeric, context: Numeric, tensor: Numeric, expert: Numeric, expert_tensor: Numeric) -> Numeric:
    """Ranks that hold the same expert parameters.

    k = max(d c t / (p t_e), 1)

    Parameters
    ----------
    data : numeric
        Data parallel ranks d. [-]
    context : numeric
        Context parallel ranks c. [-]
    tensor : numeric
        Tensor parallel ranks t. [-]
    expert : numeric
        Expert parallel ranks p. [-]
    expert_tensor : numeric
        Tensor parallel ranks t_e inside an expert. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Experts fold over all ranks of a pipeline stage.

    References
    ----------
    .. [1] Liu et al., "MoE Parallel Folding", 2025. https://arxiv.org/abs/2504.14960
    """
    return np.maximum(data * context * tensor / (expert * expert_tensor), 1.0)


@closed_form
def expert_layer_parameters(experts: Numeric, parameters: Numeric, expert: Numeric, expert_tensor: Numeric) -> Numeric:
    """Parameters of one layer's routed experts on one rank.

    P_1 = e P / (p t_e)

    Parameters
    ----------
    experts : numeric
        Routed experts e of a layer. [-]
    parameters : numeric
        Parameters P of one expert. [-]
    expert : numeric
        Expert parallel ranks p. [-]
    expert_tensor : numeric
        Tensor parallel ranks t_e inside an expert. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Before ZeRO.

    References
    ----------
    .. [1] Liu et al., "MoE Parallel Folding", 2025. https://arxiv.org/abs/2504.14960
    """
    return experts / (expert * expert_tensor) * parameters


@closed_form
def tied_copies(tied: Numeric, pipeline: Numeric) -> Numeric:
    """Whether the last stage holds a copy of a tied embedding table.

    c = [tied and p > 1]

    Parameters
    ----------
    tied : numeric
        1 if the output head shares the embedding table. [-]
    pipeline : numeric
        Pipeline stages p. [-]

    Returns
    -------
    numeric
        1 or 0, broadcast shape of the inputs. [-]

    Notes
    -----
    First and last stage keep the copies equal by adding up their gradients.

    References
    ----------
    .. [1] Press and Wolf, "Using the Output Embedding to Improve Language Models", 2016. https://arxiv.org/abs/1608.05859
    """
    return np.where((np.asarray(pipeline) > 1) & (np.asarray(tied) > 0), 1.0, 0.0)


@closed_form
def stage_parameters(matrices: Numeric, ends: Numeric, copied: Numeric, tensor: Numeric) -> Numeric:
    """Parameters that one rank of a pipeline stage holds, routed experts apart.

    P = (P_m + P_e) / t + P_c

    Parameters
    ----------
    matrices : numeric
        Parameters P_m of the matrices of the stage. [-]
    ends : numeric
        Parameters P_e of the embedding and the output head there. [-]
    copied : numeric
        Parameters P_c that every tensor parallel rank holds: norms and routers. [-]
    tensor : numeric
        Tensor parallel ranks t. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Biases count with their matrices. Before ZeRO.

    References
    ----------
    .. [1] Shoeybi et al., "Megatron-LM: Training Multi-Billion Parameter Language Models Using Model Parallelism",
       2019. https://arxiv.org/abs/1909.08053
    """
    return (matrices + ends) / tensor + copied


@closed_form
def largest_layer(
    attention: Numeric, dense: Numeric, experts: Numeric, moe_layers: Numeric, tensor: Numeric
) -> Numeric:
    """Parameters of the largest layer on one rank, gathered from all data parallel ranks.

    P = max((P_a + P_d) / t, P_a / t + P_x [l_m > 0])

    Parameters
    ----------
    attention : numeric
        Parameters P_a of the attention of a layer. [-]
    dense : numeric
        Parameters P_d of a dense feed-forward block. [-]
    experts : numeric
        Parameters P_x of the routed experts of a layer on one rank. [-]
    moe_layers : numeric
        Layers l_m with experts. [-]
    tensor : numeric
        Tensor parallel ranks t. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Norms, routers and shared experts do not show beside the matrices.

    References
    ----------
    .. [1] Zhao et al., "PyTorch FSDP: Experiences on Scaling Fully Sharded Data Parallel", 2023.
       https://arxiv.org/abs/2304.11277
    """
    with_experts = np.where(np.asarray(moe_layers) > 0, attention / tensor + experts, 0.0)
    return np.maximum((attention + dense) / tensor, with_experts)
