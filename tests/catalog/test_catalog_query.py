"""Conditions: what they mean, and what is said about those without meaning."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiplan.catalog.load import Catalog
from aiplan.catalog.query import conditions, select
from aiplan.catalog.records import KINDS
from aiplan.declare import Diagnostics, InputError, render

CATALOG = Catalog()


def ids(*where, kind="accelerators"):
    diagnostics = Diagnostics()
    selection = select(CATALOG, kind, where, diagnostics)
    diagnostics.raise_if_errors()
    return {entry.ident for entry in selection.entries}


def fault(*where, kind="accelerators"):
    with pytest.raises(InputError) as caught:
        ids(*where, kind=kind)
    (item,) = caught.value.diagnostics
    return item


def test_no_condition_gives_all():
    assert ids() == set(CATALOG.ids("accelerators"))
    assert len(ids(kind=None)) == sum(len(CATALOG.ids(kind)) for kind in KINDS)


def test_units_are_those_of_the_field():
    big = ids("memory.capacity >= 80 GB")
    assert {"a100-sxm-80gb", "h100-sxm", "gaudi2"} <= big
    assert not {"a100-sxm-40gb", "v100-sxm2-32gb"} & big
    assert ids("memory.capacity >= 80000 MB") == big
    assert ids("memory.bandwidth > 2 TB/s") == ids("memory.bandwidth > 16 Tb/s")


def test_equal_is_equal_in_any_unit():
    assert "a100-sxm-80gb" in ids("memory.capacity = 80 GiB") & ids("memory.capacity=81920MiB")
    assert "a100-sxm-80gb" not in ids("memory.capacity = 80 GB")
    assert "ib-fdr" in ids("bandwidth_one_way = 54.54 Gb/s", kind="networks")


def test_text_in_any_case():
    assert ids("vendor = nvidia") == ids("vendor = NVIDIA") == ids('vendor = "Nvidia"')
    assert ids("vendor != NVIDIA") == ids() - ids("vendor = NVIDIA")
    assert ids("id ~ h100") == {name for name in ids() if "h100" in name}


def test_given_at_all():
    assert "v100-sxm2-32gb" not in ids("compute.bf16")
    assert "h100-sxm" in ids("compute.fp8", "achieved")
    assert ids("devices = 2") == {"mi250x", "ascend-910c", "tpu-v7"}


def test_what_is_unknown_fits_nothing():
    without = ids() - ids("power")
    assert without
    assert not without & (ids("power > 0 W") | ids("power != 1 W"))


def test_any_item_of_a_list_may_fit():
    spot = ids("prices.terms = spot")
    assert "h100-sxm" in spot
    assert "ib-ndr" not in spot
    assert ids("nics.count >= 32", kind="nodes") >= {"aws-p5.48xlarge"}


def test_a_range_fits_where_part_of_it_does():
    assert "b300" in ids("price_range.per_hour <= 6 USD/h") & ids("price_range.per_hour >= 7 USD/h")
    assert "b300" in ids("price_range.per_hour = 6.5 USD/h")
    assert "b300" not in ids("price_range.per_hour < 6 USD/h")


def test_flags():
    assert ids("rdma = false", kind="networks") | ids("rdma = true", kind="networks") == ids(kind="networks")


def test_kinds_without_the_field_are_left_out():
    diagnostics = Diagnostics()
    assert set(conditions(["memory.capacity > 1 GB"], KINDS, diagnostics)) == {"accelerators"}
    assert diagnostics.items == []
    kinds = {entry.kind for entry in select(CATALOG, None, ["power < 100 W"], diagnostics).entries}
    assert "switches" not in kinds  # there, power is a group


@settings(max_examples=20, deadline=None)
@given(st.floats(1, 400), st.floats(1, 400))
def test_a_higher_bar_leaves_no_more(first, second):
    low, high = sorted((first, second))
    assert ids(f"memory.capacity >= {high!r} GB") <= ids(f"memory.capacity >= {low!r} GB")


@settings(max_examples=20, deadline=None)
@given(st.floats(1, 400))
def test_signs_are_complements(bar):
    known = ids("memory.capacity")
    assert ids(f"memory.capacity >= {bar!r} GB") == known - ids(f"memory.capacity < {bar!r} GB")
    assert ids(f"memory.capacity > {bar!r} GB") == known - ids(f"memory.capacity <= {bar!r} GB")


@pytest.mark.parametrize(
    ("where", "problem", "hint"),
    [
        ("memory.capacity >= 80", "has no unit", "80 GB"),
        ("memory.capacity >= 80 GB/s", "data rate", "80 GB"),
        ("memory.capcity > 1 GB", "no field 'memory.capcity'", "did you mean 'memory.capacity'?"),
        ("capacity > 1 GB", "no field 'capacity'", "memory.capacity"),
        ("vendor > NVIDIA", "is no number", "= != ~"),
        ("power ~ 700 W", "is a number", "<="),
        ("memory = 80 GB", "group of values", "'memory' alone"),
        ("compute.bf17", "no field 'compute.bf17'", "compute.bf16"),
        ("verified = yes", "true or false", "verified = true"),
        (">= 80 GB", "is not a condition", "memory.capacity >= 80 GB"),
        ("", "is not a condition", "memory.capacity >= 80 GB"),
        ("memory.capacity >=", "is not a condition", "memory.capacity >= 80 GB"),
    ],
)
def test_a_bad_condition_is_explained(where, problem, hint):
    item = fault(where)
    assert item.code == "AIP210"
    assert problem in item.problem
    assert hint in item.hint


def test_an_unknown_choice_lists_the_choices():
    assert "infiniband" in fault("kind = infinband", kind="networks").hint


def test_an_unknown_kind_lists_the_kinds():
    item = fault(kind="gpus")
    assert item.code == "AIP201"
    assert "accelerators" in item.hint


def test_a_bad_condition_is_shown_as_the_option():
    with pytest.raises(InputError) as caught:
        ids("memory.capacity >= 80")
    shown = render(caught.value.diagnostics, caught.value.sources)
    assert "--> --where memory.capacity >= 80:1:9" in shown
