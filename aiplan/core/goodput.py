"""From training time to wall-clock time: what saves, interruptions and restarts take."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric


def _grown(rate: Numeric, duration: Numeric) -> Numeric:
    """Return (exp(r t) - 1) / r: the mean time until t passes without an interruption; t itself if r is 0."""
    exponent = np.asarray(rate * duration, dtype=float)
    with np.errstate(over="ignore"):
        return duration * np.where(exponent > 0, np.expm1(exponent) / np.where(exponent > 0, exponent, 1.0), 1.0)


@closed_form
def ettr(rate: Numeric, interval: Numeric, stall: Numeric, restart: Numeric, drain: Numeric) -> Numeric:
    """Effective training time ratio, interruptions being exponential.

    E = r t exp(-r (u + b)) / (exp(r (t + w)) - 1)

    Parameters
    ----------
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
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Exact in the long run. Interruptions strike during saves and restarts too. What is not durable is lost: with
    background writes the save before. The first start, waiting for nodes and planned pauses are not in it.

    References
    ----------
    .. [1] Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps", 2006.
       https://doi.org/10.1016/j.future.2004.11.016
    """
    return np.exp(-rate * (restart + drain)) / _grown(rate, interval + stall) * interval


@closed_form
def save_stalls(duration: Numeric, interval: Numeric, stall: Numeric) -> Numeric:
    """Time of a run that saves take, those of lost work apart.

    s = T w / t

    Parameters
    ----------
    duration : numeric
        Time T of training without stalls and interruptions. [s]
    interval : numeric
        Time t of training between two saves. [s]
    stall : numeric
        Time w that training stands still for a save. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    Saves go on to the end.

    References
    ----------
    .. [1] Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps", 2006.
       https://doi.org/10.1016/j.future.2004.11.016
    """
    return duration * stall / interval


@closed_form
def planned_stops(duration: Numeric, every: Numeric, each: Numeric) -> Numeric:
    """Time that a run stands still for stops that are planned.

    s = T t / e

    Parameters
    ----------
    duration : numeric
        Running time T. [s]
    every : numeric
        Running time e from one stop to the next. [s]
    each : numeric
        Time t of one. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    A mean: stops are not whole numbers. A checkpoint is saved before each, so that no work is lost.

    Examples
    --------
    >>> planned_stops(720.0, 168.0, 7.0)
    30.0

    References
    ----------
    .. [1] Llama team, "The Llama 3 Herd of Models", 2024, section 3.3.4: 47 of 466 interruptions were planned.
       https://arxiv.org/abs/2407.21783
    """
    return duration * each / every


@closed_form
def interruptions_in_training(
    duration: Numeric, rate: Numeric, interval: Numeric, stall: Numeric, drain: Numeric
) -> Numeric:
    """Interruptions of a run that strike while it trains or saves.

    k = T exp(r b) (exp(r (t + w)) - 1) / t

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
    drain : numeric
        Time b from the end of a stall until the save is durable. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    A mean. Those during restarts are not in it.

    References
    ----------
    .. [1] Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps", 2006.
       https://doi.org/10.1016/j.future.2004.11.016
    """
    with np.errstate(over="ignore"):
        return duration / interval * np.exp(rate * drain) * rate * _grown(rate, interval + stall)


@closed_form
def lost_time(duration: Numeric, rate: Numeric, interval: Numeric, stall: Numeric, drain: Numeric) -> Numeric:
    """Time of a run spent on work that interruptions undo, with the stalls in it.

    l = T exp(r b) (exp(r (t + w)) - 1) / (r t) - T (1 + w / t)

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
    drain : numeric
        Time b from the end of a stall until the save is durable. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    About r T (t / 2 + w + b) where interruptions are rare.

    References
    ----------
    .. [1] Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps", 2006.
       https://doi.org/10.1016/j.future.2004.11.016
    """
    cycle = interval + stall
    with np.errstate(over="ignore"):
        return duration / interval * (np.exp(rate * drain) * _grown(rate, cycle) - cycle)


@closed_form
def two_level_ettr(near: Numeric, far: Numeric) -> Numeric:
    """Effective training time ratio with frequent saves close by, and rare ones that survive all interruptions.

    E = ettr(near) ettr(far), each with the rate of the interruptions that need it

    Parameters
    ----------
    near : numeric
        Ratio with near saves and the interruptions that they survive. [-]
    far : numeric
        Ratio with far saves and the other interruptions, its interval stretched by the near ones. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Takes the stretched interval as a fixed length: within 0.5 points of a simulation.

    References
    ----------
    .. [1] Moody et al., "Design, Modeling, and Evaluation of a Scalable Multi-level Checkpointing System", SC10.
       https://doi.org/10.1109/SC.2010.18
    """
    return near * far


@closed_form
def goodput(useful: Numeric, wall: Numeric) -> Numeric:
    """Share of the wall-clock time that is useful.

    g = T / W

    Parameters
    ----------
    useful : numeric
        Useful time T. [s]
    wall : numeric
        Wall-clock time W. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Steps that count over everything since the job began.

    Examples
    --------
    >>> goodput(15.0, 20.0)
    0.75

    References
    ----------
    .. [1] Google, "ML productivity goodput". https://github.com/AI-Hypercomputer/ml-goodput-measurement
    """
    return useful / wall


@closed_form
def restart_part(rate: Numeric, restart: Numeric, part: Numeric) -> Numeric:
    """Mean time that one part of a restart takes which interruptions strike too.

    t = p (exp(r u) - 1) / (r u)

    Parameters
    ----------
    rate : numeric
        Rate r of interruptions. [1/s]
    restart : numeric
        Time u of a restart that nothing strikes. [s]
    part : numeric
        Time p of one of its parts. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    Struck restarts are spread over the parts by their length, so that parts add up to (exp(r u) - 1) / r.

    References
    ----------
    .. [1] Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps", 2006.
       https://doi.org/10.1016/j.future.2004.11.016
    """
    return part * _grown(rate, 1.0 * restart) / np.where(np.asarray(restart) > 0, restart, 1.0)
