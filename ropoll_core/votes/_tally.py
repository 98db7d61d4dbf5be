"""Tallies, and Algorithm 1: ask the signal only where one ballot can matter."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.ballots import (
    as_ballots,
    as_column,
    as_vote_weights,
    check_ballots,
    raise_no_ballot,
)
from ropoll_core._checks.options import as_choice
from ropoll_core._kernels import ballots as kernels
from ropoll_core._kernels.substitution import weighted_flip_rows
from ropoll_core._parallel import run_chunks
from ropoll_core._results.votes import GatedDecision, Tally
from ropoll_core.votes._rules import as_rule, rule_code

__all__ = ["gated_decision", "tally"]

TIES = {"incorrect": 0, "correct": 1, "missing": -1}


def tally(
    votes: Any, *, weights: Any = None, ties: str = "incorrect", workers: int | None = None
) -> Tally:
    """Decide each query by majority, and say how close it was.

    Parameters
    ----------
    votes : array_like (n_queries, n_judges)
        Ballots 0 and 1; missing is -1 in a signed integer array, NaN in a float one, None or
        NA among objects. Panels may so mix odd and even numbers of valid ballots.
    weights : array_like (n_judges,) or (n_queries, n_judges), optional
        Finite, not negative. A judge of weight 0 has no seat. Sums that agree to a relative
        1e-12 are a tie.
    ties : {"incorrect", "correct", "missing"}
        What an even split decides: 0, 1 or nothing (-1). A result never hides one: see `tie`.
    workers : int, optional
        Threads; see :func:`ropoll_core.default_workers`.

    Returns
    -------
    Tally
        ``decision``, ``ones``, ``n_valid``, ``margin``, ``tie``, ``pivotal``.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong type or shape, or a value is no ballot.

    Notes
    -----
    One pass, about 5 ns a query for 7 judges. A query is pivotal when some single ballot,
    moved to the other side, changes the decision: with s ones of k ballots and h = floor(k/2),
    iff s is h or h + 1 (Propositions 1 and 2 of "Blind to the Pivotal Vote",
    arXiv:2608.06940), for a tie decided as 0.

    Examples
    --------
    >>> from ropoll_core import tally
    >>> result = tally([[1, 1, 0], [1, 1, 1], [1, -1, 0], [-1, -1, -1]])
    >>> result.decision.tolist()
    [1, 1, 0, -1]
    >>> result.margin.tolist(), result.tie.tolist()
    ([1, 3, 0, 0], [False, False, True, False])
    >>> result.pivotal.tolist()
    [True, False, True, False]
    """
    # Check arguments: votes / weights / ties
    ballots = as_ballots(votes)
    n_queries, n_judges = ballots.shape
    seat_weights = as_vote_weights(weights, n_queries, n_judges)
    tie_value = TIES[as_choice(ties, "ties", TIES)]

    result = Tally(
        decision=np.empty(n_queries, np.int8),
        ones=np.empty(n_queries, np.int32),
        n_valid=np.empty(n_queries, np.int32),
        margin=np.empty(n_queries, np.int32 if seat_weights is None else np.float64),
        tie=np.empty(n_queries, np.bool_),
        pivotal=np.empty(n_queries, np.bool_),
    )
    outputs = (
        result.decision,
        result.ones,
        result.n_valid,
        result.margin,
        result.tie.view(np.uint8),
        result.pivotal.view(np.uint8),
    )

    def kernel(start: int, stop: int) -> None:
        if seat_weights is None:
            bad = kernels.tally_rows(ballots, tie_value, *outputs, start, stop)
        else:
            bad = kernels.weighted_tally_rows(
                ballots, seat_weights, tie_value, *outputs, start, stop
            )
        if bad >= 0:
            raise_no_ballot(votes=ballots)

    run_chunks(kernel, n_queries, cost_ns=2.0 + 0.5 * n_judges, workers=workers)
    return result


def strata_of(votes: NDArray[np.int8]) -> NDArray[np.int64]:
    """``|2 s - k|`` for an odd count k of valid ballots, the signed ``2 s - k`` for an even one.

    0, 1 and 2 are then the pivotal strata.
    """
    lean = tally(votes).tally.astype(np.int64)
    return np.where(lean % 2 == 1, np.abs(lean), lean)


def opposed_flip(
    votes: NDArray[np.int8],
    rule: str | int,
    counted: Tally,
    weights: NDArray[np.float64] | None = None,
    *,
    workers: int | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Odds that replacing a ballot by the side the panel decided against flips the decision.

    As a numerator and a denominator (at least 1), a pair a query; zero where it is not pivotal.
    """
    if weights is not None:
        flips, of = np.empty(len(votes), np.int64), np.empty(len(votes), np.int64)

        def kernel(start: int, stop: int) -> None:
            weighted_flip_rows(votes, weights, rule_code(rule), flips, of, start, stop)

        run_chunks(kernel, len(votes), cost_ns=2.0 + 2.0 * votes.shape[1], workers=workers)
        return flips, np.maximum(of, 1)
    flips = of = np.ones(len(votes), np.int64)
    if isinstance(rule, int):
        flips = (votes[:, rule] == counted.decision).astype(np.int64)
    elif rule == "uniform":
        flips = np.where(counted.decision == 1, counted.ones, counted.n_valid - counted.ones)
        of = np.maximum(counted.n_valid, 1)
    return np.where(counted.pivotal, flips, 0).astype(np.int64), of.astype(np.int64)


