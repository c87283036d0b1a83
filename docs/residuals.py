"""Predicted over measured step times of the published runs: the table that intervals are read from.

`python docs/residuals.py` writes `scenarios/published/residuals.csv`; `--check` exits 1 if a number there differs by
more than one part in a million from what is predicted today.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
from io import StringIO
from typing import TYPE_CHECKING

from aiplan.catalog.load import Catalog
from aiplan.declare import Diagnostics
from aiplan.planning import evidence
from aiplan.planning.accuracy import compare_runs
from aiplan.planning.intervals import coverage, fitted_stretch
from aiplan.planning.run_files import measured_runs

if TYPE_CHECKING:
    from collections.abc import Sequence

TOLERANCE = 1e-6

Row = tuple[str, str, str, str, int, float]


def predicted() -> list[Row]:
    """Return what is predicted today: id, source, accelerator, family, accelerators, predicted over measured."""
    catalog, diagnostics = Catalog(), Diagnostics()
    runs = measured_runs([], catalog, diagnostics)
    diagnostics.raise_if_errors()
    rows: list[Row] = []
    for item in compare_runs(runs):
        scenario = item.run.scenario
        if item.estimate is not None and scenario is not None:
            kind = evidence.family(scenario)
            rows.append(
                (
                    item.run.ident,
                    item.run.source,
                    scenario.node.accelerator,
                    kind,
                    scenario.accelerators,
                    item.ratio,
                )
            )
    return rows


def text(rows: Sequence[Row]) -> str:
    """Return the table as text."""
    target = StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(evidence.HEADER)
    writer.writerows([*row[:-1], f"{row[-1]:.8g}"] for row in rows)
    plain = evidence.parse([f"{evidence.STRETCH}1", *target.getvalue().splitlines()])
    return f"{evidence.STRETCH}{fitted_stretch(plain):.8g}\n{target.getvalue()}"


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
    """Write the table, or compare it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a number differs")
    place, new = evidence.place(), text(predicted())
    if parser.parse_args().check:
        count = differences(place.read_text(encoding="utf-8"), new) if place.is_file() else 1
        if count:
            print(f"{place.name}: {count} lines are not up to date", file=sys.stderr)
        return int(count > 0)
    place.write_text(new, encoding="utf-8")
    share, count = coverage(evidence.parse(new.splitlines()))
    print(
        f"wrote {place.name}: {share:.1%} of {count:,} runs inside the interval of the other sources", file=sys.stderr
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
