"""Time between checkpoints: the rules of the field, all with one signature, and the exact optimum."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric


_STEPS = 30


def _root(share: Numeric) -> Numeric:
    """Return 1 + W0(-exp(-(1 + share))), which is the u with u = 1 - exp(-(u + share)).

    Newton's method on a convex function, from above: every step comes closer.
    """
    value = np.minimum(np.sqrt(-2.0 * np.expm1(-share)), 1.0)
    for _ in range(_STEPS):
        reached = -np.expm1(-(value + share))
        slope = np.where(reached > 0, reached, 1.0)  # of u - reached; 0 only where that is solved
        value = value - (value - reached) / slope
    return value


@closed_form
def young(stall: Numeric, mtbf: Numeric, restart: Numeric) -> Numeric:
    """Interval between saves by Young's rule.

    t = sqrt(2 d M)

    Parameters
    ----------
    stall : numeric
        Time d that training stands still for a save. [s]
    mtbf : numeric
        Mean time M between failures of the job. [s]
    restart : numeric
        Time R from a failure to training again. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. Time of training from the end of a save to the beginning of the next.
        [s]

    Notes
    -----
    First order: d far below M. The restart does not enter.

    References
    ----------
    .. [1] Young, "A first order approximation to the optimum checkpoint interval", 1974.
       https://doi.org/10.1145/361147.361115
    """
    return np.sqrt(2.0 * stall * mtbf) + 0.0 * restart


@closed_form
def daly_first_order(stall: Numeric, mtbf: Numeric, restart: Numeric) -> Numeric:
    """Interval between saves by Daly's first-order rule.

    t = sqrt(2 d (M + R)) - d

    Parameters
    ----------
    stall : numeric
        Time d that training stands still for a save. [s]
    mtbf : numeric
        Mean time M between failures of the job. [s]
    restart : numeric
        Time R from a failure to training again. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    d far below M. Not below 0.

    References
    ----------
    .. [1] Daly, "A Model for Predicting the Optimum Checkpoint Interval for Restart Dumps", ICCS 2003.
       https://doi.org/10.1007/3-540-44864-0_1
    """
    return np.maximum(np.sqrt(2.0 * stall * (mtbf + restart)) - stall, 0.0)


@closed_form
def daly(stall: Numeric, mtbf: Numeric, restart: Numeric) -> Numeric:
    """Interval between saves by Daly's higher-order rule.

    t = sqrt(2 d M) (1 + sqrt(d / 2M) / 3 + d / 18M) - d; M if d >= 2M

    Parameters
    ----------
    stall : numeric
        Time d that training stands still for a save. [s]
    mtbf : numeric
        Mean time M between failures of the job. [s]
    restart : numeric
        Time R from a failure to training again. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    Within 0.3 % of the exact optimum up to d = M / 3. The restart does not move it.

    Examples
    --------
    >>> round(float(daly(5.0, 1440.0, 10.0)))
    117

    References
    ----------
    .. [1] Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps", 2006.
       https://doi.org/10.1016/j.future.2004.11.016
    """
    half = stall / (2.0 * mtbf)
    series = np.sqrt(2.0 * stall * mtbf) * (1.0 + np.sqrt(half) / 3.0 + half / 9.0) - stall
    return np.where(half < 1.0, series, mtbf) + 0.0 * restart


@closed_form
def exact(stall: Numeric, mtbf: Numeric, restart: Numeric) -> Numeric:
    """Interval between saves that wastes least, failures being exponential.

    t = M (1 + W0(-exp(-(1 + d / M))))

    Parameters
    ----------
    stall : numeric
        Time d that training stands still for a save. [s]
    mtbf : numeric
        Mean time M between failures of the job. [s]
    restart : numeric
        Time R from a failure to training again. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    W0 is the principal branch of Lambert's function. Failures may strike during saves and restarts. Neither a
    restart nor the time until a save is durable moves the optimum. Infinite without failures.

    References
    ----------
    .. [1] Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps", 2006.
       https://doi.org/10.1016/j.future.2004.11.016
    """
    failing = np.isfinite(mtbf)
    mean = np.where(failing, mtbf, 1.0)
    return np.where(failing, mean * _root(stall / mean), np.inf) + 0.0 * restart


@closed_form
def most_available(stall: Numeric, mtbf: Numeric, restart: Numeric) -> Numeric:
    """Interval from save to save that maximises availability.

    t = d + sqrt(2 (M + R) d + d^2)

    Parameters
    ----------
    stall : numeric
        Time d that training stands still for a save. [s]
    mtbf : numeric
        Mean time M between failures of the job. [s]
    restart : numeric
        Time R from a failure to training again. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. Counted from the beginning of a save to that of the next. [s]

    Notes
    -----
    Counts the save in, unlike the other rules.

    References
    ----------
    .. [1] Saxena et al., 2024. https://arxiv.org/abs/2410.18124
    """
    return stall + np.sqrt(2.0 * (mtbf + restart) * stall + stall**2)


@closed_form
def tenth(stall: Numeric, mtbf: Numeric, restart: Numeric) -> Numeric:
    """Interval between saves by a rule of thumb of the field.

    t = M / 10

    Parameters
    ----------
    stall : numeric
        Time d that training stands still for a save. [s]
    mtbf : numeric
        Mean time M between failures of the job. [s]
    restart : numeric
        Time R from a failure to training again. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    Ignores what a save costs.

    References
    ----------
    .. [1] VAST Data, telemetry of 85,000 checkpoints, PDSW 2025.
       https://sc25.conference-program.com/presentation/?id=ws_pdswwip108&sess=sess202
    """
    return mtbf / 10.0 + 0.0 * stall + 0.0 * restart


@closed_form
def not_before(interval: Numeric, drain: Numeric, stall: Numeric) -> Numeric:
    """Interval between saves of which each must be durable before the next begins.

    t = max(t_0, b - d)

    Parameters
    ----------
    interval : numeric
        Interval t_0 that is wanted. [s]
    drain : numeric
        Time b from the beginning of a background write to its end. [s]
    stall : numeric
        Time d that training stands still for a save. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    Otherwise writes queue without end.

    References
    ----------
    .. [1] Mohan, Phanishayee and Chidambaram, "CheckFreq: Frequent, Fine-Grained DNN Checkpointing", FAST 2021.
       https://www.usenix.org/conference/fast21/presentation/mohan
    """
    return np.maximum(interval, drain - stall)


@closed_form
def at_most(interval: Numeric, duration: Numeric) -> Numeric:
    """Interval between saves that is not longer than the run.

    t = min(t_0, T)

    Parameters
    ----------
    interval : numeric
        Interval t_0 that is wanted. [s]
    duration : numeric
        Training time T of the run; unknown (NaN) is no limit. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    A run ends with a save.

    References
    ----------
    .. [1] Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps", 2006.
       https://doi.org/10.1016/j.future.2004.11.016
    """
    return np.fmin(interval, duration)
