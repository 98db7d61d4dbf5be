"""How correlated judges are: in their scores (gamma) and in their successes (gamma_W)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.study import as_reals, as_truth, as_valid_scores
from ropoll_core._results.study import IndicatorCorrelation, JudgeCorrelation

__all__ = ["indicator_correlation", "judge_correlation"]


def judge_correlation(scores: Any, *, truth: Any = None) -> JudgeCorrelation:
    """gamma: mean correlation between judges, for each attribute and averaged over them.

    Parameters
    ----------
    scores : array of shape (n_items, n_judges, n_attributes)
        NaN where missing; a judge with a missing attribute is missing for that item.
    truth : array of shape (n_items, n_attributes), optional
        Given: correlations of the *errors*, which is what :func:`equicorrelated_mse` and
        :func:`saturation` speak of. None: correlations of the scores, which include what
        judges share because items differ. Items whose truth is NaN are left out.

    Returns
    -------
    JudgeCorrelation
        `gamma`, `per_attribute`, `matrix`, `n_items`, `n_undefined`.

    Raises
    ------
    TypeError, ValueError
        If an argument is not an array of numbers of that shape, or holds +-inf; fewer than two
        judges.

    Notes
    -----
    As measured in arXiv 2606.30931. Pearson correlation over the items that both judges scored.
    Cost O(n_items n_judges^2 n_attributes).

    Examples
    --------
    >>> import numpy as np
    >>> from ropoll_core import theory
    >>> scores = np.array([[[1.0], [2.0]], [[2.0], [4.0]], [[3.0], [3.0]]])
    >>> theory.judge_correlation(scores).gamma
    0.5
    """
    array, valid = as_valid_scores(scores)
    n_items, n_judges, n_attributes = array.shape
    _check_two_judges(n_judges)
    if truth is not None:
        known = as_truth(truth, n_items, n_attributes)
        array = array - known[:, None, :]
        valid &= ~np.isnan(known).any(axis=1, keepdims=True)
    pairs = [_pairwise(array[:, :, a], valid) for a in range(n_attributes)]
    matrix = np.stack([correlation for correlation, _ in pairs])
    means, n_undefined = _mean_off_diagonal(matrix)
    defined = means[~np.isnan(means)]
    return JudgeCorrelation(
        gamma=float(defined.mean()) if defined.size else float("nan"),
        per_attribute=means,
        matrix=matrix,
        n_items=pairs[0][1],
        n_undefined=n_undefined,
    )


def indicator_correlation(
    scores: Any, truth: Any, *, quantiles: Any = (0.5, 0.7, 0.9)
) -> IndicatorCorrelation:
    """gamma_W: mean correlation of "this judge is close to the truth" between judges.

    The deviations |y_i - truth| of all judges and items are pooled; their quantile p is the
    radius; W_i = 1 where judge i is within it, and 0 where it is not or its scores are missing.

    Parameters
    ----------
    scores : array of shape (n_items, n_judges, n_attributes)
        NaN where missing.
    truth : array of shape (n_items, n_attributes)
        Items whose truth is NaN are left out and counted.
    quantiles : sequence of float
        The p, above 0 and below 1.

    Returns
    -------
    IndicatorCorrelation
        `gamma` for each quantile, `radius`, `matrix`, counts.

    Raises
    ------
    TypeError, ValueError
        If an argument is not an array of numbers of that shape, or holds +-inf; fewer than two
        judges; no score at all.

    Notes
    -----
    Lemma 3 of arXiv 2606.30931, which uses gamma_W in :func:`breakdown_bound`. Quantiles are
    interpolated linearly, as by ``numpy.quantile``. Cost O(n_items n_judges^2) a quantile.

    Examples
    --------
    >>> import numpy as np
    >>> from ropoll_core import theory
    >>> truth = np.zeros((4, 1))
    >>> scores = np.array([[[0.1], [0.2]], [[0.1], [0.3]], [[2.0], [3.0]], [[4.0], [0.1]]])
    >>> theory.indicator_correlation(scores, truth, quantiles=[0.6]).gamma
    array([0.57735027])
    """
    array, valid = as_valid_scores(scores)
    n_items, n_judges, n_attributes = array.shape
    _check_two_judges(n_judges)
    known = as_truth(truth, n_items, n_attributes)
    p = as_reals(quantiles, "quantiles", low=0, high=1, open_low=True, open_high=True)
    if p.ndim != 1 or not p.size:
        raise ValueError(f"quantiles must be a non-empty sequence, got shape {p.shape}")
    use = ~np.isnan(known).any(axis=1)
    deviation = np.linalg.norm(array[use] - known[use, None, :], axis=2)
    pooled = deviation[valid[use]]
    if not pooled.size:
        raise ValueError("scores must hold at least one valid judge on an item of known truth")
    radius = np.quantile(pooled, p)
    everyone = np.ones(deviation.shape, dtype=bool)
    with np.errstate(invalid="ignore"):  # NaN <= radius is False: a failed parse counts as 0
        matrix = np.stack([_pairwise((deviation <= r).astype(float), everyone)[0] for r in radius])
    gamma, n_undefined = _mean_off_diagonal(matrix)
    return IndicatorCorrelation(
        gamma=gamma,
        quantiles=p,
        radius=radius,
        matrix=matrix,
        n_items=int(use.sum()),
        n_unknown=int((~use).sum()),
        n_undefined=n_undefined,
    )


def _check_two_judges(n_judges: int) -> None:
    if n_judges < 2:
        raise ValueError(f"scores must have at least two judges, got {n_judges}")


def _pairwise(
    values: NDArray[np.float64], valid: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Pearson correlation of the columns over the rows valid in both, and how many those are."""
    both = valid.astype(np.float64)
    counts = both.T @ both
    own = np.maximum(both.sum(axis=0), 1)
    # Centred on each judge's own mean first, so that the sums below do not cancel.
    x = np.where(valid, values, 0.0)
    x = np.where(valid, x - x.sum(axis=0) / own, 0.0)
    sums, squares = x.T @ both, (x * x).T @ both
    with np.errstate(divide="ignore", invalid="ignore"):
        covariance = x.T @ x - sums * sums.T / counts
        spread = squares - sums * sums / counts
        correlation = covariance / np.sqrt(spread * spread.T)
    flat = _constant_pairs(values, valid)
    correlation[flat | flat.T | (counts < 2)] = np.nan
    return np.clip(correlation, -1.0, 1.0), counts.astype(np.int64)


def _constant_pairs(values: NDArray[np.float64], valid: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """[i, j]: judge i gives one and the same value on all rows valid in i and j.

    Compared exactly: a variance in floating point is seldom zero when it should be.
    """
    n_judges = values.shape[1]
    flat = np.empty((n_judges, n_judges), dtype=bool)
    for i in range(n_judges):
        shared = valid & valid[:, i : i + 1]
        column = values[:, i : i + 1]
        low = np.where(shared, column, np.inf).min(axis=0, initial=np.inf)
        high = np.where(shared, column, -np.inf).max(axis=0, initial=-np.inf)
        flat[i] = low >= high
    return flat


def _mean_off_diagonal(matrix: NDArray[np.float64]) -> tuple[NDArray[np.float64], int]:
    """Mean over the defined pairs of each matrix, and how many pairs are not defined."""
    upper = matrix[:, *np.triu_indices(matrix.shape[1], k=1)]
    defined = ~np.isnan(upper)
    counts = defined.sum(axis=1)
    total = np.where(defined, upper, 0.0).sum(axis=1)
    means = np.where(counts > 0, total / np.maximum(counts, 1), np.nan)
    return means, int((~defined).sum())
