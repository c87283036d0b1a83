"""Gradient compression: bytes on the wire, work of coding, memory, and where it breaks even."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric

ALL_REDUCE, ALL_GATHER, ALL_TO_ALL = "all-reduce", "all-gather", "all-to-all"
INT8_BLOCK, SCALE_BYTES = 256, 4
BUCKET_BYTES = 25.0 * 2**20
"""What PyTorch's DDP reduces at a time, https://github.com/pytorch/pytorch/issues/118421."""


class Method(NamedTuple):
    """A method: the form of its text, what it is, where it holds, and how it codes.

    `value_bytes` is None where values keep the width of the gradient. `passes` are reads and writes of the whole
    gradient. `feedback` are copies of the gradient kept from step to step. `whole` methods need the whole gradient on
    every rank, so that it cannot be sharded.
    """

    form: str
    label: str
    validity: str
    source: str
    collective: str = ALL_REDUCE
    value_bytes: float | None = None
    index_bytes: float = 0.0
    passes: float = 0.0
    feedback: float = 0.0
    whole: bool = False


METHODS: dict[str, Method] = {
    "none": Method("none", "Gradients as they are", "always", "https://arxiv.org/abs/2006.15704"),
    "fp16": Method(
        "fp16",
        "Cast to fp16",
        "gradients kept in fp32; sums of many ranks can overflow",
        "https://arxiv.org/abs/1710.03740",
        value_bytes=2.0,
        passes=2.0,
    ),
    "bf16": Method(
        "bf16",
        "Cast to bf16",
        "gradients kept in fp32",
        "https://arxiv.org/abs/1905.12322",
        value_bytes=2.0,
        passes=2.0,
    ),
    "fp8": Method(
        "fp8",
        "Scaled to fp8",
        "devices and libraries that add fp8; sums lose precision with the ranks",
        "https://arxiv.org/abs/2310.18313",
        value_bytes=1.0,
        passes=3.0,
    ),
    "int8": Method(
        "int8",
        "8-bit codes with a scale for each block",
        "codes cannot be added on the way: exchanged in two hops, added up in full precision, coded again, gathered",
        "https://arxiv.org/abs/2306.10209",
        ALL_TO_ALL,
        value_bytes=1.0 + SCALE_BYTES / INT8_BLOCK,
        passes=3.0,
    ),
    "topk": Method(
        "topk-<share>%",
        "The largest values with their indices",
        "ranks send different indices, so all gather the values of all: volume grows with the ranks",
        "https://arxiv.org/abs/1712.01887",
        ALL_GATHER,
        index_bytes=4.0,
        passes=6.0,
        feedback=1.0,
        whole=True,
    ),
    "randomk": Method(
        "randomk-<share>%",
        "Values drawn with a seed that all ranks share",
        "all ranks draw the same indices",
        "https://arxiv.org/abs/1809.07599",
        passes=4.0,
        feedback=1.0,
        whole=True,
    ),
    "powersgd": Method(
        "powersgd-r<rank>",
        "Two factors of a low rank for each matrix",
        "small ranks: thin products bound by memory; orthogonalisation not counted",
        "https://arxiv.org/abs/1905.13727",
        value_bytes=4.0,
        passes=8.0,
        feedback=1.0,
        whole=True,
    ),
    "1bit": Method(
        "1bit",
        "Signs with error feedback (1-bit Adam)",
        "after a warm-up in full precision, whose share of the steps comes on top",
        "https://arxiv.org/abs/2102.02888",
        ALL_TO_ALL,
        value_bytes=0.125,
        passes=7.0,
        feedback=1.0,
        whole=True,
    ),
    "signsgd": Method(
        "signsgd",
        "Signs, majority vote",
        "all gather the signs of all: above 64 ranks more than a ring all-reduce in fp32",
        "https://arxiv.org/abs/1802.04434",
        ALL_GATHER,
        value_bytes=0.125,
        passes=2.0,
        whole=True,
    ),
}
"""Every method by its name; `signsgd` is here for comparison, a scenario takes the others."""


