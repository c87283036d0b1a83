"""Text to SI numbers."""

import re
from math import inf, isfinite

from aiplan.units.errors import UnitError, misplaced_underscore, not_a_number, not_finite, wrong_unit
from aiplan.units.symbols import DIMENSIONS, MULTIPLIERS, find_ratio

_NUMBER = r"[0-9][0-9_]*(?:\.[0-9_]*)?(?:[eE][-+]?[0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+]?[0-9]+)?"
_match_quantity = re.compile(rf"([-+]?(?:{_NUMBER}))\s*(.*)", re.DOTALL).match
_DOLLARS = rf"([-+]?)\$\s*({_NUMBER})\s*(.*)"


def parse(text: str | float, dimension: str) -> float:
    """Return the SI value of a quantity.

    Parameters
    ----------
    text : str, int or float
        A number and a unit, such as `400 Gb/s`. A number alone is complete for "count" and "fraction" only.
    dimension : str
        A key of `DIMENSIONS`.

    Returns
    -------
    float
        Finite value in the SI unit of the dimension. Bounds are the caller's to check.

    Raises
    ------
    UnitError
        With the problem and a hint.

    Examples
    --------
    >>> parse("400 Gb/s", "data rate")
    50000000000.0
    >>> parse("300B", "count"), parse("300B", "data")
    (300000000000.0, 300.0)
    """
    number, unit = _split(text, dimension)
    ratio = find_ratio(unit, dimension)
    if ratio is None:
        raise wrong_unit(str(text).strip(), unit, dimension)
    value = number * ratio[0] / ratio[1]
    if not isfinite(value):
        raise not_finite(str(text).strip(), dimension)
    return value


def parse_range(text: str | float, dimension: str) -> tuple[float, float]:
    """Return the SI values of a range such as `1.19 .. 5.12 USD/h`; a single value is a range of one.

    The unit is written on either side or on both. Where a bare number is complete in itself ("count",
    "fraction") it is written on both or on neither: `300 .. 500B` could mean two things.

    Parameters
    ----------
    text : str, int or float
        One quantity, or two with `..` between them.
    dimension : str
        A key of `DIMENSIONS`.

    Returns
    -------
    tuple of float
        Low and high.

    Raises
    ------
    UnitError
        With the problem and a hint.
    """
    ends = text.split("..") if isinstance(text, str) else []
    if len(ends) <= 1:
        value = parse(text, dimension)
        return value, value
    shown = str(text).strip()
    if len(ends) > 2:
        raise UnitError(f"'{shown}' has more than two ends", "write '<low> .. <high> <unit>'")
    low, high = (parse(end, dimension) for end in _with_shared_unit(ends[0], ends[1], dimension))
    if low > high:
        raise UnitError(f"'{shown}' runs from high to low", "write the smaller value first")
    return low, high


def _with_shared_unit(low: str, high: str, dimension: str) -> tuple[str, str]:
    """Return both ends of a range with the unit that one of them leaves out."""
    low_unit, high_unit = _split(low, dimension)[1], _split(high, dimension)[1]
    if bool(low_unit) == bool(high_unit):
        return low, high
    if DIMENSIONS[dimension].bare:
        raise UnitError(
            f"'{low.strip()} .. {high.strip()}' has a unit at one end only",
            "write the unit at both ends or at neither",
        )
    return (low, f"{high.strip()} {low_unit}") if low_unit else (f"{low.strip()} {high_unit}", high)


def _split(text: str | float, dimension: str) -> tuple[float, str]:
    """Return the number and the unit text of a quantity."""
    if not isinstance(text, str):
        return _plain_number(text, dimension), ""
    text = text.strip()
    if not text.isascii():
        text = text.replace("\u2212", "-")  # the minus sign of word processors
    match = _match_quantity(text)
    number, unit = match.groups() if match else _split_dollars(text, dimension)
    try:
        return float(number), unit
    except ValueError:
        raise misplaced_underscore(text, dimension) from None


def _split_dollars(text: str, dimension: str) -> tuple[str, str]:
    """Return number and unit of `$2.50/h` or `$3M`, read as USD."""
    match = re.match(_DOLLARS, text, re.DOTALL)
    if match is None:
        raise not_a_number(text, dimension)
    sign, number, rest = match.groups()
    multiplier, slash, below = rest.partition("/")
    multiplier = multiplier.strip()
    if multiplier and multiplier not in MULTIPLIERS:
        return sign + number, rest if rest.startswith(",") else f"$ {rest}"
    return sign + number, f"{multiplier} USD{slash}{below}".strip()


def _plain_number(number: float, dimension: str) -> float:
    if isinstance(number, bool):
        raise not_a_number(str(number).lower(), dimension)
    try:
        value = float(number)
    except OverflowError:
        value = inf
    if not isfinite(value):
        raise not_finite(str(value), dimension)
    return value
