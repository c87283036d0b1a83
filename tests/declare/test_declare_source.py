"""Reading YAML: what values mean, where they stand, and what is refused."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiplan.declare import Diagnostics, InputError, Mapping, Scalar, Sequence, read, read_file


def plain(node):
    """Tree as ordinary Python data."""
    if isinstance(node, Mapping):
        return {key.text: plain(value) for key, value in node.items}
    if isinstance(node, Sequence):
        return [plain(item) for item in node.items]
    return node.value


def only_error(text):
    with pytest.raises(InputError) as caught:
        read(text, "f.yaml")
    (found,) = caught.value.diagnostics
    return found


@pytest.mark.parametrize(
    ("written", "value"),
    [
        # Numbers that YAML 1.1 readers take for text
        ("1e12", 1e12),
        ("1.0e12", 1e12),
        ("300E9", 300e9),
        ("1_000", 1000),
        ("1_000.5", 1000.5),
        (".5", 0.5),
        ("5.", 5.0),
        ("-3", -3),
        ("+3", 3),
        ("0", 0),
        ("0.5", 0.5),
        ("123456789012345678901234567890", 123456789012345678901234567890),
        # Text that YAML 1.1 readers take for something else
        ("no", "no"),
        ("No", "No"),
        ("off", "off"),
        ("on", "on"),
        ("yes", "yes"),
        ("y", "y"),
        ("0755", "0755"),
        ("12:30:00", "12:30:00"),
        ("2026-11-30", "2026-11-30"),
        ("0x1F", "0x1F"),
        ("0b11", "0b11"),
        ("1,000", "1,000"),
        ("1__0", "1__0"),
        ("_1", "_1"),
        (".", "."),
        ("-", None),  # an empty list item, see below
        # No number is infinite or undefined
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("1e999", "1e999"),
        ("9" * 5000, "9" * 5000),
        # Truth and nothing
        ("true", True),
        ("FALSE", False),
        ("null", None),
        ("~", None),
        ("", None),
        # Quotes make text
        ("'1'", "1"),
        ('"true"', "true"),
        ("''", ""),
    ],
)
def test_meaning_of_a_value(written, value):
    if written == "-":
        assert plain(read("- \n- 1", "f")) == [None, 1]
        return
    got = plain(read(f"key: {written}", "f.yaml"))["key"]
    assert got == value
    assert type(got) is type(value)


def test_text_is_kept_as_written():
    node = read("version: 1.10", "f").items[0][1]
    assert (node.value, node.text) == (1.1, "1.10")


def test_keys_are_always_text():
    assert plain(read("on: 1\nno: 2\n3: 4\ntrue: 5\n1e3: 6", "f")) == {
        "on": 1,
        "no": 2,
        "3": 4,
        "true": 5,
        "1e3": 6,
    }


def test_positions_are_one_based_and_end_after_the_value():
    tree = read("a: 12\nb:\n  - x\n  - {c: 'de'}\n", "f.yaml")
    (key_a, a), (_, b) = tree.items
    assert key_a.mark == ("f.yaml", 1, 1, 2)
    assert a.mark == ("f.yaml", 1, 4, 6)
    assert b.items[0].mark == ("f.yaml", 3, 5, 6)
    assert b.items[1].items[0][1].mark == ("f.yaml", 4, 9, 13)


def test_columns_count_characters_not_bytes():
    assert read('"é🎉": 1', "f").items[0][1].mark.column == 7


def test_byte_order_mark_and_crlf():
    tree = read(b"\xef\xbb\xbfa: 1\r\nb: 2\r\n", "f.yaml")
    assert plain(tree) == {"a": 1, "b": 2}
    assert tree.items[0][0].mark[1:3] == (1, 1)
    assert tree.items[1][0].mark[1:3] == (2, 1)


def test_json_with_tabs_is_fine():
    assert plain(read('{\n\t"a": [1, 2.5, "x", null, true]\n}', "f.json")) == {"a": [1, 2.5, "x", None, True]}


@pytest.mark.parametrize(
    ("text", "code", "line", "column", "problem", "hint"),
    [
        ("a: [1, 2", "AIP101", 1, 4, "list that begins here", "close the list"),
        ("a: {b: 1", "AIP101", 1, 4, "mapping that begins here", "close the mapping"),
        ("a: 1\nb: 'x", "AIP101", 2, 4, "quoted text that begins here", "closing quote"),
        ("a: b: c", "AIP101", 1, 5, "':' cannot stand here", "quotes"),
        ("a: @x", "AIP101", 1, 4, "cannot begin with '@'", "in quotes"),
        ("- a\nb: 1", "AIP101", 2, 1, "list item is due", "indent"),
        ("a: 1\n b: 2", "AIP101", 2, 3, "':' cannot stand here", "indentation"),
        ('a: "\\q"', "AIP101", 1, 5, "unknown escape", "single quotes"),
        ('a: "\\ud800\\udc00"', "AIP101", 1, 7, "no character", "itself"),
        ("? [a]\n: 1", "AIP101", 1, 3, "cannot be a key", "plain text"),
        ("[" * 60 + "]" * 60, "AIP101", 1, 51, "more than 50 levels", None),
        ("a: 1\nb: 2\na: 3", "AIP105", 3, 1, "key 'a' is given twice", "keep one"),
        ("<<<<<<< ours\na: 1\n=======\na: 2\n>>>>>>> b", "AIP110", 1, 1, "'<<<<<<<'", "also in line 3, 5"),
        ("a: 1\n=======\n", "AIP110", 2, 1, "'======='", "finish the merge"),
        ("a:\n\tb: 1", "AIP111", 2, 1, "tab", "spaces"),
        ("a:\n  b: 1\n\tc: 2", "AIP111", 3, 1, "tab", "spaces"),
        ("a: &x 1", "AIP112", 1, 4, "anchor '&x'", "write the value out"),
        ("a: *x", "AIP112", 1, 4, "alias '*x'", "write the value out"),
        ("a: !!int 3", "AIP112", 1, 4, "tag", "plain value"),
        ("<<: {a: 1}", "AIP112", 1, 1, "merge key", "write the keys out"),
        ("a: 1\n---\nb: 2", "AIP112", 2, 1, "second document", "one document"),
        ("a: \x00", "AIP113", 1, 4, "U+0000", "may not be text"),
        ("", "AIP114", 1, 1, "holds no values", None),
        ("# only a comment\n", "AIP114", 1, 1, "holds no values", None),
        ("---\n", "AIP114", 1, 1, "holds no values", None),
    ],
)
def test_refused_with_place_and_repair(text, code, line, column, problem, hint):
    found = only_error(text)
    assert (found.code, found.mark.line, found.mark.column) == (code, line, column)
    assert problem in found.problem
    assert found.hint is None if hint is None else hint in found.hint


def test_duplicate_key_names_the_first_place():
    assert only_error("a: 1\nb: {c: 1, c: 2}").expected == "first given at f.yaml:2:5"


def test_all_refused_constructs_are_reported_together():
    with pytest.raises(InputError) as caught:
        read("a: &x 1\nb: *x\nc: !t 1\nd: 1\nd: 2", "f")
    assert [(d.code, d.mark.line) for d in caught.value.diagnostics] == [
        ("AIP112", 1),
        ("AIP112", 2),
        ("AIP112", 3),
        ("AIP105", 5),
    ]


def test_with_a_collector_a_duplicate_key_leaves_the_first_value():
    diagnostics = Diagnostics()
    assert plain(read("a: 1\na: 2", "f", diagnostics)) == {"a": 1}
    assert [d.code for d in diagnostics.items] == ["AIP105"]


def test_not_utf8_names_the_byte():
    found = only_error(b"name: caf\xe9\n")
    assert found.code == "AIP113"
    assert "byte 10 is 0xe9" in found.problem
    assert "UTF-8" in found.hint


def test_file_is_read_and_named_as_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.yaml").write_text("a: 1")
    assert read_file("plan.yaml").items[0][0].mark.file == "plan.yaml"


def test_missing_file_suggests_a_neighbour(tmp_path):
    (tmp_path / "gpt3.yaml").write_text("a: 1")
    with pytest.raises(InputError) as caught:
        read_file(str(tmp_path / "gtp3.yaml"))
    (found,) = caught.value.diagnostics
    assert found.code == "AIP113"
    assert "no such file" in found.problem
    assert "gpt3.yaml" in found.hint


def test_directory_and_impossible_name_are_refused(tmp_path):
    for path in (str(tmp_path), "a\0b"):
        with pytest.raises(InputError) as caught:
            read_file(path)
        assert caught.value.diagnostics[0].code == "AIP113"


_SYNTAX = st.text(alphabet="ab01:-[]{},'\"#&*!|>%@ \n\t\r?=<.~\\\u2028é\ufeff\x85", max_size=60)


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(max_size=60), _SYNTAX, st.binary(max_size=60)))
def test_any_text_is_read_or_refused_and_the_refusal_can_be_shown(text):
    refusal = None
    try:
        read(text, "f.yaml")
    except InputError as caught:
        refusal = caught
    if refusal is not None:
        assert "\x1b" not in str(refusal)
        assert refusal.diagnostics
        marks = [found.mark for found in refusal.diagnostics if found.mark]
        assert all(mark.line >= 1 and 1 <= mark.column < mark.end_column for mark in marks)


_DATA = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc", "Cn"], exclude_characters="\ufeff\ufffe\uffff"))
    | st.sampled_from(["no", "on", "0755", "1e5", "<<", "&a", "*b", "- x", "a: b", "# c", "~", ""]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abcdef"), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from("abc"), _DATA, min_size=1))
def test_json_is_read_as_the_json_module_reads_it(data):
    text = json.dumps(data, ensure_ascii=False, indent=1)
    assert plain(read(text, "f.json")) == json.loads(text)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_finite_number_survives(value):
    got = read(f"x: {value!r}", "f").items[0][1]
    assert isinstance(got, Scalar)
    assert math.copysign(1.0, got.value) == math.copysign(1.0, value)
    assert got.value == value
