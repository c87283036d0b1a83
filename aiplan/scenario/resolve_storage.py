"""The storage of a run as numbers: the stages that bytes pass, caches, and what data looks like."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from aiplan.core import storage
from aiplan.scenario.files import locate
from aiplan.scenario.legality import Fault
from aiplan.scenario.run_records import NONE, StorageUse
from aiplan.scenario.values import Value, assumed, default, derived, from_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.catalog.load import Catalog
    from aiplan.catalog.records import Storage, StorageTier
    from aiplan.declare import Diagnostics, Origins
    from aiplan.declare import Node as Tree
    from aiplan.scenario.records import ScenarioFile
    from aiplan.scenario.resolve import Parts

INSIDE_A_NODE = ("node", "device")
PER_SERVER = "server"
NFS = "nfs"
OBJECT = "object"
MOUNT_SLOTS = 128
MOUNT_REQUEST = 2.0**20
EFFICIENCY = (0.6, 0.8, 1.0)
WRITE_OVER_READ = 0.5
NETWORK_FRACTION = 0.9
OBJECT_LATENCY, FILE_LATENCY = 0.1, 1e-3
SMALL_VOCABULARY = 65_536
CACHE_RATE = 10e9
LRU_WEIGHT = {"keep": 0.0, "lru": 1.0, "page-cache": 0.5}
ENDLESS = math.inf


def storage_use(file: ScenarioFile) -> StorageUse | None:
    """Return the storage of a scenario; a name alone stands for a system with all defaults."""
    use = file.storage
    if use is None or use == NONE:
        return None
    return StorageUse(system=use) if isinstance(use, str) else use


class Found(NamedTuple):
    """Catalog entries that a scenario names: the storage system, and the tier that its cache is."""

    system: tuple[Storage, Origins] | None = None
    cache: tuple[Storage, Origins] | None = None


def find(file: ScenarioFile, tree: Tree, catalog: Catalog, diagnostics: Diagnostics) -> Found:
    """Return the catalog entries that a scenario names for its storage, as far as they are there."""
    use = storage_use(file)
    if use is None:
        return Found()
    named = {"storage.system": use.system, "storage.cache.system": use.cache.system if use.cache else None}
    return Found(
        *(
            None if ident is None else catalog.storage(ident, diagnostics, locate(tree, path))
            for path, ident in named.items()
        )
    )


def check(use: StorageUse, found: Found) -> Iterator[Fault]:
    """Yield what of a storage cannot be."""
    system, cache = (entry and entry[0] for entry in found)
    if cache is not None and cache.scope not in INSIDE_A_NODE:
        yield Fault(
            "AIP107",
            f"{cache.name} is not inside a node",
            "storage.cache.system",
            "choose drives or memory of a node, or leave system out",
        )
    if use.system is None:
        if use.read is None or use.write is None:
            yield Fault(
                "AIP106",
                "storage has neither a system nor read and write",
                "storage",
                "give system: an id of 'aiplan catalog list storage', or read: and write:",
            )
        return
    if system is None:  # named, and told to be unknown already
        return
    if system.scope in INSIDE_A_NODE:
        yield Fault(
            "AIP107",
            f"{system.name} is inside a node: other nodes cannot read it",
            "storage.system",
            "give it as storage.cache.system, or with checkpoint.mode: tiered; here choose a shared system",
        )
    names = ", ".join(tier.name for tier in system.tiers)
    if use.tier is not None and _tier(use, system) is None:
        yield Fault(
            "AIP108",
            f"{system.name} has no tier '{use.tier}'",
            "storage.tier",
            f"tiers: {names}" if names else "leave tier out",
        )
    bought = any(tier.throughput for tier in system.tiers) and system.read is None
    if bought and use.tier is None and len(system.tiers) > 1 and use.read is None:
        yield Fault("AIP106", f"{system.name} comes in several tiers", "storage", f"give storage.tier: one of {names}")
    if bought and use.capacity is None and use.read is None:
        yield Fault(
            "AIP106",
            f"the rate of {system.name} grows with its capacity",
            "storage",
            "give storage.capacity, e.g. 500 TiB",
        )
    if use.targets is not None and use.stripe > use.targets:
        yield Fault(
            "AIP107",
            f"a file cannot be striped over {use.stripe} of {use.targets} targets",
            "storage.stripe",
            f"at most {use.targets}",
        )


def _tier(use: StorageUse, system: Storage) -> StorageTier | None:
    if use.tier is None and len(system.tiers) == 1:
        return system.tiers[0]
    return next((tier for tier in system.tiers if tier.name == use.tier), None)


def no_storage(nodes: Value) -> dict[str, Value]:
    """Return the values of storage that nothing waits for."""
    free = derived(ENDLESS, "no storage given")
    nothing = derived(0.0, "no storage given")
    whole = derived(1.0, "no storage given")
    rates = ("system", "requests", "client")
    return {
        **{f"{way}_{name}": free for way in ("read", "write") for name in rates},
        **{f"{way}_efficiency{end}": whole for way in ("read", "write") for end in ("", "_low", "_high")},
        **dict.fromkeys(("network", "core", "target", "record_requests", "file_rate"), free),
        **dict.fromkeys(("latency", "record", "dataset", "cache", "price", "capacity"), nothing),
        **dict.fromkeys(("stripe", "targets", "cache_rate", "cache_servers", "lru_weight", "prefetch"), whole),
        "nodes": nodes,
    }


def storage_values(parts: Parts, use: StorageUse, nodes: Value) -> dict[str, Value]:
    """Return the numbers of a storage system."""
    found = parts.storage
    entry, origins = found.system or (None, {})
    own = _Own(parts, use)
    read, write = _system(own, entry, origins, "read"), _system(own, entry, origins, "write")
    if math.isnan(write.number):
        write = assumed(
            WRITE_OVER_READ * read.number, f"{WRITE_OVER_READ} of the read rate: no write rate in the catalog"
        )
    if math.isnan(read.number):
        read = assumed(write.number, "as the write rate: no read rate in the catalog")
    targets = _targets(own, entry, origins)
    known = math.isfinite(read.number) and targets.number > 1
    target = (
        derived(write.number / targets.number, "write rate / targets")
        if known
        else derived(ENDLESS, "no targets known")
    )
    values = {
        "nodes": nodes,
        "read_system": read,
        "write_system": write,
        "read_requests": _requests(own, entry, origins, "read", nodes),
        "write_requests": _requests(own, entry, origins, "write", nodes),
        "read_client": _client(own, entry, origins, "read"),
        "write_client": _client(own, entry, origins, "write"),
        "network": _network(own),
        "core": own.or_entry("core", entry, origins, derived(ENDLESS, "no limit known")),
        "targets": targets,
        "target": target,
        "stripe": own("stripe"),
        "latency": own.or_entry("latency", entry, origins, _usual_latency(entry)),
        "file_rate": _file_rate(own, entry, origins),
        "prefetch": own("prefetch"),
        "capacity": own("capacity") if use.capacity else derived(0.0, "not given"),
        "price": _price(own, entry, origins),
    }
    return values | _efficiencies(own, entry, origins) | _data(own, entry, origins) | _cache(own, found, nodes)


class _Own:
    """What the scenario itself gives."""

    def __init__(self, parts: Parts, use: StorageUse) -> None:
        self.parts = parts
        self.use = use

    def __call__(self, name: str) -> Value:
        return from_file(getattr(self.use, name), self.parts.origins, f"storage.{name}")

    def or_entry(self, name: str, entry: Storage | None, origins: Origins, otherwise: Value) -> Value:
        """Return what the scenario gives, or the catalog, or something else."""
        if getattr(self.use, name) is not None:
            return self(name)
        found = getattr(entry, name, None)
        return otherwise if found is None else from_file(found, origins, name)


def _system(own: _Own, entry: Storage | None, origins: Origins, way: str) -> Value:
    """Return the rate of the whole system before clients and requests limit it; NaN if unknown."""
    use = own.use
    if getattr(use, way) is not None:
        return own(way)
    if entry is None:
        return derived(math.nan, "not given")
    rate = getattr(entry, way)
    if rate is None:
        tier = _tier(use, entry)
        if tier is not None and tier.throughput is not None and tier.per is not None and use.capacity is not None:
            origin = from_file(0, origins, f"tiers[{entry.tiers.index(tier)}].throughput").origin
            return Value(float(storage.capacity_bandwidth(use.capacity, tier.throughput, tier.per)), origin)
        other = entry.read if way == "write" else entry.write
        return (
            derived(math.nan, "not in the catalog")
            if other
            else derived(ENDLESS, "no limit of the whole in the catalog")
        )
    if entry.scope != PER_SERVER:
        return from_file(rate, origins, way)
    servers = use.servers or entry.servers or 1
    copies = (use.replicas or entry.replicas or 1) if way == "write" else 1
    return Value(float(storage.servers_bandwidth(servers, rate, copies)), from_file(0, origins, way).origin)


def _requests(own: _Own, entry: Storage | None, origins: Origins, way: str, nodes: Value) -> Value:
    """Return the rate that limits on requests leave."""
    each = getattr(entry.requests_per_prefix, way) if entry and entry.requests_per_prefix else None
    whole = getattr(entry, f"{way}_iops") if entry and entry.kind == OBJECT else None
    prefixes = own.use.prefixes or max(int(nodes.number), 1)
    limits = []
    if each is not None:
        rate = float(storage.requests_bandwidth(prefixes, each, own.use.request))
        limits.append(Value(rate, from_file(0, origins, f"requests_per_prefix.{way}").origin))
    if whole is not None:
        rate = float(storage.requests_bandwidth(1.0, whole, own.use.request))
        limits.append(Value(rate, from_file(0, origins, f"{way}_iops").origin))
    return min(limits, key=lambda value: value.number, default=derived(ENDLESS, "no limit on requests known"))


def _client(own: _Own, entry: Storage | None, origins: Origins, way: str) -> Value:
    """Return the most that one node moves: its client, its connections, or the requests its mount has in flight."""
    name = f"{way}_per_client"
    if getattr(own.use, name) is not None:
        return own(name)
    if entry is None:
        return derived(ENDLESS, "no limit of a client known")
    found = getattr(entry, name)
    limits = [] if found is None else [from_file(found, origins, name)]
    if entry.per_connection is not None:
        wait = own.use.latency if own.use.latency is not None else entry.latency or 0.0
        one = own.use.request / (wait + own.use.request / entry.per_connection)
        limits.append(Value(own.use.connections * one, from_file(0, origins, "per_connection").origin))
    if entry.kind == NFS and (own.use.latency or entry.latency):
        wait = own.use.latency or entry.latency or 1.0
        rate = float(storage.slots_bandwidth(MOUNT_SLOTS, MOUNT_REQUEST, wait))
        limits.append(Value(rate, from_file(0, origins, "latency").origin))
    return min(limits, key=lambda value: value.number, default=derived(ENDLESS, "no limit of a client known"))


def _network(own: _Own) -> Value:
    """Return the rate of a node to storage: its storage ports, else its front end, else the ports for accelerators."""
    if own.use.network is not None:
        return own("network")
    node, origins = own.parts.node, own.parts.node_origins
    for role in ("storage", "front end"):
        for index, ports in enumerate(node.other_nics):
            if role in (ports.role or ""):
                origin = from_file(0, origins, f"other_nics[{index}].bandwidth_one_way").origin
                return Value(NETWORK_FRACTION * ports.count * ports.bandwidth_one_way, origin)
    if own.parts.network is None:
        return derived(ENDLESS, "no port of the node known")
    network, _ = own.parts.network
    ports_of = own.parts.file.cluster.network.ports or (node.nics[0].count if node.nics else 1)
    return default(
        NETWORK_FRACTION * ports_of * network.bandwidth_one_way,
        "the ports for accelerators: the node has none for storage in the catalog",
    )


def _targets(own: _Own, entry: Storage | None, origins: Origins) -> Value:
    use = own.use
    if use.targets is not None:
        return own("targets")
    if use.servers is not None:
        return own("servers")
    known = entry.servers if entry else None
    return derived(1.0, "not known") if known is None else from_file(known, origins, "servers")


def _usual_latency(entry: Storage | None) -> Value:
    if entry is not None and entry.kind == OBJECT:
        return default(OBJECT_LATENCY, "usual first byte of an object store")
    return default(FILE_LATENCY, "usual small read over a network")


def _file_rate(own: _Own, entry: Storage | None, origins: Origins) -> Value:
    if entry is not None and entry.file_rate is not None:
        return from_file(entry.file_rate, origins, "file_rate")
    return own("file_rate")


def _price(own: _Own, entry: Storage | None, origins: Origins) -> Value:
    if own.use.price is not None or entry is None:
        return own("price") if own.use.price is not None else derived(0.0, "not given")
    tier = _tier(own.use, entry)
    if tier is not None and tier.price_per_capacity is not None:
        return from_file(tier.price_per_capacity, origins, f"tiers[{entry.tiers.index(tier)}].price_per_capacity")
    if entry.price_per_capacity is not None:
        return from_file(entry.price_per_capacity, origins, "price_per_capacity")
    return assumed(0.0, "no price in the catalog, so it is not in the cost: give storage.price")


def _efficiencies(own: _Own, entry: Storage | None, origins: Origins) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for way in ("read", "write"):
        seen = getattr(entry, f"{way}_efficiency", None)
        if own.use.efficiency is not None:
            middle = low = high = own("efficiency")
        elif seen is not None:
            low, high = (from_file(end, origins, f"{way}_efficiency") for end in seen)
            middle = Value(sum(seen) / 2, low.origin)
        else:
            middle = default(EFFICIENCY[1], "usual share of a rated throughput; 60 to 100 %")
            low, high = (derived(share, "usual ends of that share") for share in (EFFICIENCY[0], EFFICIENCY[2]))
        found |= {f"{way}_efficiency": middle, f"{way}_efficiency_low": low, f"{way}_efficiency_high": high}
    return found


def _data(own: _Own, entry: Storage | None, origins: Origins) -> dict[str, Value]:
    """Return bytes of a sequence as stored and of the whole data set, and sequences per second that files allow."""
    use, work = own.use, own.parts.file.workload
    token = use.bytes_per_token or (2.0 if own.parts.model.vocab < SMALL_VOCABULARY else 4.0)
    text_of = derived(token * work.sequence_length, f"{token:g} bytes a token")
    record = (
        own("sample")
        if use.sample is not None
        else own("bytes_per_token")._replace(number=text_of.number)
        if use.bytes_per_token
        else text_of
    )
    sequences = (work.tokens or math.nan) / work.sequence_length
    dataset = own("dataset") if use.dataset is not None else derived(sequences * record.number, "every token once")
    if use.packing == "packed":
        requests = derived(ENDLESS, "many sequences in a file")
    elif entry is not None and entry.read_iops is not None:
        requests = from_file(entry.read_iops, origins, "read_iops")
    elif entry is not None and entry.requests_per_prefix and entry.requests_per_prefix.read:
        each = entry.requests_per_prefix.read * (use.prefixes or own.parts.file.cluster.nodes)
        requests = Value(each, from_file(0, origins, "requests_per_prefix.read").origin)
    else:
        requests = own("file_rate")
    return {"record": record, "dataset": dataset, "record_requests": requests}


def _cache(own: _Own, found: Found, nodes: Value) -> dict[str, Value]:
    cache = own.use.cache
    if cache is None:
        none = derived(0.0, "no cache")
        return {
            "cache": none,
            "cache_rate": derived(1.0, "no cache"),
            "cache_servers": derived(1.0, "no cache"),
            "lru_weight": none,
        }

    def given(name: str, number: float | None) -> Value:
        return from_file(number, own.parts.origins, f"storage.cache.{name}")

    rate = default(CACHE_RATE, "one process copying from memory")
    if cache.read is not None:
        rate = given("read", cache.read)
    elif found.cache is not None and found.cache[0].read is not None:
        rate = from_file(found.cache[0].read, found.cache[1], "read")
    return {
        "cache": given("capacity", cache.capacity),
        "cache_rate": rate,
        "cache_servers": nodes if cache.partitioned else derived(1.0, "every node caches what it reads"),
        "lru_weight": Value(LRU_WEIGHT[cache.policy], given("policy", 0.0).origin),
    }
