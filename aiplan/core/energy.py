"""Energy and carbon."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric


@closed_form
def drawn_energy(count: Numeric, power: Numeric, duration: Numeric) -> Numeric:
    """Energy that a number of equal things draw in a time.

    E = n P t

    Parameters
    ----------
    count : numeric
        Accelerators n. [-]
    power : numeric
        Draw P of each, or of what belongs to it. [W]
    duration : numeric
        Time t. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [J]

    Notes
    -----
    P is a mean over the time.

    References
    ----------
    .. [1] Patterson et al., "Carbon Emissions and Large Neural Network Training", 2021.
       https://arxiv.org/abs/2104.10350
    """
    return count * power * duration


@closed_form
def waiting_power(power: Numeric, share: Numeric) -> Numeric:
    """Draw of an accelerator that does not compute.

    P_w = P f

    Parameters
    ----------
    power : numeric
        Draw P of one that does. [W]
    share : numeric
        Share f of that: larger while its kernels wait in a collective than without a process. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [W]

    Notes
    -----
    One that computes draws close to its rated power in large matmuls, less in memory-bound kernels.

    References
    ----------
    .. [1] Patel et al., "Characterizing Power Management Opportunities for LLMs in the Cloud", ASPLOS 2024.
       https://doi.org/10.1145/3620666.3651329
    """
    return power * share


@closed_form
def beside_power(rated: Numeric, devices: Numeric, share: Numeric) -> Numeric:
    """Draw of a node beside its accelerators: processors, memory, fans, adapters.

    P = s max(P_n - P_d, 0)

    Parameters
    ----------
    rated : numeric
        Printed maximum P_n of the node, or of the share of one accelerator in it. [W]
    devices : numeric
        Rated power P_d of its accelerators. [W]
    share : numeric
        Share s of the rest that training draws; 1 for the maximum. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [W]

    Notes
    -----
    A node of eight H100 rated 10.2 kW drew 8.4 kW at most with all accelerators near their 700 W: s = 0.61.

    Examples
    --------
    >>> float(round(beside_power(10200.0, 5600.0, 0.6), 6))
    2760.0

    References
    ----------
    .. [1] Latif et al., "Single-Node Power Demand During AI Training: Measurements on an 8-GPU NVIDIA H100 System",
       2025. https://arxiv.org/abs/2412.08602
    """
    return share * np.maximum(rated - devices, 0.0)


@closed_form
def fabric_power(switches: Numeric, each: Numeric, cables: Numeric, module: Numeric, accelerators: Numeric) -> Numeric:
    """Draw of switches and optical modules, per accelerator.

    P = (s P_s + 2 k P_m) / g

    Parameters
    ----------
    switches : numeric
        Switches s between the nodes. [-]
    each : numeric
        Draw P_s of one. [W]
    cables : numeric
        Cables k that are optical, one module at each end. [-]
    module : numeric
        Draw P_m of a module. [W]
    accelerators : numeric
        Accelerators g that they join. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [W]

    Notes
    -----
    Constant: links stay up whether they carry traffic or not. Copper in the rack draws next to nothing.

    References
    ----------
    .. [1] NVIDIA, "DGX SuperPOD: cabling data centers design guide", port power.
       https://docs.nvidia.com/dgx-superpod/design-guide-cabling-data-centers/latest/port-power.html
    """
    return (switches * each + 2.0 * cables * module) / accelerators


@closed_form
def cooling_energy(energy: Numeric, pue: Numeric) -> Numeric:
    """Energy for cooling and power conversion.

    E_c = E (u - 1)

    Parameters
    ----------
    energy : numeric
        Energy E that machines draw. [J]
    pue : numeric
        Power usage effectiveness u: facility over IT power. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [J]

    Notes
    -----
    A mean over the year; summers are worse.

    References
    ----------
    .. [1] Barroso, Hoelzle and Ranganathan, "The Datacenter as a Computer", 3rd ed., 2018, chapter 5.
       https://doi.org/10.2200/S00874ED3V01Y201809CAC046
    """
    return energy * (pue - 1.0)


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
