"""The pivotal gain of a signal that errs as often but anywhere: its exact distribution.

With K errors among Q queries placed at random, the gain is sum_g w_g (N_g - H_g) over groups of
pivotal queries with equal odds w_g that an opposing signal flips the decision: N_g of them
decided wrongly by the panel, H_g of them hit by an error of the signal. (H_g) is multivariate
hypergeometric; for odd panels under the uniform rule there is one group.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.ballots import as_ballots, as_column, as_vote_weights
from ropoll_core._checks.options import as_count, as_real
from ropoll_core._results.vote_analysis import PermutationControl
from ropoll_core._rng import as_generator
from ropoll_core.votes._rules import as_rule
from ropoll_core.votes._tally import opposed_flip, tally
from ropoll_core.votes._types import DistinctBallots, as_types

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
    weights: Any = None,
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
    weights : array_like (n_judges,) or (n_queries, n_judges), optional
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
    sizes, unequal weights) are convolved.

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
    # Check arguments: votes / signal / labels / weights / options
    ballots = as_ballots(votes)
    n_queries, n_judges = ballots.shape
    signal_column = as_column(signal, "signal", n_queries)
    label_column = as_column(labels, "labels", n_queries)
    seat_weights = as_vote_weights(weights, n_queries, n_judges)
    rule = as_rule(rule, n_judges)
    level = as_real(
        confidence_level, "confidence_level", low=0, high=1, open_low=True, open_high=True
    )
    if n_resamples is not None:
        n_resamples = as_count(n_resamples, "n_resamples")

    merge = seat_weights is None or seat_weights.shape[0] == 1
    types = as_types(ballots, signal_column, label_column, merge=merge)
    groups = _groups(types, rule, seat_weights)
    if groups.n_pivotal == 0:
        raise ValueError("votes must have a pivotal query with a label, got none")
    if n_resamples is None:
        losses, odds = _exact_losses(
            groups.whole_weights(), groups.size, groups.n_queries, groups.n_errors
        )
    else:
        losses, odds = _sampled_losses(groups, n_resamples, rng)
    return _wrap(groups, losses, odds, level, exact=n_resamples is None)


@dataclasses.dataclass(frozen=True)
class _Groups:
    """Pivotal queries of equal odds, and counts of the queries that take part.

    Attributes
    ----------
    weight, size : arrays (n_groups,)
        What a right signal gains on a query that the panel got wrong, in 1/`unit`; and how
        many queries there are.
    n_wrong, n_hit : int64 arrays (n_groups,)
        Errors of the panel, and of the signal itself.
    n_queries, n_errors : int
        On which the signal is given, and its errors there.
    n_pivotal, n_pivotal_errors : int
        With a label; of these, errors of the panel where the signal is given.
    """

    weight: NDArray[Any]
    unit: int
    size: NDArray[np.int64]
    n_wrong: NDArray[np.int64]
    n_hit: NDArray[np.int64]
    n_queries: int
    n_errors: int
    n_pivotal: int
    n_pivotal_errors: int

    def whole_weights(self) -> NDArray[np.int64]:
        if self.weight.dtype.kind != "i":
            raise ValueError(_TOO_MANY)
        return self.weight


def _groups(
    types: DistinctBallots, rule: str | int, weights: NDArray[np.float64] | None
) -> _Groups:
    shared = weights[0] if weights is not None and len(weights) == 1 else weights
    counted = tally(types.votes, weights=shared)
    scored = (types.labels >= 0) & (counted.n_valid > 0)
    took_part = scored & (types.signal >= 0)
    errs = types.signal != types.labels
    wrong = counted.decision != types.labels
    flips, of = opposed_flip(types.votes, rule, counted, weights)
    moves = took_part & (flips > 0)
    unit = math.lcm(*np.unique(of[moves]).tolist())
    weight: NDArray[Any] = flips / of
    if unit * int(types.counts.sum()) < 2**53:
        weight = flips * (unit // np.where(moves, of, 1))
    else:
        unit = 1

    levels = np.unique(weight[moves])
    inside = (moves & (weight == levels[:, None])) * types.counts

    def count(rows: NDArray[np.bool_]) -> int:
        return int(types.counts[rows].sum())

    return _Groups(
        weight=levels,
        unit=unit,
        size=inside.sum(axis=1),
        n_wrong=inside @ wrong,
        n_hit=inside @ errs,
        n_queries=count(took_part),
        n_errors=count(took_part & errs),
        n_pivotal=count(scored & counted.pivotal),
        n_pivotal_errors=count(took_part & counted.pivotal & wrong),
    )


def _wrap(
    groups: _Groups,
    losses: NDArray[Any],
    odds: NDArray[np.float64],
    level: float,
    *,
    exact: bool,
) -> PermutationControl:
    total_wrong = groups.n_wrong @ groups.weight
    gains, odds = (total_wrong - losses)[::-1], odds[::-1]  # ascending
    observed = float(total_wrong - groups.n_hit @ groups.weight)
    scale = 1.0 / (groups.unit * groups.n_pivotal)
    values = np.asarray(gains * scale, dtype=np.float64)
    mean = math.fsum(values * odds)
    tails = ((1 - level) / 2, (1 + level) / 2)
    ends = np.minimum(np.searchsorted(np.cumsum(odds), tails), values.size - 1)
    low, high = values[ends].tolist()
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
        exact=exact,
        n_queries=groups.n_queries,
        n_signal_errors=groups.n_errors,
        n_pivotal=groups.n_pivotal,
        n_pivotal_errors=groups.n_pivotal_errors,
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
    groups: _Groups, n_resamples: int, rng: Any
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """The same by drawing error locations."""
    generator = as_generator(rng)
    colours = [*groups.size.tolist(), groups.n_queries - int(groups.size.sum())]
    hits = generator.multivariate_hypergeometric(colours, groups.n_errors, size=n_resamples)
    values, counts = np.unique(hits[:, :-1] @ groups.weight, return_counts=True)
    return values, counts / n_resamples
