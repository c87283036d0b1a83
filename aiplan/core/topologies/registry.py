"""All kinds of fabrics, one row each: to add one, write the function that sizes it and a row here."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from aiplan.core.topologies.record import Fabric, Site


class Kind(NamedTuple):
    """A kind of fabric: its name, what it is, how it is sized, where that holds, and who says so.

    `function` sizes it: a module of this folder and a function there, loaded for fabrics of this kind only. `tiers`
    names the two borders that traffic may cross. `usual` is the oversubscription where none is given; `why` says so if
    that is not 1. `switched` is False where nodes are routers. `domains` is True for what joins scale-up networks of
    more than a node.
    """

    name: str
    title: str
    function: str
    tiers: tuple[str, str]
    validity: str
    source: str
    usual: float = 1.0
    why: str = ""
    switched: bool = True
    domains: bool = False

    def size(self, site: Site) -> Fabric:
        """Return the fabric of this kind for a site."""
        module, _, function = self.function.partition(".")
        sized: Fabric = getattr(import_module(f"{__package__}.{module}"), function)(site)
        return sized


LEISERSON = "https://doi.org/10.1109/TC.1985.6312192"
AL_FARES = "https://doi.org/10.1145/1402958.1402967"

KINDS = {
    kind.name: kind
    for kind in (
        Kind(
            "fat-tree",
            "Folded Clos of as few tiers as will do",
            "trees.fat_tree",
            ("leaf", "pod"),
            "up to three tiers; oversubscription at the leaves' uplinks",
            AL_FARES,
        ),
        Kind(
            "leaf-spine",
            "Two-level folded Clos",
            "trees.leaf_spine",
            ("leaf", "fabric"),
            "at most as many leaves as a spine has ports; oversubscription at the leaves' uplinks",
            LEISERSON,
        ),
        Kind(
            "three-tier",
            "Edge, aggregation and core, less between pods",
            "trees.three_tier",
            ("edge switch", "pod"),
            "full bandwidth inside a pod; oversubscription between aggregation and core",
            AL_FARES,
            usual=4.0,
            why="usual for three tiers: 2.5 to 8, Al-Fares et al., SIGCOMM 2008",
        ),
        Kind(
            "rail-optimized",
            "Fat-tree whose leaves each take one port of every node",
            "trees.rail_optimized",
            ("rail leaf", "pod"),
            "as many leaves a unit as a node has ports; oversubscription at the leaves' uplinks",
            "https://docs.nvidia.com/dgx-superpod/reference-architecture-scalable-infrastructure-h100/latest/network-fabrics.html",
        ),
        Kind(
            "rail-only",
            "One fat-tree a rail, no links between rails",
            "trees.rail_only",
            ("rail leaf", "pod"),
            "traffic between rails goes through the scale-up network of a node",
            "https://arxiv.org/abs/2307.12169",
        ),
        Kind(
            "dragonfly",
            "Groups of routers, all joined to each other",
            "groups.dragonfly",
            ("router", "group"),
            "a = 2 h, p = o h; adaptive routing",
            "https://doi.org/10.1109/ISCA.2008.19",
        ),
        Kind(
            "dragonfly-plus",
            "Groups of leaf and spine, all joined to each other",
            "groups.dragonfly_plus",
            ("leaf", "group"),
            "as many global as local links at a spine; adaptive routing",
            "https://doi.org/10.1109/HiPINEB.2017.11",
        ),
        Kind(
            "torus-3d",
            "Every node joined to its neighbours along three axes",
            "meshes.torus_3d",
            ("node", "torus"),
            "the ports of a node share six directions; a group runs along one axis",
            "https://arxiv.org/abs/2304.01433",
            switched=False,
        ),
        Kind(
            "nvlink-domains",
            "Rails that join scale-up domains of many nodes",
            "trees.domains",
            ("rail leaf", "pod"),
            "domains of more than 16 accelerators with one tier of scale-up switches",
            "https://docs.nvidia.com/dgx/dgxgb200-user-guide/hardware.html",
            domains=True,
        ),
    )
}
NAMES = tuple(KINDS)
