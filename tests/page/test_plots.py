"""Curves as pictures and with plain characters: each value lies where it belongs, on a picture and on a terminal."""

import json
import math
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiplan.planning.evidence import published
from aiplan.planning.published import PublishedRun, origins_of, spreads
from aiplan.report.console import Look
from aiplan.report.graph import Axis, Even, Graph, Series
from aiplan.report.line_chart import line_chart
from aiplan.report.line_plot import HEIGHT, NOTHING, line_plot, with_plot
from aiplan.report.picture import FILE, PAGE, Entry, Picture, svg
from aiplan.report.stack import Bar, Stack, in_a_row, stacked
from aiplan.units import round_steps

SVG = "{http://www.w3.org/2000/svg}"
SMALL = b"""
model: {layers: 8, hidden: 1024, heads: 8, ffn: 4096, vocab: 32000}
workload: {sequence_length: 1024, global_batch: 32, tokens: 1e9}
cluster: {node: dgx-h100, nodes: 2}
plan: {tensor: 2}
"""
VALUES = st.lists(st.floats(1e-3, 1e6), min_size=2, max_size=12)


def graph(values, lowest=0.0, spread=Axis):
    places = tuple(float(2**at) for at in range(len(values)))
    series = Series("one", "a", tuple(values))
    texts = tuple(map(str, places))
    drawn = Graph("title", "subtitle", "heading [{unit}]", "1", places, texts, (series,))
    return drawn._replace(lowest=lowest, spread=spread, headroom=1.0)


def columns(drawn, mark):
    """Return row of the mark by column, the rows counted from below, of a plot with plain characters."""
    lines = [line.partition("|")[2] for line in drawn.splitlines()[1 : HEIGHT + 1]]
    return {
        column: HEIGHT - 1 - row for row, line in enumerate(lines) for column, cell in enumerate(line) if cell == mark
    }


@given(VALUES, st.booleans(), st.integers(40, 160))
@settings(max_examples=60)
def test_a_curve_begins_and_ends_at_its_values(values, logarithmic, width):
    lowest = min(values) / 2.0 if logarithmic else 0.0
    one = graph(values, lowest)
    drawn = line_plot(one, Look(width=width))
    found, up = columns(drawn, "a"), one.beside(0.0, HEIGHT - 1.0)
    assert max(map(len, drawn.splitlines())) <= width
    assert abs(found[0] - up.at(values[0])) <= 0.5 + 1e-9
    assert abs(found[max(found)] - up.at(values[-1])) <= 0.5 + 1e-9
    assert sorted(found) == list(range(max(found) + 1)), "a mark in every column"


@given(VALUES)
@settings(max_examples=60)
def test_a_picture_has_every_value_at_its_height(values):
    root = ET.fromstring(svg(line_chart(graph(values))))  # noqa: S314  our own text
    curve = next(node for node in root.iter(f"{SVG}polyline") if "series" in node.get("class"))
    heights = [float(point.split(",")[1]) for point in curve.get("points").split()]
    expected = [FILE.bottom - (FILE.bottom - FILE.top) * value / max(values) for value in values]
    assert heights == pytest.approx(expected, abs=0.06)


def test_gaps_are_bridged_and_ends_left_out():
    one = graph([math.nan, 1.0, math.nan, 3.0, math.nan])
    found = columns(line_plot(one, Look(width=80)), "a")
    assert min(found) > 0
    assert sorted(found) == list(range(min(found), max(found) + 1))


def test_a_curve_that_goes_below_the_lowest_value_is_cut_off_there():
    """On two logarithmic axes a power law is a straight line: 8 / x falls below 1 at 8, between two places."""
    places = (1.0, 4.0, 16.0, 64.0)
    one = Graph(
        "t", "s", "h", "1", places, tuple(map(str, places)), (Series("a", "a", (8.0, 2.0, 0.5, 0.125)),), lowest=1.0
    )
    across, up = one.below(0.0, 6.0), one.beside(0.0, 3.0)
    assert sum(one.points(one.over[0], across, up), ()) == pytest.approx((0.0, 3.0, 2.0, 1.0, 3.0, 0.0))
    rising = one._replace(over=(Series("a", "a", (0.125, 0.5, 2.0, 8.0)),))
    assert sum(rising.points(rising.over[0], across, up), ()) == pytest.approx((3.0, 0.0, 4.0, 1.0, 6.0, 3.0))


@pytest.mark.parametrize("values", [[math.nan, math.nan], [0.0, 0.0]])
def test_nothing_to_draw_is_no_plot(values):
    assert line_plot(graph(values), Look(width=80)) == ""
    assert "there is nothing to draw" in svg(line_chart(graph(values)))


@given(st.floats(1e-9, 1e18), st.sampled_from(["s", "B", "B/s", "FLOP/s", "USD", "%", "1"]), st.integers(2, 9))
def test_steps_are_even_and_few(top, unit, most):
    found = round_steps(top, unit, most)
    assert found[0] == 0.0
    assert len(found) <= most + 1
    assert found[-1] <= top * (1 + 1e-6)
    assert len(found) == 1 or found[-1] + 1.001 * found[1] > top, "the last step is the last that there is room for"
    gaps = [after - before for before, after in pairwise(found)]
    assert gaps == pytest.approx([found[-1] / max(len(gaps), 1)] * len(gaps))


