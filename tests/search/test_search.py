"""Search against single estimates: the same plans, the same numbers, whatever the order of work."""

import functools
import itertools
import random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aiplan.catalog.load import Catalog
from aiplan.planning import chunks as chunking
from aiplan.planning.chunks import Part, chunks, evaluated, spaces
from aiplan.planning.estimate import estimate
from aiplan.planning.search import merged, search
from aiplan.planning.variants import Source, load_written
from aiplan.planning.workers import serial
from aiplan.scenario.load import with_plan

from .cases import DENSE, SCENARIOS, TWO_NODES, every_plan, loaded, question, scenario, told


@functools.cache
def single_estimates(name):
    """Return the space of a scenario, and each of its plans with its own estimate."""
    whole = scenario(name)
    [space] = spaces([whole], question())
    plans = list(every_plan(space))
    return space, plans, estimate([with_plan(whole, space.plan(*place), "") for place in plans])


def as_text(plan):
    """Return the fields of a plan as one would write them."""
    overlap = {name: value for name, value in vars(plan.overlap).items() if value is not None}
    fields = {name: value for name, value in vars(plan).items() if value not in (None, (), plan.overlap)}
    flow = ", ".join(f"{name}: {str(value).lower()}" for name, value in fields.items())
    hidden = ", ".join(f"{name}: {str(value).lower()}" for name, value in overlap.items())
    return f"{{{flow}, overlap: {{{hidden}}}}}"


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_layouts_are_those_that_load(name):
    """Every combination of sizes is loaded as a file; the legal ones are the layouts of the space."""
    whole = scenario(name)
    [space] = spaces([whole], question())
    found = {group.sizes.row(index)[:8] for group in space.groups for index in range(len(group.sizes))}
    total, batch = whole.accelerators, whole.file.workload.global_batch
    experts = whole.model.experts.count if whole.model.experts else 1
    legal = set()
    for tensor, context, pipeline in itertools.product(range(1, total + 1), repeat=3):
        if total % (tensor * context * pipeline):
            continue
        for expert, expert_tensor in itertools.product(
            range(1, experts + 1), range(1, (tensor if experts > 1 else 1) + 1)
        ):
            if tensor % expert_tensor:
                continue
            for ends, interleave, micro in itertools.product((0, 1), range(1, 7), range(1, batch + 1)):
                even = whole.model.layers % pipeline == 0
                if ends and (even or pipeline == 1):
                    continue
                row = (tensor, context, pipeline, ends, expert, expert_tensor, interleave, micro)
                if batch % (micro * (total // (tensor * context * pipeline))):
                    continue
                text = (
                    f"{{tensor: {tensor}, context: {context}, pipeline: {pipeline}, expert: {expert}, "
                    f"expert_tensor: {expert_tensor}, interleave: {interleave}, micro_batch: {micro}, "
                    f"count_embedding_as_layer: {'true' if ends else 'false'}}}"
                )
                if loaded(SCENARIOS[name], ("plan", text)) is not None:
                    legal.add(row)
    assert found == legal


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_plan_that_is_found_has_the_estimate_of_that_plan_to_the_last_bit(name):
    whole = scenario(name)
    [space] = spaces([whole], question())
    places = random.Random(7).sample(list(every_plan(space)), 40)  # noqa: S311
    estimates = estimate([loaded(SCENARIOS[name], ("plan", as_text(space.plan(*place)))) for place in places])
    for (number, layout, option), single in zip(places, estimates, strict=True):
        terms = chunking.step_and_memory(space.inputs(number, 0, len(space.groups[number].sizes)))
        shape = [len(axis.choices) for axis in space.groups[number].axes]
        where = np.unravel_index(option, shape)
        for term, found in terms.items():
            array = np.broadcast_to(found, (*shape, 1, len(space.groups[number].sizes)))
            assert array[(*where, 0, layout)] == single[term], term


@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.parametrize("objective", ["time", "memory", "tokens_per_s_per_gpu"])
def test_search_is_brute_force(name, objective):
    """All plans, estimated one by one, sorted by the rule that the documentation states."""
    whole, asked = scenario(name), question(objective, shown=12)
    space, plans, estimates = single_estimates(name)
    best = {}
    for place, single in zip(plans, estimates, strict=True):
        if not single.fits:
            continue
        row = space.groups[place[0]].sizes.row(place[1])
        value = single["memory.needed"] if objective == "memory" else single["step"]
        second = single["step"] if objective == "memory" else single["memory.needed"]
        key = (value, second, row, place)
        best[row] = min(best.get(row, key), key)
    alike = {}
    for item in sorted(best.values()):
        alike.setdefault((f"{item[0]:.9e}", f"{item[1]:.9e}"), item)
    expected = list(alike.values())[:12]
    found = search([whole], asked)
    assert found.plans == len(plans)
    assert [choice.plan for choice in found.best] == [space.plan(*place) for *_, place in expected]
    term = "memory.needed" if objective == "memory" else "step"
    assert [choice.estimate[term] for choice in found.best] == [value for value, *_ in expected]
    assert found.too_large == sum(not single.fits for single in estimates)


def test_plans_of_a_space_are_distinct():
    [space] = spaces([scenario("two-nodes")], question())
    plans = [repr(sorted(vars(space.plan(*place)).items(), key=str)) for place in every_plan(space)]
    assert len(set(plans)) == len(plans)


def test_the_answer_does_not_depend_on_the_chunks(monkeypatch):
    whole, asked = scenario("dense"), question(shown=20, near=1.2)
    expected = told(search([whole], asked))
    for size in (1, 97, 1000):
        monkeypatch.setattr(chunking, "CHUNK", size)
        assert told(search([whole], asked)) == expected


@settings(max_examples=10, deadline=None)
@given(st.randoms())
def test_parts_merge_in_any_order(shuffler):
    asked = question(shown=5, near=1.1)
    found = spaces([scenario("dense"), loaded(DENSE, ("workload.global_batch", "4"))], asked)
    parts = [evaluated(found, chunk, asked) for chunk in chunks(found, asked)]
    expected, _ = merged(parts, asked)
    shuffler.shuffle(parts)
    again, _ = merged(parts, asked)
    assert again == expected


BETTER = (
    ("cluster.network.efficiency", ("0.3", "0.5", "0.9")),
    ("cluster.network.ports", ("1", "2", "4")),
    ("cluster.network.oversubscription", ("4", "2", "1")),
)


@pytest.mark.parametrize(("path", "values"), BETTER)
def test_a_better_network_never_makes_the_best_plan_slower(path, values):
    times = [search([loaded(TWO_NODES, (path, value))], question()).best[0].estimate["step"] for value in values]
    assert times == sorted(times, reverse=True)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sets(st.sampled_from(["tensor <= 2", "pipeline = 1", "recompute = none", "memory <= 20 %", "zero >= 1"])))
def test_a_condition_never_makes_the_best_plan_faster_and_is_kept(conditions):
    whole = scenario("two-nodes")
    free, bound = search([whole], question()), search([whole], question("time", *sorted(conditions), shown=30))
    assert not bound.best or bound.best[0].estimate["step"] >= free.best[0].estimate["step"]
    for choice in bound.best:
        plan, one = choice.plan, choice.estimate
        assert "tensor <= 2" not in conditions or plan.tensor <= 2
        assert "pipeline = 1" not in conditions or plan.pipeline == 1
        assert "recompute = none" not in conditions or plan.recompute == "none"
        assert "memory <= 20 %" not in conditions or one["memory.needed"] <= 0.2 * one["memory.capacity"]
        assert "zero >= 1" not in conditions or one.given("plan.zero") >= 1


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_front_is_what_no_plan_beats(name):
    asked = question()
    space, _, single = single_estimates(name)
    points = {(one["step"], one["memory.needed"]) for one in single if one.fits}
    front = {
        here
        for here in points
        if not any(there[0] <= here[0] and there[1] <= here[1] and there != here for there in points)
    }
    part, _ = merged(serial([space], asked), asked)
    steps = {(one.estimate["step"], one.estimate["memory.needed"]) for one in chosen(space, part.front)}
    assert steps == front


def chosen(space, points):
    plans = [space.plan(*point.place[1:]) for point in points]
    found = estimate([with_plan(space.scenario, plan, "") for plan in plans])
    return [type("One", (), {"estimate": one}) for one in found]


def test_an_interrupt_keeps_the_best_so_far():
    whole, asked = scenario("dense"), question()
    found = spaces([whole], asked)

    def interrupted():
        yield from itertools.islice(serial(found, asked), 2)
        raise KeyboardInterrupt

    part, finished = merged(interrupted(), asked)
    assert not finished
    assert part.best
    assert part.plans < sum(space.plans for space in found)


def test_nothing_that_fits_is_an_answer_without_plans():
    found = search([loaded(DENSE, ("model.hidden", "65536"), ("model.ffn", "262144"))], question())
    assert found.best == ()
    assert found.too_large == found.plans > 0


def test_an_empty_part_changes_nothing():
    whole, asked = scenario("dense"), question(near=1.3)
    part, _ = merged(serial(spaces([whole], asked), asked), asked)
    assert Part().merge(part, asked) == part == part.merge(Part(), asked)


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("memory: {capacity: %s GiB, bandwidth: 3352 GB/s}", (24, 40, 80)),
        ("memory: {capacity: 80 GiB, bandwidth: %s GB/s}", (1000, 3352, 5000)),
        ("compute: {bf16: %s TFLOP/s}", (400, 989, 1500)),
        ("scale_up: {link: nvlink4, count: %s}", (6, 12, 18)),
    ],
)
def test_a_better_accelerator_never_makes_the_best_plan_slower(field, values, tmp_path):
    folder = tmp_path / "accelerators"
    folder.mkdir()
    times = []
    for value in values:
        (folder / "h100-sxm.yaml").write_text(field % value + "\n", encoding="utf-8")
        found = load_written(Source("", LARGER.encode()), Catalog([tmp_path]), searched=True)
        assert found.scenario is not None, found.diagnostics.items
        times.append(search([found.scenario], question()).best[0].estimate["step"])
    assert times == sorted(times, reverse=True)
    assert times[0] > times[-1]


LARGER = """
model: llama-3-8b
workload: {sequence_length: 4096, global_batch: 32}
cluster: {node: dgx-h100, nodes: 1}
"""
