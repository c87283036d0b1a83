"""Every closed form documents itself in one fixed order, and the docstring agrees with the signature."""

import doctest
import importlib
import inspect
import pkgutil
import re

import numpy as np
import pytest

import aiplan.core
from aiplan.core import formula
from aiplan.core.net import Net

PLUMBING = {"algorithms", "arrays", "busbw", "choices", "formula", "nccl_tables", "net", "topologies"}
UNITS = {"-", "B", "s", "B/s", "FLOP", "FLOP/s", "1/s", "W", "J", "kg", "kg/J", "USD", "USD/s", "USD/J", "USD/B/s"}
MODULES = [
    importlib.import_module(f"aiplan.core.{found.name}")
    for found in pkgutil.iter_modules(aiplan.core.__path__)
    if found.name not in PLUMBING
]
FUNCTIONS = {
    f"{module.__name__.rpartition('.')[2]}.{name}": function
    for module in MODULES
    for name, function in vars(module).items()
    if inspect.isfunction(function) and function.__module__ == module.__name__ and not name.startswith("_")
}
SECTIONS = ["Parameters", "Returns", "Raises", "Notes", "Examples", "References"]
GENERIC = {"compose"}
"""Modules whose functions put terms of any unit together: their parameters may leave the unit out."""
SPECIAL = {"values": np.array([[2.0], [3.0], [5.0]]), "stage": np.array([[1]]), "net": Net(2.0, 1.0, 1.0)}
"""Arguments that must be arrays, or a record of them."""


def sections(function):
    """Split a docstring into what comes first and its titled sections, in order."""
    parts = re.split(r"\n\n(\w+)\n-+\n", inspect.getdoc(function))
    return parts[0], dict(zip(parts[1::2], parts[2::2], strict=True))


def documented(function):
    """Return name and text of each documented parameter."""
    _, titled = sections(function)
    found = re.findall(
        r"^(\*{0,2}\w+) : (?:numeric|Net)\n((?: {4}.*\n?)+)", titled["Parameters"] + "\n", flags=re.MULTILINE
    )
    return {name.lstrip("*"): " ".join(text.split()) for name, text in found}


@pytest.fixture(params=FUNCTIONS.values(), ids=FUNCTIONS.keys())
def function(request):
    return request.param


def test_there_are_closed_forms_in_every_module():
    assert len(MODULES) >= 11
    for module in MODULES:
        assert any(function.__module__ == module.__name__ for function in FUNCTIONS.values()), module.__name__


def test_starts_with_one_sentence_and_a_formula(function):
    lead, _ = sections(function)
    sentence, formulas = lead.split("\n\n", 1)
    assert "\n" not in sentence
    assert re.fullmatch(r"[A-Z](?:[^.]|\.(?=\w))*\.", sentence)
    assert "=" in formulas or ": " in formulas, "the formula is the second paragraph"
    assert "\n\n" not in formulas


def test_sections_are_there_and_in_order(function):
    _, titled = sections(function)
    assert list(titled) == [name for name in SECTIONS if name in titled]
    assert {"Parameters", "Returns", "Notes", "References"} <= set(titled)
    assert all(text.strip() for text in titled.values())


def test_documents_the_parameters_of_its_signature_and_no_others(function):
    assert list(documented(function)) == list(inspect.signature(function).parameters)


def test_every_parameter_has_a_known_unit(function):
    generic = function.__module__.rpartition(".")[2] in GENERIC
    for name, text in documented(function).items():
        if name == "net":
            continue  # a record: each of its fields has its own unit, see below
        unit = re.search(r"\[([^\[\]]+)\]$", text)
        assert unit or generic, f"{name}: {text}"
        if unit:
            assert unit[1] in UNITS, f"{name}: {text}"


def test_every_field_of_a_net_has_a_known_unit():
    assert list(documented(Net)) == list(Net._fields)
    assert {re.search(r"\[([^\[\]]+)\]$", text)[1] for text in documented(Net).values()} <= UNITS


def test_says_the_unit_of_what_it_returns(function):
    _, titled = sections(function)
    kind, text = titled["Returns"].split("\n", 1)
    unit = re.search(r"\[([^\[\]]+)\]$", text.strip())
    assert kind == "numeric"
    assert (unit and unit[1] in UNITS) or function.__module__.rpartition(".")[2] in GENERIC


def test_cites_a_source_with_an_address(function):
    _, titled = sections(function)
    assert titled["References"].startswith(".. [1] ")
    assert re.search(r"https://\S+\.\S+", titled["References"])


def test_is_marked_as_a_closed_form(function):
    """Called inside a recording, it leaves a call under its own name; an unmarked function would leave none."""
    parameters = inspect.signature(function).parameters.values()
    arguments = {p.name: SPECIAL.get(p.name, 2.0) for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD}
    variadic = [2.0, 3.0] if len(arguments) < len(parameters) else []
    with formula.recording() as calls:
        result = function(*variadic, **arguments)
    call = calls.producer(result)
    assert call is not None
    assert call.name == f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
    assert call.arguments.keys() == arguments.keys()
    assert all(call.arguments[name] is value for name, value in arguments.items())
    assert list(call.positional) == variadic


def test_nothing_is_recorded_outside_a_recording():
    with formula.recording() as calls:
        pass
    assert calls.producer(FUNCTIONS["collectives.send_time"](1.0, 1.0, 1.0)) is None


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_examples_run(module):
    parser = doctest.DocTestParser()
    runner = doctest.DocTestRunner(verbose=False)
    for name, function in FUNCTIONS.items():
        if function.__module__ == module.__name__:
            example = parser.get_doctest(inspect.getdoc(function), vars(module), name, None, 0)
            assert runner.run(example).failed == 0


def test_some_functions_have_examples():
    assert sum(">>>" in inspect.getdoc(function) for function in FUNCTIONS.values()) >= 2
