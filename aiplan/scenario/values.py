"""A number and where it comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aiplan.declare import Origin

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aiplan.declare import Origins


class Value(NamedTuple):
    """A number in SI, with its origin."""

    number: float
    origin: Origin


def from_file(number: float | None, origins: Origins, path: str) -> Value:
    """Return a number that a file states, with the place where it stands there; unknown becomes NaN."""
    return Value(float("nan") if number is None else float(number), origins.get(path, Origin("default", "", "")))


def default(number: float, why: str) -> Value:
    """Return a number that nobody gave, with the reason for it."""
    return Value(float(number), Origin("default", "", why))


def assumed(number: float, why: str) -> Value:
    """Return a number that stands in for something unknown, with the reason for it."""
    return Value(float(number), Origin("assumed", "", why))


def derived(number: float, how: str) -> Value:
    """Return a number that follows from others."""
    return Value(float(number), Origin("derived", "", how))


def first(options: Iterable[Value | None]) -> Value:
    """Return the first option that is there; the last one must be."""
    return next(option for option in options if option is not None)
