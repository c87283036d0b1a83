"""Money."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric


@closed_form
def rental_cost(accelerators: Numeric, duration: Numeric, price: Numeric) -> Numeric:
    """Cost of renting accelerators for a while.

    c = g t p

    Parameters
    ----------
    accelerators : numeric
        Accelerators g. [-]
    duration : numeric
        Time t. [s]
    price : numeric
        Price p per accelerator and second. [USD/s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [USD]

    Notes
    -----
    Storage, egress and people are not in it.

    References
    ----------
    .. [1] DeepSeek-AI, "DeepSeek-V3 Technical Report", 2024, table 1. https://arxiv.org/abs/2412.19437
    """
    return accelerators * duration * price


@closed_form
def electricity_cost(energy: Numeric, price: Numeric) -> Numeric:
    """Cost of electricity.

    c = E p

    Parameters
    ----------
    energy : numeric
        Energy E. [J]
    price : numeric
        Price p. [USD/J]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [USD]

    Notes
    -----
    Contained in a rental price already; of interest to those who own.

    References
    ----------
    .. [1] Barroso, Hoelzle and Ranganathan, "The Datacenter as a Computer", 3rd ed., 2018, chapter 6.
       https://doi.org/10.2200/S00874ED3V01Y201809CAC046
    """
    return energy * price
