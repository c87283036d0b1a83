"""Order of plans, scaling and whole trainings as parts of the JSON document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aiplan.planning.accuracy import Accuracy
    from aiplan.planning.alike import Conditions
    from aiplan.planning.ranking import RankedGroup, Ranking, RankingSummary
    from aiplan.planning.scaling import Scaling, ScalingGroup, ScalingSummary
    from aiplan.planning.trainings import Class, Training, Trainings


def summaries(answer: Accuracy) -> dict[str, Any]:
    """Return what is known besides the error of single steps."""
    return {
        "ranking": _ranking(answer.ranking()),
        "scaling": _scaling(answer.scaling()),
        "trainings": _trainings(answer.trainings),
    }


def _ranking(ranking: Ranking) -> dict[str, Any] | None:
    whole = ranking.overall()
    if whole is None:
        return None
    return _ranks(whole) | {
        "share_repeatable": ranking.repeatable_share(),
        "by_source": {part.name: _ranks(part) for part in ranking.by_source()},
        "groups": [_ranked(group) for group in ranking.groups],
    }


def _ranks(part: RankingSummary) -> dict[str, Any]:
    return {
        "n": part.groups,
        "plans": part.plans,
        "median_spearman": part.median_spearman,
        "worst_spearman": part.worst_spearman,
        "pooled_spearman": part.pooled_spearman,
        "share_spearman_0_9": part.good_share,
        "median_regret": part.median_regret,
        "worst_regret": part.worst_regret,
        "share_regret_5_percent": part.small_regret_share,
    }


def _ranked(group: RankedGroup) -> dict[str, Any]:
    plans = [
        {"ids": list(plan.idents), "predicted_step_time_s": plan.predicted, "measured_step_time_s": plan.measured}
        for plan in group.plans
    ]
    return _conditions(group.conditions) | {
        "gpus": group.accelerators,
        "global_batch": group.global_batch,
        "runs": group.runs,
        "spearman": group.spearman,
        "regret": group.regret,
        "plans": plans,
    }


def _scaling(scaling: Scaling) -> dict[str, Any] | None:
    whole = scaling.overall()
    if whole is None:
        return None
    return _differences(whole) | {
        "share_attainable": scaling.attainable_share(),
        "by_kind": {part.name: _differences(part) for part in scaling.by_kind()},
        "groups": [_scaled(group) for group in scaling.groups],
    }


def _differences(part: ScalingSummary) -> dict[str, Any]:
    return {
        "n": part.groups,
        "share_within_5_points": part.near_share,
        "median_abs_difference": part.median_size,
        "worst_abs_difference": part.worst_size,
        "bias": part.bias,
    }


def _scaled(group: ScalingGroup) -> dict[str, Any]:
    return _conditions(group.conditions) | {
        "kind": group.kind,
        "runs": group.runs,
        "gpus": [size.accelerators for size in group.sizes],
        "ids": [list(size.idents) for size in group.sizes],
        "measured_tokens_per_s_per_gpu": [size.measured for size in group.sizes],
        "predicted_tokens_per_s_per_gpu": [size.predicted for size in group.sizes],
        "measured_efficiency": group.measured_efficiency,
        "predicted_efficiency": group.predicted_efficiency,
        "difference": group.difference,
    }


def _conditions(common: Conditions) -> dict[str, Any]:
    return {
        "source": common.source,
        "model": common.model,
        "accelerator": common.accelerator,
        "precision": common.precision,
        "sequence_length": common.sequence_length,
        "software": common.software,
    }


def _trainings(trainings: Trainings) -> dict[str, Any] | None:
    if not trainings.items:
        return None
    found = trainings.summary()
    ratios = None if found is None else {"median": found.median, "min": found.lowest, "max": found.highest}
    return {
        "n": 0 if found is None else found.number,
        "own_plans": 0 if found is None else found.own_plans,
        "over_10_percent": [item.run.ident for item in trainings.counted if item.exceeds],
        "published_over_predicted": ratios,
        "classes": [_class(part) for part in trainings.classes()],
        "skipped": dict(trainings.skipped()),
        "rows": [_training(item) for item in trainings.items],
    }


def _class(part: Class) -> dict[str, Any]:
    found = part.summary
    return {
        "counts": part.counts,
        "plans_are_ours": part.own_plans,
        "n": found.number,
        "median_error": found.error,
        "within_15_percent": found.near,
        "median_published_over_predicted": found.median,
    }


def _training(item: Training) -> dict[str, Any]:
    head = {"id": item.run.ident, "source": item.run.source}
    if item.estimate is None:
        return head | {"skipped": item.problem}
    plan = item.estimate.scenario.file.plan
    return head | {
        "quality": item.run.quality,
        "model": item.estimate.scenario.model.name,
        "accelerator": item.estimate.scenario.accelerator.name,
        "gpus": item.estimate.scenario.accelerators,
        "assumed": list(item.run.assumed),
        "plan_is_ours": item.own_plan,
        "plan": {
            "tensor": plan.tensor,
            "pipeline": plan.pipeline,
            "interleave": plan.interleave,
            "context": plan.context,
            "expert": plan.expert,
            "data": item.estimate.scenario.data,
            "zero": int(item.estimate.given("plan.zero")),
            "micro_batch": plan.micro_batch,
            "recompute": plan.recompute,
        },
        "measured_time_s": item.measured_time,
        "predicted_time_s": item.predicted_time,
        "published_over_predicted": item.ratio,
        "error": item.error,
        "predicted_interval_s": None if item.interval is None else [item.interval.low, item.interval.high],
        "counts": item.counts,
        "circumstances": item.run.circumstances,
    }
