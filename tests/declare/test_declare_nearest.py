"""Names that may be meant by one that is not known."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiplan.declare.nearest import did_you_mean, nearest
from aiplan.scenario.files import library_ids

NAMES = st.lists(
    st.text(string.ascii_lowercase + string.digits + "-.", min_size=1, max_size=12), max_size=20, unique=True
)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("Llama3-70B", ["llama-3-70b"]),
        ("llama_3_70b", ["llama-3-70b"]),
        ("DeepSeekV3", ["deepseek-v3"]),
        ("mixtral8x7b", ["mixtral-8x7b"]),
        ("lama-3-70b", ["llama-3-70b"]),
        ("gpt3", ["gpt3-1.3b"]),
    ],
)
def test_what_people_type_for_a_model(typed, meant):
    assert nearest(typed, library_ids("models"))[: len(meant)] == meant


def test_a_name_that_holds_it():
    assert nearest("pvfs", ["beegfs", "orangefs-pvfs", "pvfs-chiba-city"])[:2] == ["pvfs-chiba-city", "orangefs-pvfs"]


def test_one_that_differs_in_case_only_is_meant_alone():
    assert nearest("B200", ["b200", "gb200", "h200"]) == ["b200"]
    assert did_you_mean("B200", ["b200", "gb200", "h200"]) == "did you mean 'b200'?"


@given(st.text(max_size=12), NAMES)
def test_nothing_but_known_names_and_each_once(typed, known):
    found = nearest(typed, known)
    assert len(found) == len(set(found)) <= 3
    assert set(found) <= set(known)
    assert did_you_mean(typed, known).count("'") >= 2 * len(found)


def test_nothing_near_is_no_question():
    assert did_you_mean("zzzzzz", ["llama-3-70b"]) == did_you_mean("", ["a"]) == did_you_mean("...", ["a"]) == ""
