"""Room for a job that does not fit: elastic jobs give pods back, then jobs of lower priority are stopped.

Victims are chosen as Kueue chooses workloads: those of queues that borrow first, then the lowest priority, then the
latest start; one after the other until the job fits, and then, in reverse, those that can stay after all. In a cohort
the jobs of other queues are stopped only to get back what they borrowed, whatever their priority.
A single pod that needs no quota of others is helped as kube-scheduler does it: on one node, see `node_victims`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiplan.planning.scheduling.bench import Bench, Spot
    from aiplan.planning.scheduling.simulation import Simulation

CANDIDATE_SHARE, CANDIDATES = 0.1, 100
"""kube-scheduler looks at a tenth of the nodes, and at 100 at least."""
LOWEST = 2**31
"""What kube-scheduler adds to priorities before it adds them up, so that fewer victims are better."""


class Victims(NamedTuple):
    """Jobs to stop on a node, and what makes one node better than another: smaller is better, in this order.

    `broken` are pods that are stopped against a disruption budget.
    """

    node: int
    jobs: tuple[int, ...]
    broken: int
    highest: int
    total: int
    latest: float

    @property
    def order(self) -> tuple[int, int, int, int, float, int]:
        """Fewest broken budgets, lowest highest priority, smallest sum of them, fewest, latest start, first node."""
        return (self.broken, self.highest, self.total, len(self.jobs), -self.latest, self.node)


def make_room(simulation: Simulation, job: int, pods: int) -> bool:
    """Stop jobs so that another one fits; whether that was possible. If not, nothing is stopped."""
    bench = simulation.bench
    victims = _victims(simulation, job, pods)
    for victim in victims:
        simulation.records[victim].preempted += 1
        simulation.stop(victim)
    return bool(victims) and bench.fits(job, pods)


def _victims(simulation: Simulation, job: int, pods: int) -> Sequence[int]:
    bench = simulation.bench
    candidates = _candidates(simulation, job, pods)
    if not candidates:
        return ()
    if pods == 1 and bench.admitted(job, 1):
        best = node_victims(bench, job, set(candidates))
        return best.jobs if best else ()
    return _workload_victims(bench, job, pods, candidates)


def _candidates(simulation: Simulation, job: int, pods: int) -> list[int]:
    """Return jobs that may be stopped for another, best victims first."""
    bench = simulation.bench
    queue, priority = bench.queue[job], bench.priority[job]
    lenders = bench.ledger.lenders_out(queue, bench.request(job, pods))
    found = []
    for other, running in bench.running.items():
        if running.working:
            borrowed = bench.queue[other] in lenders
            near = bench.queue[other] == queue or bench.ledger.root[bench.queue[other]] != bench.ledger.root[queue]
            if borrowed or (near and bench.priority[other] < priority):
                found.append((not borrowed, bench.priority[other], -running.begun, other))
    return [other for *_, other in sorted(found)]


def _workload_victims(bench: Bench, job: int, pods: int, candidates: Sequence[int]) -> list[int]:
    """Return the jobs that Kueue would stop: greedily until it fits, then back in reverse what can stay."""
    removed: list[tuple[int, list[Spot]]] = []
    fits = False
    for other in candidates:
        running = bench.running[other]
        spots = list(running.spots)
        bench.drop_pods(running, spots)
        removed.append((other, spots))
        fits = bench.fits(job, pods)
        if fits:
            break
    victims = [removed[-1][0]] if fits else []
    for other, spots in reversed(removed[:-1] if fits else removed):
        bench.put_back(bench.running[other], spots)
        if fits and not bench.fits(job, pods):
            bench.drop_pods(bench.running[other], spots)
            victims.append(other)
    for other, spots in removed:
        if other in victims:
            bench.put_back(bench.running[other], spots)
    return victims


def node_victims(bench: Bench, job: int, candidates: set[int]) -> Victims | None:
    """Return the node on which kube-scheduler would make room for one pod, and the jobs to stop there.

    A job of several pods is stopped as a whole.
    """
    pod = bench.pod(job)
    limit = max(int(bench.machine.size * CANDIDATE_SHARE), CANDIDATES)
    allowed = bench.machine.allowed(pod) & bench.state.up
    found: list[Victims] = []
    for node in sorted(node for node, there in bench.on_node.items() if allowed[node] and there & candidates):
        chosen = _on_node(bench, job, node, sorted(bench.on_node[node] & candidates))
        if chosen is not None:
            found.append(chosen)
        if len(found) >= limit:
            break
    return min(found, key=lambda item: item.order) if found else None


def _on_node(bench: Bench, job: int, node: int, there: Sequence[int]) -> Victims | None:
    """Return the fewest jobs to stop on a node: all go, then those come back that can.

    Those whose stop would break a disruption budget come back first, then the others; highest priority first.
    """
    here = np.array([node])
    mine = {other: [spot for spot in bench.running[other].spots if spot[0] == node] for other in there}
    for other in there:
        bench.drop_pods(bench.running[other], mine[other])
    fits = int(bench.state.room(bench.pod(job), here)[0]) > 0
    priority = bench.priority
    order = sorted(there, key=lambda item: (-priority[item], bench.running[item].begun, item))
    broken = _broken(bench, [(other, len(mine[other])) for other in order])
    victims: list[int] = []
    for other in sorted(order, key=lambda item: broken[item] == 0):
        bench.put_back(bench.running[other], mine[other])
        if fits and int(bench.state.room(bench.pod(job), here)[0]) == 0:
            bench.drop_pods(bench.running[other], mine[other])
            victims.append(other)
    for other in victims:
        bench.put_back(bench.running[other], mine[other])
    if not fits or not victims:
        return None
    highest = max(priority[other] for other in victims)
    latest = min(bench.running[other].begun for other in victims if priority[other] == highest)
    total = sum(priority[other] + LOWEST for other in victims)
    return Victims(node, tuple(victims), sum(broken[other] for other in victims), highest, total, latest)


def _broken(bench: Bench, stopped: Sequence[tuple[int, int]]) -> dict[int, int]:
    """Return for jobs that lose pods, one after the other, how many of these would be stopped against a budget."""
    budgets = bench.jobs.budgets
    # Their pods have been taken off the node already.
    spare = [sum(pods for job, pods in stopped if budget.first <= job < budget.last) for budget in budgets]
    for place, budget in enumerate(budgets):
        there = sum(len(one.spots) for job, one in bench.running.items() if budget.first <= job < budget.last)
        spare[place] = max(spare[place] + there - budget.least, 0)
    found = {}
    for job, pods in stopped:
        against = 0
        for place, budget in enumerate(budgets):
            if budget.first <= job < budget.last:
                against = max(against, pods - max(spare[place], 0))
                spare[place] -= pods
        found[job] = max(against, 0)
    return found


def shrink_for(simulation: Simulation, job: int, pods: int) -> bool:
    """Take pods from elastic jobs, of no higher priority, so that another job fits; whether that was enough."""
    bench, jobs = simulation.bench, simulation.jobs
    large = [
        other
        for other, running in bench.resizable.items()
        if running.working and len(running.spots) > bench.least[other] and bench.priority[other] <= bench.priority[job]
    ]
    taken: dict[int, list[Spot]] = {}
    fits = False
    for other in sorted(large, key=lambda item: (bench.priority[item], -bench.running[item].begun, item)):
        running = bench.running[other]
        while not fits and len(running.spots) > bench.least[other]:
            spot = running.spots[-1]
            bench.drop_pods(running, [spot])
            taken.setdefault(other, []).append(spot)
            fits = bench.fits(job, pods)
    for other, spots in taken.items():
        running = bench.running[other]
        idle = running.spots[jobs.useful(other, len(running.spots)) :]
        bench.drop_pods(running, idle)
        spots.extend(idle)
    for other, spots in taken.items():  # as they were; `resize` counts the work done before it takes them away
        bench.put_back(bench.running[other], spots)
    if not fits:
        return False
    for other, spots in taken.items():
        simulation.resize(other, spots)
    return True
