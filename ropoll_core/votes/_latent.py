"""Dawid-Skene: the truth and the judges estimated together, without labels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ropoll_core._checks.ballots import as_ballots
from ropoll_core._checks.options import as_count, as_real
from ropoll_core._kernels import dawid_skene as kernels
from ropoll_core._results.vote_analysis import DawidSkene
from ropoll_core.votes._types import as_types

__all__ = ["dawid_skene"]


def dawid_skene(
    votes: Any, *, smoothing: float = 1.0, tol: float = 1e-10, max_iter: int = 1000
) -> DawidSkene:
    """Estimate the truth and each judge's sensitivity and specificity from ballots alone.

    Parameters
    ----------
    votes : array_like (n_queries, n_judges)
        Ballots, as in :func:`tally`.
    smoothing : float
        Added to each count of ballots by truth, so that no rate is exactly 0 or 1; positive.
    tol : float
        Stop when the mean log-likelihood of a query rises by less.
    max_iter : int

    Returns
    -------
    DawidSkene
        ``posterior``, ``decision``, ``sensitivity``, ``specificity``, ``converged``.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong type or shape, or a value is no ballot.

    Notes
    -----
    Expectation-maximisation (Dawid & Skene 1979) on the distinct ballot patterns, started at
    the share of ballots for 1; of the two labellings that fit equally well it stays near that
    start. It assumes judges that err independently given the truth.

    Examples
    --------
    >>> from ropoll_core.votes import dawid_skene
    >>> votes = [[1, 1, 0], [1, 1, 1], [0, 0, 1], [0, 0, 0], [1, 1, 0], [0, 0, 1]]
    >>> dawid_skene(votes).decision.tolist()
    [1, 1, 0, 0, 1, 0]
    """
    ballots = as_ballots(votes)
    smoothing = as_real(smoothing, "smoothing", low=0.0, open_low=True)
    tol = as_real(tol, "tol", low=0.0)
    max_iter = as_count(max_iter, "max_iter")

    types = as_types(ballots)
    answered = (types.votes >= 0).any(axis=1)
    rows, counts = np.ascontiguousarray(types.votes[answered]), types.counts[answered]
    n_judges, n = types.n_judges, int(counts.sum())
    posterior = (rows == 1).sum(axis=1) / (rows >= 0).sum(axis=1)
    expected = np.empty((n_judges, 2, 2))
    for vote in (0, 1):
        weight = counts[:, None] * (rows == vote)
        expected[:, 1, vote] = posterior @ weight
        expected[:, 0, vote] = (1 - posterior) @ weight
    previous, n_iter, converged = -math.inf, 0, n == 0
    while not converged and n_iter < max_iter:
        share = (float(posterior @ counts) + smoothing) / (n + 2 * smoothing)
        rates = (expected + smoothing) / (expected.sum(axis=2, keepdims=True) + 2 * smoothing)
        logs, prior = np.log(rates), np.log([share, 1 - share])
        log_odds, log_zero = _odds_of(logs)
        likelihood = kernels.expectation(
            rows, counts, log_odds, log_zero, prior, posterior, expected
        )
        n_iter += 1
        converged = likelihood - previous < tol * n
        previous = likelihood
    if n == 0:
        share, rates = math.nan, np.full((n_judges, 2, 2), math.nan)
    return DawidSkene(
        posterior=_posterior_of(ballots, n, rates, share),
        prevalence=share,
        sensitivity=rates[:, 1, 1].copy(),
        specificity=rates[:, 0, 0].copy(),
        n_iter=n_iter,
        converged=converged,
    )


def _odds_of(logs: Any) -> tuple[Any, Any]:
    return np.ascontiguousarray(logs[:, 1] - logs[:, 0]), np.ascontiguousarray(logs[:, 0])


def _posterior_of(ballots: Any, n: int, rates: Any, share: float) -> Any:
    """Posterior of every query, in the order given, under the final rates."""
    posterior = np.full(ballots.shape[0], math.nan)
    if n:
        log_odds, log_zero = _odds_of(np.log(rates))
        prior = np.log([share, 1 - share])
        once = np.broadcast_to(np.int64(1), posterior.shape)
        kernels.expectation(
            ballots, once, log_odds, log_zero, prior, posterior, np.empty_like(rates)
        )
        posterior[~(ballots >= 0).any(axis=1)] = math.nan
    return posterior
