"""Environment variables of a job, held against what is known of them and against the hardware."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from aiplan.catalog import nccl
from aiplan.scenario.cautions import Caution
from aiplan.scenario.environment import FIELD, USERS, VERBS, names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.declare import Node
    from aiplan.scenario.environment import System

NEVER = ("LOC", "0")
MOST_SOCKETS = 64
ASSUMED = {"allreduce": ("ring", "tree"), "allgather": ("ring",), "reducescatter": ("ring",)}
"""Algorithms that the model of a step knows for each collective."""
OPERATIONS = {"allreduce": "all-reduce", "allgather": "all-gather", "reducescatter": "reduce-scatter"}


def doubts(given: dict[str, str | int], cluster: System, tree: Node) -> Iterator[Caution]:
    """Yield every variable that is unknown, has no value it takes, or contradicts the cluster."""
    marks = names(tree)
    sound = {}
    for name, value in ((name, str(value).strip()) for name, value in given.items()):
        unknown = _unknown(name)
        wrong = None if unknown or name not in nccl.variables() else nccl.wrong(name, value)
        if unknown:
            yield unknown._replace(mark=marks.get(name))
        elif wrong:
            yield Caution("AIP331", f"{FIELD}.{name}", wrong.problem, _close(name, value), f"expected {wrong.expected}")
        else:
            sound[name] = value
    yield from _unneeded(sound, cluster)
    yield from _contradictions(sound, cluster)
    yield from _forbidden(sound)


def _unknown(name: str) -> Caution | None:
    known = nccl.variables()
    if name in known:
        then = known[name].replaced_by
        return Caution("AIP330", f"{FIELD}.{name}", f"{name} is no longer read", f"use {then}") if then else None
    ours = name.startswith("NCCL_")
    close = difflib.get_close_matches(name.upper(), known, n=2, cutoff=0.6 if ours else 0.85)
    if not ours and not close:
        return None  # a variable of something else
    meant = f"did you mean {' or '.join(repr(one) for one in close)}?" if close else f"see {nccl.DOCUMENTATION}"
    return Caution("AIP330", f"{FIELD}.{name}", f"no variable '{name}' is known", meant)


def _close(name: str, value: str) -> str:
    variable = nccl.variables()[name]
    names = {"algorithms": nccl.ALGORITHMS, "protocols": nccl.PROTOCOLS}.get(variable.kind, variable.choices)
    last = value.replace(";", ",").replace(":", ",").split(",")
    bad = next((word for word in last if word.strip("^ ").upper() not in {one.upper() for one in names}), value)
    close = difflib.get_close_matches(bad.strip("^ ").upper(), [one.upper() for one in names], n=2, cutoff=0.6)
    spelled = [repr(one) for one in names if one.upper() in close]
    return f"did you mean {' or '.join(spelled)}?" if spelled else ""


def _unneeded(values: dict[str, str], cluster: System) -> Iterator[Caution]:
    """Yield variables for hardware that is not there."""
    known = nccl.variables()
    if cluster.vendor not in USERS:
        for name in values:
            if name.startswith("NCCL_"):
                problem = f"{name} does nothing: {cluster.device} communicates without NCCL"
                yield Caution("AIP332", f"{FIELD}.{name}", problem, "leave it out")
        return
    for name, value in values.items():
        need = known[name].needs if name in known else None
        if need is None or cluster.has(need) or (need in {"nvls", "mnnvl"} and value == "0"):
            continue
        there = {
            "nvls": f"{cluster.device} has no switches that reduce, as Hopper and later have",
            "mnnvl": "no NVLink between the nodes: the scale-up domain is one node",
        }.get(need, f"the network is {cluster.network_name}")
        yield Caution("AIP332", f"{FIELD}.{name}", f"{name}={value} does nothing here: {there}", "leave it out")


def _contradictions(values: dict[str, str], cluster: System) -> Iterator[Caution]:
    """Yield variables that switch off or slow down what the estimate counts on, and pairs that contradict."""

    def when(condition: bool, name: str, problem: str, hint: str) -> Iterator[Caution]:  # noqa: FBT001
        if condition:
            yield Caution("AIP332", f"{FIELD}.{name}", f"{name}={values[name]} {problem}", hint)

    def has(name: str, *choices: str) -> bool:
        return values.get(name, "").upper() in choices

    takes_rdma = "the estimate takes the rate of the network with RDMA"
    yield from when(
        has("NCCL_IB_DISABLE", "1") and cluster.network in VERBS,
        "NCCL_IB_DISABLE",
        f"leaves {cluster.network_name} to sockets",
        takes_rdma,
    )
    yield from when(
        has("NCCL_NET", "SOCKET") and cluster.rdma, "NCCL_NET", f"leaves {cluster.network_name} to sockets", takes_rdma
    )
    yield from when(
        has("NCCL_NET_GDR_LEVEL", *NEVER) and cluster.rdma,
        "NCCL_NET_GDR_LEVEL",
        "sends everything through host memory",
        "PIX or PXB where adapter and accelerator share a PCI switch",
    )
    for name, off in (("NCCL_P2P_DISABLE", ("1",)), ("NCCL_P2P_LEVEL", NEVER)):
        yield from when(
            has(name, *off) and cluster.nvlink, name, "switches NVLink off", "the estimate takes the rate of NVLink"
        )
    yield from when(
        has("NCCL_CROSS_NIC", "1") and cluster.rails,
        "NCCL_CROSS_NIC",
        "lets rings leave their rail",
        "0 on a rail-optimized fabric",
    )
    yield from when(
        has("NCCL_PXN_DISABLE", "1") and cluster.rails and cluster.nvlink,
        "NCCL_PXN_DISABLE",
        "sends between rails through the spine",
        "leave it out: PXN reaches every rail through NVLink",
    )
    yield from _pairs(values)


def _pairs(values: dict[str, str]) -> Iterator[Caution]:
    numbers = {name: int(value, 0) for name, value in values.items() if value.lstrip("+-").isdigit()}
    threads, sockets = numbers.get("NCCL_SOCKET_NTHREADS", 1), numbers.get("NCCL_NSOCKS_PERTHREAD", 1)
    if threads * sockets > MOST_SOCKETS:
        problem = f"{threads} threads x {sockets} sockets are more than the {MOST_SOCKETS} that NCCL takes"
        name = "NCCL_NSOCKS_PERTHREAD" if "NCCL_NSOCKS_PERTHREAD" in numbers else "NCCL_SOCKET_NTHREADS"
        yield Caution("AIP332", f"{FIELD}.{name}", problem, f"a product of at most {MOST_SOCKETS}")
    for what in ("NCHANNELS", "CTAS"):
        low, high = numbers.get(f"NCCL_MIN_{what}", 0), numbers.get(f"NCCL_MAX_{what}", 0)
        if low > high > 0:
            problem = f"NCCL_MIN_{what} of {low} is more than NCCL_MAX_{what} of {high}"
            yield Caution("AIP332", f"{FIELD}.NCCL_MIN_{what}", problem, f"at most {high}")


def _forbidden(values: dict[str, str]) -> Iterator[Caution]:
    """Yield a list of algorithms that leaves none of those the estimate assumes."""
    value = values.get("NCCL_ALGO")
    if value is None:
        return
    for assumed in dict.fromkeys(ASSUMED.values()):
        operations = [
            OPERATIONS[collective]
            for collective, known in ASSUMED.items()
            if known == assumed and not nccl.allowed(value, collective) & set(known)
        ]
        timed = " and ".join(operations)
        if operations:
            yield Caution(
                "AIP333",
                f"{FIELD}.NCCL_ALGO",
                f"NCCL_ALGO={value} forbids {' and '.join(assumed)}, as which the estimate times {timed}",
                f"allow {' or '.join(assumed)}; the time of another algorithm is not in the estimate",
            )
