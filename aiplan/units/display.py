"""SI numbers to text for people: the one place where numbers are rounded."""

from collections.abc import Sequence
from math import floor, isfinite, isinf, isnan, log10

_UNKNOWN = "unknown"
_MINUTE, _HOUR, _DAY, _YEAR = 60.0, 3600.0, 86400.0, 31557600.0
_KWH = 3.6e6

_Scale = tuple[float, str, float]
"""Factor to SI, symbol, and the first number that is shown in it."""


def _steps(symbol: str, prefixes: str, base: float = 1000.0, factor: float = 1.0) -> list[_Scale]:
    """Return the scales of one symbol, each `base` times the one before."""
    return [(factor * base**i, prefix + symbol, 1.0) for i, prefix in enumerate(["", *prefixes.split()])]


def _counted(symbol: str) -> list[_Scale]:
    return [(f, f"{m} {symbol}".strip(), 1.0) for f, m in ((1.0, ""), (1e6, "M"), (1e9, "B"), (1e12, "T"))]


_SCALES: dict[str, list[_Scale]] = {
    "s": [
        (1e-9, "ns", 0.0),
        (1e-6, "us", 1.0),
        (1e-3, "ms", 1.0),
        (1.0, "s", 1.0),
        (_MINUTE, "min", 2.0),
        (_HOUR, "h", 2.0),
        (_DAY, "days", 2.0),
        (_YEAR, "years", 2.0),
    ],
    "B": _steps("B", "Ki Mi Gi Ti Pi", base=1024.0),
    "B si": _steps("B", "k M G T P E"),
    "B/s": _steps("B/s", "k M G T P E"),
    "FLOP": _steps("FLOP", "k M G T P E Z Y"),
    "FLOP/s": _steps("FLOP/s", "k M G T P E Z Y"),
    "FLOP/token": _steps("FLOP/token", "k M G T P E Z Y"),
    "W": _steps("W", "k M G"),
    "J": [(1.0, "J", 0.0), *_steps("Wh", "k M G", factor=_HOUR)],
    "kg": [(1e-3, "g CO2", 0.0), (1.0, "kg CO2", 1.0), (1e3, "t CO2", 1.0)],
    "Hz": _steps("Hz", "k M G"),
    "m": _steps("m", "k"),
    "s/m": [(1e-9, "ns/m", 0.0)],
    "kg/J": [(1e-3 / _KWH, "g CO2/kWh", 0.0)],
    "1": _counted(""),
    "1/s": [(1.0, "/s", 0.0), (1e3, "k/s", 1.0), (1e6, "M/s", 1.0)],
    "tokens/s": [
        (1.0, "tokens/s", 0.0),
        (1e3, "k tokens/s", 1.0),
        (1e6, "M tokens/s", 1.0),
        (1e9, "B tokens/s", 1.0),
    ],
    "USD": _counted("USD"),
    "USD/s": [(1 / _HOUR, "USD/h", 0.0)],
    "USD/J": [(1 / _KWH, "USD/kWh", 0.0)],
    "USD/B": [(1e-9, "USD/GB", 0.0)],
    "USD/B/s": [(1e-9 / (_YEAR / 12), "USD/GB/month", 0.0)],
    "%": [(0.01, "%", 0.0)],
    "fraction": [(0.01, "%", 0.0)],
}

_PER_USD = {"USD": "", "USD/s": "/h", "USD/J": "/kWh", "USD/B": "/GB", "USD/B/s": "/GB/month"}
_PAIRS = ((_DAY, _HOUR, "d", "h"), (_HOUR, _MINUTE, "h", "min"), (_MINUTE, 1.0, "min", "s"))
_FRACTIONS = ("%", "fraction")


def quantity(value: float | None, unit: str, digits: int = 3) -> str:
    """Return a value as people read it: "1.42 TB/s", "$2.45M", "37.5 %".

    Parameters
    ----------
    value : float or None
        In SI units; a fraction as 0 to 1. None and nan are "unknown".
    unit : str
        The SI unit of a dimension, or a name with a scale of its own: "B" is memory and shown in GiB,
        "B si" is other data and shown in GB, "J" is shown in kWh, "%" and "fraction" in percent with one
        decimal.
    digits : int
        Significant digits. Whole counts and money keep more below a million.

    Returns
    -------
    str
        Number, space, unit.

    Raises
    ------
    ValueError
        For a unit without a scale.

    Examples
    --------
    >>> quantity(999.96e9, "B/s"), quantity(85899345920, "B"), quantity(2.45e6, "USD")
    ('1.00 TB/s', '80.0 GiB', '$2.45M')
    """
    scales = _scales(unit)
    if value is None or isnan(value):
        return _UNKNOWN
    factor, symbol = _pick(abs(value), scales, digits)
    cell = _cell(value, unit, factor, digits)
    if isinf(value):
        return cell
    if unit in _PER_USD:
        multiplier = symbol.partition("USD")[0].strip()
        sign, number = ("-", cell[1:]) if cell.startswith("-") else ("", cell)
        return f"{sign}${number}{multiplier}{_PER_USD[unit]}"
    return f"{cell}{symbol}" if unit == "1" else f"{cell} {symbol}"


