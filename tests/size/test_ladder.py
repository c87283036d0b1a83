"""Which numbers of accelerators are tried: made-up times and costs whose best is known."""

import itertools
import math

from hypothesis import assume, given
from hypothesis import strategies as st

from aiplan.planning.ladder import Ladder
from aiplan.planning.trial import Limits, Trial

WORK = 1e6
"""Accelerator-seconds at full efficiency."""


class Made(dict):
    """An estimate that knows only what a trial asks."""

    def of_run(self, name):
        return self[name]


def world(lost, price=1.0, power=1.0, smallest=1):
    """Return what a number of accelerators comes to if a part of each is lost as more are added."""

    def once(count):
        if count < smallest:
            return Trial("node", count, 1, None, "does not fit")
        time = WORK * (1.0 + lost * count) / count
        terms = {"wallclock": time, "total.cost": time * count * price, "total.power": count * power}
        return Trial("node", count, 1, Made(terms))

    return once


def climbed(counts, limits, goal, once, least=0, floor=1):
    ladder = Ladder(counts, least, floor, limits, goal, once)
    ladder.climb()
    met = [trial for trial in ladder.tried.values() if not trial.misses(limits)]
    return ladder, min(met, key=lambda trial: trial.order(goal), default=None)


COUNTS = st.sets(st.integers(1, 4000), min_size=2, max_size=400).map(sorted)
LOST = st.floats(1e-6, 1e-4)


@given(COUNTS, LOST, st.floats(300.0, 1e6))
def test_the_fewest_in_time(counts, lost, deadline):
    once, limits = world(lost), Limits(deadline=deadline)
    ladder, best = climbed(counts, limits, "gpus", once, least=math.ceil(WORK / deadline))
    met = [count for count in counts if once(count).time <= deadline]
    assert (best.accelerators if best else None) == min(met, default=None)
    assert len(ladder.tried) <= 15


@given(COUNTS, LOST, st.floats(300.0, 1e6))
def test_the_cheapest_in_time(counts, lost, deadline):
    """Cost rises strictly here, so that the cheapest is the fewest."""
    once, limits = world(lost), Limits(deadline=deadline)
    ladder, best = climbed(counts, limits, "cost", once, least=math.ceil(WORK / deadline))
    met = [count for count in counts if once(count).time <= deadline]
    assert (best.accelerators if best else None) == min(met, default=None)
    assert len(ladder.tried) <= 16


@given(COUNTS, LOST, st.floats(1.0, 1.5), st.floats(1.0, 5000.0), st.integers(1, 200))
def test_the_fastest_that_can_be_afforded(counts, lost, dearer, power, smallest):
    once, limits = world(lost, smallest=smallest), Limits(budget=WORK * dearer, power=power)
    _, best = climbed(counts, limits, "time", once)
    met = [count for count in counts if not once(count).misses(limits)]
    assert (best.accelerators if best else None) == max(met, default=None)


@given(COUNTS, st.integers(1, 4000), st.floats(0.0, 1.0))
def test_one_bad_number_beside_the_best_does_not_hide_it(counts, bad, worse):
    plain, limits = world(1e-5), Limits(deadline=5000.0)

    def once(count):
        found = plain(count)
        if count != bad:
            return found
        slower = Made({name: value * (2.0 + worse) for name, value in found.estimate.items()})
        return found._replace(estimate=slower)

    met = [count for count in counts if once(count).time <= 5000.0]
    assume(met)
    _, best = climbed(counts, limits, "gpus", once, least=200)
    place = counts.index(best.accelerators)
    assert best.time <= 5000.0
    assert all(once(count).time > 5000.0 for count in counts[max(place - 2, 0) : place])


@given(COUNTS, LOST)
def test_widening_finds_the_cheapest_and_goes_on_while_it_gets_faster(counts, lost):
    once, limits = world(lost), Limits(deadline=1e-3, budget=1.0)
    ladder, best = climbed(counts, limits, "gpus", once, least=counts[-1])
    assert best is None
    ladder.widen()
    tried = ladder.tried.values()
    assert min(trial.cost for trial in tried) == once(counts[0]).cost
    assert min(trial.time for trial in tried) <= 1.01 * min(once(count).time for count in counts)


@given(COUNTS, LOST, st.sampled_from(["gpus", "cost", "time"]), st.floats(300.0, 1e6), st.floats(0.9, 1.5))
def test_no_number_is_tried_twice(counts, lost, goal, deadline, dearer):
    asked = []

    def once(count):
        asked.append(count)
        return world(lost)(count)

    ladder, _ = climbed(counts, Limits(deadline, WORK * dearer), goal, once)
    ladder.widen()
    assert all(one != other for one, other in itertools.combinations(asked, 2))
    assert set(asked) <= set(counts)
