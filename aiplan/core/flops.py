"""Operations of a decoder-only transformer per token: projections, attention, feed-forward, output head.

A multiply-accumulate counts as two operations. Forward only; a backward pass costs twice the forward matmuls. Every
function broadcasts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric


@closed_form
def attended_length(sequence: Numeric, window: Numeric, causal: Numeric) -> Numeric:
    """Keys that one query attends to, averaged over a sequence.

    full: s; causal: s / 2; causal in a window w < s: w - w^2 / (2 s); full in a window: min(w, s)

    Parameters
    ----------
    sequence : numeric
        Sequence length s. [-]
    window : numeric
        Sliding window w; 0 for none. [-]
    causal : numeric
        1 counts the causal half only, 0 the full square. [-]

    Returns
    -------
    numeric
        Keys per query, broadcast shape of the inputs. [-]

    Notes
    -----
    Counts s / 2, not (s + 1) / 2, as Megatron-LM does since March 2025.

    References
    ----------
    .. [1] Megatron-LM, `num_floating_point_operations`. https://github.com/NVIDIA/Megatron-LM
    """
    windowed = (np.asarray(window) > 0) & (window < sequence)
    reach = np.asarray(np.where(windowed, window, sequence), dtype=float)
    return np.where(np.asarray(causal) > 0, reach - np.square(reach) / (2.0 * sequence), reach)


@closed_form
def attention_projection_flops(hidden: Numeric, heads: Numeric, kv_heads: Numeric, head_dim: Numeric) -> Numeric:
    """Forward operations per token of one layer's attention projections.

    F = 2 h d (2 a + 2 k)

    Parameters
    ----------
    hidden : numeric
        Width h. [-]
    heads : numeric
        Query heads a. [-]
    kv_heads : numeric
        Key-value heads k. [-]
    head_dim : numeric
        Head width d. [-]

    Returns
    -------
    numeric
        Operations per token, broadcast shape of the inputs. [FLOP]

    Notes
    -----
    Biases are not counted.

    References
    ----------
    .. [1] Megatron-LM, `num_floating_point_operations`. https://github.com/NVIDIA/Megatron-LM
    """
    return 2.0 * hidden * head_dim * (2 * heads + 2 * kv_heads)


@closed_form
def latent_projection_flops(parameters: Numeric) -> Numeric:
    """Forward operations per token of one layer's latent-attention projections.

    F = 2 P

    Parameters
    ----------
    parameters : numeric
        Parameters P of the projections, inner norms included. [-]

    Returns
    -------
    numeric
        Operations per token, broadcast shape of the inputs. [FLOP]

    Notes
    -----
    The inner norms are counted with the projections, as Megatron-LM does (below 0.01 %).

    References
    ----------
    .. [1] Megatron-LM, `num_floating_point_operations`. https://github.com/NVIDIA/Megatron-LM
    """
    return 2.0 * parameters


@closed_form
def attention_core_flops(heads: Numeric, key_dim: Numeric, value_dim: Numeric, attended: Numeric) -> Numeric:
    """Forward operations per token of scores and weighted values, one layer.

    F = 2 a (d_k + d_v) n

    Parameters
    ----------
    heads : numeric
        Query heads a. [-]
    key_dim : numeric
        Head width d_k of queries and keys. [-]
    value_dim : numeric
        Head width d_v of values. [-]
    attended : numeric
        Keys n per query. [-]

    Returns
    -------
    numeric
        Operations per token, broadcast shape of the inputs. [FLOP]

    Notes
    -----
    Softmax is not counted. Key-value heads do not change the count.

    References
    ----------
    .. [1] Megatron-LM, `num_floating_point_operations`. https://github.com/NVIDIA/Megatron-LM
    """
    return 2.0 * heads * (key_dim + value_dim) * attended


@closed_form
def mlp_flops(hidden: Numeric, ffn: Numeric, gated: Numeric) -> Numeric:
    """Forward operations per token of one feed-forward block.

    F = 2 h f (2 + g)

    Parameters
    ----------
    hidden : numeric
        Width h. [-]
    ffn : numeric
        Inner width f that one token passes: of a dense block, or top-k experts plus shared ones. [-]
    gated : numeric
        g = 1 for gated units, 0 otherwise. [-]

    Returns
    -------
    numeric
        Operations per token, broadcast shape of the inputs. [FLOP]

    Notes
    -----
    Biases, activation function and router are not counted.

    References
    ----------
    .. [1] Megatron-LM, `num_floating_point_operations`. https://github.com/NVIDIA/Megatron-LM
    """
    return 2.0 * hidden * ffn * (2 + gated)


@closed_form
def logits_flops(hidden: Numeric, vocab: Numeric) -> Numeric:
    """Forward operations per token of the output head.

    F = 2 h V

    Parameters
    ----------
    hidden : numeric
        Width h. [-]
    vocab : numeric
        Rows V that are held, padding included. [-]

    Returns
    -------
    numeric
        Operations per token, broadcast shape of the inputs. [FLOP]

    Notes
    -----
    The input embedding is a look-up and counts nothing.

    References
    ----------
    .. [1] Megatron-LM, `num_floating_point_operations`. https://github.com/NVIDIA/Megatron-LM
    """
    return 2.0 * hidden * vocab


@closed_form
def next_token_module_flops(hidden: Numeric) -> Numeric:
    """Forward operations per token of what a multi-token-prediction module adds to a layer and a head.

    F = 2 (3 h + 2 h^2)

    Parameters
    ----------
    hidden : numeric
        Width h. [-]

    Returns
    -------
    numeric
        Operations per token, broadcast shape of the inputs. [FLOP]

    Notes
    -----
    The module's own transformer layer and its pass through the output head are counted apart.

    References
    ----------
    .. [1] DeepSeek-AI, "DeepSeek-V3 Technical Report", 2024, section 2.2. https://arxiv.org/abs/2412.19437
    """
    return 2.0 * (3.0 * hidden + 2.0 * np.square(np.asarray(hidden, dtype=float)))


@closed_form
def flops_6nd(parameters: Numeric) -> Numeric:
    """Forward and backward operations per token by the 6 N rule.

    F = 6 N

    Parameters
    ----------
    parameters : numeric
        Active parameters N. [-]

    Returns
    -------
    numeric
        Operations per token, broadcast shape of the inputs. [FLOP]

    Notes
    -----
    No attention core: 30 % low at 32 k tokens and 67 % low at 128 k for an 8B model.

    References
    ----------
    .. [1] Kaplan et al., "Scaling Laws for Neural Language Models", 2020. https://arxiv.org/abs/2001.08361
    """
    return 6.0 * parameters


@closed_form
def training_flops(forward: Numeric) -> Numeric:
    """Forward and backward operations from the forward ones.

    F = 3 F_forward

    Parameters
    ----------
    forward : numeric
        Forward operations. [FLOP]

    Returns
    -------
    numeric
        Forward plus both backward matmuls (inputs and weights), shape of the input. [FLOP]

    Notes
    -----
    No recompute.

    References
    ----------
    .. [1] Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters", SC21, appendix.
       https://arxiv.org/abs/2104.04473
    """
    return 3.0 * forward
