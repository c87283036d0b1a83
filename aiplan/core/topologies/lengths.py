"""How long cables and waits are: round figures of a machine hall, the same for every kind of fabric."""

from __future__ import annotations

RACK, ROW, HALL = 2.0, 15.0, 50.0
"""Metres of a cable inside a rack (passive copper reaches 3), along a row, through the hall (as far as SR4 optics)."""
PER_METRE = 5e-9
"""Seconds for a metre of cable: light in glass. https://pingdo.net/tools/roce-vs-infiniband"""
ADAPTER = 0.6e-6
"""Seconds in an adapter of HDR or later. https://en.wikipedia.org/wiki/InfiniBand"""
HOP = 0.5e-6
"""Seconds in a switch of which the catalog does not say it: a usual Ethernet switch."""
