"""`aiplan check`: goldens of every format, exit codes, what is found and what is not."""

import json
import shutil
from importlib import import_module
from pathlib import Path

import pytest
from jsonschema import Draft7Validator

from aiplan.planning import order
from aiplan.report.schemas import schema_of
from tests.guard.test_guard_formats import check_junit, check_sarif, commands

ROOT = Path(__file__).resolve().parents[2]
ALL = ("check", "clusters", "--policy", "policy.yaml")
GOLDENS = {
    "help": ["check", "--help"],
    "table": [*ALL],
    "narrow": [*ALL, "--width", "60"],
    "wide": [*ALL, "--width", "200"],
    "markdown": [*ALL, "--format", "markdown"],
    "plain": [*ALL, "--format", "plain"],
    "csv": [*ALL, "--format", "csv"],
    "json": [*ALL, "--format", "json"],
    "github": [*ALL, "--format", "github"],
    "gitlab": [*ALL, "--format", "gitlab"],
    "junit": [*ALL, "--format", "junit"],
    "sarif": [*ALL, "--format", "sarif"],
    "no policy": ["check", "clusters/good.yaml"],
    "expectation broken": ["check", "clusters/late.yaml"],
    "library": ["check", "gpt3-175b-a100", "--format", "plain"],
    "does not fit": ["check", "clusters/good.yaml", "--set", "plan.micro_batch=8"],
    "unknown result": ["check", "clusters/late.yaml", "--set", "workload.tokens=null"],
    "pattern": ["check", "clusters/**/*.yaml", "--format", "csv", "--quiet"],
    "nothing there": ["check", "nowhere", "clusters/good.yaml"],
    "nothing matches": ["check", "*.toml"],
    "only others": ["check", "clusters/service.yaml"],
    "bad policy": ["check", "clusters", "--policy", "bad-policy.yaml"],
    "names policy": ["check", "clusters", "--policy", "names-policy.yaml"],
    "no path": ["check"],
    "bad format": ["check", "clusters", "--format", "xml"],
    "two inputs": ["check", "-", "-"],
}


@pytest.mark.parametrize("name", GOLDENS)
def test_goldens(name, run, golden):
    assert run(*GOLDENS[name]).text == golden(name=name)


def document(run, *arguments, code=None):
    done = run("check", *arguments, "--format", "json")
    assert code is None or done.code == code
    content = json.loads(done.out)
    Draft7Validator(schema_of("result")).validate(content)
    return content["result"]


def found(run, *arguments):
    files = document(run, *arguments)["files"]
    return {one["rule"]: one for file in files for one in file["verdicts"] if one["state"] != "ok"}


def test_exit_codes(run):
    assert run("check", "clusters/good.yaml").code == 0
    assert run("check", "clusters/late.yaml").code == 1
    assert run("check", "clusters/late.yaml", "--exit-zero").code == 0
    assert run("check", "clusters/broken.yaml", "--exit-zero").code == 2
    assert run("check", "clusters/good.yaml", "clusters/late.yaml", "clusters/broken.yaml").code == 2
    assert run("check", "clusters/research/odd.yaml").code == 0


def test_a_broken_file_does_not_hide_the_others(run):
    files = document(run, "clusters", code=2)["files"]
    assert [file["file"] for file in files] == [
        "clusters/good.yaml",
        "clusters/research/odd.yaml",
        "clusters/late.yaml",
        "clusters/broken.yaml",
    ]
    assert [file["state"] for file in files] == ["ok", "warning", "error", "broken"]
    assert [(one["code"], one["line"], one["column"]) for one in files[-1]["verdicts"]] == [
        ("AIP102", 3, 20),
        ("AIP104", 5, 8),
        ("AIP210", 6, 10),
        ("AIP210", 6, 16),
    ]


def test_a_batch_says_what_each_alone_does(run):
    together = {file["file"]: file for file in document(run, "clusters", "--policy", "policy.yaml")["files"]}
    for name, file in together.items():
        assert document(run, name, "--policy", "policy.yaml")["files"] == [file]


