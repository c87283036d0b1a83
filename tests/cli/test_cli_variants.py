"""Crossing what varies, and ways out that really are ways out."""

import itertools
import json
from pathlib import Path

import pytest

from aiplan.catalog.load import Catalog
from aiplan.declare import InputError
from aiplan.planning.estimate import estimate
from aiplan.planning.variants import Source, assignments, load_source, short_names, variants
from aiplan.planning.ways_out import ways_out


def test_variants_are_all_combinations_in_order():
    found = variants(["plan.tensor=1,2", "cluster.nodes=8..32:x2"])
    expected = [f"tensor={t}, nodes={n}" for t, n in itertools.product((1, 2), (8, 16, 32))]
    assert [variant.label for variant in found] == expected
    assert found[-1].settings == (("plan.tensor", "2", "--vary"), ("cluster.nodes", "32", "--vary"))


def test_nothing_to_vary_is_one_variant():
    assert [tuple(variant) for variant in variants([])] == [("", ())]


def test_too_many_variants_are_refused():
    with pytest.raises(InputError, match="40,000 variants"):
        variants(["a=1..200:+1", "b=1..200:+1"])


def test_short_names_stay_apart():
    assert short_names(["a.size", "b.size", "c.count"]) == ["a.size", "b.size", "count"]


def test_assignments_are_settings():
    assert assignments(["a.b = 3", "c=x=y"]) == (("a.b", "3", "--set"), ("c", "x=y", "--set"))


def test_a_bad_entry_is_told_of_every_time(folder):
    catalog = Catalog([Path("hardware_catalog")])
    settings = (("cluster.node", "dgx-h1000", "--set"),)
    for _ in range(2):
        loaded = load_source(Source("small.yaml"), catalog, settings)
        assert loaded.scenario is None
        assert [item.code for item in loaded.diagnostics.items if item.level == "error"] == ["AIP201"]


def test_ways_out_fit_and_come_fastest_first(run):
    done = run("estimate", "stuck.yaml", "--format", "json")
    assert done.code == 1
    ways = json.loads(done.out)["result"]["ways_out"]
    assert 1 <= len(ways) <= 3
    assert [way["step_time_s"] for way in ways] == sorted(way["step_time_s"] for way in ways)
    for way in ways:
        again = run("estimate", "stuck.yaml", "--format", "json", *(f"--set={text}" for text in way["settings"]))
        assert again.code == 0
        result = json.loads(again.out)["result"]
        assert result["step_time_s"] == way["step_time_s"]
        assert result["memory_bytes_per_gpu"] == way["memory_bytes_per_gpu"]


def test_ways_out_are_minimal(folder):
    """No way out does more than another one that is enough."""
    source, catalog = Source("stuck.yaml"), Catalog([Path("hardware_catalog")])
    stuck = estimate([load_source(source, catalog).scenario])[0]
    sets = [set(way.settings) for way in ways_out(source, catalog, (), stuck)]
    assert not any(a < b for a in sets for b in sets)


def test_no_way_out_is_said(run):
    done = run("estimate", "stuck.yaml", "--set", "cluster.nodes=1", "--set", "plan.pipeline=1")
    assert done.code == 1
    assert "no small change of the plan makes it fit" in done.out


def test_settings_come_before_variations(run):
    done = run("compare", "small.yaml", "--set", "plan.tensor=4", "--vary", "plan.tensor=1,2", "--format", "plain")
    assert [line.split("\t")[0] for line in done.out.splitlines()[1:]] == ["tensor=1", "tensor=2"]


def test_compare_works_with_one_possible_variant_and_not_with_none(run):
    assert run("compare", "small.yaml", "nothing.yaml").code == 0
    assert run("compare", "broken.yaml", "nothing.yaml").code == 2
    assert run("compare", "small.yaml", "--vary", "plan.tensor=1,2").code == 0


def test_scenarios_of_one_name_are_told_apart(run, folder):
    (folder / "twin.yaml").write_text((folder / "small.yaml").read_text())
    out = run("compare", "small.yaml", "twin.yaml", "--format", "plain").out
    labels = [line.split("\t")[0] for line in out.splitlines()[1:]]
    assert labels == ["Llama 3 8B on 16 GPUs (small.yaml)", "Llama 3 8B on 16 GPUs (twin.yaml)"]
