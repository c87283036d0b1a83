"""Communication that changes over a training: less often, in another precision, in another part of the network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric


@closed_form
def mean_over_local_steps(each: Numeric, every: Numeric) -> Numeric:
    """Mean time per step of something that is done only every few steps.

    t = t_1 / k

    Parameters
    ----------
    each : numeric
        Time t_1 of one time. [s]
    every : numeric
        Steps k from one time to the next; 1 is every step. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    Local SGD: ranks take k steps on their own and average their weights. It is another algorithm: how many more steps
    it needs is not said here. Only where every rank holds the whole optimizer.

    References
    ----------
    .. [1] Stich, "Local SGD Converges Fast and Communicates Little", ICLR 2019. https://arxiv.org/abs/1805.09767
    """
    return each / every


@closed_form
def phased_mean(first: Numeric, last: Numeric, last_share: Numeric) -> Numeric:
    """Mean per step of a quantity that is one in the first part of a training and another in the last.

    x = (1 - w) x_1 + w x_2

    Parameters
    ----------
    first : numeric
        Value x_1 per step in the first part. [-]
    last : numeric
        Value x_2 per step in the last part, in the unit of the first. [-]
    last_share : numeric
        Share w of the steps in the last part. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs, in their unit. [-]

    Notes
    -----
    For bytes and times alike. A precision that is raised late: x_1 compressed, x_2 not. The warm-up of 1-bit Adam: the
    other way round.

    References
    ----------
    .. [1] Tang et al., "1-bit Adam: Communication Efficient Large-Scale Training with Adam's Convergence Speed",
       ICML 2021. https://arxiv.org/abs/2102.02888
    """
    return (1.0 - last_share) * first + last_share * last


@closed_form
def hierarchical_mean_time(inside: Numeric, outside: Numeric, inside_every: Numeric, outside_every: Numeric) -> Numeric:
    """Mean time per step of a reduction in two levels that are not done equally often.

    t = t_in / k_in + t_out / k_out

    Parameters
    ----------
    inside : numeric
        Time t_in of the reduction inside the nodes. [s]
    outside : numeric
        Time t_out of the reduction between them. [s]
    inside_every : numeric
        Steps k_in from one reduction inside to the next. [-]
    outside_every : numeric
        Steps k_out from one reduction between nodes to the next. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    Ranks of a node stay together while nodes drift apart for k_out steps. Both 1 is an ordinary reduction in two
    levels.

    References
    ----------
    .. [1] Lin et al., "Don't Use Large Mini-Batches, Use Local SGD", ICLR 2020, section on hierarchical local SGD.
       https://arxiv.org/abs/1808.07217
    """
    return inside / inside_every + outside / outside_every
