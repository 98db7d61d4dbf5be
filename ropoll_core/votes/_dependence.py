"""Correlated errors, and how many independent votes a panel is worth."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.ballots import as_ballots, as_column, as_judge_names
from ropoll_core._results.vote_analysis import EffectiveVotesChange
from ropoll_core._results.votes import EffectiveVotes, ErrorCorrelation
from ropoll_core.votes._types import as_types

__all__ = ["effective_votes", "effective_votes_change", "error_correlation", "names_or_numbers"]

_BLOCK = 1 << 16


def names_or_numbers(judges: tuple[str, ...] | None, n_judges: int) -> tuple[str, ...]:
    """Names, or the column numbers as text."""
    return tuple(str(j) for j in range(n_judges)) if judges is None else judges


def pair_counts(
    errors: NDArray[np.int8], counts: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """For each pair: queries answered by both, wrong in the first, wrong in both.

    Products of 0/1 matrices in float64, exact below 2^53.
    """
    k = errors.shape[1]
    answered, first_wrong, both_wrong = (np.zeros((k, k)) for _ in range(3))
    for start in range(0, errors.shape[0], _BLOCK):
        block = errors[start : start + _BLOCK]
        valid, wrong = (block >= 0).astype(np.float64), (block == 1).astype(np.float64)
        weight = counts[start : start + _BLOCK, None]
        answered += (valid * weight).T @ valid
        first_wrong += (wrong * weight).T @ valid
        both_wrong += (wrong * weight).T @ wrong
    return tuple(np.rint(a).astype(np.int64) for a in (answered, first_wrong, both_wrong))  # type: ignore[return-value]


def correlate(
    errors: NDArray[np.int8], counts: NDArray[np.int64], judges: tuple[str, ...]
) -> ErrorCorrelation:
    """Correlation of columns of errors whose rows come with counts."""
    n, wrong, both = pair_counts(errors, counts)
    spread = (n - wrong) * wrong  # n E - E^2, of the first judge of each pair
    phi = np.full(n.shape, np.nan)
    defined = (spread > 0) & (spread.T > 0)
    scale = np.sqrt(spread.astype(np.float64) * spread.T)
    np.divide(n * both - wrong * wrong.T, scale, out=phi, where=defined)
    np.fill_diagonal(phi, np.where(np.diagonal(defined), 1.0, np.nan))
    agreement = np.full(n.shape, np.nan)
    np.divide(n - wrong - wrong.T + 2 * both, n, out=agreement, where=n > 0)
    return ErrorCorrelation(
        judges=judges,
        phi=phi,
        n_pairs=n,
        n_both_wrong=both,
        agreement=agreement,
    )


def from_correlation(correlation: ErrorCorrelation) -> EffectiveVotes:
    """Effective votes of the judges whose errors vary."""
    judges = correlation.judges
    varies = ~np.isnan(np.diagonal(correlation.phi))
    used = correlation.phi[np.ix_(varies, varies)]
    k = used.shape[0]
    upper = used[np.triu_indices(k, 1)]
    mean_phi = float(upper.mean()) if upper.size else math.nan
    n_eff, eigen, reason = _kish(k, mean_phi), math.nan, ""
    if k < 2:
        reason = "fewer than two judges whose errors vary"
    elif np.isnan(upper).any():
        i, j = np.argwhere(np.isnan(np.triu(used, 1)))[0]
        names = [name for name, keep in zip(judges, varies, strict=True) if keep]
        reason = f"the errors of {names[i]} or {names[j]} do not vary where both answered"
    else:
        eigen = k / float(np.linalg.eigvalsh(used)[-1])
        if math.isnan(n_eff):
            reason = "correlations over different queries do not fit together"
    pairs = correlation.agreement[np.triu_indices(len(judges), 1)]
    pairs = pairs[~np.isnan(pairs)]
    return EffectiveVotes(
        n_eff=n_eff,
        mean_phi=mean_phi,
        n_eff_eigen=eigen,
        k_used=k,
        left_out=tuple(name for name, keep in zip(judges, varies, strict=True) if not keep),
        reason=reason,
        mean_agreement=float(pairs.mean()) if pairs.size else math.nan,
        n_errors=correlation.n_errors.copy(),
    )


def _kish(k: int, mean_phi: float) -> float:
    """k / (1 + (k - 1) mean_phi): infinite at the least possible mean, -1/(k - 1)."""
    if k < 2:
        return math.nan
    design = 1 + (k - 1) * mean_phi
    if abs(design) < 1e-12 * k:
        return math.inf
    return k / design if design > 0 else math.nan


def error_correlation(
    errors: Any, *, judges: Any = None, workers: int | None = None
) -> ErrorCorrelation:
    """Correlation of the errors of every pair of judges.

    Parameters
    ----------
    errors : array_like (n_queries, n_judges)
        1 where the judge is wrong, 0 where right, missing as in :func:`tally`. Each pair uses
        the queries that both answered.
    judges : sequence of str, optional
        Names of the columns; their number is then checked.
    workers : int, optional
        Threads; see :func:`ropoll_core.default_workers`.

    Returns
    -------
    ErrorCorrelation
        ``phi``, with the counts and the raw agreement beside it.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong type or shape, or a value is neither 0, 1 nor missing.

    Notes
    -----
    phi_ij = (n E_ij - E_i E_j) / sqrt((n E_i - E_i^2)(n E_j - E_j^2)) from integer counts: the
    Pearson correlation of two 0/1 vectors (arXiv:2605.29800).

    Examples
    --------
    >>> from ropoll_core import error_correlation
    >>> result = error_correlation([[1, 1], [0, 0], [1, 0], [0, 0]], judges=["a", "b"])
    >>> round(float(result.phi[0, 1]), 4), float(result.agreement[0, 1])
    (0.5774, 0.75)
    """
    names = as_judge_names(judges)
    types = as_types(as_ballots(errors, "errors", judges=names), workers=workers)
    return correlate(types.votes, types.counts, names_or_numbers(names, types.n_judges))


def effective_votes(
    errors: Any, *, judges: Any = None, workers: int | None = None
) -> EffectiveVotes:
    """How many independent judges a panel is worth, given how its errors correlate.

    Parameters
    ----------
    errors : array_like (n_queries, n_judges)
        As in :func:`error_correlation`.
    judges : sequence of str, optional
        Names of the columns.
    workers : int, optional
        Threads; see :func:`ropoll_core.default_workers`.

    Returns
    -------
    EffectiveVotes
        ``n_eff`` by the mean correlation, ``n_eff_eigen`` by the largest eigenvalue, and the
        judges left out of both because their errors do not vary.

    Raises
    ------
    TypeError, ValueError
        As :func:`error_correlation`.

    Notes
    -----
    n_eff = k / (1 + (k - 1) mean phi) and k / lambda_max (arXiv:2605.29800), k being the judges
    used. Nothing is clamped: the mean may be as low as -1/(k - 1), so n_eff may exceed k.

    Examples
    --------
    >>> from ropoll_core import effective_votes
    >>> result = effective_votes([[1, 1, 0], [0, 0, 0], [1, 0, 0], [0, 0, 0]])
    >>> round(result.n_eff, 3), result.k_used, result.left_out
    (1.268, 2, ('2',))
    """
    return from_correlation(error_correlation(errors, judges=judges, workers=workers))


def effective_votes_change(
    votes: Any, signal: Any, labels: Any, *, judges: Any = None, workers: int | None = None
) -> EffectiveVotesChange:
    """Effective votes of a panel before and after one judge gives way to the signal.

    Parameters
    ----------
    votes, signal, labels : array_like
        As in :func:`substitution`. Where the signal abstains the new panel lacks a ballot.
    judges : sequence of str, optional
        Names of the columns.
    workers : int, optional
        Threads; see :func:`ropoll_core.default_workers`.

    Returns
    -------
    EffectiveVotesChange
        ``before``, ``after`` (a judge replaced at a time) and their mean ``change``.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong type or shape, or a value is no ballot.

    Notes
    -----
    The change is the mean over the replaced judge of n_eff of the new panel, less n_eff of the
    old: a definition of this library, as the literature leaves it open.

    Examples
    --------
    >>> from ropoll_core.votes import effective_votes_change
    >>> votes = [[1, 1, 1], [0, 0, 1], [1, 1, 1], [0, 0, 0], [0, 1, 1]]
    >>> result = effective_votes_change(votes, [1, 1, 0, 1, 1], [1, 1, 1, 1, 0])
    >>> round(result.before.n_eff, 3), result.after.round(3).tolist()
    (1.5, [2.077, 3.857, 3.375])
    """
    names = as_judge_names(judges)
    ballots = as_ballots(votes, judges=names)
    n_queries, n_judges = ballots.shape
    types = as_types(
        ballots,
        as_column(signal, "signal", n_queries),
        as_column(labels, "labels", n_queries),
        workers=workers,
    )
    candidates = np.column_stack([types.votes, types.signal])
    known = (candidates >= 0) & (types.labels >= 0)[:, None]
    errors = np.where(known, candidates != types.labels[:, None], -1).astype(np.int8)
    both = correlate(errors, types.counts, (*names_or_numbers(names, n_judges), "signal"))
    seats = list(range(n_judges))
    before = from_correlation(_of_panel(both, seats))
    after = np.array(
        [
            from_correlation(_of_panel(both, [*seats[:r], *seats[r + 1 :], n_judges])).n_eff
            for r in seats
        ]
    )
    return EffectiveVotesChange(before, after, float(after.mean() - before.n_eff))


def _of_panel(correlation: ErrorCorrelation, panel: list[int]) -> ErrorCorrelation:
    block = np.ix_(panel, panel)
    return ErrorCorrelation(
        judges=tuple(correlation.judges[j] for j in panel),
        phi=correlation.phi[block],
        n_pairs=correlation.n_pairs[block],
        n_both_wrong=correlation.n_both_wrong[block],
        agreement=correlation.agreement[block],
    )
