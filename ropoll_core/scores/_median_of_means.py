"""Geometric median of the means of groups of judges."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.options import as_choice, as_count
from ropoll_core._checks.panels import Panels, as_panels
from ropoll_core._kernels import comparators
from ropoll_core._kernels.geometric_median import Job, scratch_bytes
from ropoll_core._kernels.panels import Batch
from ropoll_core._results.aggregate import Aggregate, AggregateStatus
from ropoll_core._results.scores import Status
from ropoll_core._rng import as_generator
from ropoll_core.scores._geometric_median import CERTIFIED_TO, empty_details
from ropoll_core.scores._run import run_panels

__all__ = ["geometric_median_of_means", "median_of_means"]

_BLOCK = 512  # queries whose group means are held at a time


def median_of_means(
    scores: Any,
    *,
    n_groups: int,
    groups: str = "consecutive",
    rng: Any = None,
    nan_policy: str = "omit",
    out: NDArray[Any] | None = None,
    workers: int | None = None,
    full_output: bool = False,
) -> NDArray[Any] | Aggregate:
    """Geometric median of the mean vectors of groups of judges.

    Parameters
    ----------
    scores : array_like of shape (..., n_judges, n_attributes)
        Score vectors. float32 gives float32, everything else float64.
    n_groups : int
        From 1 (the mean) to n_judges (the geometric median). The valid judges of a query are cut
        into groups whose sizes differ by at most one.
    groups : {"consecutive", "random"}
        Judges in their own order, or in one random order for all queries.
    rng : None, int, SeedSequence or Generator, optional
        Seed of the order; only for ``groups="random"``.
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

    Warns
    -----
    AggregationWarning
        If a query has fewer valid judges than groups: its result is NaN (``full_output=True``:
        the status says so).

    Notes
    -----
    Breakdown point floor((n_groups - 1)/2)/n_judges: a group with one faulty judge is lost. Cost
    O(n_judges n_attributes) and a geometric median of n_groups points a query, certified as
    :func:`geometric_median` does. Weights are not defined. ``geometric_median_of_means`` is this
    function under its full name.

    References
    ----------
    .. [1] S. Minsker, "Geometric median and robust estimation in Banach spaces", Bernoulli 21,
       2015.

    Examples
    --------
    >>> import ropoll_core
    >>> panel = [[4, 5], [5, 4], [4, 4], [5, 5], [0, 0], [5, 4]]
    >>> ropoll_core.scores.median_of_means(panel, n_groups=3)
    array([4.5, 4.5])
    """
    # Check arguments
    panels = as_panels(
        scores, nan_policy=nan_policy, out=out, workers=workers, full_output=full_output
    )
    _, n, d = panels.scores.shape
    count = as_count(n_groups, "n_groups", most=n)
    if as_choice(groups, "groups", ("consecutive", "random")) == "random":
        order = as_generator(rng).permutation(n)
    elif rng is not None:
        raise ValueError('rng applies to groups="random" only')
    else:
        order = np.arange(n)

    # Compute and wrap
    return run_panels(
        panels,
        _GroupedMedian(panels, order.astype(np.int32), count),
        scratch=lambda: _Scratch(panels, count),
        cost_ns=30 + 2 * n * d + 3 * count * d,
        reasons={
            AggregateStatus.TOO_FEW_JUDGES: f"have fewer than n_groups={count} valid judges: "
            "their result is NaN",
            AggregateStatus.NOT_CONVERGED: "have a median of means that is not certified",
        },
    )


geometric_median_of_means = median_of_means


class _Scratch:
    """What a thread needs: group means of a block and the two kernels' own scratch."""

    def __init__(self, panels: Panels, n_groups: int) -> None:
        _, n, d = panels.scores.shape
        self.means = np.empty((_BLOCK, n_groups, d), panels.scores.dtype)
        self.groups = np.empty(comparators.scratch_size("group_means", n, d))
        self.median = np.empty(scratch_bytes(n_groups, d), np.uint8)


class _GroupedMedian:
    """Kernel over (start, stop): group means of a block, then their geometric medians."""

    def __init__(self, panels: Panels, order: NDArray[np.int32], n_groups: int) -> None:
        self.rows, self.order, self.n_groups = panels.rows, order, n_groups
        self.tol = CERTIFIED_TO[panels.scores.itemsize]

    def __call__(self, batch: Batch, start: int, stop: int, scratch: _Scratch) -> None:
        for first in range(start, stop, _BLOCK):
            last = min(first + _BLOCK, stop)
            means = scratch.means[: last - first]
            comparators.group_means_rows(batch, self.order, means, first, last, scratch.groups)
            job = self._job(means, self.rows[first:last])
            job.run(0, last - first, scratch.median)
            if Status.NOT_CERTIFIED in job.statuses_seen()[0]:
                self._mark(batch, first, means, scratch)

    def _job(
        self,
        means: NDArray[Any],
        medians: NDArray[Any],
        details: tuple[NDArray[Any], ...] | None = None,
    ) -> Job:
        return Job(
            means,
            medians,
            None,
            details,
            propagate=False,
            solver=False,
            max_iter=200,
            tol=self.tol,
            step=1e-8,
            eta=1e-8,
        )

    def _mark(self, batch: Batch, first: int, means: NDArray[Any], scratch: _Scratch) -> None:
        """Run the block again, for the statuses."""
        size, n_groups, d = means.shape
        details = empty_details(size, n_groups)
        job = self._job(means, np.empty((size, d), means.dtype), details)
        job.run(0, size, scratch.median)
        for place in np.flatnonzero(details[4] == Status.NOT_CERTIFIED):
            batch.set_status(first + int(place), int(AggregateStatus.NOT_CONVERGED))
