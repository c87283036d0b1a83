"""Failures: rates by scale, spare nodes, waiting for repair."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric


def _spares(nodes: float, available: float, probability: float) -> float:
    """Return the fewest spares for one case, adding up the binomial distribution."""
    away = min(max(1.0 - available, 0.0), 1.0)
    most = int(nodes) + 50
    for spares in range(most):
        term = (1.0 - away) ** (nodes + spares)
        total = term
        for count in range(1, spares + 1):
            term *= (nodes + spares - count + 1) / count * away / max(1.0 - away, 1e-300)
            total += term
        if total >= probability:
            return float(spares)
    return float(most)


@closed_form
def observed_rate(interruptions: Numeric, parts: Numeric, duration: Numeric) -> Numeric:
    """Rate of interruptions of one part, from those that a system of many had.

    r = k / (n t)

    Parameters
    ----------
    interruptions : numeric
        Interruptions k seen. [-]
    parts : numeric
        Nodes or accelerators n of the job. [-]
    duration : numeric
        Time t watched. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [1/s]

    Notes
    -----
    Cannot tell a new fleet from a settled one: 30-day means move sevenfold in one cluster.

    References
    ----------
    .. [1] Llama team, "The Llama 3 Herd of Models", 2024, section 3.3.4. https://arxiv.org/abs/2407.21783
    """
    return interruptions / (parts * duration)


@closed_form
def rate(mtbf: Numeric) -> Numeric:
    """Rate of interruptions from the mean time between them.

    r = 1 / M

    Parameters
    ----------
    mtbf : numeric
        Mean time M between interruptions. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [1/s]

    Notes
    -----
    Infinite M is no interruptions.

    References
    ----------
    .. [1] Kokolis et al., "Revisiting Reliability in Large-Scale Machine Learning Research Clusters", 2024.
       https://arxiv.org/abs/2410.21680
    """
    return 1.0 / mtbf


@closed_form
def job_rate(parts: Numeric, each: Numeric, exponent: Numeric, reference: Numeric) -> Numeric:
    """Rate of interruptions of a job.

    r = n r_1 max(1, n / n_0)^(a - 1)

    Parameters
    ----------
    parts : numeric
        Nodes or accelerators n of the job. [-]
    each : numeric
        Rate r_1 of one. [1/s]
    exponent : numeric
        Growth a with size beyond n_0: 1 is linear, parts failing apart. [-]
    reference : numeric
        Size n_0 up to which failures add up. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [1/s]

    Notes
    -----
    One failed part stops the job. Linear holds up to 16,384 accelerators; published figures for 100,000 are 2.8
    times that.

    References
    ----------
    .. [1] Kokolis et al., "Revisiting Reliability in Large-Scale Machine Learning Research Clusters", 2024.
       https://arxiv.org/abs/2410.21680
    """
    return parts * each * np.maximum(parts / reference, 1.0) ** (exponent - 1.0)


@closed_form
def expected_interruptions(rate: Numeric, duration: Numeric) -> Numeric:
    """Interruptions to expect in a time.

    k = r t

    Parameters
    ----------
    rate : numeric
        Rate r of the job. [1/s]
    duration : numeric
        Time t, restarts included. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    A mean: counts spread as Poisson's, or wider.

    References
    ----------
    .. [1] Llama team, "The Llama 3 Herd of Models", 2024, section 3.3.4. https://arxiv.org/abs/2407.21783
    """
    return rate * duration


@closed_form
def availability(mtbf: Numeric, repair: Numeric) -> Numeric:
    """Share of the time that a part is up.

    a = M / (M + T)

    Parameters
    ----------
    mtbf : numeric
        Mean time M between failures of one. [s]
    repair : numeric
        Mean time T until it is back. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Long-run mean.

    References
    ----------
    .. [1] Kokolis et al., "Revisiting Reliability in Large-Scale Machine Learning Research Clusters", 2024.
       https://arxiv.org/abs/2410.21680
    """
    return mtbf / (mtbf + repair)


@closed_form
def spares_needed(nodes: Numeric, available: Numeric, probability: Numeric) -> Numeric:
    """Fewest spare nodes with which enough are up with a probability.

    s = min s: P(Binomial(n + s, 1 - a) <= s) >= p

    Parameters
    ----------
    nodes : numeric
        Nodes n that a job needs. [-]
    available : numeric
        Share a of the time that a node is up. [-]
    probability : numeric
        Probability p, below 1. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. At most n + 50, from where on more is the wrong remedy. [-]

    Notes
    -----
    Nodes fail apart from each other; at a moment, not over a run.

    References
    ----------
    .. [1] Kokolis et al., "Revisiting Reliability in Large-Scale Machine Learning Research Clusters", 2024.
       https://arxiv.org/abs/2410.21680
    """
    return np.vectorize(_spares, otypes=[float])(nodes, available, probability)


@closed_form
def blocking(servers: Numeric, load: Numeric) -> Numeric:
    """Probability that all servers are busy, or that all spares are away.

    B(0) = 1; B(s) = a B(s - 1) / (s + a B(s - 1))

    Parameters
    ----------
    servers : numeric
        Servers s. [-]
    load : numeric
        Load a: arrivals per mean time of service. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Erlang's loss formula: whole numbers of servers.

    References
    ----------
    .. [1] Erlang, "Solution of some problems in the theory of probabilities of significance in automatic telephone
       exchanges", 1917; ITU-D, "Teletraffic engineering handbook", chapter 7.
       https://www.itu.int/dms_pub/itu-d/opb/stg/D-STG-SG02.16.1-2001-PDF-E.pdf
    """
    blocked = np.ones_like(servers + load, dtype=float)
    for count in range(1, int(np.max(servers)) + 1):
        blocked = np.where(count <= np.asarray(servers), load * blocked / (count + load * blocked), blocked)
    return blocked


@closed_form
def spare_wait(spares: Numeric, rate: Numeric, repair: Numeric) -> Numeric:
    """Mean time that a failed job waits for a node.

    t = B / (r (1 - B)), B = blocking(s + 1, r T)

    Parameters
    ----------
    spares : numeric
        Spare nodes s. [-]
    rate : numeric
        Rate r at which the job loses nodes. [1/s]
    repair : numeric
        Mean time T until a lost node is back. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. Over all failures, waiting or not. [s]

    Notes
    -----
    Failed nodes become spares when repaired, all repairs at once. The job stands while s + 1 are away. Without
    spares it is T.

    References
    ----------
    .. [1] Erlang, "Solution of some problems in the theory of probabilities of significance in automatic telephone
       exchanges", 1917; ITU-D, "Teletraffic engineering handbook", chapter 7.
       https://www.itu.int/dms_pub/itu-d/opb/stg/D-STG-SG02.16.1-2001-PDF-E.pdf
    """
    blocked = blocking(spares + 1.0, rate * repair)
    failing = np.asarray(rate) > 0
    return np.where(failing, blocked / (np.where(failing, rate, 1.0) * (1.0 - blocked)), 0.0)


@closed_form
def time_between(rate: Numeric) -> Numeric:
    """Mean time between interruptions from their rate.

    M = 1 / r

    Parameters
    ----------
    rate : numeric
        Rate r of interruptions. [1/s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    Infinite without interruptions.

    References
    ----------
    .. [1] Kokolis et al., "Revisiting Reliability in Large-Scale Machine Learning Research Clusters", 2024.
       https://arxiv.org/abs/2410.21680
    """
    failing = np.asarray(rate) > 0
    return np.where(failing, 1.0 / np.where(failing, rate, 1.0), np.inf)
