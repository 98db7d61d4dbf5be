"""Coordinate-wise median and medoid of score vectors."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from ropoll_core._checks.panels import as_panels
from ropoll_core._kernels import comparators
from ropoll_core._results.aggregate import Aggregate
from ropoll_core.scores._run import run_panels

__all__ = ["coordinatewise_median", "medoid"]


def coordinatewise_median(
    scores: Any,
    *,
    weights: Any = None,
    nan_policy: str = "omit",
    out: NDArray[Any] | None = None,
    workers: int | None = None,
    full_output: bool = False,
) -> NDArray[Any] | Aggregate:
    """Median of each attribute by itself.

    Parameters
    ----------
    scores : array_like of shape (..., n_judges, n_attributes)
        Score vectors. float32 gives float32, everything else float64.
    weights : array_like of shape (n_judges,) or (..., n_judges), optional
        Finite, not negative; relative among the valid judges of a query.
    nan_policy : {"omit", "propagate", "raise"}
        A judge with a missing (NaN) attribute is missing as a whole for that query. "omit" uses
        the others, "propagate" makes the query NaN, "raise" raises.
    out : array of shape (..., n_attributes), optional
        Where to put the result; of the result's dtype.
    workers : int, optional
        Threads; -1 for all cores, None for the default (see ``ropoll_core.default_workers``).
    full_output : bool
        Return an :class:`Aggregate` instead.

    Returns
    -------
    array of shape (..., n_attributes), or Aggregate
        In the units of `scores`. NaN where a query has no valid judge of positive weight.

    Raises
    ------
    ValueError
        For an infinite score (names query, judge and attribute), a wrong shape or option.
    TypeError
        For scores that are not numbers, or an option of a wrong type.

    Notes
    -----
    For an even number of judges the midpoint of the two middle values, as ``numpy.median``; with
    weights the midpoint of all minimisers of sum_i w_i |x_i - z|, so that equal weights give
    what no weights give. Breakdown point 1/2 in each attribute, but the attributes are taken
    apart: the result can be a vector far from every judge's (see the example). Cost
    O(n_attributes n_judges log^2 n_judges) a query.

    Examples
    --------
    No judge gave more than two fives:

    >>> import ropoll_core
    >>> ropoll_core.scores.coordinatewise_median([[5, 5, 1], [5, 1, 5], [1, 5, 5]])
    array([5., 5., 5.])
    """
    panels = as_panels(
        scores,
        weights=weights,
        nan_policy=nan_policy,
        out=out,
        workers=workers,
        full_output=full_output,
    )
    _, n, d = panels.scores.shape
    return run_panels(
        panels,
        comparators.coordinatewise_median_rows,
        scratch=comparators.scratch_size("coordinatewise_median", n, d),
        cost_ns=20 + 3 * n * d,
    )


def medoid(
    scores: Any,
    *,
    weights: Any = None,
    nan_policy: str = "omit",
    out: NDArray[Any] | None = None,
    workers: int | None = None,
    full_output: bool = False,
) -> NDArray[Any] | Aggregate:
    """The judge's score vector with the least sum of distances to the others.

    Parameters
    ----------
    scores : array_like of shape (..., n_judges, n_attributes)
        Score vectors. float32 gives float32, everything else float64.
    weights : array_like of shape (n_judges,) or (..., n_judges), optional
        Finite, not negative; relative among the valid judges of a query.
    nan_policy : {"omit", "propagate", "raise"}
        A judge with a missing (NaN) attribute is missing as a whole for that query. "omit" uses
        the others, "propagate" makes the query NaN, "raise" raises.
    out : array of shape (..., n_attributes), optional
        Where to put the result; of the result's dtype.
    workers : int, optional
        Threads; -1 for all cores, None for the default (see ``ropoll_core.default_workers``).
    full_output : bool
        Return an :class:`Aggregate` instead.

    Returns
    -------
    array of shape (..., n_attributes), or Aggregate
        In the units of `scores`. NaN where a query has no valid judge of positive weight.

    Raises
    ------
    ValueError
        For an infinite score (names query, judge and attribute), a wrong shape or option.
    TypeError
        For scores that are not numbers, or an option of a wrong type.

    Notes
    -----
    Minimises sum_i w_i |x_i - x_k| (Euclidean) over the judges k of positive weight; of judges
    that rounding cannot tell apart the first. Breakdown point 1/2. Cost O(n_judges^2
    n_attributes) a query. The geometric median minimises the same sum over all of space; the
    medoid's sum is at most twice as large.

    References
    ----------
    .. [1] L. Kaufman, P. Rousseeuw, "Clustering by means of medoids", 1987.

    Examples
    --------
    >>> import ropoll_core
    >>> ropoll_core.scores.medoid([[4, 5], [5, 4], [4, 4], [0, 0]])
    array([4., 4.])
    """
    panels = as_panels(
        scores,
        weights=weights,
        nan_policy=nan_policy,
        out=out,
        workers=workers,
        full_output=full_output,
    )
    _, n, d = panels.scores.shape
    return run_panels(
        panels,
        comparators.medoid_rows,
        scratch=comparators.scratch_size("medoid", n, d),
        cost_ns=20 + n * n * (d + 4) / 4,
    )