@closed_form
def compressed_bytes(values: Numeric, share: Numeric, value_bytes: Numeric, index_bytes: Numeric) -> Numeric:
    """Bytes of a rank's gradient in compressed form.

    n = M s (v + i)

    Parameters
    ----------
    values : numeric
        Values M of the gradient. [-]
    share : numeric
        Share s of them that is sent: 1 for quantisation, the density for Top-K and Random-K, that of the factors for
        PowerSGD. [-]
    value_bytes : numeric
        Bytes v of a value on the wire, scales included. [B]
    index_bytes : numeric
        Bytes i of the index sent with a value; 0 if the receiver knows which values these are. [B]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B]

    Notes
    -----
    What a rank contributes; how often it crosses the wire depends on the collective. Vectors such as biases, which
    PowerSGD leaves as they are, count like the rest.

    References
    ----------
    .. [1] Agarwal et al., "On the Utility of Gradient Compression in Distributed Training Systems", MLSys 2022.
       https://arxiv.org/abs/2103.00543
    """
    return values * share * (value_bytes + index_bytes)


@closed_form
def received_bytes(nbytes: Numeric, ranks: Numeric, gathers: Numeric, exchanges: Numeric) -> Numeric:
    """Bytes of compressed gradient that a rank decodes.

    m = p n for an all-gather, 2 n for an all-to-all and an all-gather, n for an all-reduce

    Parameters
    ----------
    nbytes : numeric
        Compressed gradient of a rank n. [B]
    ranks : numeric
        Number of ranks p. [-]
    gathers : numeric
        Whether every rank gathers the gradients of all: 1 or 0. [-]
    exchanges : numeric
        Whether every rank adds up a part for all, and the sums are gathered: 1 or 0. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B]

    Notes
    -----
    The own contribution counts too. What is gathered grows with the ranks, and so do the time to decode it and the
    buffer it needs.

    References
    ----------
    .. [1] Agarwal et al., "On the Utility of Gradient Compression in Distributed Training Systems", MLSys 2022.
       https://arxiv.org/abs/2103.00543
    """
    times = np.where(np.asarray(gathers) > 0, ranks, np.where(np.asarray(exchanges) > 0, 2.0, 1.0))
    return nbytes * times


@closed_form
def reduction_time(
    gathers: Numeric, exchanges: Numeric, gathered: Numeric, exchanged: Numeric, reduced: Numeric
) -> Numeric:
    """Time of the collective that a compression allows.

    t = t_g for an all-gather, t_x for an exchange, t_r for an all-reduce

    Parameters
    ----------
    gathers : numeric
        Whether every rank gathers the gradients of all: 1 or 0. [-]
    exchanges : numeric
        Whether every rank adds up a part for all, and the sums are gathered: 1 or 0. [-]
    gathered : numeric
        Time t_g to gather them. [s]
    exchanged : numeric
        Time t_x of the exchange, with the gathering of the sums. [s]
    reduced : numeric
        Time t_r to add them up on the way. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    Sums of values can be formed on the way, sums of codes or of values at different places cannot.

    References
    ----------
    .. [1] Agarwal et al., "On the Utility of Gradient Compression in Distributed Training Systems", MLSys 2022.
       https://arxiv.org/abs/2103.00543
    """
    return np.where(np.asarray(gathers) > 0, gathered, np.where(np.asarray(exchanges) > 0, exchanged, reduced))


@closed_form
def coding_traffic(
    values: Numeric, gradient_bytes: Numeric, passes: Numeric, sent: Numeric, received: Numeric
) -> Numeric:
    """Bytes that encoding and decoding a gradient move through device memory.

    n = M g c + s + m

    Parameters
    ----------
    values : numeric
        Values M of the gradient. [-]
    gradient_bytes : numeric
        Bytes g of a value before compression. [B]
    passes : numeric
        Reads and writes c of the whole gradient; 0 without compression. [-]
    sent : numeric
        Compressed bytes written s. [B]
    received : numeric
        Compressed bytes read m. [B]

    Returns
    -------
    numeric
        0 without passes, else broadcast shape of the inputs. [B]

    Notes
    -----
    A lower bound: fused kernels that run at the rate of memory. Published implementations took many times that, most
    of all Top-K, whose selection is a sort in disguise, and anything run once for each small tensor.

    References
    ----------
    .. [1] Agarwal et al., "On the Utility of Gradient Compression in Distributed Training Systems", MLSys 2022.
       https://arxiv.org/abs/2103.00543
    """
    return np.where(np.asarray(passes) > 0, values * gradient_bytes * passes + sent + received, 0.0)


@closed_form
def coding_time(at_memory: Numeric, nbytes: Numeric, rate: Numeric) -> Numeric:
    """Time to encode and decode a gradient: as the memory allows, or as was measured if that is slower.

    t = max(t_m, n / R)

    Parameters
    ----------
    at_memory : numeric
        Time t_m at the rate of memory. [s]
    nbytes : numeric
        Gradient before compression n. [B]
    rate : numeric
        Measured rate R: gradient over the time to encode and decode it; infinite if nothing was measured. [B/s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    Implementations rarely come near to memory: selections sort, and small tensors are coded one by one.

    References
    ----------
    .. [1] Agarwal et al., "On the Utility of Gradient Compression in Distributed Training Systems", MLSys 2022.
       https://arxiv.org/abs/2103.00543
    """
    return np.maximum(at_memory, nbytes / rate)


