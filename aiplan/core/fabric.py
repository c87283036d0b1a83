"""What the fabrics of switches have in common: ports, paths, bisection, contention."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric


@closed_form
def down_ports(radix: Numeric, oversubscription: Numeric) -> Numeric:
    """Ports of a leaf switch that face the hosts.

    d = floor(k o / (1 + o))

    Parameters
    ----------
    radix : numeric
        Ports k of the switch. [-]
    oversubscription : numeric
        Edge bandwidth over core bandwidth o that is allowed, at least 1. [-]

    Returns
    -------
    numeric
        Ports, broadcast shape of the inputs. [-]

    Notes
    -----
    The rest face up. A port count is a whole number, so the oversubscription that is built is at most the one allowed.

    Examples
    --------
    >>> float(down_ports(64, 1.0)), float(down_ports(64, 3.0))
    (32.0, 48.0)

    References
    ----------
    .. [1] Leiserson, "Fat-trees: universal networks for hardware-efficient supercomputing", IEEE ToC C-34, 1985.
       https://doi.org/10.1109/TC.1985.6312192
    """
    return np.floor(radix * oversubscription / (1.0 + oversubscription) + 1e-9)


@closed_form
def split_radix(radix: Numeric, rate: Numeric, adapter: Numeric) -> Numeric:
    """Ports of a switch whose ports are split to the rate of the adapters.

    k' = k max(1, min(4, floor(B / b)))

    Parameters
    ----------
    radix : numeric
        Ports k of the switch. [-]
    rate : numeric
        Rate B of one of them. [B/s]
    adapter : numeric
        Rate b of an adapter's port. [B/s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Cables split a port into two or four, all ports of the fabric alike. An adapter that is faster than a port does not
    fit; that is not checked here.

    Examples
    --------
    >>> float(split_radix(64, 50e9, 25e9))
    128.0

    References
    ----------
    .. [1] NVIDIA, "QM97X0 user manual", interfaces. https://docs.nvidia.com/networking/display/QM97X0PUB/Interfaces
    """
    return radix * np.maximum(1.0, np.minimum(4.0, np.floor(rate / adapter + 1e-9)))


@closed_form
def switches_for(ports: Numeric, each: Numeric) -> Numeric:
    """Switches, or groups of them, that a number of ports takes.

    s = ceil(N / d)

    Parameters
    ----------
    ports : numeric
        Ports N that are wanted. [-]
    each : numeric
        Ports d of one. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    The last one may be partly empty.

    References
    ----------
    .. [1] Leiserson, "Fat-trees: universal networks for hardware-efficient supercomputing", IEEE ToC C-34, 1985.
       https://doi.org/10.1109/TC.1985.6312192
    """
    return np.ceil(ports / each - 1e-9)


@closed_form
def smallest_divisor(number: Numeric, least: Numeric) -> Numeric:
    """Smallest divisor of a number that is not below another.

    j = min{j : n mod j = 0, j >= l}

    Parameters
    ----------
    number : numeric
        Whole number n, at least 1. [-]
    least : numeric
        Lower limit l, at most n. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Uplinks are spread evenly only over a number of switches that divides them. An l above n gives n.

    Examples
    --------
    >>> float(smallest_divisor(32, 12)), float(smallest_divisor(72, 16))
    (16.0, 18.0)

    References
    ----------
    .. [1] NVIDIA, "DGX SuperPOD reference architecture: DGX H100", network fabrics.
       https://docs.nvidia.com/dgx-superpod/reference-architecture-scalable-infrastructure-h100/latest/network-fabrics.html
    """
    number, least = np.broadcast_arrays(np.asarray(number, dtype=float), np.asarray(least, dtype=float))
    found = number.copy()
    for candidate in range(int(np.max(number, initial=1.0)), 0, -1):
        fits = (np.mod(number, candidate) == 0) & (candidate >= least - 1e-9)
        found = np.where(fits, float(candidate), found)
    return found


@closed_form
def oversubscription(down: Numeric, up: Numeric) -> Numeric:
    """How much less a tier of switches carries upward than comes from below.

    o = max(1, D / U)

    Parameters
    ----------
    down : numeric
        Bandwidth or ports D towards the hosts. [-]
    up : numeric
        Bandwidth or ports U towards the core. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    A tier with more above than below is no bottleneck: 1.

    Examples
    --------
    >>> round(float(oversubscription(128 * 200, 60 * 400)), 3)
    1.067

    References
    ----------
    .. [1] Leiserson, "Fat-trees: universal networks for hardware-efficient supercomputing", IEEE ToC C-34, 1985.
       https://doi.org/10.1109/TC.1985.6312192
    """
    return np.maximum(1.0, down / up)


@closed_form
def mean_switches(hosts: Numeric, leaf: Numeric, pod: Numeric) -> Numeric:
    """Mean number of switches on the shortest path between two hosts, in a tree of up to three tiers.

    m = ((l - 1) + 3 (q - l) + 5 (N - q)) / (N - 1)

    Parameters
    ----------
    hosts : numeric
        Host ports N. [-]
    leaf : numeric
        Host ports l below one leaf switch. [-]
    pod : numeric
        Host ports q below one pod of leaf switches. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    All pairs of different ports alike. Two tiers: q = N. One switch: l = q = N. Partly empty switches: means l and q.

    Examples
    --------
    >>> round(float(mean_switches(16, 2, 4)), 4)
    4.4667

    References
    ----------
    .. [1] Al-Fares, Loukissas, Vahdat, "A scalable, commodity data center network architecture", SIGCOMM 2008.
       https://doi.org/10.1145/1402958.1402967
    """
    leaf, pod = np.minimum(leaf, hosts), np.minimum(pod, hosts)
    pairs = (leaf - 1.0) + 3.0 * (pod - leaf) + 5.0 * (hosts - pod)
    return np.where(np.asarray(hosts) > 1, pairs / np.maximum(hosts - 1.0, 1.0), 0.0)


@closed_form
def path_latency(switches: Numeric, hop: Numeric, metres: Numeric, per_metre: Numeric, adapter: Numeric) -> Numeric:
    """Time a small message takes over a path of adapters, switches and cables.

    t = 2 a + s h + x c

    Parameters
    ----------
    switches : numeric
        Switches s on the path. [-]
    hop : numeric
        Port-to-port time h of a switch. [s]
    metres : numeric
        Length x of all cables on the path, in metres. [-]
    per_metre : numeric
        Time c for a metre of cable. [s]
    adapter : numeric
        Time a in each of the two adapters. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    Without queues, error correction and software: a lower bound of what a message between hosts takes.

    References
    ----------
    .. [1] Kim et al., "Technology-driven, highly-scalable dragonfly topology", ISCA 2008, section 4.
       https://doi.org/10.1109/ISCA.2008.19
    """
    return 2.0 * adapter + switches * hop + metres * per_metre


@closed_form
def tree_bisection(hosts: Numeric, oversubscription: Numeric) -> Numeric:
    """Links that a tree of switches has between its two halves.

    L = N / (2 o)

    Parameters
    ----------
    hosts : numeric
        Host ports N. [-]
    oversubscription : numeric
        Edge bandwidth over core bandwidth o. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    One direction, in links of a host port's rate; halves of equal size along pods.

    References
    ----------
    .. [1] Leiserson, "Fat-trees: universal networks for hardware-efficient supercomputing", IEEE ToC C-34, 1985.
       https://doi.org/10.1109/TC.1985.6312192
    """
    return hosts / (2.0 * oversubscription)


@closed_form
def group_bisection(groups: Numeric, wires: Numeric) -> Numeric:
    """Links between the two halves of a fabric of groups that are all joined to each other.

    L = floor(g / 2) ceil(g / 2) w / (g - 1)

    Parameters
    ----------
    groups : numeric
        Groups g, at least 1. [-]
    wires : numeric
        Global links w of a group. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Links spread evenly over pairs of groups. One group has none.

    References
    ----------
    .. [1] Kim, Dally, Scott, Abts, "Technology-driven, highly-scalable dragonfly topology", ISCA 2008.
       https://doi.org/10.1109/ISCA.2008.19
    """
    half = np.floor(groups / 2.0)
    return half * (groups - half) * wires / np.maximum(groups - 1.0, 1.0)


@closed_form
def crossing_contention(oversubscription: Numeric, hosts: Numeric, below: Numeric) -> Numeric:
    """How much slower hosts send when each of them sends to another part of the fabric.

    c = max(1, o) if N > l else 1

    Parameters
    ----------
    oversubscription : numeric
        Bandwidth into a part over bandwidth out of it, o. [-]
    hosts : numeric
        Host ports N that take part. [-]
    below : numeric
        Host ports l of one part. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    The worst pattern without two senders to one receiver, such as the sends of a pipeline stage or traffic to storage.

    References
    ----------
    .. [1] Leiserson, "Fat-trees: universal networks for hardware-efficient supercomputing", IEEE ToC C-34, 1985.
       https://doi.org/10.1109/TC.1985.6312192
    """
    return np.where(np.asarray(hosts) > below, np.maximum(1.0, oversubscription), 1.0)


@closed_form
def neighbour_contention(oversubscription: Numeric, hosts: Numeric, below: Numeric, flows: Numeric) -> Numeric:
    """How much slower hosts send when only a few flows leave each part of the fabric.

    c = max(1, o f / l) if N > l else 1

    Parameters
    ----------
    oversubscription : numeric
        Bandwidth into a part over bandwidth out of it, o. [-]
    hosts : numeric
        Host ports N that take part. [-]
    below : numeric
        Host ports l of one part. [-]
    flows : numeric
        Flows f that leave a part: 1 for a ring, up to 4 for a double binary tree. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Ranks in the order of the hosts. A block of 2^j ranks of an in-order binary tree has at most its root's edge and the
    three of its first rank across its border.

    References
    ----------
    .. [1] Sanders, Speck, Traff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan", Parallel
       Computing 35(12), 2009. https://doi.org/10.1016/j.parco.2009.09.001
    """
    return np.where(np.asarray(hosts) > below, np.maximum(1.0, oversubscription * flows / below), 1.0)


@closed_form
def uniform_contention(oversubscription: Numeric, hosts: Numeric, below: Numeric) -> Numeric:
    """How much slower hosts send when all of them send to all others.

    c = max(1, o (N - l) / (N - 1))

    Parameters
    ----------
    oversubscription : numeric
        Bandwidth into a part over bandwidth out of it, o. [-]
    hosts : numeric
        Host ports N that take part. [-]
    below : numeric
        Host ports l of one part. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Only what leaves a part of the fabric meets its bottleneck.

    References
    ----------
    .. [1] Leiserson, "Fat-trees: universal networks for hardware-efficient supercomputing", IEEE ToC C-34, 1985.
       https://doi.org/10.1109/TC.1985.6312192
    """
    leaves = np.maximum(hosts - below, 0.0) / np.maximum(hosts - 1.0, 1.0)
    return np.maximum(1.0, oversubscription * leaves)


@closed_form
def switch_ports_used(host_cables: Numeric, switch_cables: Numeric) -> Numeric:
    """Switch ports that a fabric's cables take.

    n = h + 2 c

    Parameters
    ----------
    host_cables : numeric
        Cables h from hosts to switches. [-]
    switch_cables : numeric
        Cables c between switches. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    A cable between switches has a port at both ends.

    References
    ----------
    .. [1] Al-Fares, Loukissas, Vahdat, "A scalable, commodity data center network architecture", SIGCOMM 2008.
       https://doi.org/10.1145/1402958.1402967
    """
    return host_cables + 2.0 * switch_cables


@closed_form
def domain_switches(domains: Numeric, accelerators: Numeric, links: Numeric, radix: Numeric) -> Numeric:
    """Switches of the scale-up networks that a fabric joins.

    s = n ceil(D x / k)

    Parameters
    ----------
    domains : numeric
        Scale-up domains n. [-]
    accelerators : numeric
        Accelerators D of a domain. [-]
    links : numeric
        Links x of an accelerator. [-]
    radix : numeric
        Ports k of a switch. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    One tier: every accelerator has a link to every switch chip.

    Examples
    --------
    >>> float(domain_switches(1, 72, 18, 144))
    9.0

    References
    ----------
    .. [1] NVIDIA, "DGX GB200 user guide", hardware. https://docs.nvidia.com/dgx/dgxgb200-user-guide/hardware.html
    """
    return domains * np.ceil(accelerators * links / radix - 1e-9)
