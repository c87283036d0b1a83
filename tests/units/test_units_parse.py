"""What a text is worth, and what is refused with which words."""

import math
import pickle
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiplan.units import DIMENSIONS, SYMBOLS, UnitError, example, parse, parse_range, pattern

VALID = [
    ("400 Gb/s", "data rate", 5e10),
    ("400Gb/s", "data rate", 5e10),
    ("400 Gbit / s", "data rate", 5e10),
    ("3.35 TB/s", "data rate", 3.35e12),
    ("80 GiB", "data", 85899345920),
    ("80GB", "data", 8e10),
    ("81920 MiB", "data", 85899345920),
    ("1_000 GB", "data", 1e12),
    ("300B", "data", 300),
    ("30 days", "time", 2592000),
    ("1.5 us", "time", 1.5e-6),
    ("1.5 \u00b5s", "time", 1.5e-6),
    ("1.5 \u03bcs", "time", 1.5e-6),
    ("1 month", "time", 30.4375 * 86400),
    ("1 year", "time", 365.25 * 86400),
    ("989 TFLOP/s", "compute rate", 9.89e14),
    ("1979 TOP/s", "compute rate", 1.979e15),
    ("3.14e23 FLOP", "compute", 3.14e23),
    ("2.5 USD/h", "money rate", 2.5 / 3600),
    ("$2.50/hour", "money rate", 2.5 / 3600),
    ("$ 2.50 / h", "money rate", 2.5 / 3600),
    ("-$3", "money", -3),
    ("$2.45M", "money", 2.45e6),
    ("5M USD", "money", 5e6),
    ("0.08 USD/kWh", "energy price", 0.08 / 3.6e6),
    ("0.02 USD/GB/month", "storage price", 0.02 / 1e9 / 2629800),
    ("$0.09/GB", "data price", 0.09e-9),
    ("380 g/kWh", "carbon intensity", 0.38 / 3.6e6),
    ("380 gCO2e/kWh", "carbon intensity", 0.38 / 3.6e6),
    ("380 g CO2/kWh", "carbon intensity", 0.38 / 3.6e6),
    ("552 t", "carbon", 552000),
    ("1287 MWh", "energy", 1287 * 3.6e9),
    ("700 W", "power", 700),
    ("1.98 GHz", "frequency", 1.98e9),
    ("30 m", "length", 30),
    ("4.5 ns/m", "delay per length", 4.5e-9),
    ("1.5M IOPS", "rate", 1.5e6),
    ("1.5 MIOPS", "rate", 1.5e6),
    ("20 /s", "rate", 20),
    ("20 1/s", "rate", 20),
    ("3k/s", "rate", 3000),
    ("12.3k tokens/s", "rate", 12300),
    ("300B", "count", 300e9),
    ("15T", "count", 15e12),
    ("1.5M", "count", 1.5e6),
    ("300B tokens", "count", 300e9),
    ("300e9 tokens", "count", 300e9),
    ("1e12", "count", 1e12),
    (300_000_000_000, "count", 300e9),
    ("50 %", "fraction", 0.5),
    ("57%", "fraction", 0.57),
    ("0.5", "fraction", 0.5),
    (0.5, "fraction", 0.5),
    (".5 s", "time", 0.5),
    ("5. s", "time", 5),
    ("-3 s", "time", -3),
    ("\u22123 s", "time", -3),
    ("+3 s", "time", 3),
    ("  3 s\n", "time", 3),
]


@pytest.mark.parametrize(("text", "dimension", "value"), VALID)
def test_value(text, dimension, value):
    assert parse(text, dimension) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(("text", "dimension", "value"), VALID)
def test_schema_pattern_accepts_what_parses(text, dimension, value):
    if isinstance(text, str):
        assert re.search(pattern(dimension), text)
        assert re.search(pattern(dimension, ranges=True), text)


def test_percentages_are_read_to_the_last_bit():
    assert [parse(f"{n} %", "fraction") for n in range(101)] == [n / 100 for n in range(101)]


