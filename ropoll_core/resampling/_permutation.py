"""Sampled permutation nulls, for statistics that have no closed form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.options import as_choice, as_count, as_real
from ropoll_core._checks.resampling import as_rows, as_tasks
from ropoll_core._kernels import poisson
from ropoll_core._parallel import run_chunks
from ropoll_core._results.resampling import PermutationResult
from ropoll_core._rng import as_key
from ropoll_core.resampling._intervals import sorted_quantile

__all__ = ["permutation"]

ALTERNATIVES = ("greater", "less", "two-sided")
_CALL_NS = 20_000.0


def permutation(
    statistic: Callable[[Any], Any],
    data: Any,
    *,
    groups: Any = None,
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
    alternative: str = "greater",
    rng: Any = None,
    workers: int | None = None,
) -> PermutationResult:
    """Null distribution of a statistic under permutations of the rows of `data`.

    Parameters
    ----------
    statistic : callable
        Takes `data` with its rows permuted (an array, or a dict of arrays for a mapping) and
        returns a number. What stays in place, such as labels, it holds by itself.
    data : array_like or mapping
        What is permuted, rows on the first axis: for example where a signal is wrong.
    groups : array_like of shape (n_rows,), optional
        Rows change places within their group only. Default: one group.
    n_resamples : int
    confidence_level : float
        Of the central interval of the null.
    alternative : {"greater", "less", "two-sided"}
        Which null values count against the estimate.
    rng, workers
        As in :func:`bootstrap`; permutation r of a seed is the same in every call.

    Returns
    -------
    PermutationResult

    Raises
    ------
    ValueError
        Missing group keys, or a statistic that is NaN.
    TypeError
        If `statistic` is not callable.

    Notes
    -----
    p = (1 + number as extreme) / (1 + n_resamples), which never is 0 (Phipson and Smyth 2010).
    Two-sided: twice the smaller one, at most 1.

    Examples
    --------
    >>> import numpy as np
    >>> from ropoll_core import resampling
    >>> labels = np.array([1, 1, 1, 0, 0, 0, 1, 0])
    >>> signal = np.array([1, 1, 1, 0, 0, 0, 0, 0])
    >>> found = resampling.permutation(lambda s: (s == labels).mean(), signal, rng=1)
    >>> found.estimate, bool(found.p_value < 0.2)
    (0.875, True)
    """
    # Check arguments: options
    n_resamples = as_count(n_resamples, "n_resamples")
    level = as_real(
        confidence_level, "confidence_level", low=0.0, high=1.0, open_low=True, open_high=True
    )
    alternative = as_choice(alternative, "alternative", ALTERNATIVES)
    if not callable(statistic):
        raise TypeError(f"statistic must be a function, got {type(statistic).__name__}")
    # Check arguments: data, groups
    table, n_rows = as_rows(data)
    order, starts = _groups(groups, n_rows)
    key = as_key(rng)

    estimate = _number(statistic(table), "the data")
    null = np.empty(n_resamples)

    def kernel(start: int, stop: int, rows: NDArray[np.int64]) -> None:
        for r in range(start, stop):
            poisson.permute(*key, r, order, starts, rows)
            null[r] = _number(statistic(_take(table, rows)), f"permutation {r}")

    run_chunks(
        kernel,
        n_resamples,
        cost_ns=_CALL_NS + 40.0 * n_rows,
        workers=workers,
        scratch=lambda: np.empty(n_rows, dtype=np.int64),
    )
    ordered = np.sort(null)
    return PermutationResult(
        estimate=estimate,
        p_value=_p_value(estimate, ordered, alternative),
        null_mean=float(ordered.mean()),
        null_low=sorted_quantile(ordered, 0.5 * (1.0 - level)),
        null_high=sorted_quantile(ordered, 0.5 * (1.0 + level)),
        alternative=alternative,
        confidence_level=level,
        n_rows=n_rows,
        n_groups=starts.size - 1,
        n_resamples=n_resamples,
        null=null,
    )


def _groups(groups: Any, n_rows: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows by group, and where each group starts."""
    if groups is None:
        return np.arange(n_rows, dtype=np.int64), np.array([0, n_rows], dtype=np.int64)
    codes, n_groups = as_tasks(groups, n_rows, argument="groups")
    assert codes is not None
    sizes = np.bincount(codes, minlength=n_groups)
    order = np.argsort(codes, kind="stable").astype(np.int64)
    return order, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _take(table: Any, rows: NDArray[np.int64]) -> Any:
    if isinstance(table, dict):
        return {name: array[rows] for name, array in table.items()}
    return table[rows]


def _number(value: Any, where: str) -> float:
    number = float(value)
    if number != number:
        raise ValueError(f"statistic must be defined, got NaN for {where}")
    return number


def _p_value(estimate: float, ordered: NDArray[np.float64], alternative: str) -> float:
    n = ordered.size
    greater = (1 + n - int(np.searchsorted(ordered, estimate, side="left"))) / (1 + n)
    less = (1 + int(np.searchsorted(ordered, estimate, side="right"))) / (1 + n)
    if alternative == "two-sided":
        return min(1.0, 2.0 * min(greater, less))
    return greater if alternative == "greater" else less
