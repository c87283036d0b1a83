"""Files made wrong: tokens and bytes of a text, branches of a tree, and files that were never meant to be read."""

from __future__ import annotations

import copy
import json
import math
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from random import Random

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
    b"0755",
    b"2026-11-30",
    b"12:30:00",
    b"<<: {}",
    b"? [a]",
)
"""What a token is replaced by."""
TOKEN = re.compile(rb"[A-Za-z0-9_.%<>=/*-]+|.", re.DOTALL)
VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    -1,
    0,
    1,
    3,
    0.5,
    -0.0,
    2**31,
    2**63,
    10**18,
    10**30,
    10**400,
    5e-324,
    1e-300,
    1e18,
    1e308,
    "",
    "x",
    "0",
    "-1",
    "1e308 GB/s",
    "1e-308 s",
    "100 %",
    "0 %",
    "1e300 USD",
    "1e300 years",
    "../../etc/passwd",
    "/dev/zero",
    "a" * 5000,
    "\u202e\u0000".encode().decode(),
    "%0A::error::x",
    [],
    {},
    [None],
    [[[]]],
    {"a": 1},
    {"": {}},
)
"""What a value of a tree is replaced by."""
ENCODINGS = ("utf-16", "utf-16-le", "utf-32", "utf-7", "cp037")
WHOLE = (0, 1, 2, 3, 4, 8, 64, 1000, 2**20, 2**31, 2**62, 10**25)
NUMBERS = (1e-300, 1e-9, 0.1, 0.5, 1, 2, 1e3, 1e9, 1e300)
WORDS = ("auto", "none", "x", "dgx-h100", "h100-sxm", "ib-ndr", "vast-generic", "fits", "us-east")
FACTORS = (1e-300, 1e-30, 1e-6, 1e-3, 0.5, 1.5, 1e3, 1e6, 1e12, 1e30, 1e300)
QUANTITY = re.compile(r"([-+]?[0-9][0-9.eE+_-]*)(.*)", re.DOTALL)


def tokens_changed(text: bytes, rng: Random) -> bytes:
    """Replace, drop, double or swap a few tokens of a text."""
    tokens = TOKEN.findall(text)
    for _ in range(rng.randint(1, 4)):
        at, other = rng.randrange(len(tokens)), rng.randrange(len(tokens))
        before = tokens[at]
        tokens[at] = rng.choice((rng.choice(PIECES), b"", before * 2, tokens[other], tokens[other]))
        if rng.random() < 0.3:
            tokens[other] = before
    return b"".join(tokens)


def bytes_changed(text: bytes, rng: Random) -> bytes:
    """Flip, drop, insert, repeat or cut off bytes, or write the text in another encoding."""
    at, end = sorted(rng.randrange(len(text) + 1) for _ in range(2))
    changed: bytes = rng.choice(
        (
            lambda: text[:at] + rng.randbytes(rng.randint(1, 8)) + text[at:],
            lambda: text[:at] + text[end:],
            lambda: text[:at] + text[at:end] * rng.randint(2, 5) + text[end:],
            lambda: text[:at],
            lambda: text.decode("utf-8", "replace").encode(rng.choice(ENCODINGS), "replace"),
            lambda: text.replace(b"\n", rng.choice((b"\r\n", b"\r", b"\x85", b"\n\n", b" \n"))),
            lambda: b"".join(rng.sample(lines := text.splitlines(keepends=True), len(lines))),
            lambda: _flipped(text, rng),
        )
    )()
    return changed


