"""Mean and trimmed means of score vectors."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from ropoll_core._checks.panels import as_cut_counts, as_panels
from ropoll_core._kernels import comparators
from ropoll_core._results.aggregate import Aggregate, AggregateStatus
from ropoll_core.scores._run import run_panels

__all__ = ["coordinatewise_trimmed_mean", "mean", "trimmed_mean"]

_NOTHING_TRIMMED = {
    AggregateStatus.NOTHING_TRIMMED: "have too few valid judges for proportion to trim any: "
    "their result is the plain mean"
}


def mean(
    scores: Any,
    *,
    weights: Any = None,
    nan_policy: str = "omit",
    out: NDArray[Any] | None = None,
    workers: int | None = None,
    full_output: bool = False,
) -> NDArray[Any] | Aggregate:
    """Mean score vector of each panel, the aggregator of PoLL.

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
    Breakdown point 0: one judge moves it without bound. Cost O(n_judges n_attributes) a query.
    Sums run in double precision in judge order; scores up to the largest double do not overflow.

    References
    ----------
    .. [1] P. Verga et al., "Replacing Judges with Juries", arXiv:2404.18796.

    Examples
    --------
    >>> import ropoll_core
    >>> ropoll_core.scores.mean([[5, 4], [4, 4], [0, float("nan")]])
    array([4.5, 4. ])
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
        comparators.mean_rows,
        scratch=comparators.scratch_size("mean", n, d),
        cost_ns=10 + n * d,
    )


def trimmed_mean(
    scores: Any,
    *,
    proportion: float,
    nan_policy: str = "omit",
    out: NDArray[Any] | None = None,
    workers: int | None = None,
    full_output: bool = False,
) -> NDArray[Any] | Aggregate:
    """Mean of each panel without the judges farthest from its mean vector.

    Whole judges are dropped, by Euclidean distance; :func:`coordinatewise_trimmed_mean` trims
    each attribute by itself.

    Parameters
    ----------
    scores : array_like of shape (..., n_judges, n_attributes)
        Score vectors. float32 gives float32, everything else float64.
    proportion : float
        Share of the valid judges to drop, in [0, 1); rounded down to a number of judges. Of
        equally far judges the last goes first.
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
        If a positive `proportion` rounds down to no judge somewhere (``full_output=True``: the
        status says so).

    Notes
    -----
    Breakdown point 0 in the worst case: the mean vector that distances are taken from is itself
    moved by one judge, and a close pair of far judges can make a good one the farthest. Cost
    O(n_judges (n_attributes + n_dropped)) a query. Weights are not defined.

    References
    ----------
    .. [1] "RoPoLL: Robust Panel of LLM Judges", arXiv:2606.30931.

    Examples
    --------
    >>> import ropoll_core
    >>> panel = [[4, 5], [5, 4], [4, 4], [5, 5], [0, 0]]
    >>> ropoll_core.scores.trimmed_mean(panel, proportion=0.2)
    array([4.5, 4.5])
    """
    panels = as_panels(
        scores, nan_policy=nan_policy, out=out, workers=workers, full_output=full_output
    )
    _, n, d = panels.scores.shape
    n_cut = as_cut_counts(proportion, n, high=1.0)
    return run_panels(
        panels,
        comparators.trimmed_mean_rows,
        n_cut,
        proportion > 0,
        scratch=comparators.scratch_size("trimmed_mean", n, d),
        cost_ns=20 + n * (2 * d + int(n_cut[-1])),
        reasons=_NOTHING_TRIMMED,
    )


def coordinatewise_trimmed_mean(
    scores: Any,
    *,
    proportion: float,
    nan_policy: str = "omit",
    out: NDArray[Any] | None = None,
    workers: int | None = None,
    full_output: bool = False,
) -> NDArray[Any] | Aggregate:
    """Mean of each attribute without its lowest and highest values.

    Parameters
    ----------
    scores : array_like of shape (..., n_judges, n_attributes)
        Score vectors. float32 gives float32, everything else float64.
    proportion : float
        Share of the valid judges' values to cut at *each* end, in [0, 0.5); rounded down.
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
        If a positive `proportion` rounds down to no value somewhere (``full_output=True``: the
        status says so).

    Notes
    -----
    Breakdown point `proportion` (rounded down) in each attribute. Cost O(n_attributes n_judges
    log^2 n_judges) a query. Missing judges are dropped before anything is cut. Weights are not
    defined.

    References
    ----------
    .. [1] D. Yin, Y. Chen, K. Ramchandran, P. Bartlett, "Byzantine-Robust Distributed Learning",
       ICML 2018.

    Examples
    --------
    >>> import ropoll_core
    >>> panel = [[1, 9], [2, 8], [4, 7], [100, -50]]
    >>> ropoll_core.scores.coordinatewise_trimmed_mean(panel, proportion=0.25)
    array([3. , 7.5])
    """
    panels = as_panels(
        scores, nan_policy=nan_policy, out=out, workers=workers, full_output=full_output
    )
    _, n, d = panels.scores.shape
    return run_panels(
        panels,
        comparators.coordinatewise_trimmed_mean_rows,
        as_cut_counts(proportion, n, high=0.5),
        proportion > 0,
        scratch=comparators.scratch_size("coordinatewise_trimmed_mean", n, d),
        cost_ns=20 + 3 * n * d,
        reasons=_NOTHING_TRIMMED,
        by_judge=False,
    )
