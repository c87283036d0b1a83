"""Every command that a page shows is run, and prints what stands there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
NOT_RUN = {
    ("README.md", "command: estimate"),
    ("README.md", "command: test"),
    ("README.zh-CN.md", "command: estimate"),
    ("README.zh-CN.md", "command: test"),
    ("docs/collectives-measured.md", "not run: needs a cluster"),
    ("docs/scheduling.md", "not run: needs the files of a public trace"),
}
"""The only blocks of commands that no test of this file runs; `.ci/run` runs those with a name."""


def title(page):
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=title)
def test_page(script, page):
    examples = script("examples")
    if title(page) in examples.ELSEWHERE:
        assert (ROOT / examples.ELSEWHERE[title(page)]).is_file()
        return
    found = examples.check(page)
    assert found.faults == []
    assert found.text == page.read_text(encoding="utf-8"), "run: python docs/examples.py"
    assert set(found.skipped) == {entry for entry in NOT_RUN if entry[0] == title(page)}


@pytest.mark.parametrize("page", PAGES, ids=title)
def test_no_page_shows_a_name_that_has_gone(page):
    """An output that is written anew would make an example of a function that was renamed, and tell where it was run."""
    text = page.read_text(encoding="utf-8")
    assert re.findall(r"^\S*(?:ImportError|NameError|AttributeError|ModuleNotFoundError): .*", text, re.MULTILINE) == []


def test_blocks_of_commands_are_marked_as_such(script):
    """A block is run by what it says it is, so no other one may hold a command."""
    examples, fences = script("examples"), script("fences").fences
    for page in PAGES:
        if title(page) not in examples.ELSEWHERE:
            for block in fences(page.read_text(encoding="utf-8")):
                if block.language not in examples.RUN and not block.mark:
                    assert not any(re.match(r"(\$ )?aiplan \w", line) for line in block.lines), (page, block.start)


def test_what_is_not_run_here_is_run_in_a_clean_checkout():
    commands = re.findall(r"readme_command (\w+)", (ROOT / ".ci" / "run").read_text(encoding="utf-8"))
    assert {f"command: {name}" for name in commands} == {why for _, why in NOT_RUN if why.startswith("command")}


def checked(script, tmp_path, text):
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    return script("examples").check(page)


def test_a_wrong_output_is_found_and_mended(script, tmp_path):
    found = checked(script, tmp_path, "```console\n$ aiplan explain AIP412\nAIP412 small-bubble\n…\n```\n")
    assert [fault.line for fault in found.faults] == [2]
    assert found.text == "```console\n$ aiplan explain AIP412\nAIP412 large-bubble\n…\n```\n"
    assert checked(script, tmp_path, found.text).faults == []


def test_check_writes_nothing_and_writing_mends_what_it_can(script, tmp_path, capsys):
    page = tmp_path / "page.md"
    stale = "```console\n$ aiplan explain AIP412\nAIP412 small-bubble\n…\n```\n"
    page.write_text(stale, encoding="utf-8")
    main = script("examples").main
    assert main(["--check", str(page)]) == 1
    assert page.read_text(encoding="utf-8") == stale
    assert "page.md:2: aiplan explain AIP412\n  prints something else" in capsys.readouterr().err
    assert main([str(page)]) == 0
    assert capsys.readouterr().err == "wrote page.md\n"
    assert main(["--check", str(page)]) == 0
    page.write_text("```sh\naiplan explain AIP999\n```\n", encoding="utf-8")
    assert main([str(page)]) == 1
    assert "exit code 2" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("block", "problem"),
    [
        ("```sh\naiplan estimate nowhere.yaml\n```", "exit code 2"),
        ("```sh\nnvidia-smi\n```", "'nvidia-smi' is not run here"),
        ("```sh\ncat my.yaml && cat my.yaml\n```", "'&&' is not understood"),
        ("```sh\ncat nowhere.yaml\n```", "No such file"),
        ("```console\n$ aiplan estimate my.yaml --set cluster.nodes=1\n…\n```", "exit code 2"),
        ("```console\n$ aiplan explain AIP412\n…\nno such line at all\n…\n```", "nothing printed stands for"),
        ("```text\naiplan estimate my.yaml\n```", "a command in a block that is not run"),
        ("```bash\nls\n```", "write `console`"),
        ("```yaml\nsteps:\n  - run: aiplan estimate nowhere.yaml\n```", "exit code 2"),
        ("```pycon\n>>> 1 + 1\n3\n\n```", "prints something else"),
    ],
)
def test_what_goes_wrong_is_told(script, tmp_path, block, problem):
    (fault,) = checked(script, tmp_path, f"{block}\n").faults
    assert problem in fault.problem


def test_exit_codes_files_and_pipes(script, tmp_path):
    found = checked(
        script,
        tmp_path,
        "<!-- file: a/one.txt -->\n```text\nhello\n```\n"
        "```console\n$ cat a/one.txt > two.txt\n$ cat two.txt | cat\nhello\n$ cat < two.txt\nhello\n"
        "$ aiplan estimate \\\n  nowhere.yaml\n…\n$ echo $?\n2\n$ mkdir -p b/c\n$ ls a\none.txt\n```\n",
    )
    assert found.faults == []
    assert len(found.commands) == 7


def test_nothing_is_left_behind(script, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AIPLAN_FORMAT", "json")
    checked(script, tmp_path, "```sh\naiplan schema scenario > here.json\n```\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["page.md"]
    assert Path.cwd() == tmp_path


def test_a_translation_has_the_commands_of_its_original(script):
    examples = script("examples")
    original = "```sh\naiplan a  # one\naiplan c  # three\n```\n<!-- output: aiplan a -->\n```text\nnew\n```\n"
    own = "```sh\naiplan b  # zwei\naiplan a  # eins\n```\n<!-- output: aiplan a -->\n```text\nold\n```\n"
    found = examples._translated("p", own, original)
    assert found.text == original.replace("# one", "# eins")
    assert [fault.command for fault in found.faults] == ["new", "aiplan c  # three"]
    assert examples._translated("p", found.text, original).faults == []
    assert examples._translated("p", own.partition("<!--")[0], original).faults


def test_both_readmes_have_the_same_parts():
    both = [(ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "README.zh-CN.md")]
    headings = [re.findall(r"^(#+) ", text, re.MULTILINE) for text in both]
    assert headings[0] == headings[1]
    links = [set(re.findall(r"\]\((?!README)([^)]*)\)", text)) for text in both]
    assert links[0] == links[1]
