"""What of a communication is left when computation runs beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric


@closed_form
def exposed_time(communication: Numeric, computation: Numeric, share: Numeric) -> Numeric:
    """Time of a communication that computation does not hide.

    t = max(t_comm - s t_comp, 0) if s > 0, else t_comm

    Parameters
    ----------
    communication : numeric
        Time of the communication alone, t_comm. [s]
    computation : numeric
        Time of the computation that may run beside it, t_comp. [s]
    share : numeric
        Share s of that computation under which communication really proceeds; 0 switches overlap off. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    Slow-down of the computation by the communication beside it is part of s.

    References
    ----------
    .. [1] Li et al., "PyTorch Distributed: Experiences on Accelerating Data Parallel Training", VLDB 13(12), 2020.
       https://arxiv.org/abs/2006.15704
    """
    return np.maximum(communication - share * computation, 0.0)


@closed_form
def share_exposed(communication: Numeric, hidden_share: Numeric) -> Numeric:
    """Time of a communication of which a fixed share is pipelined with the computation it feeds.

    t = t_comm (1 - s)

    Parameters
    ----------
    communication : numeric
        Time of the communication alone, t_comm. [s]
    hidden_share : numeric
        Share s that is hidden. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    For communication on the critical path that is split into pieces, as tensor parallel overlap does.

    References
    ----------
    .. [1] NVIDIA Transformer Engine, communication overlap. https://github.com/NVIDIA/TransformerEngine
    """
    return communication * (1.0 - hidden_share)
