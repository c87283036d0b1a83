"""How terms are put together: sums, products, repetitions, choices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric


@closed_form
def repeated(each: Numeric, times: Numeric) -> Numeric:
    """Time of something that happens several times, one after the other.

    t = c t_1

    Parameters
    ----------
    each : numeric
        Time t_1 of one. [s]
    times : numeric
        How often, c. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    No overlap between the repetitions.

    References
    ----------
    .. [1] Amdahl, "Validity of the single processor approach", AFIPS 1967. https://doi.org/10.1145/1465482.1465560
    """
    return each * times


@closed_form
def at_stage(values: Numeric, stage: Numeric) -> Numeric:
    """Value of a quantity at one pipeline stage.

    x = x_i

    Parameters
    ----------
    values : numeric
        Quantity x per stage, shape (stages, plans) or (1, plans).
    stage : numeric
        Row i of the stage, shape (1, plans). [-]

    Returns
    -------
    numeric
        Shape (1, plans).

    Notes
    -----
    The busiest stage sets the time of a step, the fullest stage decides whether it fits. A single row is the same
    at every stage.

    References
    ----------
    .. [1] Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters", SC21.
       https://arxiv.org/abs/2104.04473
    """
    if values.shape[-2] == 1:
        return values
    found = values[..., :1, :]
    for index in range(1, values.shape[-2]):
        found = np.where(stage == index, values[..., index : index + 1, :], found)
    return found


@closed_form
def summed(*parts: Numeric) -> Numeric:
    """Sum of the parts of a term.

    x = x_1 + x_2 + ...

    Parameters
    ----------
    *parts : numeric
        Parts x_i, all in one unit.

    Returns
    -------
    numeric
        Broadcast shape of the parts, in their unit.

    Notes
    -----
    Added from left to right, so that a tree adds up to the last bit.

    References
    ----------
    .. [1] Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., chapter 4.
       https://doi.org/10.1137/1.9780898718027
    """
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


@closed_form
def product(*factors: Numeric) -> Numeric:
    """Product of factors.

    x = x_1 x_2 ...

    Parameters
    ----------
    *factors : numeric
        Factors x_i.

    Returns
    -------
    numeric
        Broadcast shape of the factors, in the product of their units.

    Notes
    -----
    Multiplied from left to right. For what has no name of its own in the field.

    References
    ----------
    .. [1] Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., chapter 3.
       https://doi.org/10.1137/1.9780898718027
    """
    result = factors[0]
    for factor in factors[1:]:
        result = result * factor
    return result


@closed_form
def quotient(numerator: Numeric, denominator: Numeric) -> Numeric:
    """Quotient of two quantities.

    x = a / b

    Parameters
    ----------
    numerator : numeric
        Quantity a.
    denominator : numeric
        Quantity b, not 0.

    Returns
    -------
    numeric
        Broadcast shape of the inputs, in the quotient of their units.

    Notes
    -----
    For what has no name of its own in the field.

    References
    ----------
    .. [1] Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., chapter 3.
       https://doi.org/10.1137/1.9780898718027
    """
    return numerator / denominator


@closed_form
def rest(share: Numeric) -> Numeric:
    """Rest of a whole.

    x = 1 - s

    Parameters
    ----------
    share : numeric
        Share s of the whole. [-]

    Returns
    -------
    numeric
        Broadcast shape of the input. [-]

    Notes
    -----
    For what has no name of its own in the field.

    References
    ----------
    .. [1] Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., chapter 3.
       https://doi.org/10.1137/1.9780898718027
    """
    return 1.0 - share


@closed_form
def chosen(condition: Numeric, then: Numeric, otherwise: Numeric) -> Numeric:
    """Value of one of two alternatives.

    x = a if c else b

    Parameters
    ----------
    condition : numeric
        Condition c: true or false, or a number of which 0 is false. [-]
    then : numeric
        Value a where the condition holds.
    otherwise : numeric
        Value b where it does not, in the unit of a.

    Returns
    -------
    numeric
        Broadcast shape of the inputs, in their unit.

    Notes
    -----
    Both alternatives are computed.

    References
    ----------
    .. [1] NumPy, `where`. https://numpy.org/doc/stable/reference/generated/numpy.where.html
    """
    return np.where(np.asarray(condition) > 0, then, otherwise)


@closed_form
def least(*options: Numeric) -> Numeric:
    """Time of the fastest of several ways to do the same.

    t = min(t_1, t_2, ...)

    Parameters
    ----------
    *options : numeric
        Time t_i of each way. [s]

    Returns
    -------
    numeric
        Broadcast shape of the options. [s]

    Notes
    -----
    Communication libraries choose the algorithm by size from a model like this one.

    References
    ----------
    .. [1] NCCL, tuning model. https://github.com/NVIDIA/nccl
    """
    best = options[0]
    for option in options[1:]:
        best = np.minimum(best, option)
    return best


@closed_form
def largest(*options: Numeric) -> Numeric:
    """Largest of several quantities.

    x = max(x_1, x_2, ...)

    Parameters
    ----------
    *options : numeric
        Quantities x_i, all in one unit.

    Returns
    -------
    numeric
        Broadcast shape of the options, in their unit.

    Notes
    -----
    For what is needed at different times, of which the largest is to be provided for.

    References
    ----------
    .. [1] NumPy, `maximum`. https://numpy.org/doc/stable/reference/generated/numpy.maximum.html
    """
    most = options[0]
    for option in options[1:]:
        most = np.maximum(most, option)
    return most


@closed_form
def over_stages(values: Numeric, copies: Numeric) -> Numeric:
    """Sum of a quantity over all pipeline stages.

    x = sum of c_i x_i

    Parameters
    ----------
    values : numeric
        Quantity x_i of each stage that differs, shape (stages, plans).
    copies : numeric
        How many stages c_i are alike, shape (stages, plans). [-]

    Returns
    -------
    numeric
        Shape (1, plans), in the unit of the values.

    Notes
    -----
    Stages with the same layers are kept once. Added from first to last, so that rows of 0 copies, which fill up a
    batch, change nothing.

    References
    ----------
    .. [1] Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters", SC21.
       https://arxiv.org/abs/2104.04473
    """
    each = values * copies
    total = each[..., :1, :]
    for index in range(1, each.shape[-2]):
        total = total + each[..., index : index + 1, :]
    return total


@closed_form
def busiest(values: Numeric, copies: Numeric) -> Numeric:
    """Pipeline stage at which a quantity is largest.

    i = argmax of x_i over stages with c_i > 0

    Parameters
    ----------
    values : numeric
        Quantity x_i of each stage that differs, not negative, shape (stages, plans).
    copies : numeric
        How many stages c_i are alike; 0 for a row that only fills up the batch, shape (stages, plans). [-]

    Returns
    -------
    numeric
        Row i, shape (1, plans). [-]

    Notes
    -----
    The first one of several that are equal.

    References
    ----------
    .. [1] Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters", SC21.
       https://arxiv.org/abs/2104.04473
    """
    return np.argmax(np.where(np.asarray(copies) > 0, values, -1.0), axis=-2, keepdims=True)
