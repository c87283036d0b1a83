"""Folded Clos networks (leaf-spine, fat-tree) and three-tier networks: switches, cables, sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aiplan.core.fabric import smallest_divisor
from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric


@closed_form
def spines(leaves: Numeric, uplinks: Numeric, radix: Numeric) -> Numeric:
    """Spine switches of a two-level network.

    s = min{s : u mod s = 0, s >= L u / k}

    Parameters
    ----------
    leaves : numeric
        Leaf switches L, at most k. [-]
    uplinks : numeric
        Ports u of a leaf that face up. [-]
    radix : numeric
        Ports k of a spine. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Every leaf has the same number of links to every spine, so the spines divide the uplinks.

    Examples
    --------
    >>> float(spines(24, 32, 64))
    16.0

    References
    ----------
    .. [1] NVIDIA, "DGX SuperPOD reference architecture: DGX H100", network fabrics.
       https://docs.nvidia.com/dgx-superpod/reference-architecture-scalable-infrastructure-h100/latest/network-fabrics.html
    """
    return 1.0 * smallest_divisor(uplinks, leaves * uplinks / radix)


@closed_form
def pods(leaves: Numeric, down: Numeric) -> Numeric:
    """Pods of a three-level network.

    n = ceil(L / m)

    Parameters
    ----------
    leaves : numeric
        Leaf switches L. [-]
    down : numeric
        Ports m of a middle switch that face the leaves: the most leaves of a pod. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Every middle switch of a pod is joined to every leaf of it.

    References
    ----------
    .. [1] Al-Fares, Loukissas, Vahdat, "A scalable, commodity data center network architecture", SIGCOMM 2008.
       https://doi.org/10.1145/1402958.1402967
    """
    return np.ceil(leaves / down - 1e-9)


@closed_form
def middle_switches(pods: Numeric, leaves: Numeric, uplinks: Numeric, down: Numeric) -> Numeric:
    """Middle switches of a three-level network, all pods together.

    a = n min{s : u mod s = 0, s >= ceil(L / n) u / m}

    Parameters
    ----------
    pods : numeric
        Pods n. [-]
    leaves : numeric
        Leaf switches L of all pods. [-]
    uplinks : numeric
        Ports u of a leaf that face up. [-]
    down : numeric
        Ports m of a middle switch that face the leaves. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Pods of equal size, as large as the largest of them must be.

    References
    ----------
    .. [1] Al-Fares, Loukissas, Vahdat, "A scalable, commodity data center network architecture", SIGCOMM 2008.
       https://doi.org/10.1145/1402958.1402967
    """
    return pods * smallest_divisor(uplinks, np.ceil(leaves / pods - 1e-9) * uplinks / down)


@closed_form
def core_switches(middle: Numeric, uplinks: Numeric, radix: Numeric) -> Numeric:
    """Core switches of a three-level network.

    c = ceil(a w / k)

    Parameters
    ----------
    middle : numeric
        Middle switches a. [-]
    uplinks : numeric
        Ports w of each that face up. [-]
    radix : numeric
        Ports k of a core switch. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    All uplinks of the middle tier are wired.

    Examples
    --------
    >>> float(core_switches(128, 32, 64))
    64.0

    References
    ----------
    .. [1] Al-Fares, Loukissas, Vahdat, "A scalable, commodity data center network architecture", SIGCOMM 2008.
       https://doi.org/10.1145/1402958.1402967
    """
    return np.ceil(middle * uplinks / radix - 1e-9)


@closed_form
def largest_two_level(radix: Numeric, down: Numeric) -> Numeric:
    """Most host ports that a leaf-spine network can have.

    N = k d

    Parameters
    ----------
    radix : numeric
        Ports k of a spine: the most leaves. [-]
    down : numeric
        Ports d of a leaf that face the hosts. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    k^2 / 2 without oversubscription.

    Examples
    --------
    >>> largest_two_level(64, 32)
    2048

    References
    ----------
    .. [1] Al-Fares, Loukissas, Vahdat, "A scalable, commodity data center network architecture", SIGCOMM 2008.
       https://doi.org/10.1145/1402958.1402967
    """
    return radix * down


@closed_form
def largest_three_level(radix: Numeric, middle_down: Numeric, down: Numeric) -> Numeric:
    """Most host ports that a three-level network can have.

    N = k m d

    Parameters
    ----------
    radix : numeric
        Ports k of a core switch: the most pods. [-]
    middle_down : numeric
        Ports m of a middle switch that face the leaves: the most leaves of a pod. [-]
    down : numeric
        Ports d of a leaf that face the hosts. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    k^3 / 4 without oversubscription.

    Examples
    --------
    >>> largest_three_level(64, 32, 32)
    65536

    References
    ----------
    .. [1] Al-Fares, Loukissas, Vahdat, "A scalable, commodity data center network architecture", SIGCOMM 2008.
       https://doi.org/10.1145/1402958.1402967
    """
    return radix * middle_down * down
