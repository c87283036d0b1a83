"""Changing a tree from the command line: `--set path=value` and `--vary path=values`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from aiplan.declare.diagnostics import Diagnostics, Mark
from aiplan.declare.source import Mapping, Node, Scalar, Sequence, read_value

if TYPE_CHECKING:
    from decimal import Decimal

MAX_VALUES = 10_000

_SEGMENT = r"([^.\[\]=\s]+)((?:\[[0-9]{1,6}\])*)"
_INDEX = r"\[([0-9]+)\]"
_NUMBER = r"[-+]?[0-9][0-9_]*(?:\.[0-9]+)?(?:[eE][-+]?[0-9]{1,2})?"
_RANGE = (
    rf"(?P<start>{_NUMBER})(?P<start_unit>\s*[^\d\s.:][^.:]*?)?\s*\.\.\s*"
    rf"(?P<stop>{_NUMBER})(?P<stop_unit>\s*[^\d\s.:][^.:]*?)?"
    rf"\s*:\s*(?P<kind>[x+])\s*(?P<step>{_NUMBER})(?P<step_unit>\s*[^\d\s.:][^.:]*?)?"
)
_LOOKS_LIKE_RANGE = r"[-+]?[0-9][^'\"\[{]*\.\."
_PLAIN_RANGE = r"[0-9][0-9_]*\s*\.\.\s*[0-9][0-9_]*"
_COUNT = r"[0-9][0-9_]*"
_DOUBLED = ":x2"
_OPENING, _CLOSING, _QUOTES = "[{", "]}", "'\""

_SET_HINT = "write e.g. '--set cluster.nodes=256'"
_COUNTS_HINT = "write e.g. '64..1024' (doubling), '64..1024:+64' or '64,96,128'"
_VARY_HINT = "write e.g. 'nodes=64,128', 'nodes=64..1024:x2' (times 2) or 'nodes=0..100:+25' (plus 25)"


class _Step(NamedTuple):
    """One step down a path: a key or a list index, and where it stands in the option."""

    name: str | int
    mark: Mark
    upto: str

    @property
    def parent(self) -> str:
        """The path before this step."""
        own = f".{self.name}" if isinstance(self.name, str) else f"[{self.name}]"
        return self.upto.removesuffix(own)


def parse_assignment(text: str, flag_name: str = "--set") -> tuple[str, str]:
    """Split `path=value` into path and value text.

    Raises
    ------
    InputError
        The text has no `=`, or its left side is not a dotted path.
    """
    source = f"{flag_name} {text}"
    path, equals, value = text.partition("=")
    if not equals:
        _refuse(source, f"'{text}' has no '='", 0, _SET_HINT)
    if not _steps(path.strip(), source):
        _refuse(
            source,
            f"'{path}' is not a path",
            0,
            "write keys separated by '.', and list items as in 'nics[0]'",
        )
    return path.strip(), value.strip()


def parse_variation(text: str, flag_name: str = "--vary") -> tuple[str, list[str]]:
    """Split `path=values` into path and the texts of all values.

    Values are separated by commas; `64..1024:x2` is a geometric and `0..100:+25` an arithmetic range that
    includes its end where a step meets it. Numbers in a range may carry a unit. Quotes and brackets protect.

    Raises
    ------
    InputError
        The text has not that form, or means no value or more than 10,000.

    Examples
    --------
    >>> parse_variation("network.bandwidth=100..400 Gb/s:x2")
    ('network.bandwidth', ['100 Gb/s', '200 Gb/s', '400 Gb/s'])
    """
    source = f"{flag_name} {text}"
    path, values_text = parse_assignment(text, flag_name)
    values: list[str] = []
    for item in _split(values_text):
        if not item:
            _refuse(source, f"a value is missing in '{values_text}'", len(path) + 1, _VARY_HINT)
        values += _expand(item, source, _place(item, source))
        if len(values) > MAX_VALUES:
            _refuse(
                source,
                f"'{values_text}' means more than {MAX_VALUES:,} values",
                len(path) + 1,
                "use larger steps",
            )
    return path, values


def parse_counts(text: str, flag_name: str) -> list[int]:
    """Read whole numbers above 0: a list, or ranges as in `parse_variation`, which double where they say no step.

    Returns
    -------
    list of int
        In rising order, each once.

    Raises
    ------
    InputError
        The text has not that form.

    Examples
    --------
    >>> parse_counts("64..512", "--gpus"), parse_counts("64,96", "--gpus")
    ([64, 128, 256, 512], [64, 96])
    """
    source = f"{flag_name} {text}"
    counts: set[int] = set()
    for item in _split(text):
        at = _place(item, source)
        doubled = f"{item}{_DOUBLED}" if re.fullmatch(_PLAIN_RANGE, item) else item
        for value in _expand(doubled, source, at, _COUNTS_HINT):
            if not re.fullmatch(_COUNT, value) or int(value) == 0:
                _refuse(source, f"'{value}' is not a whole number above 0", at, _COUNTS_HINT)
            counts.add(int(value))
        if len(counts) > MAX_VALUES:
            _refuse(source, f"'{text}' means more than {MAX_VALUES:,} values", at, "use larger steps")
    return sorted(counts)


def set_value(tree: Mapping, path: str, text: str, diagnostics: Diagnostics, flag_name: str = "--set") -> Mapping:
    """Return the tree with one value replaced or added; `tree` itself stays as it is.

    Parameters
    ----------
    tree : Mapping
        Root of the tree.
    path : str
        Dotted path such as `cluster.nodes` or `nics[0].count`; missing keys on the way are made.
    text : str
        The value as YAML, such as `256`, `400 Gb/s`, `[1, 2]` or `{a: 1}`.
    diagnostics : Diagnostics
        Takes the findings, and the option as the source in which the new nodes stand.
    flag_name : str
        The option that asks for the change.

    Returns
    -------
    Mapping
        The new tree; the old one if the change cannot be made.

    Raises
    ------
    InputError
        The value is not valid YAML.
    """
    source = f"{flag_name} {path}={text}"
    value = read_value(source, len(source) - len(text), diagnostics)
    steps = _steps(path, source)
    changed = _set(tree, steps, value, diagnostics) if steps else None
    if not steps:
        diagnostics.error("AIP115", f"'{path}' is not a path", value.mark, hint=_SET_HINT)
    return changed if isinstance(changed, Mapping) else tree


def set_node(tree: Mapping, path: str, value: Node, mark: Mark, diagnostics: Diagnostics) -> Mapping:
    """Return the tree with one node replaced or added; `tree` itself stays as it is.

    Parameters
    ----------
    tree : Mapping
        Root of the tree.
    path : str
        Dotted path; missing keys on the way are made.
    value : Node
        The node to put there.
    mark : Mark
        Where the path was written.
    diagnostics : Diagnostics
        Takes the findings.
    """
    steps = [_Step(name, mark, path) for name in path.split(".")]
    changed = _set(tree, steps, value, diagnostics)
    return changed if isinstance(changed, Mapping) else tree


def _steps(path: str, source: str) -> list[_Step]:
    """Return the steps of a path; empty if it is not one."""
    start = source.index(" ") + 1
    steps: list[_Step] = []
    for segment in path.split("."):
        match = re.fullmatch(_SEGMENT, segment)
        if match is None:
            return []
        upto = f"{steps[-1].upto}.{match[1]}" if steps else match[1]
        steps.append(_Step(match[1], Mark(source, 1, start + 1, start + 1 + len(match[1])), upto))
        for index in re.finditer(_INDEX, match[2]):
            upto += index[0]
            first = start + len(match[1]) + index.start() + 1
            steps.append(_Step(int(index[1]), Mark(source, 1, first, first + len(index[0])), upto))
        start += len(segment) + 1
    return steps


def _set(node: Node | None, steps: list[_Step], value: Node, diagnostics: Diagnostics) -> Node | None:
    """Return a copy of `node` with the value at the end of the steps; None if there is no way there."""
    if not steps:
        return value
    step, rest = steps[0], steps[1:]
    if node is None or (isinstance(node, Scalar) and node.value is None):
        node = Mapping([], step.mark) if isinstance(step.name, str) else Sequence([], step.mark)
    if isinstance(step.name, str) and isinstance(node, Mapping):
        return _set_key(node, step.name, step.mark, rest, value, diagnostics)
    if isinstance(step.name, int) and isinstance(node, Sequence):
        return _set_item(node, step.name, step, rest, value, diagnostics)
    due = "a mapping" if isinstance(step.name, str) else "a list"
    found = f"'{node.text}'" if isinstance(node, Scalar) else "a list" if isinstance(node, Sequence) else "a mapping"
    whole = "{...}" if isinstance(step.name, str) else "[...]"
    diagnostics.error(
        "AIP115",
        f"cannot set '{steps[-1].upto}': {due} is due before '{step.name}', but there is {found}",
        step.mark,
        expected=f"given at {node.mark.file}:{node.mark.line}:{node.mark.column}",
        hint=f"set all of it instead: '{step.parent}={whole}'",
    )
    return None


def _set_key(
    node: Mapping, name: str, mark: Mark, rest: list[_Step], value: Node, diagnostics: Diagnostics
) -> Node | None:
    key = Scalar(name, name, quoted=False, mark=mark)
    before = next((child for known, child in node.items if known.text == name), None)
    child = _set(before, rest, value, diagnostics)
    if child is None:
        return None
    if before is None:
        return Mapping([*node.items, (key, child)], node.mark)
    return Mapping([(k, child if k.text == name else c) for k, c in node.items], node.mark)


def _set_item(
    node: Sequence, index: int, step: _Step, rest: list[_Step], value: Node, diagnostics: Diagnostics
) -> Node | None:
    count = len(node.items)
    if index > count:
        diagnostics.error(
            "AIP115",
            f"there is no item [{index}]: the list has {count}",
            step.mark,
            hint=f"the next free item is [{count}]",
        )
        return None
    child = _set(node.items[index] if index < count else None, rest, value, diagnostics)
    return None if child is None else Sequence([*node.items[:index], child, *node.items[index + 1 :]], node.mark)


def _split(text: str) -> list[str]:
    """Return the parts between the commas that stand outside quotes and brackets."""
    parts, start, depth, quote = [], 0, 0, ""
    for position, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in _QUOTES:
            quote = character
        elif character in _OPENING:
            depth += 1
        elif character in _CLOSING:
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:position].strip())
            start = position + 1
    return [*parts, text[start:].strip()]


def _place(item: str, source: str) -> int:
    """Return where a part of an option stands, counted from behind its name."""
    return source.index(item, source.find("=") + 1 or source.index(" ")) - source.index(" ") - 1


def _expand(item: str, source: str, at: int, hint: str = _VARY_HINT) -> list[str]:
    """Return the texts of the values that one part of a variation means; `at` is where it stands."""
    match = re.fullmatch(_RANGE, item)
    if match is None:
        if re.match(_LOOKS_LIKE_RANGE, item):
            _refuse(source, f"'{item}' is not a range with a step", at, hint)
        return [item]
    from decimal import Decimal  # noqa: PLC0415 - only a range needs exact steps

    unit = match["stop_unit"] or match["start_unit"] or ""
    given = {(match[name] or unit).strip() for name in ("start_unit", "stop_unit", "step_unit")}
    if len(given) > 1 or (match["kind"] == "x" and match["step_unit"]):
        _refuse(source, f"the units in '{item}' differ", at, "use one unit for the whole range")
    start, stop, step = (Decimal(match[name]) for name in ("start", "stop", "step"))
    problem = _range_fault(start, stop, step, match["kind"])
    if problem is not None:
        _refuse(source, f"'{item}' {problem}", at, hint)
    values: list[str] = []
    value = start
    while value <= stop and len(values) <= MAX_VALUES:
        values.append(f"{float(value):.15g}{unit}")
        value = value * step if match["kind"] == "x" else value + step
    return values


def _range_fault(start: Decimal, stop: Decimal, step: Decimal, kind: str) -> str | None:
    """Return why a range would have no end or no values."""
    if start > stop:
        return "runs downwards"
    if kind == "x" and step <= 1:
        return "needs a factor above 1"
    if kind == "x" and start <= 0:
        return "needs a start above 0 to multiply"
    if kind == "+" and step <= 0:
        return "needs a step above 0"
    return None


def _refuse(source: str, problem: str, column: int, hint: str) -> NoReturn:
    """Raise for an option; `column` counts from the text after the option's name."""
    diagnostics = Diagnostics(sources={source: source})
    first = source.index(" ") + 2 + column
    diagnostics.error("AIP115", problem, Mark(source, 1, first, len(source) + 1), hint=hint)
    raise diagnostics.failure()
