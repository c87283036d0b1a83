"""Bytes of buffers beside weights and activations, and of what an allocator keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric


@closed_form
def whole_input_bytes(
    tokens: Numeric, hidden: Numeric, element_bytes: Numeric, tensors: Numeric, split: Numeric
) -> Numeric:
    """Bytes of the tensors of a whole micro-batch that sequence parallelism works with beside the layers.

    n = c e T h [split]

    Parameters
    ----------
    tokens : numeric
        Tokens T of a micro-batch. [-]
    hidden : numeric
        Width h. [-]
    element_bytes : numeric
        Bytes e of an activation. [B]
    tensors : numeric
        Tensors c that exist at once: buffers that inputs are gathered into and that stay, results before they are
        scattered, and their gradients. [-]
    split : numeric
        1 if norms and residuals are split over tensor parallel ranks. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B]

    Notes
    -----
    One set for the whole stage, whatever its layers and however many micro-batches it holds. nanotron gathers into two
    named buffers that are never given back; a micro-batch of many tokens on many tensor parallel ranks makes them the
    largest term of all.

    References
    ----------
    .. [1] nanotron, `parallel/tensor_parallel/functional.py`. https://github.com/huggingface/nanotron
    """
    return tensors * element_bytes * tokens * hidden * split


@closed_form
def run_ahead_bytes(
    tokens: Numeric,
    hidden: Numeric,
    element_bytes: Numeric,
    layers: Numeric,
    in_flight: Numeric,
    share: Numeric,
    behind: Numeric,
    split: Numeric,
) -> Numeric:
    """Bytes of results that wait for their reduce-scatter while the host has queued further micro-batches.

    n = r 2 e T h l max(m_f - d, 0) [split]

    Parameters
    ----------
    tokens : numeric
        Tokens T of a micro-batch. [-]
    hidden : numeric
        Width h. [-]
    element_bytes : numeric
        Bytes e of an activation. [B]
    layers : numeric
        Layers l of the stage. [-]
    in_flight : numeric
        Micro-batches m_f that the stage holds. [-]
    share : numeric
        Share r of them that is not free again in time. [-]
    behind : numeric
        Micro-batches d at the end of the queue that wait for others anyway. [-]
    split : numeric
        1 if norms and residuals are split over tensor parallel ranks. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B]

    Notes
    -----
    Attention and feed-forward each end in a matmul whose result, of full width, is reduced and scattered on another
    stream. The allocator may use the block again only when that is done on the device; a host that queues the forward
    passes of a pipeline's warm-up without waiting takes a new block for every layer and micro-batch instead.
    The published runs of nanotron show d = 2 in pipelines: nothing with two stages, half of the micro-batches in flight
    with four, three quarters with eight, whatever the tensor parallel size, and nothing without tensor parallelism.

    References
    ----------
    .. [1] PyTorch, `torch.Tensor.record_stream`.
       https://docs.pytorch.org/docs/stable/generated/torch.Tensor.record_stream.html
    """
    waiting = np.maximum(np.subtract(in_flight, behind), 0.0)
    return share * 2.0 * element_bytes * tokens * hidden * layers * waiting * split


@closed_form
def cached_bytes(wanted: Numeric, needed: Numeric, capacity: Numeric) -> Numeric:
    """Bytes that an allocator keeps only as long as the device has room for them.

    n = min(n_w, max(C - n_n, 0))

    Parameters
    ----------
    wanted : numeric
        Bytes n_w that it would keep. [B]
    needed : numeric
        Bytes n_n of everything else. [B]
    capacity : numeric
        Memory C of the device. [B]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B]

    Notes
    -----
    An allocator that gets no more memory waits for the device and gives back what is free, before it fails: such bytes
    are measured, and never the reason why a plan does not fit.

    References
    ----------
    .. [1] PyTorch, CUDA memory management. https://docs.pytorch.org/docs/stable/notes/cuda.html
    """
    return np.minimum(wanted, np.maximum(np.subtract(capacity, needed), 0.0))


@closed_form
def gather_buffer_bytes(parameters: Numeric, bytes_each: Numeric, shards: Numeric, copied: Numeric) -> Numeric:
    """Bytes of the buffers that updated weights are sent from and gathered into.

    n = [copied] P e (1 + 1 / k)

    Parameters
    ----------
    parameters : numeric
        Parameters P that the rank holds. [-]
    bytes_each : numeric
        Bytes e per weight. [B]
    shards : numeric
        Ranks k that share the optimizer states. [-]
    copied : numeric
        1 if the buffers are apart from the weights. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B]

    Notes
    -----
    Of nanotron's 123 published runs with ZeRO stage 1 on one pipeline stage, the states take 10.2 P + 14.4 P / k bytes
    (least squares): 2 P + 2 P / k more than half-precision weights and gradients, single-precision gradients, and
    sharded optimizer states. That these are gather buffers is our reading.

    References
    ----------
    .. [1] The Ultra-Scale Playbook, benchmark table. https://huggingface.co/spaces/nanotron/ultrascale-playbook
    """
    return copied * parameters * bytes_each * (1.0 + 1.0 / shards)


@closed_form
def gathered_stage_bytes(
    parameters: Numeric, weight_bytes: Numeric, gradient_bytes: Numeric, sharded: Numeric
) -> Numeric:
    """Bytes of a pipeline stage's weights that stay gathered for all micro-batches, and of their whole gradients.

    n = P (e_w + e_g) [ZeRO-3]

    Parameters
    ----------
    parameters : numeric
        Parameters P of the stage on a rank, gathered. [-]
    weight_bytes : numeric
        Bytes e_w per weight. [B]
    gradient_bytes : numeric
        Bytes e_g per gradient as it is added up. [B]
    sharded : numeric
        1 if weights are sharded (ZeRO stage 3, FSDP). [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B]

    Notes
    -----
    To gather weights again for every micro-batch of a pipeline would cost more than they take, and gradients can be
    scattered only once all micro-batches are through.

    References
    ----------
    .. [1] torchtitan, `fsdp_reshard_after_forward`. https://github.com/pytorch/torchtitan
    """
    return parameters * (np.asarray(weight_bytes) + gradient_bytes) * sharded


@closed_form
def bytes_beyond(buffers: Numeric, dynamic: Numeric) -> Numeric:
    """Bytes by which buffers of the optimizer step exceed what forward and backward pass leave free.

    n = max(n_b - n_d, 0)

    Parameters
    ----------
    buffers : numeric
        Bytes n_b that exist only while weights are updated. [B]
    dynamic : numeric
        Bytes n_d of activations and logits, which are gone by then. [B]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B]

    Notes
    -----
    The peak of a step is the larger of the two. Published runs of nanotron bear it out: fitted freely, what they
    reserve beyond their states falls by 2.1 of the 2 bytes per parameter that the buffers take.

    References
    ----------
    .. [1] The Ultra-Scale Playbook, benchmark table. https://huggingface.co/spaces/nanotron/ultrascale-playbook
    """
    return np.maximum(np.subtract(buffers, dynamic), 0.0)
