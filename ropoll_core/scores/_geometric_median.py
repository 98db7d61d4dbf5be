"""The geometric median of score vectors."""

from __future__ import annotations

import warnings
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ropoll_core._checks.options import as_choice, as_count, as_flag, as_real
from ropoll_core._checks.panels import as_out
from ropoll_core._checks.scores import (
    NAN_POLICIES,
    as_scores,
    as_weights,
    raise_infinite,
    raise_missing,
)
from ropoll_core._kernels.geometric_median import Job, scratch_bytes
from ropoll_core._parallel import run_chunks
from ropoll_core._results.aggregate import AggregationWarning
from ropoll_core._results.scores import GeometricMedian, Status

__all__ = ["geometric_median"]

_SOLVERS = ("newton", "weiszfeld")
_INFINITE = len(Status)  # the kernel's code after the public ones
CERTIFIED_TO = {4: 1e-5, 8: 1e-12}  # by item size


@overload
def geometric_median(
    scores: ArrayLike,
    *,
    weights: ArrayLike | None = ...,
    nan_policy: str = ...,
    solver: str = ...,
    tol: float | None = ...,
    max_iter: int | None = ...,
    eta: float | None = ...,
    out: NDArray[Any] | None = ...,
    workers: int | None = ...,
    full_output: Literal[False] = ...,
) -> NDArray[Any]: ...


@overload
def geometric_median(
    scores: ArrayLike,
    *,
    weights: ArrayLike | None = ...,
    nan_policy: str = ...,
    solver: str = ...,
    tol: float | None = ...,
    max_iter: int | None = ...,
    eta: float | None = ...,
    out: NDArray[Any] | None = ...,
    workers: int | None = ...,
    full_output: Literal[True],
) -> GeometricMedian: ...


