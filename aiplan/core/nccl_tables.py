"""Constants of NCCL's tuning model, by version and by generation of GPU: latencies in us, bandwidths in GB/s.

Read in `src/graph/tuning.cc` and `src/graph/topo.h` of https://github.com/NVIDIA/nccl, tags 2.7 to 2.30. A row is
(LL, LL128, Simple). Constants that moved within a minor release are those of most of its range.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

Triple: TypeAlias = tuple[float, float, float]

PROTOCOLS = ("ll", "ll128", "simple")
LL, LL128, SIMPLE = range(3)
GENERATIONS = ("volta", "ampere", "hopper", "blackwell")
US, GB = 1e-6, 1e9


class Tuning(NamedTuple):
    """The latencies of a range of versions; `hop` by (link, algorithm)."""

    since: tuple[int, int]
    base: dict[str, Triple]
    hop: dict[tuple[str, str], Triple]


def _hops(nvlink: Triple, pci: Triple, net: Triple, net_ring: Triple, **more: Triple) -> dict[tuple[str, str], Triple]:
    """Return the hops of a range of versions from the rows of its tree, of its ring between nodes, and of the rest."""
    known = {
        ("nvlink", "tree"): nvlink,
        ("pci", "tree"): pci,
        ("net", "tree"): net,
        ("nvlink", "ring"): (0.6, 1.9, 3.4),
        ("pci", "ring"): (1.0, 2.5, 5.7),
        ("net", "ring"): net_ring,
    }
    named = {(link, name): row for key, row in more.items() for link, _, name in [key.partition("_")]}
    return known | named


_SINCE_2_18 = {"ring": (6.6, 14.0, 8.4)}
TUNINGS = (
    Tuning(
        (2, 7),
        {"tree": (4.4, 4.4, 0.0), "ring": (3.6, 10.0, 8.4), "collnet": (4.4, 4.4, 0.0), "nvls": (40.0,) * 3},
        _hops(
            (0.52, 1.25, 28.0),
            (1.0, 1.9, 28.0),
            (5.0, 8.5, 28.0),
            (2.7, 4.0, 9.6),
            nvlink_ring=(0.47, 1.9, 3.4),
            nvlink_collnet=(8.0,) * 3,
            net_collnet=(10.7,) * 3,
            nvlink_nvls=(0.0,) * 3,
            net_nvls=(18.0,) * 3,
        ),
    ),
    Tuning(
        (2, 18),
        _SINCE_2_18 | {"tree": (6.8, 14.0, 0.0), "collnet": (6.8, 14.0, 0.0), "nvls": (23.0,) * 3},
        _hops(
            (0.6, 1.25, 4.0),
            (1.0, 1.9, 6.0),
            (5.0, 8.5, 14.0),
            (2.7, 4.0, 14.0),
            nvlink_collnet=(8.0,) * 3,
            net_collnet=(10.7,) * 3,
            nvlink_nvls=(0.0,) * 3,
            net_nvls=(18.0,) * 3,
            nvlink_nvlstree=(23.0,) * 3,
            net_nvlstree=(19.0,) * 3,
        ),
    ),
    Tuning(
        (2, 19),
        _SINCE_2_18 | {"tree": (6.8, 14.0, 0.0), "collnet": (0.0,) * 3, "nvls": (0.0,) * 3},
        _hops(
            (0.6, 1.25, 28.0),
            (1.0, 1.9, 28.0),
            (5.0, 8.5, 28.0),
            (2.7, 4.0, 14.0),
            nvlink_collnet=(3.7,) * 3,
            net_collnet=(31.0,) * 3,
            nvlink_nvls=(23.0,) * 3,
            net_nvls=(18.0,) * 3,
            nvlink_nvlstree=(23.0,) * 3,
            net_nvlstree=(14.0,) * 3,
        ),
    ),
    Tuning(
        (2, 23),
        _SINCE_2_18 | {"tree": (6.8, 14.0, 8.4), "collnet": (0.0,) * 3, "nvls": (0.0,) * 3, "pat": (0.0, 0.0, 8.0)},
        _hops(
            (0.6, 1.25, 4.0),
            (1.0, 1.9, 4.0),
            (5.0, 8.5, 14.0),
            (2.7, 4.0, 14.0),
            nvlink_collnet=(3.7,) * 3,
            net_collnet=(31.0,) * 3,
            nvlink_nvls=(25.0,) * 3,
            net_nvls=(18.0,) * 3,
            nvlink_nvlstree=(25.0,) * 3,
            net_nvlstree=(14.0,) * 3,
            net_pat=(14.0,) * 3,
        ),
    ),
    Tuning(
        (2, 28),
        _SINCE_2_18 | {"tree": (6.8, 14.0, 8.4), "collnet": (0.0,) * 3, "nvls": (0.0,) * 3, "pat": (8.0, 8.0, 8.0)},
        _hops(
            (0.6, 1.25, 4.0),
            (1.0, 1.9, 4.0),
            (5.0, 8.5, 14.0),
            (2.7, 4.0, 14.0),
            nvlink_collnet=(3.7,) * 3,
            net_collnet=(31.0,) * 3,
            nvlink_nvls=(25.0,) * 3,
            net_nvls=(18.0,) * 3,
            nvlink_nvlstree=(25.0,) * 3,
            net_nvlstree=(20.9,) * 3,
            net_pat=(14.0,) * 3,
        ),
    ),
)
"""The oldest first; a version takes the last one that is not younger."""

NEWEST = (2, 30)


class Ceilings(NamedTuple):
    """What a generation reaches, rows by nodes: one, two, more. LL on the whole bus, the others per channel."""

    channels: int
    ll: Triple
    ring_ll128: float
    tree_ll128: Triple
    tree_simple: Triple
    nvls_efficiency: float
    plateau: float


CEILINGS = {
    "volta": Ceilings(12, (39.0, 39.0, 20.4), 20.0, (20.0, 20.0, 20.0), (26.5, 18.5, 10.0), 0.0, 1.9),
    "ampere": Ceilings(24, (87.7, 22.5, 19.0), 20.0, (20.0, 20.0, 20.0), (24.0, 23.6, 17.8), 0.0, 1.4),
    "hopper": Ceilings(24, (141.0, 45.0, 35.0), 36.7, (36.7, 36.7, 29.0), (38.7, 41.4, 36.0), 0.85, 1.4),
    "blackwell": Ceilings(32, (282.0, 90.0, 70.0), 40.0, (55.6, 31.7, 20.0), (70.0, 42.8, 24.0), 0.74, 1.4),
}
HOPPER_LL_BEFORE_2_21 = (87.7, 22.5, 19.0)

NVLINK = {"volta": 20.0, "ampere": 20.0, "hopper": 20.6, "blackwell": 40.1}
"""Bandwidth of one NVLink, one way; the lines are 25, 25, 25 and 50."""
PCI_X16 = {3: 12.0, 4: 24.0, 5: 48.0, 6: 96.0}
NETWORK_SHARE = 0.96
"""Of a port's rate: the graph search settles at 12, 24 and 48 for 100, 200 and 400 Gb/s."""

