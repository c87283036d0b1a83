"""Parameters of decoder-only transformers, exact to the last digit.

All counts are per layer, or per table, so that a caller multiplies by how many it holds. Every function broadcasts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric


@closed_form
def attention_parameters(
    hidden: Numeric,
    heads: Numeric,
    kv_heads: Numeric,
    head_dim: Numeric,
    qkv_bias: Numeric = 0,
    output_bias: Numeric = 0,
) -> Numeric:
    """Parameters of one layer's attention projections, grouped-query attention included.

    P = h d (2 a + 2 k) + [qkv bias] d (a + 2 k) + [output bias] h

    Parameters
    ----------
    hidden : numeric
        Width h. [-]
    heads : numeric
        Query heads a. [-]
    kv_heads : numeric
        Key-value heads k; a for multi-head, 1 for multi-query attention. [-]
    head_dim : numeric
        Head width d; not always h / a. [-]
    qkv_bias : numeric
        1 if query, key and value projections have a bias. [-]
    output_bias : numeric
        1 if the output projection has a bias. [-]

    Returns
    -------
    numeric
        Parameters, broadcast shape of the inputs. [-]

    Notes
    -----
    No latent projections (see `latent_attention_parameters`), no norms.

    References
    ----------
    .. [1] Ainslie et al., "GQA: Training Generalized Multi-Query Transformer Models", 2023.
       https://arxiv.org/abs/2305.13245
    """
    projections = hidden * head_dim * (2 * heads + 2 * kv_heads)
    return projections + qkv_bias * head_dim * (heads + 2 * kv_heads) + output_bias * hidden


@closed_form
def latent_attention_parameters(
    hidden: Numeric,
    heads: Numeric,
    query_rank: Numeric,
    key_value_rank: Numeric,
    nope_dim: Numeric,
    rope_dim: Numeric,
    value_dim: Numeric,
) -> Numeric:
    """Parameters of one layer of multi-head latent attention (MLA), its two inner norms included.

    P = q (h + a (n + r) + 1) + c (h + a (n + v) + 1) + h r + a v h; without a query rank, q-term = h a (n + r)

    Parameters
    ----------
    hidden : numeric
        Width h. [-]
    heads : numeric
        Heads a. [-]
    query_rank : numeric
        Rank q of the query path; 0 means a full-rank query projection. [-]
    key_value_rank : numeric
        Rank c of the shared key-value path. [-]
    nope_dim : numeric
        Head width n without rotary positions. [-]
    rope_dim : numeric
        Head width r with rotary positions. [-]
    value_dim : numeric
        Head width v of the values. [-]

    Returns
    -------
    numeric
        Parameters, broadcast shape of the inputs. [-]

    Notes
    -----
    The rotary key of width r is shared by all heads.

    References
    ----------
    .. [1] DeepSeek-AI, "DeepSeek-V2", 2024, section 2.1. https://arxiv.org/abs/2405.04434
    """
    query_width = heads * (nope_dim + rope_dim)
    low_rank = query_rank * (hidden + query_width + 1)
    query = np.where(np.asarray(query_rank) > 0, low_rank, hidden * query_width)
    key_value = key_value_rank * (hidden + heads * (nope_dim + value_dim) + 1) + hidden * rope_dim
    return query + key_value + heads * value_dim * hidden


@closed_form
def mlp_parameters(hidden: Numeric, ffn: Numeric, gated: Numeric, bias: Numeric = 0) -> Numeric:
    """Parameters of one feed-forward block, dense or one expert.

    P = h f (2 + g) + [bias] (f (1 + g) + h)

    Parameters
    ----------
    hidden : numeric
        Width h. [-]
    ffn : numeric
        Inner width f. [-]
    gated : numeric
        g = 1 for gated units (SwiGLU, GeGLU: three matrices), 0 otherwise (two). [-]
    bias : numeric
        1 if every matrix has a bias. [-]

    Returns
    -------
    numeric
        Parameters, broadcast shape of the inputs. [-]

    Notes
    -----
    A width of 0 gives 0 parameters only without bias.

    References
    ----------
    .. [1] Shazeer, "GLU Variants Improve Transformer", 2020. https://arxiv.org/abs/2002.05202
    """
    return hidden * ffn * (2 + gated) + bias * (ffn * (1 + gated) + hidden)


@closed_form
def router_parameters(hidden: Numeric, experts: Numeric, bias: Numeric = 0) -> Numeric:
    """Parameters of one layer's expert router.

    P = h e + [bias] e

    Parameters
    ----------
    hidden : numeric
        Width h. [-]
    experts : numeric
        Routed experts e; 0 for a dense layer. [-]
    bias : numeric
        1 if the router has a bias or a learned score correction. [-]

    Returns
    -------
    numeric
        Parameters, broadcast shape of the inputs. [-]

    Notes
    -----
    Linear routers only.

    References
    ----------
    .. [1] Fedus et al., "Switch Transformers", 2021. https://arxiv.org/abs/2101.03961
    """
    return hidden * experts + bias * experts


@closed_form
def norm_parameters(width: Numeric, norms: Numeric, vectors: Numeric) -> Numeric:
    """Parameters of normalisations.

    P = c w x

    Parameters
    ----------
    width : numeric
        Width w that is normalised. [-]
    norms : numeric
        How many norms c. [-]
    vectors : numeric
        Learned vectors x in each: 2 for LayerNorm, 1 for RMSNorm, 0 for none. [-]

    Returns
    -------
    numeric
        Parameters, broadcast shape of the inputs. [-]

    Notes
    -----
    Counts learned vectors only.

    References
    ----------
    .. [1] Zhang and Sennrich, "Root Mean Square Layer Normalization", 2019. https://arxiv.org/abs/1910.07467
    """
    return norms * width * vectors


@closed_form
def embedding_parameters(vocab: Numeric, hidden: Numeric, positions: Numeric = 0) -> Numeric:
    """Parameters of an embedding table, with learned positions if there are any.

    P = (V + l) h

    Parameters
    ----------
    vocab : numeric
        Rows V that are held, padding included. [-]
    hidden : numeric
        Width h. [-]
    positions : numeric
        Rows l of a learned position table; 0 for rotary, ALiBi or none. [-]

    Returns
    -------
    numeric
        Parameters, broadcast shape of the inputs. [-]

    Notes
    -----
    An output head that is tied to the table has no parameters of its own.

    References
    ----------
    .. [1] Radford et al., "Language Models are Unsupervised Multitask Learners", 2019.
       https://github.com/openai/gpt-2
    """
    return (vocab + positions) * hidden
