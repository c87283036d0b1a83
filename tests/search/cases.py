"""Small scenarios whose plans can all be tried one by one."""

from aiplan.catalog.load import Catalog
from aiplan.declare import Diagnostics
from aiplan.planning.chunks import Question
from aiplan.planning.objectives import OBJECTIVES
from aiplan.planning.variants import Source, load_source
from aiplan.scenario.conditions import read_conditions

CATALOG = Catalog([])
DENSE = """
model: {layers: 4, hidden: 512, heads: 4, kv_heads: 2, ffn: 2048, vocab: 32000}
workload: {sequence_length: 1024, global_batch: 8, tokens: 1e9}
cluster: {node: dgx-h100, nodes: 1, accelerators: 4}
"""
EXPERTS = """
model:
  layers: 4
  hidden: 256
  heads: 4
  ffn: 1024
  vocab: 8192
  experts: {count: 2, top_k: 1, ffn: 512, layers: 2}
workload: {sequence_length: 512, global_batch: 2}
cluster: {node: dgx-h100, nodes: 1, accelerators: 4}
plan: {tensor: 2}
software: torchtitan
"""
TWO_NODES = """
model: {layers: 6, hidden: 1024, heads: 4, ffn: 4096, vocab: 32000}
workload: {sequence_length: 2048, global_batch: 4}
cluster: {accelerator: a100-sxm-80gb, accelerators_per_node: 2, nodes: 2, network: {fabric: ib-hdr}}
communication: {all_reduce: tree}
"""
SCENARIOS = {"dense": DENSE, "experts": EXPERTS, "two-nodes": TWO_NODES}


def loaded(text, *changes):
    found = load_source(Source("", text.encode()), CATALOG, [(path, value, "--set") for path, value in changes])
    return found.scenario


def scenario(name):
    found = loaded(SCENARIOS[name])
    assert found is not None
    return found


def question(objective="time", *conditions, **other):
    diagnostics = Diagnostics()
    read = read_conditions(conditions, diagnostics)
    diagnostics.raise_if_errors()
    return Question(OBJECTIVES[objective], read, **other)


def every_plan(one):
    """Yield all plans of a space: group, layout, option."""
    for number, group in enumerate(one.groups):
        for layout in range(len(group.sizes)):
            for option in range(group.options):
                yield number, layout, option


def told(answer):
    """Return what an answer says, estimates as their steps: a number that is unknown equals no other."""
    plans = [
        [(item.variant, item.plan, item.estimate["step"]) for item in found] for found in (answer.best, answer.front)
    ]
    counts = ("plans", "layouts", "possible", "near", "ahead", "too_large", "unwanted", "leanest", "fallen", "finished")
    return plans, [getattr(answer, name) for name in counts]
