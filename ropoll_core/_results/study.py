"""Results of `theory` and `contamination`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._results.base import Result

__all__ = ["BreakdownBound", "IndicatorCorrelation", "JudgeCorrelation", "plain"]


def plain(value: Any) -> Any:
    """A float for a result of no axes, the array itself for any other."""
    return float(value) if np.ndim(value) == 0 else value


@dataclass(frozen=True, repr=False, eq=False)
class BreakdownBound(Result):
    """What `theory.breakdown_bound` promises.

    Attributes
    ----------
    bound : float or ndarray
        |geometric median - truth| is at most this, in score units ...
    probability : float or ndarray
        ... with at least this probability. Not positive: the bound promises nothing.
    constant : float or ndarray
        C at `alpha + slack`.
    radius : float or ndarray
        Radius of the cluster of clean judges, in score units.
    """

    bound: Any
    probability: Any
    constant: Any
    radius: Any


@dataclass(frozen=True, repr=False, eq=False)
class JudgeCorrelation(Result):
    """How alike judges score: `theory.judge_correlation`.

    Attributes
    ----------
    gamma : float
        Mean of `per_attribute`; NaN if no pair of judges has a correlation.
    per_attribute : ndarray of shape (n_attributes,)
        Mean correlation of the pairs of judges, for each attribute.
    matrix : ndarray of shape (n_attributes, n_judges, n_judges)
        Pearson correlations over the items that both judges scored; NaN where undefined.
    n_items : ndarray of shape (n_judges, n_judges)
        Items that both judges scored.
    n_undefined : int
        Pairs (times attributes) left out of the means: fewer than two items, or a judge whose
        scores on them are all equal.
    """

    gamma: float
    per_attribute: NDArray[np.float64]
    matrix: NDArray[np.float64]
    n_items: NDArray[np.int64]
    n_undefined: int


@dataclass(frozen=True, repr=False, eq=False)
class IndicatorCorrelation(Result):
    """How alike judges succeed: `theory.indicator_correlation`.

    Attributes
    ----------
    gamma : ndarray of shape (n_quantiles,)
        Mean correlation of the pairs of judges at each quantile; NaN if no pair has one.
    quantiles : ndarray of shape (n_quantiles,)
        As given.
    radius : ndarray of shape (n_quantiles,)
        The quantiles of the pooled deviations, in score units.
    matrix : ndarray of shape (n_quantiles, n_judges, n_judges)
        Pearson correlations of the indicators; NaN where undefined.
    n_items : int
        Items used.
    n_unknown : int
        Items left out because their truth is missing.
    n_undefined : int
        Pairs (times quantiles) left out: a judge that is always, or never, within the radius.
    """

    gamma: NDArray[np.float64]
    quantiles: NDArray[np.float64]
    radius: NDArray[np.float64]
    matrix: NDArray[np.float64]
    n_items: int
    n_unknown: int
    n_undefined: int


@dataclass(frozen=True, repr=False, eq=False)
class SimulatedJury(Result):
    """A generated jury whose truth is known: `contamination.simulate_jury`.

    Attributes
    ----------
    truth : ndarray of shape (n_items, n_attributes)
    scores : ndarray of shape (n_items, n_judges, n_attributes)
        NaN where a judge failed.
    scale : tuple of float
        Ends of the scale of the truth.
    sigma, failure_rate : ndarray of shape (n_judges,)
        As given, one for each judge.
    correlation : float
        As given.
    """

    truth: NDArray[np.float64]
    scores: NDArray[np.float64]
    scale: tuple[float, float]
    sigma: NDArray[np.float64]
    correlation: float
    failure_rate: NDArray[np.float64]


@dataclass(frozen=True, repr=False, eq=False)
class CorruptedScores(Result):
    """A copy of scores with some cells corrupted: `contamination.corrupt`.

    Attributes
    ----------
    scores : ndarray of shape (n_items, n_judges, n_attributes)
        The corrupted copy.
    hit : ndarray of bool, shape (n_items, n_judges)
        Cells that were corrupted; a missing judge never is.
    rate : ndarray of shape (n_judges,)
        As given, one for each judge.
    natural_failure_rate : ndarray of shape (n_judges,)
        Share of items on which the judge is missing or gave zeros only.
    effective_rate : ndarray of shape (n_judges,)
        f + (1 - f) r: share of items expected to have failed or been corrupted.
    """

    scores: NDArray[np.float64]
    hit: NDArray[np.bool_]
    rate: NDArray[np.float64]
    natural_failure_rate: NDArray[np.float64]
    effective_rate: NDArray[np.float64]
