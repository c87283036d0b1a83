"""Text to SI numbers and back, at the edge only.

Inside, every number is a float in SI units (B, s, FLOP, USD, W, J, kg). `parse` reads what people write into
that, `quantity`, `duration` and `scale` write it back.
"""

from aiplan.units.display import duration, quantity, round_steps, scale
from aiplan.units.errors import UnitError
from aiplan.units.parse import parse, parse_range
from aiplan.units.pattern import pattern
from aiplan.units.symbols import DIMENSIONS, SYMBOLS, Dimension, dimension_of, example

__all__ = [
    "DIMENSIONS",
    "SYMBOLS",
    "Dimension",
    "UnitError",
    "dimension_of",
    "duration",
    "example",
    "parse",
    "parse_range",
    "pattern",
    "quantity",
    "round_steps",
    "scale",
]