def _flipped(text: bytes, rng: Random) -> bytes:
    changed = bytearray(text)
    for _ in range(rng.randint(1, 6)):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of everything in a document."""
    inside = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in inside:
        yield (*path, key)
        yield from places(value, (*path, key))


def tree_changed(content: Any, rng: Random) -> Any:
    """Return a document with a few values replaced, scaled, swapped or taken out."""
    found = copy.deepcopy(content)
    for _ in range(rng.randint(1, 3)):
        known = list(places(found))
        if not known:
            break
        *path, last = rng.choice(known)
        node = _at(found, path)
        kind = rng.randrange(5)
        if kind == 0:
            del node[last]
        elif kind == 1:
            node[last] = _scaled(node[last], rng)
        elif kind == 2:
            node[last] = copy.deepcopy(_at(found, rng.choice(known)))
        else:
            node[last] = rng.choice(VALUES)
    return found


def fields_added(content: Any, schema: dict[str, Any], rng: Random) -> Any:
    """Return a document with some fields that its schema knows, at values that are possible, odd or extreme."""
    found = copy.deepcopy(content)
    for _ in range(rng.choice((1, 1, 1, 2, 2, 5))):
        node, part = found, schema
        while True:
            name = rng.choice(list(part["properties"]))
            inside = _record(part["properties"][name], rng)
            if inside is None or rng.random() < 0.1:
                node[name] = sample(part["properties"][name], rng)
                break
            if not isinstance(node.get(name), dict):
                node[name] = {}
            node, part = node[name], inside
    return found


def sample(schema: dict[str, Any], rng: Random) -> Any:
    """Return a value that a schema accepts, or, now and then, one at the edge of what it accepts."""
    if "anyOf" in schema:
        return sample(rng.choice(schema["anyOf"]), rng)
    if "enum" in schema:
        return rng.choice(schema["enum"])
    if "examples" in schema:
        return _scaled(rng.choice(schema["examples"]), rng)
    least = schema.get("minimum", 0)
    made: dict[str | None, Callable[[], Any]] = {
        "object": lambda: _filled(schema, rng),
        "array": lambda: [sample(schema["items"], rng) for _ in range(rng.randrange(3))],
        "integer": lambda: max(least, rng.choice(WHOLE)),
        "number": lambda: rng.choice((least, *NUMBERS)),
        "boolean": lambda: rng.random() < 0.5,
    }
    return made.get(schema.get("type"), lambda: rng.choice(WORDS))()


def _filled(schema: dict[str, Any], rng: Random) -> dict[str, Any]:
    record = schema.get("properties", {})
    names = {name for name in record if rng.random() < 0.3} | set(schema.get("required", ()))
    return {name: sample(record[name], rng) for name in sorted(names)}


def written(content: Any, rng: Random) -> bytes:
    """Return a document as a file: now and then with a key given twice, or deep inside another one."""
    text = json.dumps(content)
    if rng.random() < 0.05:
        text = text.replace("{", '{"workload": {}, ', 1)
    if rng.random() < 0.02:
        depth = rng.choice([10, 49, 60, 5000])
        text = '{"cluster": ' + "[" * depth + text + "]" * depth + "}"
    return text.encode("utf-8", "surrogatepass")


def hostile(text: bytes, rng: Random) -> bytes:
    """Return a file that is there to break its reader: bombs, depth, length, noise."""
    made: Callable[[], bytes] = rng.choice(
        (
            lambda: _bomb(text),
            lambda: b"cluster: " + b"[" * rng.choice([60, 10_000]),
            lambda: b"cluster: " + b"{a: " * rng.choice([60, 10_000]),
            lambda: b"\n".join(b" " * depth + b"a:" for depth in range(2000)),
            lambda: b"workload: " + b"9" * rng.choice([5_000, 1_000_000]),
            lambda: b"workload: 1e" + b"9" * 1_000,
            lambda: b"model: " + b"x" * 1_000_000 + b"\n" + text,
            lambda: text + b"".join(b"k%d: 1\n" % index for index in range(rng.choice([100, 20_000]))),
            lambda: text + b"? " * 5_000,
            lambda: b"- " * 5_000 + text,
            lambda: bytes(rng.randrange(256) for _ in range(5_000)),
            lambda: b"workload:\n" + b"\x00" * 10_000,
            lambda: b"%YAML 9.9\n---\n" + text,
            lambda: text + b"\n---\n" + text,
            lambda: b"!!set {workload: x}\n" + text,
            lambda: text.replace(b": ", b": !!float ", 1),
            lambda: text.replace(b": ", b": |\n  ", 1),
            lambda: b"\xef\xbb\xbf" * 3 + text,
            lambda: b"workload: &a\n  b: *a\n",
            lambda: b"",
            lambda: b"workload",
        )
    )
    return made()


def _bomb(text: bytes) -> bytes:
    """Return a text before which aliases would grow to a billion values."""
    levels = [b"a%d: &a%d [%s]" % (level, level, b", ".join([b"*a%d" % (level - 1)] * 9)) for level in range(1, 10)]
    return b"\n".join((b"a0: &a0 [x, x, x, x, x, x, x, x, x]", *levels, text))


def _at(content: Any, path: tuple[Any, ...] | list[Any]) -> Any:
    for key in path:
        content = content[key]
    return content


def _scaled(value: Any, rng: Random) -> Any:
    """Return a number, or a number with a unit, times something."""
    factor = rng.choice(FACTORS)
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        scaled = min(value, 10**300) * factor
        return int(scaled) if 1 <= abs(scaled) < math.inf and rng.random() < 0.8 else scaled
    if isinstance(value, float):
        return value * factor
    match = QUANTITY.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        return value
    try:
        return f"{float(match[1]) * factor:g}{match[2]}"
    except ValueError:
        return value


def _record(schema: dict[str, Any], rng: Random) -> dict[str, Any] | None:
    """Return the record that a schema is of, or may be of."""
    if "properties" in schema:
        return schema
    inside = [found for part in schema.get("anyOf", ()) if (found := _record(part, rng)) is not None]
    return rng.choice(inside) if inside else None