# The rows of a comparison of unit libraries in which at least one of them read a text wrongly.
TRAPS = [
    ("400 GB", "data rate"),
    ("3 GHz", "data rate"),
    ("50 %", "data"),
    ("3 mo", "time"),
    ("400 gb/s", "data rate"),
    ("nan GB", "data"),
    ("inf GB", "data"),
    ("1e400 GB", "data"),
]


@pytest.mark.parametrize(("text", "dimension"), TRAPS)
def test_trap_is_refused(text, dimension):
    with pytest.raises(UnitError):
        parse(text, dimension)


REFUSED = [
    ("400", "data rate", "'400' has no unit, but a data rate is due", "write e.g. '400 GB/s'"),
    (400, "data rate", "'400' has no unit, but a data rate is due", "write e.g. '400 GB/s'"),
    (
        "400 GB",
        "data rate",
        "'400 GB' is an amount of data, but a data rate is due",
        "write '400 GB/s' (bytes) or '400 Gb/s' (bits)",
    ),
    (
        "400 Gb",
        "data rate",
        "'400 Gb' is an amount of data, but a data rate is due",
        "write '400 GB/s' (bytes) or '400 Gb/s' (bits)",
    ),
    ("80 Pib", "data", "'Pib' in '80 Pib' is not a known unit", "write 'PiB'"),
    ("1 PB", "data rate", "'1 PB' is an amount of data, but a data rate is due", "write '1 PB/s'"),
    (
        "400 gb/s",
        "data rate",
        "'gb/s' in '400 gb/s' is not a known unit",
        "write 'GB/s' (bytes) or 'Gb/s' (bits)",
    ),
    ("400 Gbps", "data rate", "'Gbps' in '400 Gbps' is not a known unit", "write 'Gb/s'"),
    (
        "400 mbps",
        "data rate",
        "'mbps' in '400 mbps' is not a known unit",
        "write 'MB/s' (bytes) or 'Mb/s' (bits)",
    ),
    ("400 GB/sec", "data rate", "'GB/sec' in '400 GB/sec' is not a known unit", "write 'GB/s'"),
    ("989 TFLOPS", "compute rate", "'TFLOPS' in '989 TFLOPS' is not a known unit", "write 'TFLOP/s'"),
    ("5 TFLOPs", "compute", "'TFLOPs' in '5 TFLOPs' is not a known unit", "write 'TFLOP'"),
    (
        "5 TFLOP",
        "compute rate",
        "'5 TFLOP' is an amount of compute, but a compute rate is due",
        "write '5 TFLOP/s'",
    ),
    ("5 TOPS", "compute rate", "'TOPS' in '5 TOPS' is not a known unit", "write 'TOP/s'"),
    ("3 GHz", "data rate", "'3 GHz' is a frequency, but a data rate is due", "write e.g. '400 GB/s'"),
    ("50 %", "data", "'50 %' is a fraction, but an amount of data is due", "write e.g. '80 GB'"),
    ("3 mo", "time", "'mo' in '3 mo' is not a known unit", "write 'month'"),
    ("3 wek", "time", "'wek' in '3 wek' is not a known unit", "did you mean 'week'?"),
    ("3 parsec", "time", "'parsec' in '3 parsec' is not a known unit", "write e.g. '30 days'"),
    ("5 MW", "energy", "'5 MW' is a power, but an amount of energy is due", "write e.g. '12 MWh'"),
    (
        "2.5 USD",
        "money rate",
        "'2.5 USD' is an amount of money, but a price per time is due",
        "write '2.5 USD/h'",
    ),
    ("$2.5", "money rate", "'$2.5' is an amount of money, but a price per time is due", "write '$2.5/h'"),
    ("$5 USD", "money", "'$ USD' in '$5 USD' is not a known unit", "write 'USD'"),
    ("1 EUR/h", "money rate", "'EUR/h' in '1 EUR/h' is not a known unit", "write e.g. '2.50 USD/h'"),
    (
        "380 g",
        "carbon intensity",
        "'380 g' is an amount of carbon, but a carbon intensity is due",
        "write '380 g/kWh'",
    ),
    ("300b", "count", "'300b' is an amount of data, but a count is due", "write '300B'"),
    ("300 GB", "count", "'300 GB' is an amount of data, but a count is due", "write e.g. '300B'"),
    ("400 B/s", "rate", "'400 B/s' is a data rate, but a rate is due", "write e.g. '1.5M IOPS'"),
    (
        "1,000 GB",
        "data",
        "'1,000 GB' has a comma in the number",
        "write '1000 GB' ('_' may group digits, ',' may not)",
    ),
    (
        "$1,000",
        "money",
        "'$1,000' has a comma in the number",
        "write '$1000' ('_' may group digits, ',' may not)",
    ),
    ("1,5 GB", "data", "'1,5 GB' has a comma in the number", "write '1.5 GB'"),
    ("1,5,2 GB", "data", "'1,5,2 GB' has a comma in the number", "write digits without commas"),
    ("1__0 s", "time", "'1__0 s' has a '_' that does not stand between two digits", "write e.g. '30 days'"),
    ("nan s", "time", "'nan s' is not a finite number", "write e.g. '30 days'"),
    ("-inf", "time", "'-inf' is not a finite number", "write e.g. '30 days'"),
    ("1e999 s", "time", "'1e999 s' is not a finite number", "write e.g. '30 days'"),
    ("1e300 YFLOP", "compute", "'1e300 YFLOP' is not a finite number", "write e.g. '1.5 ZFLOP'"),
    (math.nan, "fraction", "'nan' is not a finite number", "write e.g. '50 %'"),
    (10**400, "count", "'inf' is not a finite number", "write e.g. '300B'"),
    (True, "count", "'true' does not begin with a number, but a count is due", "write e.g. '300B'"),
    ("auto", "time", "'auto' does not begin with a number, but a time is due", "write e.g. '30 days'"),
    (" ", "time", "the text is empty, but a time is due", "write e.g. '30 days'"),
    (
        "1 USD/month/GB",
        "storage price",
        "'USD/month/GB' in '1 USD/month/GB' is not a known unit",
        "write e.g. '0.02 USD/GB/month'",
    ),
]


