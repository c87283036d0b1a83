"""How numbers look to people: exact texts at the edges, and properties over the whole range."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from aiplan.units import DIMENSIONS, dimension_of, duration, parse, quantity, scale

DAY, YEAR = 86400, 31557600

TEXTS = [
    (0, "s", "0 s"),
    (0, "B/s", "0 B/s"),
    (0, "J", "0 J"),
    (0, "USD", "$0"),
    (0, "1", "0"),
    (0, "%", "0.0 %"),
    (None, "s", "unknown"),
    (None, "USD", "unknown"),
    (math.nan, "B", "unknown"),
    (math.inf, "s", "infinite"),
    (-math.inf, "FLOP", "-infinite"),
    (-1.5e9, "B/s", "-1.50 GB/s"),
    (999.4e9, "B/s", "999 GB/s"),
    (999.96e9, "B/s", "1.00 TB/s"),
    (9.996e9, "B/s", "10.0 GB/s"),
    (5e10, "B/s", "50.0 GB/s"),
    (3.35e12, "B/s", "3.35 TB/s"),
    (0.5, "B/s", "0.500 B/s"),
    (85899345920, "B", "80.0 GiB"),
    (1023.9 * 2**20, "B", "1.00 GiB"),
    (1000 * 2**20, "B", "1000 MiB"),
    (80e9, "B si", "80.0 GB"),
    (2.5e15, "B si", "2.50 PB"),
    (3.14e23, "FLOP", "314 ZFLOP"),
    (1e30, "FLOP", "1000000 YFLOP"),
    (1e32, "FLOP", "1.00e+08 YFLOP"),
    (9.89e14, "FLOP/s", "989 TFLOP/s"),
    (1.05e12, "FLOP/token", "1.05 TFLOP/token"),
    (1.5e-9, "s", "1.50 ns"),
    (5e-12, "s", "0.00500 ns"),
    (1e-17, "s", "1.00e-08 ns"),
    (999.6e-9, "s", "1.00 us"),
    (12.34e-6, "s", "12.3 us"),
    (0.9996, "s", "1.00 s"),
    (0.25, "s", "250 ms"),
    (12.34, "s", "12.3 s"),
    (119, "s", "119 s"),
    (119.9, "s", "2.00 min"),
    (119 * 60, "s", "119 min"),
    (3.4 * 3600, "s", "3.40 h"),
    (34 * DAY, "s", "34.0 days"),
    (700 * DAY, "s", "700 days"),
    (304 * YEAR, "s", "304 years"),
    (1e9 * YEAR, "s", "1.00e+09 years"),
    (12345, "USD", "$12,345"),
    (1023 * 2**20, "B", "1020 MiB"),
    (-12345.6, "USD", "-$12,346"),
    (2.45e6, "USD", "$2.45M"),
    (-2.45e6, "USD", "-$2.45M"),
    (1.2e9, "USD", "$1.20B"),
    (7e12, "USD", "$7.00T"),
    (12.3, "USD", "$12.30"),
    (123.4, "USD", "$123"),
    (0.0123, "USD", "$0.0123"),
    (math.inf, "USD", "infinite"),
    (2.5 / 3600, "USD/s", "$2.50/h"),
    (0.085 / 3.6e6, "USD/J", "$0.0850/kWh"),
    (0.09e-9, "USD/B", "$0.0900/GB"),
    (0.02e-9 / (YEAR / 12), "USD/B/s", "$0.0200/GB/month"),
    (700, "W", "700 W"),
    (1.2e6, "W", "1.20 MW"),
    (100, "J", "100 J"),
    (3600, "J", "1.00 Wh"),
    (3.6e6, "J", "1.00 kWh"),
    (1287 * 3.6e9, "J", "1.29 GWh"),
    (0.25, "kg", "250 g CO2"),
    (12.3, "kg", "12.3 kg CO2"),
    (552_000, "kg", "552 t CO2"),
    (0.38 / 3.6e6, "kg/J", "380 g CO2/kWh"),
    (300e9, "1", "300B"),
    (15e12, "1", "15.0T"),
    (131072, "1", "131,072"),
    (8, "1", "8"),
    (2.5, "1", "2.50"),
    (1234.56, "1", "1,235"),
    (999_600, "1", "1.00M"),
    (0.4234, "%", "42.3 %"),
    (0.4234, "fraction", "42.3 %"),
    (-0.05, "fraction", "-5.0 %"),
    (-1e-9, "fraction", "0.0 %"),
    (12345, "tokens/s", "12.3 k tokens/s"),
    (0.5, "tokens/s", "0.500 tokens/s"),
    (1.98e9, "Hz", "1.98 GHz"),
    (1.5e6, "1/s", "1.50 M/s"),
    (30, "m", "30.0 m"),
    (4.5e-9, "s/m", "4.50 ns/m"),
]


@pytest.mark.parametrize(("value", "unit", "text"), TEXTS)
def test_quantity(value, unit, text):
    assert quantity(value, unit) == text


def test_quantity_takes_digits_and_numpy_scalars():
    assert quantity(1.23456e12, "B/s", digits=5) == "1.2346 TB/s"
    assert quantity(np.float64(5e10), "B/s", digits=2) == "50 GB/s"
    assert quantity(np.int64(1024), "1") == "1,024"


@pytest.mark.parametrize("call", [lambda: quantity(1, "GB/s"), lambda: scale([1], "furlong")])
def test_unknown_unit_is_the_callers_mistake(call):
    with pytest.raises(ValueError, match="no display scale for unit"):
        call()


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_every_dimension_can_be_shown(dimension):
    assert quantity(1.0, DIMENSIONS[dimension].unit).isascii()


READABLE = [
    ("s", "time"),
    ("B", "data"),
    ("B si", "data"),
    ("B/s", "data rate"),
    ("FLOP", "compute"),
    ("FLOP/s", "compute rate"),
    ("USD", "money"),
    ("USD/s", "money rate"),
    ("USD/J", "energy price"),
    ("USD/B", "data price"),
    ("USD/B/s", "storage price"),
    ("W", "power"),
    ("J", "energy"),
    ("kg", "carbon"),
    ("kg/J", "carbon intensity"),
    ("1", "count"),
    ("1/s", "rate"),
    ("tokens/s", "rate"),
    ("Hz", "frequency"),
    ("m", "length"),
    ("s/m", "delay per length"),
]

magnitudes = st.floats(min_value=1e-30, max_value=1e30)
signed = st.builds(math.copysign, magnitudes, st.sampled_from([1.0, -1.0]))


@pytest.mark.parametrize(("unit", "dimension"), READABLE)
@given(value=signed, digits=st.integers(3, 6))
def test_what_is_shown_reads_back_within_rounding(unit, dimension, value, digits):
    shown = quantity(value, unit, digits=digits).replace(",", "")
    assert parse(shown, dimension) == pytest.approx(value, rel=0.5001 * 10 ** (1 - digits))


@given(st.floats(-100, 100))
def test_fraction_reads_back_within_a_twentieth_of_a_percent(value):
    assert parse(quantity(value, "fraction"), "fraction") == pytest.approx(value, abs=0.000501)


@pytest.mark.parametrize(("unit", "dimension"), READABLE)
@given(first=magnitudes, second=magnitudes)
def test_more_never_looks_like_less(unit, dimension, first, second):
    low, high = (parse(quantity(value, unit).replace(",", ""), dimension) for value in sorted((first, second)))
    assert low <= high * (1 + 1e-12)


@pytest.mark.parametrize("unit", ["B/s", "B si", "FLOP", "FLOP/s", "W", "Hz", "s", "tokens/s"])
@given(value=st.floats(1e-5, 1e14))
def test_ordinary_magnitudes_show_three_digits_without_powers_of_ten(unit, value):
    number = quantity(value, unit).split()[0]
    assert "e" not in number
    assert len(number.replace(".", "").strip("0")) <= 3


DURATIONS = [
    (None, "unknown"),
    (math.nan, "unknown"),
    (0, "0 s"),
    (0.0123, "12.3 ms"),
    (12.3, "12.3 s"),
    (119.4, "119 s"),
    (119.6, "2 min"),
    (125, "2 min 5 s"),
    (7199.9, "2 h"),
    (12240, "3 h 24 min"),
    (172799, "2 d"),
    (33 * DAY + 21 * 3600, "33 d 21 h"),
    (4 * DAY + 6.4 * 3600, "4 d 6 h"),
    (700 * DAY, "700 d"),
    (2 * YEAR, "2.00 years"),
    (304 * YEAR, "304 years"),
    (-7300, "-2 h 2 min"),
    (-304 * YEAR, "-304 years"),
    (math.inf, "infinite"),
]


@pytest.mark.parametrize(("seconds", "text"), DURATIONS)
def test_duration(seconds, text):
    assert duration(seconds) == text


@given(st.floats(120, 2 * YEAR - 1))
def test_duration_is_within_half_of_its_smaller_unit(seconds):
    words = duration(seconds).split()
    pairs = list(zip(words[::2], words[1::2], strict=True))
    total = sum(parse(f"{number} {unit}", "time") for number, unit in pairs)
    smaller = {"d": 3600, "h": 60, "min": 1}[pairs[0][1]]
    assert abs(total - seconds) <= smaller / 2 + 1e-6
    if len(pairs) == 2:
        assert int(pairs[1][0]) < {"d": 24, "h": 60, "min": 60}[pairs[0][1]]


GIB = 2**30
COLUMNS = [
    ([3.26 * GIB, 0.41 * GIB, 71.3 * GIB], "B", "GiB", ["3.26", "0.41", "71.3"]),
    ([None, 0, 1.0, 5 * GIB], "B", "GiB", ["unknown", "0", "0.00", "5.00"]),
    ([999.96e9, 1e9], "B/s", "TB/s", ["1.00", "0.00"]),
    ([-5e9, 2e9], "B/s", "GB/s", ["-5.00", "2.00"]),
    ([0.00123, 0.0001], "B/s", "B/s", ["0.00123", "0.00010"]),
    ([1e6, 2.45e6, 12345], "USD", "M USD", ["1.00", "2.45", "0.01"]),
    ([12345, 2.5], "USD", "USD", ["12,345", "2.50"]),
    ([2.5 / 3600, 98.32 / 3600], "USD/s", "USD/h", ["2.50", "98.32"]),
    ([8, 16, 1024], "1", "", ["8", "16", "1,024"]),
    ([0.5, 0.1234, 0], "%", "%", ["50.0", "12.3", "0.0"]),
    ([90 * 60, 30], "s", "min", ["90.0", "0.50"]),
    ([math.inf, 3], "s", "s", ["infinite", "3.00"]),
    ([None], "s", "s", ["unknown"]),
    ([], "B", "B", []),
]


@pytest.mark.parametrize(("values", "unit", "symbol", "cells"), COLUMNS)
def test_scale(values, unit, symbol, cells):
    assert scale(values, unit) == (symbol, cells)


@given(st.lists(st.floats(0, 1e18), min_size=1), st.sampled_from(["B", "B si", "B/s", "FLOP", "s", "W", "Hz"]))
def test_a_column_keeps_the_order_of_its_values(values, unit):
    symbol, cells = scale(sorted(values), unit)
    shown = [float(cell) for cell in cells]
    assert shown == sorted(shown)
    assert symbol in quantity(max(values), unit)


@given(st.lists(magnitudes, min_size=1, max_size=5), st.sampled_from(["B", "B/s", "FLOP/s", "J", "s", "kg"]))
def test_the_largest_cell_of_a_column_reads_as_on_its_own(values, unit):
    largest = max(values)
    symbol, cells = scale(values, unit)
    assert f"{cells[values.index(largest)]} {symbol}" == quantity(largest, unit)


@given(st.lists(st.floats(1e-3, 1e18), min_size=2), st.sampled_from(["B/s", "W", "s"]))
def test_small_cells_are_within_a_hundredth_of_the_heading_unit(values, unit):
    symbol, cells = scale(values, unit)
    assume("e" not in "".join(cells))
    step = parse(f"1 {symbol}", dimension_of(symbol))
    for value, cell in zip(values, cells, strict=True):
        assert abs(float(cell) * step - value) <= max(0.00501 * step, 0.00501 * value)
