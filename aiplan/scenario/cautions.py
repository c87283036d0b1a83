"""What a scenario may well be, but a reader should know: kept with the scenario, and told as warnings."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aiplan.scenario.files import locate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from aiplan.declare import Diagnostics, Mark, Node
    from aiplan.scenario.records import Workload


class Caution(NamedTuple):
    """A warning about a field: code, dotted name, what is the matter, a way out, and what was expected.

    It points at the value of the field if no other place is given.
    """

    code: str
    path: str
    problem: str
    hint: str = ""
    expected: str = ""
    mark: Mark | None = None


def of_tokens(work: Workload) -> Iterator[Caution]:
    """Yield what is odd about the number of tokens: 15 where 15T was meant."""
    step = work.global_batch * work.sequence_length
    if work.tokens is not None and work.tokens < step:
        problem = f"{work.tokens:,.10g} tokens are fewer than a step takes: {step:,}"
        yield Caution("AIP315", "workload.tokens", problem, "write e.g. 15T, 300B or 2e12")


def report(cautions: Iterable[Caution], tree: Node, diagnostics: Diagnostics) -> None:
    """Note every caution as a warning at the place of its field."""
    for one in cautions:
        diagnostics.warning(
            one.code,
            one.problem,
            one.mark or locate(tree, one.path),
            expected=one.expected or None,
            hint=one.hint or None,
        )
