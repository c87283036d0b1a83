"""Energy by who draws it, against what was measured in nodes and published of trainings."""

import numpy as np
import pytest

from aiplan.core import energy
from aiplan.engine.tree import ENERGY
from aiplan.planning.estimate import estimate

from .cases import HOURS, LUSTRE, PLAIN, RUN


def drawn(one, share):
    """Return the mean draw of a node per accelerator that computes for a share of the time [W]."""
    device, waits = one.given("cluster.device_power"), one.given("cluster.waiting_share")
    return device * (share + waits * (1.0 - share)) + one.given("cluster.node_power")


def test_parts_add_up_and_have_places(of):
    answer = of(storage=LUSTRE, checkpoint={}, reliability={"mtbf": "8 h", "spares": 2})
    for root in ("run", "total"):
        parts = [answer[name] for name in ENERGY[f"{root}.energy"].children]
        assert sum(parts) == pytest.approx(answer[f"{root}.energy"], rel=1e-12)
        assert all(part >= 0 for part in parts)
        assert answer[f"{root}.energy.cooling"] == pytest.approx(
            (answer.given("cluster.pue") - 1) * sum(parts[:-1]), rel=1e-12
        )
    assert answer["run.energy.idle"] == 0
    assert answer["total.energy"] > answer["run.energy"]


def test_step_by_step(of):
    """Every interval of time by itself, each accelerator in one of three states."""
    answer = of(reliability={"mtbf": "5 h", "spares": 1}, checkpoint={"mode": "sync"})
    gpus, spares, device = 256, 8, answer.given("cluster.device_power")
    computes = (answer["step.compute"] + answer["step.optimizer"]) / (answer["step"] - answer["step.loading"])
    trains = answer["wallclock.steps"] + answer["wallclock.lost"]
    waits = trains * (1 - computes) + answer["wallclock.saves"]
    idles = answer["wallclock.restarts"] + answer["wallclock.nodes"] + answer["wallclock.startup"]
    assert trains + answer["wallclock.saves"] + idles == pytest.approx(answer["wallclock"], rel=1e-12)
    job = gpus * device * (trains * computes + 0.5 * waits + 0.13 * idles)
    standing = spares * 0.13 * device * answer["wallclock"]
    around = (gpus + spares) * (answer.given("cluster.node_power") + answer.given("cluster.network_power"))
    machines = job + standing + around * answer["wallclock"]
    assert answer["total.energy"] == pytest.approx(machines * answer.given("cluster.pue"), rel=1e-9)
    assert answer["total.carbon"] == pytest.approx(
        answer["total.energy"] * answer.given("cluster.carbon_intensity"), rel=1e-12
    )


def test_a_node_of_h100_that_trains(of):
    """Measured: 8.4 kW at most, and 76 % of the rated 10.2 kW where the load is heavy.

    https://arxiv.org/abs/2412.08602, https://arxiv.org/abs/2506.14551: the first one set the share of what is beside
    the accelerators, the second did not.
    """
    answer = of()
    assert 8 * drawn(answer, 1.0) == pytest.approx(8400, rel=0.01)
    computes = (answer["step.compute"] + answer["step.optimizer"]) / answer["step"]
    assert 8 * drawn(answer, computes) == pytest.approx(0.76 * 10200, rel=0.05)


def test_a_v100_that_trains_gpt_3(ask):
    """330 W per accelerator with its share of the system: https://arxiv.org/abs/2104.10350, table 4."""
    tree = PLAIN | {
        "model": "gpt3-175b",
        "workload": {"tokens": "300e9", "sequence_length": 2048, "global_batch": 1536, "precision": "fp16"},
        "cluster": {"node": "dgx-1v", "nodes": 1024},
        "plan": {"tensor": 8, "pipeline": 32, "recompute": "full"},
    }
    answer = ask.planned(tree)
    computes = (answer["step.compute"] + answer["step.optimizer"]) / answer["step"]
    assert drawn(answer, computes) == pytest.approx(330, rel=0.1)