@given(st.lists(st.floats(0.01, 100.0), min_size=1, max_size=8))
def test_bars_are_as_long_as_what_they_stand_for(values):
    pieces = in_a_row([(f"part {at}", value, f"c{at}") for at, value in enumerate(values)])
    assert [piece.start for piece in pieces] == pytest.approx([sum(values[:at]) for at in range(len(values))])
    picture = stacked(Stack("title", "text", "s", (Bar("one", pieces),)), PAGE)
    root = ET.fromstring(f"<svg>{''.join(picture.parts)}</svg>")  # noqa: S314  our own text
    widths = [float(node.get("width")) for node in root.iter("rect")]
    room = picture.frame.right - picture.frame.left
    assert widths == pytest.approx([max(room * value / sum(values), 0.5) for value in values], abs=0.11)


def test_text_of_users_in_a_picture_is_text():
    name = '<script>"x"</script> & \u05d0'
    picture = Picture(name, name, FILE, (), (Entry(name, "bound"),))
    root = ET.fromstring(svg(picture))  # noqa: S314  our own text
    assert root.get("aria-label") == name
    assert [node.text for node in root.iter(f"{SVG}text")] == [name] * 3


def test_axes_meet_their_ends():
    for kind in (Axis, Even):
        axis = kind(2.0, 32.0, 10.0, 50.0)
        assert (axis.at(2.0), axis.at(32.0)) == (10.0, 50.0)
    assert Axis(2.0, 32.0, 0.0, 4.0).at(8.0) == pytest.approx(2.0)
    assert Even(2.0, 32.0, 0.0, 3.0).at(12.0) == pytest.approx(1.0)


def test_every_source_of_runs_has_a_name_and_an_address():
    for one in origins_of(sorted(set(map(str, published().source)))):
        assert one.name
        assert one.address.startswith("https://")


def test_spread_of_a_source():
    runs = [PublishedRun(f"r{at}", "lab", 8, ratio) for at, ratio in enumerate((0.9, 1.2, 1.0))]
    assert spreads([*runs, PublishedRun("x", "other", 8, 2.0)]) == [
        ("lab", 3, 0.9, 1.0, 1.2),
        ("other", 1, 2.0, 2.0, 2.0),
    ]


def test_compare_over_one_field(run, folder):
    (folder / "small.yaml").write_bytes(SMALL)
    asked = ("compare", "small.yaml", "--vary", "workload.global_batch=128,32,64", "--width", "80")
    done = run(*asked, "--plot", "--svg", "plot.svg")
    assert (done.code, done.err) == (0, "wrote plot.svg\n")
    assert done.out.startswith(run(*asked).out)
    plot = done.out[len(run(*asked).out) :]
    narrow = run(*asked[:-1], "40", "--plot").out
    assert max(map(len, narrow.splitlines())) <= 40
    assert plot.splitlines()[1] == "result against that of global_batch=128 [%] over workload.global_batch"
    assert plot.splitlines()[-2].split() == ["32", "128"]
    root = ET.fromstring((folder / "plot.svg").read_text(encoding="utf-8"))  # noqa: S314  our own file
    curves = [node for node in root.iter(f"{SVG}polyline") if "series" in node.get("class")]
    ends = {curve.get("points").split()[-1] for curve in curves[:4]}
    assert len(ends) == 1, "every result is 100 % of itself at the first variant, here the last place"


@pytest.mark.parametrize(
    "asked", [["--vary", "plan.recompute=none,full"], ["--vary", "plan.tensor=1,2", "--vary", "cluster.nodes=1,2"]]
)
def test_no_curve_without_one_field_of_numbers(asked, run, folder):
    (folder / "small.yaml").write_bytes(SMALL)
    done = run("compare", "small.yaml", *asked, "--plot")
    assert (done.code, done.out) == (2, "")
    assert "one --vary over numbers" in done.err


def test_size_over_gpus(run, folder):
    """A deadline that the own plan of the scenario misses by a quarter."""
    wide = SMALL.replace(b"hidden: 1024, heads: 8, ffn: 4096", b"hidden: 4096, heads: 32, ffn: 16384")
    (folder / "small.yaml").write_bytes(wide.replace(b"batch: 32", b"batch: 256"))
    own = json.loads(run("estimate", "small.yaml", "--format", "json").out)["result"]["time_to_train_s"]
    asked = ("size", "small.yaml", "--plot", "--svg", "plot.svg", "--width", "80", "--deadline")
    done = run(*asked, f"{0.75 * own:.0f} s")
    assert (done.code, done.err) == (0, "wrote plot.svg\n")
    assert "\ntime to train over GPUs\n" in done.out
    assert "a NVIDIA DGX H100, - deadline, | answer: " in done.out
    root = ET.fromstring((folder / "plot.svg").read_text(encoding="utf-8"))  # noqa: S314  our own file
    assert sum("bound" in node.get("class") for node in root.iter(f"{SVG}polyline")) == 2


def test_search_over_memory(run, folder):
    (folder / "small.yaml").write_bytes(SMALL)
    done = run("search", "small.yaml", "--plot", "--svg", "plot.svg", "--width", "80")
    assert (done.code, done.err) == (0, "wrote plot.svg\n")
    assert "step time [ms] of the trade-offs over memory per GPU" in done.out
    root = ET.fromstring((folder / "plot.svg").read_text(encoding="utf-8"))  # noqa: S314  our own file
    curve = next(node for node in root.iter(f"{SVG}polyline") if "series" in node.get("class"))
    heights = [float(point.split(",")[1]) for point in curve.get("points").split()]
    assert heights == sorted(heights), "more memory is faster, and faster is lower: further down the picture"
    assert len(set(heights)) >= 2


def test_nothing_to_draw_is_said():
    one = graph([math.nan, math.nan])
    assert with_plot("text\n", one, Look(width=80)) == f"text\n\n{NOTHING}"
