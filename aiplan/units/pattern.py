"""Regular expressions of valid texts, for the schemas that editors read."""

from aiplan.units.symbols import DIMENSIONS, MULTIPLIERS, spellings

_NUMBER = "[-+\u2212]?(?:[0-9][0-9_]*(?:\\.[0-9_]*)?|\\.[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)?"
_DOLLARS = _NUMBER.replace("?", "?\\$\\s*", 1)


def pattern(dimension: str, *, ranges: bool = False) -> str:
    """Return a JSON Schema (ECMA) regular expression for the texts of a dimension.

    Parameters
    ----------
    dimension : str
        A key of `DIMENSIONS`.
    ranges : bool
        Accept `low .. high` too, as `parse_range` does.

    Returns
    -------
    str
        Anchored at both ends. It is exact on units and looser than `parse` on numbers.
    """
    due = DIMENSIONS[dimension]
    units = [_either(spellings(dimension))] if spellings(dimension) else []
    if due.parts:
        units.append("\\s*/\\s*".join(_either(spellings(part)) for part in due.parts))
    one = f"{_NUMBER}\\s*(?:{'|'.join(units)})"
    if "money" in (dimension, *due.parts[:1]):
        below = "".join(f"\\s*/\\s*{_either(spellings(part))}" for part in due.parts[1:])
        one = f"(?:{one}|{_DOLLARS}\\s*{_either(['', *MULTIPLIERS])}{below})"
    if not ranges:
        return f"^\\s*{one}\\s*$"
    two = f"(?:{one}|{_NUMBER})\\s*\\.\\.\\s*(?:{one}|{_NUMBER})"
    return f"^\\s*(?:{one}|{two})\\s*$"


def _either(symbols: list[str]) -> str:
    """Return an alternation; a symbol holds no character that would need an escape."""
    spaced = (symbol.replace(" ", "\\s+") for symbol in sorted(symbols, key=len, reverse=True))
    return f"(?:{'|'.join(spaced)})"
