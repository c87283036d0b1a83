"""How people spell what a row of a table of runs is made of: accelerators, networks, precision, sharding, recompute."""

from __future__ import annotations

import math
import re

ACCELERATORS = (
    (r"A100.*40 ?GB?.*PCIe|A100.*PCIe.*40 ?GB?", "a100-pcie-40gb"),
    (r"A100.*PCIe", "a100-pcie-80gb"),
    (r"A100.*\b40 ?GB?\b", "a100-sxm-40gb"),
    (r"A100", "a100-sxm-80gb"),
    (r"A800", "a800-sxm-80gb"),
    (r"GH200", "gh200"),
    (r"H100.*PCIe", "h100-pcie"),
    (r"H100.*NVL\b", "h100-nvl"),
    (r"H100.*(96 ?GB?|64 ?GB?|HBM2)", "h100-sxm-96gb-hbm2e"),
    (r"H100", "h100-sxm"),
    (r"H200", "h200"),
    (r"H800", "h800-sxm"),
    (r"H20\b", "h20"),
    (r"GB200", "gb200"),
    (r"GB300", "gb300"),
    (r"B100", "b100"),
    (r"B200", "b200"),
    (r"B300", "b300"),
    (r"V100S", "v100s-pcie-32gb"),
    (r"V100.*PCIe", "v100-pcie-16gb"),
    (r"V100.*32 ?GB?.*SXM3|V100.*SXM3|DGX-?2H?\b.*V100|V100.*DGX-?2", "v100-sxm3-32gb"),
    (r"V100.*32 ?GB?", "v100-sxm2-32gb"),
    (r"V100", "v100-sxm2-16gb"),
    (r"L40S", "l40s"),
    (r"\bL4\b", "l4"),
    (r"\bA10\b", "a10"),
    (r"\bA30\b", "a30"),
    (r"\bT4\b", "t4"),
    (r"\bA6000", "rtx-a6000"),
    (r"\b4090", "rtx-4090"),
    (r"MI250", "mi250x"),
    (r"MI300X?\b", "mi300x"),
    (r"MI325", "mi325x"),
    (r"MI350", "mi350x"),
    (r"MI355", "mi355x"),
    (r"TPU.?v?3\b", "tpu-v3"),
    (r"TPU.?v?4\b", "tpu-v4"),
    (r"TPU.?v?5e|TPU.?v?5.?lite", "tpu-v5e"),
    (r"TPU.?v?5p?\b", "tpu-v5p"),
    (r"TPU.?v?6e?\b|Trillium", "tpu-v6e"),
    (r"TPU.?v?7x?\b|Ironwood", "tpu-v7"),
    (r"Trainium.?3|\btrn3", "trainium3"),
    (r"Trainium.?2|\btrn2", "trainium2"),
    (r"Trainium|\btrn1", "trainium1"),
    (r"Gaudi.?2", "gaudi2"),
    (r"Gaudi.?3", "gaudi3"),
    (r"910.?B1", "ascend-910b1"),
    (r"910.?B2", "ascend-910b2"),
    (r"910.?B4", "ascend-910b4"),
    (r"910.?B", "ascend-910b3"),
    (r"910.?C", "ascend-910c"),
    (r"Ascend.*910|910.?A", "ascend-910a"),
)
"""Entries of the catalog by what a cell contains, the more particular first."""

CATALOG_ID = re.compile(r"[a-z0-9][a-z0-9._-]*")
KNOWN_WORD = re.compile(
    r"nvidia|amd|intel|instinct|aws|google|cloud|huawei|ascend|habana|tesla|tpu|gpu|npu|hpu|rtx|dgx|hgx|oam|accelerator"
    r"|sxm\d?|pcie|nvl|hbm\w*|trainium\d|gaudi\d|trn\d\w*|\d+(gb?|gib)?|[abhlt]\d+\w?|g[bh]\d+|v100s?|mi\d+x?|v\d[ep]?"
    r"|910\w\d?|a6000|trillium|ironwood"
)
"""Words of which a name in lower case may be made without being an entry of somebody's own catalog."""

SIZE = re.compile(r"(?<![\d.])(\d{2,3}) ?G(?:i?B)?\b", re.IGNORECASE)

PORT_RATE = (
    (r"^v100|^mi250x|^gaudi2|^trainium1", 100),
    (r"^a100|^a800|^h20$|^ascend|^gh200", 200),
    (r"^b300|^gb300", 800),
)
"""Gb/s that a network port beside an accelerator carries in the machines of its time; 400 for all others."""
USUAL_PORT = 400

