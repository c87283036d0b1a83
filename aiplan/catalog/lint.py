"""What is wrong with the catalog as a whole: rules that a single field cannot hold.

Each rule takes an entry and yields what it finds. What is an exception for good reason is stated in the entry
itself (`peak_ratios`, `sparsity_by_type`, `unverified`), so the rules know no names.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from aiplan import units
from aiplan.catalog.derived import sparse_peaks
from aiplan.catalog.leaves import Leaf, field_spec, leaves, plain, under
from aiplan.catalog.records import KINDS, Accelerator, Link, Network, Node, Price, PurchasePrice, Switch
from aiplan.declare import Diagnostics, InputError, Mark

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from aiplan.catalog.load import Catalog, Found
    from aiplan.catalog.records import Entry, LinkUse

REFERENCES = {
    ("accelerators", "scale_up.link"): "links",
    ("accelerators", "fitted.shared_with"): "accelerators",
    ("accelerators", "host_link.link"): "links",
    ("nodes", "accelerator"): "accelerators",
    ("nodes", "nics.network"): "networks",
    ("nodes", "scale_up.switch"): "links",
}
"""Fields that name another entry, and the kind of that entry."""

USUAL_RATIOS = {"fp16": 1.0, "tf32": 0.5, "fp8": 2.0, "int8": 2.0}
"""Dense peak over that of bf16 on most accelerators with matrix units."""

INFINIBAND_RATES = {"FDR": 54.54e9, "EDR": 100e9, "HDR": 200e9, "NDR": 400e9, "XDR": 800e9}
"""Data rate of four lanes in bit/s. FDR is sold as 56; its 64b/66b coding leaves 54.54.

