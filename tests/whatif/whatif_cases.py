"""Scenarios in which each kind of limit is met, and any plan of them."""

import functools

from hypothesis import strategies as st

from aiplan.catalog.load import Catalog
from aiplan.planning.variants import Source, load_written

CATALOG = Catalog([])
DENSE = """
model: {layers: 8, hidden: 2048, heads: 16, kv_heads: 8, ffn: 8192, vocab: 32000}
workload: {sequence_length: 4096, global_batch: 64, tokens: 100e9}
cluster:
  node: dgx-h100
  nodes: 4
  price: 2 USD/h
  power: 1000 W
  network: {topology: three-tier, oversubscription: 2}
plan: {tensor: 2, pipeline: 2}
software: megatron-lm-2021
"""
EXPERTS = """
model:
  layers: 4
  hidden: 1024
  heads: 8
  ffn: 2048
  vocab: 8192
  experts: {count: 16, top_k: 2, ffn: 1024, layers: 3}
workload: {sequence_length: 2048, global_batch: 64, tokens: 1e9}
cluster: {node: dgx-h100, nodes: 2, price: 2 USD/h, power: 1000 W}
plan: {expert: 16, zero: 1}
software: torchtitan
"""
COMPRESSED = """
model: llama-3-8b
workload: {sequence_length: 2048, global_batch: 64}
cluster: {accelerator: a100-sxm-80gb, accelerators_per_node: 4, nodes: 8, network: {fabric: ib-hdr}}
plan: {tensor: 4, attention: unfused, recompute: selective}
communication: {compression: int8}
"""
ONE = """
model: llama-3-8b
workload: {sequence_length: 4096, global_batch: 8, tokens: 1e9}
cluster: {accelerator: l40s, accelerators_per_node: 1, nodes: 1}
plan: {recompute: full}
"""
SCENARIOS = {"dense": DENSE, "experts": EXPERTS, "compressed": COMPRESSED, "one": ONE}


@functools.cache
def loaded(name, *settings):
    """Return a scenario with settings, or None if that is not possible."""
    changes = [(*text.partition("=")[::2], "--set") for text in settings]
    return load_written(Source("", SCENARIOS[name].encode()), CATALOG, changes).scenario


@st.composite
def any_plan(draw):
    """Draw what `loaded` takes: a scenario's name, and a plan as settings."""
    name = draw(st.sampled_from(["dense", "experts", "compressed"]))
    settings = [
        f"plan.{field}={draw(st.sampled_from(choices))}"
        for field, choices in {
            "tensor": [1, 2, 4],
            "pipeline": [1, 2],
            "context": [1, 2],
            "expert": [1, 4] if name == "experts" else [1],
            "zero": [0, 1, 3],
            "micro_batch": [1, 2],
            "recompute": ["none", "selective", "full"],
            "attention": ["flash", "unfused"],
        }.items()
    ]
    return name, *settings
