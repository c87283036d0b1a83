"""How long a replay of 10,800 pods on 1,213 nodes takes, by strategy, and how a mix of jobs grows in cost.

    python benchmarks/scheduling.py [LARGEST]

The replay is that of the trace openb at 130 % of arrivals; the target is two seconds of one core. The mix is made up:
jobs of 1 to 256 GPUs with Poisson arrivals at 85 % of the cluster, in gangs, four queues of one cohort, nodes that
fail. LARGEST limits its jobs (100,000 by default, with a node for every ten jobs). Times are of the processor, not of
the clock, so that other programs matter less; peak memory is that of the process.
"""

from __future__ import annotations

import csv
import math
import resource
import sys
import time
from pathlib import Path

import numpy as np

from aiplan.planning.scheduling.fragments import typical_pods
from aiplan.planning.scheduling.jobs import Failures, Jobs, Policy
from aiplan.planning.scheduling.ledger import Quota
from aiplan.planning.scheduling.machine import Group, Machine, Pod, machine
from aiplan.planning.scheduling.replay import replay, resampled
from aiplan.planning.scheduling.simulation import Simulation
from aiplan.planning.scheduling.strategies import NAMES, strategy

DATA = Path(__file__).resolve().parents[1] / "tests" / "data"
TARGET = 2.0
SIZES = (1, 2, 4, 8, 16, 64, 256)
SHARES = (0.70, 0.10, 0.08, 0.08, 0.03, 0.008, 0.002)
MEAN_HOURS, SPREAD, LOAD = 3.0, 1.2, 0.85
GIB, HOUR, DAY = 2**30, 3600.0, 86400.0


def rows(name: str) -> list[dict[str, str]]:
    """Return the rows of an extract of a trace."""
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def openb() -> tuple[Machine, dict[Pod, int]]:
    """Return nodes and pods of the trace openb; memory in MiB."""
    nodes = [
        Group(int(row["nodes"]), int(row["gpus"]), int(row["cpu"]), int(row["memory_mib"]), row["gpu_type"])
        for row in rows("openb_nodes.csv")
        if int(row["gpus"])
    ]
    pods = {
        Pod(int(row["cpu"]), int(row["memory_mib"]), int(row["gpus"]), int(row["each"]) or 1000): int(row["pods"])
        for row in rows("openb_pods.csv")
    }
    return machine(nodes), pods


def replays() -> None:
    """Time the replay for every strategy, the best of three."""
    nodes, pods = openb()
    typical = typical_pods(pods)
    for name in NAMES:
        times = []
        for _ in range(3):
            generator = np.random.default_rng(0)
            order = resampled(pods, nodes.gpu_count, 1.3, generator)
            start = time.process_time()
            done = replay(nodes, list(pods), order, strategy(name, typical), generator)
            times.append(time.process_time() - start)
        took = min(times)
        mark = "" if took <= TARGET else f", above the target of {TARGET:g} s"
        print(f"replay {name}: {took:.2f} s for {order.size:,} pods, {100 * done.allocation:.2f} % allocated{mark}")


def mix(count: int, nodes: int) -> tuple[Machine, Jobs, list[Quota]]:
    """Return a synthetic mix of so many jobs on so many nodes of eight GPUs."""
    generator = np.random.default_rng(7)
    gpus = generator.choice(SIZES, count, p=SHARES)
    each = np.minimum(gpus, 8)
    sigma = SPREAD
    duration = generator.lognormal(math.log(MEAN_HOURS * HOUR) - sigma**2 / 2, sigma, count)
    between = float((gpus * duration).mean()) / (LOAD * nodes * 8)
    classes = tuple(Pod(cpu=12_000 * size, memory=96 * GIB * size, gpus=size) for size in (1, 2, 4, 8))
    replicas = gpus // each
    jobs = Jobs(
        names=tuple(f"job-{index}" for index in range(count)),
        classes=classes,
        kind=np.log2(each).astype(np.int64),
        submit=np.cumsum(generator.exponential(between, count)),
        duration=duration,
        replicas=replicas,
        least=replicas,
        queue=generator.integers(0, 4, count),
        priority=np.where(generator.random(count) < 0.05, 1, 0),
        preempts=np.ones(count, dtype=bool),
        gang=np.ones(count, dtype=bool),
        topology=np.zeros(count, dtype=np.int64),
        checkpoint=np.full(count, HOUR),
        speeds=(),
    )
    share = (2.0 * nodes, math.inf, math.inf)
    queues = [Quota(f"team-{index}", nominal=share, cohort="all") for index in range(4)]
    return machine([Group(nodes, 8, 128_000, 1024 * GIB)]), jobs, queues


def mixes(largest: int) -> None:
    """Time mixes of growing size."""
    for count in (1_000, 10_000, 100_000):
        if count > largest:
            break
        nodes, jobs, queues = mix(count, count // 10)
        policy = Policy(failures=Failures(100 * DAY, 4 * HOUR))
        start = time.process_time()
        run = Simulation(nodes, jobs, queues, strategy("binpack"), policy).run()
        took = time.process_time() - start
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        used = run.busy_time / (nodes.gpu_count * run.now)
        print(
            f"mix: {count:,} jobs on {nodes.size:,} nodes: {took:.1f} s, {1e3 * took / count:.2f} ms a job, "
            f"peak {memory:,.0f} MiB, {run.unfinished} unfinished, {100 * used:.1f} % used"
        )


def main() -> None:
    """Time both."""
    replays()
    mixes(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)


if __name__ == "__main__":
    main()