def test_numbers_are_those_of_the_estimate(run):
    verdicts = {one["rule"]: one for one in document(run, "clusters/good.yaml")["files"][0]["verdicts"]}
    estimate = json.loads(run("estimate", "clusters/good.yaml", "--format", "json").out)["result"]
    assert verdicts["mfu"]["found"] == estimate["mfu"]
    assert verdicts["mfu"]["margin"] == pytest.approx(estimate["mfu"] / 0.4 - 1)
    assert verdicts["time_to_train"]["found"] == estimate["time_to_train_s"]
    assert verdicts["time_to_train"]["margin"] == pytest.approx(1 - estimate["time_to_train_s"] / (30 * 86400))


def test_files_are_counted_once(run):
    files = document(run, "clusters/good.yaml", "clusters", "clusters/*.yaml", "clusters/good.yaml")["files"]
    names = [file["file"] for file in files]
    assert len(names) == len(set(names)) == 4


def test_a_pipe(run, folder):
    text = (folder / "clusters" / "late.yaml").read_bytes()
    done = run("check", "-", "--format", "json", stdin=text)
    assert done.code == 1
    assert json.loads(done.out)["result"]["files"][0]["file"] == "<stdin>"


FOREIGN = {
    "ds.json": '{"zero_optimization": {"stage": 2}, "train_micro_batch_size_per_gpu": 1}',
    "config.json": '{"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 64, "vocab_size": 8}',
    "values.yaml": "replicas: 2\n",
}


@pytest.mark.parametrize("names", [["ds.json", "config.json", "values.yaml"], ["values.yaml"]])
@pytest.mark.parametrize("form", ["table", "json", "github", "junit", "sarif", "markdown"])
def test_a_check_of_nothing_does_not_pass(names, form, run, folder, golden):
    other = folder / "other"
    other.mkdir()
    for name in names:
        (other / name).write_text(FOREIGN[name], encoding="utf-8")
    done = run("check", "other", "--format", form, "--exit-zero")
    assert done.code == 2
    assert "AIP119" in done.out
    assert ("aiplan import other/config.json other/ds.json" in done.out) == (len(names) > 1)
    if form == "table":
        assert done.text == golden(name=names[0])


def test_each_path_has_to_lead_to_something(run, folder):
    (folder / "other").mkdir()
    (folder / "other" / "values.yaml").write_text("replicas: 2\n", encoding="utf-8")
    for path in ("other", "other/*.yaml", "oth*"):
        files = document(run, GOOD, path, code=2)["files"]
        assert [(file["file"], file["state"]) for file in files] == [(GOOD, "ok"), (path, "broken")]
    shutil.copy(folder / GOOD, folder / "other" / "a.yaml")
    assert document(run, "other", code=0)["skipped"] == [
        {"file": "other/values.yaml", "why": "it has neither workload nor cluster"}
    ]


def test_what_is_skipped_is_named(run, folder):
    (folder / "clusters" / "model.yaml").write_text("layers: 4\nhidden: 8\n", encoding="utf-8")
    (folder / "clusters" / ".hidden.yaml").write_text("workload: {}\n", encoding="utf-8")
    (folder / "clusters" / "noise.yaml").write_bytes(b"\xff\x00\xfe")
    content = document(run, "clusters")
    assert [one["file"] for one in content["skipped"]] == [
        f"clusters/{name}.yaml" for name in ("model", "noise", "service")
    ]


@pytest.mark.parametrize(
    "text",
    [
        b"workload: {tokens: 1B\n",
        b"cluster:\n\tnodes: 4\n",
        b'{"workload": {}, "cluster": {}',
        b"\xef\xbb\xbfworkload: 3\n",
        b"workload: 1\n\xff\n",
        b"<<<<<<< ours\nworkload: {}\n",
    ],
)
def test_a_broken_scenario_of_a_folder_is_not_skipped(run, folder, text):
    (folder / "clusters" / "zz.yaml").write_bytes(text)
    assert "clusters/zz.yaml" in [file["file"] for file in document(run, "clusters", code=2)["files"]]


