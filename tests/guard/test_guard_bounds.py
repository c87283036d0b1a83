"""Files beyond all measure are refused in words, soon, and without holding all of them."""

import pytest

from aiplan.declare import Diagnostics, InputError, diagnostics, source
from aiplan.declare.build import LEAST, MOST, MOST_COUNTED
from aiplan.declare.diagnostics import LONGEST
from aiplan.scenario.legality import divisors, spread

GOOD = "clusters/good.yaml"


def refused(done):
    assert done.code == 2
    assert "internal error" not in done.err
    assert "error[AIP" in done.err
    return done.err


@pytest.mark.parametrize("arguments", [("check",), ("estimate",), ("check", GOOD, "--policy"), ("diff", GOOD)])
def test_a_file_of_many_bytes(run, folder, arguments):
    with (folder / "big.yaml").open("wb") as file:
        file.write(b"workload: 1\n#")
        file.truncate(100_000_000)
    assert "'big.yaml' is larger than 16 MiB" in refused(run(*arguments, "big.yaml"))


def test_a_file_of_many_values(monkeypatch):
    assert 100_000 <= source.MAX_VALUES <= 1_000_000
    monkeypatch.setattr(source, "MAX_VALUES", 1_000)
    with pytest.raises(InputError, match="holds more than 1,000 values"):
        source.read("workload: [" + "1," * 1_000 + "1]", "x.yaml", Diagnostics())
    assert len(source.read("[" + "1," * 997 + "1]", "x.yaml").items) == 998


def test_a_file_of_many_errors(run, folder, monkeypatch):
    assert diagnostics.MAX_ERRORS == 1_000
    monkeypatch.setattr(diagnostics, "MAX_ERRORS", 30)
    (folder / "x.yaml").write_text("workload: {}\n" + "".join(f"wrk{n}: 1\n" for n in range(200)), encoding="utf-8")
    err = refused(run("check", "x.yaml"))
    assert err.count("error[") == 30
    assert err.rstrip().endswith("30 errors in 1 file; there may be more")


def test_a_long_value_is_not_told_in_full(run, folder):
    (folder / "x.yaml").write_text("workload: " + "x" * 1_000_000 + "\n", encoding="utf-8")
    err = refused(run("check", "x.yaml"))
    assert len(err) < 10 * LONGEST
    assert "xx ... xx" in err


@pytest.mark.parametrize("name", ["model", "software", "cluster.node", "storage", "cluster.region"])
@pytest.mark.parametrize("text", ["x" * 5000, "x" * 300 + ".yaml", "a/" * 3000, "nul\\u0000"])
def test_a_name_that_no_file_can_have(run, name, text):
    refused(run("check", GOOD, "--set", f'{name}="{text}"'))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("workload.sequence_length=1e308", "is beyond"),
        (f"workload.global_batch={MOST_COUNTED + 1}", "is beyond 1e+15"),
        ("plan.pipeline=4611686018427387904", "is beyond"),
        ("cluster.price=1e300 USD/h", "is beyond"),
        ("cluster.pue=1e31", "is beyond 1e+30"),
        ("cluster.network.oversubscription=1e12", "is above the maximum 1000"),
        ("cluster.price=1e-300 USD/h", "is not 0, and closer to it than 1e-30"),
    ],
)
def test_magnitudes_without_meaning(run, change, said):
    assert said in refused(run("check", GOOD, "--set", change))


def test_magnitudes_at_the_edge_are_taken():
    assert MOST_COUNTED**2 <= MOST < 1e300
    assert pytest.approx(1) == LEAST * MOST


@pytest.mark.parametrize("stages", [9, 10, 99])
def test_the_hint_of_an_uneven_split_is_a_split(run, stages):
    err = refused(run("check", GOOD, "--set", f"plan.pipeline={stages}", "--set", "plan.tensor=1"))
    parts = [str(part) for part in spread(32, stages)]
    assert f"e.g. [{', '.join(parts[:3])}, ..., {parts[-1]}]" in err


def test_a_huge_batch_has_a_near_legal_one(run):
    """Interleaving needs rounds: the nearest batch is worked out, not looked for among all."""
    changes = ("plan={pipeline: 4, tensor: 8, interleave: 2}", "workload.global_batch=999999999998")
    err = refused(run("check", GOOD, *(text for change in changes for text in ("--set", change))))
    assert "nearest: global_batch 999999999996, 1000000000000; or interleave 1" in err


@pytest.mark.parametrize("number", [1, 2, 12, 97, 1024, 3600, 999_983, 720_720])
def test_divisors(number):
    assert divisors(number) == [one for one in range(1, number + 1) if number % one == 0]


def test_divisors_of_huge_numbers_come_soon():
    assert divisors(10**15)[:6] == [1, 2, 4, 5, 8, 10]
    assert len(divisors(10**15)) == 16 * 16
    assert divisors(999_999_999_999_989) == [1, 999_999_999_999_989]
