"""Bytes of device memory that training takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric


@closed_form
def state_bytes(parameters: Numeric, bytes_each: Numeric, shards: Numeric) -> Numeric:
    """Bytes of one kind of model state on one rank: weights, gradients or optimizer states.

    n = P e / k

    Parameters
    ----------
    parameters : numeric
        Parameters P that the rank's stage and tensor parallel share hold. [-]
    bytes_each : numeric
        Bytes e per parameter: with Adam in mixed precision 2 for weights, 2 or 4 for gradients, 12 for states. [B]
    shards : numeric
        Ranks k that share them: the data parallel ranks if the ZeRO stage shards this kind, else 1. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B]

    Notes
    -----
    ZeRO stage 1 shards optimizer states, 2 gradients too, 3 weights too.

    Examples
    --------
    >>> float(state_bytes(7.5e9, 2, 1) + state_bytes(7.5e9, 2, 1) + state_bytes(7.5e9, 12, 64)) / 1e9
    31.40625

    References
    ----------
    .. [1] Rajbhandari et al., "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models", SC20, figure 1.
       https://arxiv.org/abs/1910.02054
    """
    return parameters * bytes_each / shards


@closed_form
def layer_activation_bytes(
    hidden: Numeric,
    attention_width: Numeric,
    kv_width: Numeric,
    ffn_stored: Numeric,
    tensor: Numeric,
    sequence_shards: Numeric,
    input_shards: Numeric,
    element_bytes: Numeric,
    dropout: Numeric,
    parallel_block: Numeric,
) -> Numeric:
    """Bytes per token that one layer keeps for its backward pass, score matrix apart.

    n = e h (2 - [parallel]) (1 / q + 1 / g) + 2 [dropout] h / q + e (2 w + 2 k + f) / t

    Parameters
    ----------
    hidden : numeric
        Width h. [-]
    attention_width : numeric
        Query heads times head width, w. [-]
    kv_width : numeric
        Key-value heads times head width, k. [-]
    ffn_stored : numeric
        Widths kept inside the feed-forward block, f: 2 x inner width plain, 3 x gated. [-]
    tensor : numeric
        Tensor parallel ranks t. [-]
    sequence_shards : numeric
        Ranks q over which norms and residuals are split: t with sequence parallelism, else 1. [-]
    input_shards : numeric
        Ranks g over which inputs of matmuls are kept split: q, or 1 if what is gathered for the forward pass stays. [-]
    element_bytes : numeric
        Bytes e of an activation. [B]
    dropout : numeric
        1 if there are dropout masks of one byte. [-]
    parallel_block : numeric
        1 if attention and feed-forward share one norm and input. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B]

    Notes
    -----
    With f = 8 h (two matrices of 4 h), dropout and 2-byte activations this is s b h (10 + 24 / t).

    References
    ----------
    .. [1] Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models", 2022, eq. 2.
       https://arxiv.org/abs/2205.05198
    """
    norms = element_bytes * hidden * (2.0 - parallel_block) * (1.0 / sequence_shards + 1.0 / input_shards)
    masks = 2.0 * dropout * hidden / sequence_shards
    kept_split = element_bytes * (2.0 * attention_width + 2.0 * kv_width + ffn_stored)
    return norms + masks + kept_split / tensor


@closed_form
def score_bytes(
    heads: Numeric, attended: Numeric, tensor: Numeric, element_bytes: Numeric, dropout: Numeric
) -> Numeric:
    """Bytes per token that an attention core keeps which stores its score matrix.

    n = a s (e + [dropout] (1 + e)) / t

    Parameters
    ----------
    heads : numeric
        Query heads a. [-]
    attended : numeric
        Keys s that the kernel writes per query. [-]
    tensor : numeric
        Tensor parallel ranks t. [-]
    element_bytes : numeric
        Bytes e of an activation. [B]
    dropout : numeric
        1 if the weights have dropout. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B]

    Notes
    -----
    With dropout and 2-byte activations this is 5 a s / t. Fused (flash) attention keeps none of it, selective
    recompute computes it again.

    References
    ----------
    .. [1] Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models", 2022, eq. 1.
       https://arxiv.org/abs/2205.05198
    """
    return heads * attended * (element_bytes + dropout * (1.0 + element_bytes)) / tensor


@closed_form
def checkpointed_layer_bytes(hidden: Numeric, sequence_shards: Numeric, element_bytes: Numeric) -> Numeric:
    """Bytes per token that one fully recomputed layer keeps: its input.

    n = e h / q

    Parameters
    ----------
    hidden : numeric
        Width h. [-]
    sequence_shards : numeric
        Ranks q over which the input is split: t with sequence parallelism, else 1. [-]
    element_bytes : numeric
        Bytes e of an activation. [B]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B]

    Notes
    -----
    While a layer is recomputed its whole activations exist once more; that is counted apart.

    References
    ----------
    .. [1] Chen et al., "Training Deep Nets with Sublinear Memory Cost", 2016. https://arxiv.org/abs/1604.06174
    """
    return element_bytes * hidden / sequence_shards


@closed_form
def partly_checkpointed_bytes(kept: Numeric, checkpoint: Numeric, share: Numeric) -> Numeric:
    """Bytes per token that layers keep on average, of which a share is computed again as a whole.

    n = f n_c + (1 - f) n_k

    Parameters
    ----------
    kept : numeric
        Bytes n_k per token of a layer that is not computed again. [B]
    checkpoint : numeric
        Bytes n_c per token of the input of one that is. [B]
    share : numeric
        Share f of the layers that is. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B]

    Notes
    -----
    The same share at every stage.

    References
    ----------
    .. [1] Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models", 2022, section 5.
       https://arxiv.org/abs/2205.05198
    """
    return share * checkpoint + (1.0 - share) * kept


@closed_form
def stage_activation_bytes(
    per_layer: Numeric, layers: Numeric, tokens: Numeric, in_flight: Numeric, working_layer: Numeric
) -> Numeric:
    """Bytes of the activations that a pipeline stage holds at its peak.

    n = T (l n_1 m_f + n_w)

    Parameters
    ----------
    per_layer : numeric
        Bytes per token kept by one layer, n_1. [B]
    layers : numeric
        Layers l of the stage. [-]
    tokens : numeric
        Tokens T of a micro-batch. [-]
    in_flight : numeric
        Micro-batches m_f that the stage holds. [-]
    working_layer : numeric
        Bytes per token n_w of the one layer that is being recomputed. [B]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B]

    Notes
    -----
    Fragmentation is counted apart.

    References
    ----------
    .. [1] Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models", 2022, section 4.2.3.
       https://arxiv.org/abs/2205.05198
    """
    return tokens * (layers * per_layer * in_flight + working_layer)


@closed_form
def logits_bytes(
    tokens: Numeric, vocab: Numeric, tensor: Numeric, element_bytes: Numeric, loss_bytes: Numeric
) -> Numeric:
    """Bytes of logits and of what the loss makes of them.

    n = T V (e + l) / t

    Parameters
    ----------
    tokens : numeric
        Tokens T of a micro-batch. [-]
    vocab : numeric
        Rows V of the output head. [-]
    tensor : numeric
        Tensor parallel ranks t. [-]
    element_bytes : numeric
        Bytes e of an activation. [B]
    loss_bytes : numeric
        Bytes l per logit of the loss: 4 if one single-precision copy is worked on in place, as in Megatron-LM; 12 if
        copy, shifted copy and exponentials exist side by side. [B]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B]

    Notes
    -----
    The gradient reuses a buffer of the loss.

    References
    ----------
    .. [1] Megatron-LM, vocabulary-parallel cross entropy. https://github.com/NVIDIA/Megatron-LM
    """
    return tokens * vocab * (element_bytes + loss_bytes) / tensor


@closed_form
def gathered_layer_bytes(
    layer_parameters: Numeric, bytes_each: Numeric, sharded: Numeric, ahead: Numeric = 1.0
) -> Numeric:
    """Bytes of the layers that fully sharded training gathers: the one in use and those ahead of it.

    n = (1 + a) P_l e [ZeRO-3]

    Parameters
    ----------
    layer_parameters : numeric
        Parameters P_l of the largest layer on a rank, gathered. [-]
    bytes_each : numeric
        Bytes e per weight. [B]
    sharded : numeric
        1 if weights are sharded (ZeRO stage 3, FSDP). [-]
    ahead : numeric
        Layers a that are gathered ahead. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B]

    Notes
    -----
    Every gathered layer is taken to be as large as the largest.

    References
    ----------
    .. [1] Zhao et al., "PyTorch FSDP: Experiences on Scaling Fully Sharded Data Parallel", 2023.
       https://arxiv.org/abs/2304.11277
    """
    return (1.0 + ahead) * layer_parameters * bytes_each * sharded


@closed_form
def fragmentation_bytes(dynamic: Numeric, share: Numeric) -> Numeric:
    """Bytes that a caching allocator reserves and cannot use.

    n = f n_d

    Parameters
    ----------
    dynamic : numeric
        Bytes n_d that come and go within a step: activations and logits. [B]
    share : numeric
        Share f lost to fragmentation. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B]

    Notes
    -----
    Weights and optimizer states are allocated once and do not fragment.

    References
    ----------
    .. [1] PyTorch, CUDA memory management. https://docs.pytorch.org/docs/stable/notes/cuda.html
    """
    return np.multiply(dynamic, share)


@closed_form
def accumulation_traffic(
    parameters: Numeric, weight_bytes: Numeric, gradient_bytes: Numeric, separate: Numeric, cast: Numeric = 0.0
) -> Numeric:
    """Bytes that adding a micro-batch's gradients to the accumulated ones moves.

    n = P (e_w + 2 e_g + 2 e_g [cast first and e_g > e_w]) [separate kernel]

    Parameters
    ----------
    parameters : numeric
        Parameters P on the rank. [-]
    weight_bytes : numeric
        Bytes e_w of a gradient as the matmul writes it. [B]
    gradient_bytes : numeric
        Bytes e_g of an accumulated gradient. [B]
    separate : numeric
        1 if a kernel of its own adds them; 0 if the matmul that makes them does. [-]
    cast : numeric
        1 if they are first cast to the wider type in a kernel of its own. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B]

    Notes
    -----
    Megatron-LM fused the addition into the matmul in January 2022; at one sequence per micro-batch it cost 5 to 7 %.

    References
    ----------
    .. [1] Megatron-LM, gradient accumulation fusion. https://github.com/NVIDIA/Megatron-LM
    """
    widened = np.where(np.asarray(gradient_bytes) > weight_bytes, cast, 0.0)
    return parameters * (weight_bytes + 2.0 * gradient_bytes * (1.0 + widened)) * separate


@closed_form
def kept_layer_bytes(layer: Numeric, scores: Numeric, flash: Numeric, selective: Numeric) -> Numeric:
    """Bytes per token that one layer keeps if it is not recomputed as a whole.

    n = n_l + [no flash] [not selective] n_s

    Parameters
    ----------
    layer : numeric
        Bytes n_l per token that a layer keeps, score matrix apart. [B]
    scores : numeric
        Bytes n_s per token of the score matrix. [B]
    flash : numeric
        1 with a fused (flash) attention kernel. [-]
    selective : numeric
        1 if the attention core is computed again. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B]

    Notes
    -----
    Either of the two does away with the score matrix.

    References
    ----------
    .. [1] Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models", 2022.
       https://arxiv.org/abs/2205.05198
    """
    return layer + (1.0 - flash) * (1.0 - selective) * scores


@closed_form
def kept_operations_bytes(
    hidden: Numeric,
    attention_width: Numeric,
    kv_width: Numeric,
    ffn: Numeric,
    tensor: Numeric,
    sequence_shards: Numeric,
    element_bytes: Numeric,
) -> Numeric:
    """Bytes per token that one layer keeps if only results that are costly to compute are kept.

    n = e (2 h / q + (2 w + k + f) / t)

    Parameters
    ----------
    hidden : numeric
        Width h. [-]
    attention_width : numeric
        Query heads times head width, w. [-]
    kv_width : numeric
        Key-value heads times head width, k. [-]
    ffn : numeric
        Inner width f of the feed-forward block. [-]
    tensor : numeric
        Tensor parallel ranks t. [-]
    sequence_shards : numeric
        Ranks q over which norms and residuals are split: t with sequence parallelism, else 1. [-]
    element_bytes : numeric
        Bytes e of an activation. [B]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B]

    Notes
    -----
    Input of the layer, result of the attention core, and of every second matmul: queries, values, gate, output of the
    block. The rest is computed again, one layer at a time.

    References
    ----------
    .. [1] torchtitan, selective activation checkpointing by operation. https://github.com/pytorch/torchtitan
    """
    return element_bytes * (2.0 * hidden / sequence_shards + (2.0 * attention_width + kv_width + ffn) / tensor)


@closed_form
def working_layer_bytes(kept: Numeric, scores: Numeric, flash: Numeric, selective: Numeric, full: Numeric) -> Numeric:
    """Bytes per token that the one layer needs which is being recomputed.

    n = n_k if [full] else [no flash] [selective] n_s

    Parameters
    ----------
    kept : numeric
        Bytes n_k per token that the layer keeps without full recompute. [B]
    scores : numeric
        Bytes n_s per token of the score matrix. [B]
    flash : numeric
        1 with a fused (flash) attention kernel. [-]
    selective : numeric
        1 if the attention core is computed again. [-]
    full : numeric
        1 if whole layers, or all but the results of costly operations, are computed again. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B]

    Notes
    -----
    One layer at a time.

    References
    ----------
    .. [1] Chen et al., "Training Deep Nets with Sublinear Memory Cost", 2016. https://arxiv.org/abs/1604.06174
    """
    return np.where(np.asarray(full) > 0, kept, (1.0 - flash) * selective * scores)
