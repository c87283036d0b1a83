"""What a line carries: the share of frames that is payload."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric


@closed_form
def payload_share(payload: Numeric, overhead: Numeric) -> Numeric:
    """Share of a line's time that carries payload.

    f = m / (m + h)

    Parameters
    ----------
    payload : numeric
        Payload of a frame m. [B]
    overhead : numeric
        Everything else h that a frame takes: preamble, gap, headers, checks. [B]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    RoCE v2 over IPv4: 82 B, of them 20 preamble and gap, 14 Ethernet, 20 IP, 8 UDP, 12 transport, 4 + 4 checks. Without
    retransmissions, pauses and acknowledgements.

    Examples
    --------
    >>> float(payload_share(4096, 82)).__round__(4)
    0.9804

    References
    ----------
    .. [1] InfiniBand Trade Association, "Supplement to InfiniBand Architecture Specification: RoCEv2", Annex A17.
       https://www.infinibandta.org/ibta-specification/
    """
    return payload / (payload + overhead)
