"""Widths and lengths that formulas take, mean over the layers of a network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric


@closed_form
def routed_width(top_k: Numeric, expert_ffn: Numeric, shared_ffn: Numeric, split: Numeric) -> Numeric:
    """Inner width that one token passes in a feed-forward block with experts.

    w = k f t_e + f_s

    Parameters
    ----------
    top_k : numeric
        Routed experts k that a token passes. [-]
    expert_ffn : numeric
        Inner width f of one expert. [-]
    shared_ffn : numeric
        Inner width f_s of all shared experts. [-]
    split : numeric
        Ranks t_e that compute the same rows, over the ranks that the width is split over later; 1 for the whole
        network. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Routed rows are computed by all tensor parallel ranks inside an expert.

    References
    ----------
    .. [1] Fedus et al., "Switch Transformers", 2021. https://arxiv.org/abs/2101.03961
    """
    return top_k * expert_ffn * split + shared_ffn


@closed_form
def mean_ffn_width(dense: Numeric, routed: Numeric, layers: Numeric, moe_layers: Numeric) -> Numeric:
    """Inner width of feed-forward blocks, mean over the layers.

    f_m = (1 - s) f + s w, s = l_m / l

    Parameters
    ----------
    dense : numeric
        Inner width f of a dense block. [-]
    routed : numeric
        Inner width w that a token passes in a block with experts. [-]
    layers : numeric
        Layers l of the network. [-]
    moe_layers : numeric
        Layers l_m with experts. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    For sums over layers that are linear in the width.

    References
    ----------
    .. [1] Fedus et al., "Switch Transformers", 2021. https://arxiv.org/abs/2101.03961
    """
    share = moe_layers / layers
    return dense * (1.0 - share) + routed * share


@closed_form
def stored_ffn_width(
    width: Numeric,
    gated: Numeric,
    fused: Numeric,
    hidden: Numeric,
    top_k: Numeric,
    layers: Numeric,
    moe_layers: Numeric,
) -> Numeric:
    """Widths that a feed-forward block keeps for its backward pass, mean over the layers.

    w = f (2 + g (2 - [fused])) + 2 s k h, s = l_m / l

    Parameters
    ----------
    width : numeric
        Inner width f, mean over the layers. [-]
    gated : numeric
        g = 1 for gated units (three matrices), 0 otherwise. [-]
    fused : numeric
        1 if the activation and its product with the gate are one kernel; else the activation is kept too. [-]
    hidden : numeric
        Width h. [-]
    top_k : numeric
        Routed experts k that a token passes. [-]
    layers : numeric
        Layers l of the network. [-]
    moe_layers : numeric
        Layers l_m with experts. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Experts keep the rows that were sent to them and what they send back.

    References
    ----------
    .. [1] Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models", 2022.
       https://arxiv.org/abs/2205.05198
    """
    return width * (2.0 + gated * (2.0 - fused)) + moe_layers / layers * top_k * 2.0 * hidden


@closed_form
def mean_attended_length(whole: Numeric, windowed: Numeric, layers: Numeric, window_layers: Numeric) -> Numeric:
    """Keys that one query attends to, mean over layers with and without a window.

    n_m = (1 - s) n + s n_w, s = l_w / l

    Parameters
    ----------
    whole : numeric
        Keys n per query without a window. [-]
    windowed : numeric
        Keys n_w per query in the window. [-]
    layers : numeric
        Layers l of the network. [-]
    window_layers : numeric
        Layers l_w with a window. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    For sums over layers that are linear in the length.

    References
    ----------
    .. [1] Beltagy et al., "Longformer: The Long-Document Transformer", 2020. https://arxiv.org/abs/2004.05150
    """
    share = window_layers / layers
    return (1.0 - share) * whole + share * windowed


@closed_form
def mean_head_width(heads: Numeric, key_dim: Numeric, value_dim: Numeric) -> Numeric:
    """Width of all heads, mean of keys and values.

    w = a (d_k + d_v) / 2

    Parameters
    ----------
    heads : numeric
        Heads a. [-]
    key_dim : numeric
        Head width d_k of queries and keys. [-]
    value_dim : numeric
        Head width d_v of values. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Equal widths give a d.

    References
    ----------
    .. [1] DeepSeek-AI, "DeepSeek-V2", 2024, section 2.1. https://arxiv.org/abs/2405.04434
    """
    return heads * (key_dim + value_dim) / 2.0


@closed_form
def first_matrix_width(width: Numeric, gated: Numeric) -> Numeric:
    """Columns of the first matmul of a feed-forward block.

    w = f (1 + g)

    Parameters
    ----------
    width : numeric
        Inner width f of a feed-forward block on one rank. [-]
    gated : numeric
        g = 1 for gated units (three matrices), 0 otherwise. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Gate and value are computed in one matmul.

    References
    ----------
    .. [1] Shazeer, "GLU Variants Improve Transformer", 2020. https://arxiv.org/abs/2002.05202
    """
    return width * (1.0 + gated)
