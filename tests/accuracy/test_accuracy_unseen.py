"""Published runs that took no part in the fit."""

import pytest

from aiplan.catalog.load import Catalog
from aiplan.declare import Diagnostics
from aiplan.planning import evidence
from aiplan.planning.accuracy import compare_runs
from aiplan.planning.run_files import measured_runs
from aiplan.planning.variants import Source


@pytest.fixture(scope="module")
def unseen():
    found = Diagnostics()
    runs = measured_runs([Source("unseen")], Catalog(), found)
    found.raise_if_errors()
    return runs


def test_no_interval_comes_from_them(unseen):
    table = evidence.published()
    assert not {run.ident for run in unseen} & set(table.ident)
    assert not {run.source for run in unseen} & set(table.source)


def test_each_is_predicted_or_left_out_for_a_reason(unseen):
    compared = compare_runs(unseen)
    assert len(compared) == len(unseen) > 150
    assert all(item.estimate is not None or item.problem for item in compared)
    assert sum(item.estimate is not None for item in compared) > 150


def test_one_file_of_them_by_name():
    (run, *_) = measured_runs([Source("fms-fsdp")], Catalog(), Diagnostics())
    assert run.source == "fms-fsdp"


def test_a_name_with_a_typo_finds_what_was_meant():
    found = Diagnostics()
    assert measured_runs([Source("unsen")], Catalog(), found) == []
    assert [item.hint for item in found.items] == ["did you mean 'unseen'?"]
