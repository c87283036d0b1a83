"""A user's own folder on top of the catalog."""

import pytest

from aiplan.catalog.leaves import field_names, field_spec, leaves, locate, plain, under
from aiplan.catalog.load import Catalog
from aiplan.catalog.load import overlay as lay_over
from aiplan.catalog.records import KINDS
from aiplan.declare import Diagnostics, InputError, read

NEW = """\
name: Accelerator X
vendor: Us
compute: {bf16: 500 TFLOP/s}
memory: {label: "96 GB", capacity: 96 GB, bandwidth: 4 TB/s}
verified: false
sources: [https://example.org/x]
"""


def find(catalog, kind, ident):
    diagnostics = Diagnostics()
    found = catalog.find(kind, ident, diagnostics)
    diagnostics.raise_if_errors()
    return found


def test_two_lines_replace_one_field(overlay, tmp_path):
    found = find(overlay({"accelerators/h100-sxm": "memory:\n  capacity: 80 GB\n"}), "accelerators", "h100-sxm")
    ours = find(Catalog(), "accelerators", "h100-sxm")
    assert found.entry.memory.capacity == 80e9
    assert found.origins["memory.capacity"].where == f"{tmp_path}/mine/accelerators/h100-sxm.yaml:2"
    changed = {leaf.path for leaf in leaves(found.entry)} ^ {leaf.path for leaf in leaves(ours.entry)}
    assert changed == set()
    values = zip(leaves(found.entry), leaves(ours.entry), strict=True)
    assert [one.path for one, other in values if one.value != other.value] == ["memory.capacity"]


def test_one_file_adds_a_device(overlay):
    catalog = overlay({"accelerators/x1": NEW})
    assert find(catalog, "accelerators", "x1").entry.compute == {"bf16": 5e14}
    assert "x1" in catalog.ids("accelerators")
    assert "h100-sxm" in catalog.ids("accelerators")


def test_the_last_folder_wins(overlay, tmp_path):
    overlay({"links/pcie5": "latency: 1 us\n"})
    other = tmp_path / "other/links"
    other.mkdir(parents=True)
    (other / "pcie5.yaml").write_text("latency: 3 us\n", encoding="utf-8")
    layers = [tmp_path / "mine", tmp_path / "other"]
    assert find(Catalog(layers), "links", "pcie5").entry.latency == 3e-6
    assert find(Catalog(layers[::-1]), "links", "pcie5").entry.latency == 1e-6


def test_a_list_is_replaced_as_a_whole(overlay):
    catalog = overlay({"nodes/dgx-h100": "nics: [{network: ib-xdr, count: 4}]\n"})
    assert [(row.network, row.count) for row in find(catalog, "nodes", "dgx-h100").entry.nics] == [("ib-xdr", 4)]


def test_a_broken_overlay_gives_file_line_and_column(overlay, tmp_path):
    catalog = overlay({"accelerators/h100-sxm": "memory:\n  capacity: 80 GB/s\n  bandwith: 3 TB/s\n"})
    diagnostics = Diagnostics()
    assert catalog.find("accelerators", "h100-sxm", diagnostics) is None
    shown = str(diagnostics.failure())
    assert f"--> {tmp_path}/mine/accelerators/h100-sxm.yaml:2:13" in shown
    assert f"--> {tmp_path}/mine/accelerators/h100-sxm.yaml:3:3" in shown
    assert "hint: did you mean 'bandwidth'?" in shown
    assert shown.endswith("2 errors in 1 file")


def test_an_overlay_that_is_no_yaml(overlay):
    with pytest.raises(InputError, match=r"links/pcie5\.yaml:1:"):
        find(overlay({"links/pcie5": "latency: [1 us\n"}), "links", "pcie5")


@pytest.mark.parametrize("ident", ["../accelerators/h100-sxm", "..", "", "H100-SXM", "h100-sxm.yaml", "a/b"])
def test_an_id_is_never_a_path(ident):
    diagnostics = Diagnostics()
    assert Catalog().find("accelerators", ident, diagnostics) is None
    assert [item.code for item in diagnostics.items] == ["AIP201"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("h100", "'accelerators/h100-sxm'"),
        ("dgx-h10", "'nodes/dgx-h100'"),
        ("links/nvlink44", "'links/nvlink4'"),
        ("acelerators/h100-sxm", "kinds: accelerators"),
        ("qwertyuiop", "catalog list"),
    ],
)
def test_an_unknown_id_gets_a_suggestion(text, told):
    diagnostics = Diagnostics()
    assert Catalog().resolve(text, diagnostics) is None
    assert told in diagnostics.items[0].hint


def test_a_name_of_two_kinds_must_be_made_clear(overlay):
    catalog = overlay({"links/h100-sxm": "name: A\nkind: pcie\nverified: false\n"})
    diagnostics = Diagnostics()
    assert catalog.resolve("h100-sxm", diagnostics) is None
    assert diagnostics.items[0].hint == "write 'accelerators/h100-sxm' or 'links/h100-sxm'"
    assert catalog.resolve("links/h100-sxm", Diagnostics()) == ("links", "h100-sxm")


def test_laying_over_keeps_order_and_adds_at_the_end():
    below, above = read("a: 1\nb: {c: 2, d: 3}\n", "below"), read("e: 5\nb: {d: 4}\n", "above")
    merged = lay_over(below, above)
    assert [key.text for key, _ in merged.items] == ["a", "b", "e"]
    assert str(locate(merged, "b.d").where) == "above:2"
    assert str(locate(merged, "b.c").where) == "below:2"


def test_locate_finds_the_nearest_part():
    tree = read("a:\n  - {b: 1}\n  - {b: 2, c: [3, 4]}\n", "f")
    assert locate(tree, "a[1].b")[1:3] == (3, 9)
    assert locate(tree, "a[1].c[1]")[1:3] == (3, 19)
    assert locate(tree, "a[7].b")[1:3] == (1, 1)
    assert locate(tree, "x.y")[1:3] == (1, 1)


def test_names_of_fields_and_leaves_agree():
    for kind, record in KINDS.items():
        names = set(field_names(record))
        assert all(field_spec(record, name) is not None for name in names)
        assert field_spec(record, "name.more") is None
        for ident in Catalog().ids(kind)[:5]:
            assert {plain(leaf.path) for leaf in leaves(find(Catalog(), kind, ident).entry)} <= names


def test_under():
    assert under("prices[0].per_hour", "prices")
    assert under("prices[0].per_hour", "prices.per_hour")
    assert not under("prices_of", "prices")
