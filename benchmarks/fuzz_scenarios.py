"""Scenarios, policies and saved results made wrong: exit code 0, 1 or 2, no traceback, bounded time and memory.

    python benchmarks/fuzz_scenarios.py [COUNT] [SEED] [--keep FOLDER]

Every case is a function of the seed and its number, so that one can be made again. What goes wrong is printed with that
number, and its files are kept in FOLDER. A warning of Python counts as wrong, and so do JSON and XML that cannot be
read back.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.etree import ElementTree as ET

import yaml
from fuzzing.inprocess import Done, bound_memory, fault_of, run
from fuzzing.mutations import bytes_changed, fields_added, hostile, tokens_changed, tree_changed, written

from aiplan.report.schemas import schema_of

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parent.parent
GUARD = ROOT / "tests" / "guard"
SCENARIOS = (*sorted((ROOT / "scenarios").glob("*.yaml")), *sorted((GUARD / "files").rglob("*.yaml")))
FORMS = ("table", "plain", "json", "csv", "markdown", "github", "gitlab", "junit", "sarif")
__all__ = ["Done", "Random", "case", "fault_of", "texts", "unreadable"]
LONGEST = 300
"""Characters of a fault that are printed."""
USUAL = ("table", "plain", "json", "csv", "markdown")


class Case(NamedTuple):
    """A command, and what kind of case it is."""

    kind: str
    arguments: tuple[str, ...]
    form: str


class Texts(NamedTuple):
    """What is made wrong."""

    scenarios: tuple[bytes, ...]
    policy: bytes
    saved: tuple[Any, ...]
    schemas: dict[str, Any]


def texts() -> Texts:
    """Read the files that are made wrong."""
    scenarios = tuple(path.read_bytes() for path in SCENARIOS if b"\nworkload:" in path.read_bytes())
    saved = tuple(json.loads(path.read_bytes()) for path in sorted((GUARD / "saved").glob("*.json")))
    policy = (GUARD / "files" / "policy.yaml").read_bytes()
    return Texts(scenarios, policy, saved, {kind: schema_of(kind) for kind in ("scenario", "policy")})


def changed(text: bytes, schema: dict[str, Any], rng: Random) -> bytes:
    """Return a file made wrong in one of the ways there are."""
    kind = rng.choices(("tokens", "bytes", "tree", "fields", "hostile"), (4, 2, 3, 5, 1))[0]
    if kind == "tokens":
        return tokens_changed(text, rng)
    if kind == "bytes":
        return bytes_changed(text, rng)
    if kind == "hostile":
        return hostile(text, rng)
    content = yaml.safe_load(text)
    return written(tree_changed(content, rng) if kind == "tree" else fields_added(content, schema, rng), rng)


def case(number: int, seed: int, known: Texts) -> Case:
    """Write the files of a case into the folder that we are in, and return its command."""
    rng = Random(f"{seed}:{number}")  # noqa: S311  nothing here is secret
    kind = rng.choices(("scenario", "policy", "saved"), (7, 2, 1))[0]
    form = rng.choice(FORMS)
    if kind == "policy":
        _write("p.yaml", changed(known.policy, known.schemas["policy"], rng))
        return Case(kind, ("check", "good.yaml", "odd.yaml", "--policy", "p.yaml", "--format", form), form)
    if kind == "saved":
        form = rng.choice(USUAL)
        _write("x.json", written(tree_changed(rng.choice(known.saved), rng), rng))
        command = rng.choice((("diff", "x.json", "good.yaml"), ("check", "x.json", "--policy", "policy.yaml")))
        return Case(kind, (*command, "--format", form), form)
    before = rng.choice(known.scenarios)
    _write("x.yaml", changed(before, known.schemas["scenario"], rng))
    if rng.random() < 0.2:
        form = rng.choice(USUAL)
        command = rng.choice((("estimate", "x.yaml"), ("diff", "good.yaml", "x.yaml"), ("diff", "before", "after")))
        if command[1] == "before":
            _write("before/x.yaml", before)
            _write("after/x.yaml", Path("x.yaml").read_bytes())
        return Case(kind, (*command, "--format", form), form)
    return Case(kind, ("check", "x.yaml", "--policy", "policy.yaml", "--format", form), form)


def unreadable(form: str, done: Done) -> str:
    """Return what is wrong with a document, if it cannot be read back."""
    if done.fault or not done.out:
        return done.fault
    readers: dict[str, Callable[[str], object]] = {
        "json": json.loads,
        "gitlab": json.loads,
        "sarif": json.loads,
        "junit": ET.fromstring,
    }
    try:
        readers.get(form, str)(done.out)
    except (ValueError, ET.ParseError) as problem:
        return f"{form} cannot be read back: {problem}"
    return ""


def _write(name: str, content: bytes) -> None:
    Path(name).parent.mkdir(exist_ok=True)
    Path(name).write_bytes(content)


def _kept(keep: Path | None, number: int, folder: Path) -> None:
    if keep is not None:
        for path in (folder / name for name in ("x.yaml", "x.json", "p.yaml")):
            if path.exists():
                keep.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, keep / f"{number}-{path.name}")


def main() -> int:
    """Run all cases and print how they came out; exit code 1 if one came out wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", nargs="?", type=int, default=20_000)
    parser.add_argument("seed", nargs="?", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--keep", type=Path, help="folder for files that something goes wrong with")
    asked = parser.parse_args()
    keep = asked.keep.absolute() if asked.keep else None
    known, start = texts(), time.perf_counter()
    codes: Counter[tuple[str, int]] = Counter()
    slowest, largest, wrong = (0.0, -1), (0, -1), 0
    with tempfile.TemporaryDirectory() as top:
        folder = Path(top)
        os.chdir(folder)
        for name, path in (("good", "clusters/good"), ("odd", "clusters/research/odd"), ("policy", "policy")):
            shutil.copy(GUARD / "files" / f"{path}.yaml", folder / f"{name}.yaml")
        run("check", "good.yaml", "--policy", "policy.yaml")  # what is loaded once is not what a case needs
        bound_memory()
        for number in range(asked.first, asked.first + asked.count):
            for path in (folder / name for name in ("x.yaml", "x.json", "p.yaml")):
                path.unlink(missing_ok=True)
            one = case(number, asked.seed, known)
            done = run(*one.arguments)
            fault = unreadable(one.form, done)[:LONGEST]
            codes[one.kind, done.code] += 1
            slowest, largest = max(slowest, (done.seconds, number)), max(largest, (done.grown, number))
            if fault:
                wrong += 1
                print(f"case {number}: aiplan {' '.join(one.arguments)}: {fault}", flush=True)
                _kept(keep, number, folder)
        os.chdir(ROOT)
    print(f"{asked.count:,} cases of seed {asked.seed}, {wrong:,} wrong, {time.perf_counter() - start:,.0f} s")
    for (kind, code), count in sorted(codes.items()):
        print(f"  {kind:<9} exit {code}: {count:,}")
    print(f"  slowest {slowest[0]:.2f} s (case {slowest[1]}), most memory more {largest[0] / 2**20:.0f} MiB")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
