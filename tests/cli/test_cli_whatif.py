"""`aiplan explain --sensitivity` and `--roofline`, character by character, in every format."""

import pytest

FORMATS = ("table", "plain", "json", "csv", "markdown")
USAGE = {
    "both": ["explain", "small.yaml", "--sensitivity", "--roofline"],
    "sensitivity-of-a-term": ["explain", "small.yaml", "step.tensor", "--sensitivity"],
    "roofline-of-a-term": ["explain", "small.yaml", "step.tensor", "--roofline"],
    "svg-alone": ["explain", "small.yaml", "--svg", "file.svg"],
    "svg-nowhere": ["explain", "small.yaml", "--roofline", "--svg", "nowhere/file.svg"],
    "missing": ["explain", "smal.yaml", "--sensitivity"],
}


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("question", ["sensitivity", "roofline"])
def test_formats(question, form, run, golden):
    assert run("explain", "small.yaml", f"--{question}", "--format", form).text == golden


@pytest.mark.parametrize("width", ["40", "80", "200"])
@pytest.mark.parametrize("scenario", ["unknowns", "stuck"])
@pytest.mark.parametrize("question", ["sensitivity", "roofline"])
def test_widths(question, scenario, width, run, golden):
    done = run("explain", f"{scenario}.yaml", f"--{question}", "--width", width)
    assert max(map(len, done.out.splitlines())) <= int(width)
    assert done.text == golden


@pytest.mark.parametrize("name", USAGE)
def test_usage(name, run, golden, folder):
    assert run(*USAGE[name]).text == golden
    assert not (folder / "file.svg").exists()


def test_the_picture_is_written_beside_the_answer(run, folder):
    done = run("explain", "small.yaml", "--roofline", "--svg", "roof.svg")
    assert done.code == 0
    assert "wrote roof.svg" in done.err
    assert done.out == run("explain", "small.yaml", "--roofline").out
    assert (folder / "roof.svg").read_text(encoding="utf-8").endswith("</svg>\n")
