"""How far the wall-clock time of a run strays from its mean by chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric


@closed_form
def wall_time_deviation(
    duration: Numeric, rate: Numeric, interval: Numeric, stall: Numeric, restart: Numeric, drain: Numeric
) -> Numeric:
    """Spread of the wall-clock time of a run as a standard deviation, the rate being known.

    s = sqrt(n Var(X - W K + Y)), n cycles of a run X of K saves and a restart Y

    Parameters
    ----------
    duration : numeric
        Time T of training without stalls and interruptions. [s]
    rate : numeric
        Rate r of interruptions. [1/s]
    interval : numeric
        Time t of training between two saves. [s]
    stall : numeric
        Time w that training stands still for a save. [s]
    restart : numeric
        Time u from an interruption to training again. [s]
    drain : numeric
        Time b from the end of a stall until the save is durable. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    Central limit of renewals: many interruptions. How well the rate is known matters more.

    References
    ----------
    .. [1] Smith, "Renewal theory and its ramifications", 1958.
       https://doi.org/10.1111/j.2517-6161.1958.tb00294.x
    """
    cycle = interval + stall
    failing = np.asarray(rate) > 0
    per = np.where(failing, rate, 1.0 / (cycle + restart + drain))
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # a job that never reaches a save
        reached = np.exp(-per * cycle)  # chance that a run which ends a save ends the next
        first = np.exp(-per * drain)
        saves = first * reached / (1.0 - reached)
        saves_squared = saves * (1.0 + reached) / (1.0 - reached)
        # E[X K]: a run that makes save k lasts k cycles and the drain, and 1 / r more
        together = first * reached / (1.0 - reached) * (cycle / (1.0 - reached) + drain + 1.0 / per)
        restarts = np.exp(per * restart)
        waits = (restarts - 1.0) / per
        waits_variance = (restarts**2 - 1.0 - 2.0 * per * restart * restarts) / per**2
        price = (1.0 / per + waits) / saves  # wall-clock time for one save
        variance = 2.0 / per**2 - 2.0 * price * together + price**2 * saves_squared
        spread = variance - (1.0 / per - price * saves) ** 2 + waits_variance
        deviation = np.sqrt(np.maximum(duration / interval / saves * spread, 0.0))
    return np.where(failing, deviation, 0.0)


@closed_form
def combined_deviation(*deviations: Numeric) -> Numeric:
    """Spread of a sum of independent times as a standard deviation.

    s = sqrt(s_1^2 + s_2^2 + ...)

    Parameters
    ----------
    *deviations : numeric
        Standard deviation s_i of each. [s]

    Returns
    -------
    numeric
        Broadcast shape of the parts. [s]

    Notes
    -----
    Independent parts.

    References
    ----------
    .. [1] Smith, "Renewal theory and its ramifications", 1958. https://doi.org/10.1111/j.2517-6161.1958.tb00294.x
    """
    total = deviations[0] ** 2
    for deviation in deviations[1:]:
        total = total + deviation**2
    return np.sqrt(total)


@closed_form
def quantile(mean: Numeric, deviation: Numeric, normal: Numeric) -> Numeric:
    """Quantile of a time that is nearly normal.

    x = m + z s

    Parameters
    ----------
    mean : numeric
        Mean m. [s]
    deviation : numeric
        Standard deviation s. [s]
    normal : numeric
        Quantile z of the standard normal distribution. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    A sum of many interruptions; a run with few of them is skewed to longer times.

    References
    ----------
    .. [1] Smith, "Renewal theory and its ramifications", 1958. https://doi.org/10.1111/j.2517-6161.1958.tb00294.x
    """
    return mean + normal * deviation
