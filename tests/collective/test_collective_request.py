"""Sizes and names as people write them."""

import pytest

from aiplan.declare import Diagnostics
from aiplan.planning.collective_request import read_request


def ask(operation="all-reduce", size="1KiB", algorithm="auto", protocol="auto", version=None):
    diagnostics = Diagnostics()
    return read_request(operation, size, algorithm, protocol, version, diagnostics), diagnostics


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("8B..64B", (8, 16, 32, 64)),
        ("8B..63B", (8, 16, 32)),
        ("3 kB..13 kB", (3000, 6000, 12000)),
        ("1MiB,64MiB", (2**20, 2**26)),
        ("4 .. 8 KiB, 1KiB, 4KiB", (1024, 4096, 8192)),
        ("7B", (7,)),
    ],
)
def test_sizes(text, sizes):
    assert ask(size=text)[0].sizes == sizes


@pytest.mark.parametrize("text", ["", "8", "8..16", "1GiB..1MiB", "0.3B", "0B", "2PiB", "1MB,,2MB", "eight", "-8B"])
def test_sizes_that_are_none(text):
    request, diagnostics = ask(size=text)
    assert request is None
    assert {item.code for item in diagnostics.items} <= {"AIP102", "AIP107"}
    assert diagnostics.has_errors


@pytest.mark.parametrize("text", ["all_reduce", "allreduce", "All-Reduce", "all_reduce_perf", "ALLREDUCE"])
def test_names_of_an_operation(text):
    assert ask(operation=text)[0].operation == "all-reduce"


def test_all_that_is_wrong_is_said_at_once():
    request, diagnostics = ask("nothing", "x", "ring", "fast", "1.0")
    assert request is None
    assert [item.code for item in diagnostics.items] == ["AIP108", "AIP102", "AIP108", "AIP107"]


def test_version():
    assert ask(version="2.27.3")[0].version == (2, 27)
    assert ask(version=None)[0].version == (2, 30)
    assert ask(version="2.5")[0] is None