@pytest.mark.parametrize(("text", "dimension", "problem", "hint"), REFUSED)
def test_refusal_names_the_problem_and_the_repair(text, dimension, problem, hint):
    with pytest.raises(UnitError) as caught:
        parse(text, dimension)
    assert (caught.value.problem, caught.value.hint) == (problem, hint)
    assert str(caught.value) == f"{problem}; {hint}"


@pytest.mark.parametrize(("text", "dimension", "problem", "hint"), REFUSED)
def test_the_repair_is_itself_valid(text, dimension, problem, hint):
    suggestions = re.findall(r"'([^'_,]+)'", hint)
    assert suggestions or hint == "write digits without commas"
    for suggestion in suggestions:
        complete = suggestion if re.search("[0-9]", suggestion) else f"1 {suggestion}"
        assert math.isfinite(parse(complete, dimension))


@pytest.mark.parametrize(("text", "dimension", "problem", "hint"), REFUSED)
def test_schema_pattern_refuses_wrong_units(text, dimension, problem, hint):
    looser_on_numbers = ("finite", "'_'")
    if isinstance(text, str) and not any(word in problem for word in looser_on_numbers):
        assert not re.search(pattern(dimension), text)


def test_error_without_hint_and_through_pickle():
    assert str(UnitError("no")) == "no"
    copy = pickle.loads(pickle.dumps(UnitError("no", "yes")))  # noqa: S301
    assert (copy.problem, copy.hint) == ("no", "yes")


