"""Public traces of clusters as tables: nodes and pods of openb, jobs of Philly."""

from __future__ import annotations

import csv
import io
import math
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from aiplan.declare import Mark

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from aiplan.declare import Diagnostics

MIB = 2**20
WHOLE = 1000
OPENB_NODES = ("sn", "cpu_milli", "memory_mib", "gpu", "model")
OPENB_PODS = ("name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli")
PHILLY = ("timestamp", "duration", "num_gpus", "cluster")
A_TIME = "a time such as 2017-10-09 07:01:55"
MOST_FAULTS = 20
"""Faults of one table that are told; more do not help."""


class TraceNode(NamedTuple):
    """A node: thousandths of cores, bytes, GPUs and their type."""

    cpu: int
    memory: int
    gpus: int
    gpu_type: str


class TracePod(NamedTuple):
    """A pod: thousandths of cores, bytes, GPUs, thousandths of each, and types that will do (all if ())."""

    cpu: int
    memory: int
    gpus: int
    each: int
    gpu_types: tuple[str, ...]


class TraceJob(NamedTuple):
    """A job: when it was submitted and how long it ran, in seconds; GPUs; and its virtual cluster."""

    submit: float
    duration: float
    gpus: int
    queue: str


def _seconds(text: str) -> float:
    return datetime.fromisoformat(f"{text}+00:00").timestamp()


class _Table:
    """Rows of a table; what cannot be read is noted with its line, and the row left out."""

    def __init__(self, text: str, name: str, columns: tuple[str, ...], diagnostics: Diagnostics) -> None:
        self.name, self.diagnostics = name, diagnostics
        self.reader = csv.DictReader(io.StringIO(text.removeprefix("\ufeff")))
        heading = self.reader.fieldnames or []
        missing = [column for column in columns if column not in heading]
        self.usable = not missing
        self.faults = 0
        if missing:
            diagnostics.error(
                "AIP364",
                f"the table has no column {', '.join(missing)}",
                Mark(name, 1, 1, 2),
                expected=f"columns: {', '.join(columns)}",
                hint="trace.format names the kind of table",
            )

    def rows(self) -> Iterator[dict[str, str]]:
        if self.usable:
            yield from self.reader

    def value(self, row: dict[str, str], column: str, read: Callable[[str], float], least: float = 0.0) -> float:
        """Return a number of a row, or NaN after a fault."""
        text = (row.get(column) or "").strip()
        try:
            found = read(text)
        except ValueError:
            found = math.nan
        if math.isfinite(found) and found >= least:
            return found
        self.faults += 1
        if self.faults <= MOST_FAULTS:
            kind = "a whole number" if read is int else "a number"
            due = A_TIME if read is _seconds else f"{kind} of at least {least:g}"
            problem = f"{column} is '{text}', but {due} is due"
            self.diagnostics.error("AIP364", problem, Mark(self.name, self.reader.line_num, 1, 2))
        return math.nan


def openb_nodes(text: str, name: str, diagnostics: Diagnostics) -> list[TraceNode]:
    """Read the table of nodes of openb: columns sn, cpu_milli, memory_mib, gpu, model."""
    table = _Table(text, name, OPENB_NODES, diagnostics)
    found = []
    for row in table.rows():
        cpu, memory, gpus = (table.value(row, column, int) for column in OPENB_NODES[1:4])
        if not math.isnan(cpu + memory + gpus):
            found.append(TraceNode(int(cpu), int(memory) * MIB, int(gpus), (row["model"] or "").strip()))
    return found


def openb_pods(text: str, name: str, diagnostics: Diagnostics) -> list[TracePod]:
    """Read a table of pods of openb: columns name, cpu_milli, memory_mib, num_gpu, gpu_milli, and gpu_spec if there."""
    table = _Table(text, name, OPENB_PODS, diagnostics)
    found = []
    for row in table.rows():
        cpu, memory, gpus, each = (table.value(row, column, int) for column in OPENB_PODS[1:5])
        if math.isnan(cpu + memory + gpus + each):
            continue
        types = tuple(part for part in (row.get("gpu_spec") or "").split("|") if part)
        found.append(TracePod(int(cpu), int(memory) * MIB, int(gpus), int(each) if gpus and each else WHOLE, types))
    return found


def philly_jobs(text: str, name: str, diagnostics: Diagnostics) -> list[TraceJob]:
    """Read a table of jobs of Philly: columns timestamp, duration, num_gpus, cluster; in the order of submission."""
    table = _Table(text, name, PHILLY, diagnostics)
    found = []
    for row in table.rows():
        time = table.value(row, "timestamp", _seconds)
        duration, gpus = table.value(row, "duration", float), table.value(row, "num_gpus", int, 1)
        if not math.isnan(time + duration + gpus):
            found.append(TraceJob(time, duration, int(gpus), (row["cluster"] or "").strip()))
    first = min((job.submit for job in found), default=0.0)
    return sorted(
        (job._replace(submit=job.submit - first, duration=max(job.duration, 1.0)) for job in found),
        key=lambda job: job.submit,
    )
