"""Parameters of the consensus law."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.options import as_plain_array

__all__ = ["LARGEST_PANEL", "MOST_TESTED", "as_attractors", "as_fractions"]

LARGEST_PANEL = 64
# Judges whose blind spots can be tested: pairs and the rest of the panel are taken in turn.
MOST_TESTED = 12
# Printed profiles such as .49 + .25 + .17 + .09 sum to one only up to rounding.
_SUM_TOLERANCE = 1e-9


def as_fractions(value: Any, argument: str) -> NDArray[np.float64]:
    """Numbers in [0, 1], of any shape."""
    array = _as_floats(value, argument)
    bad = ~((array >= 0) & (array <= 1))
    if bad.any():
        place, shown = _first(bad, array)
        raise ValueError(f"{argument} must be in [0, 1], got {shown!r}{place}")
    return array


def as_attractors(value: Any, argument: str = "attractors") -> NDArray[np.float64]:
    """Masses (..., n_attractors), each in [0, 1], with sum at most 1; a number is one mass."""
    array = np.atleast_1d(as_fractions(value, argument))
    total = array.sum(axis=-1)
    bad = total > 1 + _SUM_TOLERANCE
    if bad.any():
        place, shown = _first(bad, total)
        raise ValueError(f"{argument} must sum to at most 1, got {shown!r}{place}")
    return array


def _as_floats(value: Any, argument: str) -> NDArray[np.float64]:
    array = as_plain_array(value, argument)
    if array.size == 0:
        array = array.astype(np.float64)
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{argument} must hold real numbers, got dtype {array.dtype}")
    return np.asarray(array, dtype=np.float64)


def _first(bad: NDArray[np.bool_], array: NDArray[np.float64]) -> tuple[str, float]:
    index = tuple(int(i) for i in np.unravel_index(int(bad.argmax()), bad.shape))
    return (f" at index {index}" if index else ""), float(array[index])
