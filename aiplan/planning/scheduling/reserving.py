"""A reservation for a job that has waited long enough: when it can start at the latest, from when running jobs end."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from aiplan.planning.scheduling.bench import Bench


def earliest_start(bench: Bench, job: int, pods: int) -> float:
    """Return when a job that does not fit now will fit, if nothing else starts; infinite if that cannot be told.

    Jobs are let go in the order in which they are due to end. Racks and failures to come are not considered.
    """
    pod, table = bench.pod(job), bench.tables.of(bench.pod(job))
    state, ledger = bench.state.copy(), bench.ledger
    room, total = table.room.copy(), table.total
    usage = ledger.usage.copy()
    found = math.inf
    for running in sorted((one for one in bench.running.values() if one.working), key=lambda one: (one.end, one.job)):
        theirs = bench.pod(running.job)
        for spot in running.spots:
            state.release(theirs, *spot)
        ledger.give(bench.queue[running.job], bench.request(running.job, len(running.spots)))
        nodes = np.array(sorted(running.nodes), dtype=np.int64)
        nodes = nodes[table.allowed[nodes]]
        now = state.room(pod, nodes)
        total += int(now.sum() - room[nodes].sum())
        room[nodes] = now
        if total >= pods and bench.admitted(job, pods):
            found = running.end
            break
    ledger.restore(usage)
    return found