SINCE_NEW_LATENCIES, SINCE_LL_HALF = (2, 18), (2, 21)
LL_SHARE, LL128_SHARE = 0.5, 0.92
OLD_LL_SHARES = (1.0 / 4.0, 1.0 / 3.0)
"""Where ranks add up or nodes are crossed, and elsewhere."""
OLD_LL_HOP = 1.8
"""Factor on the hops inside a node, of rings over several."""
OLD_PLATEAU = (64.0, 1.9)
"""Channels and factor of the ring's plateau: from 4 KiB a rank on."""
TREE_SHARE = 0.92
TREE_LL_DIVISOR = 3.8
TREE_LL128_SHARE = (7.0 / 9.0, 120.0 / 128.0)
"""On one node, and on several."""
HOST_OVERHEAD = (1.0, 1.0, 3.0)

TREE_CORRECTION: tuple[tuple[float, ...], ...] = (
    (1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5, 0.4, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1, 1, 1),
    (1.0, 1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.8, 0.9, 0.9, 0.9, 0.9, 1, 1),
    (0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5, 0.5, 0.5, 0.5, 0.6, 0.7, 0.8, 0.7, 0.7, 0.8, 0.9, 0.9),
)
"""Factors on the tree's bandwidth, by protocol and by the power of two of the size: 64 B, 128 B ... 256 MiB; then 1."""


def tuning(version: tuple[int, int]) -> Tuning:
    """Return the latencies that a version of NCCL uses."""
    return next((row for row in reversed(TUNINGS) if row.since <= version), TUNINGS[0])
