"""Result of calibrating judges against labelled queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from ropoll_core._results.base import Result

__all__ = ["Calibration"]


@dataclass(frozen=True, repr=False, eq=False)
class Calibration(Result):
    """Calibrated scores and the lines that they come from.

    Attributes
    ----------
    scores : array of shape (n_queries, n_judges, n_attributes)
        ``intercept + slope * score``; NaN for the judges left out.
    slope, intercept : arrays of shape (n_judges,) or (n_judges, n_attributes)
        Fitted on all labelled queries, as used for the queries without a label.
    n_labelled : int array of shape (n_judges,)
        Labelled queries on which the judge has complete scores.
    fold : int array of shape (n_queries,)
        Which fold's fit leaves the query out; -1 for queries without a label.
    left_out : bool array of shape (n_judges,)
        Judges without a line in some fold: too few labelled queries, or equal scores on all.
    """

    scores: NDArray[Any]
    slope: NDArray[Any]
    intercept: NDArray[Any]
    n_labelled: NDArray[Any]
    fold: NDArray[Any]
    left_out: NDArray[Any]
