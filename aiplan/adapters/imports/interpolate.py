"""References of OmegaConf within a file (`${variables.x}`, `${multiply:4, ...}`) put in; nothing is run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aiplan.adapters.imports.document import at
from aiplan.declare import Mapping, Scalar, Sequence
from aiplan.declare.source import resolve

if TYPE_CHECKING:
    from aiplan.declare import Node

MOST_STEPS = 8
MOST_LENGTH = 2000
_WHOLE = re.compile(r"\$\{(\.*[A-Za-z_][\w.]*)\}")
_PRODUCT = re.compile(r"\$\{(?:multiply|mul|eval):\s*(\d{1,12})\s*(?:,|\*)\s*(\d{1,12})\s*\}")
_DIVIDED = re.compile(r"\$\{(?:divide_floor|int_div|divide):\s*(\d{1,12})\s*(?:,|/)\s*([1-9]\d{0,11})\s*\}")


def interpolated(root: Node, prefixes: tuple[str, ...] = ()) -> Node:
    """Return the tree with references put in, as far as they lead somewhere.

    Parameters
    ----------
    root : Node
        The tree.
    prefixes : tuple of str
        Beginnings of absolute references that stand for this file.
    """
    return _walk(root, root, "", prefixes)


def _walk(node: Node, root: Node, path: str, prefixes: tuple[str, ...]) -> Node:
    if isinstance(node, Mapping):
        items = []
        for key, child in node.items:
            below = f"{path}.{key.text}" if path else key.text
            items.append((key, _walk(child, root, below, prefixes)))
        return Mapping(items, node.mark)
    if isinstance(node, Sequence):
        return Sequence([_walk(item, root, path, prefixes) for item in node.items], node.mark)
    if "${" not in node.text:
        return node
    text = _expanded(node.text, root, path, prefixes)
    value = text if "${" in text else resolve(text)
    return node if text == node.text else Scalar(value, text, quoted=False, mark=node.mark)


def _expanded(text: str, root: Node, path: str, prefixes: tuple[str, ...]) -> str:
    for _ in range(MOST_STEPS):
        before = text
        text = _WHOLE.sub(lambda match: _looked_up(match[1], root, path, prefixes) or match[0], text)
        text = _PRODUCT.sub(lambda match: str(int(match[1]) * int(match[2])), text)
        text = _DIVIDED.sub(lambda match: str(int(match[1]) // int(match[2])), text)
        if text == before or len(text) > MOST_LENGTH:
            break
    return text[:MOST_LENGTH]


def _looked_up(name: str, root: Node, path: str, prefixes: tuple[str, ...]) -> str | None:
    if name.startswith("."):
        dots = len(name) - len(name.lstrip("."))
        above = path.split(".")[:-dots]
        name = ".".join([*above, name.lstrip(".")])
    for prefix in prefixes:
        name = name.removeprefix(f"{prefix}.")
    node = at(root, name)
    return node.text if isinstance(node, Scalar) and node.value is not None else None
