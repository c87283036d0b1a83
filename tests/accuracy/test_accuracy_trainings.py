"""Whole trainings: published against predicted time, layouts of our own, and tables of trainings."""

import json
import math

import pytest
from jsonschema import Draft7Validator

from aiplan.adapters.model_names import library_model
from aiplan.adapters.trainings_csv import read_trainings
from aiplan.catalog.load import Catalog
from aiplan.declare import Diagnostics
from aiplan.planning import trainings as planning
from aiplan.planning.estimate import Estimate, estimate
from aiplan.planning.layouts import fastest, layouts, planned
from aiplan.planning.run_files import library_trainings
from aiplan.planning.trainings import compare_trainings, step_by_step
from aiplan.report.schemas import schema_of

TOKENS = "workload.tokens: 64e9"
DAY = 86_400.0


@pytest.fixture
def ideal(monkeypatch):
    """Predictions of ten days for every training."""
    monkeypatch.setattr(
        planning,
        "estimate",
        lambda scenarios: [
            Estimate(item, "megatron", {"run.time_to_train": 10 * DAY, "step": 1.0}) for item in scenarios
        ],
    )


@pytest.fixture
def found(made_up, ideal):
    def compare(*rows):
        runs = made_up([f"id: r-{index}, {TOKENS}, {row}" for index, row in enumerate(rows)])
        return compare_trainings(runs, Catalog())

    return compare


@pytest.mark.parametrize(
    ("row", "wall", "exceeds"),
    [
        ("measured.time_to_train: 15 d", 15, False),
        # 32 accelerators: 240 accelerator-days are 7.5 days
        ("measured.accelerator_time: 240 d", 7.5, True),
        ("measured.time_to_train: 9.1 d", 9.1, False),
        ("measured.time_to_train: 9.0 d", 9.0, True),
        ("measured.time_to_train: 12 d, measured.accelerator_time: 999 d", 12, False),
    ],
)
def test_published_over_predicted(found, row, wall, exceeds):
    (item,) = found(row).counted
    assert item.measured_time == pytest.approx(wall * DAY)
    assert item.ratio == pytest.approx(wall / 10)
    assert item.exceeds is exceeds


def test_all_together(found):
    answer = found(*(f"measured.time_to_train: {days} d" for days in (20, 5, 12)))
    summary = answer.summary()
    assert [item.run.ident for item in answer.counted] == ["r-1", "r-2", "r-0"]
    assert (summary.number, summary.exceeding, summary.own_plans) == (3, 1, 0)
    assert (summary.lowest, summary.median, summary.highest) == pytest.approx((0.5, 1.2, 2.0))


def test_what_a_time_counts_makes_the_classes(found):
    """Ten days are predicted for each: of the clock of a benchmark, of the wall clock, of the bill."""
    answer = found(
        "measured.time_to_train: 10.5 d, measured.time_counts: steps",
        "measured.time_to_train: 8 d, measured.time_counts: steps",
        "measured.time_to_train: 20 d",
        "measured.accelerator_time: 400 d",
        "measured.time_to_train: 10 d, complete: no, plan.tensor: 8",
    )
    found_classes = [(one.counts, one.own_plans, one.summary.number) for one in answer.classes()]
    assert found_classes == [
        ("steps", False, 2),
        ("wall clock", False, 1),
        ("accelerator-hours", False, 1),
        ("wall clock", True, 1),
    ]
    steps, wall, *_ = answer.classes()
    assert steps.summary.error == pytest.approx((0.5 / 10.5 + 2 / 8) / 2)
    assert (steps.summary.near, wall.summary.error, wall.summary.near) == (0.5, 0.5, 0.0)
    stated = answer.stated()
    assert (stated.number, stated.own_plans) == (4, 0)


def test_the_wall_clock_of_a_training_needs_no_setting():
    """Published pre-trainings are compared with failures and checkpoints, results of MLPerf with evaluations alone."""
    runs = {run.ident: run for run in library_trainings(Catalog(), Diagnostics())}
    picked = [runs[name] for name in ("train-016", "train-038", "train-opt", "train-067")]
    items = {item.run.ident: item for item in compare_trainings(picked, Catalog()).items}
    for name in ("train-016", "train-038", "train-opt"):
        one = items[name]
        assert one.counts != "steps"
        assert one.predicted_time == one.estimate["wallclock"] > one.estimate["run.time_to_train"]
        assert one.estimate["reliability.interruptions"] > 5
        assert one.interval.low < one.predicted_time < one.interval.high
        assert one.run.circumstances
    assert items["train-016"].covered
    result = items["train-067"]
    assert result.counts == "steps"
    assert result.estimate["reliability.interruptions"] == 0
    evaluations = result.estimate["wallclock.evaluation"] / result.estimate["wallclock.steps"]
    assert evaluations == pytest.approx(5126 / 24576 / 3)
    assert result.predicted_time == pytest.approx((1 + evaluations) * result.estimate["run.time_to_train"])


