"""Results of resampling."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ropoll_core._results.base import Result

__all__ = ["BootstrapResult", "BootstrapStatus"]


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
    estimate : float64
        The statistic of the data.
    low, high : float64
        Ends of the interval; NaN where there is none, `status` has the reason.
    standard_error : float64
        Standard deviation of the defined resamples (n - 1).
    p_not_positive : float64
        Share of the defined resamples at or below zero: one-sided P(statistic <= 0).
    n_undefined : int64
        Resamples in which the statistic is undefined (0/0). They are left out: the interval is
        conditional on the statistic being defined.
    status : BootstrapStatus, or array of int8
        What each interval is worth.
    n_tasks, n_rows, n_resamples : int
        What was resampled, and how often.
    method : str
    confidence_level : float
    replicates : ndarray, shape (..., n_resamples)
        The statistic of each resample, NaN where undefined.
    """

    estimate: np.float64 | NDArray[np.float64]
    low: np.float64 | NDArray[np.float64]
    high: np.float64 | NDArray[np.float64]
    standard_error: np.float64 | NDArray[np.float64]
    p_not_positive: np.float64 | NDArray[np.float64]
    n_undefined: np.int64 | NDArray[np.int64]
    status: BootstrapStatus | NDArray[np.int8]
    n_tasks: int
    n_rows: int
    n_resamples: int
    method: str
    confidence_level: float
    replicates: NDArray[np.float64] = field(repr=False)
