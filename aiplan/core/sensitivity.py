"""How a result answers to a change of what it rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric


@closed_form
def elasticity(below: Numeric, above: Numeric, ratio: Numeric) -> Numeric:
    """Elasticity of a result: by how many percent it changes for one percent more of an input.

    e = ln(y_2 / y_1) / ln r

    Parameters
    ----------
    below : numeric
        Result y_1 at the smaller value of the input, above 0. [-]
    above : numeric
        Result y_2 at the larger value of the input, above 0. [-]
    ratio : numeric
        Larger over smaller value r of the input, not 1. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Both results have one unit, whichever. With the input's own value in the (geometric) middle of the two it is a
    central difference, whose error falls with the square of ln r; exact for every power of the input.

    Examples
    --------
    >>> float(elasticity(8.0, 4.0, 2.0))
    -1.0

    References
    ----------
    .. [1] Boyd et al., "A tutorial on geometric programming", Optimization and Engineering 8, 2007, section 3.3.
       https://web.stanford.edu/~boyd/papers/gp_tutorial.html
    """
    return np.log(np.divide(above, below)) / np.log(ratio)


@closed_form
def kinked(left: Numeric, right: Numeric, ratio: Numeric) -> Numeric:
    """Whether a result bends at the value of an input, so that more of it does not do what less of it does.

    k = [|e_r - e_l| > ln r]

    Parameters
    ----------
    left : numeric
        Elasticity e_l from a smaller value of the input to its own. [-]
    right : numeric
        Elasticity e_r from its own value to a larger one. [-]
    ratio : numeric
        Larger over smaller value r of the input on either side. [-]

    Returns
    -------
    numeric
        1 if so, else 0; broadcast shape of the inputs. [-]

    Notes
    -----
    A sum of terms that each grow with a power of the input between p and p + 2 has elasticities that differ by at most
    ln r over one such step: the slope of e over ln x is the variance of the powers, at most 1. What differs by more is
    no such sum: the larger of two times has changed, or a wait has come to an end.

    References
    ----------
    .. [1] Boyd et al., "A tutorial on geometric programming", Optimization and Engineering 8, 2007: posynomials are
       convex in logarithms. https://web.stanford.edu/~boyd/papers/gp_tutorial.html
    """
    return np.where(np.abs(np.subtract(right, left)) > np.log(ratio), 1.0, 0.0)
