"""Every model of the library against counts from outside: published checkpoints, worked examples, other programs."""

import csv
import json
from pathlib import Path

import pytest

from aiplan.catalog.load import Catalog
from aiplan.declare import Diagnostics, read
from aiplan.planning.estimate import estimate
from aiplan.scenario.files import Place, find_in_library, library_ids
from aiplan.scenario.load import resolve_tree
from aiplan.scenario.lookup import load_model

CATALOG = Catalog()
with (Path(__file__).parent.parent / "data" / "model_library.csv").open(encoding="utf-8") as table:
    ROWS = list(csv.DictReader(table))


def scenario(row):
    """Train the model of a row on one accelerator, sequence by sequence."""
    tree = {
        "model": row["id"],
        "workload": {"sequence_length": int(row["sequence_length"]), "global_batch": 1, "precision": "bf16"},
        "cluster": {"accelerator": "h100-sxm", "accelerators_per_node": 1, "nodes": 1},
    }
    diagnostics = Diagnostics()
    place = Place("row.yaml", Path("row.yaml"))
    resolved = resolve_tree(read(json.dumps(tree).encode(), place.name, diagnostics), place, CATALOG, diagnostics)
    diagnostics.raise_if_errors()
    return resolved


@pytest.fixture(scope="module")
def estimates():
    """All rows as one batch."""
    return estimate([scenario(row) for row in ROWS])


@pytest.fixture(params=range(len(ROWS)), ids=[f"{row['id']}-{row['sequence_length']}" for row in ROWS])
def index(request):
    return request.param


def test_parameters_are_exact(estimates, index):
    assert estimates[index]["parameters.total"] == int(ROWS[index]["parameters_total"])


def test_active_parameters_are_exact(estimates, index):
    """Without an own figure a model is dense: all parameters are active."""
    published = ROWS[index]["parameters_active"] or ROWS[index]["parameters_total"]
    assert estimates[index]["parameters.active"] == int(published)


def test_flops_per_token(estimates, index):
    row = ROWS[index]
    assert row["flops_per_token_megatron"], "every row has a count"
    expected = pytest.approx(float(row["flops_per_token_megatron"]), rel=float(row["flops_tolerance"]))
    assert estimates[index]["flops_per_token.megatron"] == expected


def test_the_library_and_the_table_hold_the_same_models():
    assert {row["id"] for row in ROWS} == set(library_ids("models"))


def test_every_row_names_its_source():
    for row in ROWS:
        assert row["source"].startswith("https://"), row["id"]
        assert row["evidence"] in {"published", "independent-count"}, row["id"]


@pytest.mark.parametrize("ident", library_ids("models"))
def test_the_count_in_the_file_is_that_of_the_shape(estimates, ident):
    diagnostics = Diagnostics()
    found = load_model(find_in_library("models", ident), diagnostics)
    diagnostics.raise_if_errors()
    model, _ = found
    index = next(index for index, row in enumerate(ROWS) if row["id"] == ident)
    assert model.sources
    assert model.parameters is None or model.parameters == estimates[index]["parameters.total"]


def test_most_files_state_their_count():
    diagnostics = Diagnostics()
    models = [load_model(find_in_library("models", ident), diagnostics)[0] for ident in library_ids("models")]
    stated = [model for model in models if model.parameters is not None]
    assert len(stated) >= 0.9 * len(models)
