"""The words and cells of a measured collective beside the predicted one, for table and Markdown alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.planning.shortfall import AS_PREDICTED, PARTS, SLOWER, as_if_ports
from aiplan.report.collective.wording import chosen, size
from aiplan.report.collective.wording import title as of_prediction
from aiplan.report.text import number, percent

if TYPE_CHECKING:
    from aiplan.planning.shortfall import Shortfall, Verdict

HEADINGS = ("size", "NCCL takes", "predicted", "measured", "busbw predicted", "busbw measured", "ratio", "")
KEY = (
    "Times; ratio is measured over predicted time. A word says that a well-run system is not as far off: 25 % below "
    "4 KiB, 60 % to 64 MiB, 25 % to 512 MiB, 12 % above, more where a caution says why."
)
NAMES = dict(zip(PARTS, ("small messages, where latency counts", "middle sizes", "large messages"), strict=True))


def title(answer: Verdict) -> str:
    """Return what was asked."""
    return of_prediction(answer.predicted)


def source(answer: Verdict) -> str:
    """Return where the measured times come from."""
    table = answer.table
    ranks = "" if table.ranks is None else f", {table.ranks:,} ranks"
    return f"measured  {table.file}:{table.line}{ranks}, {table.dtype}"


def rows(answer: Verdict) -> list[tuple[str, ...]]:
    """Return a row for every size."""
    predicted = answer.predicted
    choice, ratio = predicted.choice, answer.ratio
    buses = predicted.busbw(choice.time), predicted.busbw(answer.measured)
    return [
        (
            size(nbytes),
            chosen(choice.algorithm[at], choice.protocol[at]),
            number(float(choice.time[at]), "s"),
            number(float(answer.measured[at]), "s"),
            *(number(float(bus[at]), "B/s") for bus in buses),
            f"{float(ratio[at]):.2f}",
            "" if answer.words[at] == AS_PREDICTED else answer.words[at],
        )
        for at, nbytes in enumerate(predicted.sizes)
    ]


def verdict(answer: Verdict) -> str:
    """Return the answer in one sentence."""
    slow, count = answer.words.count(SLOWER), len(answer.predicted.sizes)
    several = "" if count == 1 else "s"
    counted = f"{slow} of {count} size{several} slower than a well-run system"
    return f"normal: {counted}" if answer.normal else f"falls short: {counted}"


def shortfalls(answer: Verdict) -> list[tuple[str, str]]:
    """Return where it falls short and by how much, and what large messages look like."""
    found = [(NAMES[one.part], _much(one)) for one in answer.shortfalls]
    ports = as_if_ports(answer)
    if ports is not None:
        found.append(("looks like", f"{ports} of {answer.predicted.machine.ports} network ports of a node in use"))
    return found


def _much(one: Shortfall) -> str:
    first, last = size(one.sizes[0]), size(one.sizes[-1])
    where = first if first == last else f"{first} to {last}"
    return f"{where}: up to {one.worst:.3g} times the predicted time, {percent(one.share)} of the bandwidth"


def causes(answer: Verdict) -> list[tuple[str, str, str]]:
    """Return the usual causes, how to look, and where that is described."""
    return [(cause.what, cause.look, cause.source) for cause in answer.causes]


def remarks(answer: Verdict) -> list[tuple[str, str]]:
    """Return what a reader should know beside the numbers."""
    predicted = answer.predicted
    found = [("log", text) for text in answer.remarks]
    found += [("assumed", f"{item.name}: {item.why}") for item in predicted.assumptions]
    return [*found, *(("caution", why) for why in predicted.cautions)]
