"""How findings are shown, and the table of codes."""

import pickle
import re

import pytest

from aiplan.declare import CODES, Diagnostic, Diagnostics, InputError, Mark, render

SOURCE = "a: 1\nb:\n  bandwidth: 400 GB\n"


def test_layout_of_one_error():
    found = Diagnostic(
        "AIP102",
        "error",
        "'400 GB' is an amount of data, but a data rate is due",
        Mark("s.yaml", 3, 14, 20),
        "field: b.bandwidth [data rate], one way",
        "write '400 GB/s' (bytes) or '400 Gb/s' (bits)",
    )
    assert render([found], {"s.yaml": SOURCE}) == (
        "error[AIP102]: '400 GB' is an amount of data, but a data rate is due\n"
        "  --> s.yaml:3:14\n"
        "   |\n"
        " 3 |   bandwidth: 400 GB\n"
        "   |              ^^^^^^\n"
        "   = field: b.bandwidth [data rate], one way\n"
        "hint: write '400 GB/s' (bytes) or '400 Gb/s' (bits)\n"
        "\n"
        "1 error in 1 file"
    )


def test_findings_are_sorted_by_position_and_counted():
    diagnostics = Diagnostics(sources={"s.yaml": SOURCE, "t.yaml": SOURCE})
    diagnostics.warning("AIP116", "third", Mark("t.yaml", 1, 1, 2))
    diagnostics.error("AIP104", "second", Mark("s.yaml", 3, 3, 4))
    diagnostics.error("AIP104", "first", Mark("s.yaml", 1, 1, 2))
    shown = render(diagnostics.items, diagnostics.sources)
    assert [line.split(": ")[1] for line in shown.splitlines() if "[AIP" in line] == [
        "first",
        "second",
        "third",
    ]
    assert shown.endswith("\n\n2 errors and 1 warning in 2 files")


def test_an_option_is_not_counted_as_a_file():
    option = "--set a=1"
    shown = render([Diagnostic("AIP115", "error", "p", Mark(option, 1, 9, 10))], {option: option})
    assert "\n  --> --set a=1:1:9\n" in shown
    assert "\n 1 | --set a=1\n   |         ^\n" in shown
    assert shown.endswith("\n1 error on the command line")


def test_nothing_found_shows_nothing():
    assert render([], {}) == ""


def test_without_mark_or_source_there_is_no_frame():
    shown = render([Diagnostic("AIP113", "error", "p", Mark("x", 7, 1, 2)), Diagnostic("AIP113", "error", "q")], {})
    assert "|" not in shown


def test_gutter_grows_with_the_line_number():
    shown = render([Diagnostic("AIP104", "error", "p", Mark("f", 1000, 1, 2))], {"f": "\n" * 999 + "x: 1"})
    assert "\n    --> f:1000:1\n     |\n1000 | x: 1\n     | ^\n" in shown


def test_carets_stay_under_their_text_after_a_tab():
    shown = render([Diagnostic("AIP103", "error", "p", Mark("f", 1, 4, 5))], {"f": "a:\tb"})
    _, line, carets = shown.splitlines()[2:5]
    assert line.index("b") == carets.index("^")


@pytest.mark.parametrize("column", [1, 50, 400, 995])
def test_a_long_line_is_cut_around_the_mark(column):
    text = "x" * (column - 1) + "BAD" + "x" * (1000 - column - 2)
    shown = render([Diagnostic("AIP103", "error", "p", Mark("f", 1, column, column + 3))], {"f": text})
    line, carets = shown.splitlines()[3:5]
    assert len(line) < 140
    assert line[carets.index("^") : carets.rindex("^") + 1] == "BAD"


def test_control_characters_never_reach_the_terminal():
    shown = render([Diagnostic("AIP104", "error", "key '\x1b[31m'", Mark("f\x07", 1, 1, 2))], {"f\x07": "\x1b[2J"})
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", shown)


def test_exception_shows_itself_and_can_be_sent_between_processes():
    refusal = InputError([Diagnostic("AIP114", "error", "p")], {"f": "x"})
    assert str(refusal).startswith("error[AIP114]: p")
    assert pickle.loads(pickle.dumps(refusal)).diagnostics == refusal.diagnostics  # noqa: S301


def test_warnings_alone_do_not_raise():
    diagnostics = Diagnostics()
    diagnostics.warning("AIP116", "p")
    diagnostics.raise_if_errors()
    diagnostics.error("AIP104", "q")
    with pytest.raises(InputError):
        diagnostics.raise_if_errors()


def test_an_unregistered_code_is_a_bug():
    with pytest.raises(KeyError):
        Diagnostics().error("AIP999", "p")


def test_codes_are_well_formed_and_distinct():
    assert all(re.fullmatch(r"AIP[1-4][0-9]{2}", code) and code == row.code for code, row in CODES.items())
    assert len({row.name for row in CODES.values()}) == len(CODES)
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", row.name) for row in CODES.values())
    assert all(row.explanation.endswith(".") for row in CODES.values())