def test_trainings_that_state_their_layout_are_within_fifteen_percent():
    """The median over all of them, without one number that was fitted to them."""
    runs = [run for run in library_trainings(Catalog(), Diagnostics()) if run.complete]
    stated = compare_trainings(runs, Catalog()).stated()
    assert stated.number >= 27
    assert stated.error <= 0.15


def test_what_is_far_off_has_a_reason():
    answer = compare_trainings([run for run in library_trainings(Catalog(), Diagnostics()) if run.complete], Catalog())
    far = [item for item in answer.counted if abs(item.error) > planning.NEAR]
    assert far
    assert [item.run.ident for item in far if not item.run.circumstances] == []


def test_what_is_left_out(found, made_up):
    answer = found("measured.time_to_train: 20 d, quality: C", "measured.time_to_train: 20 d")
    assert (len(answer.counted), answer.skipped()) == (1, [("grade C", 1)])
    without = compare_trainings(made_up(["id: x, measured.time_to_train: 20 d"]), Catalog())
    assert without.summary() is None
    assert without.skipped() == [("tokens are not published", 1)]


def test_a_run_may_be_measured_both_ways(made_up):
    runs = made_up(
        ["measured.time_to_train: 9 d, measured.step_time: 2 s", "measured.time_to_train: 9 d", "quality: A"]
    )
    assert [run.whole for run in runs] == [True, True, False]
    assert step_by_step(runs) == [runs[0], runs[2]]


def test_the_layout_of_our_own_is_the_fastest_that_fits(made_up):
    """Against every layout of the grid, resolved and estimated one by one: put-in numbers change nothing."""
    row = "complete: no, model: llama-3-8b, workload: {sequence_length: 8192, global_batch: 64, tokens: 1e9}"
    (run,) = made_up([f"{row}, measured.time_to_train: 9 d"])
    tried = layouts(run.scenario)
    scenarios = [planned(run.tree, run.place, Catalog(), layout) for layout in tried]
    assert len(tried) > 20
    assert None not in scenarios
    answers = [answer for answer in estimate(scenarios) if answer.fits]
    assert 0 < len(answers) < len(tried)
    best = min(answers, key=lambda answer: answer["step"])
    assert fastest(run.tree, run.place, Catalog(), run.scenario).file.plan == best.scenario.file.plan
    (item,) = compare_trainings([run], Catalog()).counted
    assert item.own_plan
    assert item.predicted_time == best["run.time_to_train"]


def test_a_plan_that_is_set_is_taken(made_up):
    (run,) = made_up([f"complete: no, {TOKENS}, measured.time_to_train: 9 d"])
    (item,) = compare_trainings([run], Catalog(), settings=[("plan.tensor", "8", "--set")]).counted
    assert item.estimate.scenario.file.plan == run.scenario.file.plan


def test_a_model_that_fits_in_no_layout(made_up):
    row = (
        f"complete: no, model: llama-3.1-405b, {TOKENS}, cluster.nodes: 1, plan.tensor: 8, measured.time_to_train: 9 d"
    )
    answer = compare_trainings(made_up([row]), Catalog())
    assert answer.skipped() == [("no layout that was tried fits into memory", 1)]


def test_the_library_is_sound():
    """All trainings that come with the program can be planned, and say where they come from."""
    diagnostics = Diagnostics()
    runs = library_trainings(Catalog(), diagnostics)
    assert not diagnostics.items
    assert len({run.ident for run in runs}) == len(runs) > 50
    for run in runs:
        assert run.scenario is not None, run.problem
        assert run.whole
        assert run.quality in "AB"
        assert run.scenario.file.workload.tokens
        assert run.scenario.file.measured.source.startswith("https://")
        assert math.isfinite(planning.wall_time(run.scenario))


@pytest.mark.parametrize(
    ("name", "ident"),
    [
        ("Llama-3-8B", "llama-3-8b"),
        ("GPT-3 175B", "gpt3-175b"),
        ("TinyLlama-1.1B (per 300B tokens)", "tinyllama-1.1b"),
        ("GPT2-1558M (llm.c)", "gpt2-xl"),
        ("Parrot", None),
    ],
)
def test_names_of_models(name, ident):
    assert library_model(name) == ident


