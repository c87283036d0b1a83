"""Whatever scenarios, policies and saved results hold: exit code 0, 1 or 2, words instead of a traceback, bounded time."""

import json
import random
import re
from xml.etree import ElementTree as ET

import pytest
from jsonschema import Draft7Validator

from aiplan.report.schemas import schema_of
from tests.guard.test_guard_diff import SAVED

PIECES = (
    b"",
    b"null",
    b"true",
    b"-1",
    b"0",
    b"1e400",
    b"9" * 400,
    b".nan",
    b"[]",
    b"{}",
    b"[[[[[[",
    b"&a [*a, *a]",
    b"!!python/object:os.system x",
    b"'",
    b'"',
    b": ",
    b"\t",
    b"\x00",
    b"\xff",
    "\u2028\u202e\ufeff".encode(),
    b"<<<<<<< ours\n",
    b"fits",
    b"memory <= 1e999 %",
    b"mfu >= -0 %",
    b"cost <= 0 USD",
    b"%0A::error::",
    b"]]>",
    b"**/" * 40,
)
TOKEN = re.compile(rb"[A-Za-z0-9_.%<>=/*-]+|.", re.DOTALL)


def mutated(text, rng):
    """Replace, drop, double or swap a few tokens of a text."""
    tokens = TOKEN.findall(text)
    for _ in range(rng.randint(1, 4)):
        at, other = rng.randrange(len(tokens)), rng.randrange(len(tokens))
        kind = rng.randrange(5)
        if kind == 0:
            tokens[at] = rng.choice(PIECES)
        elif kind == 1:
            tokens[at] = b""
        elif kind == 2:
            tokens[at] = tokens[at] * 2
        elif kind == 3:
            tokens[at], tokens[other] = tokens[other], tokens[at]
        else:
            tokens[at] = tokens[other]
    return b"".join(tokens)


def sound(done):
    assert done.code in {0, 1, 2}, done.err
    assert "internal error" not in done.err
    assert "Traceback" not in done.err
    return done


@pytest.mark.parametrize("seed", range(60))
def test_scenarios(seed, run, folder):
    rng = random.Random(seed)  # noqa: S311 - a test
    name = rng.choice(["clusters/good.yaml", "clusters/late.yaml", "clusters/research/odd.yaml", "whole.yaml"])
    (folder / "x.yaml").write_bytes(mutated((folder / name).read_bytes(), rng))
    form = rng.choice(["table", "json", "github", "junit", "sarif", "markdown", "csv"])
    done = sound(run("check", "x.yaml", "--policy", "policy.yaml", "--format", form))
    if form in {"json", "sarif"}:
        json.loads(done.out)
    if form == "junit":
        ET.fromstring(done.out)  # noqa: S314 - what we have written ourselves


@pytest.mark.parametrize("seed", range(60))
def test_policies(seed, run, folder):
    rng = random.Random(seed)  # noqa: S311 - a test
    (folder / "p.yaml").write_bytes(mutated((folder / "policy.yaml").read_bytes(), rng))
    sound(run("check", "clusters/good.yaml", "clusters/research", "--policy", "p.yaml"))


VALUES = (None, True, -1, 0, 1e308, 10**400, "x", "", [], {}, [None], {"a": 1}, float("nan"), float("inf"))


def places(node, path=()):
    """Yield the path of everything in a document."""
    inside = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in inside:
        yield (*path, key)
        yield from places(value, (*path, key))


def changed(content, rng):
    """Put other values in a few places of a document, or take them out."""
    for _ in range(rng.randint(1, 3)):
        *path, last = rng.choice(list(places(content)))
        node = content
        for key in path:
            node = node[key]
        if rng.random() < 0.3:
            del node[last]
        else:
            node[last] = rng.choice(VALUES)
    return content


@pytest.mark.parametrize("seed", range(60))
def test_saved_results(seed, run, folder):
    rng = random.Random(seed)  # noqa: S311 - a test
    content = json.loads((SAVED / rng.choice(["good.json", "whole.json"])).read_text(encoding="utf-8"))
    (folder / "x.json").write_text(json.dumps(changed(content, rng)), encoding="utf-8")
    form = rng.choice(["table", "json", "markdown", "csv", "plain"])
    done = sound(run("diff", "x.json", "clusters/good.yaml", "--format", form, "--threshold", "1%"))
    if form == "json" and done.code == 0:
        Draft7Validator(schema_of("result")).validate(json.loads(done.out))


def test_a_very_large_file_is_refused(run, folder):
    (folder / "big.yaml").write_bytes(b"workload: 1\n# " + b"x" * 30_000_000)
    assert sound(run("check", "big.yaml")).code == 2
