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


@closed_form
def owned_price(
    purchase: Numeric,
    residual: Numeric,
    lifetime: Numeric,
    upkeep: Numeric,
    busy: Numeric,
    power: Numeric,
    pue: Numeric,
    electricity: Numeric,
) -> Numeric:
    """Price of an hour of one's own accelerator, as a rental price would be.

    p = (c (1 - v) / L + m c / y) / b + P u e

    Parameters
    ----------
    purchase : numeric
        Price c of an accelerator with its share of everything bought. [USD]
    residual : numeric
        Share v of it that is left at the end. [-]
    lifetime : numeric
        Time L over which it is written off. [s]
    upkeep : numeric
        Share m of the price that upkeep takes a year y. [-]
    busy : numeric
        Share b of the time that it is used. [-]
    power : numeric
        Draw P. [W]
    pue : numeric
        Power usage effectiveness u. [-]
    electricity : numeric
        Price e of electricity. [USD/J]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [USD/s]

    Notes
    -----
    Straight-line depreciation. Interest and people are not in it.

    References
    ----------
    .. [1] Barroso, Hoelzle and Ranganathan, "The Datacenter as a Computer", 3rd ed., 2018, chapter 6.
       https://doi.org/10.2200/S00874ED3V01Y201809CAC046
    """
    year = 365.25 * 86400.0
    return (purchase * (1.0 - residual) / lifetime + upkeep * purchase / year) / busy + power * pue * electricity


@closed_form
def per_trillion_tokens(cost: Numeric, tokens: Numeric) -> Numeric:
    """Cost of training on a trillion tokens.

    c = 1e12 C / D

    Parameters
    ----------
    cost : numeric
        Cost C of a run. [USD]
    tokens : numeric
        Its tokens D. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [USD]

    Notes
    -----
    Grows with the model: compare runs of one model.

    References
    ----------
    .. [1] DeepSeek-AI, "DeepSeek-V3 Technical Report", 2024, table 1. https://arxiv.org/abs/2412.19437
    """
    return 1e12 * cost / tokens