def table(row, heading="id,model,tokens_b,accelerator,n_gpus,wall_hours,gpu_hours,global_batch,notes"):
    (run,) = read_trainings([heading, row], "table")
    return run


def test_accelerators_are_a_power_of_two_that_takes_ninety_days_at_most():
    # 100,000 accelerator-hours in 2,160 hours are 46.3 accelerators
    run = table("x,Llama-3-8B,100,H100-80GB,,,100000,,")
    assert _text(run, "accelerators") == "64"
    assert any("90 days" in text for text in run.assumed)


def test_a_vocabulary_is_padded_as_software_does():
    """GPT-2 has 50,257 tokens: matrices of that width are slow, so nobody trains with them."""
    assert _text(table("x,GPT2-124M,10,A100-80GB,8,1.5,,,"), "vocab", "model") == "50304"
    assert "vocabulary padded to a multiple of 128" not in table("x,Llama-3-8B,10,A100-80GB,8,1.5,,,").assumed


def _text(run, key, part="cluster"):
    (below,) = [node for name, node in run.scenario.items if name.text == part]
    return next(node.text for name, node in below.items if name.text == key)


@pytest.fixture
def from_table(run, folder):
    done = run("accuracy", "trainings.csv", "--format", "json")
    content = json.loads(done.out)
    Draft7Validator(schema_of("result")).validate(content)
    assert done.code == 0
    assert "columns of 'trainings.csv' that mean nothing here: mood" in done.err
    return content["result"]


def test_a_table_of_trainings(from_table):
    assert from_table["rows"] == []
    rows = {row["id"]: row for row in from_table["summary"]["trainings"]["rows"]}
    assert {ident: row["skipped"] for ident, row in rows.items() if "skipped" in row} == {
        "t-3": "grade C",
        "t-4": "tokens are not published",
        "t-5": "neither wall time nor accelerator-hours are published",
        "t-6": "no model of the library is called 'Parrot-8B'",
        "t-7": "an estimate, not a measurement",
        "t-8": "adapters are trained, not the model",
        "t-9": "layout and precision are those of a submission that the library does not have",
        "t-11": "no entry 'abacus-9000' in accelerators",
    }
    assert (rows["t-1"]["gpus"], rows["t-1"]["measured_time_s"], rows["t-1"]["plan_is_ours"]) == (64, 48 * 3600, True)
    assert (rows["t-2"]["gpus"], rows["t-2"]["measured_time_s"]) == (8, 5 * 3600)
    assert "batch of 4 Mi tokens" in rows["t-2"]["assumed"]
    assert (rows["t-1"]["accelerator"], rows["t-2"]["model"]) == ("NVIDIA H100 SXM 80GB", "GPT-2 Small")


def test_a_submission_of_the_library_has_its_plan_and_the_time_of_the_table(from_table):
    (row,) = [row for row in from_table["summary"]["trainings"]["rows"] if row["id"] == "t-10"]
    assert (row["plan_is_ours"], row["plan"]["pipeline"], row["plan"]["interleave"]) == (False, 8, 12)
    assert row["measured_time_s"] == 2 * 3600


def test_people_see_trainings_only(run, folder):
    text = run("accuracy", "trainings.csv", "--width", "120").out
    assert text.startswith("3 of 11 whole trainings compared\n")
    for form in ("markdown", "table"):
        shown = run("accuracy", "trainings.csv", "--format", form, "--width", "200").out
        assert "t-1: Llama 3 8B" in shown
        assert "fastest of a grid" in shown
    assert run("accuracy", "trainings.csv", "--html", "page.html", "--quiet").code == 0
    page = (folder / "page.html").read_text()
    assert "Whole trainings" in page
    assert "t-10: GPT-3 175B" in page


def test_estimate_against_accelerator_time(run, folder):
    text = (
        "model: llama-3-8b\nworkload: {tokens: 1e9, sequence_length: 8192, global_batch: 128}\n"
        "cluster: {node: dgx-a100-80gb, nodes: 4}\nplan: {tensor: 2, pipeline: 2, recompute: full}\n"
        "measured: {accelerator_time: 1000 h, source: https://example.org}\n"
    )
    (folder / "mine.yaml").write_text(text)
    done = run("estimate", "mine.yaml", "--format", "json")
    content = json.loads(done.out)
    Draft7Validator(schema_of("result")).validate(content)
    result = content["result"]
    assert result["measured"]["accelerator_time_s"] == 1000 * 3600
    hours = result["time_to_train_s"] * 32 / 3600
    assert result["error_vs_measured"]["accelerator_time"] == pytest.approx(hours / 1000 - 1)
    assert "accelerator time" in run("estimate", "mine.yaml", "--width", "120").out
