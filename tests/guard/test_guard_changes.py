"""`aiplan diff` of many scenarios: what was changed, added and removed since a revision, or between two folders."""

import json

import pytest
from jsonschema import Draft7Validator

from aiplan.planning import revision
from aiplan.report import comment
from aiplan.report.schemas import schema_of
from tests.guard.test_guard_diff import git

GOOD = "clusters/good.yaml"
SINCE = ("diff", "clusters", "--against-git", "HEAD")
STATES = {
    "clusters/broken.yaml": "mended",
    "clusters/good.yaml": "changed",
    "clusters/late.yaml": "broken",
    "clusters/new.yaml": "added",
    "clusters/notes.yaml": "changed",
    "clusters/own.yaml": "changed",
    "clusters/research/odd.yaml": "removed",
    "clusters/same.yaml": "same",
    "clusters/spaced.yaml": "same",
}


@pytest.fixture
def repository(folder, monkeypatch):
    """A repository in which everything happened to scenarios that can happen to one."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(folder.parent))
    clusters = folder / "clusters"
    good = (folder / GOOD).read_text(encoding="utf-8")
    (folder / "models").mkdir()
    model = folder / "models" / "own.yaml"
    model.write_text("layers: 4\nhidden: 768\nheads: 12\nffn: 3072\nvocab: 32000\n", encoding="utf-8")
    (clusters / "own.yaml").write_text(good.replace("llama-3-8b", "../models/own.yaml"), encoding="utf-8")
    for name in ("same", "spaced", "notes"):
        (clusters / f"{name}.yaml").write_text(good, encoding="utf-8")
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "one")
    (folder / GOOD).write_text(good.replace("tensor: 2", "tensor: 4"), encoding="utf-8")
    (clusters / "new.yaml").write_text(good, encoding="utf-8")
    (clusters / "spaced.yaml").write_text(f"# a remark\n{good}", encoding="utf-8")
    (clusters / "notes.yaml").write_text(f"{good}notes: agreed on\n", encoding="utf-8")
    (clusters / "broken.yaml").write_text(good, encoding="utf-8")
    (clusters / "late.yaml").write_text(good.replace("tensor: 2", "tensr: 2"), encoding="utf-8")
    (clusters / "research" / "odd.yaml").unlink()
    model.write_text(model.read_text(encoding="utf-8").replace("layers: 4", "layers: 8"), encoding="utf-8")
    return folder


def document(run, *arguments):
    done = run("diff", *arguments, "--format", "json")
    content = json.loads(done.out)
    Draft7Validator(schema_of("result")).validate(content)
    assert content["schema"] == "aiplan.changes/1"
    return content["result"]


def states(run, *arguments):
    return {one["file"]: one["state"] for one in document(run, *arguments)["scenarios"]}


GOLDENS = {
    "table": [*SINCE],
    "narrow": [*SINCE, "--width", "60"],
    "markdown": [*SINCE, "--format", "markdown"],
    "csv": [*SINCE, "--format", "csv"],
    "nothing changed": ["diff", "clusters/same.yaml", "clusters/spaced.yaml", "--against-git", "HEAD"],
    "nothing there": ["diff", "models", "--against-git", "HEAD"],
    "no revision": ["diff", "clusters", "--against-git", "v9"],
    "a pipe": ["diff", "-", "clusters", "--against-git", "HEAD"],
    "two folders without scenarios": ["diff", "models", "models"],
}


@pytest.mark.parametrize("name", GOLDENS)
def test_goldens(name, repository, run, golden):
    assert run(*GOLDENS[name]).text == golden(name=name)


def test_everything_that_can_happen(repository, run):
    assert states(run, "clusters", "--against-git", "HEAD") == STATES
    assert run(*SINCE).code == 2


def test_each_is_what_one_alone_is(repository, run):
    """Against the comparison of one file, which asks git in another way and estimates alone."""
    found = {one["file"]: one for one in document(run, "clusters", "--against-git", "main")["scenarios"]}
    for name in ("good", "own", "notes"):
        path = f"clusters/{name}.yaml"
        alone = json.loads(run("diff", path, "--against-git", "main", "--format", "json").out)
        difference = found[path]["difference"]
        assert {key: difference[key] for key in alone["result"]} == alone["result"]
        assert [difference[side] for side in ("old", "new")] == [alone["inputs"][side] for side in ("old", "new")]


def test_figures_are_those_of_estimates(repository, run):
    found = {one["file"]: one for one in document(run, "clusters", "--against-git", "HEAD")["scenarios"]}
    now = json.loads(run("estimate", "clusters/new.yaml", "--format", "json").out)["result"]
    for figure in found["clusters/new.yaml"]["figures"]:
        assert (figure["old"], figure["new"], figure["change"]) == (None, now[figure["name"]], None)
    changed = {one["name"]: one for one in found[GOOD]["figures"]}
    assert changed["step_time_s"]["old"] == now["step_time_s"]
    assert changed["step_time_s"]["change"] == pytest.approx(
        changed["step_time_s"]["new"] / changed["step_time_s"]["old"] - 1
    )
    assert all(figure["new"] is None for figure in found["clusters/research/odd.yaml"]["figures"])
    assert found["clusters/same.yaml"]["figures"] == []


def test_a_model_that_changed_is_a_change_of_who_names_it(repository, run):
    one = document(run, "clusters/own.yaml", "clusters/same.yaml", "--against-git", "HEAD")["scenarios"][0]
    assert one["difference"]["fields"] == []
    assert {"name": "model.layers", "old": 4.0, "new": 8.0, "change": 1.0} in one["difference"]["values"]


@pytest.mark.parametrize(
    "paths",
    [
        ["clusters"],
        ["./clusters/"],
        ["clusters/**/*.yaml"],
        ["clusters/*", "clusters/research/*.yaml"],
        ["clusters", "clusters/*.yaml"],
        ["clust*"],
    ],
)
def test_ways_to_name_them(repository, run, paths):
    assert states(run, *paths, "--against-git", "HEAD") == STATES


def test_from_below_and_from_elsewhere(repository, run, monkeypatch):
    monkeypatch.chdir(repository / "clusters" / "research")
    assert states(run, "..", "--against-git", "HEAD") == {
        f"../{name.removeprefix('clusters/')}": state for name, state in STATES.items()
    }
    monkeypatch.chdir(repository.parent)
    top = str(repository / "clusters")
    found = states(run, top, "--against-git", "HEAD")
    assert found == {f"{repository}/{name}": state for name, state in STATES.items()}


def test_a_folder_that_is_gone_or_new(repository, run):
    (repository / "clusters" / "research").rmdir()
    assert states(run, "clusters/research", "--against-git", "HEAD") == {"clusters/research/odd.yaml": "removed"}
    (repository / "later").mkdir()
    (repository / "later" / "a.yaml").write_bytes((repository / "clusters" / "new.yaml").read_bytes())
    assert states(run, "later", "--against-git", "HEAD") == {"later/a.yaml": "added"}


def test_what_is_no_scenario_is_left_out(repository, run):
    clusters = repository / "clusters"
    (clusters / ".hidden.yaml").write_bytes((clusters / "new.yaml").read_bytes())
    (clusters / "link.yaml").symlink_to("good.yaml")
    (clusters / "service.yaml").unlink()
    assert states(run, "clusters", "--against-git", "HEAD") == STATES
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", "two")
    assert set(states(run, "clusters", "--against-git", "HEAD").values()) == {"same"}


def test_saved_results_too(repository, run):
    run("estimate", "clusters/same.yaml", "--format", "json", "-o", "clusters/agreed.json")
    git(repository, "add", "clusters/agreed.json")
    git(repository, "commit", "-q", "-m", "two", "clusters/agreed.json")
    run("estimate", GOOD, "--format", "json", "-o", "clusters/agreed.json")
    found = {one["file"]: one for one in document(run, "clusters", "--against-git", "HEAD")["scenarios"]}
    assert found["clusters/agreed.json"]["difference"]["fields"][0]["name"] == "plan.tensor"
    assert found["clusters/agreed.json"]["difference"]["alone"] == []


def test_exit_codes(repository, run):
    def code(*paths):
        return run("diff", *paths, "clusters/same.yaml", "--against-git", "HEAD", "--exit-code").code

    assert code("clusters/spaced.yaml") == 0
    assert code("clusters/notes.yaml") == 0
    assert code(GOOD) == 1
    assert code(GOOD, "--threshold", "100%") == 0
    assert code("clusters/new.yaml") == 1
    assert code("clusters/research/odd.yaml") == 1
    assert code("clusters/broken.yaml") == 1
    assert code("clusters/late.yaml") == 2
    assert run("diff", GOOD, "clusters/same.yaml", "--against-git", "HEAD").code == 0


def test_thresholds(repository, run):
    whole = document(run, GOOD, "clusters/same.yaml", "--against-git", "HEAD")["scenarios"][0]["difference"]
    part = document(run, GOOD, "clusters/same.yaml", "--against-git", "HEAD", "--threshold", "20 %")
    kept = [one for one in whole["results"] if one["change"] is None or abs(one["change"]) > 0.2]
    assert part["scenarios"][0]["difference"]["results"] == kept
    assert part["changed"] == bool(kept)


def test_settings_hold_for_both_sides(repository, run):
    assert states(run, GOOD, "clusters/same.yaml", "--against-git", "HEAD", "--set", "plan.tensor=8") == {
        GOOD: "same",
        "clusters/same.yaml": "same",
    }


def test_two_folders(repository, run):
    git(repository, "worktree", "add", "-q", "before", "HEAD")
    found = states(run, "before/clusters", "clusters")
    assert found == {name.removeprefix("clusters/"): state for name, state in STATES.items()} | {"own.yaml": "changed"}
    assert set(states(run, "before/clusters", "before/clusters").values()) == {"same"}


def test_a_comment_is_not_too_long(repository, run, monkeypatch):
    whole = run(*SINCE, "--format", "markdown").out
    assert whole.startswith("<!-- aiplan:diff:clusters -->\n")
    assert whole.count("<summary>clusters/") == 3
    assert "too long" not in whole
    monkeypatch.setattr(comment, "MOST", len(whole) - 1)
    short = run(*SINCE, "--format", "markdown").out
    assert len(short) < len(whole)
    assert short.count("<summary>clusters/") == 2
    assert "Details of 1 more are too long for a comment" in short
    assert all(f"| {name} |" in short for name, state in STATES.items() if state != "same")


def test_names_cannot_end_the_marker_or_a_table(repository, run):
    odd = repository / "clusters" / "a--><b>|`x.yaml"
    odd.write_bytes((repository / "clusters" / "new.yaml").read_bytes())
    page = run("diff", str(odd), GOOD, "--against-git", "HEAD", "--format", "markdown").out
    assert page.splitlines()[0].count("-->") == 1
    assert "<b>" not in page
    assert "\\|" in page


def test_names_and_contents_of_any_kind(repository, run, monkeypatch):
    """Whatever a name or a file of a repository holds, it is neither lost nor a traceback."""
    odd = repository / "odd"
    odd.mkdir()
    good = (repository / "clusters" / "new.yaml").read_bytes()
    names = ["a\nb.yaml", "\udcff.yaml", "\x1b[31m.yaml", "ü 日.yaml", "-x.yaml", '"q".yaml']
    for name in names:
        (odd / name).write_bytes(good)
    (odd / "padded.yaml").write_bytes(good + b"# " + b"x" * 300_000)
    (odd / "binary.yaml").write_bytes(b"\xff\xfe\x00" * 1000)
    (odd / "not-utf8.yaml").write_bytes(b"workload: 1\n\xff\n")
    (odd / "data.json").write_bytes(b"[" + b"1," * 100_000 + b"1]")
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", "two")
    expected = {f"odd/{name}" for name in (*names, "padded.yaml", "not-utf8.yaml")}
    monkeypatch.setattr(revision, "MAX_BYTES", 400_000)  # several portions
    found = states(run, "odd", "--against-git", "HEAD")
    assert len(found) == len(expected)
    assert set(found.values()) == {"same"}
    for path in odd.glob("*.yaml"):
        path.write_bytes(path.read_bytes().replace(b"tensor: 2", b"tensor: 4"))
    found = states(run, "odd", "--against-git", "HEAD")
    assert sorted(found.values()) == ["changed"] * 7 + ["same"]
    for form in ("table", "plain", "csv", "markdown"):
        assert run("diff", "odd", "--against-git", "HEAD", "--format", form).code == 0


def test_where_a_branch_left_another(repository, run):
    """What others have merged since is no change of the branch: three dots, as in git."""
    git(repository, "stash", "-q", "-u")
    git(repository, "checkout", "-q", "-b", "mine")
    text = (repository / GOOD).read_text(encoding="utf-8")
    (repository / GOOD).write_text(text.replace("tensor: 2", "tensor: 4"), encoding="utf-8")
    git(repository, "commit", "-q", "-a", "-m", "mine")
    git(repository, "checkout", "-q", "main")
    (repository / "clusters" / "same.yaml").write_text(text.replace("tensor: 2", "tensor: 8"), encoding="utf-8")
    git(repository, "commit", "-q", "-a", "-m", "theirs")
    git(repository, "checkout", "-q", "mine")

    def changed(revision):
        found = states(run, "clusters", "--against-git", revision)
        return [name for name, state in found.items() if state != "same"]

    assert changed("main") == [GOOD, "clusters/same.yaml"]
    assert changed("main...") == changed("main...HEAD") == changed("main...mine") == [GOOD]
    alone = json.loads(run("diff", GOOD, "--against-git", "main...", "--format", "json").out)
    assert alone["inputs"]["old"]["source"] == f"main...:{GOOD}"
    assert run("diff", "clusters/same.yaml", "--against-git", "main...", "--exit-code").code == 0
    git(repository, "checkout", "-q", "--orphan", "elsewhere")
    git(repository, "commit", "-q", "-m", "apart")
    faults = {
        "main...": "'main' and 'HEAD' have no commit in common here",
        "gone...": "no revision 'gone'",
        "main...gone": "no revision 'gone'",
        "main...--all": "'main...--all' is no revision",
        "...": "no revision ''",
    }
    for asked, fault in faults.items():
        done = run("diff", "clusters", "--against-git", asked)
        assert (done.code, done.out) == (2, "")
        assert fault in done.err


def test_outside_a_repository(folder, run, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(folder.parent))
    done = run("diff", "clusters", "--against-git", "HEAD")
    assert (done.code, done.out) == (2, "")
    assert "not a git repository" in done.err
