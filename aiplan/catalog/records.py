"""What a catalog entry holds, one record per kind."""

from __future__ import annotations

from aiplan.declare import (
    Declared,
    choice,
    flag,
    integer,
    listing,
    mapping,
    number,
    quantity,
    quantity_range,
    record,
    records,
    text,
)

DTYPES = ("fp64", "fp64_tensor", "fp32", "tf32", "fp16", "bf16", "fp8", "fp6", "fp4", "int8")

ID_PATTERN = r"[a-z0-9][a-z0-9.\-]{0,99}"


class Entry(Declared):
    """What every entry of the catalog says about itself."""

    name: str = text(doc="Name people know it by")
    released: int | None = integer(doc="Year of release", default=None, minimum=1990, maximum=2100)
    verified: bool = flag(doc="Whether the headline numbers were read in the sources")
    unverified: tuple[str, ...] = listing(text(doc="Field path"), doc="Fields not read in a source", default=())
    notes: str | None = text(doc="What a reader should know", default=None)
    sources: tuple[str, ...] = listing(text(doc="Address"), doc="Public addresses of the facts", default=())


class Price(Declared):
    """One dated price."""

    provider: str = text(doc="Who asks this price")
    sku: str | None = text(doc="Name of the offer", default=None)
    per_hour: tuple[float, float] = quantity_range("money rate", doc="Price per hour, or lowest and highest", above=0)
    as_of: str | None = text(doc="Date of the price", default=None)
    terms: str = choice(
        ("on-demand", "spot", "market", "modelled"),
        doc="What kind of price: a list price, spare capacity, set by demand, or computed from costs",
        default="on-demand",
    )
    source: str | None = text(doc="Public address", default=None)
    verified: bool = flag(doc="Whether the price was read in the source", default=False)
    notes: str | None = text(doc="What a reader should know", default=None)


class PriceRange(Declared):
    """Lowest and highest hourly price seen."""

    per_hour: tuple[float, float] = quantity_range("money rate", doc="Lowest and highest price per hour", above=0)
    as_of: str = text(doc="Date of the prices")


class PurchasePrice(Declared):
    """What buying one costs."""

    range: tuple[float, float] | None = quantity_range("money", doc="Lowest and highest price", default=None, above=0)
    value: float | None = quantity("money", doc="The price", default=None, above=0)
    as_of: str | None = text(doc="Date of the price", default=None)
    verified: bool = flag(doc="Whether the price was read in a source", default=False)


class Memory(Declared):
    """Device memory."""

    label: str = text(doc="Size on the label; a name, not a number to compute with")
    capacity: float = quantity("data", doc="Bytes that programs can use", above=0)
    bandwidth: float = quantity("data rate", doc="Peak bandwidth", above=0)
    type: str | None = text(doc="Kind of memory", default=None)


class LinkUse(Declared):
    """Links of one kind that leave a device."""

    link: str = text(doc="Id of a link", pattern=ID_PATTERN)
    count: int = integer(doc="How many leave the device", default=1, minimum=1)


class AchievedCompute(Declared):
    """What single kernels reach."""

    matmul: dict[str, float] = mapping(
        quantity("compute rate", doc="Best rate measured", above=0),
        keys=DTYPES,
        doc="Best matmul found by a shape search, per data type",
    )
    fitted_on: str = text(doc="What was measured")
    source: str | None = text(doc="Public address", default=None)


class FittedCompute(Declared):
    """What training runs reach, and on which runs that was fitted."""

    matmul_fraction: float = number(
        doc="Share of the dense peak that matmuls sustain, tile losses apart", above=0, maximum=1
    )
    matmul_fraction_by_type: dict[str, float] = mapping(
        number(doc="Share", above=0, maximum=1), keys=DTYPES, doc="The same for narrower types", default="empty"
    )
    shared_with: str | None = text(
        doc="Accelerator whose figures these are: both were fitted together", default=None, pattern=ID_PATTERN
    )
    matmul_depth: float = number(doc="Inner dimension that filling a tile costs", default=0.0, minimum=0)
    attention_fraction: float = number(doc="Share of the dense peak that fused attention reaches", above=0, maximum=1)
    memory_fraction: float = number(doc="Share of the memory bandwidth that kernels reach", above=0, maximum=1)
    fitted_on: str = text(doc="Runs it was fitted on")


