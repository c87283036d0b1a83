"""Communication in pieces beside computation: which plans leave something to run beside, and the numbers of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.core import low_rank, transformer
from aiplan.scenario.cautions import Caution
from aiplan.scenario.legality import Fault
from aiplan.scenario.values import Value, derived, from_file
from aiplan.units import quantity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from aiplan.scenario.model import Model
    from aiplan.scenario.records import Communication, ScenarioFile
    from aiplan.scenario.resolve import Parts

CODE = "AIP323"
BUCKET, FIRST = "communication.bucket", "communication.first_bucket"
PREFETCH, PIECES = "communication.prefetch", "communication.tensor_pieces"
CONTENTION, CHANNELS = "plan.overlap.contention", "plan.overlap.channels"
INSIDE = "communication.reduce_inside_every"
FULLY_SHARDED = 3
SHARE = "not given: the share of the preset"


def check(file: ScenarioFile, model: Model, values: Mapping[str, Value], *, searched: bool) -> Iterator[Fault]:
    """Yield why communication cannot go in the pieces that are asked for; a plan that is searched is left out."""
    wanted = file.communication
    if wanted.first_bucket is not None and wanted.bucket is None:
        yield Fault("AIP106", "first_bucket without bucket", FIRST, "give communication.bucket, e.g. 25 MiB")
    yield from _check_tensor(file, model)
    yield from _check_channels(file, values["cluster.multiprocessors"].number)
    for kind, (path, what) in beside(wanted).items():
        if getattr(file.plan.overlap, kind) is False:
            yield Fault(CODE, f"{what}, and plan.overlap.{kind} is false", path, "leave one of the two out")
    if searched:
        return
    zero, stays = values["plan.zero"].number, values["plan.stays_gathered"].number
    yield from check_sharding(wanted, zero)
    if wanted.prefetch is not None and stays and zero >= FULLY_SHARDED:
        yield Fault(
            CODE,
            f"with a pipeline, {file.software} keeps the weights of a stage gathered: no layers are gathered ahead",
            PREFETCH,
            "plan.pipeline: 1, or another software preset",
        )


def check_sharding(wanted: Communication, zero: float) -> Iterator[Fault]:
    """Yield which pieces do not go with a ZeRO stage."""
    if wanted.bucket is not None and zero >= FULLY_SHARDED:
        yield Fault(
            CODE,
            f"ZeRO stage {zero:g} scatters the gradients of each layer as it is done: there are no buckets to fill",
            BUCKET,
            "communication.prefetch says how FSDP overlaps; buckets go with plan.zero of 0, 1 or 2",
        )
    if wanted.prefetch is not None and zero < FULLY_SHARDED:
        yield Fault(
            CODE,
            f"ZeRO stage {zero:g} keeps whole weights on every rank: there is nothing to gather ahead",
            PREFETCH,
            "plan.zero: 3 shards weights; communication.bucket says how gradients overlap without",
        )


def beside(wanted: Communication) -> dict[str, tuple[str, str]]:
    """Return the kinds of overlap that pieces switch on, each with the field that says so and why."""
    kinds = {}
    if wanted.bucket is not None:
        kinds["gradients"] = (BUCKET, "buckets are reduced beside the backward pass")
    if wanted.prefetch:
        ahead = (PREFETCH, "layers are gathered ahead beside computation")
        kinds |= {"parameters": ahead, "gradients": ahead}
    if (wanted.tensor_pieces or 1) > 1:
        kinds["tensor"] = (PIECES, "pieces run beside the matmuls")
    return kinds


def _check_tensor(file: ScenarioFile, model: Model) -> Iterator[Fault]:
    wanted = file.communication.tensor_pieces
    if wanted is None:
        return
    if model.experts is not None:
        yield Fault(
            CODE,
            "layers with experts have no matmul that tensor parallel communication in pieces could run beside",
            PIECES,
            "plan.overlap.tensor switches the share of the preset on",
        )


def _check_channels(file: ScenarioFile, multiprocessors: float) -> Iterator[Fault]:
    channels = file.plan.overlap.channels
    if channels is None:
        return
    if file.plan.overlap.contention is not None:
        yield Fault(
            "AIP107", "channels and contention both say how much is slowed down", CHANNELS, "leave one of the two out"
        )
    if not multiprocessors:
        yield Fault(
            CODE,
            "how many multiprocessors the accelerator has is not in the catalog, so channels take an unknown share",
            CHANNELS,
            "give plan.overlap.contention",
        )
    elif channels >= multiprocessors:
        yield Fault(
            "AIP107",
            f"{channels} channels leave none of {multiprocessors:g} multiprocessors to computation",
            CHANNELS,
            "NCCL takes 16 to 32",
        )


def cautions(file: ScenarioFile, values: Mapping[str, Value]) -> Iterator[Caution]:
    """Yield which pieces have no effect."""
    wanted = file.communication
    tensor, domain = values["plan.tensor"].number, values["cluster.domain"].number
    if wanted.tensor_pieces is not None and tensor == 1:
        yield Caution("AIP322", PIECES, "there is no tensor parallel communication", "plan.tensor of 2 or more")
    if wanted.bucket is not None and wanted.bucket < (matrix := _matrix_bytes(values)):
        yield Caution(
            "AIP322",
            BUCKET,
            f"a bucket takes whole tensors, and matrices of a layer have {quantity(matrix, 'B si')} in the mean",
            "the estimate takes buckets of that size at least",
        )
    yield from _without_overlap(file, values)
    if wanted.reduce_inside_every is None:
        return
    if domain <= tensor:
        yield Caution(
            "AIP322",
            INSIDE,
            "tensor parallel ranks fill a node, so no two ranks that reduce gradients share one",
            "a smaller plan.tensor",
        )
    elif domain >= tensor * values["plan.context"].number * values["plan.data"].number:
        yield Caution(
            "AIP322", INSIDE, "all ranks that reduce gradients share one node", "communication.reduce_every alone"
        )


def _without_overlap(file: ScenarioFile, values: Mapping[str, Value]) -> Iterator[Caution]:
    wanted = file.communication
    hides = values["plan.hidden_gradients"].number or values["plan.hidden_parameters"].number
    if hides or wanted.bucket is not None or wanted.prefetch:
        return
    for path, given in ((CONTENTION, file.plan.overlap.contention), (CHANNELS, file.plan.overlap.channels)):
        if given is not None:
            yield Caution(
                "AIP322",
                path,
                "no data parallel communication runs beside computation",
                "plan.overlap.gradients: true, communication.bucket or communication.prefetch",
            )


def _matrix_bytes(values: Mapping[str, Value]) -> float:
    """Return the mean gradient of a matrix of a layer on a rank; of latent attention as if it had none."""
    model = {name.removeprefix("model."): value.number for name, value in values.items() if name.startswith("model.")}
    attention = transformer.attention_parameters(
        *(model[name] for name in ("hidden", "heads", "kv_heads", "head_dim", "qkv_bias", "output_bias"))
    )
    width = model["ffn"] or model["shared_ffn"]
    mlp = transformer.mlp_parameters(model["hidden"], width, model["gated"], model["mlp_bias"]) if width else 0.0
    matrices = low_rank.layer_matrices(model["gated"], attention, mlp) * values["plan.tensor"].number
    return float((attention + mlp) / matrices * values["workload.gradient_bytes"].number)


def piece_values(parts: Parts) -> dict[str, Value]:
    """Return the numbers of pieces; 0 pieces is the share that the preset hides."""
    wanted, origins = parts.file.communication, parts.origins

    def own(number: float | None, path: str, otherwise: float, why: str = SHARE) -> Value:
        return derived(otherwise, why) if number is None else from_file(number, origins, path)

    bucket = own(wanted.bucket, BUCKET, 0)
    return {
        "bucket": bucket,
        "first_bucket": own(wanted.first_bucket, FIRST, bucket.number, "as the other buckets"),
        "in_units": Value(float(wanted.prefetch is not None), own(wanted.prefetch, PREFETCH, 0).origin),
        "prefetch": own(wanted.prefetch, PREFETCH, 1, "one layer ahead, as usual"),
        "tensor_pieces": own(wanted.tensor_pieces, PIECES, 0),
    }
