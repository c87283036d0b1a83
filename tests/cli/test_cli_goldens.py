"""Every command and format, character by character: exit code, standard output, standard error."""

import pytest

FORMATS = ("table", "plain", "json", "csv", "markdown")

COMMANDS = {
    "no-arguments": [],
    "help": ["--help"],
    "version": ["--version"],
    "estimate-help": ["estimate", "-h"],
    "compare-help": ["compare", "-h"],
    "explain-help": ["explain", "-h"],
    "schema-help": ["schema", "-h"],
    "unknown-command": ["estimat"],
    "unknown-option": ["estimate", "small.yaml", "--formt", "json"],
    "unknown-format": ["estimate", "small.yaml", "--format", "yaml"],
    "estimate-without-scenario": ["estimate"],
    "estimate-vary": ["estimate", "small.yaml", "--vary", "plan.tensor=1,2"],
    "estimate-explain-csv": ["estimate", "small.yaml", "--explain", "step", "--format", "csv"],
    "estimate-explain": ["estimate", "small.yaml", "--explain", "step.data"],
    "estimate-explain-unknown": ["estimate", "small.yaml", "--explain", "step.dta"],
    "estimate-settings": ["estimate", "small.yaml", "--set", "plan.tensor=4", "--set", "workload.global_batch=64"],
    "estimate-bad-setting": ["estimate", "small.yaml", "--set", "plan.tensor"],
    "estimate-unknown-setting": ["estimate", "small.yaml", "--set", "plan.tensr=4"],
    "estimate-full": ["estimate", "small.yaml", "--flops-convention", "full", "--format", "markdown"],
    "estimate-quiet": ["estimate", "stuck.yaml", "-q", "--format", "plain"],
    "estimate-verbose": ["estimate", "small.yaml", "-v", "--format", "plain"],
    "estimate-broken": ["estimate", "broken.yaml"],
    "estimate-illegal": ["estimate", "illegal.yaml"],
    "estimate-missing": ["estimate", "smal.yaml"],
    "estimate-no-catalog": ["estimate", "small.yaml", "--catalog", "nowhere"],
    "estimate-narrow": ["estimate", "small.yaml", "--width", "40"],
    "compare-one": ["compare", "small.yaml"],
    "compare-vary": ["compare", "small.yaml", "--vary", "plan.tensor=1,2,4"],
    "compare-vary-some": ["compare", "small.yaml", "--vary", "plan.tensor=2,3,4,5"],
    "compare-vary-none": ["compare", "small.yaml", "--vary", "plan.tensor=3,5"],
    "compare-with-missing": ["compare", "small.yaml", "nothing.yaml"],
    "compare-missing": ["compare", "nothing.yaml", "never.yaml"],
    "compare-bad-range": ["compare", "small.yaml", "--vary", "cluster.nodes=8..2:x2"],
    "compare-many": ["compare", "small.yaml", "--vary", "plan.tensor=1,2,4,8", "--vary", "cluster.nodes=2,4"],
    "explain-unknown": ["explain", "small.yaml", "step.tensr"],
    "explain-input": ["explain", "small.yaml", "cluster.price"],
    "explain-deep": ["explain", "small.yaml", "run.time_to_train", "--depth", "3"],
    "explain-narrow": ["explain", "small.yaml", "run.time_to_train", "--width", "40"],
    "schema-unknown": ["schema", "scenari"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_command(name, run, golden):
    assert run(*COMMANDS[name]).text == golden


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("scenario", ["small", "stuck", "unknowns"])
def test_estimate(scenario, form, run, golden):
    assert run("estimate", f"{scenario}.yaml", "--format", form).text == golden


@pytest.mark.parametrize("form", FORMATS)
def test_compare(form, run, golden):
    assert run("compare", "small.yaml", "stuck.yaml", "unknowns.yaml", "--format", form).text == golden


@pytest.mark.parametrize("form", FORMATS)
def test_explain(form, run, golden):
    assert run("explain", "small.yaml", "step.data.gradients", "--depth", "2", "--format", form).text == golden


@pytest.mark.parametrize("form", FORMATS)
def test_explain_lists_terms(form, run, golden):
    assert run("explain", "small.yaml", "--format", form).text == golden


def test_natural_width_where_nothing_limits_it(run, golden, monkeypatch):
    monkeypatch.delenv("COLUMNS")
    assert run("estimate", "unknowns.yaml").text == golden


def test_forty_columns(run, golden, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    assert run("estimate", "stuck.yaml").text == golden


def test_colours(run, golden, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    assert run("estimate", "small.yaml").text.replace("\x1b", "ESC") == golden


def test_no_colour_keeps_bold(run, golden, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    assert run("estimate", "small.yaml").text.replace("\x1b", "ESC") == golden
