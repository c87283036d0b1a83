"""How gradients are communicated: the text of a compression, and the numbers the engine needs for it."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, NamedTuple

from aiplan.core.choices import ALL_REDUCES, HALVES
from aiplan.core.compression import ALL_GATHER, ALL_TO_ALL, METHODS, Method
from aiplan.scenario.cautions import Caution
from aiplan.scenario.legality import Fault
from aiplan.scenario.values import Value, derived, from_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.scenario.records import Communication
    from aiplan.scenario.resolve import Parts

OFFERED = tuple(method.form for name, method in METHODS.items() if name != "signsgd")
EXAMPLES = ("none", "fp16", "bf16", "fp8", "int8", "topk-1%", "randomk-1%", "powersgd-r4", "1bit")
PATH = "communication.compression"
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


def unknown(compression: str) -> Iterator[Fault]:
    """Yield that a text names no compression; it needs nothing else of the scenario to be sound."""
    if read_compression(compression) is None:
        yield Fault("AIP108", f"'{compression}' is no compression of gradients", PATH, _meant(compression))


def check(wanted: Communication, zero: float) -> Iterator[Fault]:
    """Yield what of a communication the sharding of states forbids."""
    found = read_compression(wanted.compression)
    if found is not None and found.method.whole and zero >= SHARDED_GRADIENTS:
        yield Fault(
            "AIP320",
            f"{wanted.compression} needs the whole gradient on every rank, and ZeRO stage {zero:g} shards it",
            PATH,
            "none, fp16, bf16, fp8 and int8 go with every stage; the others with plan.zero of 0 or 1",
        )
    if wanted.reduce_every > 1 and zero >= 1:
        yield Fault(
            "AIP320",
            f"local steps need the whole optimizer on every rank, and ZeRO stage {zero:g} shards it",
            "communication.reduce_every",
            "reduce_every: 1, or plan.zero: 0",
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
    if wanted.compression != "none":
        yield Caution(
            "AIP321",
            PATH,
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
    """Return the numbers of a communication; compression to what gradients have anyway is none."""
    wanted, origins = parts.file.communication, parts.origins
    found = read_compression(wanted.compression) or Compression(METHODS["none"])
    width = found.method.value_bytes
    narrower = width is None or width < gradient.number or found.rank > 0
    method = found.method if narrower else METHODS["none"]
    origin = from_file(0, origins, PATH).origin
    compresses = method is not METHODS["none"]
    measured = wanted.coding_rate if compresses else None

    def own(number: float) -> Value:
        return Value(float(number), origin)

    return {
        "all_reduce": from_file(ALL_REDUCES.index(wanted.all_reduce), origins, "communication.all_reduce"),
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
        "reduce_every": from_file(wanted.reduce_every, origins, "communication.reduce_every"),
    }


def _meant(text: str) -> str:
    close = difflib.get_close_matches(text.lower(), EXAMPLES, n=2, cutoff=0.5)
    meant = f"did you mean {' or '.join(repr(name) for name in close)}? " if close else ""
    return f"{meant}Choices: {', '.join(OFFERED)}; a share is above 0 and at most 100%"