ODD = "clusters/research/odd.yaml"
GOOD = "clusters/good.yaml"
WHOLE = "whole.yaml"
RUN = ("--set", "reliability={mtbf_per_accelerator: 1 year}")
SMELLS = {
    "tensor-across-nodes": ([ODD], [ODD, "--set", "plan.tensor=8"]),
    "few-micro-batches": ([ODD], [ODD, "--set", "workload.global_batch=1024"]),
    "large-bubble": ([ODD], [ODD, "--set", "workload.global_batch=1024"]),
    "oversubscribed-ring": ([ODD], [ODD, "--set", "cluster.network.oversubscription=1"]),
    "does-not-fit": ([GOOD, "--set", "plan.micro_batch=4", "--set", "expect=[]"], [GOOD, "--set", "expect=[]"]),
    "memory-near-limit": ([GOOD, "--set", "plan.micro_batch=2"], [GOOD]),
    "costly-interval": ([WHOLE, *RUN, "--set", "checkpoint.interval=1 day"], [WHOLE, *RUN]),
    "unverified-entry": ([GOOD, "--set", "cluster.node=atlas-800-ascend-910b"], [GOOD]),
    "assumed-efficiency": ([GOOD, "--set", "cluster.node=atlas-800-ascend-910b"], [GOOD]),
    "bad-variable-value": (
        [GOOD, "--set", "environment={NCCL_NET_GDR_LEVEL: PXD}"],
        [GOOD, "--set", "environment={NCCL_NET_GDR_LEVEL: PXB}"],
    ),
}


@pytest.mark.parametrize("lint", SMELLS)
def test_smells(lint, run):
    there, away = SMELLS[lint]
    smell = found(run, *there)[lint]
    assert smell["line"] is not None
    assert smell["hint"]
    assert lint not in found(run, *away)


def test_a_sparse_peak_of_an_own_catalog(run, folder):
    entry = folder / "hardware_catalog" / "accelerators" / "h100-sxm.yaml"
    entry.parent.mkdir(parents=True)
    entry.write_text("compute: {bf16: 1978.9 TFLOP/s}\n", encoding="utf-8")
    assert "implausible-peak" in found(run, GOOD)
    shutil.rmtree(folder / "hardware_catalog")
    assert "implausible-peak" not in found(run, GOOD)


def test_search_is_asked_for(run):
    slow = [GOOD, "--set", "plan={tensor: 32, recompute: full}"]
    assert "behind-the-best" not in found(run, *slow)
    smell = found(run, *slow, "--search")["behind-the-best"]
    assert smell["found"] > smell["bound"] > 0


def test_how_far_behind_the_best_counts_is_what_pairs_of_published_runs_say(run, folder):
    slow = [GOOD, "--search"]
    smell = found(run, *slow)["behind-the-best"]
    assert smell["bound"] == order.trusted(order.published()).lead
    (folder / "p.yaml").write_text("limits: {behind: 50 %}\n", encoding="utf-8")
    assert "behind-the-best" not in found(run, *slow, "--policy", "p.yaml")
    (folder / "p.yaml").write_text("limits: {behind: 1 %}\n", encoding="utf-8")
    assert found(run, *slow, "--policy", "p.yaml")["behind-the-best"]["bound"] == 0.01


def test_an_interval_costs_what_the_wall_clock_says(run, folder):
    """Against the same run with other intervals, each an estimate of its own."""
    bad = "checkpoint.interval=1 day"
    smell = found(run, WHOLE, *RUN, "--set", bad)["costly-interval"]

    def wallclock(change):
        arguments = ("estimate", WHOLE, *RUN, "--set", change, "--format", "json")
        return json.loads(run(*arguments).out)["result"]["run"]["wallclock_s"]

    tried = [wallclock(f"checkpoint.interval={minutes} min") for minutes in (10, 20, 24, 25, 30, 60)]
    assert smell["found"] == pytest.approx(wallclock(bad) / min(tried) - 1, rel=0.01)
    assert smell["bound"] == 0.01
    (folder / "p.yaml").write_text("limits: {interval: 5 %}\n", encoding="utf-8")
    assert "costly-interval" not in found(run, WHOLE, *RUN, "--set", bad, "--policy", "p.yaml")


@pytest.mark.parametrize("change", ["reliability=none", "checkpoint=none", "checkpoint={}", "workload.tokens=null"])
def test_an_interval_that_is_not_given_or_cannot_cost_is_no_finding(run, change):
    change = ("--set", change) if change.startswith("work") else ("--set", change, "--set", "expect=[]")
    assert "costly-interval" not in found(run, WHOLE, *RUN, *change)


TIGHT = [GOOD, "--set", "plan.micro_batch=2"]


