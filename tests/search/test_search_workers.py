"""Whoever evaluates the chunks, the answer is the same, also when a worker is killed on the way."""

import os
import signal
from multiprocessing import active_children

import pytest

from aiplan.planning import chunks as chunking
from aiplan.planning.search import ask, run
from aiplan.planning.workers import engine

from .cases import DENSE, loaded, question, scenario, told

distributed = pytest.importorskip("distributed")


@pytest.fixture
def asked(monkeypatch):
    """A search of two variants in many chunks."""
    monkeypatch.setattr(chunking, "CHUNK", 200)
    variants = [scenario("dense"), loaded(DENSE, ("workload.global_batch", "16"))]
    return ask(variants, question(shown=20, near=1.2), None, ["8", "16"])


def test_processes_give_the_same_answer(asked):
    assert told(run(asked, engine(workers=2))) == told(run(asked))


def test_a_killed_process_costs_nothing_but_time(asked):
    killed = []

    def kill(part):
        if not killed and part.plans < asked.plans:
            killed.append(active_children()[0].pid)
            os.kill(killed[0], signal.SIGKILL)

    assert told(run(asked, engine(workers=2), kill)) == told(run(asked))
    assert killed


@pytest.mark.filterwarnings("ignore")  # of a cluster that loses a worker on purpose
def test_a_dask_cluster_that_loses_a_worker_gives_the_same_answer(asked):
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=60
    ) as cluster:
        killed = []

        def kill(part):
            if not killed and 0 < part.plans < asked.plans:
                worker = next(iter(cluster.workers.values()))
                killed.append(worker.process.pid)
                os.kill(killed[0], signal.SIGKILL)

        assert told(run(asked, engine(dask=cluster.scheduler_address), kill)) == told(run(asked))
        assert killed
