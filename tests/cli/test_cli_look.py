"""What a stream may show: terminal or not, colours, widths, and text of users that must not steer anything."""

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiplan.report.console import Look, draw, look_of
from aiplan.report.facts import Fact
from aiplan.report.grid import BAR_CELLS, bar, facts
from aiplan.report.records import markdown_table, tabs
from aiplan.report.text import change, clean, markdown


class Stream(io.StringIO):
    """A stream that says what it is told to be."""

    encoding = "utf-8"

    def __init__(self, terminal):
        super().__init__()
        self.terminal = terminal

    def isatty(self):
        return self.terminal


# NO_COLOR takes colours and leaves bold; an empty one does not count. https://no-color.org
@pytest.mark.parametrize(
    ("terminal", "environ", "no_color", "escapes", "colour"),
    [
        (True, {}, False, True, True),
        (True, {"NO_COLOR": "1"}, False, True, False),
        (True, {"NO_COLOR": ""}, False, True, True),
        (True, {}, True, False, False),
        (True, {"TERM": "dumb"}, False, False, False),
        (False, {}, False, False, False),
        (False, {"FORCE_COLOR": "1"}, False, True, True),
        (False, {"FORCE_COLOR": ""}, False, False, False),
        (False, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, True, False),
        (False, {"FORCE_COLOR": "1"}, True, False, False),
        (False, {"FORCE_COLOR": "1", "TERM": "dumb"}, False, False, False),
    ],
)
def test_escapes_and_colours(terminal, environ, no_color, escapes, colour):
    look = look_of(Stream(terminal), no_color=no_color, environ=environ)
    assert (look.escapes, look.colour) == (escapes, colour)


def test_widths():
    assert look_of(Stream(terminal=False), environ={}).width is None
    assert look_of(Stream(terminal=False), environ={"COLUMNS": "50"}).width == 50
    assert look_of(Stream(terminal=False), environ={"COLUMNS": "wide"}).width is None
    assert look_of(Stream(terminal=False), environ={"COLUMNS": "10"}).width == 40
    assert look_of(Stream(terminal=True), width=70, environ={"COLUMNS": "50"}).width == 70


def test_blocks_need_a_terminal_with_more_than_ascii():
    ascii_only = Stream(terminal=True)
    ascii_only.encoding = "ANSI_X3.4-1968"
    assert look_of(Stream(terminal=True), environ={}).blocks
    assert not look_of(ascii_only, environ={}).blocks
    assert not look_of(Stream(terminal=False), environ={}).blocks


@given(st.floats(0, 1), st.booleans())
def test_bars_stay_in_their_cells(share, blocks):
    assert len(bar(share, blocks=blocks)) <= BAR_CELLS
    assert abs(len(bar(share, blocks=False)) - share * BAR_CELLS) <= 0.5 + 1e-9


@pytest.mark.parametrize("share", [float("nan"), -0.1, 1.5])
def test_no_bar_for_what_is_no_share(share):
    assert bar(share, blocks=True) == ""


@given(st.text())
def test_clean_text_steers_nothing(text):
    shown = clean(text)
    assert len(shown) == len(text)
    assert not any(ord(letter) < 32 or 127 <= ord(letter) < 160 for letter in shown)


@given(st.lists(st.lists(st.text(), min_size=2, max_size=2)))
def test_one_record_a_line(rows):
    lines = tabs(("a", "b"), rows).split("\n")
    assert len(lines) == len(rows) + 2
    assert all(line.count("\t") == 1 for line in lines[:-1])


@given(st.lists(st.lists(st.text(), min_size=2, max_size=2)))
def test_markdown_tables_keep_their_columns(rows):
    text = markdown_table(("a", "b"), [[markdown(cell) for cell in row] for row in rows])
    unescaped = text.replace("\\\\", "").replace("\\|", "")
    assert all(line.count("|") == 3 for line in unescaped.split("\n")[:-1])


@settings(max_examples=40)
@given(st.integers(40, 200), st.text(min_size=1, max_size=300).filter(str.isalnum))
def test_nothing_is_cut_however_narrow(width, word):
    look = Look(width=width)
    shown = draw(look, facts(look, [Fact("what", "1", word)]))
    assert sorted("".join(shown.split())) == sorted(f"what1{''.join(word.split())}")


def test_signs_of_changes():
    assert [change(value) for value in (0.123, -0.05, 0.0, None)] == ["+12.3 %", "-5.0 %", "+0.0 %", ""]


def test_user_text_is_no_markup(run):
    done = run("estimate", "unknowns.yaml")
    assert done.out.startswith("[/tmp] :x: | *no* tokens  unknowns.yaml\n")
    assert "tiny [bold], 162M parameters" in done.out


def test_escape_codes_in_names_do_not_reach_the_terminal(run, folder):
    text = (folder / "small.yaml").read_text().replace("Llama 3 8B on 16 GPUs", r'"red \e[31m name"')
    (folder / "red.yaml").write_text(text)
    for form in ("table", "plain", "csv", "markdown", "json"):
        done = run("estimate", "red.yaml", "--format", form)
        assert done.code == 0
        assert "\x1b" not in done.out + done.err
