"""The array type of the closed forms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Numeric: TypeAlias = Any
"""A float, an int or an array of them; closed forms broadcast over all of them."""

Array: TypeAlias = "NDArray[np.float64]"
"""What the engine hands around: float64, shape (1, plans) or (stages, plans)."""

StageIndex: TypeAlias = "NDArray[np.intp]"
"""Column of a pipeline stage, shape (1, plans)."""
