"""Lines left out of an output: what is shown is compared, and found again where the output has changed."""

import importlib.util
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

_SPEC = importlib.util.spec_from_file_location(
    "docs_elision", Path(__file__).resolve().parents[2] / "docs" / "elision.py"
)
elision = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(elision)

PRINTED = ["head", "", "  alpha    1.0 s", "  beta     2.0 s", "  gamma    3.0 s", "", "tail"]
ANEW = ["head", "  new", "  alpha    9.5 s", "  more     0.1 s", "  beta    12.0 s", "  gamma    3.0 s", "", "end"]


@pytest.mark.parametrize(
    ("shown", "right"),
    [
        (PRINTED, True),
        (PRINTED[:-1], False),
        ([*PRINTED[:-1], "…"], True),
        (["…", *PRINTED[1:]], True),
        (["…"], True),
        (["…", "  beta     2.0 s", "…"], True),
        (["head", "…", "tail"], True),
        (["head", "…", "  beta     2.0 s", "  gamma    3.0 s", "…", "tail"], True),
        (["  beta     2.0 s", "…"], False),
        (["…", "  beta     2.0 s"], False),
        (["…", "  beta     2.1 s", "…"], False),
        (["…", "  gamma    3.0 s", "…", "  beta     2.0 s", "…"], False),
        (["…", "  alpha    1.0 s", "  gamma    3.0 s", "…"], False),
        (["head", "…", "head", "…"], False),
    ],
)
def test_shows(shown, right):
    assert elision.shows(shown, PRINTED) is right


def test_parts_are_found_again():
    shown = ["…", "  alpha    1.0 s", "  beta     2.0 s", "…", "tail"]
    assert elision.refreshed(shown, [*ANEW[:-1], "tail"]) == [
        "…",
        "  alpha    9.5 s",
        "  more     0.1 s",
        "  beta    12.0 s",
        "…",
        "tail",
    ]


def test_a_line_that_has_gone_is_told():
    with pytest.raises(elision.NotFoundError, match="omega"):
        elision.refreshed(["…", "  omega of the old output    1.0 s", "…"], ANEW)


def test_without_gaps_all_is_shown():
    assert elision.refreshed(PRINTED, ANEW) == ANEW


@given(
    printed=st.lists(st.sampled_from(["", "a 1", "a 2", "b"]), min_size=1, max_size=9),
    cut=st.tuples(st.integers(0, 9), st.integers(0, 9)),
)
def test_what_is_cut_out_of_an_output_is_shown_by_it(printed, cut):
    start, end = sorted(min(place, len(printed)) for place in cut)
    shown = [*printed[:start], "…", *printed[end:]]
    assert elision.shows(shown, printed)
    assert elision.refreshed(shown, printed) == shown
