"""Bytes that the element-wise operations of a layer move."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric


@closed_form
def norm_traffic(hidden: Numeric, norms: Numeric, element_bytes: Numeric) -> Numeric:
    """Bytes per token that the norms of a layer move.

    n = 2 c h e

    Parameters
    ----------
    hidden : numeric
        Width h. [-]
    norms : numeric
        Norms c of a layer. [-]
    element_bytes : numeric
        Bytes e of an activation. [B]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B]

    Notes
    -----
    One read, one write; statistics stay on the chip.

    References
    ----------
    .. [1] Ivanov et al., "Data Movement Is All You Need", MLSys 2021. https://arxiv.org/abs/2007.00072
    """
    return norms * hidden * 2.0 * element_bytes


@closed_form
def residual_traffic(hidden: Numeric, element_bytes: Numeric, dropout: Numeric) -> Numeric:
    """Bytes per token that the two residual additions of a layer move.

    n = 2 h (3 e + [dropout])

    Parameters
    ----------
    hidden : numeric
        Width h. [-]
    element_bytes : numeric
        Bytes e of an activation. [B]
    dropout : numeric
        1 if there are dropout masks of one byte. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B]

    Notes
    -----
    Two reads and one write each, and a dropout mask.

    References
    ----------
    .. [1] Ivanov et al., "Data Movement Is All You Need", MLSys 2021. https://arxiv.org/abs/2007.00072
    """
    return 2.0 * hidden * (3.0 * element_bytes + dropout)


@closed_form
def activation_traffic(width: Numeric, gated: Numeric, element_bytes: Numeric, tensor: Numeric) -> Numeric:
    """Bytes per token that the activation function of a feed-forward block moves on one rank.

    n = f (2 + g) e / t

    Parameters
    ----------
    width : numeric
        Inner width f of the feed-forward block. [-]
    gated : numeric
        g = 1 for gated units (three matrices), 0 otherwise. [-]
    element_bytes : numeric
        Bytes e of an activation. [B]
    tensor : numeric
        Tensor parallel ranks t. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B]

    Notes
    -----
    One or two reads, one write.

    References
    ----------
    .. [1] Ivanov et al., "Data Movement Is All You Need", MLSys 2021. https://arxiv.org/abs/2007.00072
    """
    return width * (2.0 + gated) * element_bytes / tensor


@closed_form
def rotary_traffic(
    heads: Numeric, kv_heads: Numeric, head_dim: Numeric, element_bytes: Numeric, tensor: Numeric, positions: Numeric
) -> Numeric:
    """Bytes per token that turning queries and keys by their position moves on one rank.

    n = 2 e d (a + k) / t if there is no position table else 0

    Parameters
    ----------
    heads : numeric
        Query heads a. [-]
    kv_heads : numeric
        Key-value heads k. [-]
    head_dim : numeric
        Head width d. [-]
    element_bytes : numeric
        Bytes e of an activation. [B]
    tensor : numeric
        Tensor parallel ranks t. [-]
    positions : numeric
        Rows of a learned position table; 0 for rotary positions. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B]

    Notes
    -----
    One read, one write.

    References
    ----------
    .. [1] Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding", 2021.
       https://arxiv.org/abs/2104.09864
    """
    turned = 2.0 * element_bytes * head_dim * (heads + kv_heads) / tensor
    return np.where(np.asarray(positions) > 0, 0.0, turned)


@closed_form
def elementwise_passes(fused: Numeric) -> Numeric:
    """How often a chain of element-wise operations goes through memory.

    c = 2 - [fused]

    Parameters
    ----------
    fused : numeric
        1 if chains of element-wise operations are one kernel. [-]

    Returns
    -------
    numeric
        Shape of the input. [-]

    Notes
    -----
    Bias, activation, dropout and residual addition are two kernels each where nothing fuses them.

    References
    ----------
    .. [1] Ivanov et al., "Data Movement Is All You Need", MLSys 2021. https://arxiv.org/abs/2007.00072
    """
    return 2.0 - fused


@closed_form
def elementwise_traffic(
    tokens: Numeric,
    norms: Numeric,
    residuals: Numeric,
    activation: Numeric,
    rotary: Numeric,
    shards: Numeric,
    weight: Numeric,
    passes: Numeric,
) -> Numeric:
    """Bytes that the element-wise operations of a layer move for a micro-batch on one rank.

    n = c T ((w n_n + n_r) / q + w n_a + n_p)

    Parameters
    ----------
    tokens : numeric
        Tokens T of a micro-batch on the rank. [-]
    norms : numeric
        Bytes n_n per token of the norms. [B]
    residuals : numeric
        Bytes n_r per token of the residual additions. [B]
    activation : numeric
        Bytes n_a per token of the activation function. [B]
    rotary : numeric
        Bytes n_p per token of rotary positions. [B]
    shards : numeric
        Ranks q over which norms and residuals are split. [-]
    weight : numeric
        Traffic w of norms and activation over that forward: 1 forward, 1.5 backward, which reads the saved input too.
        [-]
    passes : numeric
        How often c a chain goes through memory. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B]

    Notes
    -----
    Caches between kernels are not counted.

    References
    ----------
    .. [1] Ivanov et al., "Data Movement Is All You Need", MLSys 2021. https://arxiv.org/abs/2007.00072
    """
    return tokens * ((weight * norms + residuals) / shards + weight * activation + rotary) * passes


@closed_form
def elementwise_kernels(chains: Numeric, passes: Numeric) -> Numeric:
    """Kernels of the element-wise operations of a layer.

    c = k p

    Parameters
    ----------
    chains : numeric
        Chains of operations k of a layer: 6 forward, 8 backward. [-]
    passes : numeric
        Kernels p of each. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Two norms, two residual additions, activation function and rotary positions; norms and activation take one more each
    backward.

    References
    ----------
    .. [1] Ivanov et al., "Data Movement Is All You Need", MLSys 2021. https://arxiv.org/abs/2007.00072
    """
    return np.multiply(chains, passes)


@closed_form
def cast_traffic(
    tokens: Numeric,
    hidden: Numeric,
    heads_width: Numeric,
    ffn_width: Numeric,
    wide_bytes: Numeric,
    narrow_bytes: Numeric,
    share: Numeric,
) -> Numeric:
    """Bytes that turning the inputs of one layer's matmuls into a narrower type moves, one way.

    n = s T (2 h + w + f) (e_w + e_n) if e_n < e_w, else 0

    Parameters
    ----------
    tokens : numeric
        Tokens T of a micro-batch on one rank. [-]
    hidden : numeric
        Width h, input of the first projection and of the feed-forward block. [-]
    heads_width : numeric
        Width w of the heads on one rank, input of the output projection. [-]
    ffn_width : numeric
        Inner width f on one rank, input of the second feed-forward matrix. [-]
    wide_bytes : numeric
        Bytes e_w of an activation. [B]
    narrow_bytes : numeric
        Bytes e_n of an element of the matmuls. [B]
    share : numeric
        Share s of the casts that are kernels of their own; the rest is fused into the kernel before. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B]

    Notes
    -----
    Scales and their maxima are not counted; the backward pass casts as many gradients.

    References
    ----------
    .. [1] NVIDIA Transformer Engine, FP8 primer. https://github.com/NVIDIA/TransformerEngine
    """
    moved = share * tokens * (2.0 * hidden + heads_width + ffn_width) * (wide_bytes + narrow_bytes)
    return np.where(np.asarray(narrow_bytes) < wide_bytes, moved, 0.0)
