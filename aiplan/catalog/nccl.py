"""Environment variables of NCCL: what each means, takes, and needs."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from aiplan.declare import Declared, Diagnostics, build, choice, flag, integer, listing, mapping, read, record, text

DOCUMENTATION = "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html"
FILE = "nccl_variables.yaml"
KINDS = ("flag", "integer", "level", "choice", "words", "algorithms", "protocols", "interfaces", "text")
NEEDS = ("rdma", "verbs", "roce", "efa", "libfabric", "slingshot", "tcpx", "tcpxo", "nvls", "mnnvl")
ALGORITHMS = ("Ring", "Tree", "CollnetDirect", "CollnetChain", "NVLS", "NVLSTree", "PAT")
PROTOCOLS = ("LL", "LL128", "Simple")
COLLECTIVES = ("allreduce", "allgather", "reducescatter", "broadcast", "reduce")


class Variable(Declared):
    """One variable."""

    kind: str = choice(KINDS, doc="Form of its values")
    what: str = text(doc="What it does")
    choices: tuple[str, ...] = listing(text(doc="Value"), doc="Values it takes")
    minimum: int | None = integer(doc="Smallest value", default=None)
    maximum: int | None = integer(doc="Largest value", default=None)
    default: str | None = text(doc="What holds if it is not set", default=None)
    since: str | None = text(doc="First version", default=None)
    since_unverified: bool = flag(doc="Whether no documentation states the first version", default=False)
    until: str | None = text(doc="Last version", default=None)
    replaced_by: str | None = text(doc="Variable that took its place; it is no longer read", default=None)
    needs: str | None = choice(NEEDS, doc="Hardware without which it does nothing", default=None)
    source: str = text(doc="Public address", default=DOCUMENTATION)


class Variables(Declared):
    """All of them."""

    variables: dict[str, Variable] = mapping(record(Variable, doc="A variable"), doc="Variables by name")


class Wrong(NamedTuple):
    """What is wrong with a value, and what was expected."""

    problem: str
    expected: str


@cache
def variables() -> dict[str, Variable]:
    """Return every known variable by name; read when first asked for."""
    found = Diagnostics()
    built = build(Variables, read((Path(__file__).parent / FILE).read_bytes(), FILE, found), found)
    if built is None:
        raise found.failure()
    return built.variables


def wrong(name: str, value: str) -> Wrong | None:
    """Return what is wrong with a value of a known variable."""
    variable = variables()[name]
    problem = f"'{value}' is no value of {name}"
    if variable.kind == "text":
        return None if value.strip() else Wrong(f"{name} is empty", variable.what)
    if variable.kind in {"flag", "integer"}:
        return _wrong_number(variable, name, value)
    if variable.kind == "interfaces":
        usable = re.fullmatch(r"\^?=?[\w.:*-]+(,=?[\w.:*-]+)*", value)
        return None if usable else Wrong(problem, "names or prefixes with commas between; = exact names, ^ all others")
    if variable.kind in {"algorithms", "protocols"}:
        known = ALGORITHMS if variable.kind == "algorithms" else PROTOCOLS
        unknown = [word for part in parts(value) for word in part.words if word not in lower(known)]
        unknown += [part.collective for part in parts(value) if part.collective not in {"", *COLLECTIVES}]
        return Wrong(f"'{unknown[0]}' in {name} is unknown", f"of {', '.join(known)}") if unknown else None
    if variable.kind == "words":
        bad = [word for word in value.removeprefix("^").split(",") if word.strip().upper() not in variable.choices]
        return Wrong(f"'{bad[0]}' in {name} is unknown", f"of {', '.join(variable.choices)}") if bad else None
    return None if _chosen(variable, value) else Wrong(problem, f"one of {', '.join(variable.choices)}")


def _chosen(variable: Variable, value: str) -> bool:
    if variable.kind == "level":  # NCCL compares levels letter by letter, and takes an old number as well
        return value in variable.choices or value.isdigit()
    return value.lower() in lower(variable.choices)


def _wrong_number(variable: Variable, name: str, value: str) -> Wrong | None:
    low, high = variable.minimum, variable.maximum
    due = f"from {low} to {high}" if high is not None else f"{low} or more" if low is not None else "any"
    listed = f"one of {', '.join(variable.choices)}" if variable.choices else f"a whole number, {due}"
    if not re.fullmatch(r"[-+]?(\d+|0[xX][0-9a-fA-F]+)", value):
        return Wrong(f"'{value}' is no value of {name}", listed)
    number = int(value, 16 if "x" in value.lower() else 10)
    outside = (low is not None and number < low) or (high is not None and number > high)
    unlisted = bool(variable.choices) and value not in variable.choices
    return Wrong(f"{name}={value} is out of range", listed) if outside or unlisted else None


class Part(NamedTuple):
    """A part of a list of algorithms or protocols: collective or none, whether excluded, names in small letters."""

    collective: str
    excluded: bool
    words: tuple[str, ...]


def parts(value: str) -> list[Part]:
    """Return the parts of a value such as `ring`, `^tree,nvls` or `ring;allreduce:tree`."""
    found = []
    for text_of_part in value.split(";"):
        collective, colon, names = text_of_part.strip().lower().rpartition(":")
        words = tuple(word.strip() for word in names.removeprefix("^").split(","))
        found.append(Part(collective if colon else "", names.startswith("^"), words))
    return found


def allowed(value: str, collective: str) -> set[str]:
    """Return the algorithms, in small letters, that a value leaves for a collective; later parts overrule."""
    left = set(lower(ALGORITHMS))
    for part in parts(value):
        if part.collective in {"", collective}:
            left = set(lower(ALGORITHMS)) - set(part.words) if part.excluded else set(part.words)
    return left


def lower(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return names in small letters."""
    return tuple(name.lower() for name in names)
