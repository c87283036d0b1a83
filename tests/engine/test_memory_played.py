"""A step played through allocation by allocation, against the closed forms of the memory of a stage."""

import pytest

SHAPE = {"layers": 8, "hidden": 1024, "heads": 16, "kv_heads": 16, "ffn": 4096, "gated": True, "vocab": 32000}
SEQUENCE = 4096
STEP_TERMS = ("weights", "gradients", "optimizer", "activations", "logits", "inputs", "gathered")


class Device:
    """Bytes that are allocated now, and the most that ever were."""

    def __init__(self):
        self.live = self.peak = 0

    def allocate(self, nbytes):
        self.live += nbytes
        self.peak = max(self.peak, self.live)
        return nbytes

    def free(self, nbytes):
        self.live -= nbytes


def layer_tensors(tokens, tensor):
    """What nanotron's Llama keeps of one layer for its backward pass: two bytes an element, all split over ranks."""
    hidden, ffn = SHAPE["hidden"], SHAPE["ffn"]
    attention = {"input": hidden, "normed": hidden, "packed q k v": 3 * hidden, "copied k v": 2 * hidden, "out": hidden}
    block = {"input": hidden, "normed": hidden, "gate and up": 2 * ffn, "activated": ffn, "product": ffn}
    return [2 * tokens * width / tensor for part in (attention, block) for width in part.values()]


def parameters(layers, tensor, *, first, last):
    hidden, ffn, vocab = SHAPE["hidden"], SHAPE["ffn"], SHAPE["vocab"]
    matrices = layers * (4 * hidden * hidden + 3 * hidden * ffn) + (first + last) * vocab * hidden
    return matrices / tensor + layers * 2 * hidden + last * hidden


def played_peak(stage, pipeline, tensor, data, micro_batch, zero):
    """Most bytes that a rank of a stage allocates in one step of 1F1B."""
    device, tokens, layers = Device(), micro_batch * SEQUENCE, SHAPE["layers"] // pipeline
    last = stage == pipeline - 1
    count = parameters(layers, tensor, first=stage == 0, last=last)
    shards = data if zero else 1
    device.allocate(count * (2 + 2 + 4) + count * 12 / shards)
    if tensor > 1:
        for _ in range(4):
            device.allocate(2 * tokens * SHAPE["hidden"])
    kept = layers * layer_tensors(tokens, tensor)
    held = [[device.allocate(nbytes) for nbytes in kept] for _ in range(pipeline - stage)]
    if last:
        logits = [device.allocate(nbytes * tokens * SHAPE["vocab"] / tensor) for nbytes in (2, 4, 4, 4)]
        for nbytes in logits:
            device.free(nbytes)
    for nbytes in (nbytes for micro_batch_of in held for nbytes in micro_batch_of):
        device.free(nbytes)
    if zero:
        device.allocate(2 * count + 2 * count / data)
    return device.peak


