"""What a scenario may well be, but a reader should know: kept with the scenario, and told as warnings."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aiplan.scenario.files import locate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aiplan.declare import Diagnostics, Mark, Node


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