def geometric_median(
    scores: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    nan_policy: str = "omit",
    solver: str = "newton",
    tol: float | None = None,
    max_iter: int | None = None,
    eta: float | None = None,
    out: NDArray[Any] | None = None,
    workers: int | None = None,
    full_output: bool = False,
) -> NDArray[Any] | GeometricMedian:
    """Point of least total distance to a panel's score vectors, certified.

    Parameters
    ----------
    scores : array_like, shape (..., n_judges, n_attributes)
        One vector a judge and query. float32 is kept, everything else becomes float64. NaN or
        None makes the judge missing as a whole for that query. Never modified, and read
        through its strides.
    weights : array_like, shape (n_judges,) or (..., n_judges), optional
        Finite, not negative, not all zero. A judge of weight zero is absent, its scores may
        be NaN. Only the ratios among the valid judges matter.
    nan_policy : {"omit", "propagate", "raise"}
        What a missing judge does: it is left out, it makes the query NaN, or it is an error.
    solver : {"newton", "weiszfeld"}
        "newton" is exact: data-point test, closed form for three judges, safeguarded Newton
        steps. "weiszfeld" is the plain iteration with weights ``1/max(distance, eta)`` from
        the mean, as published, to reproduce its numbers and to see its gap.
    tol : float, optional
        For "newton": certify ``gap <= tol * objective``; default 1e-12, or 1e-5 for float32.
        For "weiszfeld": stop once a step is no longer than this, in units of the scores;
        default 1e-8. (`status` then still says whether the gap is within the default above.)
    max_iter : int, optional
        Most steps a query may take; default 200 for "newton", 1000 for "weiszfeld".
    eta : float, optional
        Floor under a distance, in units of the scores; default 1e-8. Only for "weiszfeld".
    out : ndarray, shape (..., n_attributes), optional
        Where the medians go: of the result's type, not sharing memory with `scores`.
    workers : int, optional
        Threads; None means the default (1 unless set), -1 all cores. Never changes the result.
    full_output : bool
        Return a :class:`GeometricMedian` with objective, gap, status, influence.

    Returns
    -------
    ndarray, shape (..., n_attributes), or GeometricMedian

    Raises
    ------
    ValueError
        For a wrong shape or value, +-inf among the scores, or a missing score under
        ``nan_policy="raise"``; the message names query, judge and attribute.
    TypeError
        For scores that are not real numbers, or an option of the wrong type.

    Warns
    -----
    AggregationWarning
        If "newton" could not certify some query and `full_output` is False, so that nobody
        would see the status.

    Notes
    -----
    The gap comes from a feasible dual point, so it bounds the distance to the true minimum
    whatever path the solver took. Where all points lie on a line and their number is even, the
    median is not unique and the middle of the segment of medians is given, as `numpy.median`
    does. Cost is O(n_judges * n_attributes) a step and about four steps a query, plus one
    look at all pairs of judges. The aggregator of RoPoLL (arXiv:2606.30931); the data-point
    test is that of Vardi & Zhang (PNAS 97, 2000).

    A user's own ``numba.njit`` code may call ``geometric_median(panel)`` or
    ``geometric_median(panel, weights=w)`` on one (n_judges, n_attributes) array.

    Examples
    --------
    Three judges each see one flaw; the coordinate-wise median would publish a 5/5/5 that
    nobody gave:

    >>> from ropoll_core.scores import geometric_median
    >>> geometric_median([[5, 5, 1], [5, 1, 5], [1, 5, 5]]).round(2)
    array([3.67, 3.67, 3.67])

    One judge whose reply could not be parsed, one that always answers zero:

    >>> result = geometric_median(
    ...     [[4, 5], [5, 4], [4, 4], [0, 0], [None, None]], full_output=True
    ... )
    >>> result.median, int(result.n_valid), bool(result.certified)
    (array([4., 4.]), 4, True)
    """
    # Check arguments: options
    newton = as_choice(solver, "solver", _SOLVERS) == "newton"
    policy = as_choice(nan_policy, "nan_policy", NAN_POLICIES)
    as_flag(full_output, "full_output")
    if newton and eta is not None:
        raise ValueError('eta applies to solver="weiszfeld" only')
    floor = 1e-8 if eta is None else as_real(eta, "eta", low=0, open_low=True)
    cap = (
        as_count(max_iter, "max_iter", most=2**31 - 1)
        if max_iter is not None
        else (200 if newton else 1000)
    )
    # Check arguments: arrays
    panels, lead = as_scores(scores)
    n_queries, n_judges, n_attributes = panels.shape
    judge_weights = as_weights(weights, panels, lead)
    certify = CERTIFIED_TO[panels.itemsize]
    step = 1e-8
    if tol is not None:
        if newton:
            certify = as_real(tol, "tol", low=0)
        else:
            step = as_real(tol, "tol", low=0)
    median = as_out(out, (*lead, n_attributes), panels)
    flat = median if len(lead) == 1 else median.reshape(n_queries, n_attributes)

    # Compute
    details = empty_details(n_queries, n_judges) if full_output else None
    job = Job(
        panels,
        flat,
        judge_weights,
        details,
        propagate=policy == "propagate",
        solver=not newton,
        max_iter=cap,
        tol=certify,
        step=step,
        eta=floor,
    )
    n_bytes = scratch_bytes(n_judges, n_attributes)
    run_chunks(
        job.run,
        n_queries,
        cost_ns=10 + 2.5 * n_judges * n_attributes,
        workers=workers,
        lanes=16,
        scratch=lambda: np.empty(n_bytes, dtype=np.uint8),
    )
    seen, missing = job.statuses_seen()
    if _INFINITE in seen:
        raise_infinite(panels, lead, judge_weights)
    if missing and policy == "raise":
        raise_missing(panels, lead, judge_weights)

    # Wrap
    if details is None:
        if newton and Status.NOT_CERTIFIED in seen:
            warnings.warn(
                f"some geometric medians were not certified to tol={certify:g}; "
                "full_output=True says which",
                AggregationWarning,
                stacklevel=2,
            )
        return median
    shaped = [field.reshape(lead + field.shape[1:])[()] for field in details]
    return GeometricMedian(median, *shaped)


def empty_details(n_queries: int, n_judges: int) -> tuple[NDArray[Any], ...]:
    """objective, gap, n_valid, n_iter, status, influence."""
    return (
        np.empty(n_queries),
        np.empty(n_queries),
        np.empty(n_queries, dtype=np.int64),
        np.empty(n_queries, dtype=np.int64),
        np.empty(n_queries, dtype=np.int8),
        np.empty((n_queries, n_judges)),
    )
