"""Each rule of the lint finds what it is for, through an overlay that breaks one thing."""

import re
from pathlib import Path

import pytest

from aiplan.catalog.derived import derive
from aiplan.catalog.lint import REFERENCES, RULES, lint
from aiplan.catalog.load import Catalog
from aiplan.catalog.records import KINDS
from aiplan.declare import CODES, Diagnostics, declared
from aiplan.declare.fields import Record, Records, Text

NEW_LINK = "name: A\nkind: pcie\nverified: false\n"
SPOT = """\
prices:
  - {provider: P, sku: S, per_hour: 1 USD/h, as_of: "2026", verified: true}
  - {provider: P, sku: S, per_hour: 2 USD/h, as_of: "2026", verified: true, terms: spot}
"""
SOURCE = "sources: [https://example.org/sheet]\n"


def findings(catalog):
    diagnostics = Diagnostics()
    lint(catalog, diagnostics)
    return [(item.code, f"{Path(item.mark.file).name}:{item.mark.line}") for item in diagnostics.items]


def test_the_catalog_is_clean():
    diagnostics = Diagnostics()
    assert lint(Catalog(), diagnostics) == 379
    assert diagnostics.items == []


BROKEN = {
    # dense and sparse
    "bf16 is the sparse headline": ("accelerators/h100-pcie", "compute: {bf16: 1513 TFLOP/s}\n", "AIP204"),
    "fp8 is the sparse headline": ("accelerators/h100-sxm", "compute: {fp8: 3957.8 TFLOP/s}\n", "AIP204"),
    "all peaks are those of a sibling with sparsity": (
        "accelerators/h200",
        "compute: {tf32: 989.4 TFLOP/s, fp16: 1978.9 TFLOP/s, bf16: 1978.9 TFLOP/s, fp8: 3957.8 TFLOP/s}\n",
        "AIP204",
    ),
    "all peaks are doubled": (
        "accelerators/h100-pcie",
        "compute: {tf32: 756 TFLOP/s, fp16: 1513 TFLOP/s, bf16: 1513 TFLOP/s, fp8: 3026 TFLOP/s, int8: 3026 TOP/s}\n",
        "AIP204",
    ),
    "int8 of the generation before": ("accelerators/b300", "compute: {int8: 4500 TOP/s}\n", "AIP204"),
    "more achieved than the peak": (
        "accelerators/h100-sxm",
        "achieved: {matmul: {bf16: 1200 TFLOP/s}, fitted_on: a typo}\n",
        "AIP204",
    ),
    # bandwidth
    "NVLink both ways": ("links/nvlink4", "bandwidth_one_way: 50 GB/s\n", "AIP207"),
    "NVLink of the whole device": ("links/nvlink5", "bandwidth_one_way: 900 GB/s\n", "AIP207"),
    "PCIe both ways": ("links/pcie5", "bandwidth_one_way: 128 GB/s\n", "AIP207"),
    "bits for bytes": ("links/nvlink3", "bandwidth_one_way: 25 Gb/s\n", "AIP207"),
    "twice the links": ("accelerators/h100-sxm", "scale_up: {count: 36}\n", "AIP207"),
    "half the links": ("accelerators/h100-sxm", "scale_up: {count: 9}\n", "AIP207"),
    "more on a link than it carries": (
        "links/nvlink4",
        "achieved: {bandwidth_one_way: 26 GB/s, fitted_on: a typo}\n",
        "AIP207",
    ),
    "FDR as sold": ("networks/ib-fdr", "bandwidth_one_way: 56 Gb/s\n", "AIP207"),
    "FDR switch as sold": (
        "switches/sx6036-fdr",
        "port_bandwidth_one_way: 56 Gb/s\ncapacity_one_way: 2.016 Tb/s\n",
        "AIP207",
    ),
    "HDR100 with all lanes": ("networks/ib-hdr100", "lanes: 4\n", "AIP207"),
    "switch both ways": ("switches/qm9700-ndr", "capacity_one_way: 51.2 Tb/s\n", "AIP207"),
    # labels
    "memory of one die": ("accelerators/b200", "memory: {capacity: 90 GiB}\n", "AIP209"),
    "bits in the network": ("networks/ib-hdr", "label: 200 GB/s\n", "AIP209"),
    # references
    "unknown link": ("accelerators/h100-sxm", "scale_up: {link: nvlink44}\n", "AIP205"),
    "unknown host link": ("accelerators/h100-sxm", "host_link: {link: pcie9}\n", "AIP205"),
    "unknown accelerator": ("nodes/dgx-h100", "accelerator: h100\n", "AIP205"),
    "unknown network": ("nodes/dgx-h100", "nics: [{network: ib-ndrr, count: 8}]\n", "AIP205"),
    "unknown switch chip": ("nodes/dgx-h100", "scale_up: {switch: nvswitch9}\n", "AIP205"),
    # sources and doubts
    "no source": ("links/mine", NEW_LINK, "AIP206"),
    "not an address": ("links/mine", NEW_LINK + "sources: [data sheet]\n", "AIP206"),
    "home page only": ("links/mine", "name: A\nkind: pcie\nverified: true\nsources: [https://example.org]\n", "AIP206"),
    "doubt about no field": ("links/mine", NEW_LINK + SOURCE + "unverified: [bandwith]\n", "AIP208"),
    "doubt about a field not given": ("links/mine", NEW_LINK + SOURCE + "unverified: [latency]\n", "AIP208"),
    "verified price without date": (
        "accelerators/l4",
        "prices: [{provider: P, per_hour: 1 USD/h, verified: true}]\n",
        "AIP208",
    ),
    "purchase price without doubt": ("accelerators/l4", "unverified: []\n", "AIP208"),
    "verified purchase price without date": (
        "nodes/dgx-2",
        "purchase_price: {value: 399000 USD, verified: true, as_of: null}\n",
        "AIP208",
    ),
    # contradictions
    "spot above list price": (
        "accelerators/l4",
        SPOT,
        "AIP202",
    ),
    "network listed twice": (
        "nodes/dgx-h100",
        "nics: [{network: ib-ndr, count: 4}, {network: ib-ndr, count: 4}]\n",
        "AIP202",
    ),
    "blank notes": ("links/pcie5", "notes: '  '\n", "AIP202"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_rule_finds(what, overlay):
    name, text, code = BROKEN[what]
    found = findings(overlay({name: text}))
    assert {code} == {one for one, _ in found}
    assert {place.partition(":")[0] for _, place in found} == {f"{name.partition('/')[2]}.yaml"}


def test_a_finding_points_at_the_overlay(overlay, tmp_path):
    catalog = overlay({"links/nvlink4": "# mine\nbandwidth_one_way: 50 GB/s\n"})
    diagnostics = Diagnostics()
    lint(catalog, diagnostics)
    (item,) = diagnostics.items
    assert (item.mark.file, item.mark.line, item.mark.column) == (f"{tmp_path}/mine/links/nvlink4.yaml", 2, 20)


def test_an_exception_is_stated_in_the_entry(overlay):
    text = "compute: {int8: 4500 TOP/s}\npeak_ratios: {int8: 2}\n"
    assert findings(overlay({"accelerators/b300": text})) == []


def test_a_bridge_may_use_fewer_links(overlay):
    assert findings(overlay({"accelerators/h100-pcie": "scale_up: {count: 6}\n"})) == []
    assert {code for code, _ in findings(overlay({"accelerators/h100-pcie": "scale_up: {count: 18}\n"}))} == {"AIP207"}


def test_files_that_are_not_read_are_reported(overlay, tmp_path):
    catalog = overlay({"accelerator/mine": "name: A\n", "links/My-Link": "name: A\n"})
    (tmp_path / "mine/links/other.yml").write_text("name: A\n", encoding="utf-8")
    (tmp_path / "mine/.hidden").write_text("", encoding="utf-8")
    assert [code for code, _ in findings(catalog)] == ["AIP211"] * 3


def test_an_unreadable_entry_is_reported_and_the_rest_checked(overlay):
    found = findings(overlay({"links/pcie3": "name: [\n", "links/pcie5": "bandwidth_one_way: 128 GB/s\n"}))
    assert {code for code, _ in found} == {"AIP101", "AIP207"}


def test_every_reference_is_a_field_of_its_kind():
    """A field of the form of an id that is not in the table would never be checked."""
    named = {
        (kind, path) for kind, record in KINDS.items() for path, spec in id_fields(record) if spec.pattern is not None
    }
    assert named == set(REFERENCES)


def id_fields(record, prefix=""):
    for name, spec in declared(record).items():
        path = f"{prefix}.{name}" if prefix else name
        if isinstance(spec, Text):
            yield path, spec
        elif isinstance(spec, Record | Records):
            yield from id_fields(spec.record_class, path)


def test_rules_say_what_they_check():
    for rule in RULES:
        assert re.match(r"Check that .*\.$", rule.__doc__), rule.__name__
    assert all(f"AIP2{number:02}" in CODES for number in range(1, 12))


def test_every_derived_value_is_finite_and_names_its_making():
    catalog, diagnostics = Catalog(), Diagnostics()
    for kind in KINDS:
        for ident in catalog.ids(kind):
            for item in derive(catalog.find(kind, ident, diagnostics).entry, catalog, diagnostics):
                assert 0 < item.value < float("inf")
                assert item.how
    assert diagnostics.items == []
