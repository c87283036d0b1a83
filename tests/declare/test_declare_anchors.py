"""Anchors, aliases and merge keys in files of other programs, against PyYAML, and within bounds."""

import time

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from aiplan.declare import Diagnostics, InputError, Mapping, Scalar, read
from aiplan.declare.anchors import MOST_VALUES, read_anchored


def plain(node):
    """Values without places."""
    if isinstance(node, Scalar):
        return node.value
    if isinstance(node, Mapping):
        return {key.text: plain(child) for key, child in node.items}
    return [plain(child) for child in node.items]


DOCUMENTS = {
    "alias": "a: &x 3\nb: *x\n",
    "list": "a: &x [1, 2, {c: d}]\nb: {c: *x, d: [*x, *x]}\n",
    "merge": "base: &b {hidden: 64, layers: 2}\nmodel: {<<: *b, layers: 4}\n",
    "merge behind": "base: &b {hidden: 64, layers: 2}\nmodel:\n  layers: 4\n  <<: *b\n",
    "merge of several": "a: &a {x: 1, y: 2}\nb: &b {y: 3, z: 4}\nc: {<<: [*a, *b]}\n",
    "merge of a merge": "a: &a {x: 1}\nb: &b {<<: *a, y: 2}\nc: {<<: *b, z: 3}\n",
    "merge in place": "c: {<<: {x: 1}, y: 2}\n",
    "inside": "a: &x {b: &y 5, c: *y}\nd: *x\ne: *y\n",
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_as_another_reader_has_it(name):
    assert plain(read_anchored(DOCUMENTS[name], "a.yaml")) == yaml.safe_load(DOCUMENTS[name])


LEAVES = st.one_of(st.integers(-9, 9), st.booleans(), st.sampled_from(["x", "two words", None]))
TREES = st.recursive(
    LEAVES,
    lambda below: st.one_of(st.lists(below, max_size=3), st.dictionaries(st.sampled_from("abcdef"), below, max_size=3)),
)


@given(st.lists(st.dictionaries(st.sampled_from("abcdef"), TREES, min_size=1, max_size=3), min_size=2, max_size=4))
@settings(max_examples=60, deadline=None)
def test_trees_that_share_parts(parts):
    """A dump that writes what is shared once, with aliases, reads back as the same values."""
    shared = {"first": parts, "again": list(parts), "last": {"inner": parts[0], "outer": [parts[1], parts[0]]}}
    text = yaml.safe_dump(shared)
    assert "*id" in text
    assert plain(read_anchored(text, "a.yaml")) == shared


def test_an_anchor_given_again_counts_from_there_on():
    """YAML 1.2.2, section 7.1; the other reader refuses it."""
    found = plain(read_anchored("a: &x 1\nb: *x\nc: &x 2\nd: *x\n", "a.yaml"))
    assert found == {"a": 1, "b": 1, "c": 2, "d": 2}


def test_messages_point_at_what_the_alias_stands_for():
    tree = read_anchored("a: 1\nb: &x bad\nc: *x\n", "a.yaml")
    assert tree.items[2][1].mark.line == 2


CHAIN = "".join(
    f"b{i}: &b{i} [*{'a' if i == 0 else f'b{i - 1}'},*{'a' if i == 0 else f'b{i - 1}'}]\n" for i in range(30)
)
DEEP = "a: &a " + "[" * 45 + "1" + "]" * 45 + "\nb: [[[[[[*a]]]]]]\n"
REFUSED = {
    "a: &a [x,x]\n" + CHAIN: f"more than {MOST_VALUES:,} values",
    "a: &a {x: 1}\n" + CHAIN: f"more than {MOST_VALUES:,} values",
    DEEP: "levels deep",
    "a: *x\n": "no anchor '&x'",
    "a: &a [*a]\n": "no anchor '&a'",
    "a: &a {b: {<<: *a}}\n": "no anchor '&a'",
    "a: {<<: 3}\n": "takes a mapping",
    "a: &x 3\nb: {<<: *x}\n": "takes a mapping",
    "a: {<<: [{b: 1}, 2]}\n": "takes a mapping",
    "a: !!python/object:os.system 1\n": "tag",
    "a: &x 1\na: *x\n": "given twice",
}


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: text[:20])
def test_what_cannot_be_put_in(text):
    started = time.perf_counter()
    with pytest.raises(InputError) as failure:
        read_anchored(text, "a.yaml")
    assert REFUSED[text] in str(failure.value)
    assert len(str(failure.value)) < 5_000
    assert time.perf_counter() - started < 2


def test_scenarios_of_our_own_stay_without():
    found = Diagnostics()
    with pytest.raises(InputError):
        read("a: &x 1\nb: {<<: *x}\n", "a.yaml", found)
    assert [item.code for item in found.items] == ["AIP112"] * 3


def test_a_training_with_a_shared_block_is_imported():
    from aiplan.planning.imports import import_files  # noqa: PLC0415

    text = (
        "defaults: &shape {num_layers: 2, hidden_size: 64, num_attention_heads: 4}\n"
        "trainer: &nodes {num_nodes: 2, devices: 8, precision: bf16}\nexp_manager: {}\nrun: {}\n"
        "model: {<<: *shape, num_layers: 4, encoder_seq_length: 128, micro_batch_size: 1, global_batch_size: 16,\n"
        "  tokenizer: {vocab_size: 512}, vocab_size: 512, max_position_embeddings: 128}\n"
    )
    found = import_files([("run.yaml", text.encode())], Diagnostics())
    assert (found.model.layers, found.model.hidden) == (4, 64)
    assert found.facts["model.hidden"].mark.line == 1
