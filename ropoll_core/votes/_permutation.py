"""The pivotal gain of a signal that errs as often but anywhere: its exact distribution.

With K errors among Q queries placed at random, the gain is sum_g w_g (N_g - H_g) over groups of
pivotal queries with equal odds w_g that an opposing signal flips the decision: N_g of them
decided wrongly by the panel, H_g of them hit by an error of the signal. (H_g) is multivariate
hypergeometric; for odd panels under the uniform rule there is one group.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.ballots import as_ballots, as_column
from ropoll_core._checks.options import as_count, as_real
from ropoll_core._results.vote_analysis import PermutationControl
from ropoll_core._rng import as_generator
from ropoll_core.votes._rules import as_rule, least_unit
from ropoll_core.votes._tally import opposed_flip, tally
from ropoll_core.votes._types import as_types

__all__ = ["permutation_control"]

_MOST_STATES = 1 << 23
_TOO_MANY = (
    "the exact distribution has too many values for panels of so many sizes; "
    "sample it with n_resamples="
)


def permutation_control(
    votes: Any,
    signal: Any,
    labels: Any,
    *,
    rule: Any = "uniform",
    confidence_level: float = 0.95,
    n_resamples: int | None = None,
    rng: Any = None,
) -> PermutationControl:
    """Pivotal gain if the signal erred as often, but on queries drawn at random.

    Tells whether a signal helps by being right where the panel is close, beyond being right as
    often as it is.

    Parameters
    ----------
    votes, signal, labels : array_like
        As in :func:`substitution`. Queries on which the signal abstains take no part.
    rule : {"uniform", "majority"} or int
        As in :func:`substitution`.
    confidence_level : float
        Of the central interval of the null distribution, in (0, 1).
    n_resamples : int, optional
        Sample the null this often; None for the exact distribution.
    rng : None, int, numpy.random.SeedSequence or numpy.random.Generator
        For a sampled null.

    Returns
    -------
    PermutationControl

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong type or shape, a value is no ballot, no query is
        pivotal, or the exact distribution has too many values (panels of many sizes): sample
        it then.

    Notes
    -----
    Under the uniform rule on k ballots, k odd, the gain is (k + 1)/(2 k) (N_w - H)/n_pivotal
    with H hypergeometric: no permutation needs to be drawn. Unequal odds (even panels, mixed
    sizes) are convolved.

    Examples
    --------
    >>> from ropoll_core import permutation_control
    >>> votes = [[1, 1, 0]] * 6 + [[1, 1, 1]] * 6
    >>> labels = [0, 0, 0, 0, 1, 1] + [1] * 6
    >>> signal = [0, 0, 0, 1, 1, 1] + [0, 1, 1, 1, 1, 1]
    >>> result = permutation_control(votes, signal, labels)
    >>> round(result.observed, 4), round(result.mean, 4), round(result.p_upper, 4)
    (0.3333, 0.3333, 0.7727)
    """
    # Check arguments: votes / signal / labels / options
    ballots = as_ballots(votes)
    n_queries, n_judges = ballots.shape
    signal_column = as_column(signal, "signal", n_queries)
    label_column = as_column(labels, "labels", n_queries)
    rule = as_rule(rule, n_judges)
    level = as_real(
        confidence_level, "confidence_level", low=0, high=1, open_low=True, open_high=True
    )
    if n_resamples is not None:
        n_resamples = as_count(n_resamples, "n_resamples")

    types = as_types(ballots, signal_column, label_column)
    counted = tally(types.votes)
    scored = (types.labels >= 0) & (counted.n_valid > 0)
    n_pivotal = int(types.counts[scored & counted.pivotal].sum())
    if n_pivotal == 0:
        raise ValueError("votes must have a pivotal query with a label, got none")
    took_part = scored & (types.signal >= 0)
    flips, of = opposed_flip(types.votes, rule, counted)
    sizes = np.unique(counted.n_valid[took_part]).tolist()
    unit = least_unit(rule, sizes)
    if unit * n_queries < 2**53:
        weight = flips * (unit // np.where(took_part, of, 1))
    elif n_resamples is None:
        raise ValueError(_TOO_MANY)
    else:
        unit, weight = 1, flips / of
    errs = types.signal != types.labels
    wrong = counted.decision != types.labels
    n_all = int(types.counts[took_part].sum())
    n_errors = int(types.counts[took_part & errs].sum())

    moves = took_part & (weight > 0)
    weights = np.unique(weight[moves])
    inside = moves & (weight == weights[:, None])
    group_size = (inside * types.counts).sum(axis=1)
    total_wrong = (inside * (types.counts * wrong)).sum(axis=1) @ weights
    hit = (inside * (types.counts * errs)).sum(axis=1) @ weights

    if n_resamples is None:
        losses, odds = _exact_losses(weights, group_size, n_all, n_errors)
    else:
        losses, odds = _sampled_losses(weights, group_size, n_all, n_errors, n_resamples, rng)
    gains = (total_wrong - losses)[::-1]  # ascending
    odds = odds[::-1]
    observed = float(total_wrong - hit)
    scale = 1.0 / (unit * n_pivotal)
    values = np.asarray(gains * scale, dtype=np.float64)
    mean = math.fsum(values * odds)
    below = np.cumsum(odds)
    tail = (1 - level) / 2
    low, high = (
        float(values[min(int(np.searchsorted(below, q)), values.size - 1)])
        for q in (tail, 1 - tail)
    )
    return PermutationControl(
        observed=observed * scale,
        mean=mean,
        standard_deviation=math.sqrt(math.fsum(odds * (values - mean) ** 2)),
        interval=(low, high),
        confidence_level=level,
        p_lower=min(1.0, math.fsum(odds[gains <= observed])),
        p_upper=min(1.0, math.fsum(odds[gains >= observed])),
        values=values,
        probabilities=odds,
        exact=n_resamples is None,
        n_queries=n_all,
        n_signal_errors=n_errors,
        n_pivotal=n_pivotal,
        n_pivotal_errors=int(types.counts[took_part & counted.pivotal & wrong].sum()),
    )


def _binomial(n: int, p: float) -> NDArray[np.float64]:
    """Probabilities of 0..n, by ratios outward from the mode: no large factorials."""
    h = np.arange(n)
    ratio = (n - h) / (h + 1) * (p / (1 - p))  # of h + 1 to h
    mode = min(int((n + 1) * p), n)
    odds = np.ones(n + 1)
    odds[mode + 1 :] = np.cumprod(ratio[mode:])
    odds[:mode] = np.cumprod(1 / ratio[:mode][::-1])[::-1]
    odds /= odds.sum()
    return odds


def _exact_losses(
    weights: NDArray[np.int64], sizes: NDArray[np.int64], n_all: int, n_errors: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Distribution of sum_g w_g H_g, ascending.

    A multivariate hypergeometric is independent binomials given their sum, whatever their
    common p; with p near n_errors / n_all nothing underflows where it matters.
    """
    p = (n_errors + 1) / (n_all + 2)
    drawn, loss, odds = np.zeros(1, np.int64), np.zeros(1, np.int64), np.ones(1)
    for weight, size in zip(weights.tolist(), sizes.tolist(), strict=True):
        if drawn.size * (size + 1) > _MOST_STATES:
            raise ValueError(_TOO_MANY)
        h = np.arange(size + 1)
        drawn = (drawn[:, None] + h).reshape(-1)
        loss = (loss[:, None] + weight * h).reshape(-1)
        odds = np.multiply.outer(odds, _binomial(size, p)).reshape(-1)
        drawn, loss, odds = _merge(drawn, loss, odds)
    rest = n_all - int(sizes.sum())
    possible = (n_errors - drawn >= 0) & (n_errors - drawn <= rest)
    drawn, loss, odds = drawn[possible], loss[possible], odds[possible]
    odds = odds * _binomial(rest, p)[n_errors - drawn]
    _, loss, odds = _merge(np.zeros_like(drawn), loss, odds)
    return loss, odds / odds.sum()


def _merge(
    drawn: NDArray[np.int64], loss: NDArray[np.int64], odds: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Add up equal (drawn, loss)."""
    # Losses by rank: drawn * (greatest loss + 1) may leave the range of an integer.
    losses, rank = np.unique(loss, return_inverse=True)
    keys, place = np.unique(drawn * losses.size + rank.reshape(-1), return_inverse=True)
    sums = np.zeros(keys.size)
    np.add.at(sums, place.reshape(-1), odds)
    return keys // losses.size, losses[keys % losses.size], sums


def _sampled_losses(
    weights: NDArray[np.int64],
    sizes: NDArray[np.int64],
    n_all: int,
    n_errors: int,
    n_resamples: int,
    rng: Any,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The same by drawing error locations."""
    generator = as_generator(rng)
    colours = [*sizes.tolist(), n_all - int(sizes.sum())]
    hits = generator.multivariate_hypergeometric(colours, n_errors, size=n_resamples)
    values, counts = np.unique(hits[:, :-1] @ weights, return_counts=True)
    return values, counts / n_resamples
