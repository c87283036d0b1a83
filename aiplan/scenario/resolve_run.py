"""The run as a whole as numbers: checkpoints and failures, each with its origin."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from aiplan.core import reliability
from aiplan.scenario import host, resolve_storage
from aiplan.scenario.cautions import Caution
from aiplan.scenario.legality import Fault
from aiplan.scenario.run_records import IDEAL, Checkpoint, Reliability
from aiplan.scenario.values import Value, assumed, default, derived, from_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from aiplan.scenario.records import ScenarioFile
    from aiplan.scenario.resolve import Parts

    Own = Callable[..., Value]

DAY = 86400.0
FLEET_RATES = {
    "best": (2.3, "a fleet of 32,000 accelerators, https://arxiv.org/abs/2602.00277"),
    "rsc-2": (2.34, "https://arxiv.org/abs/2410.21680"),
    "llama-3": (
        1000 * float(reliability.observed_rate(419, 2048, 54)),
        "419 in 54 days on 2,048 nodes, https://arxiv.org/abs/2407.21783",
    ),
    "rsc-1": (6.50, "https://arxiv.org/abs/2410.21680"),
    "new-cluster": (14.0, "about 105 restarts in two months on 124 nodes, https://arxiv.org/abs/2205.01068"),
    "tpu-v4": (0.8, "0.08 % of machines a day, https://www.usenix.org/conference/nsdi24/presentation/zu"),
}
"""Interruptions per 1,000 nodes of eight accelerators and day (of four for the TPUs), and where they were published."""
ACCELERATORS_PER_NODE = {"tpu-v4": 4}
EIGHT = 8
LINEAR_UP_TO = 32_768
RULES = {"given": "given", "by_young": "young", "by_daly": "daly"}
"""Flags of an interval, and what it says for each; with none of them it is the best one."""
DRIVES = (40e9, 20e9)
UNKNOWN = math.nan
DENSE_UPDATES = ("adam", "adam-bf16-states", "adam-8bit", "sgd-momentum")
NEAR_MODES = ("in-memory", "tiered")


def fleet_mtbf(fleet: str) -> float:
    """Return the mean time between interruptions that one accelerator of a published fleet caused [s]."""
    return 1000.0 * DAY * ACCELERATORS_PER_NODE.get(fleet, EIGHT) / FLEET_RATES[fleet][0]


def given_blocks(file: ScenarioFile) -> bool:
    """Whether a scenario asks for anything beyond steps."""
    return any(block is not None for block in (file.storage, file.checkpoint, file.reliability))


def checkpoint_of(file: ScenarioFile) -> Checkpoint | None:
    """Return how checkpoints are made: as said, or with all defaults where failures are modelled."""
    if isinstance(file.checkpoint, Checkpoint):
        return file.checkpoint
    return Checkpoint() if file.checkpoint is None and isinstance(file.reliability, Reliability) else None


def check(parts: Parts) -> Iterator[Fault]:
    """Yield what of a run cannot be, whatever the step."""
    use, saves, fails = resolve_storage.storage_use(parts.file), parts.file.checkpoint, parts.file.reliability
    if use is not None:
        yield from resolve_storage.check(use, parts.storage)
    if isinstance(saves, Checkpoint):
        yield from _check_checkpoint(saves, parts)
    if isinstance(fails, Reliability):
        yield from _check_reliability(fails, parts)


def _check_checkpoint(saves: Checkpoint, parts: Parts) -> Iterator[Fault]:
    optimizer = parts.file.workload.optimizer
    if saves.form == "incremental" and (optimizer in DENSE_UPDATES or parts.model.experts is None):
        why = (
            f"{optimizer} changes every byte of the state in every step"
            if optimizer in DENSE_UPDATES
            else "every weight of a dense model changes in every step"
        )
        yield Fault(
            "AIP380",
            f"an incremental checkpoint saves nothing: {why}",
            "checkpoint.form",
            "form: quantised, or mode: async; incremental pays for sparse updates only",
        )
    if saves.form != "whole" and saves.ratio is None:
        yield Fault(
            "AIP106",
            f"form {saves.form} needs a ratio",
            "checkpoint",
            "give checkpoint.ratio: bytes written over bytes held",
        )
    if saves.form == "whole" and saves.ratio is not None:
        yield Fault(
            "AIP107", "a whole checkpoint has no ratio", "checkpoint.ratio", "form: quantised, or leave ratio out"
        )
    if saves.storage_interval is not None and saves.mode not in NEAR_MODES:
        yield Fault(
            "AIP107",
            f"mode {saves.mode} has one interval only",
            "checkpoint.storage_interval",
            "give checkpoint.interval, or mode: in-memory or tiered",
        )
    if saves.mode == "in-memory" and parts.file.cluster.nodes == 1:
        yield Fault("AIP107", "one node has no peer to keep its checkpoint", "checkpoint.mode", "mode: async")


def _check_reliability(fails: Reliability, parts: Parts) -> Iterator[Fault]:
    nodes = parts.file.cluster.nodes
    named = [name for name in ("mtbf_per_node", "mtbf_per_accelerator", "mtbf") if getattr(fails, name) is not None]
    if len(named) > 1:
        yield Fault(
            "AIP107", f"{' and '.join(named)} say the same thing twice", f"reliability.{named[1]}", "give one of them"
        )
    if fails.spares is not None and fails.spares > nodes:
        yield Fault("AIP107", f"{fails.spares} spare nodes for {nodes} nodes", "reliability.spares", f"at most {nodes}")
    if fails.evaluation is not None:
        for pair in (("every", "every_sequences"), ("time", "sequences")):
            if sum(getattr(fails.evaluation, name) is not None for name in pair) != 1:
                yield Fault(
                    "AIP107",
                    f"an evaluation has either {pair[0]} or {pair[1]}",
                    "reliability.evaluation",
                    "give one of them",
                )
    if fails.elastic is not None and fails.elastic.minimum > nodes:
        yield Fault(
            "AIP107",
            f"a job of {nodes} nodes cannot need {fails.elastic.minimum}",
            "reliability.elastic.minimum",
            f"at most {nodes}",
        )


def cautions(file: ScenarioFile, accelerators: int) -> Iterator[Caution]:
    """Yield what of a run is to be taken with care."""
    fails, saves = file.reliability, file.checkpoint
    if isinstance(fails, Reliability) and fails.exponent <= 1 and fails.mtbf is None and accelerators > LINEAR_UP_TO:
        yield Caution(
            "AIP381",
            "reliability",
            f"rates of interruptions are published up to {LINEAR_UP_TO:,} accelerators, and there are {accelerators:,}",
            "100,000 were interrupted 2.8 times as often as a linear growth says: try reliability.exponent=1.9",
        )
    if isinstance(saves, Checkpoint) and saves.form == "quantised":
        yield Caution(
            "AIP321",
            "checkpoint.form",
            "what a quantised checkpoint does to accuracy after a restart is outside the model",
            "only its bytes are counted",
        )


def run_values(parts: Parts, plan: dict[str, Value]) -> dict[str, Value]:
    """Return all numbers of a run by dotted name; none if the scenario asks for steps only.

    Parameters
    ----------
    parts : Parts
        The scenario.
    plan : dict
        Values of workload and plan.
    """
    if not given_blocks(parts.file):
        return {}
    use, fails = resolve_storage.storage_use(parts.file), parts.file.reliability
    total = parts.file.cluster.accelerators or parts.file.cluster.nodes * parts.node.accelerators
    nodes = derived(math.ceil(total / parts.node.accelerators), "accelerators / accelerators of a node")
    stored = resolve_storage.no_storage(nodes) if use is None else resolve_storage.storage_values(parts, use, nodes)
    groups = {
        "storage": stored,
        "checkpoint": _checkpoint(parts, stored["network"], plan),
        "reliability": _reliability(parts, fails if isinstance(fails, Reliability) else None, total),
    }
    return {f"{group}.{name}": value for group, values in groups.items() for name, value in values.items()}


def _checkpoint(parts: Parts, network: Value, resolved: dict[str, Value]) -> dict[str, Value]:
    saves = checkpoint_of(parts.file)
    made = derived(float(saves is not None), "checkpoint given" if saves else "no checkpoints")
    saves = saves or Checkpoint()

    def own(name: str, number: float | None = None) -> Value:
        found = getattr(saves, name) if number is None else number
        return from_file(found, parts.origins, f"checkpoint.{name}")

    near = saves.mode in NEAR_MODES
    total = parts.file.cluster.accelerators or parts.file.cluster.nodes * parts.node.accelerators
    by_layout = derived(1.0, "all ranks if ZeRO shards the optimizer, else one replica of the model")
    far_only = derived(math.inf, "no copy close by")
    write, read = _near_rates(parts, saves, network) if near else (far_only, far_only)
    rule = "given" if isinstance(saves.interval, float) else saves.interval
    return {
        "made": made,
        "asynchronous": own("mode", float(saves.mode != "sync")),
        "near": own("mode", float(near)),
        "in_memory": own("mode", float(saves.mode == "in-memory")),
        "weight_bytes": _saved(saves, own, resolved["workload.weight_bytes"], "weights"),
        "state_bytes": _saved(saves, own, resolved["workload.optimizer_bytes"], "optimizer"),
        "ratio": own("ratio", 1.0 if saves.ratio is None else saves.ratio),
        "by_layout": by_layout if saves.writers is None else own("writers", 0.0),
        "all_ranks": own("writers", float(saves.writers == "sharded")),
        "one_rank": own("writers", float(saves.writers == "rank-0")),
        "gathers": own("writers", float(saves.writers == "rank-0" and total > 1)),
        "writer_rate": own("writer_rate"),
        "host_rate": _host_rate(parts, saves),
        "planning": own("planning"),
        **{name: own("interval", float(rule == text)) for name, text in RULES.items()},
        "interval": own("interval") if rule == "given" else derived(UNKNOWN, f"by rule: {rule}"),
        "stores_apart": own("storage_interval", float(saves.storage_interval is not None)),
        "storage_interval": own("storage_interval") if saves.storage_interval else derived(UNKNOWN, "by rule: auto"),
        "near_write": write,
        "near_read": read,
        "joint_loss": own("joint_loss"),
        "keep": own("keep"),
        "all_read": own("restore", float(saves.restore == "all-read")),
        "broadcasts": own("restore", float(saves.restore == "broadcast")),
        "copies": own("mode", {"sync": 0.0, "async": 1.0, "tiered": 0.0, "in-memory": 2.0}[saves.mode]),
    }


def _saved(saves: Checkpoint, own: Own, each: Value, part: str) -> Value:
    """Return the bytes saved per parameter of weights, or of optimizer states."""
    if saves.bytes_per_parameter is not None:
        rest = max(saves.bytes_per_parameter - 2.0, 0.0)
        number = rest if part == "optimizer" else saves.bytes_per_parameter - rest
        return own("bytes_per_parameter", number)
    left_out = {"full": (), "optimizer": ("weights",), "weights": ("optimizer",)}[saves.contents]
    return own("contents", 0.0) if part in left_out else each


def _near_rates(parts: Parts, saves: Checkpoint, network: Value) -> tuple[Value, Value]:
    """Return the rates of a node at which the copy close by is written and read."""
    if saves.mode == "in-memory":
        if parts.network is None or not parts.node.nics:
            return network, network
        rate = parts.network[0].bandwidth_one_way * (parts.file.cluster.network.ports or parts.node.nics[0].count)
        peers = default(resolve_storage.NETWORK_FRACTION * rate, "all ports for accelerators, to a peer")
        return peers, peers
    drives, origins = parts.node.local_storage, parts.node_origins
    found = []
    for name, usual in zip(("write", "read"), DRIVES[::-1], strict=True):
        known = getattr(drives, name) if drives else None
        found.append(
            assumed(usual, "usual for the drives of a node; none in the catalog")
            if known is None
            else from_file(known, origins, f"local_storage.{name}")
        )
    return found[0], found[1]


def _host_rate(parts: Parts, saves: Checkpoint) -> Value:
    if saves.host_rate is not None:
        return from_file(saves.host_rate, parts.origins, "checkpoint.host_rate")
    return host.link_rate(parts)


def _reliability(parts: Parts, fails: Reliability | None, total: int) -> dict[str, Value]:
    nodes = math.ceil(total / parts.node.accelerators)
    free = fails is None
    fails = fails or Reliability()

    def own(name: str, number: float | None = None) -> Value:
        found = getattr(fails, name) if number is None else number
        return from_file(found, parts.origins, f"reliability.{name}")

    batch = parts.file.workload.global_batch
    shrinks = fails.elastic is not None and fails.elastic.minimum < nodes
    return {
        "accelerator_mtbf": derived(math.inf, "no failures") if free else _accelerator_mtbf(parts, fails, total, own),
        "exponent": own("exponent") if fails.mtbf is None else derived(1.0, "the rate of this job is given"),
        "linear_up_to": derived(float(LINEAR_UP_TO), "largest job whose rate was published"),
        **{name: own(name) for name in ("detect", "replace", "start", "initialise", "warm_up", "node_share", "repair")},
        "limited": own("spares", float(fails.spares is not None)),
        "spares": own("spares", float(fails.spares or 0)),
        "elastic": derived(float(shrinks), "a node less is enough" if shrinks else "not elastic, or no node too many"),
        **_pauses(fails, batch, own),
        "starts": derived(float(not (free or fails.fleet == IDEAL)), "the first start is counted where failures are"),
    }


def _pauses(fails: Reliability, batch: int, own: Own) -> dict[str, Value]:
    """Return how often evaluations and planned stops come, and how long one takes."""
    asked, planned = fails.evaluation, fails.maintenance
    if asked is None:
        every = derived(math.inf, "no evaluations")
    elif asked.every is not None:
        every = own("evaluation.every", float(asked.every))
    else:
        every = own("evaluation.every_sequences", (asked.every_sequences or batch) / batch)
    return {
        "evaluation_every": every,
        "evaluation_time": own("evaluation.time", asked.time or 0.0 if asked else 0.0),
        "evaluation_sequences": own("evaluation.sequences", float(asked.sequences or 0) if asked else 0.0),
        "maintenance_every": own("maintenance.every", planned.every if planned else math.inf),
        "maintenance_time": own("maintenance.time", planned.time if planned else 0.0),
    }


def _accelerator_mtbf(parts: Parts, fails: Reliability, total: int, own: Own) -> Value:
    """Return the mean time between interruptions that one accelerator, with its share of the node, causes."""
    if fails.mtbf is not None:
        return own("mtbf", fails.mtbf * total)
    if fails.mtbf_per_node is not None:
        return own("mtbf_per_node", fails.mtbf_per_node * parts.node.accelerators)
    if fails.mtbf_per_accelerator is not None:
        return own("mtbf_per_accelerator", fails.mtbf_per_accelerator)
    if fails.fleet == IDEAL:
        return own("fleet", math.inf)
    rate, source = FLEET_RATES[fails.fleet]
    number = fleet_mtbf(fails.fleet)
    origin = parts.origins.get("reliability.fleet")
    given = origin is not None and origin.kind == "given"
    text = f"{rate:.2f} interruptions per 1,000 nodes and day: {source}"
    if given and origin is not None:
        return Value(number, origin._replace(detail=text))
    return default(number, f"as Llama 3 405B saw, {text}; published fleets range from 2.3 to 14")
