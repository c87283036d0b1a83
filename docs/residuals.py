"""What published runs say of predictions: the tables that intervals and the trust in the order of plans come from.

`python docs/residuals.py` writes `residuals.csv`, `memory.csv` and `order.csv` in `scenarios/published`; `--check`
exits 1 if a number there differs by more than one part in a million from what is predicted today. `--only memory.csv`
does one of them.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
from io import StringIO
from typing import TYPE_CHECKING, NamedTuple

from aiplan.catalog.load import Catalog
from aiplan.declare import Diagnostics
from aiplan.planning import evidence, order
from aiplan.planning.accuracy import compare_runs
from aiplan.planning.intervals import coverage, fitted_stretch
from aiplan.planning.ranking import ranked
from aiplan.planning.run_files import measured_runs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from aiplan.planning.accuracy import Comparison
    from aiplan.planning.intervals import Residuals

TOLERANCE = 1e-6
PAIR = 2

Row = tuple[str | int | float, ...]


def compared() -> list[Comparison]:
    """Return what is predicted today for the published runs."""
    diagnostics = Diagnostics()
    runs = measured_runs([], Catalog(), diagnostics)
    diagnostics.raise_if_errors()
    return compare_runs(runs)


def step_rows(comparisons: Sequence[Comparison]) -> list[Row]:
    """Return id, source, accelerator, family, accelerators, software, predicted over measured."""
    rows: list[Row] = []
    for item in comparisons:
        scenario = item.run.scenario
        if item.estimate is not None and scenario is not None:
            kind, accelerator = evidence.family(scenario), scenario.node.accelerator
            software = evidence.lineage(scenario.file.software)
            gpus = scenario.accelerators
            rows.append((item.run.ident, item.run.source, accelerator, kind, gpus, software, item.ratio))
    return rows


def memory_rows(comparisons: Sequence[Comparison]) -> list[Row]:
    """Return id, source, family of software, what the figure counts, predicted over measured."""
    rows: list[Row] = []
    for item in comparisons:
        found, scenario = item.footprint, item.run.scenario
        if found is not None and scenario is not None and math.isfinite(found.measured):
            software = evidence.software_family(scenario.file.software)
            rows.append((item.run.ident, item.run.source, software, found.kind, found.error + 1.0))
    return rows


class Table(NamedTuple):
    """A table: where it lies, its heading, how it is read, and its rows."""

    place: Path
    header: tuple[str, ...]
    parse: Callable[[Iterable[str]], Residuals]
    rows: Callable[[Sequence[Comparison]], list[Row]]

    def text(self, rows: Sequence[Row]) -> str:
        """Return the table as text."""
        target = StringIO()
        writer = csv.writer(target, lineterminator="\n")
        writer.writerow(self.header)
        writer.writerows([*row[:-1], f"{row[-1]:.8g}"] for row in rows)
        plain = self.parse([f"{evidence.STRETCH}1", *target.getvalue().splitlines()])
        return f"{evidence.STRETCH}{fitted_stretch(plain):.8g}\n{target.getvalue()}"


TABLES = (
    Table(evidence.place(), evidence.HEADER, evidence.parse, step_rows),
    Table(evidence.memory_place(), evidence.MEMORY_HEADER, evidence.parse_memory, memory_rows),
)


def differences(old: str, new: str) -> int:
    """Return how many lines differ by more than the tolerance."""
    lines = [text.replace(evidence.STRETCH, "stretch,").splitlines() for text in (old, new)]
    pairs = list(zip(*(csv.reader(part) for part in lines), strict=False))
    return abs(len(lines[0]) - len(lines[1])) + sum(not _same(one, other) for one, other in pairs)


def _same(one: Sequence[str], other: Sequence[str]) -> bool:
    if one[:-1] != other[:-1] or one == other:
        return one == other
    return math.isclose(float(one[-1]), float(other[-1]), rel_tol=TOLERANCE)


def main() -> int:
    """Write the tables, or compare them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a number differs")
    names = [*(table.place.name for table in TABLES), order.place().name]
    parser.add_argument("--only", choices=names, help="one of the tables")
    chosen = parser.parse_args()
    comparisons, stale = compared(), 0
    for table in TABLES:
        if chosen.only in {None, table.place.name}:
            stale += _check(table, comparisons) if chosen.check else _write(table, comparisons)
    if chosen.only in {None, order.place().name}:
        stale += _order(comparisons, check=chosen.check)
    return int(stale > 0)


def _order(comparisons: Sequence[Comparison], *, check: bool) -> int:
    """Write how often the order of two plans was predicted wrong, or return whether that has changed."""
    rows, place = order.leads(ranked(comparisons, PAIR)), order.place()
    if check:
        stale = not place.is_file() or order.parse(place.read_text(encoding="utf-8").splitlines()) != rows
        if stale:
            print(f"{place.name}: not up to date", file=sys.stderr)
        return int(stale)
    place.write_text(order.text(rows), encoding="utf-8")
    print(f"wrote {place.name}: trusted from {order.trusted(rows)} on", file=sys.stderr)
    return 0


def _check(table: Table, comparisons: Sequence[Comparison]) -> int:
    old = table.place.read_text(encoding="utf-8") if table.place.is_file() else ""
    count = differences(old, table.text(table.rows(comparisons)))
    if count:
        print(f"{table.place.name}: {count} lines are not up to date", file=sys.stderr)
    return count


def _write(table: Table, comparisons: Sequence[Comparison]) -> int:
    new = table.text(table.rows(comparisons))
    table.place.write_text(new, encoding="utf-8")
    share, count = coverage(table.parse(new.splitlines()))
    found = f"{share:.1%} of {count:,} runs inside the interval of the other sources"
    print(f"wrote {table.place.name}: {found}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
