"""The guides of CONTRIBUTING lead to what they promise: a device, an algorithm and a command that work."""

import __future__

import importlib
import json
import sys
from pathlib import Path

import pytest

import aiplan
from aiplan.core import algorithms, all_reduces
from tests.core import test_core_algorithms, test_core_docstrings

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "CONTRIBUTING.md"


@pytest.fixture
def blocks(script):
    """Texts of the guides by what they are for: `file NAME` and `add to NAME`."""
    found = script("fences").fences(PAGE.read_text(encoding="utf-8"))
    return {f"{block.mark} {block.said}": block.text for block in found if block.mark}


def test_a_device(blocks, folder, run):
    """The commands of the guide are run with the page; here the entry by its numbers."""
    path = folder / "hardware_catalog" / "accelerators" / "n1.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(blocks["file hardware_catalog/accelerators/n1.yaml"], encoding="utf-8")
    shown = run("catalog", "show", "n1", "--format", "json")
    assert shown.code == 0
    assert "900.0 GB/s" in run("catalog", "show", "n1").out  # 18 links of 25 GB/s, both ways
    assert "n1" in run("catalog", "list", "accelerators", "--where", "vendor = Example").out


def compiled(text):
    """Compile a part of a file, whose annotations are not evaluated as in all of our files."""
    return compile(text, str(PAGE), "exec", flags=__future__.annotations.compiler_flag)


@pytest.fixture
def star(blocks, monkeypatch):
    """The algorithm of the guide, put where the guide says."""
    exec(compiled(blocks["add to aiplan/core/all_reduces.py"]), vars(all_reduces))  # noqa: S102
    row = eval(blocks["add to aiplan/core/algorithms.py"], vars(algorithms))  # noqa: S307
    monkeypatch.setitem(algorithms.ALGORITHMS, row.name, row)
    yield all_reduces.star
    del all_reduces.star


def test_an_algorithm_is_documented(star):
    checks = (
        test_core_docstrings.test_starts_with_one_sentence_and_a_formula,
        test_core_docstrings.test_sections_are_there_and_in_order,
        test_core_docstrings.test_documents_the_parameters_of_its_signature_and_no_others,
        test_core_docstrings.test_every_parameter_has_a_known_unit,
        test_core_docstrings.test_says_the_unit_of_what_it_returns,
        test_core_docstrings.test_cites_a_source_with_an_address,
        test_core_docstrings.test_is_marked_as_a_closed_form,
    )
    for check in checks:
        check(star)


@pytest.mark.parametrize("ranks", [1, 2, 3, 8, 13])
def test_an_algorithm_takes_as_long_as_its_messages(blocks, star, ranks):
    played = test_core_algorithms.played
    names = dict(vars(played))
    exec(blocks["add to tests/core/message_simulator.py"], names)  # noqa: S102
    net = test_core_algorithms.FLAT
    time = test_core_algorithms.play(names["star_all_reduce"], ranks, 640, net)
    assert time == pytest.approx(float(star(640, ranks, net)), rel=1e-12)


def test_an_algorithm_is_shown(star, run):
    done = run(
        "collective", "all-reduce", "--node", "dgx-h100", "--algorithm", "star", "--size", "1GiB", "--format", "json"
    )
    assert done.code == 0
    assert {row["algorithm"] for row in json.loads(done.out)["result"]["rows"]} == {"star"}


@pytest.fixture
def bubble(blocks, tmp_path_factory, monkeypatch):
    """The command of the guide, as if its files lay beside ours."""
    home = tmp_path_factory.mktemp("guide")
    for mark in [mark for mark in blocks if mark.startswith("file aiplan/")]:
        path = home / mark.removeprefix("file ")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(blocks[mark], encoding="utf-8")
    for part in ("cli", "planning", "report"):
        package = importlib.import_module(f"aiplan.{part}")
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(home / "aiplan" / part)])
    main = importlib.import_module("aiplan.cli.main")
    monkeypatch.setattr(main, "COMMANDS", (*main.COMMANDS, "bubble"))
    yield
    for name in [name for name in sys.modules if name.startswith("aiplan.") and "bubble" in name]:
        del sys.modules[name]


def test_a_command(bubble, run):
    assert run("bubble", "gpt3-175b-a100").code == 0
    found = aiplan.estimate("gpt3-175b-a100")
    told = f"{found['step.bubble'] / found['step']:.1%}".replace("%", " %")
    over = run("bubble", "gpt3-175b-a100", "--limit", "2 %")
    assert over.code == 1
    assert over.out == f"the pipeline waits {told} of a step; at most 2.0 %\n"
    share = json.loads(run("bubble", "gpt3-175b-a100", "--format", "json").out)["result"]["bubble_share"]
    assert share == found["step.bubble"] / found["step"]
    assert run("bubble", "gpt3-175b-a100", "--format", "markdown").out.startswith(f"The pipeline waits **{told}**")
    assert run("bubble", "gpt3-175b-a100", "--format", "csv").out.startswith("bubble_share,limit_share,met\n")
    assert "\ttrue\n" in run("bubble", "gpt3-175b-a100", "--format", "plain").out.lower()
    refused = run("bubble", "gpt3-175b-a100", "--limit", "5 days")
    assert refused.code == 2
    assert "AIP102" in refused.err
