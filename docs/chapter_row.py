"""A statement of the chapter and the verdict on it."""

from __future__ import annotations

from typing import NamedTuple

from aiplan import units

HOLDS = "holds"
WITH_READING = "holds with a reading"
FAILS = "does not hold"
OUTSIDE = "outside aiplan"
VERDICTS = (HOLDS, WITH_READING, FAILS, OUTSIDE)
TOLERANCE = 0.02

PER_BIT = 8.0
GPT3 = "gpt3-175b-a100"


class Row(NamedTuple):
    """A statement of the chapter, what aiplan computes for it, the reading under which both agree, the verdict."""

    stated: str
    computed: str
    reading: str
    verdict: str


def judge(stated: float, plain: float, read: float | None = None) -> str:
    """Return the verdict: whether the plain number agrees, or else the one under the reading."""
    if abs(plain / stated - 1.0) <= TOLERANCE:
        return HOLDS
    agrees = read is not None and abs(read / stated - 1.0) <= TOLERANCE
    return WITH_READING if agrees else FAILS


def within(true: bool, reading: bool = False) -> str:  # noqa: FBT001, FBT002
    """Return the verdict on a statement that is a range or a comparison."""
    return FAILS if not true else WITH_READING if reading else HOLDS


def gigabits(rate: float) -> str:
    """Return a data rate in the unit of network ports."""
    return f"{rate * PER_BIT / 1e9:.4g} Gb/s"


def power(number: float) -> str:
    """Return a large number as a power of ten."""
    digits, _, exponent = f"{number:.2e}".partition("e")
    return f"{digits} x 10^{int(exponent)}"


def span(low: float, high: float, unit: str) -> str:
    """Return a range of values."""
    return f"{units.quantity(low, unit)} to {units.quantity(high, unit)}"
