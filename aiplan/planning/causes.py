"""What each change between two scenarios does alone: the old one with one change, estimated again."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from aiplan.declare import Mapping, Scalar
from aiplan.planning.estimate import estimate
from aiplan.planning.variants import Loaded, load_tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from aiplan.catalog.load import Catalog
    from aiplan.declare import Node
    from aiplan.planning.diff import Input
    from aiplan.planning.estimate import Estimate
    from aiplan.scenario.files import Place
    from aiplan.scenario.load import Scenario

MOST = 50
"""Changes beyond which nobody reads what each does alone."""
ELSEWHERE = "other files"
"""What a scenario names, a model or entries of a catalog, where these are not the same."""
ROUNDING = 1e-9


class Side(NamedTuple):
    """One of two scenarios, and where it lies: models that it names are looked for from there."""

    scenario: Scenario
    place: Place


class Alone(NamedTuple):
    """A change, and what it does to the old scenario alone: relative changes by result, or why it is not possible.

    A change of None is of a result that is unknown.
    """

    name: str
    changes: dict[str, float | None]
    problem: str = ""


def alone(
    old: Side, new: Side, fields: Sequence[Input], catalog: Catalog, convention: str = "megatron"
) -> tuple[Alone, ...]:
    """Return what each change does alone; nothing where a single one is all there is.

    Parameters
    ----------
    old, new : Side
        The scenarios.
    fields : sequence of Input
        Fields that differ and have an effect on results.
    catalog : Catalog
        Where ids are looked up.
    convention : str
        How operations are counted.

    Notes
    -----
    Effects do not add up: a larger tensor parallel size does something else on more nodes. What is left when all
    fields are changed in the old scenario comes from files that both name.
    """
    before, after = old.scenario.tree, new.scenario.tree
    if not isinstance(before, Mapping) or not isinstance(after, Mapping) or len(fields) > MOST:
        return ()
    paths = list(dict.fromkeys(_cause(before, after, one.name) for one in fields))
    trees = {".".join(path): _with(before, after, path) for path in paths}
    whole = before
    for path in paths:
        whole = _with(whole, after, path)
    loaded = {
        name: load_tree(tree, new.place if name == "model" else old.place, catalog) for name, tree in trees.items()
    }
    together = load_tree(whole, old.place, catalog)
    legal = [one.scenario for one in (*loaded.values(), together) if one.scenario is not None]
    answers = iter(estimate([old.scenario, new.scenario, *legal], convention))
    start, end = _numbers(next(answers)), _numbers(next(answers))
    found = [_alone(name, one, start, answers) for name, one in loaded.items()]
    rest = _alone("", together, start, answers)
    return (*found, *_elsewhere(rest, start, end)) if len(found) > 1 or _elsewhere(rest, start, end) else ()


def _alone(name: str, loaded: Loaded, start: dict[str, float], answers: Iterable[Estimate]) -> Alone:
    if loaded.scenario is None:
        problem = next(item.problem for item in loaded.diagnostics.items if item.level == "error")
        return Alone(name, dict.fromkeys(start), problem)
    return Alone(name, _changes(start, _numbers(next(iter(answers)))))


def _elsewhere(together: Alone, start: dict[str, float], end: dict[str, float]) -> list[Alone]:
    """Return what the changed fields together leave unexplained, if they leave anything."""
    if together.problem:
        return []
    reached = {name: start[name] * (1.0 + (change or 0.0)) for name, change in together.changes.items()}
    left = _changes(reached, end)
    return [Alone(ELSEWHERE, left)] if any(abs(change or 0.0) > ROUNDING for change in left.values()) else []


def _numbers(one: Estimate) -> dict[str, float]:
    return {
        "step_time_s": one["step"],
        "memory_bytes_per_gpu": one["memory"],
        "whole_time_s": one.whole_time,
        "cost_usd": one.of_run("total.cost"),
    }


def _changes(old: dict[str, float], new: dict[str, float]) -> dict[str, float | None]:
    return {name: _relative(value, new[name]) for name, value in old.items()}


def _relative(old: float, new: float) -> float | None:
    return new / old - 1.0 if old and math.isfinite(old) and math.isfinite(new) else None


def _cause(old: Node | None, new: Node | None, name: str) -> tuple[str, ...]:
    """Return the path of a change: that of a field, or of the block around it that only one of two scenarios has."""
    path = name.partition("[")[0].split(".")
    for depth, key in enumerate(path):
        old, new = _child(old, key), _child(new, key)
        if not isinstance(old, Mapping) or not isinstance(new, Mapping):
            return tuple(path[: depth + 1])
    return tuple(path)


def _with(old: Mapping, new: Mapping, path: Sequence[str]) -> Mapping:
    """Return the old tree with what the new one has at a path, or without it."""
    name, *rest = path
    before, after = _child(old, name), _child(new, name)
    if rest and isinstance(before, Mapping) and isinstance(after, Mapping):
        after = _with(before, after, rest)
    kept = [(key, after if key.text == name and after is not None else child) for key, child in old.items]
    if after is None:
        return Mapping([(key, child) for key, child in kept if key.text != name], old.mark)
    if before is None:
        key = next(key for key, _ in new.items if key.text == name)
        kept.append((Scalar(name, name, quoted=False, mark=key.mark), after))
    return Mapping(kept, old.mark)


def _child(node: Node | None, name: str) -> Node | None:
    found = node.items if isinstance(node, Mapping) else ()
    return next((child for key, child in found if key.text == name), None)
