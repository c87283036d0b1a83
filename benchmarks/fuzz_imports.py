"""Importers against files that are broken at random: no exception but a clear error, no hang, no silent zero.

    python benchmarks/fuzz_imports.py                         # 200 of each kind
    python benchmarks/fuzz_imports.py nemo-yaml --n 10000 --seed 3
    python benchmarks/fuzz_imports.py --n 10000 --files my/configs   # more files to start from

Seeds are the files in tests/imports and the configurations in tests/data/hub_configs.json. Bytes, words, lines and the
structure of JSON are changed; times are those of the processor. Of what is accepted, every tenth goes on to an
estimate. What failed is printed with the seed that makes it again, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from aiplan.adapters.imports import registry
from aiplan.catalog.load import Catalog
from aiplan.declare import Diagnostics, InputError
from aiplan.planning.imported import scenario_of
from aiplan.planning.imports import Imported, import_files
from aiplan.scenario.files import Place

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
FILES, HUB = ROOT / "tests" / "imports" / "files", ROOT / "tests" / "data" / "hub_configs.json"
SLOW = 2.0
COUNTS = re.compile(
    r"model\.(?:layers|hidden|heads|kv_heads|head_dim|ffn|vocab|experts\.(?:count|top_k|ffn))"
    r"|plan\.(?:tensor|pipeline|context|expert|data|micro_batch|interleave|shards)"
    r"|workload\.(?:global_batch|sequence_length|tokens)|cluster\.(?:nodes|accelerators\w*)"
)
"""Fields in which a zero means nothing."""
WORDS = (
    *(b"null", b"-1", b"0", b"1e999", b'"x"', b"[]", b"{}", b"true", b"9" * 30, b"nan", b"0.5", b"auto", b"none"),
    *(b"&a ", b"*a", b"<<: *a", b"${X}", b"${a.b}", b"$((1/0))", b"\x00", b"\xff", b"\xe2\x80\xa8", b": ", b"\n", b","),
    *(b"--", b"#", b"'", b'"', b"\t", b"]", b"}", b"<", b"&x;", b"GPU0", b"NV18", b"PIX", b"!!int ", b"---\n"),
)
SETTINGS = tuple(
    (path, value, "--set")
    for path, value in (("cluster.node", "dgx-h100"), ("cluster.nodes", "2"), ("workload.sequence_length", "128"))
)


class Tally(NamedTuple):
    """What came of the mutants of a kind."""

    kind: str
    tried: int
    accepted: int
    estimated: int
    failures: tuple[str, ...]
    slowest: float
    seconds: float


class HangError(BaseException):
    """An import took too long; not an Exception, so that nothing catches it."""


def seeds_of(more: Path | None = None) -> dict[str, list[tuple[str, bytes]]]:
    """Return files to start from, by kind."""
    held = [(path.name, path.read_bytes()) for path in sorted(FILES.iterdir())]
    hub = json.loads(HUB.read_text(encoding="utf-8"))
    held += [(f"{name}.json", json.dumps(row["config"], indent=1).encode()) for name, row in hub.items()]
    if more is not None:
        held += [(path.name, path.read_bytes()) for path in sorted(more.rglob("*")) if path.is_file()]
    found: dict[str, list[tuple[str, bytes]]] = {name: [] for name in registry.names()}
    for name, data in held:
        try:
            kind = registry.detected(registry.open_document(data, name, Diagnostics()))
        except InputError:
            continue
        if kind is not None:
            found[kind.name].append((name, data[:40_000]))
    return found


def mutant(data: bytes, rng: random.Random) -> bytes:
    """Return a file with one to four things changed."""
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
        data = rng.choice(CHANGES)(data, rng)
    return data


def _bytes(data: bytes, rng: random.Random) -> bytes:
    at, width = rng.randrange(len(data) + 1), rng.randint(0, 30)
    piece = rng.choice((b"", bytes([rng.randrange(256)]), data[at : at + width] * 2))
    return data[:at] + piece + data[at + rng.choice((0, 1, width)) :]


def _word(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(WORDS) + data[at:]


def _token(data: bytes, rng: random.Random) -> bytes:
    """Put something else in place of a number or a word."""
    tokens = list(re.finditer(rb"-?\d[\d_.]*|[A-Za-z][\w.-]*", data))
    if not tokens:
        return data
    one, other = rng.choice(tokens), rng.choice(tokens)
    number = str(rng.choice((0, 1, 3, -2, 2**31, 10**18, 1.5))).encode()
    piece = rng.choice((other[0], number, rng.choice(WORDS)))
    return data[: one.start()] + piece + data[one.end() :]


def _lines(data: bytes, rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    how = rng.randrange(4)
    if how == 0:
        lines[one], lines[other] = lines[other], lines[one]
    elif how == 1:
        lines.insert(one, lines[other])
    elif how == 2:
        del lines[one]
    else:
        lines[one] = b" " * rng.randint(1, 4) + lines[one]
    return b"\n".join(lines)


def _structure(data: bytes, rng: random.Random) -> bytes:
    """Change the tree of a JSON file: drop, double, nest, empty or exchange a value."""
    try:
        root = json.loads(data)
    except (ValueError, RecursionError):
        return data
    places = list(_places(root))
    if not places:
        return data
    (holder, key), (other, at) = rng.choice(places), rng.choice(places)
    value = holder[key]
    holder[key] = rng.choice(([value], {"a": value}, None, [], {}, other[at], str(value), [value] * 300, -1, 0, ""))
    try:
        return json.dumps(root, indent=1).encode()
    except (ValueError, RecursionError):  # the value now holds itself
        return data


def _places(node: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every holder with a key, or the place in a list."""
    below = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
    for key in below:
        yield node, key
        yield from _places(node[key])


