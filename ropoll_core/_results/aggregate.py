"""Results of the aggregators other than the geometric median."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from ropoll_core._results.base import Result

__all__ = ["Aggregate", "AggregateStatus", "AggregationWarning"]


class AggregationWarning(UserWarning):
    """An aggregator did less than was asked of it on some queries.

    Given when no judge was trimmed although a proportion was, when a query has too few valid
    judges for the method (its result is NaN), and when an iteration ended before it converged.
    With ``full_output=True`` the status of each query says so instead.
    """


class AggregateStatus(enum.IntEnum):
    """How the result of one query came about."""

    OK = 0
    #: The proportion to trim rounds down to no judge: the result is the plain mean.
    NOTHING_TRIMMED = 1
    #: The iteration ended before its tolerance was met: the best point found.
    NOT_CONVERGED = 2
    #: No judge has complete scores and a positive weight: NaN.
    ALL_MISSING = 3
    #: A judge is missing and nan_policy is "propagate": NaN.
    PROPAGATED = 4
    #: Fewer valid judges than the method needs: NaN.
    TOO_FEW_JUDGES = 5


@dataclass(frozen=True, repr=False, eq=False)
class Aggregate(Result):
    """One score vector a query, and how it came about.

    Attributes
    ----------
    value : array of shape (..., n_attributes)
        The aggregated scores, in the units of the scores.
    n_valid : int32 array of shape (...)
        Judges with complete scores.
    n_used : int32 array of shape (...)
        Judges (for coordinate-wise trimming: values of each attribute) that the result is made of.
    status : uint8 array of shape (...)
        Values of :class:`AggregateStatus`.
    used : bool array of shape (..., n_judges), or None
        Which judges the result is made of; None where that differs from attribute to attribute.
    """

    value: NDArray[Any]
    n_valid: NDArray[Any]
    n_used: NDArray[Any]
    status: NDArray[Any]
    used: NDArray[Any] | None
