"""A policy: the rules that `aiplan check` holds every scenario to, levels of what it looks for, and exemptions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from aiplan.declare import (
    CODES,
    Declared,
    Mapping,
    build,
    choice,
    integer,
    listing,
    mapping,
    quantity,
    read_file,
    record,
    records,
    text,
)
from aiplan.declare import Sequence as Items
from aiplan.scenario.conditions import Expectation, at_node
from aiplan.scenario.files import locate
from aiplan.scenario.records import SCHEMA_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from aiplan.declare import Diagnostics, Mark, Node

LEVELS = ("off", "note", "warning", "error")
NAME = r"[A-Za-z0-9][A-Za-z0-9._-]*"
LINTS = {
    "does-not-fit": "error",
    "tensor-across-nodes": "warning",
    "few-micro-batches": "warning",
    "large-bubble": "warning",
    "oversubscribed-ring": "warning",
    "unverified-entry": "note",
    "implausible-peak": "warning",
    "assumed-efficiency": "warning",
    "memory-near-limit": "warning",
    "behind-the-best": "warning",
    "costly-interval": "warning",
    "accuracy-not-modelled": "warning",
    "no-effect": "warning",
    "no-such-overlap": "warning",
    "unknown-variable": "warning",
    "bad-variable-value": "warning",
    "variable-against-hardware": "warning",
    "forbidden-algorithm": "warning",
    "unschedulable": "error",
    "manifest-not-looked-at": "note",
    "read-with-care": "warning",
    "beyond-published": "warning",
}
"""What is looked for without being asked, by the name of its code, with its usual level."""
CODE_OF = {row.name: row.code for row in CODES.values()}


class Rule(Declared):
    """A condition that every scenario must meet."""

    require: str = text(doc="Condition on the estimate: 'memory <= 92 %', 'cost <= 2.5M USD', fits")
    id: str | None = text(doc="Name in reports; what the condition asks for if not given", default=None, pattern=NAME)
    level: str = choice(LEVELS, doc="What it is to break the rule: only an error fails the check", default="error")
    paths: tuple[str, ...] = listing(
        text(doc="Pattern"), doc="Files it holds for, e.g. prod/**; all if not given", default=()
    )
    why: str | None = text(doc="The reason, told where the rule is broken", default=None)


class Exemption(Declared):
    """Files that rules do not hold for."""

    paths: tuple[str, ...] = listing(text(doc="Pattern"), doc="Files, e.g. research/**")
    rules: tuple[str, ...] = listing(
        text(doc="Name"), doc="Rules of this policy, or names of what is looked for; all if not given", default=()
    )
    why: str = text(doc="The reason, told beside what is exempt")


class Limits(Declared):
    """From where on something is worth telling."""

    bubble: float = quantity(
        "fraction", doc="Share of the step that a pipeline bubble may take", default=0.15, minimum=0, maximum=1
    )
    ring: float = quantity(
        "fraction", doc="Share of the step that may wait for an oversubscribed ring", default=0.02, minimum=0, maximum=1
    )
    assumed: float = quantity(
        "fraction", doc="Share of the step that may rest on assumed efficiencies", default=0.5, minimum=0, maximum=1
    )
    interval: float = quantity(
        "fraction",
        doc="Share by which the run may take longer than with the best interval between checkpoints",
        default=0.01,
        minimum=0,
    )
    memory: float | None = quantity(
        "fraction",
        doc="Share of the memory that a plan may take; if not given, what predictions are off by is left as room",
        default=None,
        minimum=0,
        maximum=1,
    )
    behind: float | None = quantity(
        "fraction",
        doc="Share by which the plan may be slower than the best; if not given, what the order of two plans is off by",
        default=None,
        minimum=0,
    )


class PolicyFile(Declared):
    """Rules, levels and exemptions of a policy."""

    schema_version: int = integer(doc="Version of this format", default=SCHEMA_VERSION)
    name: str | None = text(doc="Name of the policy", default=None)
    rules: tuple[Rule, ...] = records(Rule, doc="Conditions that every scenario must meet", default=())
    lints: dict[str, str] = mapping(
        choice(LEVELS, doc="Level"),
        doc="Level of what is looked for without being asked",
        default="empty",
        keys=tuple(LINTS),
    )
    limits: Limits = record(Limits, doc="From where on something is worth telling", default="empty")
    exempt: tuple[Exemption, ...] = records(Exemption, doc="Files that rules do not hold for", default=())
    notes: str | None = text(doc="What a reader should know", default=None)


class Asked(NamedTuple):
    """A rule as it is asked of an estimate: name, condition, level, where it holds, why, and where it stands."""

    name: str
    expectation: Expectation
    level: str
    paths: tuple[str, ...]
    why: str


class Policy(NamedTuple):
    """A policy that was read; `source` is empty where there is none."""

    file: PolicyFile
    rules: tuple[Asked, ...] = ()
    source: str = ""

    def level(self, lint: str) -> str:
        """Return the level of something that is looked for without being asked."""
        return self.file.lints.get(lint, LINTS.get(lint, "warning"))

    def asked(self, path: str) -> list[Asked]:
        """Return the rules that hold for a file."""
        return [rule for rule in self.rules if rule.level != "off" and (not rule.paths or matches(path, rule.paths))]

    def exempts(self, path: str, rule: str) -> str | None:
        """Return why a rule does not hold for a file; None if it does."""
        found = (one for one in self.file.exempt if not one.rules or rule in one.rules)
        return next((one.why for one in found if matches(path, one.paths)), None)


NO_POLICY = Policy(PolicyFile())


def read_policy(path: str, diagnostics: Diagnostics) -> Policy | None:
    """Read a policy; None, and everything that is wrong, if it cannot be used."""
    tree = read_file(path, diagnostics)
    file = build(PolicyFile, tree, diagnostics)
    conditions = [at_node(node, diagnostics) for node in _nodes(tree, "rules", "require")]
    if file is None or None in conditions or diagnostics.has_errors:
        return None
    if file.schema_version != SCHEMA_VERSION:
        hint = f"this version reads schema_version {SCHEMA_VERSION}"
        problem = f"schema_version {file.schema_version} is not known"
        diagnostics.error("AIP116", problem, locate(tree, "schema_version"), hint=hint)
        return None
    rules = tuple(
        Asked(rule.id or one.condition.name, one, rule.level, rule.paths, rule.why or "")
        for rule, one in zip(file.rules, conditions, strict=True)
        if one is not None
    )
    _check_names(tree, file, rules, diagnostics)
    return None if diagnostics.has_errors else Policy(file, rules, path)


def matches(path: str, patterns: Iterable[str]) -> bool:
    """Whether a path is meant by any pattern: `*` within a folder, `**` across folders."""
    plain = path.removeprefix("./")
    return any(re.fullmatch(_expression(pattern.removeprefix("./")), plain) for pattern in patterns)


def _expression(pattern: str) -> str:
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    known = {"**/": r"(?:.*/)?", "**": r".*", "*": r"[^/]*", "?": r"[^/]"}
    return "".join(known.get(part, re.escape(part)) for part in parts)


def _check_names(tree: Node, file: PolicyFile, rules: Sequence[Asked], diagnostics: Diagnostics) -> None:
    """Note rules of one name, and exemptions from what is no rule."""
    seen: set[str] = set()
    for rule in rules:
        if rule.name in seen:
            hint = "give one of them another id"
            diagnostics.error("AIP403", f"two rules are called '{rule.name}'", rule.expectation.mark, hint=hint)
        seen.add(rule.name)
    marks = iter(_lists(tree, "exempt", "rules"))
    for one in file.exempt:
        if one.rules:
            for name, mark in zip(one.rules, next(marks), strict=True):
                if name not in seen and name not in LINTS:
                    diagnostics.error("AIP403", f"no rule '{name}' to be exempt from", mark, hint=_known(name, seen))


def _known(name: str, rules: set[str]) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - only after a mistake

    known = sorted(rules | set(LINTS))
    close = get_close_matches(name, known, n=1)
    listed = f"rules: {', '.join(known)}"
    return f"did you mean '{close[0]}'? {listed}" if close else listed


def _nodes(tree: Node, block: str, key: str) -> list[Node]:
    """Return the values of one key in the records of a list."""
    found = (
        next((child for name, child in tree.items if name.text == block), None) if isinstance(tree, Mapping) else None
    )
    inside = [one for one in found.items if isinstance(one, Mapping)] if isinstance(found, Items) else []
    return [child for one in inside for name, child in one.items if name.text == key]


def _lists(tree: Node, block: str, key: str) -> list[list[Mark]]:
    return [
        [item.mark for item in node.items]
        for node in _nodes(tree, block, key)
        if isinstance(node, Items) and node.items
    ]
