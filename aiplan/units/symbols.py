"""The closed vocabulary: every unit symbol, every dimension, and the factors between them."""

_DECIMAL = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18, "Z": 1e21, "Y": 1e24}
_BINARY = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40, "Pi": 2.0**50}
_MINUTE, _HOUR, _DAY = 60.0, 3600.0, 86400.0
_MONTH, _YEAR = 30.4375 * _DAY, 365.25 * _DAY

MULTIPLIERS = {"k": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}
"""Suffixes of a plain number: `300B` is 300 billion where a count is due."""


class Dimension:
    """What kind of number is due.

    Attributes
    ----------
    unit : str
        SI unit of the parsed value, and the name `quantity` takes to show it.
    phrase : str
        The dimension in a sentence: "a data rate".
    example : str
        A valid text.
    parts : tuple of str
        For a quotient, the dimensions of its numerator and denominators; else empty.
    bare : bool
        Whether a number without unit is complete.
    """

    __slots__ = ("bare", "example", "parts", "phrase", "unit")

    def __init__(self, unit: str, phrase: str, example: str, *parts: str, bare: bool = False) -> None:
        self.unit = unit
        self.phrase = phrase
        self.example = example
        self.parts = parts
        self.bare = bare


DIMENSIONS: dict[str, Dimension] = {
    "data": Dimension("B", "an amount of data", "80 GB"),
    "data rate": Dimension("B/s", "a data rate", "400 GB/s", "data", "time"),
    "time": Dimension("s", "a time", "30 days"),
    "compute": Dimension("FLOP", "an amount of compute", "1.5 ZFLOP"),
    "compute rate": Dimension("FLOP/s", "a compute rate", "989 TFLOP/s", "compute", "time"),
    "money": Dimension("USD", "an amount of money", "5000 USD"),
    "money rate": Dimension("USD/s", "a price per time", "2.50 USD/h", "money", "time"),
    "power": Dimension("W", "a power", "700 W"),
    "energy": Dimension("J", "an amount of energy", "12 MWh"),
    "energy price": Dimension("USD/J", "an energy price", "0.08 USD/kWh", "money", "energy"),
    "carbon": Dimension("kg", "an amount of carbon", "150 kg"),
    "carbon intensity": Dimension("kg/J", "a carbon intensity", "380 g/kWh", "carbon", "energy"),
    "frequency": Dimension("Hz", "a frequency", "1.98 GHz"),
    "storage price": Dimension("USD/B/s", "a storage price", "0.02 USD/GB/month", "money", "data", "time"),
    "data price": Dimension("USD/B", "a price per amount of data", "0.09 USD/GB", "money", "data"),
    "rate": Dimension("1/s", "a rate", "1.5M IOPS", "events", "time"),
    "length": Dimension("m", "a length", "30 m"),
    "delay per length": Dimension("s/m", "a delay per length", "4.5 ns/m", "time", "length"),
    "count": Dimension("1", "a count", "300B", bare=True),
    "fraction": Dimension("fraction", "a fraction", "50 %", bare=True),
}


def _family(symbol: str, dimension: str, factor: float, prefixes: str) -> dict[str, tuple[float, str]]:
    """Return one symbol, bare and under each of the named SI or IEC prefixes."""
    scales = _DECIMAL | _BINARY
    return {p + symbol: (scales[p] * factor, dimension) for p in ["", *prefixes.split()]}


def _words(words: str, dimension: str, factor: float) -> dict[str, tuple[float, str]]:
    """Return several spellings of one unit."""
    return dict.fromkeys(words.split(), (factor, dimension))


def _counted(word: str, dimension: str) -> dict[str, tuple[float, str]]:
    """Return a thing that is counted, alone and after a multiplier: `1.5M IOPS`."""
    return {word: (1.0, dimension)} | {f"{m} {word}": (f, dimension) for m, f in MULTIPLIERS.items()}


def _mass(symbol: str, factor: float) -> dict[str, tuple[float, str]]:
    """Return a mass of carbon dioxide, with and without the substance spelled out."""
    return {symbol + gas: (factor, "carbon") for gas in ("", "CO2", "CO2e", " CO2", " CO2e")}


