"""Accuracy against coverage by agreement, and the cascade."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.options import as_choice
from ropoll_core._results.jury_uses import Cascade, SelectiveAccuracy
from ropoll_core.jury._graded import Graded, grade_table, tie_credit
from ropoll_core.jury._inputs import pairs_of
from ropoll_core.jury._law import TIE_RULES
from ropoll_core.jury._resample import Resampling, interval_at, task_numbers

__all__ = ["cascade", "selective_accuracy"]

Floats = NDArray[np.float64]


def _credit_of(ties: str, n_tied: int) -> float:
    return float(tie_credit(np.array([True]), np.array([n_tied], dtype=np.int32), ties)[0])


def selective_accuracy(
    answers: Any,
    gold: Any,
    *,
    ties: str = "uniform",
    key: Any = None,
    missing: str = "omit",
    tasks: Any = None,
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
    rng: Any = None,
    workers: int | None = None,
) -> SelectiveAccuracy:
    """Accuracy of the consensus when it answers only where agreement is high enough.

    Parameters
    ----------
    answers : table, (n_queries, n_judges)
        As for :func:`consensus`.
    gold : array_like, (n_queries,)
        Right answers; queries without one are left out and counted.
    ties : {"uniform", "correct", "strict"}
        Credit of a tie that holds the right answer: 1 / (tied classes), 1 or 0.
    key : callable or ndarray of int, optional
        Which answers are equivalent, as for :func:`consensus`.
    missing : {"omit", "wrong"}
        A missing answer does not vote, or is a wrong answer that nobody else gives.
    tasks : array_like, (n_queries,), optional
        Whole tasks are resampled. Default: each query on its own.
    n_resamples : int
    confidence_level : float
    rng : None, int, numpy.random.SeedSequence or numpy.random.Generator
    workers : int, optional

    Returns
    -------
    SelectiveAccuracy
        Coverage and accuracy at each level of agreement that occurs, with intervals.

    Raises
    ------
    TypeError, ValueError
        Bad tables or options; no gold answer; all answers missing.

    Notes
    -----
    The dial of "LLMs as a Jury" (arXiv 2607.10139), table 11; :meth:`ConsensusLaw.coverage` and
    :meth:`ConsensusLaw.selective` predict it.

    Examples
    --------
    >>> from ropoll_core import jury
    >>> answers = [["A", "A", "A"], ["B", "B", "C"], ["A", "C", "C"], ["A", "B", "D"]]
    >>> dial = jury.selective_accuracy(answers, ["A", "B", "A", "D"], rng=1, n_resamples=500)
    >>> dial.agreement.round(3), dial.coverage.value, dial.accuracy.value.round(3)
    (array([1.   , 0.667, 0.333]), array([0.25, 0.75, 1.  ]), array([1.   , 0.667, 0.583]))
    """
    # Check arguments
    ties = as_choice(ties, "ties", TIE_RULES)
    graded = grade_table(answers, gold, key=key, missing=missing, workers=workers)
    of_task = task_numbers(tasks, graded.n_given, graded.rows)

    # Compute
    answered = graded.n_valid > 0
    agreement = np.full(len(graded.gold), -1.0)
    np.divide(graded.count, graded.n_valid, out=agreement, where=answered)
    levels = np.unique(agreement[answered])[::-1]
    accepted = agreement[:, None] == levels
    credits: list[list[float]] = []
    columns = [np.ones(len(agreement), dtype=bool), *accepted.T]
    for level in accepted.T:
        right = graded.modal & level
        tied = [int(t) for t in np.unique(graded.n_tied[right])]
        credits.append([_credit_of(ties, t) for t in tied])
        columns.extend(right & (graded.n_tied == t) for t in tied)

    def statistic(totals: Floats) -> Floats:
        n, covered = totals[0], totals[1 : 1 + levels.size].cumsum(axis=0)
        right = np.zeros_like(covered)
        column = 1 + levels.size
        for row, of_level in zip(right, credits, strict=True):
            for credit in of_level:
                row += credit * totals[column]
                column += 1
        accuracy = np.full_like(covered, np.nan)
        np.divide(right.cumsum(axis=0), covered, out=accuracy, where=covered > 0)
        return np.concatenate([covered / n, accuracy])

    options = Resampling(n_resamples, confidence_level, rng, workers)
    boot = options.run(statistic, np.stack(columns, axis=1).astype(np.int64), of_task)

    # Wrap
    return SelectiveAccuracy(
        agreement=levels,
        coverage=interval_at(boot, slice(0, levels.size)),
        accuracy=interval_at(boot, slice(levels.size, 2 * levels.size)),
        n_accepted=accepted.sum(axis=0).cumsum(),
        ties=ties,
        n_queries=len(agreement),
        n_no_gold=graded.n_no_gold,
        n_unanswered=int((~answered).sum()),
    )


def cascade(
    answers: Any,
    gold: Any,
    *,
    ties: str = "uniform",
    key: Any = None,
    missing: str = "omit",
    tasks: Any = None,
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
    rng: Any = None,
    workers: int | None = None,
) -> Cascade:
    """Accuracy and cost of asking two judges first, and the rest only where they disagree.

    Parameters
    ----------
    answers : table, (n_queries, n_judges)
        As for :func:`consensus`; at least two judges.
    gold, ties, key, missing, tasks, n_resamples, confidence_level, rng, workers
        As for :func:`selective_accuracy`. A judge that does not answer has been asked; a pair
        with a missing answer does not agree.

    Returns
    -------
    Cascade
        Accuracy, escalation rate and mean number of calls, as the exact expectation over the
        pair that is asked first, with intervals; and each pair on its own.

    Raises
    ------
    TypeError, ValueError
        Bad tables or options; fewer than two judges.

    Notes
    -----
    "LLMs as a Jury" (arXiv 2607.10139), table 12. The escalated consensus is that of all judges.

    Examples
    --------
    >>> from ropoll_core import jury
    >>> answers = [["A", "A", "A"], ["B", "B", "C"], ["A", "C", "C"], ["A", "B", "D"]]
    >>> result = jury.cascade(answers, ["A", "B", "A", "D"], rng=1, n_resamples=500)
    >>> round(result.escalation.value, 4), round(result.mean_calls.value, 4)
    (0.5833, 2.5833)
    """
    # Check arguments
    ties = as_choice(ties, "ties", TIE_RULES)
    graded = grade_table(answers, gold, key=key, missing=missing, workers=workers)
    n_queries, n_judges = graded.codes.shape
    if n_judges < 2:
        raise ValueError(f"answers must have at least 2 judges, got {n_judges}")
    of_task = task_numbers(tasks, graded.n_given, graded.rows)

    # Compute: integers of each query that add up over queries, all in units of pairs
    pairs = np.array(pairs_of(n_judges), dtype=np.intp)
    n_pairs = len(pairs)
    full = tie_credit(graded.modal, graded.n_tied, ties)
    agree, accuracy_by_pair, escalation_by_pair = _by_pair(graded, pairs, full)
    right = graded.n_correct.astype(np.int64)
    one_right = right * (graded.n_valid - right)
    alone_right = right * (n_judges - graded.n_valid)
    tied = [int(t) for t in np.unique(graded.n_tied[graded.modal])]
    in_tie = [(graded.modal & (graded.n_tied == t)).astype(np.int64) for t in tied]
    moments = np.stack(
        [
            np.ones(n_queries, dtype=np.int64),
            agree,
            right * (right - 1) // 2,
            one_right,
            alone_right,
        ]
        + in_tie
        + [(n_pairs - agree) * one for one in in_tie],
        axis=1,
    )
    credit = np.array([_credit_of(ties, t) for t in tied])[:, None]
    half = _credit_of(ties, 2)

    def statistic(totals: Floats) -> Floats:
        n, agreeing, both, one, alone = totals[:5]
        whole = (credit * totals[5 : 5 + len(tied)]).sum(axis=0) / n
        escalated_right = (credit * totals[5 + len(tied) :]).sum(axis=0)
        escalation = 1.0 - agreeing / (n * n_pairs)
        return np.stack([
            (both + escalated_right) / (n * n_pairs), escalation,
            2.0 + (n_judges - 2) * escalation, (both + half * one + alone) / (n * n_pairs), whole,
        ])  # fmt: skip

    options = Resampling(n_resamples, confidence_level, rng, workers)
    boot = options.run(statistic, moments, of_task)

    # Wrap
    return Cascade(
        accuracy=interval_at(boot, 0),
        escalation=interval_at(boot, 1),
        mean_calls=interval_at(boot, 2),
        pair_accuracy=interval_at(boot, 3),
        full_accuracy=interval_at(boot, 4),
        pairs=pairs,
        accuracy_by_pair=accuracy_by_pair,
        escalation_by_pair=escalation_by_pair,
        ties=ties,
        n_queries=n_queries,
        n_no_gold=graded.n_no_gold,
    )


def _by_pair(
    graded: Graded, pairs: NDArray[np.intp], full: Floats
) -> tuple[NDArray[np.int64], Floats, Floats]:
    """Pairs that agree on each query; accuracy and escalation of each pair."""
    agree = np.zeros(len(full), dtype=np.int64)
    accuracy, escalation = np.empty(len(pairs)), np.empty(len(pairs))
    columns = np.ascontiguousarray(graded.codes.T)
    for at, (i, j) in enumerate(pairs):
        same = (columns[i] == columns[j]) & (columns[i] >= 0)
        agree += same
        accuracy[at] = np.where(same, columns[i] == graded.gold, full).mean()
        escalation[at] = 1.0 - same.mean()
    return agree, accuracy, escalation