CHANGES = (_bytes, _word, _token, _token, _lines, _structure)


def outcome(name: str, data: bytes, kind: str | None) -> Imported | InputError:
    """Import a file that is said to be of a kind, or says itself what it is."""
    try:
        return import_files([(name, data)], Diagnostics(), kind)
    except InputError as refused:
        return refused


def wrong(found: Imported) -> str:
    """Return what is wrong with something that was accepted; empty if nothing is."""
    if found.total is not None and found.total <= 0:
        return "a network without parameters"
    zero = [path for path, fact in found.facts.items() if COUNTS.fullmatch(path) and fact.value in (0, None)]
    return f"silent zero: {', '.join(zero)}" if zero else ""


def fuzz(kind: str, seeds: list[tuple[str, bytes]], count: int, seed: int, catalog: Catalog) -> Tally:
    """Try so many mutants of a kind; one in eight is read as that kind whatever it looks like."""
    failures: list[str] = []
    accepted = estimated = 0
    slowest, began = 0.0, time.process_time()
    for number in range(count):
        rng = random.Random(f"{kind} {seed} {number}")  # noqa: S311  nothing is secret
        name, data = rng.choice(seeds)
        data = mutant(data, rng)
        forced = kind if rng.randrange(8) == 0 else None
        started = time.process_time()
        try:
            signal.setitimer(signal.ITIMER_VIRTUAL, 2 * SLOW)
            found = outcome(name, data, forced)
            problem = "" if isinstance(found, InputError) else wrong(found)
            if isinstance(found, InputError):
                str(found)
            else:
                accepted += 1
                if accepted % 10 == 0:
                    estimated += _estimated(found, name, catalog)
        except HangError:
            problem = "hangs"
        except Exception as fault:  # noqa: BLE001  any is a failure
            problem = f"{type(fault).__name__}: {fault}"
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        took = time.process_time() - started
        slowest = max(slowest, took)
        if took > SLOW and not problem:
            problem = f"took {took:.1f} s"
        if problem:
            failures.append(f"{name}, --seed {seed}, number {number}: {problem[:200]}")
    return Tally(kind, count, accepted, estimated, tuple(failures), slowest, time.process_time() - began)


def _estimated(found: Imported, name: str, catalog: Catalog) -> int:
    """Go on to a scenario; return 1 if there is one."""
    try:
        scenario = scenario_of(found, Place(name, Path(name)), catalog, Diagnostics(), SETTINGS)
    except InputError:
        return 0
    return int(scenario is not None)


def _hang(*_: object) -> None:
    raise HangError


def main(arguments: list[str] | None = None) -> int:
    """Run the importers that are named, or all of them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("kind", nargs="*", help="kinds of files; all if none is given")
    parser.add_argument("--n", type=int, default=200, help="mutants of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--files", type=Path, help="folder with more files to start from")
    asked = parser.parse_args(arguments)
    signal.signal(signal.SIGVTALRM, _hang)
    seeds, catalog = seeds_of(asked.files), Catalog()
    failed = Counter[str]()
    names = ("mutants", "accepted", "estimated", "failed", "slowest", "all")
    print(f"{'kind':<16} {'seeds':>5}", *(f"{name:>9}" for name in names))
    for kind in asked.kind or registry.names():
        found = fuzz(kind, seeds[kind], asked.n, asked.seed, catalog)
        failed[kind] = len(found.failures)
        counts = (found.tried, found.accepted, found.estimated, len(found.failures))
        times = (f"{seconds:>7.2f} s" for seconds in (found.slowest, found.seconds))
        print(f"{kind:<16} {len(seeds[kind]):>5}", *(f"{count:>9,}" for count in counts), *times, flush=True)
        for failure in found.failures[:10]:
            print(f"  {failure}")
    return int(failed.total() > 0)


if __name__ == "__main__":
    sys.exit(main())
