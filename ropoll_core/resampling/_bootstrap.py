"""The task-level bootstrap."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.options import as_choice, as_count, as_real
from ropoll_core._checks.resampling import (
    as_moments,
    as_rows,
    as_statistics,
    as_strata,
    as_tasks,
)
from ropoll_core._results.resampling import BootstrapResult, BootstrapStatus
from ropoll_core._rng import as_key
from ropoll_core.resampling._intervals import interval
from ropoll_core.resampling._moments import MomentProblem, Sampled
from ropoll_core.resampling._rows import RowProblem
from ropoll_core.resampling.statistics import Statistic, divide

__all__ = ["bootstrap", "summarise"]

METHODS = ("percentile", "basic", "bca", "studentized")


def bootstrap(
    statistic: Any,
    data: Any,
    *,
    tasks: Any = None,
    strata: Any = None,
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
    method: str = "percentile",
    rng: Any = None,
    workers: int | None = None,
) -> Any:
    """Bootstrap intervals of statistics, resampling whole tasks.

    Tasks (clusters of rows) are drawn with replacement, as many as there are; a task drawn twice
    counts twice. Several statistics of one call see the same draws.

    Parameters
    ----------
    statistic : Statistic or callable, or list or dict of them
        A function of column totals: :class:`Ratio`, :class:`Mean`, :class:`EffectiveVotes`,
        :class:`OfTotals` of a function of yours, and what ``+ - * /`` make of them. Or, slower,
        a function of the resampled rows, given as `data` was (a dict of arrays for a mapping),
        that returns a number or a 1-D array, NaN if undefined. One made by ``numba.njit`` takes
        a float64 array (n_rows, n_columns), returns a number and runs without the GIL.
    data : array_like or mapping
        One row an observation: shape (n_rows,) or (n_rows, n_columns), columns named 0, 1, ...;
        or names mapped to columns (a dict or data frame). For functions of totals finite; whole
        numbers are summed exactly.
    tasks : array_like of shape (n_rows,), optional
        The task of each row: any strings, numbers or hashable objects, rows in any order.
        Default: every row is its own task.
    strata : array_like of shape (n_rows,), optional
        Independent groups of tasks, keys as those of tasks: each resample draws from every group
        as many tasks as it has. For two samples of their own sizes, and functions of totals.
    n_resamples : int
    confidence_level : float
        In (0, 1).
    method : {"percentile", "basic", "bca", "studentized"}
        Studentised intervals are for :class:`Ratio`, :class:`Mean` and weighted sums of them.
    rng : None, int, numpy.random.SeedSequence or numpy.random.Generator
    workers : int, optional
        Threads; -1 for all cores. No result depends on it.

    Returns
    -------
    BootstrapResult, or list or dict of them
        As `statistic` was given.

    Raises
    ------
    ValueError
        Missing task keys (the rows are named), values that are not finite, lengths that differ.
    TypeError
        Columns that do not hold numbers, or a statistic that is none.

    Notes
    -----
    Resample r of a seed draws the same tasks whatever the statistics, the number of resamples,
    threads and processor, for a given number of tasks numbered in the sorted order of their keys
    (keys that do not sort: in the order of first rows). From 8,192 tasks on, tasks whose whole
    moments repeat are drawn by their types. Memory does not grow with n_resamples x n_tasks; only
    replicates are kept.

    Intervals are conditional on the statistic being defined: undefined resamples are counted in
    `n_undefined`. BCa follows Efron (1987), with an acceleration of 0 where leaving a task out
    changes nothing; a studentised interval divides by the linearised standard error over tasks,
    in the data and in each resample, and leaves out resamples where that is zero. `status` says
    where there is no interval, and why.

    Examples
    --------
    >>> import numpy as np
    >>> from ropoll_core import resampling
    >>> correct = np.array([1, 1, 0, 1, 0, 0, 1, 1, 1, 0, 1, 1])
    >>> tasks = np.repeat(["a", "b", "c", "d"], 3)
    >>> result = resampling.bootstrap(resampling.Mean(0), correct, tasks=tasks, rng=7)
    >>> round(float(result.estimate), 3), result.n_tasks, result.status
    (0.667, 4, <BootstrapStatus.OK: 0>)
    """
    # Check arguments: options
    n_resamples = as_count(n_resamples, "n_resamples")
    level = as_real(
        confidence_level, "confidence_level", low=0.0, high=1.0, open_low=True, open_high=True
    )
    method = as_choice(method, "method", METHODS)
    statistics, as_given = as_statistics(statistic, _as_statistic)
    # Check arguments: data, tasks
    table, n_rows = as_rows(data)
    codes, n_tasks = as_tasks(tasks, n_rows)
    of_task = as_strata(strata, codes, n_rows, n_tasks)
    fewest = n_tasks if of_task is None else _fewest(of_task)
    key = as_key(rng)

    results: list[BootstrapResult | None] = [None] * len(statistics)
    for problem, places in _problems(statistics, table, codes, n_tasks, of_task, method):
        for place, one in zip(
            places, problem.sample(key, n_resamples, method, workers), strict=True
        ):
            results[place] = summarise(
                one, method=method, level=level, n_tasks=n_tasks, fewest=fewest, n_rows=n_rows
            )
    return as_given(results)


def _as_statistic(value: Any) -> Any:
    if isinstance(value, Statistic) or callable(value):
        return value
    raise TypeError(
        f"statistic must be a Statistic or a function of the rows, got {type(value).__name__}"
    )


def _problems(
    statistics: list[Any],
    table: Any,
    codes: NDArray[np.int64] | None,
    n_tasks: int,
    strata: NDArray[np.int64] | None,
    method: str,
) -> Iterator[tuple[MomentProblem | RowProblem, list[int]]]:
    """The statistics of moments and those of rows, each kind with its places in the list."""
    studentized = method == "studentized"
    of_moments = [i for i, s in enumerate(statistics) if isinstance(s, Statistic)]
    of_rows = [i for i, s in enumerate(statistics) if not isinstance(s, Statistic)]
    if strata is not None and (of_rows or studentized):
        raise ValueError(
            "strata are for functions of totals (Ratio, Mean, OfTotals, ...) and for the methods "
            "percentile, basic and bca"
        )
    if studentized and of_rows:
        raise TypeError("method='studentized' takes Ratio and Mean, not a function of the rows")
    if of_moments:
        names, rows = as_moments(table)
        chosen = [statistics[i] for i in of_moments]
        problem = MomentProblem(
            chosen,
            names,
            rows,
            codes,
            n_tasks,
            studentized=studentized,
            share_draws=bool(of_rows),
            strata=strata,
        )
        yield problem, of_moments
    if of_rows:
        yield RowProblem([statistics[i] for i in of_rows], table, codes, n_tasks), of_rows


def _fewest(strata: NDArray[np.int64]) -> int:
    """Tasks of the smallest stratum; 1 only if no stratum has more, for then nothing varies."""
    sizes = np.bincount(strata)
    return 1 if sizes.max() == 1 else max(int(sizes.min()), 2)


def summarise(
    one: Sampled, *, method: str, level: float, n_tasks: int, fewest: int, n_rows: int
) -> BootstrapResult:
    """One statistic's result, output by output; `fewest` tasks are in the smallest stratum."""
    shape = one.estimate.shape
    n_resamples = one.replicates.shape[-1]
    low, high, error, p = (np.full(shape, np.nan) for _ in range(4))
    undefined = np.zeros(shape, dtype=np.int64)
    status = np.zeros(shape, dtype=np.int8)
    for place in np.ndindex(shape):
        estimate = float(one.estimate[place])
        values = _sorted(one.replicates[place])
        undefined[place] = n_resamples - values.size
        extra: dict[str, Any] = {}
        if one.jackknife is not None:
            extra["jackknife"] = one.jackknife[place]
            extra["weights"] = one.jackknife_weights
            extra["starts"] = one.strata_starts
        if one.error is not None and one.errors is not None:
            pivots = divide(one.replicates[place] - estimate, one.errors[place])
            extra["pivots"] = _sorted(pivots)
            extra["error"] = float(one.error[place])
            undefined[place] = n_resamples - extra["pivots"].size
        low[place], high[place], status[place] = interval(
            estimate, values, method=method, level=level, n_tasks=fewest, **extra
        )
        error[place] = _standard_error(values)
        if values.size:
            p[place] = np.searchsorted(values, 0.0, side="right") / values.size

    def shaped(values: NDArray[Any]) -> Any:
        return values if shape else values.item()

    return BootstrapResult(
        estimate=shaped(one.estimate),
        low=shaped(low),
        high=shaped(high),
        standard_error=shaped(error),
        p_not_positive=shaped(p),
        n_undefined=shaped(undefined),
        status=status if shape else BootstrapStatus(int(status[()])),
        n_tasks=n_tasks,
        n_rows=n_rows,
        n_resamples=n_resamples,
        method=method,
        confidence_level=level,
        replicates=one.replicates,
    )


def _sorted(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The defined values in order."""
    ordered = np.sort(values)  # NaN goes last
    return ordered[: np.searchsorted(ordered, np.nan)]


def _standard_error(values: NDArray[np.float64]) -> float:
    """Standard deviation of sorted values; 0 where they are equal, NaN where one is infinite."""
    if values.size < 2 or np.isinf(values[0]) or np.isinf(values[-1]):
        return float("nan")
    return 0.0 if values[0] == values[-1] else float(values.std(ddof=1))
