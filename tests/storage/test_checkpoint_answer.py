"""What `aiplan checkpoint` answers from: intervals, modes, fleets, bandwidth, a lost node."""

import json
import math

import pytest

from aiplan.catalog.load import Catalog
from aiplan.planning.checkpoint import checkpoint_answer
from aiplan.planning.variants import Source

from .cases import RUN


def test_checkpoint_answer(ask, tmp_path):
    scenario, _ = ask.resolved(RUN | {"reliability": {"mtbf": "3 h"}})
    source = Source("-", piped=_text(RUN | {"reliability": {"mtbf": "3 h"}}))
    answer = checkpoint_answer(scenario, source, Catalog(), target=0.03)
    best = min(answer.rules, key=lambda one: one.loss)
    assert best.name in {"exact optimum", "Daly, higher order"}
    assert all(one.goodput <= best.goodput + 1e-12 for one in (*answer.intervals, *answer.curve))
    assert answer.used.interval == pytest.approx(answer.rules[0].interval)
    assert {mode.name for mode in answer.modes} == {"sync", "async", "in-memory", "tiered"}
    ratios = [fleet.estimate["run.goodput"] for fleet in answer.fleets]
    assert ratios == sorted(ratios, reverse=True)
    assert answer.fits
    assert answer.met
    lost = answer.lost_node
    assert lost.spare < lost.shrink < lost.wait
    assert lost.spares == 14  # 32 + 14 nodes, each away for a sixth of the time


def test_nobody_waits_for_nodes_that_do_not_fail(ask):
    tree = RUN | {"reliability": "none"}
    scenario, _ = ask.resolved(tree)
    answer = checkpoint_answer(scenario, Source("-", piped=_text(tree)), Catalog())
    assert answer.lost_node is None
    assert answer.rules == ()


def test_the_bandwidth_needed_is_enough_and_no_more(ask):
    tree = RUN | {"checkpoint": {"mode": "sync"}, "reliability": {"mtbf": "12 h"}}
    scenario, _ = ask.resolved(tree)
    answer = checkpoint_answer(scenario, Source("-", piped=_text(tree)), Catalog(), target=0.02)
    for factor, enough in ((1.01, True), (0.9, False)):
        rate = f"{answer.needed * factor:.6g} B/s"
        use = {"read": "100 GB/s", "write": rate, "efficiency": 1.0, "network": "1 TB/s"}
        again = ask.planned(tree | {"storage": use})
        assert ((again["wallclock.saves"] + again["wallclock.lost"]) / again["wallclock"] <= 0.02) is enough


def test_no_storage_is_fast_enough(ask):
    tree = RUN | {"reliability": {"mtbf": "10 min"}}
    scenario, _ = ask.resolved(tree)
    assert math.isinf(checkpoint_answer(scenario, Source("-", piped=_text(tree)), Catalog(), target=0.001).needed)


def _text(tree):
    return json.dumps(tree).encode()