@closed_form
def coding_memory(
    values: Numeric,
    gradient_bytes: Numeric,
    compresses: Numeric,
    feedback: Numeric,
    sent: Numeric,
    received: Numeric,
    bucket: Numeric = BUCKET_BYTES,
) -> Numeric:
    """Device memory that gradient compression needs: what was not sent so far, and codes of the buckets in use.

    n = c (M g f + (s + m) 2 b / max(M g, 2 b))

    Parameters
    ----------
    values : numeric
        Values M of the gradient. [-]
    gradient_bytes : numeric
        Bytes g of a value before compression. [B]
    compresses : numeric
        Whether gradients are compressed, c: 1 or 0. [-]
    feedback : numeric
        Copies f of the gradient kept from step to step: 1 with error feedback, else 0. [-]
    sent : numeric
        Compressed bytes to send s. [B]
    received : numeric
        Compressed bytes to receive m. [B]
    bucket : numeric
        Bytes b of gradient that are coded at a time; one bucket is coded while another one is reduced. [B]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B]

    Notes
    -----
    Error feedback is never sharded. Code that compresses the whole gradient at once has b = M g.

    References
    ----------
    .. [1] Karimireddy et al., "Error Feedback Fixes SignSGD and other Gradient Compression Schemes", ICML 2019.
       https://arxiv.org/abs/1901.09847
    """
    whole = values * gradient_bytes
    codes = (sent + received) * 2.0 * bucket / np.maximum(whole, 2.0 * bucket)
    return compresses * (whole * feedback + codes)


@closed_form
def gathered_volume(nbytes: Numeric, ranks: Numeric) -> Numeric:
    """Bytes that a rank sends where all gather the compressed gradients of all.

    v = (p - 1) n

    Parameters
    ----------
    nbytes : numeric
        Compressed gradient of a rank n. [B]
    ranks : numeric
        Number of ranks p. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B]

    Notes
    -----
    Grows with the ranks, whereas an all-reduce sends less than 2 n however many there are.

    References
    ----------
    .. [1] Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in MPICH", IJHPCA 19(1),
       2005. https://doi.org/10.1177/1094342005051521
    """
    return (ranks - 1.0) * nbytes


@closed_form
def break_even_density(ranks: Numeric, gradient_bytes: Numeric, value_bytes: Numeric, index_bytes: Numeric) -> Numeric:
    """Share of values below which gathering them sends less than a ring all-reduce of all.

    s = 2 g / (p (v + i))

    Parameters
    ----------
    ranks : numeric
        Number of ranks p. [-]
    gradient_bytes : numeric
        Bytes g of a value in the all-reduce. [B]
    value_bytes : numeric
        Bytes v of a value that is gathered. [B]
    index_bytes : numeric
        Bytes i of its index. [B]

    Returns
    -------
    numeric
        Broadcast shape of the inputs; above 1 it is always less. [-]

    Notes
    -----
    1 / p for values and indices of 4 bytes. Volume only: coding comes on top.

    References
    ----------
    .. [1] Agarwal et al., "On the Utility of Gradient Compression in Distributed Training Systems", MLSys 2022.
       https://arxiv.org/abs/2103.00543
    """
    return 2.0 * gradient_bytes / (ranks * (value_bytes + index_bytes))


@closed_form
def break_even_bandwidth(volume: Numeric, compressed_volume: Numeric, coding: Numeric) -> Numeric:
    """Bandwidth of a rank below which compression saves time.

    b = max(v - w, 0) / t

    Parameters
    ----------
    volume : numeric
        Bytes v that a rank sends uncompressed. [B]
    compressed_volume : numeric
        Bytes w that it sends compressed. [B]
    coding : numeric
        Time t to encode and decode, above 0. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs; 0 if it never pays. [B/s]

    Notes
    -----
    Neither latency nor overlap: where communication is hidden anyway, compression only costs.

    References
    ----------
    .. [1] Agarwal et al., "On the Utility of Gradient Compression in Distributed Training Systems", MLSys 2022.
       https://arxiv.org/abs/2103.00543
    """
    return np.maximum(volume - compressed_volume, 0.0) / coding
