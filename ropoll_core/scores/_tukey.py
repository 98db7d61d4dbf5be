"""Tukey's halfspace median of score vectors, exact and by random directions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.options import as_count
from ropoll_core._checks.panels import as_panels
from ropoll_core._kernels import tukey
from ropoll_core._results.aggregate import Aggregate, AggregateStatus
from ropoll_core._rng import as_generator
from ropoll_core.scores._run import run_panels

__all__ = ["random_tukey_median", "tukey_median"]

_MOST_JUDGES = {1: 2**31 - 1, 2: 64, 3: 32}  # by n_attributes


def tukey_median(
    scores: Any,
    *,
    nan_policy: str = "omit",
    out: NDArray[Any] | None = None,
    workers: int | None = None,
    full_output: bool = False,
) -> NDArray[Any] | Aggregate:
    """Centroid of the region of greatest halfspace depth, exact for up to three attributes.

    The halfspace depth of a point is the least number of judges in any closed half-space that
    has the point on its border.

    Parameters
    ----------
    scores : array_like of shape (..., n_judges, n_attributes)
        Score vectors of at most 3 attributes; at most 64 judges for 2 attributes and 32 for 3.
        float32 gives float32, everything else float64.
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
        In the units of `scores`. NaN where a query has no valid judge.

    Raises
    ------
    ValueError
        For more attributes or judges than that (:func:`random_tukey_median` takes any), an
        infinite score (names query, judge and attribute), a wrong shape or option.
    TypeError
        For scores that are not numbers, or an option of a wrong type.

    Warns
    -----
    AggregationWarning
        If rounding kept the deepest region from being found (``full_output=True``: the status).

    Notes
    -----
    The regions of depth k = ceil(m/(d + 1)), ... are cut out of a box by the half-spaces through
    every d of the m valid judges until nothing is left; the last that was not empty counts. A
    region is enlarged by 1e-9 of the panel's extent, so one that is a point or a segment is
    found; the result is accurate to about that over the smallest angle between the region's
    sides. For one attribute it is the median. Unchanged by affine maps of the scores. Breakdown
    point at least 1/(d + 1), towards 1/3 for many judges around a centre. Cost O(C(m, d) m log m)
    for each depth tried, about m/6 of them. Weights are not defined.

    References
    ----------
    .. [1] J. Tukey, "Mathematics and the picturing of data", 1975.
    .. [2] D. Donoho, M. Gasko, "Breakdown properties of location estimates based on halfspace
       depth", Ann. Statist. 20, 1992.

    Examples
    --------
    The one judge inside the triangle of the others:

    >>> import ropoll_core
    >>> panel = [[0, 0], [4, 0], [0, 4], [1, 1]]
    >>> ropoll_core.scores.tukey_median(panel).round(9)
    array([1., 1.])
    """
    panels = as_panels(
        scores, nan_policy=nan_policy, out=out, workers=workers, full_output=full_output
    )
    _, n, d = panels.scores.shape
    if d not in _MOST_JUDGES or n > _MOST_JUDGES[d]:
        raise ValueError(
            "tukey_median is exact for 1 attribute, 2 attributes of at most 64 judges and 3 of at "
            f"most 32, got {n} judges of {d} attributes; random_tukey_median takes any"
        )
    return run_panels(
        panels,
        tukey.tukey_median_rows,
        scratch=tukey.scratch_size(n, d, True),
        cost_ns=100 + (0 if d == 1 else 60 * n ** (d + 1)),
        reasons={
            AggregateStatus.NOT_CONVERGED: "have a deepest region that rounding hides: "
            "their result is inexact"
        },
    )


def random_tukey_median(
    scores: Any,
    *,
    n_directions: int = 500,
    rng: Any = None,
    nan_policy: str = "omit",
    out: NDArray[Any] | None = None,
    workers: int | None = None,
    full_output: bool = False,
) -> NDArray[Any] | Aggregate:
    """Mean of the judges of greatest depth along random directions.

    An approximation of :func:`tukey_median` for any number of attributes: depth is taken over
    `n_directions` random half-spaces instead of all, and at the judges instead of everywhere.

    Parameters
    ----------
    scores : array_like of shape (..., n_judges, n_attributes)
        Score vectors. float32 gives float32, everything else float64.
    n_directions : int
        Random directions, the same for all queries.
    rng : None, int, SeedSequence or Generator
        Seed of the directions; None takes fresh entropy.
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
        In the units of `scores`. NaN where a query has no valid judge.

    Raises
    ------
    ValueError
        For an infinite score (names query, judge and attribute), a wrong shape or option.
    TypeError
        For scores that are not numbers, or an option of a wrong type.

    Notes
    -----
    The depth found is never below the true one. With fewer judges than attributes + 2 every
    judge may have depth 1, and the result is the mean: breakdown point 0 there, about 1/3 for
    many judges in few attributes. Cost O(n_directions n_judges (n_attributes + n_judges)) a
    query. Weights are not defined.

    References
    ----------
    .. [1] J. Cuesta-Albertos, A. Nieto-Reyes, "The random Tukey depth", Comput. Statist. Data
       Anal. 52, 2008.

    Examples
    --------
    >>> import ropoll_core
    >>> panel = [[0, 0], [4, 0], [0, 4], [1, 1]]
    >>> ropoll_core.scores.random_tukey_median(panel, rng=1)
    array([1., 1.])
    """
    panels = as_panels(
        scores, nan_policy=nan_policy, out=out, workers=workers, full_output=full_output
    )
    _, n, d = panels.scores.shape
    count = as_count(n_directions, "n_directions")
    normals = as_generator(rng).normal(size=(count, d))
    return run_panels(
        panels,
        tukey.random_tukey_median_rows,
        normals / np.linalg.norm(normals, axis=1, keepdims=True),
        scratch=tukey.scratch_size(n, d, False),
        cost_ns=50 + count * n * (d + n / 2),
    )
