"""How gradients are communicated: the text of a compression, and the numbers the engine needs for it."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, NamedTuple

from aiplan.core.choices import ALL_REDUCES, AUTO, HALVES
from aiplan.core.compression import ALL_GATHER, ALL_REDUCE, ALL_TO_ALL, METHODS, Method
from aiplan.scenario.cautions import Caution
from aiplan.scenario.legality import Fault
from aiplan.scenario.pieces import piece_values
from aiplan.scenario.values import Value, derived, from_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.scenario.records import Communication
    from aiplan.scenario.resolve import Parts

OFFERED = tuple(method.form for name, method in METHODS.items() if name != "signsgd")
EXAMPLES = ("none", "fp16", "bf16", "fp8", "int8", "topk-1%", "randomk-1%", "powersgd-r4", "1bit")
PATH = "communication.compression"
LATE = "communication.late_precision.compression"
INSIDE = "communication.reduce_inside_every"
LEVELS = (AUTO, "hierarchical")
SHARDED_GRADIENTS = 2
_SPARSE = r"(topk|randomk)-([0-9]*\.?[0-9]+)(%?)"
_LOW_RANK = r"(powersgd)-r([1-9][0-9]*)"


class Compression(NamedTuple):
    """A method with its parameter: the share of values sent, or the rank of the factors."""

    method: Method
    share: float = 1.0
    rank: int = 0


def read_compression(text: str) -> Compression | None:
    """Return the compression that a text such as `topk-1%` or `powersgd-r4` means; None if it means none."""
    if text in METHODS and text in OFFERED:
        return Compression(METHODS[text])
    if sparse := re.fullmatch(_SPARSE, text):
        share = float(sparse[2]) / (100.0 if sparse[3] else 1.0)
        return Compression(METHODS[sparse[1]], share=share) if 0.0 < share <= 1.0 else None
    if low_rank := re.fullmatch(_LOW_RANK, text):
        return Compression(METHODS[low_rank[1]], rank=int(low_rank[2]))
    return None


def unknown(compression: str, path: str) -> Iterator[Fault]:
    """Yield that a text names no compression; it needs nothing else of the scenario to be sound."""
    if read_compression(compression) is None:
        yield Fault("AIP108", f"'{compression}' is no compression of gradients", path, _meant(compression))


def check(wanted: Communication, zero: float) -> Iterator[Fault]:
    """Yield what of a communication the sharding of states forbids."""
    yield from _check_method(wanted.compression, PATH, zero)
    if wanted.late_precision is not None:
        yield from _check_method(wanted.late_precision.compression, LATE, zero)
    if wanted.reduce_every > 1 and zero >= 1:
        yield Fault(
            "AIP320",
            f"local steps need the whole optimizer on every rank, and ZeRO stage {zero:g} shards it",
            "communication.reduce_every",
            "reduce_every: 1, or plan.zero: 0",
        )
    yield from _check_levels(wanted)


def _check_method(text: str, path: str, zero: float) -> Iterator[Fault]:
    found = read_compression(text)
    if found is not None and found.method.whole and zero >= SHARDED_GRADIENTS:
        yield Fault(
            "AIP320",
            f"{text} needs the whole gradient on every rank, and ZeRO stage {zero:g} shards it",
            path,
            "none, fp16, bf16, fp8 and int8 go with every stage; the others with plan.zero of 0 or 1",
        )


def check_copies(wanted: Communication, shards: int | None) -> Iterator[Fault]:
    """Yield compressions that cannot be added up over copies of sharded states."""
    late = () if wanted.late_precision is None else ((wanted.late_precision.compression, LATE),)
    for text, path in ((wanted.compression, PATH), *late):
        found = read_compression(text)
        if shards is not None and found is not None and found.method.collective != ALL_REDUCE:
            yield Fault(
                "AIP323",
                f"{text} cannot be added up over the copies of the states: ranks exchange it by "
                f"{found.method.collective}",
                path,
                "none, fp16, bf16, fp8, randomk or powersgd, or no plan.shards",
            )


def _check_levels(wanted: Communication) -> Iterator[Fault]:
    """Yield why reductions inside the nodes cannot be more frequent than between them."""
    inside, every = wanted.reduce_inside_every, wanted.reduce_every
    if inside is None:
        return
    if inside >= every or every % inside:
        yield Fault(
            "AIP107",
            f"reduce_inside_every {inside} with reduce_every {every}: nodes reduce more often than all together, "
            "and whenever all do",
            INSIDE,
            f"reduce_every of {2 * inside}, {4 * inside} or another multiple of {inside}",
        )
    if wanted.all_reduce not in LEVELS:
        yield Fault(
            "AIP323",
            f"{wanted.all_reduce} does not reduce in two levels, inside the nodes and between them",
            INSIDE,
            f"communication.all_reduce: {' or '.join(LEVELS)}",
        )
    late = () if wanted.late_precision is None else ((wanted.late_precision.compression, LATE),)
    for text, path in ((wanted.compression, PATH), *late):
        found = read_compression(text)
        if found is not None and found.method.collective != ALL_REDUCE:
            yield Fault(
                "AIP323",
                f"{text} cannot be added up level by level: ranks exchange it by {found.method.collective}",
                path,
                "none, fp16, bf16, fp8, randomk or powersgd, or no communication.reduce_inside_every",
            )


def cautions(wanted: Communication, zero: float) -> Iterator[Caution]:
    """Yield what of a communication has no effect, and that what it does to the training itself is not modelled."""
    if zero >= 1 and wanted.all_reduce not in HALVES:
        yield Caution(
            "AIP322",
            "communication.all_reduce",
            f"ZeRO stage {zero:g} reduces by reduce-scatter and all-gather, which {wanted.all_reduce} has not: rings",
            f"{', '.join(HALVES)}, or plan.zero: 0",
        )
    late = wanted.late_precision
    if late is not None and late.compression == wanted.compression:
        yield Caution("AIP322", LATE, f"gradients are sent as {late.compression} before as well", "leave it out")
    narrowed = late is not None and late.compression != "none"
    if wanted.compression != "none" or narrowed:
        yield Caution(
            "AIP321",
            PATH if wanted.compression != "none" else LATE,
            "what compression does to accuracy and convergence is outside the model",
            "the estimate takes as many steps as without, and codes at the rate of memory unless coding_rate says else",
        )
    if wanted.reduce_every > 1:
        yield Caution(
            "AIP321",
            "communication.reduce_every",
            "what local steps do to accuracy and convergence is outside the model",
            "the estimate takes as many steps as without",
        )


def communication_values(parts: Parts, gradient: Value) -> dict[str, Value]:
    """Return the numbers of a communication, in the last part of a training for the names that begin with `late`."""
    wanted, origins = parts.file.communication, parts.origins
    late = wanted.late_precision
    common = {
        "all_reduce": from_file(ALL_REDUCES.index(wanted.all_reduce), origins, "communication.all_reduce"),
        "reduce_every": from_file(wanted.reduce_every, origins, "communication.reduce_every"),
        "inside_every": derived(0, "as often as between nodes")
        if wanted.reduce_inside_every is None
        else from_file(wanted.reduce_inside_every, origins, INSIDE),
        "late_share": derived(0, "gradients are sent in one form all the time")
        if late is None
        else Value(1.0 - late.after, from_file(0, origins, "communication.late_precision.after").origin),
        **piece_values(parts),
    }
    numbers = common | _method_values(parts, wanted.compression, PATH, gradient)
    named = {f"communication.{name}": value for name, value in numbers.items()}
    if late is None or late.after == 1:
        return named
    numbers = common | _method_values(parts, late.compression, LATE, gradient)
    return named | {f"late.{name}": value for name, value in numbers.items()}


def _method_values(parts: Parts, text: str, path: str, gradient: Value) -> dict[str, Value]:
    """Return the numbers of a method; compression to what gradients have anyway is none."""
    origins = parts.origins
    found = read_compression(text) or Compression(METHODS["none"])
    width = found.method.value_bytes
    narrower = width is None or width < gradient.number or found.rank > 0
    method = found.method if narrower else METHODS["none"]
    origin = from_file(0, origins, path).origin
    compresses = method is not METHODS["none"]
    measured = parts.file.communication.coding_rate if compresses else None

    def own(number: float) -> Value:
        return Value(float(number), origin)

    return {
        "value_bytes": gradient if method.value_bytes is None else own(method.value_bytes),
        "index_bytes": own(method.index_bytes),
        "density": own(found.share),
        "rank": own(found.rank),
        "gathers": own(method.collective == ALL_GATHER),
        "exchanges": own(method.collective == ALL_TO_ALL),
        "whole": own(method.whole),
        "passes": own(method.passes),
        "feedback": own(method.feedback),
        "compresses": own(compresses),
        "coding_rate": derived(float("inf"), "not measured: no bound but memory")
        if measured is None
        else from_file(measured, origins, "communication.coding_rate"),
    }


def _meant(text: str) -> str:
    close = difflib.get_close_matches(text.lower(), EXAMPLES, n=2, cutoff=0.5)
    meant = f"did you mean {' or '.join(repr(name) for name in close)}? " if close else ""
    return f"{meant}Choices: {', '.join(OFFERED)}; a share is above 0 and at most 100%"
