"""How many plans a core evaluates in a second, and what that costs in memory as the space grows.

    python benchmarks/search.py [RUNS] [--large]

The space is GPT-3 175B on 4,096 A100 80GB with a global batch of at most 1,536: every tensor, pipeline, context and
data parallel size, interleaving, micro-batch, ZeRO stage, recomputation, sequence parallelism and overlap. The
yardstick estimates plans of that space one by one, as a loop over layouts would. Both are timed in turn on one core.
Then the same space is searched by time, cost and energy of the whole run, with storage, checkpoints and failures.
The last lines grow the space with further global batches, in a process each; --large goes on to 100 million plans.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from statistics import median

from aiplan.catalog.load import Catalog
from aiplan.planning.estimate import Estimate, estimate
from aiplan.planning.search import Asked, ask, question_of, run
from aiplan.planning.variants import Source, assignments, load_source, load_written
from aiplan.scenario.load import with_plan

TARGET = 1e6
NAME, SETTINGS = "gpt3-175b-a100", ("cluster.nodes=512", "software=megatron-core")
SIZES = (1, 3, 8)
LARGEST = 200
WHOLE_RUN = ("storage={read: 200 GB/s, write: 100 GB/s}", "checkpoint={}", "reliability={}", "cluster.price=2 USD/h")
"""What makes a search go by the wall clock with failures and checkpoints, or by the cost and energy of the run."""
SINGLE = 30
CALCULON = "tensor: 8, pipeline: 16, interleave: 6, micro_batch: 1, recompute: none"
"""The optimum that an exhaustive search with Calculon reports for this space; data parallel 32 follows."""


def space(batches: list[str], more: tuple[str, ...] = (), objective: str = "tokens_per_s_per_gpu") -> Asked:
    """Return the search that the command would run."""
    settings = assignments((*SETTINGS, *more))
    variants = [(*settings, ("workload.global_batch", batch, "--set")) for batch in batches]
    found = [load_written(Source(NAME), Catalog([]), variant, searched=True).scenario for variant in variants]
    scenarios = [scenario for scenario in found if scenario is not None]
    return ask(scenarios, question_of(scenarios[0], objective), None, batches)


def searched(asked: Asked) -> float:
    """Search; return plans per second."""
    start = time.perf_counter()
    answer = run(asked)
    return answer.plans / (time.perf_counter() - start)


def one_by_one(asked: Asked) -> float:
    """Estimate some plans of the space singly; return plans per second."""
    whole = asked.spaces[0]
    layouts = [(group, 0) for group in range(len(whole.groups))] * SINGLE
    start = time.perf_counter()
    for group, layout in layouts[:SINGLE]:
        estimate([with_plan(whole.scenario, whole.plan(group, layout, 0), "")])
    return SINGLE / (time.perf_counter() - start)


def grown(count: int) -> None:
    """Search a space of several batches and print its size, plans per second and peak memory."""
    asked = space([str(512 + 8 * index) for index in range(count)])
    rate = searched(asked)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    print(f"{asked.plans:>13,} plans  {rate / 1e6:6.2f} M plans/s  peak memory {peak:5.0f} MB")


def best() -> None:
    """Compare the best plan with the one that Calculon finds."""
    asked = space(["1024", "1536"])
    answer = run(asked)
    settings = (
        *assignments(SETTINGS),
        ("workload.global_batch", "1536", "--set"),
        ("plan", f"{{{CALCULON}}}", "--set"),
    )
    loaded = load_source(Source(NAME), Catalog([]), settings).scenario
    print(f"{answer.plans:,} plans of {answer.layouts:,} layouts")
    show("best", answer.best[0].estimate)
    print(f"      {answer.best[0].plan.__dict__}")
    if loaded is not None:
        show(CALCULON, estimate([loaded])[0])


def show(name: str, found: Estimate) -> None:
    """Print what a plan reaches."""
    print(f"{name}: {found['run.tokens_per_s_per_gpu']:.1f} tokens/s/GPU, step {found['step']:.3f} s")


def main() -> None:
    """Time both sides in turn and print minimum, median and maximum."""
    arguments = [text for text in sys.argv[1:] if not text.startswith("--")]
    if arguments[:1] == ["grow"]:
        grown(int(arguments[1]))
        return
    runs = int(arguments[0]) if arguments else 5
    best()
    asked = space(["1024", "1536"])
    ours, theirs = [], []
    for _ in range(runs):
        ours.append(searched(asked))
        theirs.append(one_by_one(asked))
    for name, rates in (("search", ours), ("one by one", theirs)):
        low, middle, high = (f"{rate:,.0f}" for rate in (min(rates), median(rates), max(rates)))
        print(f"{name:>12}: {middle} plans/s (min {low}, max {high}, n {runs})")
    for objective in ("time", "cost", "energy"):
        whole = space(["1024", "1536"], WHOLE_RUN, objective)
        rates = [searched(whole) for _ in range(runs)]
        print(f"{f'run, {objective}':>12}: {median(rates):,.0f} plans/s (min {min(rates):,.0f}, max {max(rates):,.0f})")
    print(f"{'ratio':>12}: {median(a / b for a, b in zip(ours, theirs, strict=True)):,.0f}")
    command = [sys.executable, "-m", "aiplan", "search", NAME, "--quiet"]
    command += [item for text in SETTINGS for item in ("--set", text)]
    command += ["--vary", "workload.global_batch=1024,1536", "--objective", "tokens_per_s_per_gpu"]
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - start)
    print(f"whole command: {median(times):.2f} s (min {min(times):.2f}, max {max(times):.2f}, n {runs})")
    for count in (*SIZES, *((LARGEST,) if "--large" in sys.argv else ())):
        subprocess.run([sys.executable, __file__, "grow", str(count)], check=True, env=dict(os.environ))
    sys.exit(0 if median(ours) >= TARGET else 1)


if __name__ == "__main__":
    main()
