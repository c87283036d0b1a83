"""What is asked about a collective, read from text: operation, sizes, algorithms, protocol, version of NCCL."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, NamedTuple

from aiplan.core.algorithms import OPERATIONS, algorithms_of
from aiplan.core.nccl_tables import NEWEST, PROTOCOLS, TUNINGS
from aiplan.declare import Diagnostics, Mark
from aiplan.planning.collective import ALL, AUTO
from aiplan.units import UnitError, parse_range

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiplan.planning.collective import Collective

MOST_SIZES = 200
LARGEST = 2**50
ALIASES = {
    "allreduce": "all-reduce",
    "allgather": "all-gather",
    "reducescatter": "reduce-scatter",
    "alltoall": "all-to-all",
    "sendrecv": "send-recv",
    "p2p": "send-recv",
}


class Request(NamedTuple):
    """A question about a collective."""

    operation: str
    sizes: tuple[int, ...]
    algorithms: tuple[str, ...]
    protocol: str
    version: tuple[int, int]


def read_request(
    operation: str, size: str, algorithm: str, protocol: str, version: str | None, diagnostics: Diagnostics
) -> Request | None:
    """Return the question; None, and everything that is wrong with it noted, if it cannot be read."""
    name = _operation(operation, diagnostics)
    sizes = _sizes(size, diagnostics)
    named = _algorithms(algorithm, name, diagnostics) if name else None
    protocol = protocol.lower()
    if protocol not in {AUTO, *PROTOCOLS}:
        _unknown("--protocol", protocol, "protocol", [AUTO, *PROTOCOLS], diagnostics)
    known = _version(version, diagnostics)
    if diagnostics.has_errors or name is None or sizes is None or named is None or known is None:
        return None
    return Request(name, sizes, named, protocol, known)


def _operation(text: str, diagnostics: Diagnostics) -> str | None:
    plain = text.lower().replace("_", "-").removesuffix("-perf")
    name = ALIASES.get(plain.replace("-", ""), plain)
    if name in OPERATIONS:
        return name
    _unknown("OPERATION", text, "operation", list(OPERATIONS), diagnostics)
    return None


def _algorithms(text: str, operation: str, diagnostics: Diagnostics) -> tuple[str, ...] | None:
    known = [AUTO, ALL, *(row.name for row in algorithms_of(operation))]
    names = tuple(name.strip().lower() for name in text.split(","))
    for name in names:
        if name not in known:
            _unknown("--algorithm", name, f"algorithm for {operation}", known, diagnostics)
    return None if diagnostics.has_errors else names


def _sizes(text: str, diagnostics: Diagnostics) -> tuple[int, ...] | None:
    """Return the sizes of a list of sizes and ranges; a range goes up by factors of two."""
    found: list[int] = []
    for part in text.split(","):
        try:
            low, high = parse_range(part, "data")
        except UnitError as problem:
            diagnostics.error(
                "AIP102", problem.problem, _mark("--size", text, diagnostics), hint="write e.g. 8B..8GiB or 1MiB,64MiB"
            )
            return None
        if not 1 <= low <= high <= LARGEST or round(low) != low:
            diagnostics.error(
                "AIP107",
                f"'{part.strip()}' is not a whole number of bytes from 1 B to 1 PiB",
                _mark("--size", text, diagnostics),
                hint="write e.g. 8B..8GiB",
            )
            return None
        found += [round(low) << power for power in range(64) if round(low) << power <= high]
    sizes = tuple(sorted(set(found)))
    if len(sizes) > MOST_SIZES:
        diagnostics.error("AIP107", f"{len(sizes)} sizes; at most {MOST_SIZES}", _mark("--size", text, diagnostics))
        return None
    return sizes


def _version(text: str | None, diagnostics: Diagnostics) -> tuple[int, int] | None:
    if text is None:
        return NEWEST
    match = re.fullmatch(r"(\d+)\.(\d+)(?:\.\d+)?", text.strip())
    version = (int(match[1]), int(match[2])) if match else (0, 0)
    oldest = TUNINGS[0].since
    if oldest <= version <= NEWEST:
        return version
    low, high = (".".join(map(str, end)) for end in (oldest, NEWEST))
    diagnostics.error(
        "AIP107",
        f"'{text}' is not a version of NCCL whose constants are known",
        _mark("--nccl", text, diagnostics),
        hint=f"write a version from {low} to {high}, such as 2.27",
    )
    return None


def _unknown(option: str, text: str, what: str, known: Sequence[str], diagnostics: Diagnostics) -> None:
    close = get_close_matches(text.lower(), known, n=2, cutoff=0.5)
    hint = f"did you mean {' or '.join(map(repr, close))}? " if close else ""
    mark = _mark(option, text, diagnostics) if option.startswith("--") else None
    diagnostics.error("AIP108", f"no {what} '{text}'", mark, hint=f"{hint}known: {', '.join(known)}")


def _mark(option: str, text: str, diagnostics: Diagnostics) -> Mark:
    diagnostics.sources[option] = text
    return Mark(option, 1, 1, len(text) + 1)


def refuse_if_nothing(answer: Collective, request: Request, diagnostics: Diagnostics) -> None:
    """Raise why none of the algorithms can be had, if there is none."""
    if answer.curves:
        return
    text = ",".join(request.algorithms)
    reasons = [f"{name}: {why}" for name, why in answer.left_out]
    diagnostics.error(
        "AIP203",
        f"none of the algorithms can be had here: {'; '.join(reasons) or f'none takes {request.protocol}'}",
        _mark("--algorithm", text, diagnostics),
        hint="'--algorithm all' shows those that can",
    )
    raise diagnostics.failure()
