"""Files broken at random: the fuzzer of benchmarks/fuzz_imports.py, a few of each kind; AIPLAN_FUZZ asks for more."""

import importlib.util
import os
import random
import signal
from pathlib import Path

import pytest

from aiplan.adapters.imports import registry
from aiplan.catalog.load import Catalog
from aiplan.declare import Diagnostics
from aiplan.planning.imports import import_files

PATH = Path(__file__).parents[2] / "benchmarks" / "fuzz_imports.py"
SPEC = importlib.util.spec_from_file_location("fuzz_imports", PATH)
fuzzer = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(fuzzer)
COUNT = int(os.environ.get("AIPLAN_FUZZ", "30"))


@pytest.fixture(scope="module")
def seeds():
    return fuzzer.seeds_of()


@pytest.fixture(scope="module")
def alarm():
    before = signal.signal(signal.SIGVTALRM, fuzzer._hang)
    yield
    signal.signal(signal.SIGVTALRM, before)


@pytest.mark.parametrize("kind", registry.names())
def test_mutants(kind, seeds, alarm):
    """Every kind has files to start from; none ends in an exception, hangs, or gives a zero in silence."""
    assert seeds[kind]
    found = fuzzer.fuzz(kind, seeds[kind], COUNT, 1, Catalog())
    assert found.failures == ()
    assert found.accepted < found.tried


def test_the_fuzzer_sees_what_it_looks_for(monkeypatch, seeds, alarm):
    """An exception, a zero and a slow import are each found."""
    kind, catalog = "deepspeed-json", Catalog()
    whole = import_files([seeds[kind][0]], Diagnostics())
    path, fact = next((path, fact) for path, fact in whole.facts.items() if fuzzer.COUNTS.fullmatch(path))
    zero = whole._replace(facts={path: fact._replace(value=0)})

    def broken(*_):
        raise KeyError(path)

    def slow(*_):
        while True:
            pass

    for outcome, said in ((broken, "KeyError"), (lambda *_: zero, "silent zero"), (slow, "hangs")):
        monkeypatch.setattr(fuzzer, "outcome", outcome)
        monkeypatch.setattr(fuzzer, "SLOW", 0.05)
        failures = fuzzer.fuzz(kind, seeds[kind], 1, 1, catalog).failures
        assert len(failures) == 1
        assert said in failures[0]


def test_a_mutant_can_be_made_again(seeds):
    data = seeds["hf-config"][0][1]
    first, second = (fuzzer.mutant(data, random.Random("a")) for _ in range(2))  # noqa: S311
    assert first == second != data
