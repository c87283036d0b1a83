"""Every number of an estimate can be followed down to inputs, with their origin, and to constants of formulas."""

import math

import pytest

from aiplan.catalog.load import Catalog
from aiplan.declare import Diagnostics, InputError
from aiplan.planning.estimate import estimate
from aiplan.planning.explain import STAGES, explain, explain_known, read_form
from aiplan.scenario.files import library_ids
from aiplan.scenario.load import load

BOTTOM = 100
ORIGINS = {"given", "catalog", "default", "assumed", "derived"}
GPT3 = "gpt3-175b-a100"
H100 = "{node: dgx-h100, nodes: 16}"
WORK = "{tokens: 1e12, sequence_length: 4096, global_batch: 1024}"

LAYOUTS = {
    "latent attention, experts, uneven stages": (
        "deepseek-v2-lite",
        WORK,
        H100,
        "{pipeline: 4, expert: 8, stage_layers: [6, 7, 7, 7], zero: 2}",
    ),
    "experts without shared ones, split twice": (
        "mixtral-8x7b",
        WORK,
        H100,
        "{tensor: 4, pipeline: 4, expert: 2, expert_tensor: 4, sequence_parallel: true, recompute: selective}",
    ),
    "shared experts with a gate": ("qwen1.5-moe-a2.7b", WORK, H100, "{tensor: 2, expert: 4, recompute: full}"),
    "context parallel, windows, fully sharded": (
        "gemma-3-27b",
        "{sequence_length: 32768, global_batch: 64}",
        H100,
        "{tensor: 4, context: 2, zero: 3, recompute: full}",
    ),
    "interleaved, stored scores": (
        "gpt3-13b",
        WORK,
        H100,
        "{tensor: 4, pipeline: 4, interleave: 2, attention: unfused, zero: 0}",
    ),
    "tied embedding on two stages": ("gemma-2-2b", WORK, H100, "{tensor: 2, pipeline: 2, attention: fused-softmax}"),
    "one node": ("llama-3-8b", WORK, "{node: dgx-h100, nodes: 1}", "{tensor: 2}"),
    "one accelerator": (
        "gpt2-small",
        "{sequence_length: 1024, global_batch: 64, precision: fp32}",
        "{accelerator: a100-sxm-80gb, accelerators_per_node: 1, nodes: 1}",
        "{}",
    ),
}


def loaded(text, **settings):
    diagnostics = Diagnostics()
    changes = [(path, value, "--set") for path, value in settings.items()]
    scenario = load(str(text), Catalog(), diagnostics, changes)
    assert scenario is not None, diagnostics.items
    return scenario


def written(tmp_path, model, workload, cluster, plan):
    path = tmp_path / "scenario.yaml"
    path.write_text(f"model: {model}\nworkload: {workload}\ncluster: {cluster}\nplan: {plan}\n")
    return loaded(path)


@pytest.fixture(scope="module")
def gpt3():
    return loaded(GPT3)


def everything(top):
    """Return all explanations below one, each once."""
    found, left = {}, [top]
    while left:
        one = left.pop()
        if id(one) not in found:
            found[id(one)] = one
            left.extend(one.arguments)
    return list(found.values())


def to_the_bottom(scenario):
    """Return all that explains any term: the trees, the counts, and what is made from a step."""
    terms = estimate([scenario])[0].terms
    roots = [
        "step",
        "memory",
        "memory.stage",
        *(name for name in terms if name.startswith(("param", "flops_per_token"))),
    ]
    tops = [explain(scenario, name, BOTTOM) for name in roots]
    tops += [explain(scenario, name, 3) for name in terms if name.startswith(("run.", "utilisation.", "flops_per_s."))]
    return [one for top in tops for one in everything(top)]


def called(top, name):
    """Return the calls of one closed form below an explanation."""
    return [one for one in everything(top) if one.call == name]


def check_traceable(scenario):
    for one in to_the_bottom(scenario):
        if one.kind == "computed":
            assert one.call
            assert one.form.formula
        elif one.kind == "constant":
            assert one.value is not None, one.name
        else:
            assert one.kind in ORIGINS, f"{one.name} is {one.kind}"
            assert one.kind == "default" or one.where, one.name


@pytest.mark.parametrize("name", library_ids(""))
def test_every_number_of_a_library_scenario_can_be_traced(name):
    check_traceable(loaded(name))


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_every_number_of_every_kind_of_layout_can_be_traced(layout, tmp_path):
    check_traceable(written(tmp_path, *layout))


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_step_and_memory_are_known_for_every_kind_of_layout(layout, tmp_path):
    terms = estimate([written(tmp_path, *layout)])[0].terms
    assert all(math.isfinite(terms[name]) and terms[name] >= 0 for name in terms if name.startswith(("step", "memory")))


def test_the_explained_value_is_the_estimate(gpt3):
    terms = estimate([gpt3])[0].terms
    for name in ("step", "step.tensor", "step.bubble", "memory", "memory.activations", "utilisation.megatron"):
        assert explain(gpt3, name).value == terms[name]


def test_a_sum_shows_parts_that_add_up(gpt3):
    step = explain(gpt3, "step")
    total = 0.0
    for part in step.arguments:
        total += part.value
    assert step.call == "compose.summed"
    assert total == step.value
    assert [part.name for part in step.arguments][:2] == ["step.compute", "step.host"]


