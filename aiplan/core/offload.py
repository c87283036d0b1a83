"""States that lie in the memory of the host: what stays on the device, and how long an update takes there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric


@closed_form
def on_device(nbytes: Numeric, offloaded: Numeric) -> Numeric:
    """Bytes of a kind of state that stay on the device.

    n_d = n (1 - [offloaded])

    Parameters
    ----------
    nbytes : numeric
        Bytes n of the state on a rank. [B]
    offloaded : numeric
        1 if the state lies in the memory of the host. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B]

    Notes
    -----
    Buffers that hold what crosses the link are not counted: some hundred megabytes, by the program's bucket sizes.

    References
    ----------
    .. [1] Ren et al., "ZeRO-Offload: Democratizing Billion-Scale Model Training", 2021. https://arxiv.org/abs/2101.06840
    """
    return nbytes * (1.0 - offloaded)


@closed_form
def host_bytes(parameters: Numeric, bytes_each: Numeric, ranks: Numeric) -> Numeric:
    """Bytes of states in the memory of one node's host.

    n_h = r P e

    Parameters
    ----------
    parameters : numeric
        Parameters P that a rank updates. [-]
    bytes_each : numeric
        Bytes e of state per parameter that lie on the host. [B]
    ranks : numeric
        Ranks r of the node. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B]

    Notes
    -----
    For optimizer states, gradients and the weights that are sent back: 12 + 4 + 2 bytes with Adam and single-precision
    gradients. Every rank of the node is taken to hold as much as one of the fullest stage.

    References
    ----------
    .. [1] Ren et al., "ZeRO-Offload: Democratizing Billion-Scale Model Training", 2021. https://arxiv.org/abs/2101.06840
    """
    return ranks * parameters * bytes_each


@closed_form
def host_update_time(nbytes: Numeric, ranks: Numeric, rate: Numeric) -> Numeric:
    """Time in which the host of a node updates the states of all its ranks.

    t = r n / b

    Parameters
    ----------
    nbytes : numeric
        Bytes n that the update of one rank's states moves. [B]
    ranks : numeric
        Ranks r of the node, which share the host. [-]
    rate : numeric
        Rate b at which the host passes over states. [B/s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    An update is bound by memory. Hosts differ much: two public reports of nodes with eight devices come to 69 and
    105 GB/s (72.7 billion parameters on 4 nodes in 10 s, 106 billion on 4 nodes in 9.6 s), far below what their memory
    could; processes that are not bound to cores, or vectors that are not used, cost factors.

    References
    ----------
    .. [1] Ren et al., "ZeRO-Offload: Democratizing Billion-Scale Model Training", 2021. https://arxiv.org/abs/2101.06840
    .. [2] Qwen 72B on 4 nodes of 8 A100, step times with and without. https://github.com/deepspeedai/DeepSpeed/issues/6834
    .. [3] GLM-4.5-Air on 4 nodes of 8 H100. https://github.com/THUDM/slime/issues/1139
    """
    return ranks * nbytes / rate
