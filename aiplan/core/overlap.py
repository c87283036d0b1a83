"""What of a communication is left when computation runs beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric


@closed_form
def exposed_time(communication: Numeric, computation: Numeric, share: Numeric, contention: Numeric = 0.0) -> Numeric:
    """Time that a communication adds to the computation beside it.

    t = t_e + c (t_comm - t_e), t_e = max(t_comm - s t_comp, 0)

    Parameters
    ----------
    communication : numeric
        Time of the communication alone, t_comm. [s]
    computation : numeric
        Time of the computation that may run beside it, t_comp. [s]
    share : numeric
        Share s of that computation under which communication really proceeds; 0 switches overlap off. [-]
    contention : numeric
        Share c of the hidden communication by which it slows the computation down: its kernels take multiprocessors
        and memory bandwidth. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    NCCL takes 16 to 32 of the 108 to 148 multiprocessors of a device while it runs, hence c of 0.1 to 0.3.

    References
    ----------
    .. [1] Li et al., "PyTorch Distributed: Experiences on Accelerating Data Parallel Training", VLDB 13(12), 2020.
       https://arxiv.org/abs/2006.15704
    """
    exposed = np.maximum(communication - share * computation, 0.0)
    return exposed + contention * (communication - exposed)


@closed_form
def waiting_time(starts: Numeric, computation: Numeric) -> Numeric:
    """Time that a device waits for the host to start its kernels.

    t = (t_h^3 + t_comp^3)^(1/3) - t_comp

    Parameters
    ----------
    starts : numeric
        Time t_h that the host takes to start the kernels. [s]
    computation : numeric
        Time t_comp that they run. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    A smooth maximum of the two, less t_comp: where both take about as long, short kernels wait for the host and long
    ones do not. The exponent 3 goes with the single-node runs of vTrain and those of nanotron.

    References
    ----------
    .. [1] NVIDIA, "CUDA C++ Best Practices Guide", asynchronous execution.
       https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/index.html
    """
    return np.maximum(np.cbrt(np.power(starts, 3.0) + np.power(computation, 3.0)) - computation, 0.0)


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