def test_how_near_the_limit_is_what_the_house_says(run, folder):
    """A plan of about 88 % of the memory: usual line, the line of a policy, and rules that bound memory themselves."""

    def verdict(policy, *settings):
        (folder / "p.yaml").write_text(policy, encoding="utf-8")
        return found(run, *TIGHT, *settings, "--policy", "p.yaml").get("memory-near-limit")

    usual = verdict("name: none\n")
    assert 0.8 < usual["found"] < 1
    share = usual["found"]
    assert verdict("limits: {memory: 99 %}\n") is None
    assert verdict(f"limits: {{memory: {share + 0.001}}}\n") is None
    nearer = verdict(f"limits: {{memory: {share - 0.001}}}\n")
    assert (nearer["found"], nearer["bound"]) == (share, share - 0.001)
    for bound in ("99 %", "50 %", "70 GiB"):
        assert verdict(f"rules: [memory <= {bound}]\n".replace("[", "[{require: ").replace("]", "}]")) is None
        assert verdict("name: none\n", "--set", f"expect=[memory <= {bound}]") is None
    assert verdict("rules: [{require: memory <= 99 %, level: off}]\n") == usual
    assert verdict("rules: [{require: memory <= 99 %, paths: [other/**]}]\n") == usual
    exempt = "exempt: [{paths: ['**'], rules: [memory], why: a trial}]\n"
    assert verdict(f"rules: [{{require: memory <= 99 %}}]\n{exempt}") == usual
    assert verdict("rules: [{require: fits}]\n") == usual
    assert verdict("limits: {memory: 10 %}\n", "--set", "plan.micro_batch=8") is None


def test_levels_and_limits_of_a_policy(run, folder):
    (folder / "p.yaml").write_text("lints: {large-bubble: error, tensor-across-nodes: off}\n", encoding="utf-8")
    verdicts = found(run, ODD, "--policy", "p.yaml")
    assert verdicts["large-bubble"]["state"] == "error"
    assert "tensor-across-nodes" not in verdicts
    (folder / "p.yaml").write_text("limits: {bubble: 90 %, ring: 100 %}\n", encoding="utf-8")
    assert not {"large-bubble", "oversubscribed-ring"} & found(run, ODD, "--policy", "p.yaml").keys()


def test_an_exemption_leaves_a_trace(run):
    verdict = found(run, ODD, "--policy", "policy.yaml")["few-micro-batches"]
    assert (verdict["state"], verdict["why"]) == ("exempt", "a trial of one week")


def test_an_expectation_cannot_be_exempted(run, folder):
    (folder / "p.yaml").write_text('exempt: [{paths: ["**"], why: everything}]\n', encoding="utf-8")
    assert run("check", "clusters/late.yaml", "--policy", "p.yaml").code == 1


def test_two_hundred_files_of_which_thirty_are_broken(run, folder):
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "benchmarks")
        broken = import_module("fuzzing.folder").write_folder(folder / GOOD, folder / "many")
    assert len(broken) == 30
    content = document(run, "many", code=2)
    states = [file["state"] for file in content["files"]]
    assert states.count("broken") == 30
    assert len(states) == 200
    assert broken == {file["file"] for file in content["files"] if file["state"] == "broken"}
    assert all(
        one["code"] and one["line"]
        for file in content["files"]
        if file["state"] == "broken"
        for one in file["verdicts"]
    )
    assert (
        sum(one["rule"] == "mfu" and one["state"] == "error" for f in content["files"] for one in f["verdicts"]) >= 17
    )
    formats = {form: run("check", "many", "--format", form) for form in ("github", "junit", "sarif", "markdown")}
    assert {done.code for done in formats.values()} == {2}
    assert (
        len(
            {path for path, *_ in ((one["file"],) for _, one, _ in commands(formats["github"].out) if "file" in one)}
            & broken
        )
        >= 9
    )
    assert sum(case.find("error") is not None for case in check_junit(formats["junit"].out).iter("testcase")) >= 30
    told = check_sarif(formats["sarif"].out)["runs"][0]["results"]
    assert broken <= {one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in told}
    assert all(path in formats["markdown"].out for path in broken)


def test_the_same_input_gives_the_same_bytes(run):
    for form in ("json", "sarif", "junit", "github", "gitlab", "markdown"):
        assert run(*ALL, "--format", form).out == run(*ALL, "--format", form).out