OWN_NETWORKS = (
    (r"^tpu", "tpu-dcn-200g", 1),
    (r"^trainium1", "efa-trn1", 8),
    (r"^trainium2", "efa-trn2", 16),
    (r"^gaudi2", "roce-100g", 24),
    (r"^gh200|^mi250x", "slingshot-11", 4),
    (r"^ascend", "roce-200g", 8),
    (r"^mi3", "roce-400g", 8),
)
"""Networks of machines that come with one, and ports a node."""

CLOUDS = (
    (r"^v100", "efa-p3dn", 1),
    (r"^a100", "efa-p4d", 4),
    (r"^h200", "efa-p5en", 16),
    (r"^b200", "efa-p6-b200", 8),
    (r"^trainium1", "efa-trn1", 8),
    (r"^trainium2", "efa-trn2", 16),
)
"""Instances of AWS by accelerator; the rest have what p5 has."""

FABRICS = (
    (r"TCPXO", "gcp-a3-mega", 8),
    (r"TCPX\b", "gcp-a3-high", 4),
    (r"Omni-Path", "omni-path-100", 4),
    (r"Slingshot", "slingshot-11", 4),
    (r"1600 Gb/s RoCE", "roce-100g", 16),
    (r"800 Gb/s IB per node", "ib-hdr", 4),
    (r"DCN|\bICI\b", "tpu-dcn-200g", 1),
)
"""Networks with the ports of a node, where the words say both."""

NAMED_RATES = ((r"XDR", 800), (r"NDR ?200", 200), (r"NDR", 400), (r"HDR ?100", 100), (r"HDR", 200), (r"EDR", 100))
ETHERNET = {100: "roce-100g", 200: "roce-200g", 400: "roce-400g", 800: "roce-800g"}
INFINIBAND = {100: "ib-hdr100", 200: "ib-hdr", 400: "ib-ndr", 800: "ib-xdr"}
BY_NAME = ((r"EDR", "ib-edr"), (r"NDR ?200", "ib-ndr200"), (r"FDR", "ib-fdr"))

PRECISIONS = (
    (r"NVFP4|\bfp4", "nvfp4"),
    (r"MX-?_?FP8", "mxfp8"),
    (r"fp8|float8|\be4m3", "fp8"),
    (r"b_?fp?_?16|bfloat_?16|brain", "bf16"),
    (r"fp_?16|float_?16|half", "fp16"),
    (r"tf_?32", "tf32"),
    (r"fp_?32|float_?32|single", "fp32"),
)

BLANKS = {"", "-", "--", "\u2013", "\u2014", "?", "n/a", "na", "none given", "not stated", "unknown", "tbd"}
"""What people write in a cell that says nothing."""
WORDS = dict.fromkeys(("yes", "true", "y", "on", "1"), True) | dict.fromkeys(("no", "false", "n", "off", "0"), False)


def accelerator_of(text: str) -> str:
    """Return the id of the catalog that a name means; a name that nothing is known of comes back as it is.

    Parameters
    ----------
    text : str
        A cell. One in the form of an id is an id, unless it is made of well-known words alone.
    """
    own = CATALOG_ID.fullmatch(text) and not all(
        KNOWN_WORD.fullmatch(part) for part in re.split(r"[-_.]", text) if part
    )
    return text if own else match(ACCELERATORS, re.sub(r"[_/\s-]+", " ", text), text)


def other_memory(text: str, ident: str) -> str:
    """Return the memory that a name gives where the entry found for it has another; empty if they agree."""
    stated, held = SIZE.search(text), SIZE.search(ident.replace("-", " "))
    sizes = {"h100-sxm": 80, "a100-sxm-80gb": 80}
    usual = int(held[1]) if held else sizes.get(ident, 0)
    return f"{stated[1]} GB" if stated and usual and int(stated[1]) != usual else ""


def match(table: tuple[tuple[str, str], ...], text: str, default: str) -> str:
    """Return what a table of patterns has for a text."""
    return next((value for pattern, value in table if re.search(pattern, text, re.IGNORECASE)), default)


def network_of(text: str, accelerator: str, per_node: int) -> tuple[str, int, bool]:
    """Return network and ports of a node, and whether they are stated.

    A number of ports comes before an `x`. A rate alone is that of the port beside each accelerator, unless no port of
    its time is as fast: then it is that of the node.
    """
    if re.search(r"\bEFA", text):
        return *_entry(CLOUDS, accelerator, ("efa-p5", 32)), True
    stated = _stated(text, per_node)
    for pattern, network, ports in FABRICS:
        if re.search(pattern, text, re.IGNORECASE):
            return network, stated or ports, True
    rate, port = _rate(text), _port(accelerator)
    if not rate:
        return *_usual(accelerator, per_node), False
    if stated:
        return _network(text, rate, accelerator), stated, True
    if rate > port or re.search(r"(per|/|a) ?node|total|aggregate", text):
        return _network(text, min(rate, port), accelerator), max(1, math.ceil(rate / port)), True
    return _network(text, rate, accelerator), per_node, True


