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
