"""Why a text was refused, and what to write instead."""

from itertools import product

from aiplan.units.symbols import DIMENSIONS, dimension_of, find_ratio, spellings

_WORDS = {
    "$": "USD",
    "$ USD": "USD",
    "dollars": "USD",
    "byte": "B",
    "bytes": "B",
    "bits": "bit",
    "sec": "s",
    "second": "s",
    "seconds": "s",
    "mins": "min",
    "minute": "min",
    "minutes": "min",
    "hrs": "h",
    "mo": "month",
    "yr": "year",
    "meters": "m",
}
"""What people write for symbols too short for a similarity search."""


class UnitError(ValueError):
    """A text that is no valid quantity of the dimension that is due.

    Attributes
    ----------
    problem : str
        One sentence without full stop.
    hint : str or None
        What to write instead.
    """

    def __init__(self, problem: str, hint: str | None = None) -> None:
        super().__init__(problem if hint is None else f"{problem}; {hint}")
        self.problem = problem
        self.hint = hint

    def __reduce__(self) -> tuple[type["UnitError"], tuple[str, str | None]]:
        return UnitError, (self.problem, self.hint)


def not_a_number(text: str, dimension: str) -> UnitError:
    """Return the error for a text that does not begin with a number."""
    due = DIMENSIONS[dimension]
    if not text:
        return UnitError(f"the text is empty, but {due.phrase} is due", _example_hint(dimension))
    if text.lstrip("+-").lower().startswith(("nan", "inf")):
        return not_finite(text, dimension)
    return UnitError(f"'{text}' does not begin with a number, but {due.phrase} is due", _example_hint(dimension))


def misplaced_underscore(text: str, dimension: str) -> UnitError:
    """Return the error for `1_ GB` and `1__0 GB`."""
    return UnitError(f"'{text}' has a '_' that does not stand between two digits", _example_hint(dimension))


def not_finite(text: str, dimension: str) -> UnitError:
    """Return the error for nan, infinity and numbers too large to hold."""
    return UnitError(f"'{text}' is not a finite number", _example_hint(dimension))


def wrong_unit(text: str, unit: str, dimension: str) -> UnitError:
    """Return the error for a number followed by anything but a unit of the dimension due."""
    due = DIMENSIONS[dimension].phrase
    if not unit:
        return UnitError(f"'{text}' has no unit, but {due} is due", _example_hint(dimension))
    if unit.startswith(","):
        return UnitError(f"'{text}' has a comma in the number", _comma_hint(text))
    given = dimension_of(unit)
    if given is None:
        return UnitError(f"'{unit}' in '{text}' is not a known unit", _nearest(unit, dimension))
    number = text[: len(text) - len(unit)]
    meant = _completed(text, unit, given, dimension) or [number + u for u in _any_case(unit, dimension)]
    problem = f"'{text}' is {DIMENSIONS[given].phrase}, but {due} is due"
    return UnitError(problem, _choice(meant) if meant else _example_hint(dimension))


def _example_hint(dimension: str) -> str:
    return f"write e.g. '{DIMENSIONS[dimension].example}'"


def _comma_hint(text: str) -> str:
    groups = text.split(",")[1:]
    if all(group[:3].isdigit() and not group[3:4].isdigit() for group in groups):
        return f"write '{text.replace(',', '')}' ('_' may group digits, ',' may not)"
    return f"write '{text.replace(',', '.')}'" if len(groups) == 1 else "write digits without commas"


def _completed(text: str, unit: str, given: str, due: str) -> list[str]:
    """Complete an amount where that amount per something is due: '400 GB' to '400 GB/s' or '400 Gb/s'."""
    if DIMENSIONS[due].parts[:1] != (given,):
        return []
    example = DIMENSIONS[due].example
    below = example[example.index("/") :]
    twins = [unit[:-1] + "B", unit[:-1] + "b"]
    if not all(find_ratio(twin, given) for twin in twins):
        return [text + below]
    return [text[: len(text) - len(unit)] + twin + below for twin in twins]


def _nearest(unit: str, dimension: str) -> str:
    """Return the hint that names the closest units of the dimension due."""
    words = "/".join(_WORDS.get(part.strip(), part) for part in unit.split("/"))
    candidates = [unit, words]
    if unit[-1] in "sS":  # TFLOPS, Gbps
        candidates += [unit[:-1], unit[:-1] + "/s", unit[:-2] + "/s"]
    for candidate in candidates:
        found = _any_case(candidate, dimension)
        if found:
            return _choice(found)
    similar = _similar(unit, dimension)
    return f"did you mean '{similar}'?" if similar else _example_hint(dimension)


def _vocabularies(unit: str, dimension: str) -> list[tuple[str, list[str]]]:
    """Pair each part of a unit text with the symbols that may stand there; empty where the shapes differ."""
    symbols = [part.strip() for part in unit.split("/")]
    parts = DIMENSIONS[dimension].parts if len(symbols) > 1 else (dimension,)
    if len(symbols) != len(parts):
        return []
    return [(symbol, spellings(part)) for symbol, part in zip(symbols, parts, strict=True)]


def _any_case(unit: str, dimension: str) -> list[str]:
    """Return the valid units that differ from a text in upper and lower case only."""
    matches = [
        [symbol] if symbol in known else [k for k in known if k.lower() == symbol.lower()]
        for symbol, known in _vocabularies(unit, dimension)
    ]
    return ["/".join(symbols) for symbols in product(*matches)] if matches else []


def _similar(unit: str, dimension: str) -> str | None:
    """Return the valid unit spelled most like a text, where one is close."""
    from difflib import get_close_matches  # noqa: PLC0415  only an error pays for it

    matches = [
        [symbol] if symbol in known else get_close_matches(symbol, known, n=1)
        for symbol, known in _vocabularies(unit, dimension)
    ]
    return "/".join(match[0] for match in matches) if matches and all(matches) else None


def _choice(texts: list[str]) -> str:
    """Return the hint that offers one or several texts, bits told from bytes where both are meant."""
    if len(texts) == 1:
        return f"write '{texts[0]}'"
    return "write " + " or ".join(f"'{text}'{_bits_or_bytes(text)}" for text in texts)


def _bits_or_bytes(text: str) -> str:
    endings = {part[-1] for part in text.split("/")}
    return " (bytes)" if "B" in endings else " (bits)" if "b" in endings else ""
