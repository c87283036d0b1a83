"""Dragonfly and dragonfly+ networks: groups of switches, every group joined to every other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric


@closed_form
def global_links(radix: Numeric, oversubscription: Numeric) -> Numeric:
    """Global links of a router in a balanced dragonfly of a given radix.

    h = max(1, floor((k + 1) / (o + 3)))

    Parameters
    ----------
    radix : numeric
        Ports k of a router. [-]
    oversubscription : numeric
        Hosts of a router over its global links, o. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    With p = o h hosts and a = 2 h routers in a group, p + a - 1 + h <= k. o = 1 is the balanced a = 2p = 2h.

    Examples
    --------
    >>> float(global_links(64, 1.0))
    16.0

    References
    ----------
    .. [1] Kim, Dally, Scott, Abts, "Technology-driven, highly-scalable dragonfly topology", ISCA 2008.
       https://doi.org/10.1109/ISCA.2008.19
    """
    return np.maximum(1.0, np.floor((radix + 1.0) / (oversubscription + 3.0) + 1e-9))


@closed_form
def router_radix(hosts: Numeric, routers: Numeric, global_links: Numeric) -> Numeric:
    """Ports of a dragonfly router.

    k = p + a - 1 + h

    Parameters
    ----------
    hosts : numeric
        Hosts p of a router. [-]
    routers : numeric
        Routers a of a group. [-]
    global_links : numeric
        Global links h of a router. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    One link to every other router of its group.

    References
    ----------
    .. [1] Kim, Dally, Scott, Abts, "Technology-driven, highly-scalable dragonfly topology", ISCA 2008.
       https://doi.org/10.1109/ISCA.2008.19
    """
    return hosts + routers - 1.0 + global_links


@closed_form
def most_groups(global_links: Numeric) -> Numeric:
    """Most groups of a network in which every group is joined to every other.

    g = w + 1

    Parameters
    ----------
    global_links : numeric
        Global links w of a group. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    One link a pair. a h + 1 in a dragonfly.

    Examples
    --------
    >>> most_groups(32 * 16)
    513.0

    References
    ----------
    .. [1] Kim, Dally, Scott, Abts, "Technology-driven, highly-scalable dragonfly topology", ISCA 2008.
       https://doi.org/10.1109/ISCA.2008.19
    """
    return global_links + 1.0


@closed_form
def gateways(global_links: Numeric, groups: Numeric) -> Numeric:
    """Share of a group's routers that have a link to one certain other group.

    q = min(1, h / (g - 1))

    Parameters
    ----------
    global_links : numeric
        Global links h of a router. [-]
    groups : numeric
        Groups g. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Links of a pair of groups at different routers. One group: 1.

    References
    ----------
    .. [1] Kim, Dally, Scott, Abts, "Technology-driven, highly-scalable dragonfly topology", ISCA 2008.
       https://doi.org/10.1109/ISCA.2008.19
    """
    return np.minimum(1.0, global_links / np.maximum(groups - 1.0, 1.0))


@closed_form
def mean_router_hops(routers: Numeric, groups: Numeric, gateways: Numeric) -> Numeric:
    """Mean number of links between two routers of a dragonfly, minimal routes.

    m = (1 / g) (1 - 1 / a) + (1 - 1 / g) (3 - 2 q + q^2 - q / a)

    Parameters
    ----------
    routers : numeric
        Routers a of a group. [-]
    groups : numeric
        Groups g. [-]
    gateways : numeric
        Share q of a group's routers with a link to a certain other group. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    All pairs alike, a router with itself among them. Exact for q = 1 / a (one link a pair of groups); above that the
    links lie at random.

    Examples
    --------
    >>> round(float(mean_router_hops(4, 9, 0.25)), 4)
    2.3056

    References
    ----------
    .. [1] Kim, Dally, Scott, Abts, "Technology-driven, highly-scalable dragonfly topology", ISCA 2008.
       https://doi.org/10.1109/ISCA.2008.19
    """
    own = (1.0 - 1.0 / routers) / groups
    other = 3.0 - 2.0 * gateways + np.square(gateways) - gateways / routers
    return own + (1.0 - 1.0 / groups) * other


@closed_form
def mean_switches_between_hosts(hosts: Numeric, router_hops: Numeric) -> Numeric:
    """Mean number of switches between two hosts of a dragonfly, minimal routes.

    s = (N m' / (N - 1)) with m' = m + 1 over all pairs, less the N pairs of a host with itself

    Parameters
    ----------
    hosts : numeric
        Hosts N. [-]
    router_hops : numeric
        Mean links between two routers m, all pairs. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Hosts spread evenly over the routers. One more switch than links.

    References
    ----------
    .. [1] Kim, Dally, Scott, Abts, "Technology-driven, highly-scalable dragonfly topology", ISCA 2008.
       https://doi.org/10.1109/ISCA.2008.19
    """
    return (hosts * (router_hops + 1.0) - 1.0) / np.maximum(hosts - 1.0, 1.0)


@closed_form
def local_cables(routers: Numeric, group: Numeric) -> Numeric:
    """Cables inside the groups of a dragonfly.

    c = R (a - 1) / 2

    Parameters
    ----------
    routers : numeric
        Routers R of all groups. [-]
    group : numeric
        Routers a of a full group. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    A single group that is not full wires its local ports in parallel; the half cable of an odd count is left out.

    References
    ----------
    .. [1] Kim, Dally, Scott, Abts, "Technology-driven, highly-scalable dragonfly topology", ISCA 2008.
       https://doi.org/10.1109/ISCA.2008.19
    """
    return np.where(np.asarray(routers) > 1, np.floor(routers * (group - 1.0) / 2.0), 0.0)


@closed_form
def global_cables(groups: Numeric, links: Numeric) -> Numeric:
    """Cables between groups that are all joined to each other.

    c = floor(g w / 2) if g > 1 else 0

    Parameters
    ----------
    groups : numeric
        Groups g. [-]
    links : numeric
        Global links w of a group. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    All global ports wired; an odd one stays free.

    References
    ----------
    .. [1] Kim, Dally, Scott, Abts, "Technology-driven, highly-scalable dragonfly topology", ISCA 2008.
       https://doi.org/10.1109/ISCA.2008.19
    """
    return np.where(np.asarray(groups) > 1, np.floor(groups * links / 2.0), 0.0)


@closed_form
def neighbour_oversubscription(hosts: Numeric, global_links: Numeric, groups: Numeric) -> Numeric:
    """How much less two groups exchange than their hosts send, when each group sends to one other.

    o = max(1, min(2, g - 1) p / h)

    Parameters
    ----------
    hosts : numeric
        Hosts p of a router, or of a group. [-]
    global_links : numeric
        Global links h of a router, or of a group. [-]
    groups : numeric
        Groups g. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Direct links are 1 / (g - 1) of a group's. Routes over a third group (Valiant), to which adaptive routing falls
    back, take two global links for one; so two groups lose nothing, three or more a factor of two.

    References
    ----------
    .. [1] Valiant, Brebner, "Universal schemes for parallel communication", STOC 1981.
       https://doi.org/10.1145/800076.802479
    """
    return np.maximum(1.0, np.minimum(2.0, groups - 1.0) * hosts / global_links)


@closed_form
def local_oversubscription(hosts: Numeric, links: Numeric) -> Numeric:
    """How much less the local links of a router carry than its hosts send.

    o = max(1, 2 p / a)

    Parameters
    ----------
    hosts : numeric
        Hosts p of a router. [-]
    links : numeric
        Local links of a router, with one to itself counted: a. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Two local hops on a route: to the router with the global link, and from the one where it ends.

    References
    ----------
    .. [1] Kim, Dally, Scott, Abts, "Technology-driven, highly-scalable dragonfly topology", ISCA 2008.
       https://doi.org/10.1109/ISCA.2008.19
    """
    return np.maximum(1.0, 2.0 * hosts / links)


@closed_form
def leaf_spine_switches(hosts: Numeric, leaf: Numeric, group: Numeric) -> Numeric:
    """Mean number of switches between two hosts of a dragonfly+.

    s = ((l - 1) + 3 (q - l) + 4 (N - q)) / (N - 1)

    Parameters
    ----------
    hosts : numeric
        Hosts N. [-]
    leaf : numeric
        Hosts l of a leaf switch. [-]
    group : numeric
        Hosts q of a group. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Between groups: leaf, spine, spine, leaf, as every leaf is joined to every spine of its group.

    References
    ----------
    .. [1] Shpiner et al., "Dragonfly+: low cost topology for scaling datacenters", HiPINEB 2017.
       https://doi.org/10.1109/HiPINEB.2017.11
    """
    leaf, group = np.minimum(leaf, hosts), np.minimum(group, hosts)
    pairs = (leaf - 1.0) + 3.0 * (group - leaf) + 4.0 * (hosts - group)
    return np.where(np.asarray(hosts) > 1, pairs / np.maximum(hosts - 1.0, 1.0), 0.0)
