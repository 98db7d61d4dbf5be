"""What the law cannot see: errors that two judges share beyond difficulty."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.law import LARGEST_PANEL, MOST_TESTED
from ropoll_core._checks.options import as_count
from ropoll_core._results.jury_uses import BlindSpot
from ropoll_core.jury._graded import Graded, grade_table
from ropoll_core.jury._inputs import inputs_from, n_input_moments, pairs_of, stack_inputs
from ropoll_core.jury._resample import Resampling, interval_at, task_numbers

__all__ = ["shared_blind_spot"]

_PAIR_MOMENTS = 5

Floats = NDArray[np.float64]


def shared_blind_spot(
    answers: Any,
    gold: Any,
    *,
    key: Any = None,
    missing: str = "omit",
    max_attractors: int = 6,
    tasks: Any = None,
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
    rng: Any = None,
    workers: int | None = None,
) -> BlindSpot:
    """Test whether pairs of judges err together more than difficulty, as the law has it, allows.

    Parameters
    ----------
    answers : table, (n_queries, n_judges)
        As for :func:`consensus`; 3 to 12 judges.
    gold, key, missing, max_attractors, tasks, n_resamples, confidence_level, rng, workers
        As for :meth:`ConsensusLaw.fit`.

    Returns
    -------
    BlindSpot
        Excess of shared errors and of equal wrong answers, over all pairs and for each, with
        intervals.

    Raises
    ------
    TypeError, ValueError
        Bad tables or options; fewer than 3 judges or more than 12.

    Notes
    -----
    For a pair of judges, queries are sorted by how many of the *others* are right, d of M - 2,
    a measure of difficulty that the pair has no part in. Given d the law leaves p a Beta with
    parameters a k + d and (1 - a) k + M - 2 - d, k = 1 / rho - 1, and so the pair's errors a
    covariance equal to its variance. What is measured beyond that, weighted over d, is the
    excess; each judge's own error rate given d is allowed for. Inputs of the law are measured
    anew in each resample. Where both are wrong, the law gives every pair the same chance of equal
    answers at every d: a pair is held against all pairs at the same d.

    The law takes all pairs for alike: a blind spot that all judges share equally is difficulty
    to it, and what this test finds is a pair that differs from the others. Many pairs are many
    tests.

    Examples
    --------
    >>> from ropoll_core import ConsensusLaw, jury
    >>> answers = ConsensusLaw(0.7, 0.3, [0.5]).simulate(4, 3000, rng=1)
    >>> answers[:300, :2] = 1  # two judges share a wrong answer on 300 queries
    >>> jury.shared_blind_spot(answers, [0] * 3000, rng=2, n_resamples=500).suspects
    [(0, 1)]
    """
    # Check arguments
    max_attractors = as_count(max_attractors, "max_attractors", most=LARGEST_PANEL)
    graded = grade_table(
        answers, gold, key=key, missing=missing, complete=True,
        n_slots=max_attractors, workers=workers,
    )  # fmt: skip
    n_judges = graded.codes.shape[1]
    if not 3 <= n_judges <= MOST_TESTED:
        raise ValueError(f"answers must have 3 to {MOST_TESTED} judges, got {n_judges}")
    n_slots = min(max_attractors, n_judges)
    graded = replace(graded, slots=graded.slots[:, :n_slots])
    of_task = task_numbers(tasks, graded.n_given, graded.rows)

    # Compute
    pairs = np.array(pairs_of(n_judges), dtype=np.intp)
    n_pairs, n_strata = len(pairs), n_judges - 1
    n_inputs = n_input_moments(n_judges, n_slots)
    moments = np.concatenate([stack_inputs(graded), _pair_moments(graded, pairs)], axis=1)

    def statistic(totals: Floats) -> Floats:
        n = totals.shape[1]
        inputs = inputs_from(totals[:n_inputs], n_judges)
        a, rho, masses = inputs.usable()
        strata = totals[n_inputs:].reshape(n_strata, n_pairs, _PAIR_MOMENTS, n)
        errors, answers, both, equal = np.zeros((4, n_pairs, n))
        for d in range(n_strata):
            rows, first, second, shared, same = strata[d].transpose(1, 0, 2)
            allowed = rows * _variance_given(a, rho, d, n_strata - 1)
            errors += shared - _ratio(first * second, rows) - allowed
            answers += same - shared * _ratio(_total(same), _total(shared))
            both += shared
            equal += same
        with np.errstate(invalid="ignore", divide="ignore"):
            coincidence = _total(equal) / _total(both) - (masses**2).sum(axis=1)
            overall = [_total(errors) / (totals[0] * n_pairs), coincidence]
            return np.concatenate([overall, errors / totals[0], answers / both])

    options = Resampling(n_resamples, confidence_level, rng, workers)
    boot = options.run(statistic, moments, of_task)

    # Wrap
    errors = interval_at(boot, slice(2, 2 + n_pairs))
    same_answer = interval_at(boot, slice(2 + n_pairs, 2 + 2 * n_pairs))
    suspect = (errors.low > 0) | (same_answer.low > 0)
    wrong = graded.errors
    return BlindSpot(
        error_excess=interval_at(boot, 0),
        same_answer_excess=interval_at(boot, 1),
        pairs=pairs,
        error_excess_by_pair=errors,
        same_answer_excess_by_pair=same_answer,
        n_both_wrong=np.array([(wrong[:, i] & wrong[:, j]).sum() for i, j in pairs]),
        suspects=[(int(i), int(j)) for i, j in pairs[suspect]],
        n_queries=len(graded.gold),
        n_no_gold=graded.n_no_gold,
        n_incomplete=graded.n_incomplete,
    )


def _pair_moments(graded: Graded, pairs: NDArray[np.intp]) -> NDArray[np.int64]:
    """By number d of the others right, and pair: 1, E_i, E_j, E_ij, equal wrong answers."""
    errors = graded.errors.astype(np.int64)
    n_queries, n_judges = errors.shape
    strata = np.zeros((n_queries, n_judges - 1, len(pairs), _PAIR_MOMENTS), dtype=np.int64)
    rows = np.arange(n_queries)
    for at, (i, j) in enumerate(pairs):
        first, second = errors[:, i], errors[:, j]
        same = first * (graded.codes[:, i] == graded.codes[:, j])
        d = graded.n_correct - (2 - first - second)
        ones = np.ones_like(first)
        strata[rows, d, at] = np.stack([ones, first, second, first * second, same], axis=1)
    return strata.reshape(n_queries, -1)


def _variance_given(a: Floats, rho: Floats, d: int, n_others: int) -> Floats:
    """Variance of p given that d of n_others are right, in a form that holds at rho = 0 and 1.

    alpha beta / ((alpha + beta)^2 (alpha + beta + 1)) with both parameters times rho.
    """
    alpha = a * (1.0 - rho) + d * rho
    beta = (1.0 - a) * (1.0 - rho) + (n_others - d) * rho
    total = alpha + beta
    return rho * alpha * beta / (total * total * (total + rho))


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    """The quotient; 0 where there is nothing to divide by."""
    out = np.zeros(np.broadcast_shapes(numerator.shape, denominator.shape))
    np.divide(numerator, denominator, out=out, where=denominator > 0)
    return out


def _total(by_pair: Floats) -> Floats:
    """Sum over pairs, in turn, so that it does not depend on the number of resamples."""
    total = np.zeros(by_pair.shape[1])
    for row in by_pair:
        total += row
    return total
