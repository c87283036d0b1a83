"""How far apart two predictions must be for their order to be trusted: counted pair by pair."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiplan.planning import order
from aiplan.planning.order import Lead
from aiplan.planning.ranking import PlanTimes, RankedGroup, Ranking

TIMES = st.lists(st.tuples(st.floats(1, 2), st.floats(1, 2)), min_size=2, max_size=6)


def ranking(groups):
    plans = (tuple(PlanTimes((str(index),), *times) for index, times in enumerate(group)) for group in groups)
    return Ranking(tuple(RankedGroup(None, 8, 1, part) for part in plans))


@given(st.lists(TIMES, max_size=3))
def test_pairs_are_counted_as_by_hand(groups):
    rows = order.leads(ranking(groups))
    for row in rows:
        pairs = wrong = 0
        for group in groups:
            for slow in group:
                for fast in group:
                    if slow[0] > fast[0] and slow[0] / fast[0] - 1 >= row.lead:
                        pairs += 1
                        wrong += slow[1] <= fast[1]
        assert (row.pairs, row.wrong) == (pairs, wrong)
    assert [row.pairs for row in rows] == sorted((row.pairs for row in rows), reverse=True)


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=8), st.floats(0, 0.5))
def test_from_the_lead_on_the_order_holds(counts, share):
    rows = [Lead(at / 100, pairs, min(pairs, wrong)) for at, (pairs, wrong) in enumerate(counts)]
    found = order.trusted(rows, share)
    good = [row.pairs and row.wrong <= share * row.pairs for row in rows]
    if found is None:
        known = [row for row in rows if row.pairs]
        assert not known or known[-1].wrong > share * known[-1].pairs
        return
    after = [row for row in rows if row.lead >= found.lead and row.pairs]
    assert all(good[rows.index(row)] for row in after)
    before = [row for row in rows if row.lead < found.lead and row.pairs]
    assert not before or not good[rows.index(before[-1])]


def test_a_table_is_read_back():
    rows = order.leads(ranking([[(1.0, 1.0), (1.1, 1.2), (1.3, 1.1)]]))
    assert order.parse(order.text(rows).splitlines()) == rows


def test_what_published_runs_say():
    """Of pairs far apart hardly one is in the other order; of all pairs, a good part."""
    rows = order.published()
    lead = order.trusted(rows)
    assert rows[0].pairs > 1000
    assert rows[0].wrong > 0.1 * rows[0].pairs
    assert 0.02 <= lead.lead <= 0.2
    assert lead.wrong <= order.WRONG * lead.pairs
    assert rows[-1].wrong == pytest.approx(0, abs=0.02 * rows[-1].pairs)
