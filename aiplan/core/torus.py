"""Torus networks: every node a router, joined to its neighbours along each axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric


@closed_form
def first_side(nodes: Numeric, axes: Numeric) -> Numeric:
    """Side of a torus that is near a cube.

    k = ceil(N^(1 / D))

    Parameters
    ----------
    nodes : numeric
        Nodes N that the remaining axes hold. [-]
    axes : numeric
        Remaining axes D. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    The rest of the nodes, N / k rounded up, is shared among the other axes in the same way.

    Examples
    --------
    >>> float(first_side(4096, 3))
    16.0

    References
    ----------
    .. [1] Dally, "Performance analysis of k-ary n-cube interconnection networks", IEEE ToC 39(6), 1990.
       https://doi.org/10.1109/12.53599
    """
    return np.ceil(np.power(nodes, 1.0 / axes) - 1e-9)


@closed_form
def axis_mean_hops(side: Numeric) -> Numeric:
    """Mean number of links between two positions on a ring.

    m = k / 4 if k is even else (k^2 - 1) / (4 k)

    Parameters
    ----------
    side : numeric
        Positions k. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    All pairs alike, a position with itself among them; the shorter way round.

    References
    ----------
    .. [1] Dally, "Performance analysis of k-ary n-cube interconnection networks", IEEE ToC 39(6), 1990.
       https://doi.org/10.1109/12.53599
    """
    return np.where(np.mod(side, 2.0) == 0, side / 4.0, (np.square(side) - 1.0) / (4.0 * side))


@closed_form
def axis_diameter(side: Numeric) -> Numeric:
    """Most links between two positions on a ring.

    d = floor(k / 2)

    Parameters
    ----------
    side : numeric
        Positions k. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    The shorter way round.

    References
    ----------
    .. [1] Dally, "Performance analysis of k-ary n-cube interconnection networks", IEEE ToC 39(6), 1990.
       https://doi.org/10.1109/12.53599
    """
    return np.floor(side / 2.0)


@closed_form
def axis_cables(nodes: Numeric, side: Numeric) -> Numeric:
    """Cables along one axis of a torus.

    c = N if k > 2, N / 2 if k = 2, else 0

    Parameters
    ----------
    nodes : numeric
        Nodes N of the torus. [-]
    side : numeric
        Nodes k along the axis. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Two nodes share one cable.

    References
    ----------
    .. [1] Dally, "Performance analysis of k-ary n-cube interconnection networks", IEEE ToC 39(6), 1990.
       https://doi.org/10.1109/12.53599
    """
    return np.where(np.asarray(side) > 2, nodes, np.where(np.asarray(side) == 2, nodes / 2.0, 0.0)) * 1.0


@closed_form
def torus_bisection(nodes: Numeric, side: Numeric) -> Numeric:
    """Links between the two halves of a torus, across its longest axis.

    L = 2 N / k if k > 2, N / 2 if k = 2, else 0

    Parameters
    ----------
    nodes : numeric
        Nodes N. [-]
    side : numeric
        Nodes k along the longest axis. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    A ring is cut in two places. Halves as equal as k allows.

    References
    ----------
    .. [1] Dally, "Performance analysis of k-ary n-cube interconnection networks", IEEE ToC 39(6), 1990.
       https://doi.org/10.1109/12.53599
    """
    return np.where(np.asarray(side) > 2, 2.0 * nodes / side, np.where(np.asarray(side) == 2, nodes / 2.0, 0.0))


@closed_form
def axes_in_use(x: Numeric, y: Numeric, z: Numeric) -> Numeric:
    """Axes of a torus that have neighbours on them.

    D = max(1, [x > 1] + [y > 1] + [z > 1])

    Parameters
    ----------
    x : numeric
        Nodes along the first axis. [-]
    y : numeric
        Nodes along the second axis. [-]
    z : numeric
        Nodes along the third axis. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    The ports of a node are shared among the axes in use, two directions each.

    References
    ----------
    .. [1] Dally, "Performance analysis of k-ary n-cube interconnection networks", IEEE ToC 39(6), 1990.
       https://doi.org/10.1109/12.53599
    """
    return np.maximum(1.0, np.greater(x, 1) * 1.0 + np.greater(y, 1) + np.greater(z, 1))


@closed_form
def torus_uniform_contention(axes: Numeric, mean_hops: Numeric) -> Numeric:
    """How much slower nodes of a torus send when all of them send to all others.

    c = max(1, D m)

    Parameters
    ----------
    axes : numeric
        Axes D in use. [-]
    mean_hops : numeric
        Mean links m along the longest axis. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    A message takes m links of the axis, and an axis has 1 / D of a node's bandwidth. The longest axis is the slowest.

    References
    ----------
    .. [1] Dally, "Performance analysis of k-ary n-cube interconnection networks", IEEE ToC 39(6), 1990.
       https://doi.org/10.1109/12.53599
    """
    return np.maximum(1.0, axes * mean_hops)


@closed_form
def axis_share(axes: Numeric) -> Numeric:
    """How much slower a ring along one axis is than all ports of its nodes together.

    c = D

    Parameters
    ----------
    axes : numeric
        Axes D in use. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Both directions of one axis carry the ring; the ports of the other axes are idle.

    References
    ----------
    .. [1] Jouppi et al., "TPU v4: an optically reconfigurable supercomputer", ISCA 2023. https://arxiv.org/abs/2304.01433
    """
    return np.asarray(axes) * 1.0


@closed_form
def direction_share(axes: Numeric) -> Numeric:
    """How much slower a send to one neighbour is than all ports of its node together.

    c = 2 D

    Parameters
    ----------
    axes : numeric
        Axes D in use. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    One direction of one axis carries it.

    References
    ----------
    .. [1] Dally, "Performance analysis of k-ary n-cube interconnection networks", IEEE ToC 39(6), 1990.
       https://doi.org/10.1109/12.53599
    """
    return 2.0 * axes
