"""What storage gives a run, stage by stage, and what a step waits for data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.core import compose, loading, storage
from aiplan.engine.writing import writing_terms

if TYPE_CHECKING:
    from aiplan.core.arrays import Array
    from aiplan.engine.inputs import Inputs
    from aiplan.engine.run_inputs import RunInputs

READ_STAGES = ("servers", "requests", "clients", "network", "core")
WRITE_STAGES = (*READ_STAGES, "targets")
ENDS = ("", "_low", "_high")


def supply_terms(values: Inputs, run: RunInputs) -> dict[str, Array]:
    """Rates of the stages that bytes pass between the job and its storage, and what is left of the narrowest."""
    store, saves = run.storage, writing_terms(values, run)
    files = storage.round_robin_targets(store.targets, saves["checkpoint.writers"], store.stripe)
    writing = saves["checkpoint.writing_nodes"]
    terms = saves | {
        "storage.read.servers": store.read_system,
        "storage.read.requests": store.read_requests,
        "storage.read.clients": storage.clients_bandwidth(store.nodes, store.read_client),
        "storage.read.network": storage.clients_bandwidth(store.nodes, store.network),
        "storage.read.core": store.core,
        "storage.write.servers": store.write_system,
        "storage.write.requests": store.write_requests,
        "storage.write.clients": storage.clients_bandwidth(writing, store.write_client),
        "storage.write.network": storage.clients_bandwidth(writing, store.network),
        "storage.write.core": store.core,
        "storage.write.targets": storage.servers_bandwidth(files, store.target, 1.0),
    }
    for way, stages in (("read", READ_STAGES), ("write", WRITE_STAGES)):
        narrowest = storage.narrowest(*(terms[f"storage.{way}.{stage}"] for stage in stages))
        for end in ENDS:
            share = getattr(store, f"{way}_efficiency{end}")
            terms[f"storage.{way}{end}"] = compose.product(share, narrowest)
    return terms


def loading_terms(values: Inputs, run: RunInputs, supply: dict[str, Array], step: Array) -> dict[str, Array]:
    """Rates at which training takes data and gets it, and the time a step waits."""
    store, work = run.storage, values.workload
    share = loading.cached_share(store.cache_servers, store.cache, store.dataset)
    read = compose.quotient(compose.product(work.tokens, store.record), work.sequence)
    epochs = loading.epochs(read, store.dataset)
    hits = loading.usual_hit_rate(loading.kept_hit_rate(share), loading.lru_hit_rate(share), store.lru_weight, epochs)
    caches = storage.clients_bandwidth(store.nodes, store.cache_rate)
    rate = loading.overlapped_fetch_rate(hits, caches, supply["storage.read"])
    fetch = loading.read_time(work.global_batch, store.record, rate, store.record_requests)
    demand = loading.read_demand(work.global_batch, store.record, step)
    stall = loading.exposed_loading(step, fetch, store.latency, store.prefetch)
    return {
        "loading.busy": step,
        "loading.demand": demand,
        "loading.hits": hits,
        "loading.rate": rate,
        "loading.fetch": fetch,
        "loading.depth": loading.prefetch_depth(store.latency, fetch, step),
        "loading.utilisation": loading.accelerator_utilisation(step, stall),
        "step.loading": stall,
    }