https://www.infinibandta.org/infiniband-roadmap/
"""

_ROUNDING = 0.03
_SAME = 0.003
_LABEL = 0.15
_ODD_ONE_OUT = 1.6
_ADDRESS = re.compile(r"https?://[^\s/]+\.[^\s/]+(?P<page>/\S*)?")


class Problem(NamedTuple):
    """A finding: its code, the field it is about (empty for the whole entry), what is wrong, how to repair it."""

    code: str
    path: str
    text: str
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class Shelf:
    """Every entry of the catalog that could be read."""

    found: dict[tuple[str, str], Found]
    ids: dict[str, frozenset[str]]
    families: dict[str, list[Accelerator]]

    def link(self, use: LinkUse) -> Link | None:
        """Return the link that an accelerator uses, if it is there."""
        found = self.found.get(("links", use.link))
        return found.entry if found is not None and isinstance(found.entry, Link) else None

    def siblings(self, entry: Accelerator) -> list[Accelerator]:
        """Return the other accelerators of the same architecture."""
        return [other for other in self.families.get(_family(entry), ()) if other is not entry]


@dataclass(frozen=True, slots=True)
class Case:
    """An entry to check: its kind, its values, and all the others."""

    kind: str
    entry: Entry
    given: tuple[Leaf, ...]
    shelf: Shelf


def lint(catalog: Catalog, diagnostics: Diagnostics) -> int:
    """Check every entry of a catalog, overlays included.

    Parameters
    ----------
    catalog : Catalog
        What to check.
    diagnostics : Diagnostics
        Takes the findings.

    Returns
    -------
    int
        How many entries there are.
    """
    shelf = _read_all(catalog, diagnostics)
    for (kind, _), found in shelf.found.items():
        case = Case(kind, found.entry, tuple(leaves(found.entry)), shelf)
        for rule in RULES:
            for code, path, text, hint in rule(case):
                diagnostics.error(code, text, found.mark(path), hint=hint)
    for name in catalog.strays():
        hint = f"entries are files '<kind>/<id>.yaml' in lower case; kinds: {', '.join(KINDS)}"
        diagnostics.error("AIP211", f"'{name}' is not read", Mark(name, 1, 1, 2), hint=hint)
    return sum(map(len, shelf.ids.values()))


def doubtful_peaks(catalog: Catalog, ident: str) -> list[Problem]:
    """Return what is odd about the peaks of one accelerator, beside those of the same architecture."""
    families: dict[str, list[Accelerator]] = {}
    for name in catalog.ids("accelerators"):
        found = catalog.accelerator(name, Diagnostics())
        if found is not None and found[0].architecture:
            families.setdefault(_family(found[0]), []).append(found[0])
    mine = catalog.accelerator(ident, Diagnostics())
    if mine is None:
        return []
    case = Case("accelerators", mine[0], (), Shelf({}, {}, families))
    return [problem for rule in (peaks_keep_ratios, peaks_are_dense, peaks_fit_the_clock) for problem in rule(case)]


def _read_all(catalog: Catalog, diagnostics: Diagnostics) -> Shelf:
    ids = {kind: frozenset(catalog.ids(kind)) for kind in KINDS}
    found: dict[tuple[str, str], Found] = {}
    for kind, names in ids.items():
        for name in sorted(names):
            try:
                read = catalog.find(kind, name, diagnostics)
            except InputError:  # its findings are in the diagnostics already
                continue
            if read is not None:
                found[kind, name] = read
    families: dict[str, list[Accelerator]] = {}
    for one in found.values():
        if isinstance(one.entry, Accelerator) and one.entry.architecture:
            families.setdefault(_family(one.entry), []).append(one.entry)
    return Shelf(found, ids, families)


# Any entry


def references_resolve(case: Case) -> Iterator[Problem]:
    """Check that every id that an entry names is in the catalog."""
    for path, _, value in case.given:
        target = REFERENCES.get((case.kind, plain(path)))
        if target is not None and value not in case.shelf.ids[target]:
            yield Problem(
                "AIP205", path, f"no entry '{value}' in {target}", f"'aiplan catalog list {target}' lists all"
            )


def texts_say_something(case: Case) -> Iterator[Problem]:
    """Check that no text is blank."""
    for path, _, value in case.given:
        if isinstance(value, str) and not value.strip():
            yield Problem("AIP202", path, f"'{path}' is blank", "leave the key out, or say something")


def sources_are_addresses(case: Case) -> Iterator[Problem]:
    """Check that an entry has sources, each a web address, and a verified one more than home pages."""
    entry = case.entry
    if not entry.sources:
        yield Problem("AIP206", "sources", "the entry has no source", "add the address where the numbers can be read")
    matches = [_ADDRESS.fullmatch(source) for source in entry.sources]
    for index, match in enumerate(matches):
        if match is None:
            yield Problem("AIP206", f"sources[{index}]", f"'{entry.sources[index]}' is not a web address")
    pages = [match for match in matches if match and (match["page"] or "/") != "/"]
    if entry.verified and entry.sources and not pages:
        hint = "give the address of the page that was read, or write 'verified: false'"
        yield Problem("AIP206", "verified", "the entry is called verified, but its sources are home pages only", hint)


def doubts_name_fields(case: Case) -> Iterator[Problem]:
    """Check that each path under `unverified` names a field that is given."""
    entry = case.entry
    for index, name in enumerate(entry.unverified):
        if field_spec(type(entry), name) is None:
            yield Problem(
                "AIP208", f"unverified[{index}]", f"'{name}' is called unverified, but there is no such field"
            )
        elif not any(under(leaf.path, name) for leaf in case.given):
            yield Problem("AIP208", f"unverified[{index}]", f"'{name}' is called unverified, but it is not given")


def prices_are_dated(case: Case) -> Iterator[Problem]:
    """Check that a price that counts as read has a date; a purchase price nobody read is called unverified."""
    entry = case.entry
    for name, price in _prices(entry):
        if price.verified and price.as_of is None:
            yield Problem("AIP208", name, "the price has no date", "add 'as_of', or write 'verified: false'")
    bought = getattr(entry, "purchase_price", None)
    if isinstance(bought, PurchasePrice):
        if bought.verified and bought.as_of is None:
            yield Problem("AIP208", "purchase_price", "the price has no date", "add 'as_of'")
        if entry.verified and not bought.verified and "purchase_price" not in entry.unverified:
            text = "the price is not verified, but the entry does not say so"
            yield Problem("AIP208", "purchase_price", text, "add 'purchase_price' to 'unverified'")


def spot_is_cheaper(case: Case) -> Iterator[Problem]:
    """Check that no verified spot price is above the list price of the same offer on the same day."""
    entry = case.entry
    listed = {
        (price.provider, price.sku, price.as_of): price.per_hour[1]
        for _, price in _prices(entry)
        if price.terms == "on-demand"
    }
    for name, price in _prices(entry):
        most = listed.get((price.provider, price.sku, price.as_of))
        if price.terms == "spot" and price.verified and most is not None and price.per_hour[0] > most:
            yield Problem("AIP202", name, "the spot price is above the list price", "check both, or 'verified: false'")


def labels_fit(case: Case) -> Iterator[Problem]:
    """Check that a label that can be read as a number is within 15 % of the number to compute with."""
    entry = case.entry
    match entry:
        case Accelerator():
            yield from _label("memory.capacity", entry.memory.capacity, entry.memory.label, "data")
        case Network(label=str(label)):
            yield from _label("bandwidth_one_way", entry.bandwidth_one_way, label, "data rate")
        case _:
            return


def _label(path: str, value: float, label: str, dimension: str) -> Iterator[Problem]:
    try:
        printed = units.parse(label, dimension)
    except units.UnitError:
        return
    if abs(value / printed - 1) > _LABEL:
        shown = units.quantity(value, "B si" if dimension == "data" else "B/s")
        yield Problem("AIP209", path, f"{shown} is far from the label '{label}'", "bits or bytes? one way or both?")


# Accelerators


def peaks_keep_ratios(case: Case) -> Iterator[Problem]:
    """Check that peaks per data type stand in the usual ratios, or in those that the entry states."""
    entry = case.entry
    if not isinstance(entry, Accelerator):
        return
    base = "bf16" if "bf16" in entry.compute else "fp16"
    for dtype, ratio in {**USUAL_RATIOS, **entry.peak_ratios}.items():
        if dtype in entry.compute and base in entry.compute:
            found = entry.compute[dtype] / entry.compute[base]
            if abs(found / ratio - 1) > _ROUNDING:
                text = f"the dense peak for {dtype} is {found:.4g} times that for {base}; {ratio:g} is due"
                hint = "a sparse peak among dense ones? if it is right, state the ratio under 'peak_ratios'"
                yield Problem("AIP204", f"compute.{dtype}", text, hint)


def peaks_are_dense(case: Case) -> Iterator[Problem]:
    """Check that no dense peak equals the sparse headline of the same data type on a sibling."""
    entry = case.entry
    if not isinstance(entry, Accelerator):
        return
    for dtype, peak in entry.compute.items():
        for other in case.shelf.siblings(entry):
            headline = sparse_peaks(other).get(dtype)
            if headline is not None and abs(peak / headline - 1) < _SAME:
                text = f"the dense peak for {dtype} is the sparse headline of {other.name}"
                yield Problem("AIP204", f"compute.{dtype}", text, "enter the dense peak, half of it on most parts")
                break


def peaks_fit_the_clock(case: Case) -> Iterator[Problem]:
    """Check that operations per multiprocessor and cycle are no more than 1.6 times what siblings do."""
    entry = case.entry
    if not isinstance(entry, Accelerator):
        return
    mine = _per_cycle(entry)
    others = [rate for other in case.shelf.siblings(entry) if (rate := _per_cycle(other))]
    if mine and others and mine > _ODD_ONE_OUT * median(others):
        text = f"{mine:.0f} operations per multiprocessor and cycle; the same architecture has {median(others):.0f}"
        yield Problem("AIP204", "compute", text, "a sparse peak, or that of two devices?")


def link_counts_fit(case: Case) -> Iterator[Problem]:
    """Check that an accelerator has as many links as a device of that generation; a bridge may use fewer."""
    entry = case.entry
    if not isinstance(entry, Accelerator) or entry.scale_up is None:
        return
    link = case.shelf.link(entry.scale_up)
    if link is None or link.links_per_device is None:
        return
    count, due = entry.scale_up.count, link.links_per_device
    if count > due or (count < due and link.topology != "pair"):
        yield Problem("AIP207", "scale_up.count", f"{count} links, but a device has {due} of {link.name}")


# Links, networks, nodes and switches


def links_are_one_way(case: Case) -> Iterator[Problem]:
    """Check that a link carries no more one way than its lanes signal, and not much less."""
    entry = case.entry
    if not isinstance(entry, Link) or not (entry.lanes_per_link and entry.lane_rate and entry.bandwidth_one_way):
        return
    bound = entry.lanes_per_link * entry.lane_rate
    if not 0.9 * bound <= entry.bandwidth_one_way <= 1.01 * bound:
        text = f"{entry.lanes_per_link} lanes signal {units.quantity(bound, 'B/s')} one way"
        yield Problem("AIP207", "bandwidth_one_way", text, "is this the sum of both directions, or of all links?")


def achieved_is_below(case: Case) -> Iterator[Problem]:
    """Check that what transfers reach is no more than the rate."""
    entry = case.entry
    if isinstance(entry, Link | Network) and entry.achieved and entry.bandwidth_one_way:
        ratio = entry.achieved.bandwidth_one_way / entry.bandwidth_one_way
        if ratio > 1:
            yield Problem("AIP207", "achieved.bandwidth_one_way", "more is achieved than the rate allows")
    if isinstance(entry, Accelerator) and entry.achieved is not None:
        for dtype, rate in entry.achieved.matmul.items():
            if rate > entry.compute.get(dtype, 0.0):
                yield Problem("AIP204", f"achieved.matmul.{dtype}", "more is achieved than the dense peak")


def infiniband_rates_fit(case: Case) -> Iterator[Problem]:
    """Check that InfiniBand of a named generation has its data rate: FDR is 54.54 Gb/s, not 56."""
    entry = case.entry
    if not isinstance(entry, Network | Switch) or entry.kind != "infiniband":
        return
    path = "bandwidth_one_way" if isinstance(entry, Network) else "port_bandwidth_one_way"
    rate = getattr(entry, path)
    generation = next((name for name in INFINIBAND_RATES if name in entry.name), None)
    if generation is None or rate is None:
        return
    lanes = (entry.lanes if isinstance(entry, Network) else None) or 4
    due = INFINIBAND_RATES[generation] / 8 * lanes / 4
    if abs(rate / due - 1) > 0.001:
        hint = f"write {due * 8 / 1e9:g} Gb/s"
        yield Problem("AIP207", path, f"{lanes} lanes of {generation} do not carry {rate * 8 / 1e9:g} Gb/s", hint)


def switches_add_up(case: Case) -> Iterator[Problem]:
    """Check that the capacity of a switch is that of its ports, one way."""
    entry = case.entry
    if isinstance(entry, Switch) and entry.ports and entry.port_bandwidth_one_way and entry.capacity_one_way:
        ratio = entry.capacity_one_way / (entry.ports * entry.port_bandwidth_one_way)
        if abs(ratio - 1) > 0.01:
            text = f"the capacity is {ratio:.3g} times that of all ports one way"
            yield Problem("AIP207", "capacity_one_way", text, "data sheets often count both directions")


def nodes_have_a_network(case: Case) -> Iterator[Problem]:
    """Check that a node names a network once; two rows of one network hide a count."""
    entry = case.entry
    if isinstance(entry, Node):
        names = [row.network for row in entry.nics]
        for name in sorted({name for name in names if names.count(name) > 1}):
            yield Problem("AIP202", "nics", f"network '{name}' is listed twice", "add up the counts in one row")


RULES: tuple[Callable[[Case], Iterator[Problem]], ...] = (
    references_resolve,
    texts_say_something,
    sources_are_addresses,
    doubts_name_fields,
    prices_are_dated,
    spot_is_cheaper,
    labels_fit,
    peaks_keep_ratios,
    peaks_are_dense,
    peaks_fit_the_clock,
    link_counts_fit,
    links_are_one_way,
    achieved_is_below,
    infiniband_rates_fit,
    switches_add_up,
    nodes_have_a_network,
)


def _prices(entry: Entry) -> Iterator[tuple[str, Price]]:
    for name in ("prices", "per_hour"):
        rows = getattr(entry, name, ())
        yield from ((f"{name}[{index}]", row) for index, row in enumerate(rows) if isinstance(row, Price))


def _family(entry: Accelerator) -> str:
    return re.split(r" [(+]", entry.architecture or "")[0]


def _per_cycle(entry: Accelerator) -> float | None:
    peak = entry.compute.get("bf16") or entry.compute.get("fp16")
    if not (peak and entry.multiprocessors and entry.clock):
        return None
    return peak / (entry.multiprocessors * entry.clock)
