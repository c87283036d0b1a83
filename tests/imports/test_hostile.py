"""Inputs that mean harm, and inputs that are broken: a clear error, at once."""

import json
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aiplan.adapters.imports import registry
from aiplan.declare import Diagnostics, InputError
from aiplan.planning.imports import import_files

FILES = Path(__file__).parent / "files"
HUB = json.loads((Path(__file__).parents[1] / "data" / "hub_configs.json").read_text(encoding="utf-8"))
SEEDS = {path.name: path.read_bytes() for path in sorted(FILES.iterdir())} | {
    f"{name}.json": json.dumps(HUB[name]["config"], indent=1).encode()
    for name in ("llama-3.1-8b", "deepseek-v3", "mpt-7b", "gemma-3-27b")
}
HOSTILE = {
    "deep.json": b"[" * 100_000,
    "deep-object.json": b'{"a":' * 100_000,
    "deep.yaml": b"[" * 5_000,
    "deep.toml": b"[training]\na = " + b"[" * 5_000,
    "deep.xml": b"<a>" * 100_000,
    "long-number.json": b'{"model_type": "llama", "num_hidden_layers": ' + b"9" * 1_000_000 + b"}",
    "long-number.yaml": b"num_layers: " + b"9" * 1_000_000 + b"\nhidden_size: 1\npipe_parallel_size: 1\n",
    "long-number.toml": b"[model]\nname = " + b"9" * 1_000_000,
    "long-number.args": b"--num-layers " + b"9" * 1_000_000 + b" --hidden-size 8 --num-attention-heads 2",
    "bomb.yaml": b"a: &a [x,x]\n" + b"".join(b"b%d: &b%d [*a,*a]\n" % (i, i) for i in range(30)),
    "bomb.xml": b'<!DOCTYPE s [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><system>&b;</system>',
    "python.yaml": b"distributed_type: !!python/object/apply:os.system ['true']\nfsdp_config: {}\n",
    "variables.sh": b"A=$B$B$B$B\nB=$A$A$A$A\n--num-layers $A --hidden-size $B --num-attention-heads 2\n",
    "references.yaml": b"a: ${b}${b}\nb: ${a}${a}\nmodel: {num_layers: '${a}', hidden_size: 4, num_attention_heads: 2}\ntrainer: {}\n",
    "zero-bytes.json": b"{\x00}",
    "latin.json": b'{"model_type": "\xe9"}',
    "large.json": b" " * (3 * 2**20),
    "many-words.sh": b"--num-layers 2 --hidden-size 8 --num-attention-heads 2 " + b"a " * 200_000,
    "many-layers.args": b"--num-layers 1000000000 --hidden-size 8 --num-attention-heads 2 --vocab-size 8 --num-experts 2 --moe-layer-freq 2",
    "many-dense.json": json.dumps(HUB["qwen3-30b-a3b"]["config"] | {"num_hidden_layers": 10**12}).encode(),
    "many-stages.args": b"--num-layers 900000000 --hidden-size 8 --num-attention-heads 2 --vocab-size 8 --pipeline-model-parallel-size 300000000 "
    b"--decoder-first-pipeline-num-layers 3",
}


def outcome(name, data, kind=None):
    """Import bytes; return what was imported, or the error."""
    try:
        return import_files([(name, data)], Diagnostics(), kind)
    except InputError as failure:
        return failure


@pytest.mark.parametrize("name", HOSTILE)
def test_a_clear_error_at_once(name):
    started = time.perf_counter()
    found = outcome(name, HOSTILE[name])
    assert isinstance(found, InputError) or name in {"variables.sh", "many-words.sh"}
    assert time.perf_counter() - started < 5
    assert len(str(found)) < 20_000


def sane(found):
    """No silent zero: what is there counts something."""
    if isinstance(found, InputError):
        assert str(found)
        return
    assert found.total is None or found.total > 0
    for fact in found.facts.values():
        if fact.path.endswith(
            (
                "model.layers",
                "model.hidden",
                "model.heads",
                "model.vocab",
                "global_batch",
                "micro_batch",
                "plan.tensor",
                "plan.pipeline",
            )
        ):
            assert isinstance(fact.value, int)
            assert fact.value > 0


PIECES = st.sampled_from(
    [
        b"",
        b"0",
        b"-1",
        b"null",
        b'"auto"',
        b"1e999",
        b"NaN",
        b"{}",
        b"[]",
        b"[[]]",
        b"true",
        b"false",
        b"\xff",
        b"\n",
        b"  ",
        b": ",
        b'"',
        b"'",
        b"--",
        b"$X",
        b"${a}",
        b"#",
        b"9" * 40,
        b"0.5",
        b"<",
        b">",
        b"&a;",
        b"\t",
        b"\\",
        b",",
        b"}",
        b"]",
        b"GPU0",
        b"NV18",
        b"X",
    ]
)


@st.composite
def mutated(draw, seed):
    """Return a file with some places cut out, doubled or replaced."""
    data = seed
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(0, len(data) - 1)))
        width = draw(st.integers(0, 30))
        piece = draw(st.one_of(PIECES, st.binary(max_size=6)))
        cut = data[at : at + width]
        data = data[:at] + draw(st.sampled_from([piece, cut + cut, piece + cut])) + data[at + width :]
    return data


@pytest.mark.parametrize("name", SEEDS)
def test_mutated_files_end_in_an_answer_or_an_error(name):
    @given(mutated(SEEDS[name]))
    @settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
    def once(data):
        sane(outcome(name, data))

    once()


@pytest.mark.parametrize("kind", [kind.name for kind in registry.KINDS])
def test_any_text_read_as_any_kind(kind):
    @given(st.one_of(st.text(max_size=80).map(str.encode), st.sampled_from(list(SEEDS.values()))))
    @settings(max_examples=4, deadline=None, derandomize=True)
    def once(data):
        for name in ("a.txt", "a.json", "a.toml", "a.xml"):
            sane(outcome(name, data, kind))

    once()
