"""Changing a tree from the command line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiplan.declare import (
    Diagnostics,
    InputError,
    Mapping,
    Sequence,
    parse_assignment,
    parse_variation,
    read,
    render,
    set_value,
)

TREE = "name: x\nplan: auto\ncluster: {nodes: 8, nics: [{count: 1}, {count: 2}]}\nempty:\n"


def plain(node):
    if isinstance(node, Mapping):
        return {key.text: plain(value) for key, value in node.items}
    if isinstance(node, Sequence):
        return [plain(item) for item in node.items]
    return node.value


def refusal_of(function, *arguments):
    """Exception by which a call refuses its input; None if it does not. Any other exception passes."""
    try:
        function(*arguments)
    except InputError as refusal:
        return refusal
    return None


BEFORE = plain(read(TREE, "f.yaml"))


def changed(path, text):
    diagnostics = Diagnostics()
    tree = read(TREE, "f.yaml", diagnostics)
    after = set_value(tree, path, text, diagnostics)
    assert plain(tree) == BEFORE
    return after, diagnostics


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("cluster.nodes", "256", {"cluster": {"nodes": 256, "nics": [{"count": 1}, {"count": 2}]}}),
        ("cluster.nics[1].count", "5", {"cluster": {"nodes": 8, "nics": [{"count": 1}, {"count": 5}]}}),
        (
            "cluster.nics[2].count",
            "5",
            {"cluster": {"nodes": 8, "nics": [{"count": 1}, {"count": 2}, {"count": 5}]}},
        ),
        ("cluster.nics[0]", "{count: 9}", {"cluster": {"nodes": 8, "nics": [{"count": 9}, {"count": 2}]}}),
        ("plan", "{tensor: 8, pipeline: 4}", {"plan": {"tensor": 8, "pipeline": 4}}),
        ("name", "[1, 2]", {"name": [1, 2]}),
        ("name", "400 Gb/s", {"name": "400 Gb/s"}),
        ("name", "no", {"name": "no"}),
        ("name", "'1'", {"name": "1"}),
        ("name", "", {"name": None}),
        ("new.deep.key", "1e3", {"new": {"deep": {"key": 1000.0}}}),
        ("list[0].a", "1", {"list": [{"a": 1}]}),
        ("empty.a", "1", {"empty": {"a": 1}}),
    ],
)
def test_set(path, text, expected):
    after, diagnostics = changed(path, text)
    assert not diagnostics.items
    assert plain(after) == BEFORE | expected


def test_new_nodes_stand_in_the_option():
    after, diagnostics = changed("cluster.nodes", "[256, 3]")
    nodes = after.items[2][1].items[0][1]
    option = "--set cluster.nodes=[256, 3]"
    assert nodes.items[0].mark == (option, 1, option.index("256") + 1, option.index("256") + 4)
    assert diagnostics.sources[option] == option
    new, _ = changed("aa.bb", "1")
    key = new.items[-1][1].items[0][0]
    assert key.mark == ("--set aa.bb=1", 1, 10, 12)


@pytest.mark.parametrize(
    ("path", "column", "problem", "hint"),
    [
        (
            "plan.tensor",
            12,
            "cannot set 'plan.tensor': a mapping is due before 'tensor', but there is 'auto'",
            "'plan={...}'",
        ),
        ("cluster[0]", 14, "a list is due before '0', but there is a mapping", "'cluster=[...]'"),
        (
            "cluster.nics.count",
            20,
            "a mapping is due before 'count', but there is a list",
            "'cluster.nics={...}'",
        ),
        ("cluster.nics[7]", 19, "there is no item [7]: the list has 2", "[2]"),
        ("a..b", 12, "'a..b' is not a path", "--set cluster.nodes=256"),
    ],
)
def test_paths_that_lead_nowhere(path, column, problem, hint):
    after, diagnostics = changed(path, "1")
    (found,) = diagnostics.items
    assert (found.code, found.mark.file, found.mark.column) == ("AIP115", f"--set {path}=1", column)
    assert problem in found.problem
    assert hint in found.hint
    assert plain(after) == BEFORE
    assert f" 1 | --set {path}=1\n" in render(diagnostics.items, diagnostics.sources)


def test_value_that_is_not_yaml_is_shown_in_the_option():
    with pytest.raises(InputError) as caught:
        changed("name", "[1, 2")
    (found,) = caught.value.diagnostics
    assert (found.code, found.mark.file, found.mark.column) == ("AIP101", "--set name=[1, 2", 12)


def test_assignment_is_split_at_the_first_equals_sign():
    assert parse_assignment("expect=[mfu >= 0.4]") == ("expect", "[mfu >= 0.4]")
    assert parse_assignment(" a.b[0].c-d = 1 ") == ("a.b[0].c-d", "1")


@pytest.mark.parametrize(
    ("text", "problem"),
    [("a", "no '='"), ("=1", "'' is not a path"), ("a b=1", "'a b'"), ("a[x]=1", "'a[x]'")],
)
def test_bad_assignment(text, problem):
    with pytest.raises(InputError) as caught:
        parse_assignment(text)
    (found,) = caught.value.diagnostics
    assert (found.code, found.mark.file) == ("AIP115", f"--set {text}")
    assert problem in found.problem


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1", ["1"]),
        ("a, b,c", ["a", "b", "c"]),
        ("[1,2],{a: 1, b: 2},'x,y',\"p,q\"", ["[1,2]", "{a: 1, b: 2}", "'x,y'", '"p,q"']),
        ("64..1024:x2", ["64", "128", "256", "512", "1024"]),
        ("64..1000:x2", ["64", "128", "256", "512"]),
        ("0..100:+25", ["0", "25", "50", "75", "100"]),
        ("0..0.3:+0.1", ["0", "0.1", "0.2", "0.3"]),
        ("-2..2:+2", ["-2", "0", "2"]),
        ("8..8:x2", ["8"]),
        ("1..4:x1.5", ["1", "1.5", "2.25", "3.375"]),
        ("1,2..8:x2,5", ["1", "2", "4", "8", "5"]),
        ("100..400 Gb/s:x2", ["100 Gb/s", "200 Gb/s", "400 Gb/s"]),
        ("100 Gb/s..400 Gb/s:x2", ["100 Gb/s", "200 Gb/s", "400 Gb/s"]),
        ("100 Gb/s .. 400 Gb/s : x2", ["100 Gb/s", "200 Gb/s", "400 Gb/s"]),
        ("10..30 min:+10 min", ["10 min", "20 min", "30 min"]),
        ("1B..16B:x4", ["1B", "4B", "16B"]),
        ("1_000..2_000:+500", ["1000", "1500", "2000"]),
        ("../a.yaml,../b.yaml", ["../a.yaml", "../b.yaml"]),
        ("'1 .. 2 USD/h'", ["'1 .. 2 USD/h'"]),
    ],
)
def test_variation(text, values):
    assert parse_variation(f"a.b={text}") == ("a.b", values)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "a value is missing"),
        ("1,,2", "a value is missing"),
        ("1,", "a value is missing"),
        ("64..1024", "not a range with a step"),
        ("64..1024:2", "not a range with a step"),
        ("64..1024:*2", "not a range with a step"),
        ("64..1024:x1", "needs a factor above 1"),
        ("64..1024:x0.5", "needs a factor above 1"),
        ("0..8:x2", "needs a start above 0"),
        ("0..8:+0", "needs a step above 0"),
        ("0..8:+-1", "needs a step above 0"),
        ("8..4:+1", "runs downwards"),
        ("100 Gb/s..1 Tb/s:x2", "units in '100 Gb/s..1 Tb/s:x2' differ"),
        ("0..10 min:+30 s", "differ"),
        ("1..4 s:x2 s", "differ"),
        ("0..1e9:+1", "more than 10,000 values"),
        ("0..9999:+1,1,2", "more than 10,000 values"),
        ("1e30..2e30:+1e-9", "more than 10,000 values"),
    ],
)
def test_bad_variation(text, problem):
    with pytest.raises(InputError) as caught:
        parse_variation(f"a={text}")
    (found,) = caught.value.diagnostics
    assert (found.code, found.mark.file) == ("AIP115", f"--vary a={text}")
    assert problem in found.problem
    assert found.hint
    assert str(caught.value)


@given(st.text(alphabet="ab=.,[]{}'\"0123456789x+:- e", max_size=25))
def test_any_option_text_is_understood_or_refused(text):
    refusals = [refusal_of(parse_assignment, text), refusal_of(parse_variation, text)]
    for found in (found for refusal in refusals if refusal for found in refusal.diagnostics):
        assert found.code == "AIP115"
        assert found.mark.column >= 1
    refusal = refusal_of(set_value, read(TREE, "f"), text, text, Diagnostics())
    assert refusal is None or str(refusal)


@given(st.integers(1, 50), st.integers(0, 500), st.integers(1, 50))
def test_arithmetic_range_is_pythons_range(start, length, step):
    _, values = parse_variation(f"a={start}..{start + length}:+{step}")
    assert [int(value) for value in values] == list(range(start, start + length + 1, step))
