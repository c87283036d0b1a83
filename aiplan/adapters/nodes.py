"""Plain values to a tree with positions, so that a row of a table is checked like a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aiplan.declare import Mapping, Scalar, Sequence

if TYPE_CHECKING:
    from aiplan.declare import Mark, Node


def tree(value: Any, mark: Mark, marks: dict[str, Mark], path: str = "") -> Node:
    """Return mappings, lists and scalars as nodes.

    Parameters
    ----------
    value : dict, list, str, int, float, bool or None
        What to turn into nodes; `None` inside a mapping leaves the key out.
    mark : Mark
        Place of everything that has no place of its own.
    marks : dict of str to Mark
        Places by dotted path.
    path : str
        Dotted path of the value.
    """
    place = marks.get(path, mark)
    if isinstance(value, dict):
        items = []
        for name, child in value.items():
            if child is not None:
                below = f"{path}.{name}" if path else name
                items.append(
                    (Scalar(name, name, quoted=False, mark=marks.get(below, place)), tree(child, place, marks, below))
                )
        return Mapping(items, place)
    if isinstance(value, list | tuple):
        return Sequence([tree(item, place, marks, f"{path}[{index}]") for index, item in enumerate(value)], place)
    return Scalar(value, str(value), quoted=False, mark=place)
