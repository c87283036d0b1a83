"""Lines of nccl-tests and rccl-tests output: rows of figures, headings, and what names operation and ranks.

A row is told by its form alone, so that launchers' tags, remarks between rows, a lost or an added `#`, and tables
without a heading do no harm. Layouts differ by version: columns for reduction and root may be missing, the last column
of each half is `error`, `#wrong` or absent, and newer versions add columns.
"""

from __future__ import annotations

import re
from typing import NamedTuple

TAG = re.compile(r"\[\d+(?:,\d+)?\](?:<std(?:out|err|diag)>:)?")
"""Rank tags of mpirun and of NCCL, which can stand in the middle of a row when processes share a pipe."""
LABEL = re.compile(r"^\s*(?:\d+:|[\w.-]+:(?=\s)|\[[\w./-]+\]|\d{4}-\d\d-\d\dT[\d:.]+Z?)\s")
"""Labels of srun, pdsh and kubectl at the start of a line."""
MPI = re.compile(r"^\s*(?:\[\d+,\d+\]<std\w+>:\s?|\[\d+\] (?=[#\s\d]))")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
MOST_LABELS = 3
MOST_BEFORE_TYPE = 5
CLOCK = re.compile(r"^\[?(?:\d{4}-\d\d-\d\d(?:T.*)?|\d\d:\d\d:\d\d(?:[.,]\d+)?)\]?$")
GLUED = re.compile(r"(?<=\.\d\d)(?=\d+\.\d\d$)")
"""Where two figures with two decimals have run into each other."""
NUMBER = re.compile(r"([-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|nan|inf)(?:us|ms|s|[GMK]i?B/s)?")
REDUCTIONS = frozenset(("sum", "prod", "max", "min", "avg", "none", "mulsum", "premulsum"))
UNITS = {"ns": 1e9, "us": 1e6, "ms": 1e3, "s": 1.0}
"""How many make a second: dividing by them gives back what was written, to the last digit."""
RATES = {"GB/s": 1e9, "MB/s": 1e6, "GiB/s": 2.0**30, "Gb/s": 1.25e8}
PREFIXES = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}
UNKNOWN = "N/A"
CHECKS = frozenset(("#wrong", "error", "res"))
USUAL = ("time", "algbw", "busbw", "wrong")
LAYOUTS = ((USUAL, 2), ((*USUAL, "min", "max", "p99", "cv"), 2), (USUAL, 1), (USUAL[:3], 2), (USUAL[:3], 1))
"""Columns of a half and number of halves where there is no heading, the usual first."""
NAMES = {
    "all_reduce": "all_reduce",
    "allreduce": "all_reduce",
    "all_gather": "all_gather",
    "allgather": "all_gather",
    "reduce_scatter": "reduce_scatter",
    "reducescatter": "reduce_scatter",
    "alltoall": "all_to_all",
    "all_to_all": "all_to_all",
    "broadcast": "broadcast",
    "reduce": "reduce",
    "sendrecv": "send_recv",
    "send_recv": "send_recv",
    "gather": "gather",
    "scatter": "scatter",
}
NAME = re.compile(rf"(?<![a-z])({'|'.join(sorted(NAMES, key=len, reverse=True))})(?![a-z])")


WIDTHS = {
    "char": 1,
    "int8": 1,
    "uint8": 1,
    "half": 2,
    "float16": 2,
    "fp16": 2,
    "bfloat16": 2,
    "bf16": 2,
    "int32": 4,
    "int": 4,
    "uint32": 4,
    "float": 4,
    "float32": 4,
    "fp32": 4,
    "int64": 8,
    "uint64": 8,
    "double": 8,
    "float64": 8,
    "fp64": 8,
    "fp8_e4m3": 1,
    "fp8_e5m2": 1,
    "f8e4m3": 1,
    "f8e5m2": 1,
    "float8_e4m3": 1,
    "float8_e5m2": 1,
}
"""Bytes of the types that rows can name."""


class Half(NamedTuple):
    """One half of a row, out of place or in place, in SI units; `wrong` is None where results were not checked."""

    time: float
    algbw: float
    busbw: float
    wrong: float | None


class Row(NamedTuple):
    """One row as printed: out of place first, then in place; `extra` are cells that stand before the size."""

    line: int
    size: int
    elements: int | None
    dtype: str
    reduction: str
    root: int | None
    halves: tuple[Half | None, ...]
    extra: tuple[str, ...] = ()

    @property
    def known(self) -> list[Half]:
        """The halves that were measured."""
        return [half for half in self.halves if half is not None]

    @property
    def best(self) -> Half:
        """The faster half."""
        return min(self.known, key=lambda half: half.time)


class Heading(NamedTuple):
    """What a heading says: cells before the size, whether there is a count, the columns of a half, and units."""

    extra: int = 0
    counted: bool = True
    columns: tuple[str, ...] = ()
    reduction: bool = False
    time: float = 1e6
    rate: float = 1e9


def plain(line: str) -> str:
    """Return a line without colours, and without what launchers put before it, one inside the other."""
    text = COLOUR.sub("", line)
    for _ in range(MOST_LABELS):
        shorter = MPI.sub("", text, count=1)
        shorter = LABEL.sub("", shorter, count=1)
        if shorter == text:
            break
        text = shorter
    return text.replace("|", " ") if text.lstrip().startswith("|") else text


