"""The rules of a layout as conditions on whole numbers: one plan, or arrays of many.

Every function answers for numbers and for arrays alike: whether the rule is kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric


def divides(whole: Numeric, *parts: Numeric) -> Numeric:
    """Whether a number is a multiple of the product of others."""
    each = parts[0]
    for part in parts[1:]:
        each = each * part
    return whole % each == 0


def kv_heads_divide(kv_heads: Numeric, tensor: Numeric) -> Numeric:
    """Whether key-value heads are split evenly over tensor parallel ranks, or copied evenly."""
    return (kv_heads % tensor == 0) | (tensor % kv_heads == 0)


def sequence_divides(sequence: Numeric, context: Numeric) -> Numeric:
    """Whether a sequence divides over context parallel ranks: each has a part of its first and of its second half."""
    return sequence % (context * (1 + (context > 1))) == 0


def splits_sequence(sequence: Numeric, tensor: Numeric, context: Numeric) -> Numeric:
    """Whether norms and residuals can be split over tensor parallel ranks at all."""
    return (tensor > 1) & (sequence // context % tensor == 0)


def chunks_divide(layers: Numeric, pipeline: Numeric, interleave: Numeric) -> Numeric:
    """Whether layers divide over the chunks of all stages; a single stage has one chunk."""
    return (interleave == 1) | ((pipeline > 1) & (layers % (pipeline * interleave) == 0))


def rounds_divide(micro_batches: Numeric, pipeline: Numeric, interleave: Numeric) -> Numeric:
    """Whether micro-batches come in whole rounds over the stages, as interleaving needs."""
    return (interleave == 1) | (micro_batches % pipeline == 0)
