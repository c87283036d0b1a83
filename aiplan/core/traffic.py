"""Bytes that kernels and messages move."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric


@closed_form
def residual_bytes(tokens: Numeric, hidden: Numeric, element_bytes: Numeric) -> Numeric:
    """Bytes of the residual stream of some tokens.

    n = T h e

    Parameters
    ----------
    tokens : numeric
        Tokens or rows T. [-]
    hidden : numeric
        Width h. [-]
    element_bytes : numeric
        Bytes e of an activation. [B]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B]

    Notes
    -----
    The message of tensor, expert and pipeline parallelism.

    References
    ----------
    .. [1] Shoeybi et al., "Megatron-LM: Training Multi-Billion Parameter Language Models Using Model Parallelism",
       2019. https://arxiv.org/abs/1909.08053
    """
    return tokens * hidden * element_bytes


@closed_form
def context_bytes(
    tokens: Numeric,
    context: Numeric,
    kv_heads: Numeric,
    key_dim: Numeric,
    value_dim: Numeric,
    element_bytes: Numeric,
    tensor: Numeric,
) -> Numeric:
    """Bytes of the keys and values of whole sequences that context parallel ranks exchange.

    n = T c k (d_k + d_v) e / t

    Parameters
    ----------
    tokens : numeric
        Tokens T of a micro-batch on the rank. [-]
    context : numeric
        Context parallel ranks c. [-]
    kv_heads : numeric
        Key-value heads k, copies included. [-]
    key_dim : numeric
        Head width d_k of queries and keys. [-]
    value_dim : numeric
        Head width d_v of values. [-]
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
    Each rank holds a share 1 / c of them.

    References
    ----------
    .. [1] Liu et al., "Ring Attention with Blockwise Transformers for Near-Infinite Context", 2023.
       https://arxiv.org/abs/2310.01889
    """
    return tokens * context * (kv_heads * (key_dim + value_dim) / tensor) * element_bytes


@closed_form
def attention_traffic(
    tokens: Numeric,
    heads: Numeric,
    kv_heads: Numeric,
    key_dim: Numeric,
    value_dim: Numeric,
    element_bytes: Numeric,
    tensor: Numeric,
    passes: Numeric,
) -> Numeric:
    """Bytes that a fused attention kernel moves: queries, keys, values and result.

    n = c T (a + k) (d_k + d_v) e / t

    Parameters
    ----------
    tokens : numeric
        Tokens T of a micro-batch on the rank. [-]
    heads : numeric
        Query heads a. [-]
    kv_heads : numeric
        Key-value heads k, copies included. [-]
    key_dim : numeric
        Head width d_k of queries and keys. [-]
    value_dim : numeric
        Head width d_v of values. [-]
    element_bytes : numeric
        Bytes e of an activation. [B]
    tensor : numeric
        Tensor parallel ranks t. [-]
    passes : numeric
        How often c the operands are moved: 1 forward, 2 backward (with their gradients). [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B]

    Notes
    -----
    The score matrix stays on the chip.

    References
    ----------
    .. [1] Dao, "FlashAttention-2: Faster Attention with Better Parallelism and Work Partitioning", 2023.
       https://arxiv.org/abs/2307.08691
    """
    return tokens * (heads + kv_heads) * (key_dim + value_dim) / tensor * element_bytes * passes


@closed_form
def softmax_traffic(
    elements: Numeric, kernels: Numeric, touches: Numeric, element_bytes: Numeric, dropout: Numeric
) -> Numeric:
    """Bytes that a softmax of stored scores moves.

    n = E (c r e + 5 [dropout])

    Parameters
    ----------
    elements : numeric
        Elements E of the score matrices. [-]
    kernels : numeric
        Kernels c of the softmax chain: 1 fused, 3 with scale, mask and dropout apart. [-]
    touches : numeric
        Matrices r that a kernel reads and writes: 2 forward, 3 backward. [-]
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
    Dropout reads and writes the weights (2 bytes each) and a mask of one byte.

    References
    ----------
    .. [1] Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models", 2022.
       https://arxiv.org/abs/2205.05198
    """
    return elements * (kernels * touches * element_bytes + dropout * 5.0)


@closed_form
def shuffle_traffic(rows: Numeric, hidden: Numeric, element_bytes: Numeric, passes: Numeric = 3.0) -> Numeric:
    """Bytes that sorting tokens by expert, and back, moves.

    n = 2 c r h e

    Parameters
    ----------
    rows : numeric
        Rows r that the experts of the rank compute. [-]
    hidden : numeric
        Width h. [-]
    element_bytes : numeric
        Bytes e of an activation. [B]
    passes : numeric
        Passes c, each read and written. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B]

    Notes
    -----
    Three passes at least without fusion: to send, to sort, to weight and add; padding, casts and scales take more.

    References
    ----------
    .. [1] Lepikhin et al., "GShard: Scaling Giant Models with Conditional Computation and Automatic Sharding", 2020.
       https://arxiv.org/abs/2006.16668
    """
    return 2.0 * passes * (rows * hidden * element_bytes)


@closed_form
def lookup_traffic(tokens: Numeric, hidden: Numeric, element_bytes: Numeric) -> Numeric:
    """Bytes that an embedding look-up moves, with the residual stream it starts.

    n = 4 T h e

    Parameters
    ----------
    tokens : numeric
        Tokens T of a micro-batch on the rank. [-]
    hidden : numeric
        Width h. [-]
    element_bytes : numeric
        Bytes e of an activation. [B]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B]

    Notes
    -----
    Row read and written, then once more by position, dropout or cast: an estimate that hardly shows in a step.

    References
    ----------
    .. [1] Ivanov et al., "Data Movement Is All You Need", MLSys 2021. https://arxiv.org/abs/2007.00072
    """
    return tokens * hidden * 4.0 * element_bytes


@closed_form
def loss_traffic(
    tokens: Numeric, vocab: Numeric, tensor: Numeric, element_bytes: Numeric, loss_bytes: Numeric
) -> Numeric:
    """Bytes that softmax and cross-entropy over the vocabulary move, in either direction.

    n = T V (e + 1.5 l) / t

    Parameters
    ----------
    tokens : numeric
        Tokens T of a micro-batch on the rank. [-]
    vocab : numeric
        Rows V of the table. [-]
    tensor : numeric
        Tensor parallel ranks t. [-]
    element_bytes : numeric
        Bytes e of an activation. [B]
    loss_bytes : numeric
        Bytes l that the loss takes per logit besides: copies in single precision. [B]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B]

    Notes
    -----
    Logits are read or written once; a copy is written in one direction and read in both, so each direction moves half
    of three passes over it. Fused kernels do with less.

    References
    ----------
    .. [1] Shoeybi et al., "Megatron-LM: Training Multi-Billion Parameter Language Models Using Model Parallelism",
       2019. https://arxiv.org/abs/1909.08053
    """
    return tokens * vocab / tensor * (element_bytes + 1.5 * loss_bytes)


@closed_form
def optimizer_traffic(
    parameters: Numeric, optimizer_bytes: Numeric, gradient_bytes: Numeric, weight_bytes: Numeric
) -> Numeric:
    """Bytes that one optimizer step moves.

    n = P (2 e_o + 3 e_g + e_w)

    Parameters
    ----------
    parameters : numeric
        Parameters P that the rank updates. [-]
    optimizer_bytes : numeric
        Bytes e_o of states and master weight per parameter. [B]
    gradient_bytes : numeric
        Bytes e_g of a gradient. [B]
    weight_bytes : numeric
        Bytes e_w of a weight. [B]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B]

    Notes
    -----
    States are read and written, weights written, gradients passed three times: norm, clipping, update. Fused kernels
    do with less.

    References
    ----------
    .. [1] Kingma and Ba, "Adam: A Method for Stochastic Optimization", 2014. https://arxiv.org/abs/1412.6980
    """
    return parameters * (2.0 * optimizer_bytes + 3.0 * gradient_bytes + weight_bytes)
