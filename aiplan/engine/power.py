"""Energy by who draws it, carbon, the price of electricity, and the power that the facility must provide."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.core import compose, cost, energy
from aiplan.engine.tree import ENERGY, RUN_TREE, TREE, add_up

if TYPE_CHECKING:
    from aiplan.core.arrays import Array
    from aiplan.engine.inputs import Inputs
    from aiplan.engine.run_inputs import RunInputs

COMPUTES = ("step.compute", "step.optimizer")
"""Parts of a step in which accelerators compute; in the others they wait for each other, the network or the host."""
TRAINS = ("wallclock.steps", "wallclock.evaluation", "wallclock.lost")
"""Parts of the wall clock that are steps, whether they count or not."""
HOLDS = ("wallclock.loading", "wallclock.saves")
"""Parts in which the processes of a job wait; in all others there are none."""


def energy_terms(values: Inputs, run: RunInputs | None, terms: dict[str, Array]) -> dict[str, Array]:
    """Energy, carbon and peak power: of steps alone, and of the run as a whole if a scenario speaks of it."""
    steps, share = terms["run.time_to_train"], computing_share(terms)
    times = {
        "busy": compose.product(steps, share),
        "held": compose.product(steps, compose.rest(share)),
        "idle": 0.0,
        "whole": steps,
    }
    found = _named("run", values, times)
    found["run.electricity"] = cost.electricity_cost(found["run.energy"], values.cluster.electricity_price)
    if run is None:
        return found
    trains = compose.summed(*(terms[name] for name in TRAINS))
    holds = compose.summed(*(terms[name] for name in HOLDS))
    rest = [name for name in RUN_TREE["wallclock"].children if name not in (*TRAINS, *HOLDS)]
    times = {
        "busy": compose.product(trains, share),
        "held": compose.summed(compose.product(trains, compose.rest(share)), holds),
        "idle": compose.summed(*(terms[name] for name in rest)),
        "whole": terms["wallclock"],
    }
    spares = compose.product(run.reliability.spares, values.cluster.accelerators_per_node)
    return found | _named("total", values, times, spares)


def computing_share(terms: dict[str, Array]) -> Array:
    """Return the share of a step, waiting for data not counted, in which accelerators compute."""
    whole = compose.summed(*(terms[name] for name in TREE["step"].children if name != "step.loading"))
    share: Array = compose.quotient(compose.summed(*(terms[name] for name in COMPUTES)), whole)
    return share


def _named(root: str, values: Inputs, times: dict[str, Array | float], spares: Array | float = 0.0) -> dict[str, Array]:
    """Return the energy of a run by who draws it, from times in which accelerators compute, wait, or have no process.

    Spare nodes stand by the whole time, and accelerators of theirs have no process.
    """
    cluster = values.cluster
    device, present = cluster.device_power, compose.summed(cluster.accelerators, spares)
    waiting, idle = (energy.waiting_power(device, share) for share in (cluster.waiting_share, cluster.idle_share))
    job = cluster.accelerators
    standing = energy.drawn_energy(spares, idle, times["whole"])
    leaves = {
        f"{root}.energy.computing": energy.drawn_energy(job, device, times["busy"]),
        f"{root}.energy.waiting": energy.drawn_energy(job, waiting, times["held"]),
        f"{root}.energy.idle": compose.summed(energy.drawn_energy(job, idle, times["idle"]), standing),
        f"{root}.energy.nodes": energy.drawn_energy(present, cluster.node_power, times["whole"]),
        f"{root}.energy.network": energy.drawn_energy(present, cluster.network_power, times["whole"]),
    }
    machines = compose.summed(*leaves.values())
    leaves[f"{root}.energy.cooling"] = energy.cooling_energy(machines, cluster.pue)
    found = add_up(leaves, {f"{root}.energy": ENERGY[f"{root}.energy"]})
    return found | {
        f"{root}.carbon": energy.emitted_carbon(found[f"{root}.energy"], cluster.carbon_intensity),
        f"{root}.power": energy.facility_power(present, cluster.power, cluster.pue),
    }
