"""The words and cells of a collective, for table, Markdown and plots alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.text import number, percent
from aiplan.units import quantity

if TYPE_CHECKING:
    from aiplan.planning.collective import Collective

HEADINGS = ("size", "NCCL takes", "time", "algbw", "busbw", "at least", "error")
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
NAMES = {"ll": "LL", "ll128": "LL128", "simple": "Simple"}
BROKEN = {"rabenseifner": "raben-\nseifner", "hierarchical": "hierar-\nchical"}
"""Long names, as headings."""
KEY = (
    "algbw is the full buffer over time, busbw that times {factor}, as nccl-tests define them. "
    "'at least' is what links, ports and steps dictate, whatever the algorithm. 'error' is the band of the time from "
    "formulas alone: on a healthy system, or where a caution says why it is wider."
)


def title(answer: Collective) -> str:
    """Return what was asked: operation, machine, version."""
    machine = answer.machine
    plural = "" if machine.ranks == 1 else "s"
    where = f"{machine.ranks:,} GPU{plural}, {machine.nodes:,} x {machine.node}"
    network = f" over {machine.network}" if machine.domains > 1 and machine.network else ""
    return f"{answer.operation}: {where}{network}, NCCL {'.'.join(map(str, answer.version))}"


def size(nbytes: float) -> str:
    """Return a size as nccl-tests users write it: 8 B, 64 KiB, 1 GiB."""
    whole, unit = int(nbytes), 0
    while whole and whole % 1024 == 0 and unit < len(_UNITS) - 1:
        whole, unit = whole // 1024, unit + 1
    return f"{whole} {_UNITS[unit]}" if whole < 10_000 else quantity(nbytes, "B")


def chosen(algorithm: str, protocol: str) -> str:
    """Return an algorithm and its protocol."""
    return f"{algorithm} {NAMES.get(protocol, protocol)}".strip()


def choices(answer: Collective) -> list[tuple[str, ...]]:
    """Return for every size what NCCL chooses, and what that gives."""
    choice = answer.choice
    algbw, busbw = answer.algbw(choice.time), answer.busbw(choice.time)
    return [
        (
            size(nbytes),
            chosen(choice.algorithm[at], choice.protocol[at]),
            number(float(choice.time[at]), "s"),
            number(float(algbw[at]), "B/s"),
            number(float(busbw[at]), "B/s"),
            number(float(answer.bound[at]), "s"),
            percent(float(answer.band[at])).replace(".0", ""),
        )
        for at, nbytes in enumerate(answer.sizes)
    ]


def algorithms(answer: Collective) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return headings and rows of the time of every algorithm; the fastest has an asterisk."""
    rows = [
        (
            size(nbytes),
            *(
                number(float(curve.time[at]), "s") + ("*" if curve.name == answer.best.algorithm[at] else "")
                for curve in answer.curves
            ),
        )
        for at, nbytes in enumerate(answer.sizes)
    ]
    names = (BROKEN.get(curve.name, curve.name.replace("-", "-\n")) for curve in answer.curves)
    return ("size", *names), rows


def crossovers(answer: Collective) -> list[str]:
    """Return where what NCCL takes changes."""
    return [f"from {size_about(item.size)}: {chosen(item.algorithm, item.protocol)}" for item in answer.crossovers]


def size_about(nbytes: float) -> str:
    """Return a size that is known roughly."""
    return quantity(nbytes, "B", 2)


def remarks(answer: Collective) -> list[tuple[str, str]]:
    """Return what a reader should know beside the numbers."""
    found = [("left out", f"{name}: {why}") for name, why in answer.left_out]
    found += [("assumed", f"{item.name}: {item.why}") for item in answer.assumptions]
    return [*found, *(("caution", why) for why in answer.cautions)]


def key(answer: Collective) -> str:
    """Return what the columns mean."""
    return KEY.format(factor=f"{answer.factor:.4g}")