class Accelerator(Entry):
    """A GPU, NPU or TPU."""

    vendor: str = text(doc="Who makes it")
    architecture: str | None = text(doc="Architecture", default=None)
    compute: dict[str, float] = mapping(
        quantity("compute rate", doc="Dense peak", above=0), keys=DTYPES, doc="Dense peak per data type"
    )
    sparsity: float | None = number(
        doc="Vendor's headline with structured sparsity = dense peak x this", default=None, above=1
    )
    sparsity_by_type: dict[str, float] = mapping(
        number(doc="Factor"), keys=DTYPES, doc="Exceptions to the sparsity factor", default="empty"
    )
    peak_ratios: dict[str, float] = mapping(
        number(doc="Factor", above=0),
        keys=DTYPES,
        doc="Dense peak over that of bf16 where it is not the usual one: 2 for fp8 and int8, 1 for fp16, 1/2 for tf32",
        default="empty",
    )
    multiprocessors: int | None = integer(
        doc="Streaming multiprocessors, compute units or cores", default=None, minimum=1
    )
    clock: float | None = quantity("frequency", doc="Boost clock", default=None, above=0)
    cache: float | None = quantity("data", doc="Last-level cache", default=None, above=0)
    memory: Memory = record(Memory, doc="Device memory")
    scale_up: LinkUse | None = record(LinkUse, doc="Links to the other devices of the node", default=None)
    host_link: LinkUse | None = record(LinkUse, doc="Link to the host", default=None)
    power: float | None = quantity("power", doc="Board or module power", default=None, above=0)
    achieved: AchievedCompute | None = record(AchievedCompute, doc="What single kernels reach", default=None)
    fitted: FittedCompute | None = record(FittedCompute, doc="What training runs reach", default=None)
    devices: int = integer(doc="Devices that software sees in one product", default=1, minimum=1)
    purchase_price: PurchasePrice | None = record(PurchasePrice, doc="What buying one costs", default=None)
    price_range: PriceRange | None = record(PriceRange, doc="Hourly price, lowest and highest", default=None)
    prices: tuple[Price, ...] = records(Price, doc="Dated hourly prices per accelerator", default=())


class AchievedLink(Declared):
    """What transfers reach on a link or a port."""

    bandwidth_one_way: float = quantity("data rate", doc="One way, per link or port", above=0)
    fitted_on: str = text(doc="What it was measured or fitted on")
    source: str | None = text(doc="Public address", default=None)


class Link(Entry):
    """A link inside a node or rack, or a cable."""

    kind: str = choice(
        (
            "nvlink",
            "c2c",
            "nvswitch",
            "pcie",
            "infinity-fabric",
            "hccs",
            "ici",
            "neuronlink",
            "gaudi",
            "cable",
        ),
        doc="Family",
    )
    bandwidth_one_way: float | None = quantity("data rate", doc="One way, per link", default=None, above=0)
    links_per_device: int | None = integer(doc="Links that a device of its generation has", default=None, minimum=1)
    lanes_per_link: int | None = integer(doc="Lanes in a link", default=None, minimum=1)
    lane_rate: float | None = quantity(
        "data rate", doc="Signalling rate of a lane, one way: lanes x this bounds a link", default=None, above=0
    )
    ports: int | None = integer(doc="Ports of a switch chip", default=None, minimum=0)
    topology: str | None = text(doc="How devices are wired", default=None)
    latency: float | None = quantity("time", doc="Per step of a collective, as a first value", default=None, minimum=0)
    achieved: AchievedLink | None = record(AchievedLink, doc="What transfers reach", default=None)
    in_network_reduction: bool = flag(doc="Whether the switch adds up what passes it", default=False)
    power: float | None = quantity("power", doc="Per end or module", default=None, minimum=0)
    power_max: float | None = quantity("power", doc="Most per end or module", default=None, minimum=0)
    delay: float | None = quantity("delay per length", doc="Signal delay of a cable", default=None, minimum=0)
    reach: float | None = quantity("length", doc="Longest cable", default=None, above=0)


