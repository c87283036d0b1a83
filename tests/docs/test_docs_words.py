"""Every name that a user meets stands in the pages."""

from pathlib import Path

import numpy as np
import pytest

from aiplan.catalog.load import Catalog
from aiplan.declare import Diagnostics
from aiplan.declare.docs import rows
from aiplan.engine.inputs import SCALAR_NAMES
from aiplan.engine.tree import TREE
from aiplan.planning.estimate import CAUSES, estimate
from aiplan.scenario.load import load
from aiplan.scenario.records import ScenarioFile

ROOT = Path(__file__).resolve().parents[2]
WORDS = (ROOT / "docs" / "nomenclature.md").read_text(encoding="utf-8")
FIELDS = (ROOT / "docs" / "scenario.md").read_text(encoding="utf-8")


def result_names():
    diagnostics = Diagnostics()
    scenario = load("gpt3-175b-a100", Catalog(), diagnostics)
    assert scenario is not None, diagnostics.items
    return sorted(estimate([scenario])[0].terms)


@pytest.mark.parametrize("name", sorted(TREE))
def test_term_of_the_tree(name):
    assert f"`{name}`" in WORDS


def test_results():
    assert [name for name in result_names() if f"`{name}`" not in WORDS] == []


def test_fields_of_a_scenario():
    assert [row.path for row in rows(ScenarioFile) if f"`{row.path}`" not in FIELDS] == []


def test_inputs():
    assert [name for name in SCALAR_NAMES if f"`{name}`" not in WORDS + FIELDS] == []


def test_causes_name_terms():
    assert {name for names, _ in CAUSES.values() for name in names} <= set(TREE)


def test_units_of_the_tree_are_stated():
    assert {branch.unit for branch in TREE.values()} == {"s", "B"}
    assert np.all([f"| {unit} " in WORDS for unit in ("B", "s")])
