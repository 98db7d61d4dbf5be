"""From an estimate, its replicates and its jackknife values to an interval."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ropoll_core._results.resampling import BootstrapStatus

__all__ = ["acceleration", "bca_levels", "interval", "sorted_quantile"]


def sorted_quantile(values: NDArray[np.float64], level: float) -> float:
    """Quantile of sorted values with linear interpolation, as numpy.quantile has it."""
    position = level * (values.size - 1)
    below = min(max(math.floor(position), 0), values.size - 1)
    above = min(below + 1, values.size - 1)
    low, high, t = float(values[below]), float(values[above]), position - below
    if low == high or t == 0.0:
        return low
    return low + (high - low) * t if t < 0.5 else high - (high - low) * (1.0 - t)


def acceleration(
    jackknife: NDArray[np.float64],
    weights: NDArray[np.int64] | None = None,
    starts: tuple[int, ...] = (0,),
) -> float:
    """BCa's a = sum U^3 / (6 (sum U^2)^1.5), U = mean - value; 0 where the values do not vary.

    Each value counts `weights` times. Tasks without which the statistic is undefined (NaN) or
    infinite are left out. Values of stratum s are those from starts[s] on; there
    U = (1 - 1/n) (mean of the stratum - value), n being its number of tasks.
    """
    n_of = np.ones(jackknife.size) if weights is None else weights.astype(np.float64)
    influence = np.zeros(jackknife.size)
    for start, stop in zip(starts, (*starts[1:], jackknife.size), strict=True):
        finite = start + np.flatnonzero(np.isfinite(jackknife[start:stop]))
        values, n = jackknife[finite], n_of[finite].sum()
        if values.size and values.min() < values.max():
            mean = (n_of[finite] * values).sum() / n
            influence[finite] = (1.0 - 1.0 / n) * (mean - values)
    largest = np.abs(influence).max(initial=0.0)
    if largest == 0.0:
        return 0.0
    # Scaled first: squares of very small or large values leave the range of doubles.
    influence /= largest
    return float((n_of * influence**3).sum() / (6.0 * (n_of * influence**2).sum() ** 1.5))


def bca_levels(
    n_below: int, n_to: int, n: int, a: float, level: float
) -> tuple[float, float] | None:
    """Quantile levels of the BCa interval; None where the bias correction is infinite.

    n_below and n_to of the n replicates are < and <= the estimate; a is the acceleration.
    """
    from scipy.special import ndtr, ndtri

    share = 0.5 * (n_below + n_to) / n
    if not 0.0 < share < 1.0:
        return None
    z0 = float(ndtri(share))
    levels = []
    for tail in (0.5 * (1.0 - level), 0.5 * (1.0 + level)):
        shifted = z0 + float(ndtri(tail))
        levels.append(float(ndtr(z0 + shifted / (1.0 - a * shifted))))
    return levels[0], levels[1]


def interval(
    estimate: float,
    replicates: NDArray[np.float64],
    *,
    method: str,
    level: float,
    n_tasks: int,
    jackknife: NDArray[np.float64] | None = None,
    weights: NDArray[np.int64] | None = None,
    starts: tuple[int, ...] = (0,),
    pivots: NDArray[np.float64] | None = None,
    error: float = math.nan,
) -> tuple[float, float, BootstrapStatus]:
    """Interval from sorted, defined replicates; NaN ends where there is none.

    jackknife, weights, starts: for BCa. pivots, error: for studentised intervals, the sorted,
    defined values of (replicate - estimate) / its error, and the error of the estimate.
    """
    if math.isnan(estimate) or replicates.size == 0:
        return math.nan, math.nan, BootstrapStatus.UNDEFINED
    if n_tasks == 1:
        return math.nan, math.nan, BootstrapStatus.ONE_TASK
    if replicates[0] == replicates[-1] == estimate:
        return estimate, estimate, BootstrapStatus.DEGENERATE
    status = BootstrapStatus.TWO_TASKS if n_tasks == 2 else BootstrapStatus.OK
    levels = (0.5 * (1.0 - level), 0.5 * (1.0 + level))
    if method == "studentized":
        assert pivots is not None
        if pivots.size == 0 or math.isnan(error):
            return math.nan, math.nan, BootstrapStatus.UNDEFINED
        low, high = (sorted_quantile(pivots, quantile) for quantile in levels)
        return estimate - high * error, estimate - low * error, status
    if method == "bca":
        assert jackknife is not None
        corrected = bca_levels(
            int(np.searchsorted(replicates, estimate, side="left")),
            int(np.searchsorted(replicates, estimate, side="right")),
            replicates.size,
            acceleration(jackknife, weights, starts),
            level,
        )
        if corrected is None:
            status = BootstrapStatus.PERCENTILE
        else:
            levels = corrected
    low, high = (sorted_quantile(replicates, quantile) for quantile in levels)
    if method == "basic":
        low, high = 2.0 * estimate - high, 2.0 * estimate - low
    return low, high, status
