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


@dataclass(frozen=True, repr=False, eq=False)
class Sweep(Result):
    """Errors of aggregators under corruption: `contamination.sweep`.

    Arrays of shape (n_committees, n_corruptions, n_rates, n_methods) unless said otherwise.

    Attributes
    ----------
    methods, corruptions, committees : tuple of str
        Names, in the order of the axes.
    rates : ndarray of shape (n_rates,)
        Mean corruption rate over the judges.
    rmse, rmse_low, rmse_high : ndarray
        Root mean squared error of one attribute, over items, replicates and attributes, and its
        task-bootstrap interval, in score units.
    ratio, ratio_low, ratio_high : ndarray
        `rmse` divided by that of `baseline` in the same cell, and its paired interval.
    n_undefined : ndarray of int
        Panels without a consensus (every judge missing), left out of the errors.
    effective_rate : ndarray of shape (n_committees, n_rates)
        Mean over the committee's judges of f + (1 - f) r.
    natural_failure_rate : ndarray of shape (n_judges,)
        Share of items on which each judge is missing or gave zeros only.
    not_applicable : dict
        (method, committee) -> why the method refused panels of that size; its cells are NaN.
    n_judges : ndarray of int, shape (n_committees,)
        Size of each committee.
    n_panels : int
        Panels in each cell: items of known truth times replicates.
    n_unknown : int
        Items left out because their truth is missing.
    baseline : str or None
        The method that `ratio` divides by.
    confidence_level : float
    """

    methods: tuple[str, ...]
    corruptions: tuple[str, ...]
    committees: tuple[str, ...]
    rates: NDArray[np.float64]
    rmse: NDArray[np.float64]
    rmse_low: NDArray[np.float64]
    rmse_high: NDArray[np.float64]
    ratio: NDArray[np.float64]
    ratio_low: NDArray[np.float64]
    ratio_high: NDArray[np.float64]
    n_undefined: NDArray[np.int64]
    effective_rate: NDArray[np.float64]
    natural_failure_rate: NDArray[np.float64]
    not_applicable: dict[tuple[str, str], str]
    n_judges: NDArray[np.int64]
    n_panels: int
    n_unknown: int
    baseline: str | None
    confidence_level: float

    @property
    def premium(self) -> NDArray[np.float64]:
        """Price of robustness when nobody is corrupted: `ratio` - 1 at rate 0.

        Shape (n_committees, n_methods); NaN if no rate is 0.
        """
        clean = np.flatnonzero(self.rates == 0)
        if not clean.size:
            return np.full((len(self.committees), len(self.methods)), np.nan)
        premium: NDArray[np.float64] = self.ratio[:, 0, clean[0]] - 1
        return premium

    def table(self) -> dict[str, NDArray[Any]]:
        """One row a cell, as columns that pandas, Polars and DuckDB take."""
        axes = [self.committees, self.corruptions, range(len(self.rates)), self.methods]
        grid = np.meshgrid(*[np.arange(len(axis)) for axis in axes], indexing="ij")
        committee, corruption, rate, method = (index.ravel() for index in grid)
        return {
            "committee": np.array(self.committees)[committee],
            "n_judges": self.n_judges[committee],
            "corruption": np.array(self.corruptions)[corruption],
            "rate": self.rates[rate],
            "effective_rate": self.effective_rate[committee, rate],
            "method": np.array(self.methods)[method],
            "rmse": self.rmse.ravel(),
            "rmse_low": self.rmse_low.ravel(),
            "rmse_high": self.rmse_high.ravel(),
            "ratio": self.ratio.ravel(),
            "ratio_low": self.ratio_low.ravel(),
            "ratio_high": self.ratio_high.ravel(),
            "n_panels": np.full(self.rmse.size, self.n_panels),
            "n_undefined": self.n_undefined.ravel(),
        }


@dataclass(frozen=True, repr=False)
class Claim(Result):
    """One qualitative claim of the paper, held against one committee of a sweep.

    Attributes
    ----------
    statement : str
    committee : str
    measured : str
        The numbers that decide, with what they are.
    holds : bool
    """

    statement: str
    committee: str
    measured: str
    holds: bool
