"""What is asked of a fabric, and what is known of it then. Every field is a number or an array of them.

Without `from __future__ import annotations`: as text each of these many fields would be compiled at every start.
"""

from typing import NamedTuple

from aiplan.core.arrays import Numeric


class Site(NamedTuple):
    """What is to be joined, and by which switches.

    `nodes` have `ports` each for accelerator traffic; `radix` are the ports of a switch; `oversubscription` is what the
    builder allows. `domain` nodes share a scale-up network, whose accelerators (`accelerators` of them) have `links`
    links each to switches with `domain_radix` ports; only the kind that joins such domains looks at those.
    """

    nodes: Numeric
    ports: Numeric
    radix: Numeric
    oversubscription: Numeric = 1.0
    domain: Numeric = 1.0
    accelerators: Numeric = 1.0
    links: Numeric = 0.0
    domain_radix: Numeric = 144.0


class Contention(NamedTuple):
    """How much less of a port's rate each kind of traffic has left when it crosses a tier, as a factor of 1 or more.

    `ring` is for what few flows carry from one part to the next (and for trees), `send` for every host to a host of
    another part, `uniform` for every host to all others.
    """

    ring: Numeric
    send: Numeric
    uniform: Numeric


class Tier(NamedTuple):
    """A tier of switches as traffic meets it: `nodes` below one part of it, and the contention of what leaves that."""

    nodes: Numeric
    contention: Contention


class Switches(NamedTuple):
    """Switches by tier; `domain` are those of scale-up networks that are part of the fabric."""

    first: Numeric
    second: Numeric = 0.0
    third: Numeric = 0.0
    domain: Numeric = 0.0


class Cables(NamedTuple):
    """Cables by length class, and how many of them end at a host."""

    rack: Numeric
    row: Numeric
    hall: Numeric
    host: Numeric


class Paths(NamedTuple):
    """Switches on the shortest path between two hosts, and metres of cable on it.

    `step` is the longest path between neighbours when ranks follow the order of hosts; `host_metres` are the cables at
    both ends, from host to switch.
    """

    least: Numeric
    mean: Numeric
    most: Numeric
    mean_metres: Numeric
    most_metres: Numeric
    step: Numeric
    step_metres: Numeric
    host_metres: Numeric


class Factors(NamedTuple):
    """Contention factor of each kind of traffic when all hosts take part."""

    ring: Numeric
    tree: Numeric
    all_to_all: Numeric
    pipeline: Numeric
    storage: Numeric


class Fabric(NamedTuple):
    """A fabric of one kind, sized for a site.

    `largest` is the most host ports that the kind can have with these switches; where `hosts` is above it, the other
    fields mean nothing. `bisection` counts links of one direction, each with `link_share` of a host port's rate.
    """

    hosts: Numeric
    largest: Numeric
    switches: Switches
    cables: Cables
    ports_used: Numeric
    paths: Paths
    bisection: Numeric
    link_share: Numeric
    oversubscription: Numeric
    factors: Factors
    leaf: Tier
    pod: Tier
