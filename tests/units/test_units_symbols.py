"""Every symbol and every quotient against pint, with our own money, FLOP and data units added to its registry."""

import re
import subprocess
import sys

import pint
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiplan.units import DIMENSIONS, SYMBOLS, dimension_of, example, parse
from aiplan.units.symbols import MULTIPLIERS

# pint reads Gb as gilbert and counts a bit as dimensionless; data is a dimension of its own here.
PRIVATE = """
databit = [data]
databyte = 8 * databit
FLOP = [operations]
OP = FLOP
USD = [money]
thing = [things]
token = thing
IOPS = thing / second
"""
BASE = {
    "data": "databyte",
    "time": "second",
    "compute": "FLOP",
    "money": "USD",
    "power": "watt",
    "energy": "joule",
    "carbon": "kilogram",
    "frequency": "hertz",
    "length": "meter",
    "rate": "thing / second",
    "count": "thing",
    "fraction": "dimensionless",
}
LONG = {"": "", "k": "kilo", "M": "mega", "G": "giga", "T": "tera", "P": "peta", "E": "exa"}
LONG |= {"Ki": "kibi", "Mi": "mebi", "Gi": "gibi", "Ti": "tebi", "Pi": "pebi"}
WORDS = {"k ": "1e3 ", "M ": "1e6 ", "B ": "1e9 ", "T ": "1e12 "}


@pytest.fixture(scope="module")
def registry():
    registry = pint.UnitRegistry()
    for line in PRIVATE.strip().splitlines():
        registry.define(line)
    return registry


def spelled_for_pint(symbol):
    data = re.fullmatch(r"([kMGTPE]|[KMGTP]i)?(b|bit|B)", symbol)
    if data:
        return LONG[data[1] or ""] + ("databyte" if data[2] == "B" else "databit")
    for word, number in WORDS.items():
        if symbol.startswith(word):
            return number + symbol.removeprefix(word)
    return {"%": "percent"}.get(symbol, re.sub(r" ?CO2e?$", "", symbol))


@pytest.mark.parametrize("symbol", SYMBOLS)
def test_symbol_agrees_with_pint(symbol, registry):
    factor, dimension = SYMBOLS[symbol]
    expected = registry(spelled_for_pint(symbol)).to(BASE[dimension]).magnitude
    assert factor == pytest.approx(expected, rel=1e-14)
    assert parse(f"1 {symbol}", dimension) == pytest.approx(expected, rel=1e-14)


def symbols_of(dimension):
    return [symbol for symbol, (_, of) in SYMBOLS.items() if of == dimension]


@pytest.mark.parametrize("dimension", [name for name, due in DIMENSIONS.items() if due.parts and name != "rate"])
@given(data=st.data())
def test_quotients_agree_with_pint(dimension, registry, data):
    parts = DIMENSIONS[dimension].parts
    symbols = [data.draw(st.sampled_from(symbols_of(part))) for part in parts]
    expected = registry(spelled_for_pint(symbols[0])).to(BASE[parts[0]])
    for symbol, part in zip(symbols[1:], parts[1:], strict=True):
        expected = expected / registry(spelled_for_pint(symbol)).to(BASE[part])
    assert parse("3 " + "/".join(symbols), dimension) == pytest.approx(3 * expected.magnitude, rel=1e-12)
    assert parse("3" + " / ".join(symbols), dimension) == parse("3 " + "/".join(symbols), dimension)
    assert dimension_of("/".join(symbols)) == dimension


REQUIRED = """
b bit kb Mb Gb Tb kbit Mbit Gbit Tbit Kib Mib Gib B kB MB GB TB PB EB KiB MiB GiB TiB PiB
ns us \u00b5s \u03bcs ms s min h hr hour hours d day days week weeks month months year years
FLOP kFLOP MFLOP GFLOP TFLOP PFLOP EFLOP ZFLOP YFLOP OP TOP POP W kW MW GW J kJ MJ GJ Wh kWh MWh GWh
USD g kg t gCO2e kgCO2 Hz kHz MHz GHz m km % IOPS tokens
"""


def test_the_vocabulary_is_complete():
    assert not set(REQUIRED.split()) - set(SYMBOLS)


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_each_dimension_has_a_valid_example_and_an_si_unit(dimension):
    assert parse(example(dimension), dimension) > 0
    if not DIMENSIONS[dimension].bare:
        assert parse(f"2.5 {DIMENSIONS[dimension].unit}", dimension) == 2.5
        assert dimension_of(DIMENSIONS[dimension].unit) == dimension


@pytest.mark.parametrize(
    ("unit", "dimension"),
    [
        ("B", "data"),
        ("GB/s", "data rate"),
        ("M", "count"),
        ("/s", "rate"),
        ("%", "fraction"),
        ("m", "length"),
    ],
)
def test_dimension_of(unit, dimension):
    assert dimension_of(unit) == dimension


@pytest.mark.parametrize("unit", ["", "gb/s", "B/B", "s/GB", "GB/s/s", "TFLOPS", "/", "USD/month/GB", "$"])
def test_dimension_of_an_unknown_unit_is_none(unit):
    assert dimension_of(unit) is None


def test_multipliers_are_thousands_to_trillions():
    assert MULTIPLIERS == {"k": 1_000, "M": 1_000_000, "B": 1_000_000_000, "T": 1_000_000_000_000}


def test_import_is_light():
    code = "import sys, re, aiplan.units; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"numpy", "typing", "dataclasses", "difflib", "fractions", "decimal", "inspect", "json"}
    bare = subprocess.run(
        [sys.executable, "-c", "import sys, re; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert not (set(done.stdout.split()) - set(bare.stdout.split())) & heavy