def test_the_network_is_what_its_switches_and_modules_draw(of):
    """Two-tier fat-tree of 64 ports for 256 ports: 8 + 4 switches, and cables outside of racks with modules."""
    named = of(cluster=PLAIN["cluster"] | {"network": {"switch": "qm9700-ndr"}})
    optical = 256  # from leaves to spines
    expected = (12 * 747 + 2 * optical * 8) / 256
    assert named.given("cluster.network_power") == pytest.approx(expected, rel=0.01)
    unnamed = of()
    assert unnamed.given("cluster.network_power") == pytest.approx(expected, rel=0.01)
    assert of(cluster={"node": "dgx-h100", "nodes": 1}, plan={"tensor": 8}).given("cluster.network_power") == 0


def test_the_facility_provides_the_most_of_everything(of):
    answer = of(reliability={"spares": 2})
    most = answer.given("cluster.power")
    assert most > 10200 / 8
    assert answer["total.power"] == pytest.approx((256 + 16) * most * answer.given("cluster.pue"))
    assert answer["run.power"] == pytest.approx(256 * most * answer.given("cluster.pue"))
    assert answer["total.energy"] / answer["wallclock"] < answer["total.power"]


def test_a_draw_that_is_given_is_that_of_training(of):
    answer = of(cluster=PLAIN["cluster"] | {"power": "1.5 kW"})
    assert answer["run.energy"] == pytest.approx(256 * 1500 * answer["run.time_to_train"])
    assert answer.given("cluster.pue") == 1.0
    cooled = of(cluster=PLAIN["cluster"] | {"power": "1.5 kW", "pue": 1.3})
    assert cooled["run.energy"] == pytest.approx(1.3 * answer["run.energy"])


def test_a_region_has_its_own_facility(of):
    assert of(cluster=PLAIN["cluster"] | {"region": "gcp-us-central1"}).given("cluster.pue") == 1.1
    assert of().given("cluster.pue") == 1.2


def test_more_communication_draws_less_power_and_more_energy(of):
    fast, slow = of(), of(cluster=PLAIN["cluster"] | {"network": {"oversubscription": 8}})
    assert slow["step"] > fast["step"]
    power = [one["run.energy.computing"] / one["run.time_to_train"] for one in (fast, slow)]
    assert power[1] < power[0]
    machines = [sum(one[f"run.energy.{part}"] for part in ("computing", "waiting", "nodes")) for one in (fast, slow)]
    assert machines[1] > machines[0]
    assert slow["run.energy.network"] < 1.2 * fast["run.energy.network"]  # longer, with fewer switches


def test_nothing_beside_a_node_that_is_rated_below_its_accelerators():
    assert float(energy.beside_power(1000.0, 1200.0, 0.6)) == 0.0
    assert np.all(energy.beside_power(np.array([2000.0, 3000.0]), 1000.0, 0.5) == [500.0, 1000.0])


def test_steps_alone_and_an_ideal_run_agree(ask):
    plain, ideal = (
        ask.planned(PLAIN),
        ask.planned(RUN | dict.fromkeys(("storage", "checkpoint", "reliability"), "none")),
    )
    assert ideal["total.energy"] == pytest.approx(plain["run.energy"], rel=1e-12)
    assert ideal["total.power"] == plain["run.power"]


def test_unknown_power_is_unknown_energy(ask):
    scenario, _ = ask.resolved(PLAIN)
    values = dict(scenario.values)
    values["cluster.device_power"] = values["cluster.device_power"]._replace(number=float("nan"))
    answer = estimate([scenario._replace(values=values)])[0]
    assert np.isnan(answer["run.energy"])
    assert np.isfinite(answer["run.cost"])


def test_hours_of_restarts_draw_what_idle_nodes_do(of):
    calm, rough = of(reliability={}), of(reliability={"mtbf": "2 h"})
    more = rough["total.energy.idle"] - calm["total.energy.idle"]
    hours = (rough["wallclock.restarts"] - calm["wallclock.restarts"]) / HOURS
    assert more / 3.6e6 == pytest.approx(256 * 0.7 * 0.13 * hours, rel=0.01)