def test_the_message_of_tensor_parallelism_is_the_residual_stream(gpt3):
    """2,048 tokens of width 12,288 in two bytes, reduced over 8 ranks, twice in each of 12 layers."""
    tensor = explain(gpt3, "step.tensor", BOTTOM)
    message = called(tensor, "traffic.residual_bytes")[0]
    assert message.value == 2048 * 12288 * 2
    assert {one.name: one.value for one in message.arguments} == {
        "tokens": 2048,
        "model.hidden": 12288,
        "workload.activation_bytes": 2,
    }
    ring = called(tensor, "collectives.ring_all_reduce_time")[0]
    assert ring.arguments[1].name == "plan.tensor"
    assert ring.arguments[1].value == 8


def test_parameters_of_a_stage_are_those_of_its_layers(gpt3):
    """12 layers of 12 h^2 + 13 h and the table of 51,200 rows and 2,048 positions, over 8 ranks (norms are copied)."""
    (held,) = {one.values for one in called(explain(gpt3, "memory.weights", BOTTOM), "sharding.stage_parameters")}
    hidden, vocab = 12288, gpt3.values["model.vocab"].number
    norms = 12 * 4 * hidden
    layers = 12 * (12 * hidden**2 + 9 * hidden)
    table = vocab * hidden
    assert held[1] == layers / 8 + norms
    assert held[0] == (layers + table + 2048 * hidden) / 8 + norms


def test_an_input_keeps_name_and_place(gpt3):
    hidden = next(one for one in everything(explain(gpt3, "step.tensor", BOTTOM)) if one.name == "model.hidden")
    assert hidden.kind == "given"
    assert "gpt3-175b.yaml:" in hidden.where
    assert hidden.arguments == ()


def test_columns_of_stages_say_what_they_are(gpt3):
    """96 layers on 8 stages: the first, six alike, the last."""
    layers = explain(gpt3, "stages.dense_layers")
    assert layers.kind == "derived"
    assert layers.where == STAGES["stages.dense_layers"]
    assert layers.value is None
    assert layers.values == (12.0, 12.0, 12.0)
    assert layers.size == 3
    assert explain(gpt3, "stages.copies").values == (1.0, 6.0, 1.0)


def test_what_differs_by_stage_shows_all_stages(gpt3):
    (activations,) = [one for one in explain(gpt3, "memory.activations").arguments if one.name == "values"]
    assert len(activations.values) == 3
    assert activations.values[0] == max(activations.values)
    assert explain(gpt3, "memory.activations").value == activations.values[0]


def test_the_fullest_stage_is_a_closed_form(gpt3):
    stage = explain(gpt3, "memory.stage", 2)
    assert stage.call == "compose.at_stage"
    assert stage.arguments[1].call == "compose.busiest"
    assert stage.value == 0


def test_constants_of_a_formula_are_constants(gpt3):
    kernels = [
        argument
        for one in called(explain(gpt3, "step.optimizer", BOTTOM), "compute.memory_bound_time")
        for argument in one.arguments
        if argument.name == "kernels"
    ]
    assert [(one.kind, one.value) for one in kernels] == [("constant", 4.0)]
    assert kernels[0].text == "Kernels c that are started"


def test_unknown_is_neither_value_nor_values(tmp_path):
    scenario = written(tmp_path, *LAYOUTS["one accelerator"])
    steps = explain(scenario, "run.steps")
    assert steps.value is None
    assert steps.values == ()
    assert {one.name: one.value for one in steps.arguments}["workload.tokens"] is None


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_depth_is_the_number_of_closed_forms_shown(gpt3, depth):
    def deepest(one):
        return 1 + max(map(deepest, one.arguments)) if one.arguments else 0

    assert deepest(explain(gpt3, "step", depth)) == depth


def test_a_change_of_an_input_changes_the_explanation():
    scenario = loaded(GPT3, **{"workload.sequence_length": "1024"})
    messages = called(explain(scenario, "step.tensor", BOTTOM), "traffic.residual_bytes")
    assert {one.value for one in messages} == {1024 * 12288 * 2}


def test_no_such_term(gpt3):
    assert explain(gpt3, "step.nothing") is None
    with pytest.raises(InputError, match=r"step\.tensor"):
        explain_known(gpt3, "step.tensr")


def test_a_docstring_is_read_in_full():
    def form(nbytes, rate):
        """Time of a thing.

        t = n / b

        Parameters
        ----------
        nbytes : numeric
            Message n,
            all of it. [B]
        rate : numeric
            Rate b. [B/s]

        Returns
        -------
        numeric
            Shape of the inputs. [s]

        Notes
        -----
        No overlap.

        References
        ----------
        .. [1] Someone, "Something", 2020. https://example.org
        """

    read = read_form(form)
    assert read.sentence == "Time of a thing."
    assert read.formula == "t = n / b"
    assert read.parameters == {"nbytes": ("Message n, all of it", "B"), "rate": ("Rate b", "B/s")}
    assert read.unit == "s"
    assert read.notes == "No overlap."
    assert read.source == 'Someone, "Something", 2020. https://example.org'
