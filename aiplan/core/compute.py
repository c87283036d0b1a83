"""Time of kernels on one accelerator: matrix multiplications, attention, memory-bound passes."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric

TILES = ((256, 128), (128, 256), (128, 128))
"""Output tiles (rows, columns) of the large matmul kernels that vendor libraries choose from."""


@closed_form
def tile_utilisation(rows: Numeric, columns: Numeric, multiprocessors: Numeric, groups: Numeric = 1.0) -> Numeric:
    """Share of a matmul kernel's work that is useful, for the best of the usual output tiles.

    u = max over tiles (g m n) / (waves p x tile area), waves = ceil(g ceil(m / t_m) ceil(n / t_n) / p)

    Parameters
    ----------
    rows : numeric
        Rows m of the result. [-]
    columns : numeric
        Columns n of the result. [-]
    multiprocessors : numeric
        Multiprocessors p that take a tile each; 0 means unknown (no wave effect). [-]
    groups : numeric
        Equal matmuls g in one launch: attention heads, experts. [-]

    Returns
    -------
    numeric
        Utilisation in (0, 1], 0 for an empty result; broadcast shape of the inputs. [-]

    Notes
    -----
    Libraries that split the inner dimension (stream-K) do better on small results; the last wave is blended with
    the ideal (half each) for that reason.

    References
    ----------
    .. [1] NVIDIA, "Matrix Multiplication Background User's Guide".
       https://docs.nvidia.com/deeplearning/performance/dl-performance-matrix-multiplication/index.html
    """
    useful = groups * rows * columns
    some_rows, some_columns = np.maximum(rows, 1.0), np.maximum(columns, 1.0)  # an empty result is given a tile
    return reduce(
        np.maximum, (_useful_share(useful, some_rows, some_columns, multiprocessors, groups, t) for t in TILES)
    )


def _useful_share(
    useful: Numeric, rows: Numeric, columns: Numeric, multiprocessors: Numeric, groups: Numeric, tile: tuple[int, int]
) -> Numeric:
    """Return the share of the work that is useful with one kind of tile."""
    tiles = groups * np.ceil(rows / tile[0]) * np.ceil(columns / tile[1])
    units = np.maximum(multiprocessors, 1.0)
    wave_fill = np.where(np.asarray(multiprocessors) > 0, tiles / (np.ceil(tiles / units) * units), 1.0)
    return useful / (tiles * (tile[0] * tile[1])) * (2.0 / (1.0 / wave_fill + 1.0))


@closed_form
def alignment_factor(columns: Numeric, inner: Numeric, element_bytes: Numeric) -> Numeric:
    """Share of its usual rate that a matmul keeps when its rows do not begin at multiples of 16 bytes.

    u = 1 if n e and k e are multiples of 16 bytes, else 1/20

    Parameters
    ----------
    columns : numeric
        Columns n of the result. [-]
    inner : numeric
        Inner dimension k. [-]
    element_bytes : numeric
        Bytes e of one element. [B]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Matrix units load 16 bytes at a time; without alignment libraries fall back to kernels without them. On the A100
    these have a quarter of the peak and reach a fifth of it; the factor goes with head widths 108 and 150 in the
    BigScience layout search.

    References
    ----------
    .. [1] NVIDIA, "Matrix Multiplication Background User's Guide", section 2.1.
       https://docs.nvidia.com/deeplearning/performance/dl-performance-matrix-multiplication/index.html
    """
    aligned = (np.mod(columns * element_bytes, 16.0) == 0.0) & (np.mod(inner * element_bytes, 16.0) == 0.0)
    return np.where(aligned, 1.0, 0.05)


@closed_form
def matmul_flops(rows: Numeric, columns: Numeric, inner: Numeric, groups: Numeric = 1.0) -> Numeric:
    """Operations of g equal matrix multiplications.

    F = 2 g m n k

    Parameters
    ----------
    rows : numeric
        Rows m of the result. [-]
    columns : numeric
        Columns n of the result. [-]
    inner : numeric
        Inner dimension k. [-]
    groups : numeric
        Equal matmuls g: attention heads, experts. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [FLOP]

    Notes
    -----
    A multiplication and an addition are two operations; what tiles compute beyond the result is not counted.

    References
    ----------
    .. [1] NVIDIA, "Matrix Multiplication Background User's Guide", section 2.
       https://docs.nvidia.com/deeplearning/performance/dl-performance-matrix-multiplication/index.html
    """
    return 2.0 * groups * rows * columns * inner


@closed_form
def matmul_traffic(
    rows: Numeric, columns: Numeric, inner: Numeric, element_bytes: Numeric, groups: Numeric = 1.0
) -> Numeric:
    """Bytes that g equal matrix multiplications read and write.

    n = e g (m k + k n + m n)

    Parameters
    ----------
    rows : numeric
        Rows m of the result. [-]
    columns : numeric
        Columns n of the result. [-]
    inner : numeric
        Inner dimension k. [-]
    element_bytes : numeric
        Bytes e of one element. [B]
    groups : numeric
        Equal matmuls g: attention heads, experts. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B]

    Notes
    -----
    Each operand is read once: the least there can be.

    References
    ----------
    .. [1] Williams et al., "Roofline: An Insightful Visual Performance Model", CACM 52(4), 2009.
       https://doi.org/10.1145/1498765.1498785
    """
    return element_bytes * groups * (rows * inner + inner * columns + rows * columns)


@closed_form
def matmul_time(
    rows: Numeric,
    columns: Numeric,
    inner: Numeric,
    peak: Numeric,
    fraction: Numeric,
    utilisation: Numeric,
    element_bytes: Numeric,
    bandwidth: Numeric,
    launch: Numeric,
    groups: Numeric = 1.0,
    depth: Numeric = 0.0,
) -> Numeric:
    """Time of one matrix multiplication, or of g equal ones in one launch, roofline with tile losses.

    t = max(2 g m n (k + k_0) / (F f u), e g (m k + k n + m n) / B) + t_l

    Parameters
    ----------
    rows : numeric
        Rows m of the result. [-]
    columns : numeric
        Columns n of the result. [-]
    inner : numeric
        Inner dimension k. [-]
    peak : numeric
        Dense peak F of the data type. [FLOP/s]
    fraction : numeric
        Share f of the peak that a long, well-shaped matmul sustains. [-]
    utilisation : numeric
        Share u of the work in tiles that is useful. [-]
    element_bytes : numeric
        Bytes e of one element. [B]
    bandwidth : numeric
        Memory bandwidth B that kernels reach. [B/s]
    launch : numeric
        Time t_l to start the kernel that nothing hides. [s]
    groups : numeric
        Equal matmuls g in one launch: attention heads, experts. [-]
    depth : numeric
        Inner dimension k_0 that filling and draining the pipeline of a tile costs. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    A size of 0 takes no time. Operands are read once; a cache that is too small for that is part of f.

    References
    ----------
    .. [1] Williams et al., "Roofline: An Insightful Visual Performance Model", CACM 52(4), 2009.
       https://doi.org/10.1145/1498765.1498785
    """
    work = matmul_flops(rows, columns, inner + depth, groups)
    arithmetic = work / (peak * fraction * np.maximum(utilisation, 1e-9))
    traffic = matmul_traffic(rows, columns, inner, element_bytes, groups) / bandwidth
    return np.where(rows * columns * inner > 0, np.maximum(arithmetic, traffic) + launch, 0.0)


@closed_form
def attention_fraction(
    fraction: Numeric, kernel_share: Numeric, attention_share: Numeric, sequence: Numeric, ramp: Numeric
) -> Numeric:
    """Share of the peak that a fused attention kernel reaches.

    f = f_a s_k s_a n / (n + n_0)

    Parameters
    ----------
    fraction : numeric
        Share f_a of the peak on long sequences on this accelerator. [-]
    kernel_share : numeric
        Share s_k that all kernels of the framework reach. [-]
    attention_share : numeric
        Share s_a of its attention kernel: below 1 for older generations, above for newer ones. [-]
    sequence : numeric
        Sequence length n. [-]
    ramp : numeric
        Sequence length n_0 at which half of the share is reached. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Short sequences leave blocks of the causal mask half empty and fill fewer multiprocessors. Forward and backward pass
    are taken to reach the same share.

    References
    ----------
    .. [1] Dao, "FlashAttention-2", 2023, figures 4 to 6: speed over sequence length. https://arxiv.org/abs/2307.08691
    """
    return fraction * kernel_share * attention_share * sequence / (sequence + ramp)


@closed_form
def grouped_share(share: Numeric, work: Numeric, lost_work: Numeric, groups: Numeric) -> Numeric:
    """Share of the usual rate that the grouped matmuls of experts keep.

    s = s_g F / (F + F_0) if g > 1 else 1

    Parameters
    ----------
    share : numeric
        Share s_g that experts with much to do keep. [-]
    work : numeric
        Operations F of one matmul of one expert: its tokens by its width by the hidden size. [FLOP]
    lost_work : numeric
        Operations F_0 that could be done while such a matmul starts and ends. [FLOP]
    groups : numeric
        Experts g on the rank. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Routing is taken as balanced. An expert that has the rank to itself is a matmul like any other. Few tokens cost as
    much as narrow experts do: smaller micro-batches, and more experts on a rank.

    References
    ----------
    .. [1] Gale et al., "MegaBlocks: Efficient Sparse Training with Mixture-of-Experts", MLSys 2023.
       https://arxiv.org/abs/2211.15841
    """
    some = np.maximum(work, 1.0)  # a network without experts is given one, of no rows
    return np.where(np.asarray(groups) > 1.0, share * some / (some + lost_work), 1.0)


@closed_form
def attention_time(
    flops: Numeric, peak: Numeric, fraction: Numeric, nbytes: Numeric, bandwidth: Numeric, launch: Numeric
) -> Numeric:
    """Time of a fused attention kernel.

    t = max(F_a / (F f), n / B) + t_l

    Parameters
    ----------
    flops : numeric
        Operations F_a of scores and weighted values. [FLOP]
    peak : numeric
        Dense peak F of the data type. [FLOP/s]
    fraction : numeric
        Share f of the peak that the kernel reaches. [-]
    nbytes : numeric
        Bytes n read and written: queries, keys, values and result. [B]
    bandwidth : numeric
        Memory bandwidth B that kernels reach. [B/s]
    launch : numeric
        Time t_l to start the kernel. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    The score matrix never leaves the chip.

    References
    ----------
    .. [1] Dao, "FlashAttention-2: Faster Attention with Better Parallelism and Work Partitioning", 2023.
       https://arxiv.org/abs/2307.08691
    """
    return np.maximum(flops / (peak * fraction), nbytes / bandwidth) + launch


@closed_form
def memory_bound_time(nbytes: Numeric, bandwidth: Numeric, kernels: Numeric, launch: Numeric) -> Numeric:
    """Time of kernels that only move bytes: norms, activations, softmax, residuals, optimizers.

    t = n / B + c t_l

    Parameters
    ----------
    nbytes : numeric
        Bytes n read and written. [B]
    bandwidth : numeric
        Memory bandwidth B that kernels reach. [B/s]
    kernels : numeric
        Kernels c that are started. [-]
    launch : numeric
        Time t_l to start each. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    Arithmetic is taken as free.

    References
    ----------
    .. [1] Ivanov et al., "Data Movement Is All You Need", MLSys 2021. https://arxiv.org/abs/2007.00072
    """
    return nbytes / bandwidth + kernels * launch


@closed_form
def achieved(rate: Numeric, fraction: Numeric) -> Numeric:
    """Rate that is reached out of a rate that is printed.

    b = B f

    Parameters
    ----------
    rate : numeric
        Peak rate B, of a memory or of a wire. [B/s]
    fraction : numeric
        Share f that long transfers reach. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B/s]

    Notes
    -----
    Start-up costs are not part of f.

    References
    ----------
    .. [1] McCalpin, "STREAM: Sustainable Memory Bandwidth in High Performance Computers".
       https://www.cs.virginia.edu/stream/
    """
    return rate * fraction


@closed_form
def sustained_fraction(fraction: Numeric, kernel_share: Numeric) -> Numeric:
    """Share of a peak that the kernels of a framework sustain on an accelerator.

    f = f_a s

    Parameters
    ----------
    fraction : numeric
        Share f_a of the peak that the best kernels sustain in training on this accelerator. [-]
    kernel_share : numeric
        Share s of that which the kernels of this framework and its time reach, gaps between kernels included. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Both are fitted on published runs; the accelerator file and the software preset say on which.

    References
    ----------
    .. [1] NVIDIA, "Matrix Multiplication Background User's Guide".
       https://docs.nvidia.com/deeplearning/performance/dl-performance-matrix-multiplication/index.html
    """
    return fraction * kernel_share


@closed_form
def intensity(flops: Numeric, nbytes: Numeric) -> Numeric:
    """Arithmetic intensity: operations for each byte that goes to or from memory.

    I = F / n

    Parameters
    ----------
    flops : numeric
        Operations F. [FLOP]
    nbytes : numeric
        Bytes n read and written, above 0. [B]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    In FLOP/B. Above the ridge of the roofline, peak over bandwidth, the arithmetic is what takes longest.

    References
    ----------
    .. [1] Williams et al., "Roofline: An Insightful Visual Performance Model", CACM 52(4), 2009.
       https://doi.org/10.1145/1498765.1498785
    """
    return flops / nbytes


@closed_form
def attainable(peak: Numeric, bandwidth: Numeric, intensity: Numeric) -> Numeric:
    """Rate that a kernel can reach at most at its arithmetic intensity: the roofline.

    P = min(F, I B)

    Parameters
    ----------
    peak : numeric
        Peak F. [FLOP/s]
    bandwidth : numeric
        Memory bandwidth B. [B/s]
    intensity : numeric
        Arithmetic intensity I, in FLOP/B. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [FLOP/s]

    Notes
    -----
    One level of memory; caches have roofs of their own.

    References
    ----------
    .. [1] Williams et al., "Roofline: An Insightful Visual Performance Model", CACM 52(4), 2009.
       https://doi.org/10.1145/1498765.1498785
    """
    return np.minimum(peak, intensity * bandwidth)