class Network(Entry):
    """A network between nodes: one port of it."""

    kind: str = choice(
        (
            "infiniband",
            "omni-path",
            "roce",
            "efa",
            "ethernet",
            "slingshot",
            "gpudirect-tcpx",
            "gpudirect-tcpxo",
            "ici-dcn",
        ),
        doc="Family",
    )
    bandwidth_one_way: float = quantity("data rate", doc="Data rate of a port, one way", above=0)
    label: str | None = text(doc="Rate on the label; a name", default=None)
    lanes: int | None = integer(doc="Lanes of a port", default=None, minimum=1)
    latency: float | None = quantity(
        "time", doc="Published end-to-end latency of a small message", default=None, minimum=0
    )
    latency_seed: float | None = quantity("time", doc="Simple seed value of textbooks", default=None, minimum=0)
    collective_latency: float | None = quantity(
        "time", doc="Per network step of a collective, protocol included", default=None, minimum=0
    )
    achieved: AchievedLink | None = record(AchievedLink, doc="What long messages reach", default=None)
    efficiency: float | None = quantity(
        "fraction", doc="Share of the data rate that long messages reach", default=None, above=0, maximum=1
    )
    rdma: bool = flag(doc="Whether the host's processor is bypassed")
    ports_per_node: int | None = integer(doc="Ports in the node it comes with", default=None, minimum=1)


class Ports(Declared):
    """Network ports of one kind."""

    network: str = text(doc="Id of a network", pattern=ID_PATTERN)
    count: int = integer(doc="Ports", minimum=1)


class OtherPorts(Declared):
    """Ports for storage and management."""

    bandwidth_one_way: float = quantity("data rate", doc="One way, per port", above=0)
    count: int = integer(doc="Ports", minimum=1)
    role: str | None = text(doc="What for", default=None)


class ScaleUp(Declared):
    """How the accelerators of a node, or rack, are wired."""

    topology: str = choice(
        ("switched", "full-mesh", "cube-mesh", "2d-torus", "3d-torus", "pair", "pcie", "irregular"),
        doc="Wiring",
    )
    switch: str | None = text(doc="Id of the switch chip, among links", default=None, pattern=ID_PATTERN)
    switches: int | None = integer(doc="Switch chips", default=None, minimum=1)
    links: int | None = integer(
        doc="Links of each accelerator that a transfer uses, if not all of them", default=None, minimum=1
    )
    domain: int | None = integer(
        doc="Accelerators in one scale-up network, if more than the node", default=None, minimum=1
    )


class LocalStorage(Declared):
    """Drives inside a node."""

    drives: int | None = integer(doc="Drives", default=None, minimum=1)
    drive_capacity: float | None = quantity("data", doc="Per drive", default=None, above=0)
    kind: str | None = text(doc="Kind of drive", default=None)
    read: float | None = quantity("data rate", doc="All drives together", default=None, above=0)
    write: float | None = quantity("data rate", doc="All drives together", default=None, above=0)


class Node(Entry):
    """A server, a cloud instance or a rack."""

    vendor: str | None = text(doc="Who makes it", default=None)
    provider: str | None = text(doc="Who rents it out", default=None)
    accelerator: str = text(doc="Id of an accelerator", pattern=ID_PATTERN)
    accelerators: int = integer(doc="Accelerators in the node", minimum=1)
    cpu: str | None = text(doc="Host processors", default=None)
    memory: float | None = quantity("data", doc="Host memory", default=None, above=0)
    nics: tuple[Ports, ...] = records(Ports, doc="Network ports for accelerator traffic", default=())
    other_nics: tuple[OtherPorts, ...] = records(OtherPorts, doc="Ports for storage and management", default=())
    scale_up: ScaleUp = record(ScaleUp, doc="Wiring of the accelerators")
    local_storage: LocalStorage | None = record(LocalStorage, doc="Drives inside", default=None)
    power: float | None = quantity("power", doc="Most that the node draws", default=None, above=0)
    power_per_accelerator: float | None = quantity(
        "power", doc="All-in draw per accelerator, with its share of node and network", default=None, above=0
    )
    purchase_price: PurchasePrice | None = record(PurchasePrice, doc="What buying one costs", default=None)
    per_hour: tuple[Price, ...] = records(Price, doc="Dated hourly prices of the whole node", default=())


class SwitchPower(Declared):
    """What a switch draws."""

    typical: float | None = quantity("power", doc="Typical", default=None, above=0)
    max: float | None = quantity("power", doc="Most", default=None, above=0)


