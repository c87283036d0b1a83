"""Energy and carbon."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric


@closed_form
def training_energy(accelerators: Numeric, power: Numeric, pue: Numeric, duration: Numeric) -> Numeric:
    """Energy that a facility draws for a job.

    E = g P u t

    Parameters
    ----------
    accelerators : numeric
        Accelerators g. [-]
    power : numeric
        Draw P per accelerator with its share of the node. [W]
    pue : numeric
        Power usage effectiveness u: facility over IT power. [-]
    duration : numeric
        Time t. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [J]

    Notes
    -----
    Constant draw. A node's printed maximum is above what training draws on average.

    References
    ----------
    .. [1] Patterson et al., "Carbon Emissions and Large Neural Network Training", 2021.
       https://arxiv.org/abs/2104.10350
    """
    return accelerators * power * pue * duration


@closed_form
def emitted_carbon(energy: Numeric, intensity: Numeric) -> Numeric:
    """Carbon dioxide equivalent emitted for an amount of electricity.

    m = E i

    Parameters
    ----------
    energy : numeric
        Energy E. [J]
    intensity : numeric
        Carbon intensity i. [kg/J]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [kg]

    Notes
    -----
    Operation only: making the hardware is not in it.

    References
    ----------
    .. [1] Patterson et al., "Carbon Emissions and Large Neural Network Training", 2021.
       https://arxiv.org/abs/2104.10350
    """
    return energy * intensity


@closed_form
def waiting_energy(accelerators: Numeric, power: Numeric, share: Numeric, pue: Numeric, duration: Numeric) -> Numeric:
    """Energy that a facility draws while a job waits.

    E = g P f u t

    Parameters
    ----------
    accelerators : numeric
        Accelerators g. [-]
    power : numeric
        Draw P per accelerator with its share of the node, in training. [W]
    share : numeric
        Share f of that which waiting draws. [-]
    pue : numeric
        Power usage effectiveness u: facility over IT power. [-]
    duration : numeric
        Time t. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [J]

    Notes
    -----
    Ranks that spin in a collective draw more than ranks without work.

    References
    ----------
    .. [1] Patterson et al., "Carbon Emissions and Large Neural Network Training", 2021.
       https://arxiv.org/abs/2104.10350
    """
    return accelerators * power * share * pue * duration


@closed_form
def facility_power(accelerators: Numeric, power: Numeric, pue: Numeric) -> Numeric:
    """Power that a facility must provide for a job.

    P_f = g P u

    Parameters
    ----------
    accelerators : numeric
        Accelerators g, spares included. [-]
    power : numeric
        Draw P per accelerator with its share of the node. [W]
    pue : numeric
        Power usage effectiveness u. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [W]

    Notes
    -----
    With a node's printed maximum for P it is a peak.

    References
    ----------
    .. [1] Barroso, Hoelzle and Ranganathan, "The Datacenter as a Computer", 3rd ed., 2018, chapter 5.
       https://doi.org/10.2200/S00874ED3V01Y201809CAC046
    """
    return accelerators * power * pue
