"""Low-rank factors of the matrices of a layer: how much smaller they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric


@closed_form
def factor_share(rank: Numeric, rows: Numeric, columns: Numeric) -> Numeric:
    """Values of the two factors of a low-rank approximation over those of the matrix.

    s = min(r (a + b) / (a b), 1)

    Parameters
    ----------
    rank : numeric
        Rank r of the approximation. [-]
    rows : numeric
        Rows a of the matrix. [-]
    columns : numeric
        Columns b of the matrix. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    A matrix whose factors are no smaller is sent as it is. A convolution is a matrix of output channels by all the
    rest. Columns below 1 count as 1.

    References
    ----------
    .. [1] Vogels et al., "PowerSGD: Practical Low-Rank Gradient Compression for Distributed Optimization",
       NeurIPS 2019. https://arxiv.org/abs/1905.13727
    """
    width = np.maximum(columns, 1.0)
    return np.minimum(rank * (rows + width) / (rows * width), 1.0)


@closed_form
def mean_matrix_width(parameters: Numeric, matrices: Numeric, hidden: Numeric, shards: Numeric) -> Numeric:
    """Mean of the other side of matrices that have one side in common, as a rank holds them.

    b = P / (n h t)

    Parameters
    ----------
    parameters : numeric
        Parameters P of the matrices, unsharded. [-]
    matrices : numeric
        Number n of them. [-]
    hidden : numeric
        Common side h: the hidden size. [-]
    shards : numeric
        Tensor parallel ranks t that split the other side. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    For the factors of all matrices of a layer together the mean is exact: their share is r (1/h + n / sum of b_i).
    Query, key and value count as three matrices. Latent attention has smaller ones, and embeddings larger ones.

    References
    ----------
    .. [1] Vogels et al., "PowerSGD: Practical Low-Rank Gradient Compression for Distributed Optimization",
       NeurIPS 2019. https://arxiv.org/abs/1905.13727
    """
    return parameters / (matrices * hidden * shards)


@closed_form
def layer_matrices(gated: Numeric, attention: Numeric, mlp: Numeric) -> Numeric:
    """Count the matrices of a layer that have the hidden size as one side.

    n = 4 [attention] + (2 + g) [mlp]

    Parameters
    ----------
    gated : numeric
        Whether the feed-forward has a gate, g: 1 or 0. [-]
    attention : numeric
        Parameters of the attention counted; 0 if it is not. [-]
    mlp : numeric
        Parameters of the feed-forward counted; 0 if it is not. [-]

    Returns
    -------
    numeric
        At least 1, broadcast shape of the inputs. [-]

    Notes
    -----
    Query, key, value and output projection; up, down and gate.

    References
    ----------
    .. [1] Vaswani et al., "Attention Is All You Need", NeurIPS 2017. https://arxiv.org/abs/1706.03762
    """
    counted = 4.0 * np.greater(attention, 0.0) + (2.0 + gated) * np.greater(mlp, 0.0)
    return np.maximum(counted, 1.0)