@pytest.mark.parametrize("zero", [0, 1])
@pytest.mark.parametrize(
    ("pipeline", "tensor", "data", "micro_batch"),
    [(1, 1, 8, 1), (1, 8, 1, 4), (2, 1, 4, 1), (4, 2, 2, 2), (8, 1, 2, 1)],
)
def test_the_peak_of_a_step(ask, pipeline, tensor, data, micro_batch, zero):
    gpus = pipeline * tensor * data
    found = ask.planned(
        {
            "model": SHAPE,
            "workload": {"sequence_length": SEQUENCE, "global_batch": 64, "precision": "bf16"},
            "cluster": {
                "accelerator": "h100-sxm",
                "accelerators": gpus,
                "nodes": -(-gpus // 8),
                "network": {"fabric": "ib-ndr"},
            },
            "plan": {"tensor": tensor, "pipeline": pipeline, "micro_batch": micro_batch, "zero": zero},
            "software": "nanotron",
        }
    )
    peaks = [played_peak(stage, pipeline, tensor, data, micro_batch, zero) for stage in range(pipeline)]
    needed = sum(found[f"memory.{name}"] for name in STEP_TERMS)
    # the buffers of sequence parallelism stay while weights are gathered, activations do not
    assert needed == pytest.approx(peaks[found.fullest_stage], rel=1e-3)
    assert found.fullest_stage == max(range(pipeline), key=peaks.__getitem__)


def deep_pipeline(micro_batch, accelerator="h100-sxm", software="nanotron"):
    """Eight stages of eight ranks, whose host can run far ahead."""
    return {
        "model": SHAPE | {"layers": 32, "hidden": 4096, "heads": 32, "kv_heads": 32, "ffn": 14336},
        "workload": {"sequence_length": SEQUENCE, "global_batch": 512, "precision": "bf16"},
        "cluster": {"accelerator": accelerator, "accelerators": 64, "nodes": 8, "network": {"fabric": "ib-ndr"}},
        "plan": {"tensor": 8, "pipeline": 8, "micro_batch": micro_batch},
        "software": software,
    }


@pytest.mark.parametrize("micro_batch", [1, 2, 4, 8, 16])
def test_what_is_cached_never_decides_whether_a_plan_fits(ask, micro_batch):
    """Six of eight micro-batches wait with two results a layer, as far as there is room."""
    found = ask.planned(deep_pipeline(micro_batch))
    needed = sum(found[f"memory.{name}"] for name in (*STEP_TERMS, "fragmentation", "reserved"))
    room = max(found["memory.capacity"] - needed, 0)
    waiting = 0.8 * 6 * 4 * 2 * 2 * micro_batch * SEQUENCE * 4096
    assert found.needed_memory == pytest.approx(needed)
    assert found["memory.cached"] == pytest.approx(min(waiting, room))
    assert found.fits is (needed <= found["memory.capacity"])
    assert found["memory"] <= max(needed, found["memory.capacity"]) * (1 + 1e-12)


def test_a_host_that_waits_caches_nothing(ask):
    assert ask.planned(deep_pipeline(2, software="nanotron-early-2025"))["memory.cached"] == 0
    assert ask.planned(deep_pipeline(2, software="megatron-core"))["memory.cached"] == 0


def sharded(pipeline, software, recompute="full"):
    return {
        "model": SHAPE,
        "workload": {"sequence_length": SEQUENCE, "global_batch": 64, "precision": "bf16"},
        "cluster": {"accelerator": "h100-sxm", "accelerators": 16, "nodes": 2, "network": {"fabric": "ib-ndr"}},
        "plan": {"pipeline": pipeline, "recompute": recompute},
        "software": software,
    }


def test_weights_of_a_sharded_pipeline_stay_gathered(ask):
    """Weights of two bytes and gradients of four; on one stage, two layers of two bytes."""
    whole, single = ask.planned(sharded(4, "torchtitan")), ask.planned(sharded(1, "torchtitan"))
    first = parameters(2, 1, first=True, last=False)
    assert whole["memory.gathered"] == pytest.approx(6 * first, rel=1e-3)
    assert single["memory.gathered"] == pytest.approx(2 * 2 * (4 * 1024**2 + 3 * 1024 * 4096), rel=1e-3)
    assert ask.planned(sharded(4, "maxtext"))["memory.gathered"] < whole["memory.gathered"] / 2


def test_selective_recompute_by_operation(ask):
    """Between none and full; by score matrix, it saves nothing where attention is fused anyway."""
    kept = {
        (software, mode): ask.planned(sharded(1, software, mode))["memory.activations"]
        for software in ("torchtitan", "maxtext")
        for mode in ("none", "selective", "full")
    }
    assert kept["torchtitan", "full"] < kept["torchtitan", "selective"] < kept["torchtitan", "none"]
    assert kept["maxtext", "selective"] == kept["maxtext", "none"]
    hidden, ffn = SHAPE["hidden"], SHAPE["ffn"]
    operations = 2 * (2 * hidden + 2 * hidden + hidden + ffn)
    one_layer = kept["torchtitan", "none"] / SHAPE["layers"]
    assert kept["torchtitan", "selective"] == pytest.approx(SHAPE["layers"] * operations * SEQUENCE + one_layer)


@pytest.mark.parametrize(("precision", "kept", "widened"), [("fp16", 2, 4), ("bf16", 6, 0)])
def test_gradients_of_deepspeed(ask, precision, kept, widened):
    """fp16: two bytes, and four in a rank's shard; bf16: two as computed and four added up."""
    tree = sharded(4, "megatron-deepspeed")
    tree["workload"]["precision"] = precision
    found = ask.planned(tree)
    weights = found["memory.weights"] / 2
    assert found["memory.gradients"] == pytest.approx(kept * weights)
    assert found["memory.optimizer"] == pytest.approx((12 + widened) * weights / 4)
