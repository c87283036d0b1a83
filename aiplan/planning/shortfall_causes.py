"""What usually makes a collective slower than it should be, and how to find out."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aiplan.planning.machine import Machine

_ENV = "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html"
_TROUBLE = "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html"
_TESTS = "https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md"


class Cause(NamedTuple):
    """A usual cause: what, how to see it, where it shows, on which machines, and where it is described."""

    what: str
    look: str
    parts: tuple[str, ...]
    on: Callable[[Machine], bool]
    source: str


def _across(machine: Machine) -> bool:
    return machine.domains > 1


def _inside(machine: Machine) -> bool:
    return machine.domains == 1


def _rails(machine: Machine) -> bool:
    return machine.domains > 1 and machine.ports > 1


def _ethernet(machine: Machine) -> bool:
    return machine.domains > 1 and machine.network_kind in {"roce", "ethernet"}


def _switched(machine: Machine) -> bool:
    return machine.reduces_in_node and machine.local_ranks > 1


def _any(_: Machine) -> bool:
    return True


CAUSES = (
    Cause(
        "not every port is used: one is down, or the list of adapters is short",
        "NCCL_DEBUG=INFO lists them in 'NET/IB : Using'; NCCL_IB_HCA chooses; link state on the host",
        ("large", "middle"),
        _rails,
        _ENV,
    ),
    Cause(
        "GPUDirect RDMA is off, so data goes through host memory",
        "NCCL_DEBUG=INFO shows GDRDMA on the channels if it is on; peer memory module, NCCL_NET_GDR_LEVEL",
        ("large", "middle", "small"),
        _across,
        _TROUBLE,
    ),
    Cause(
        "PCIe access control (ACS) or an IOMMU sends traffic between devices through the processor",
        "lspci -vvv shows ACSCtl with SrcValid+; in virtual machines NCCL_IB_PCI_RELAXED_ORDERING and ATS",
        ("large", "middle", "small"),
        _any,
        _TROUBLE,
    ),
    Cause(
        "rings leave their rail, so traffic crosses the spine",
        "NCCL_CROSS_NIC, NCCL_PXN_DISABLE, and whether leaf switches are one a rail",
        ("large",),
        _rails,
        _ENV,
    ),
    Cause(
        "congestion or an oversubscribed fabric",
        "run pairs of nodes alone; adaptive routing, NCCL_IB_ADAPTIVE_ROUTING, NCCL_IB_SL",
        ("large", "middle"),
        _across,
        _ENV,
    ),
    Cause(
        "the Ethernet fabric drops or pauses: no flow control for the class of the traffic",
        "counters of pauses, ECN marks and retransmissions; NCCL_IB_TC and NCCL_IB_GID_INDEX",
        ("large", "middle"),
        _ethernet,
        _ENV,
    ),
    Cause(
        "the switch does not add up (NVLS): off, not supported by driver or container",
        "NCCL_DEBUG=INFO names NVLS; NCCL_NVLS_ENABLE, fabric manager",
        ("large",),
        _switched,
        _ENV,
    ),
    Cause(
        "links between the GPUs are down, or peer access is off and data goes through host memory",
        "nvidia-smi nvlink -s, fabric manager; NCCL_P2P_DISABLE, NCCL_P2P_LEVEL; 'via SHM' in NCCL_DEBUG=INFO",
        ("large", "middle", "small"),
        _inside,
        _TROUBLE,
    ),
    Cause(
        "an algorithm or protocol is forced that does not suit the size",
        "unset NCCL_ALGO and NCCL_PROTO and measure again",
        ("small", "middle", "large"),
        _any,
        _ENV,
    ),
    Cause(
        "too few channels, so too few multiprocessors move data",
        "NCCL_MIN_NCHANNELS and NCCL_MAX_NCHANNELS; a container with few of the host's cores or GPUs of another job",
        ("middle", "large"),
        _any,
        _ENV,
    ),
    Cause(
        "ranks run on cores far from their GPU, or one process drives many GPUs",
        "bind each rank to its NUMA node; NCCL_IGNORE_CPU_AFFINITY; nccl-tests with one GPU a process (-g 1)",
        ("small",),
        _any,
        _TESTS,
    ),
)


def causes_of(parts: Sequence[str], machine: Machine) -> tuple[Cause, ...]:
    """Return the usual causes for what falls short on a machine, those first that show in most of the parts."""
    found = [cause for cause in CAUSES if cause.on(machine) and set(cause.parts) & set(parts)]
    return tuple(sorted(found, key=lambda cause: -len(set(cause.parts) & set(parts))))