@pytest.mark.parametrize("due", DIMENSIONS)
@pytest.mark.parametrize("given_as", DIMENSIONS)
def test_no_dimension_passes_for_another(given_as, due):
    text = example(given_as)
    if given_as == due:
        assert re.search(pattern(due), text)
    elif (given_as, due) == ("count", "data"):
        assert parse(text, due) == 300  # `300B` is bytes here, as written
    else:
        assert not re.search(pattern(due), text)
        with pytest.raises(UnitError, match="is due"):
            parse(text, due)


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(sorted(SYMBOLS)))
def test_repr_of_any_float_reads_back(number, symbol):
    factor, dimension = SYMBOLS[symbol]
    if math.isfinite(number * factor):
        assert parse(f"{number!r} {symbol}", dimension) == pytest.approx(number * factor, rel=1e-14, abs=1e-300)


def assert_finite_or_explained(text, dimension):
    try:
        value = parse(text, dimension)
    except UnitError as caught:
        error = caught
    else:
        assert math.isfinite(value)
        assert parse_range(text, dimension) == (value, value)
        return
    assert error.hint
    assert not error.problem.endswith(".")


@given(st.text(max_size=20), st.sampled_from(sorted(DIMENSIONS)))
def test_any_text_is_a_finite_number_or_a_unit_error(text, dimension):
    assert_finite_or_explained(text, dimension)


@given(
    st.from_regex(r"[0-9]{1,3}[,._ ]?[0-9]{0,3} ?[kMGTBbsFLOPSUDhi/%$]{1,6}", fullmatch=True),
    st.sampled_from(sorted(DIMENSIONS)),
)
def test_text_close_to_valid_is_a_finite_number_or_a_unit_error(text, dimension):
    assert_finite_or_explained(text, dimension)


RANGES = [
    ("1.19 .. 5.12 USD/h", "money rate", (1.19 / 3600, 5.12 / 3600)),
    ("1.19 USD/h .. 5.12 USD/h", "money rate", (1.19 / 3600, 5.12 / 3600)),
    ("1.19 USD/h..5.12", "money rate", (1.19 / 3600, 5.12 / 3600)),
    ("1.19 .. $5.12/h", "money rate", (1.19 / 3600, 5.12 / 3600)),
    ("500 MB .. 2 GB", "data", (5e8, 2e9)),
    ("2.5 USD/h", "money rate", (2.5 / 3600, 2.5 / 3600)),
    ("0.3 .. 0.5", "fraction", (0.3, 0.5)),
    ("30 % .. 50 %", "fraction", (0.3, 0.5)),
    ("3 .. 3 s", "time", (3, 3)),
    (0.4, "fraction", (0.4, 0.4)),
]


@pytest.mark.parametrize(("text", "dimension", "expected"), RANGES)
def test_range(text, dimension, expected):
    assert parse_range(text, dimension) == pytest.approx(expected, rel=1e-15)
    if isinstance(text, str):
        assert re.search(pattern(dimension, ranges=True), text)
        assert bool(re.search(pattern(dimension), text)) == (".." not in text)


@pytest.mark.parametrize(
    ("text", "dimension", "problem", "hint"),
    [
        ("5 .. 1 s", "time", "'5 .. 1 s' runs from high to low", "write the smaller value first"),
        ("1 .. 2 .. 3 s", "time", "'1 .. 2 .. 3 s' has more than two ends", "write '<low> .. <high> <unit>'"),
        (
            "300 .. 500B",
            "count",
            "'300 .. 500B' has a unit at one end only",
            "write the unit at both ends or at neither",
        ),
        ("1 .. 2", "time", "'1' has no unit, but a time is due", "write e.g. '30 days'"),
        ("1 ..", "time", "the text is empty, but a time is due", "write e.g. '30 days'"),
        ("1 .. 2 GHz", "time", "'1 GHz' is a frequency, but a time is due", "write e.g. '30 days'"),
    ],
)
def test_range_refused(text, dimension, problem, hint):
    with pytest.raises(UnitError) as caught:
        parse_range(text, dimension)
    assert (caught.value.problem, caught.value.hint) == (problem, hint)


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_pattern_stays_within_the_syntax_shared_with_javascript(dimension):
    text = pattern(dimension, ranges=True)
    escapes = set(re.findall(r"\\(.)", text))
    assert escapes <= {"s", ".", "$"}
    assert "(?P" not in text
    assert "(?i" not in text
