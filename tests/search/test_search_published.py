"""Published groups of plans: what is found among all legal plans is not slower than the best that was measured."""

import pytest

from aiplan.catalog.load import Catalog
from aiplan.declare import Diagnostics
from aiplan.planning.accuracy import compare_runs
from aiplan.planning.ranking import ranked
from aiplan.planning.run_files import measured_runs
from aiplan.planning.search import question_of, search

GROUPS = 28


@pytest.fixture(scope="module")
def found():
    compared = compare_runs(measured_runs([], Catalog(), Diagnostics()))
    scenarios = {item.run.ident: item.run.scenario for item in compared}
    answers = []
    for group in ranked(compared).groups:
        best = min(group.plans, key=lambda plan: plan.measured)
        scenario = scenarios[best.idents[0]]
        answers.append((group, best, search([scenario], question_of(scenario, "time", shown=1)).best[0]))
    return answers


def test_the_searched_plan_is_within_five_percent_of_the_best_measured_one(found):
    assert len(found) >= GROUPS
    assert [best.idents[0] for _, best, plan in found if plan.estimate["step"] > 1.05 * best.measured] == []


def test_the_searched_plan_is_predicted_no_slower_than_any_that_was_measured(found):
    """Sizes and options of the measured plans are among those that are searched, if they fit."""
    slower = [
        best.idents[0]
        for group, best, plan in found
        if plan.estimate["step"] > 1.0001 * min(one.predicted for one in group.plans)
    ]
    assert slower == []
