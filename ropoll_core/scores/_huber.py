"""The Huber mean: a mean near the bulk of the judges, a geometric median for the far ones."""

from __future__ import annotations

import math
from typing import Any

from numpy.typing import NDArray

from ropoll_core._checks.options import as_count, as_real
from ropoll_core._checks.panels import as_panels
from ropoll_core._kernels import toolbox
from ropoll_core._results.aggregate import Aggregate, AggregateStatus
from ropoll_core.scores._run import run_panels

__all__ = ["huber_mean"]

_NOT_CONVERGED = {
    AggregateStatus.NOT_CONVERGED: "did not reach tol within max_iter steps: "
    "their result is the last point"
}


def huber_mean(
    scores: Any,
    *,
    threshold: float,
    weights: Any = None,
    tol: float = 1e-10,
    max_iter: int = 100,
    nan_policy: str = "omit",
    out: NDArray[Any] | None = None,
    workers: int | None = None,
    full_output: bool = False,
) -> NDArray[Any] | Aggregate:
    """Huber's M-estimator of location for score vectors.

    Minimises sum_i w_i rho(|x_i - z|) with rho(r) = r^2/2 up to `threshold` and
    threshold (r - threshold/2) beyond.

    Parameters
    ----------
    scores : array_like of shape (..., n_judges, n_attributes)
        Score vectors. float32 gives float32, everything else float64.
    threshold : float
        Distance, in the units of `scores`, up to which a judge counts in full; positive. A large
        one gives the mean, a small one a geometric median.
    weights : array_like of shape (n_judges,) or (..., n_judges), optional
        Finite, not negative; relative among the valid judges of a query.
    tol : float
        Bound on the excess of the objective over its minimum, relative to the objective.
    max_iter : int
        Most steps.
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

    Warns
    -----
    AggregationWarning
        If `tol` is not met within `max_iter` steps somewhere (``full_output=True``: the status
        says so).

    Notes
    -----
    Newton steps with a line search from the coordinate-wise median. The minimum is unique where
    any judge lies within `threshold` of it. Breakdown point 1/2. Cost O(n_judges n_attributes^2 +
    n_attributes^3) a step, seldom more than 10 steps.

    References
    ----------
    .. [1] P. Huber, "Robust Estimation of a Location Parameter", Ann. Math. Statist. 35, 1964.
    .. [2] K. Pillutla, S. Kakade, Z. Harchaoui, "Robust Aggregation for Federated Learning",
       IEEE Trans. Signal Process. 70, 2022 (the smoothed geometric median).

    Examples
    --------
    >>> import ropoll_core
    >>> panel = [[4.0], [5.0], [6.0], [50.0]]
    >>> ropoll_core.scores.huber_mean(panel, threshold=3.0)
    array([6.])
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
        toolbox.huber_mean_rows,
        as_real(threshold, "threshold", low=0.0, open_low=True),
        as_real(tol, "tol", low=0.0, high=math.inf, open_low=True),
        as_count(max_iter, "max_iter"),
        scratch=toolbox.scratch_size("huber_mean", n, d),
        cost_ns=100 + 4 * (n * d * d + d**3 / 3),
        reasons=_NOT_CONVERGED,
    )