class Switch(Entry):
    """A network switch."""

    kind: str = choice(("infiniband", "ethernet", "slingshot", "nvlink"), doc="Family")
    ports: int | None = integer(doc="Ports at full rate", default=None, minimum=1)
    port_bandwidth_one_way: float | None = quantity("data rate", doc="Per port, one way", default=None, above=0)
    capacity_one_way: float | None = quantity("data rate", doc="All ports together, one way", default=None, above=0)
    hop_latency: float | None = quantity("time", doc="Port to port", default=None, minimum=0)
    power: SwitchPower | None = record(SwitchPower, doc="What it draws", default=None)
    purchase_price: PurchasePrice | None = record(PurchasePrice, doc="What buying one costs", default=None)


class Region(Entry):
    """A country or a cloud region: electricity and carbon."""

    country: str | None = text(doc="Country code", default=None)
    provider: str | None = text(doc="Cloud provider", default=None)
    carbon: float | None = quantity("carbon intensity", doc="Carbon intensity of electricity", default=None, minimum=0)
    electricity: float | None = quantity("energy price", doc="Price of electricity", default=None, above=0)
    pue: float | None = number(doc="Facility power over IT power", default=None, minimum=1)
    as_of: str | None = text(doc="Date of the figures", default=None)


class StorageTier(Declared):
    """One size or speed that a storage system is sold in."""

    name: str = text(doc="Name of the tier")
    throughput: float | None = quantity(
        "data rate", doc="Rate that comes with a unit of capacity", default=None, above=0
    )
    per: float | None = quantity("data", doc="That unit of capacity", default=None, above=0)
    price_per_capacity: float | None = quantity("storage price", doc="Price of capacity", default=None, minimum=0)
    notes: str | None = text(doc="What a reader should know", default=None)


class RequestRate(Declared):
    """Requests per second."""

    read: float | None = quantity("rate", doc="Reads", default=None, above=0)
    write: float | None = quantity("rate", doc="Writes", default=None, above=0)


class Storage(Entry):
    """A drive, a storage system or a storage service."""

    kind: str = choice(
        (
            "nvme",
            "raid",
            "dram",
            "lustre",
            "gpfs",
            "weka",
            "vast",
            "daos",
            "beegfs",
            "cephfs",
            "pvfs",
            "gfs",
            "nfs",
            "object",
            "guidance",
        ),
        doc="Family",
    )
    medium: str | None = text(doc="What holds the bytes", default=None)
    scope: str | None = text(doc="What the rates are of: device, node, system, client or server", default=None)
    capacity: float | None = quantity("data", doc="Usable capacity", default=None, above=0)
    read: float | None = quantity("data rate", doc="Read rate", default=None, above=0)
    write: float | None = quantity("data rate", doc="Write rate", default=None, above=0)
    read_per_client: float | None = quantity("data rate", doc="Most that one client reads", default=None, above=0)
    write_per_client: float | None = quantity("data rate", doc="Most that one client writes", default=None, above=0)
    read_iops: float | None = quantity("rate", doc="Small reads", default=None, above=0)
    write_iops: float | None = quantity("rate", doc="Small writes", default=None, above=0)
    latency: float | None = quantity("time", doc="Small operation, as a client sees it", default=None, minimum=0)
    requests_per_prefix: RequestRate | None = record(RequestRate, doc="Requests per key prefix", default=None)
    per_connection: float | None = quantity("data rate", doc="Most over one connection", default=None, above=0)
    servers: int | None = integer(doc="Storage servers", default=None, minimum=1)
    replicas: int | None = integer(
        doc="Copies that each byte is written in, if the write rate is before them", default=None, minimum=1
    )
    core: float | None = quantity("data rate", doc="Most that its own network carries one way", default=None, above=0)
    file_rate: float | None = quantity("rate", doc="Files made per second", default=None, above=0)
    read_efficiency: tuple[float, float] | None = quantity_range(
        "fraction", doc="Share of the narrowest rate that reads were seen to reach", default=None, above=0, maximum=1
    )
    write_efficiency: tuple[float, float] | None = quantity_range(
        "fraction", doc="Share of the narrowest rate that writes were seen to reach", default=None, above=0, maximum=1
    )
    price_per_capacity: float | None = quantity("storage price", doc="Price of capacity", default=None, minimum=0)
    tiers: tuple[StorageTier, ...] = records(StorageTier, doc="Tiers it is sold in", default=())
    power: float | None = quantity("power", doc="What it draws", default=None, above=0)


KINDS: dict[str, type[Entry]] = {
    "accelerators": Accelerator,
    "links": Link,
    "networks": Network,
    "nodes": Node,
    "switches": Switch,
    "storage": Storage,
    "regions": Region,
}
