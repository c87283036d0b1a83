"""What an exporter is given, and what it makes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from aiplan.scenario.load import Scenario

OVERLAPS = ("gradients", "parameters", "tensor", "pipeline", "expert")


class Export(NamedTuple):
    """A file for another program.

    Parameters
    ----------
    text : str
        The file.
    settings : tuple of tuple
        Names and values in it, in order; a switch has an empty value.
    remarks : tuple of str
        What of the scenario the file cannot say, or says differently.
    """

    text: str
    settings: tuple[tuple[str, str], ...]
    remarks: tuple[str, ...]


def on(scenario: Scenario, name: str) -> bool:
    """Whether a flag or size of the plan, given or of the software preset, is other than zero."""
    return scenario.values[f"plan.{name}"].number != 0


def zero_stage(scenario: Scenario) -> int:
    """Return the ZeRO stage, given or of the software preset."""
    return int(scenario.values["plan.zero"].number)


def copies(scenario: Scenario) -> int:
    """Return how many copies of the sharded states there are."""
    return int(scenario.values["plan.copies"].number)


def overlaps(scenario: Scenario, kind: str) -> bool:
    """Whether a communication runs beside computation, given or of the software preset."""
    given = getattr(scenario.file.plan.overlap, kind)
    return bool(getattr(scenario.software.overlap, kind).hidden if given is None else given)


def wide_gradients(scenario: Scenario) -> bool:
    """Whether gradients are kept in four bytes."""
    return scenario.values["workload.gradient_bytes"].number >= 4


def steps(scenario: Scenario) -> int | None:
    """Return the steps of the training; None if its tokens are not given."""
    work = scenario.file.workload
    return None if work.tokens is None else round(work.tokens / (work.global_batch * work.sequence_length))


def title(scenario: Scenario) -> str:
    """Return a line that says what a file is of."""
    name = " ".join(part for part in scenario.name.split() if part.isprintable())
    return f"{name}: {scenario.accelerators} x {scenario.accelerator.name}, by aiplan export"
