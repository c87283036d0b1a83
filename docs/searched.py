"""The searched best plan of every published group of plans, against the best that was measured.

`python docs/searched.py` writes `docs/searched.md`.
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from outputs import DOCS

from aiplan.catalog.load import Catalog
from aiplan.declare import Diagnostics
from aiplan.planning.accuracy import compare_runs
from aiplan.planning.ranking import ranked
from aiplan.planning.run_files import measured_runs
from aiplan.planning.search import question_of, search
from aiplan.report.search.wording import as_plan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.planning.ranking import PlanTimes, RankedGroup
    from aiplan.planning.search import Choice
    from aiplan.scenario.load import Scenario

WITHIN = 0.05
HEADER = """# Searched plans against the best measured ones

Where one source measured several plans of one model on one machine, a search over all legal plans should come out no
slower than the best of them. Each line is such a group (five plans or more): the best plan that was measured, what is
predicted for it, and the plan that `aiplan search` finds. *Searched over measured* is what is predicted for the
searched plan over what was measured for the best one: at most 1.05 says that the search is within 5 % of the best
measured plan or better. *Chosen over best* is what was measured for the plan predicted to be the fastest of those
that were measured, over the best of them: the price of trusting the prediction among these.

Written by `python docs/searched.py`.

"""


COLUMNS = (
    "model",
    "accelerators",
    "plans",
    "best measured",
    "measured",
    "predicted",
    "searched",
    "predicted",
    "searched over measured",
    "chosen over best",
)


class Line(NamedTuple):
    """A group: best measured, its prediction, the searched plan."""

    group: RankedGroup
    scenario: Scenario
    best: PlanTimes
    found: Choice

    @property
    def ratio(self) -> float:
        """What is predicted for the searched plan over what was measured for the best."""
        return self.found.estimate["step"] / self.best.measured


def lines() -> Iterator[Line]:
    """Yield every group of published plans."""
    diagnostics = Diagnostics()
    compared = compare_runs(measured_runs([], Catalog(), diagnostics))
    diagnostics.raise_if_errors()
    scenarios = {item.run.ident: item.run.scenario for item in compared}
    for group in ranked(compared).groups:
        best = min(group.plans, key=lambda plan: plan.measured)
        scenario = scenarios[best.idents[0]]
        if scenario is not None:
            yield Line(group, scenario, best, search([scenario], question_of(scenario, "time", shown=1)).best[0])


def page() -> str:
    """Return the page."""
    found = list(lines())
    good = sum(line.ratio <= 1 + WITHIN for line in found)
    chosen = sum(line.group.regret <= WITHIN for line in found)
    rows = [
        f"| {' | '.join(COLUMNS)} |",
        "|---|---|---:|---|---:|---:|---|---:|---:|---:|",
        *(_row(line) for line in found),
    ]
    told = (
        f"{good} of {len(found)} searched plans are within 5 % of the best measured one or better (median ratio "
        f"{median(line.ratio for line in found):.2f}); {chosen} of {len(found)} choices among the measured plans cost "
        "5 % or less.\n\n"
    )
    return HEADER + told + "\n".join(rows) + "\n"


def _row(line: Line) -> str:
    own, found = line.scenario, line.found.estimate
    cells = (
        line.group.conditions.model,
        f"{own.accelerators:,} x {own.accelerator.name}",
        str(len(line.group.plans)),
        as_plan(own.file.plan, own.data),
        f"{line.best.measured:.3g} s",
        f"{line.best.predicted:.3g} s",
        as_plan(line.found.plan, found.scenario.data),
        f"{found['step']:.3g} s",
        f"{line.ratio:.2f}",
        f"{1 + line.group.regret:.2f}",
    )
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    (DOCS / "searched.md").write_text(page(), encoding="utf-8", newline="\n")