def heading_of(text: str) -> Heading | None:
    """Return what the line of column names says, or None if the line is no such line."""
    bare = [name.partition("(")[0].lower() for name in text.lstrip("# ").split()]
    bare = [name for name in bare if name != "timestamp"]
    start = next((index for index, name in enumerate(bare) if name in {"size", "bytes"}), None)
    if start is None or "time" not in bare or "algbw" not in bare:
        return None
    first = bare.index("time")
    again = bare.index("time", first + 1) if "time" in bare[first + 1 :] else len(bare)
    old = bare[start] == "bytes"  # the first version printed milliseconds under these names
    found = Heading(
        extra=start,
        counted=any(name in {"count", "n", "elems", "elements"} for name in bare[start + 1 : first]),
        columns=tuple("wrong" if name in CHECKS else name for name in bare[first:again]),
        reduction=any(name in {"redop", "op"} for name in bare[:first]),
        time=1e3 if old else 1e6,
    )
    return with_units(found, text)


def with_units(heading: Heading, text: str) -> Heading:
    """Return a heading with the units that a line states in brackets."""
    stated = re.findall(r"\(([A-Za-z/]+)\)", text)
    time = next((UNITS[unit] for unit in stated if unit in UNITS), heading.time)
    rate = next((RATES[unit] for unit in stated if unit in RATES), heading.rate)
    return heading._replace(time=time, rate=rate)


def is_units(text: str) -> bool:
    """Return whether a line gives nothing but units."""
    return bool(re.fullmatch(r"[#\s]*(?:\([A-Za-z/]+\)\s*){3,}", text))


def looks_like_row(text: str) -> bool:
    """Return whether a line begins like a row and holds figures: if it is none, something was lost."""
    return bool(re.match(r"^[#\s]*\d+\s+\d+\s+[a-z]\w*\s+.*\d", text)) and _type_in(text.split())


def row_of(text: str, line: int, heading: Heading) -> Row | None:
    """Return the row that a line holds, or None.

    Parameters
    ----------
    text : str
        The line without tags at its start.
    line : int
        Its number.
    heading : Heading
        What is known of the columns.
    """
    words = [part for word in TAG.sub(" ", text).lstrip("# \t").split() for part in GLUED.split(word)]
    words = [word for word in words if not CLOCK.match(word)]
    before = _before_size(words, heading)
    extra, words = tuple(words[:before]), words[before:]
    size = _size(words[0]) if words else None
    if size is None:
        return None
    count = int(words[1]) if heading.counted and len(words) > 1 and words[1].isdecimal() else None
    at = 1 if count is None else 2
    if heading.counted and count is None:
        return None
    dtype = words[at] if at < len(words) and words[at] in WIDTHS else ""
    at += bool(dtype)
    reduction = words[at] if at < len(words) and words[at] in REDUCTIONS else ""
    at += bool(reduction)
    if not dtype and not heading.columns:
        return None
    found = _halves(words[at:], heading)
    if found is None:
        return None
    root, halves = found
    return Row(line, size, count, dtype, reduction, root, halves, extra)


def _before_size(words: list[str], heading: Heading) -> int:
    """Return how many cells stand before the size: people put columns of their own there, under a heading or not."""
    place = next((index for index, word in enumerate(words[:MOST_BEFORE_TYPE]) if word in WIDTHS), None)
    return heading.extra if place is None else max(0, place - (2 if heading.counted else 1))


def _halves(words: list[str], heading: Heading) -> tuple[int | None, tuple[Half | None, ...]] | None:
    """Return the root and the halves of a row, from what stands behind type and reduction."""
    if not all(word == UNKNOWN or NUMBER.fullmatch(word) for word in words):
        return None
    layouts = [(heading.columns, 2), (heading.columns, 1)] if heading.columns else LAYOUTS
    for columns, halves in layouts:
        rooted = len(words) - halves * len(columns)
        if rooted in {0, 1}:
            return _cut(words, columns, heading, rooted=rooted)
    return None


def _cut(
    words: list[str], columns: tuple[str, ...], heading: Heading, *, rooted: int
) -> tuple[int | None, tuple[Half | None, ...]] | None:
    if rooted and not re.fullmatch(r"-?\d+", words[0]):
        return None
    width = len(columns)
    halves = tuple(
        _half(dict(zip(columns, words[start : start + width], strict=True)), heading)
        for start in range(rooted, len(words), width)
    )
    return (int(words[0]) if rooted else None, halves) if any(halves) else None


def _half(words: dict[str, str], heading: Heading) -> Half | None:
    """Return one half; None where its figures are not given."""
    time, algbw, busbw = (_figure(words.get(name, UNKNOWN)) for name in USUAL[:3])
    if time is None or algbw is None or busbw is None:
        return None
    return Half(time / heading.time, algbw * heading.rate, busbw * heading.rate, _figure(words.get("wrong", UNKNOWN)))


def _figure(word: str) -> float | None:
    found = NUMBER.fullmatch(word)
    return float(found[1]) if found and found[1] not in {"nan", "inf"} else None


def _size(word: str) -> int | None:
    found = re.fullmatch(r"(\d+)([KMG]?)(?:i?B)?", word)
    return int(found[1]) * PREFIXES[found[2]] if found else None


def _type_in(words: list[str]) -> bool:
    return any(word in WIDTHS for word in words[:6])


def named_operation(text: str) -> str | None:
    """Return the operation that a program's name in a line stands for, such as `all_reduce_perf`."""
    found = re.search(r"([a-z_]+?)_perf(?:_mpi)?\b", text)
    return NAMES.get(found[1].strip("_")) if found else None


def operation_in(name: str) -> str | None:
    """Return the operation that a file's name speaks of."""
    found = NAME.search(re.sub(r"[-\s]", "_", name.lower()).replace("all_to_all", "alltoall"))
    return NAMES[found[1]] if found else None