SYMBOLS: dict[str, tuple[float, str]] = {
    **_family("B", "data", 1.0, "k M G T P E Ki Mi Gi Ti Pi"),
    **_family("b", "data", 1 / 8, "k M G T Ki Mi Gi"),
    **_family("bit", "data", 1 / 8, "k M G T"),
    **_words("ns", "time", 1e-9),
    **_words("us \u00b5s \u03bcs", "time", 1e-6),  # micro sign and Greek mu look the same
    **_words("ms", "time", 1e-3),
    **_words("s", "time", 1.0),
    **_words("min", "time", _MINUTE),
    **_words("h hr hour hours", "time", _HOUR),
    **_words("d day days", "time", _DAY),
    **_words("week weeks", "time", 7 * _DAY),
    **_words("month months", "time", _MONTH),
    **_words("year years", "time", _YEAR),
    **_family("FLOP", "compute", 1.0, "k M G T P E Z Y"),
    **_family("OP", "compute", 1.0, "k M G T P E Z Y"),
    **_counted("USD", "money"),
    **_family("W", "power", 1.0, "k M G"),
    **_family("J", "energy", 1.0, "k M G"),
    **_family("Wh", "energy", _HOUR, "k M G"),
    **_mass("g", 1e-3),
    **_mass("kg", 1.0),
    **_mass("t", 1e3),
    **_family("Hz", "frequency", 1.0, "k M G"),
    **_family("m", "length", 1.0, "k"),
    **_counted("IOPS", "rate"),
    **_family("IOPS", "rate", 1.0, "k M"),
    **_counted("token", "count"),
    **_counted("tokens", "count"),
    "%": (1e-2, "fraction"),
}


def _as_ratio(factor: float) -> tuple[float, float]:
    """Return a factor as multiplier and divisor, both whole or exact in binary.

    Dividing by 1e9 rounds once, multiplying by 1e-9 twice: `57 %` has to be 0.57 to the last bit.
    """
    return (factor, 1.0) if factor >= 1 else (1.0, float(round(1 / factor)))


def _ratio_tables() -> dict[str, dict[str, tuple[float, float]]]:
    tables: dict[str, dict[str, tuple[float, float]]] = {name: {} for name in DIMENSIONS}
    for symbol, (factor, name) in SYMBOLS.items():
        tables[name][symbol] = _as_ratio(factor)
    for name, dimension in DIMENSIONS.items():
        if dimension.bare:
            tables[name][""] = (1.0, 1.0)
    for multiplier, factor in MULTIPLIERS.items():
        tables["count"][multiplier] = (factor, 1.0)
    # What a rate counts: as "count", but `400 B/s` is bytes and must not pass as 400 billion per second.
    tables["events"] = {s: ratio for s, ratio in tables["count"].items() if s != "B"} | {"1": (1.0, 1.0)}
    return tables


_RATIOS = _ratio_tables()


def spellings(dimension: str) -> list[str]:
    """Return the symbols that stand alone for a dimension or for a part of one, quotients left out."""
    return [symbol for symbol in _RATIOS[dimension] if "/" not in symbol]


def find_ratio(unit: str, dimension: str) -> tuple[float, float] | None:
    """Return multiplier and divisor from a unit text to SI, or None for a text of another dimension."""
    table = _RATIOS[dimension]
    ratio = table.get(unit)
    if ratio is None:
        normal = "/".join(" ".join(part.split()) for part in unit.split("/"))
        ratio = table.get(normal) or _compose(normal, dimension)
        if ratio is not None:
            table[normal] = ratio
    return ratio


def _compose(unit: str, dimension: str) -> tuple[float, float] | None:
    """Return the ratio of a quotient such as `GB/s`."""
    symbols, parts = unit.split("/"), DIMENSIONS[dimension].parts
    if len(symbols) != len(parts):
        return None
    ratios = [_RATIOS[part].get(symbol) for symbol, part in zip(symbols, parts, strict=True)]
    multiplier, divisor = ratios[0] or (0.0, 0.0)
    for below in ratios[1:]:
        over, under = below or (0.0, 0.0)
        multiplier, divisor = multiplier * under, divisor * over
    return (multiplier, divisor) if multiplier and divisor else None


def dimension_of(unit: str) -> str | None:
    """Return the dimension a unit text belongs to, or None for an unknown text.

    A lone `B` is bytes: the multiplier needs a number in front and a count due.
    """
    if not unit:
        return None
    return next((name for name in DIMENSIONS if find_ratio(unit, name)), None)


def example(dimension: str) -> str:
    """Return a valid text for a dimension."""
    return DIMENSIONS[dimension].example