def gated_decision(
    votes: Any,
    signal: Any,
    *,
    rule: str | int = "majority",
    weights: Any = None,
    workers: int | None = None,
) -> GatedDecision:
    """Substitute one ballot by the signal, asking for it only on pivotal queries.

    Query by query the same decision as replacing a ballot everywhere under the same rule, at
    the price of a signal on the pivotal queries alone (Algorithm 1 of "Blind to the Pivotal
    Vote", arXiv:2608.06940).

    Parameters
    ----------
    votes : array_like (n_queries, n_judges)
        Ballots, as in :func:`tally`; a tie is decided as 0.
    signal : array_like (n_queries,)
        0, 1 or missing (nothing is replaced). Values where `called` is false are not used.
    rule : {"majority", "uniform"} or int
        Which ballot is replaced: one of the majority side; one drawn from the valid ones; that
        of this judge, if valid.
    weights : array_like (n_judges,) or (n_queries, n_judges), optional
        As in :func:`tally`. The signal takes over the weight of the ballot it replaces, so that
        on a pivotal query not every ballot of the majority side need flip the decision.
    workers : int, optional
        Threads; see :func:`ropoll_core.default_workers`.

    Returns
    -------
    GatedDecision
        ``decision``, ``called``.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong type or shape, or a value is no ballot.

    Examples
    --------
    >>> from ropoll_core import gated_decision
    >>> result = gated_decision([[1, 1, 0], [1, 1, 1]], [0, 0])
    >>> result.decision.tolist(), result.called.tolist()
    ([0.0, 1.0], [True, False])
    """
    # Check arguments: votes / signal / weights / rule
    ballots = as_ballots(votes)
    n_queries, n_judges = ballots.shape
    column = as_column(signal, "signal", n_queries)
    check_ballots(column, "signal")
    seat_weights = as_vote_weights(weights, n_queries, n_judges)
    rule = as_rule(rule, n_judges)

    counted = tally(ballots, weights=weights, workers=workers)
    flips, of = opposed_flip(ballots, rule, counted, seat_weights, workers=workers)
    called = flips > 0
    opposed = called & (column >= 0) & (column != counted.decision)
    decision = np.where(counted.n_valid == 0, np.nan, counted.decision.astype(np.float64))
    decision[opposed] += ((2 * column - 1) * (flips / of))[opposed]
    return GatedDecision(decision=decision, called=called)
