"""From the parts of a network to the whole: parameters and operations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric


@closed_form
def head_parameters(vocab: Numeric, hidden: Numeric, tied: Numeric, bias: Numeric) -> Numeric:
    """Parameters of the output head.

    P = V h [not tied] + [bias] V

    Parameters
    ----------
    vocab : numeric
        Rows V of the table. [-]
    hidden : numeric
        Width h. [-]
    tied : numeric
        1 if the head shares the embedding table. [-]
    bias : numeric
        1 if the head has a bias. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    A tied head has no matrix of its own.

    References
    ----------
    .. [1] Press and Wolf, "Using the Output Embedding to Improve Language Models", 2016. https://arxiv.org/abs/1608.05859
    """
    return vocab * hidden * (1.0 - tied) + bias * vocab


@closed_form
def query_key_norm_parameters(
    heads: Numeric, kv_heads: Numeric, head_dim: Numeric, per_head: Numeric, full_width: Numeric
) -> Numeric:
    """Parameters of norms on queries and keys.

    P = 2 d [per head] + d (a + k) [full width]

    Parameters
    ----------
    heads : numeric
        Query heads a. [-]
    kv_heads : numeric
        Key-value heads k. [-]
    head_dim : numeric
        Head width d. [-]
    per_head : numeric
        1 if one norm of width d is shared by all heads. [-]
    full_width : numeric
        1 if the norm spans all heads. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Norms without bias.

    References
    ----------
    .. [1] Henry et al., "Query-Key Normalization for Transformers", 2020. https://arxiv.org/abs/2010.04245
    """
    return per_head * 2.0 * head_dim + full_width * head_dim * (heads + kv_heads)


@closed_form
def moe_block_parameters(experts: Numeric, expert: Numeric, shared: Numeric, router: Numeric) -> Numeric:
    """Parameters of a feed-forward block with experts, all or active.

    P = e P_x + P_s + P_r

    Parameters
    ----------
    experts : numeric
        Experts e that count: all of them, or those that a token passes. [-]
    expert : numeric
        Parameters P_x of one expert. [-]
    shared : numeric
        Parameters P_s of the shared experts. [-]
    router : numeric
        Parameters P_r of the router. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Shared experts and router are always active.

    References
    ----------
    .. [1] Fedus et al., "Switch Transformers", 2021. https://arxiv.org/abs/2101.03961
    """
    return experts * expert + shared + router


@closed_form
def next_token_parameters(layer: Numeric, hidden: Numeric, norm_vectors: Numeric, modules: Numeric) -> Numeric:
    """Parameters of multi-token-prediction modules.

    P = m (P_l + 2 h^2 + 3 h x)

    Parameters
    ----------
    layer : numeric
        Parameters P_l of a layer of the module. [-]
    hidden : numeric
        Width h. [-]
    norm_vectors : numeric
        Learned vectors x per norm. [-]
    modules : numeric
        Modules m. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    A layer, a projection of twice the width, three norms; embedding and head are shared.

    References
    ----------
    .. [1] DeepSeek-AI, "DeepSeek-V3 Technical Report", 2024, section 2.2. https://arxiv.org/abs/2412.19437
    """
    return modules * (layer + (2.0 * hidden * hidden + 3.0 * hidden * norm_vectors))


@closed_form
def network_parameters(
    layers: Numeric, moe_layers: Numeric, every: Numeric, dense: Numeric, moe: Numeric, outside: Numeric
) -> Numeric:
    """Parameters of a whole network.

    P = l P_a + (l - l_m) P_d + l_m P_m + P_o

    Parameters
    ----------
    layers : numeric
        Layers l of the network. [-]
    moe_layers : numeric
        Layers l_m with experts. [-]
    every : numeric
        Parameters P_a that every layer has: attention and norms. [-]
    dense : numeric
        Parameters P_d of a dense feed-forward block. [-]
    moe : numeric
        Parameters P_m of a block with experts, all or active. [-]
    outside : numeric
        Parameters P_o outside the layers. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Exact as long as the count is below 2^53.

    References
    ----------
    .. [1] Megatron-LM, `num_floating_point_operations`. https://github.com/NVIDIA/Megatron-LM
    """
    return layers * every + (layers - moe_layers) * dense + moe_layers * moe + outside


@closed_form
def over_layers(each: Numeric, layers: Numeric, other: Numeric, other_layers: Numeric) -> Numeric:
    """Operations of all layers of a network that has two kinds.

    F = (l - l_o) F_1 + l_o F_o

    Parameters
    ----------
    each : numeric
        Operations F_1 of a usual layer. [FLOP]
    layers : numeric
        Layers l of the network. [-]
    other : numeric
        Operations F_o of a layer of the other kind. [FLOP]
    other_layers : numeric
        Layers l_o of the other kind: with a window, with experts. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [FLOP]

    Notes
    -----
    The order of the layers does not matter.

    References
    ----------
    .. [1] Megatron-LM, `num_floating_point_operations`. https://github.com/NVIDIA/Megatron-LM
    """
    return (layers - other_layers) * each + other_layers * other


@closed_form
def residual_blocks(parallel_block: Numeric) -> Numeric:
    """Blocks of a layer that end in a sum into the residual stream.

    c = 2 - [parallel]

    Parameters
    ----------
    parallel_block : numeric
        1 if attention and feed-forward run side by side. [-]

    Returns
    -------
    numeric
        Shape of the input. [-]

    Notes
    -----
    Each ends in one all-reduce over tensor parallel ranks.

    References
    ----------
    .. [1] Wang and Komatsuzaki, "GPT-J-6B", 2021. https://github.com/kingoflolz/mesh-transformer-jax
    """
    return 2.0 - parallel_block


@closed_form
def rank_flops(per_token: Numeric, tokens: Numeric, tensor: Numeric) -> Numeric:
    """Operations that one rank has to do for a micro-batch.

    F_r = F T / t

    Parameters
    ----------
    per_token : numeric
        Operations F per token of the whole network part. [FLOP]
    tokens : numeric
        Tokens T of a micro-batch on the rank. [-]
    tensor : numeric
        Tensor parallel ranks t. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [FLOP]

    Notes
    -----
    Even split over tensor parallel ranks.

    References
    ----------
    .. [1] Shoeybi et al., "Megatron-LM: Training Multi-Billion Parameter Language Models Using Model Parallelism",
       2019. https://arxiv.org/abs/1909.08053
    """
    return per_token * tokens / tensor


@closed_form
def fused_backward_flops(forward: Numeric) -> Numeric:
    """Backward operations of fused attention.

    F_b = 2.5 F

    Parameters
    ----------
    forward : numeric
        Forward operations F of the attention core. [FLOP]

    Returns
    -------
    numeric
        Shape of the input. [FLOP]

    Notes
    -----
    Five matmuls for the two of the forward pass: scores are computed again.

    References
    ----------
    .. [1] Dao, "FlashAttention-2: Faster Attention with Better Parallelism and Work Partitioning", 2023.
       https://arxiv.org/abs/2307.08691
    """
    return 2.5 * forward


@closed_form
def hardware_flops(
    training: Numeric, forward: Numeric, logits: Numeric, core: Numeric, full: Numeric, selective: Numeric
) -> Numeric:
    """Operations with those that are computed again.

    F = F_t + [full] (F_f - F_l) + [selective] F_a

    Parameters
    ----------
    training : numeric
        Operations F_t forward and backward, nothing twice. [FLOP]
    forward : numeric
        Forward operations F_f. [FLOP]
    logits : numeric
        Forward operations F_l of the output head. [FLOP]
    core : numeric
        Forward operations F_a of the attention core. [FLOP]
    full : numeric
        1 if whole layers are computed again. [-]
    selective : numeric
        1 if the attention core is computed again. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [FLOP]

    Notes
    -----
    The output head is never computed again.

    References
    ----------
    .. [1] Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models", 2022.
       https://arxiv.org/abs/2205.05198
    """
    return training + full * (forward - logits) + selective * core