def _stated(text: str, per_node: int) -> int:
    """Return the ports of a node that stand before an `x`; 0 if none do."""
    count = re.search(r"(?<![\d.])(\d{1,4}) ?[x\u00d7*] ?(?=[\dA-Za-z])", text)
    each = re.search(r"per (card|gpu|accelerator|hpu|npu|chip)", text, re.IGNORECASE)
    return int(count[1]) * (per_node if each else 1) if count else 0


def _rate(text: str) -> float:
    """Return the Gb/s that a text names or states; 0 if it does neither."""
    named = next((rate for pattern, rate in NAMED_RATES if re.search(pattern, text)), 0)
    found = re.search(r"(?<![\d.])(\d{1,4}(?:\.\d)?) ?([GT])(?:b|bit|be)?(?:/s|ps)?\b", text, re.IGNORECASE)
    stated = float(found[1]) * (1000 if found[2] in "tT" else 1) if found else 0
    return named or stated


def _network(text: str, rate: float, accelerator: str) -> str:
    """Return the network of one port of a rate."""
    name = match(BY_NAME, text, "")
    if name:
        return name
    ethernet = re.search(r"RoCE|Ethernet|GbE|RDMA over|\beth", text, re.IGNORECASE) or accelerator.startswith("mi3")
    table = ETHERNET if ethernet else INFINIBAND
    return table[min(table, key=lambda known: abs(math.log(known / max(rate, 1))))]


def _port(accelerator: str) -> int:
    return next((rate for pattern, rate in PORT_RATE if re.search(pattern, accelerator)), USUAL_PORT)


def _usual(accelerator: str, per_node: int) -> tuple[str, int]:
    own = _entry(OWN_NETWORKS, accelerator, ("", 0))
    return own if own[0] else (INFINIBAND[_port(accelerator)], per_node)


def _entry(table: tuple[tuple[str, str, int], ...], accelerator: str, default: tuple[str, int]) -> tuple[str, int]:
    return next(((net, ports) for pattern, net, ports in table if re.search(pattern, accelerator)), default)


def zero_of(text: str) -> int | None:
    """Return the ZeRO stage that a description of sharding means; None if it means none of them.

    FSDP is stage 3, and its SHARD_GRAD_OP stage 2; https://arxiv.org/abs/2304.11277.
    """
    stage = re.search(r"(?:zero|stage)[\s_=-]*(?:stage[\s_=-]*)?(\d)|^([0-3])$", text, re.IGNORECASE)
    if stage:
        return int(stage[1] or stage[2])
    kinds = (
        (r"grad_op|no re-?shard|reshard\w*[ =:]*(false|no)", 2),
        (r"fsdp|full_shard|hybrid_shard|hsdp|fully.shard|gspmd", 3),
        (r"distributed.optim|dist.?opt|sharded.optim", 1),
        (r"^(no|none|off|false|0)\b|no_shard|\bddp\b|data.parallel|replicat", 0),
    )
    return next((stage for pattern, stage in kinds if re.search(pattern, text, re.IGNORECASE)), None)


def shards_of(text: str, per_node: int) -> int | None:
    """Return how many ranks share one copy of what is sharded, where the words say so; None if all of them do.

    Hybrid sharding shards over the accelerators of a node unless a number is given.
    """
    stated = re.search(
        r"(?<!\d)(\d{1,6})(?:[- ]way shard| shards)|(?:over|within|among) (\d{1,6}) (?:chips|gpus|ranks|devices|accel)",
        text,
        re.IGNORECASE,
    )
    if stated:
        return int(stated[1] or stated[2])
    hybrid = re.search(r"hybrid|(?<!fsdp/)hsdp|within (?:a|each|the) node", text, re.IGNORECASE)
    return per_node if hybrid else None


def recompute_of(text: str) -> str | None:
    """Return the mode of recomputation that a description means; None if it means none of them."""
    kinds = (
        ("full", r"^full"),
        ("none", r"^(none|no|non|without|off|false)\b"),
        ("selective", r"selective|^(sac|op|partial)\b|core.?att"),
        ("full", r"^(yes|true|on|all|every layer|uniform|block|ac)\b|activation|checkpoint"),
    )
    return next((mode for mode, words in kinds if re.search(words, text, re.IGNORECASE)), None)
