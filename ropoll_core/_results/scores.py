"""Results of score aggregation."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._results.base import Result

__all__ = ["GeometricMedian", "Status"]


class Status(IntEnum):
    """How the geometric median of one query ended.

    Attributes
    ----------
    CERTIFIED
        The gap is at most ``tol * objective`` and the median is unique.
    NOT_UNIQUE
        Certified; every point of a segment is a median and the middle of it is given.
    NOT_CERTIFIED
        The best point found; its gap is larger than ``tol * objective``.
    ALL_MISSING
        No valid judge of positive weight: the median is NaN.
    PROPAGATED
        A judge is missing and ``nan_policy="propagate"``: the median is NaN.
    """

    CERTIFIED = 0
    NOT_UNIQUE = 1
    NOT_CERTIFIED = 2
    ALL_MISSING = 3
    PROPAGATED = 4


@dataclass(frozen=True, repr=False, eq=False)
class GeometricMedian(Result):
    """Geometric medians and what is known about each.

    Attributes
    ----------
    median : ndarray, shape (..., n_attributes)
        In the floating type of the scores.
    objective : ndarray of float64, shape (...)
        ``sum_i w_i |median - x_i|`` over the valid judges, weights as given (1 without).
    gap : ndarray of float64, shape (...)
        Proven bound on ``objective - minimum``, before the median is rounded to its type.
    n_valid : ndarray of int64, shape (...)
        Judges with every attribute present and a positive weight.
    n_iter : ndarray of int64, shape (...)
        Steps taken by the solver that settled the query; 0 for a closed form.
    status : ndarray of int8, shape (...)
        A :class:`Status` code.
    influence : ndarray of float64, shape (..., n_judges)
        Each judge's share of the pull at the median, ``w_i / |median - x_i|`` normalised to
        sum to 1: the weights under which the median is the mean. If the median is a data point
        the judges there share all of it by weight. 0 for an absent judge, NaN where the median
        is NaN.
    """

    median: NDArray[Any]
    objective: NDArray[np.float64]
    gap: NDArray[np.float64]
    n_valid: NDArray[np.int64]
    n_iter: NDArray[np.int64]
    status: NDArray[np.int8]
    influence: NDArray[np.float64]

    @property
    def certified(self) -> NDArray[np.bool_]:
        """Where the median is proven to be within tolerance of the minimum."""
        certified: NDArray[np.bool_] = self.status <= Status.NOT_UNIQUE
        return certified
