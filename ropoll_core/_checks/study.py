"""Arguments of the contamination study: truth, scales, rates, committees, numbers by array."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.options import as_plain_array
from ropoll_core._checks.scores import as_scores

__all__ = ["as_rates", "as_reals", "as_scale", "as_truth", "as_valid_scores"]


def as_reals(
    value: Any,
    argument: str,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    open_low: bool = False,
    open_high: bool = False,
    infinite: bool = False,
) -> NDArray[np.float64]:
    """A number or array of numbers in [low, high] as float64, ends excluded by `open_*`.

    `infinite` lets +inf pass, where a limit is meant.
    """
    array = as_plain_array(value, argument)
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{argument} must hold real numbers, got {_type_name(value, array)}")
    array = array.astype(np.float64)
    below = array <= low if open_low else array < low
    above = array >= high if open_high else array > high
    bad = np.isnan(array) | below | (above & ~(np.isposinf(array) & infinite))
    if not infinite:
        bad |= np.isinf(array)
    if bad.any():
        place = tuple(int(i) for i in np.unravel_index(int(bad.argmax()), array.shape))
        where = f" at index {place}" if array.ndim else ""
        left, right = "(" if open_low else "[", ")" if open_high else "]"
        kind = "numbers" if infinite else "finite numbers"
        raise ValueError(
            f"{argument} must hold {kind} in {left}{low:g}, {high:g}{right}, "
            f"got {array[place]:g}{where}"
        )
    return array


def _type_name(value: Any, array: NDArray[Any]) -> str:
    return f"dtype {array.dtype}" if isinstance(value, np.ndarray) else type(value).__name__


def as_rates(value: Any, argument: str, n_judges: int) -> NDArray[np.float64]:
    """A probability, or one for each judge, as (n_judges,)."""
    array = as_reals(value, argument, low=0, high=1)
    if array.shape not in {(), (n_judges,)}:
        raise ValueError(
            f"{argument} must be a number or have shape ({n_judges},), got shape {array.shape}"
        )
    return np.ascontiguousarray(np.broadcast_to(array, n_judges))


def as_scale(scale: Any) -> tuple[float, float]:
    """Ends of the scale, the lower one first."""
    ends = as_reals(scale, "scale")
    if ends.shape != (2,) or not ends[0] < ends[1]:
        raise ValueError(f"scale must be two numbers (low, high) with low < high, got {scale!r}")
    return float(ends[0]), float(ends[1])


def as_valid_scores(
    scores: Any, argument: str = "scores"
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Scores (n_items, n_judges, n_attributes) in float64, contiguous, and who is valid.

    A judge with a missing attribute is missing as a whole: its vector is all NaN, in a copy if
    there is such a judge. Otherwise the array may be the caller's own: do not write to it.
    """
    array, lead = as_scores(scores, argument)
    if len(lead) != 1:
        raise ValueError(
            f"{argument} must have 3 axes (n_items, n_judges, n_attributes), got {len(lead) + 2}"
        )
    array = np.ascontiguousarray(array, dtype=np.float64)
    n_items, n_judges, n_attributes = array.shape
    # One pass: a sum is finite unless a score is not (or it overflows, which the second look,
    # at those rows alone, sorts out).
    with np.errstate(over="ignore", invalid="ignore"):
        sums = array.reshape(-1, n_attributes) @ np.ones(n_attributes)
    valid = np.isfinite(sums).reshape(n_items, n_judges)
    if not valid.all():
        _raise_infinite(array, argument, ("item", "judge", "attribute"))
        odd = np.nonzero(~valid)
        missing = np.isnan(array[odd])
        valid[odd] = ~missing.any(axis=1)
        if (missing.any(axis=1) & ~missing.all(axis=1)).any():
            array = array.copy()
            array[~valid] = np.nan
    return array, valid


def as_truth(truth: Any, n_items: int, n_attributes: int) -> NDArray[np.float64]:
    """True scores (n_items, n_attributes) in float64, contiguous; NaN where unknown."""
    array = as_plain_array(truth, "truth", fill="numpy.nan")
    if array.dtype.kind not in "iuf":
        raise TypeError(f"truth must hold real numbers, got {_type_name(truth, array)}")
    if array.shape != (n_items, n_attributes):
        raise ValueError(
            f"truth must have shape (n_items, n_attributes) = {(n_items, n_attributes)} "
            f"to match scores, got {array.shape}"
        )
    array = np.array(array, dtype=np.float64, order="C")
    _raise_infinite(array, "truth", ("item", "attribute"))
    return array


def _raise_infinite(array: NDArray[np.float64], argument: str, axes: tuple[str, ...]) -> None:
    bad = np.isinf(array)
    if bad.any():
        place = np.unravel_index(int(bad.argmax()), array.shape)
        where = ", ".join(f"{axis} {int(i)}" for axis, i in zip(axes, place, strict=True))
        raise ValueError(f"{argument} must be finite or NaN, got {array[place]} at {where}")