def duration(seconds: float | None) -> str:
    """Return a time in the two units people plan with: "33 d 21 h", "3 h 24 min", "304 years", "12.3 s".

    Parameters
    ----------
    seconds : float or None
        None and nan are "unknown". [s]

    Returns
    -------
    str
        As `quantity` below two minutes and from two years on.
    """
    if seconds is None or isnan(seconds):
        return _UNKNOWN
    sign, length = ("-" if seconds < 0 else ""), abs(seconds)
    if length >= 2 * _YEAR:
        return quantity(seconds, "s")
    for large, small, large_name, small_name in _PAIRS:
        whole, in_one = round(length / small), round(large / small)
        if whole < 2 * in_one:
            continue
        major, minor = divmod(whole, in_one)
        return f"{sign}{major} {large_name}" + (f" {minor} {small_name}" if minor else "")
    return quantity(seconds, "s")


def scale(values: Sequence[float | None], unit: str, digits: int = 3) -> tuple[str, list[str]]:
    """Return one column: the unit symbol that suits its largest value, and a text for every cell.

    Parameters
    ----------
    values : sequence of float or None
        In SI units. None and nan are "unknown".
    unit : str
        As for `quantity`.
    digits : int
        Significant digits of the largest value. Smaller ones have no more than two decimals, or as many
        as the largest one.

    Returns
    -------
    tuple of str and list of str
        The symbol for the heading, empty for a plain count, and the cells.

    Examples
    --------
    >>> scale([3.5e9, 0.44e9, 76.5e9], "B")
    ('GiB', ['3.26', '0.41', '71.2'])
    """
    scales = _scales(unit)
    largest = max((abs(v) for v in values if v is not None and isfinite(v)), default=0.0)
    factor, symbol = _pick(largest, scales, digits)
    most = max(2, _decimals(largest / factor, digits))
    cells = (_UNKNOWN if v is None or isnan(v) else _cell(v, unit, factor, digits, most) for v in values)
    return symbol, list(cells)


def round_steps(top: float, unit: str, most: int) -> list[float]:
    """Return round numbers from 0 up to a top, at equal distances, for the lines of a chart.

    Parameters
    ----------
    top : float
        In SI units, above 0.
    unit : str
        As for `quantity`: round is what is shown in the scale that suits the top.
    most : int
        Steps at most.

    Examples
    --------
    >>> [quantity(step, "B") for step in round_steps(85e9, "B", 4)]
    ['0 B', '20.0 GiB', '40.0 GiB', '60.0 GiB']
    """
    factor, _ = _pick(top, _scales(unit), 3)
    least = top / factor / most
    power = 10.0 ** floor(log10(least))
    step = next(times * power for times in (1.0, 2.0, 5.0, 10.0) if times * power >= least * (1.0 - 1e-9))
    return [factor * step * count for count in range(floor(top / factor / step * (1.0 + 1e-9)) + 1)]


def _scales(unit: str) -> list[_Scale]:
    try:
        return _SCALES[unit]
    except KeyError:
        raise ValueError(f"no display scale for unit {unit!r}") from None


def _pick(magnitude: float, scales: list[_Scale], digits: int) -> tuple[float, str]:
    """Return factor and symbol of the largest scale whose first number the rounded value reaches."""
    if magnitude == 0 or isinf(magnitude):
        return next(((factor, symbol) for factor, symbol, _ in scales if factor == 1), scales[0][:2])
    for factor, symbol, first in reversed(scales):
        if _significant(magnitude / factor, digits) >= first:
            return factor, symbol
    return scales[0][:2]


def _cell(value: float, unit: str, factor: float, digits: int, most: int = 99) -> str:
    """Return the number alone, in the scale with this factor, with at most `most` decimals."""
    scaled = abs(value) / factor
    if isinf(scaled):
        text = "infinite"
    elif unit in _FRACTIONS:
        text = f"{scaled:.1f}"
    elif unit in _PER_USD:
        text = _money(scaled, factor, digits, most)
    elif unit == "1" and factor == 1 and (scaled == round(scaled) or scaled >= 1000):
        text = f"{scaled:,.{0 if scaled == round(scaled) else _decimals(scaled, digits)}f}"
    else:
        text = _plain(scaled, digits, most)
    return f"-{text}" if value < 0 and text.strip("0.") else text


def _money(amount: float, factor: float, digits: int, most: int) -> str:
    """Return an amount with thousands grouped, and at least cents below a hundred."""
    if amount >= 1000:
        return f"{amount:,.{_decimals(amount, digits)}f}"
    if 0 < amount < 100 and factor <= 1:
        decimals = max(2, min(most, _decimals(amount, digits)))
        return f"{amount:.{decimals}f}"
    return _plain(amount, digits, most)


def _plain(number: float, digits: int, most: int) -> str:
    """Return a number to `digits` significant digits, in powers of ten only far outside the ordinary."""
    if number == 0:
        return "0"
    if number >= 1e7 or (number < 1e-6 and most > digits):
        return f"{number:.{digits - 1}e}"
    decimals = min(most, _decimals(number, digits))
    return f"{number:.{decimals}f}" if decimals else f"{_significant(number, digits):.0f}"


def _significant(number: float, digits: int) -> float:
    return float(f"{number:.{digits - 1}e}")


def _decimals(number: float, digits: int) -> int:
    """Return how many decimals show `digits` significant digits."""
    exponent = int(f"{number:.{digits - 1}e}".partition("e")[2])
    return max(0, digits - 1 - exponent)
