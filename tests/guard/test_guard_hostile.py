"""Whatever scenarios, policies and saved results hold: exit code 0, 1 or 2, words instead of a traceback.

A few cases of each kind of `benchmarks/fuzz_scenarios.py`, which runs tens of thousands, with bounds on time and memory.
"""

import json
import shutil
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest
from jsonschema import Draft7Validator

from aiplan.report.schemas import schema_of

ROOT = Path(__file__).resolve().parents[2]
SEED, FEW = 20261130, 15


@pytest.fixture(scope="module")
def fuzz():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "benchmarks")
        yield import_module("fuzz_scenarios")


@pytest.fixture(scope="module")
def known(fuzz):
    return fuzz.texts()


@pytest.fixture(scope="module")
def judge():
    return Draft7Validator(schema_of("result"))


@pytest.mark.parametrize("part", range(12))
def test_cases(part, fuzz, known, judge, run, folder):
    shutil.copy("clusters/good.yaml", "good.yaml")
    shutil.copy("clusters/research/odd.yaml", "odd.yaml")
    codes = Counter()
    for number in range(part * FEW, (part + 1) * FEW):
        one = fuzz.case(number, SEED, known)
        done = run(*one.arguments)
        told = fuzz.unreadable(one.form, fuzz.Done(*done, 0.0, 0, fuzz.fault_of(*done)))
        assert told == "", f"case {number}: aiplan {' '.join(one.arguments)}"
        codes[done.code] += 1
        if one.form == "json" and done.out:
            judge.validate(json.loads(done.out))
    assert sum(codes.values()) == FEW


def test_a_case_can_be_made_again(fuzz, known, folder):
    made = []
    for _ in range(2):
        one = fuzz.case(7, 3, known)
        made.append((one, {path.name: path.read_bytes() for path in folder.glob("?.*")}))
    assert made[0] == made[1]


@pytest.mark.parametrize("name", ["tokens_changed", "bytes_changed", "hostile"])
def test_what_is_made_wrong_differs(name, fuzz, known):
    mutations = import_module("fuzzing.mutations")
    text = known.scenarios[0]
    made = {getattr(mutations, name)(text, fuzz.Random(seed)) for seed in range(40)}
    assert len(made) > 10
