"""Checkpoints: bytes, time to save, to copy and to restore."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric


@closed_form
def checkpoint_bytes(parameters: Numeric, each: Numeric, ratio: Numeric) -> Numeric:
    """Bytes of a checkpoint.

    S = P b c

    Parameters
    ----------
    parameters : numeric
        Parameters P, every expert once. [-]
    each : numeric
        Bytes b saved per parameter: weights, master weights and optimizer states. [B]
    ratio : numeric
        Bytes written over bytes held c: 1 unless quantised or incremental. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B]

    Notes
    -----
    bf16 with Adam is 2 + 4 + 8 = 14 bytes. State of loaders and random numbers is small.

    Examples
    --------
    >>> round(checkpoint_bytes(8030261248, 14, 1) / 2**30, 2)
    104.7

    References
    ----------
    .. [1] MLCommons, "MLPerf Storage benchmark rules".
       https://github.com/mlcommons/storage/blob/main/Submission_guidelines.md
    """
    return parameters * each * ratio


@closed_form
def save_time(
    size: Numeric,
    writers: Numeric,
    per_writer: Numeric,
    nodes: Numeric,
    per_node: Numeric,
    system: Numeric,
    fixed: Numeric,
) -> Numeric:
    """Time until a checkpoint is durable, written at once by several.

    t = max(S / (w b_w), S / (n b_n), S / b) + t_0

    Parameters
    ----------
    size : numeric
        Bytes S. [B]
    writers : numeric
        Processes w that write different parts. [-]
    per_writer : numeric
        Rate b_w of one: serialising and its copy from the device. [B/s]
    nodes : numeric
        Nodes n that these are on. [-]
    per_node : numeric
        Rate b_n of one node to storage. [B/s]
    system : numeric
        Rate b of the storage system. [B/s]
    fixed : numeric
        Time t_0 that bytes do not change: planning and metadata. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    Parts are equal. One writer (a gathered state) makes its node the limit.

    References
    ----------
    .. [1] Wan et al., "ByteCheckpoint: A Unified Checkpointing System for Large Foundation Model Development",
       2024. https://arxiv.org/abs/2407.20143
    """
    slowest = np.maximum(np.maximum(size / (writers * per_writer), size / (nodes * per_node)), size / system)
    return slowest + fixed


@closed_form
def snapshot_time(size: Numeric, ranks: Numeric, bandwidth: Numeric, planning: Numeric) -> Numeric:
    """Time that training stands still while states are copied to the host.

    t = S / (g b) + t_0

    Parameters
    ----------
    size : numeric
        Bytes S. [B]
    ranks : numeric
        Accelerators g that copy their part at once. [-]
    bandwidth : numeric
        Rate b from one device to its host. [B/s]
    planning : numeric
        Time t_0 to agree on who saves what. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    Pinned buffers. Copies do not overlap with the step.

    References
    ----------
    .. [1] Mohan, Phanishayee and Chidambaram, "CheckFreq: Frequent, Fine-Grained DNN Checkpointing", FAST 2021.
       https://www.usenix.org/conference/fast21/presentation/mohan
    """
    return size / (ranks * bandwidth) + planning


@closed_form
def writing_nodes(writers: Numeric, each: Numeric) -> Numeric:
    """Nodes that a number of writing processes fill.

    n = ceil(w / g)

    Parameters
    ----------
    writers : numeric
        Processes w that write. [-]
    each : numeric
        Processes g of a node. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Writers are neighbours, as the ranks of one replica of a model are.

    References
    ----------
    .. [1] Jiang et al., "MegaScale: Scaling Large Language Model Training to More Than 10,000 GPUs", NSDI 2024,
       section 4.4. https://arxiv.org/abs/2402.15627
    """
    return np.ceil(writers / each)


@closed_form
def host_memory(size: Numeric, nodes: Numeric, copies: Numeric) -> Numeric:
    """Host memory of a node that checkpoints under way take.

    m = k S / n

    Parameters
    ----------
    size : numeric
        Bytes S. [B]
    nodes : numeric
        Nodes n that hold a part. [-]
    copies : numeric
        Copies k: 1 for a snapshot, one more for each peer's replica or second buffer. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B]

    Notes
    -----
    Equal parts.

    References
    ----------
    .. [1] Wang et al., "GEMINI: Fast Failure Recovery in Distributed Training with In-Memory Checkpoints", SOSP
       2023. https://www.cs.rice.edu/~eugeneng/papers/SOSP23.pdf
    """
    return copies * size / nodes


@closed_form
def read_bytes(optimizer: Numeric, copies: Numeric, weights: Numeric, replicas: Numeric) -> Numeric:
    """Bytes read from storage to restore a job.

    S_r = k S + d W

    Parameters
    ----------
    optimizer : numeric
        Bytes S of optimizer states. [B]
    copies : numeric
        Times k that these are read: 1 if sharded. [-]
    weights : numeric
        Bytes W of weights. [B]
    replicas : numeric
        Times d that these are read: data parallel ranks if each reads its own, 1 if read once and
        broadcast. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B]

    Notes
    -----
    Every byte is read in full.

    References
    ----------
    .. [1] Wan et al., "ByteCheckpoint: A Unified Checkpointing System for Large Foundation Model Development",
       2024. https://arxiv.org/abs/2407.20143
    """
    return copies * optimizer + replicas * weights


@closed_form
def restore_time(size: Numeric, bandwidth: Numeric, weights: Numeric, shards: Numeric, network: Numeric) -> Numeric:
    """Time to read a checkpoint and to hand it on.

    t = S / b + W / (k b_n)

    Parameters
    ----------
    size : numeric
        Bytes S read from storage. [B]
    bandwidth : numeric
        Rate b of these reads. [B/s]
    weights : numeric
        Bytes W of weights that are handed on between replicas. [B]
    shards : numeric
        Model parallel ranks k among which these are split. [-]
    network : numeric
        Rate b_n of one rank between nodes. [B/s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    A pipelined broadcast: its first steps are neglected. State of data loaders can take longer than the bytes.

    References
    ----------
    .. [1] Jiang et al., "MegaScale: Scaling Large Language Model Training to More Than 10,000 GPUs", NSDI 2024.
       https://arxiv.org/abs/2402.15627
    """
    return size / bandwidth + weights / (shards * network)


@closed_form
def replica_time(size: Numeric, nodes: Numeric, bandwidth: Numeric) -> Numeric:
    """Time to copy a node's part of a checkpoint to the memory of a peer.

    t = S / (n b)

    Parameters
    ----------
    size : numeric
        Bytes S. [B]
    nodes : numeric
        Nodes n that hold a part. [-]
    bandwidth : numeric
        Rate b of a node to its peer. [B/s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    Hidden in idle times of the network if these are long enough.

    References
    ----------
    .. [1] Wang et al., "GEMINI: Fast Failure Recovery in Distributed Training with In-Memory Checkpoints", SOSP
       2023. https://www.cs.rice.edu/~eugeneng/papers/SOSP23.pdf
    """
    return size / (nodes * bandwidth)


@closed_form
def peer_loss_share(nodes: Numeric, together: Numeric) -> Numeric:
    """Share of failures that take both holders of a part with them.

    p = q / (n - 1)

    Parameters
    ----------
    nodes : numeric
        Nodes n in pairs. [-]
    together : numeric
        Share q of failures that take a second node, anywhere. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    The second node is random; racks that fail as one need pairs in different racks. One node alone has no peer.

    References
    ----------
    .. [1] Wang et al., "GEMINI: Fast Failure Recovery in Distributed Training with In-Memory Checkpoints", SOSP
       2023. https://www.cs.rice.edu/~eugeneng/papers/SOSP23.pdf
    """
    return np.where(np.asarray(nodes) > 1, together / np.maximum(nodes - 1.0, 1.0), 1.0)
