"""Results of resampling."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ropoll_core._results.base import Result

__all__ = ["BootstrapResult", "BootstrapStatus", "PermutationResult"]


class BootstrapStatus(enum.IntEnum):
    """What an interval is worth."""

    OK = 0
    """As asked for."""
    DEGENERATE = 1
    """Every defined resample gives the estimate itself: an interval of no width."""
    PERCENTILE = 2
    """All resamples lie on one side of the estimate: no BCa correction, percentile interval."""
    TWO_TASKS = 3
    """As asked for, but from two tasks only: treat it as no more than a range of values."""
    ONE_TASK = 4
    """No interval: resampling one task says nothing."""
    UNDEFINED = 5
    """No interval: the estimate is undefined, or no resample is defined."""


@dataclass(frozen=True, repr=False, eq=False)
class BootstrapResult(Result):
    """An estimate with its bootstrap interval.

    Numbers for a statistic with one output, arrays of shape ``(size,)`` for one with `size`
    outputs.

    Attributes
    ----------
    estimate : float
        The statistic of the data.
    low, high : float
        Ends of the interval; NaN where there is none, `status` has the reason.
    standard_error : float
        Standard deviation of the defined resamples (n - 1).
    p_not_positive : float
        Share of the defined resamples at or below zero: one-sided P(statistic <= 0).
    n_undefined : int
        Resamples in which the statistic is undefined (0/0), or, for a studentised interval, its
        standard error is zero. They are left out: the interval is conditional on the rest.
    status : BootstrapStatus, or array of int8
        What each interval is worth.
    n_tasks, n_rows, n_resamples : int
        What was resampled, and how often.
    method : str
    confidence_level : float
    replicates : ndarray, shape (..., n_resamples)
        The statistic of each resample, NaN where undefined.
    """

    estimate: float | NDArray[np.float64]
    low: float | NDArray[np.float64]
    high: float | NDArray[np.float64]
    standard_error: float | NDArray[np.float64]
    p_not_positive: float | NDArray[np.float64]
    n_undefined: int | NDArray[np.int64]
    status: BootstrapStatus | NDArray[np.int8]
    n_tasks: int
    n_rows: int
    n_resamples: int
    method: str
    confidence_level: float
    replicates: NDArray[np.float64] = field(repr=False)


@dataclass(frozen=True, repr=False, eq=False)
class PermutationResult(Result):
    """A statistic beside its distribution under permutations.

    Attributes
    ----------
    estimate : float
        The statistic of the data as they are.
    p_value : float
        (1 + number of permutations as extreme) / (1 + n_resamples).
    null_mean, null_low, null_high : float
        Mean and central interval of the null distribution.
    alternative : str
    confidence_level : float
    n_rows, n_groups, n_resamples : int
    null : ndarray, shape (n_resamples,)
        The statistic of each permutation.
    """

    estimate: float
    p_value: float
    null_mean: float
    null_low: float
    null_high: float
    alternative: str
    confidence_level: float
    n_rows: int
    n_groups: int
    n_resamples: int
    null: NDArray[np.float64] = field(repr=False)
