"""What is usual where nobody says."""

from __future__ import annotations

BATCH_TOKENS = 4 * 2**20
"""Tokens in a step, about what large models are trained with."""


def usual_batch(sequence: int, accelerators: int) -> int:
    """Return the sequences of a step: 4 Mi tokens or a little more, a multiple of the accelerators.

    Every layout of the accelerators divides such a batch.
    """
    return -(-BATCH_TOKENS // (sequence * accelerators)) * accelerators
