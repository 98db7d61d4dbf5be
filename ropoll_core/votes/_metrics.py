"""Each judge against the labels, and the panel against independent judges."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.ballots import as_ballots, as_column, as_judge_names
from ropoll_core._checks.resampling import as_tasks
from ropoll_core._results.vote_analysis import CondorcetNull, JudgeMetrics
from ropoll_core.resampling.statistics import divide
from ropoll_core.votes._dependence import names_or_numbers
from ropoll_core.votes._tally import strata_of, tally
from ropoll_core.votes._types import as_types

__all__ = ["condorcet_null", "judge_metrics"]


def judge_metrics(
    votes: Any, labels: Any, *, judges: Any = None, workers: int | None = None
) -> JudgeMetrics:
    """How each judge votes: reject rate, accuracy, MCC, and error rates by stratum.

    Parameters
    ----------
    votes : array_like (n_queries, n_judges)
        Ballots, as in :func:`tally`.
    labels : array_like (n_queries,)
        0, 1 or missing: such a query is left out.
    judges : sequence of str, optional
        Names of the columns.
    workers : int, optional
        Threads; see :func:`ropoll_core.default_workers`.

    Returns
    -------
    JudgeMetrics

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong type or shape, or a value is no ballot.

    Notes
    -----
    A false positive is a ballot 1 on a label 0. Strata are those of the panel's own tally.

    Examples
    --------
    >>> from ropoll_core import judge_metrics
    >>> result = judge_metrics([[1, 0], [1, 1], [0, 0], [1, 0]], [1, 1, 0, 0])
    >>> result.accuracy.tolist(), result.fpr.tolist(), result.fnr.tolist()
    ([0.75, 0.75], [0.5, 0.0], [0.0, 0.5])
    """
    names = as_judge_names(judges)
    ballots = as_ballots(votes, judges=names)
    n_judges = ballots.shape[1]
    label_column = as_column(labels, "labels", ballots.shape[0])
    types = as_types(ballots, None, label_column, workers=workers)

    strata = strata_of(types.votes)
    labelled = types.labels >= 0
    valid_any = (types.votes >= 0).any(axis=1)
    levels = np.unique(strata[labelled & valid_any])
    # counts[stratum, label, ballot, judge]
    counts = np.zeros((levels.size, 2, 2, n_judges), np.int64)
    for row, level in enumerate(levels):
        for label in (0, 1):
            here = valid_any & (strata == level) & (types.labels == label)
            weight = types.counts[here, None]
            for ballot in (0, 1):
                counts[row, label, ballot] = ((types.votes[here] == ballot) * weight).sum(axis=0)
    (tn, fp), (fn, tp) = counts.sum(axis=0)
    n = tn + fp + fn + tp
    product = (tp + fp).astype(np.float64) * (tp + fn) * (tn + fp) * (tn + fn)
    mcc = divide(tp.astype(np.float64) * tn - fp.astype(np.float64) * fn, np.sqrt(product))
    return JudgeMetrics(
        judges=names_or_numbers(names, n_judges),
        n=n,
        n_missing=int(types.counts[labelled].sum()) - n,
        reject_rate=divide(tn + fn, n),
        accuracy=divide(tn + tp, n),
        balanced_accuracy=(divide(tp, tp + fn) + divide(tn, tn + fp)) / 2,
        mcc=mcc,
        fpr=divide(fp, fp + tn),
        fnr=divide(fn, fn + tp),
        stratum=levels,
        stratum_fpr=divide(counts[:, 0, 1], counts[:, 0].sum(axis=1)).T,
        stratum_fnr=divide(counts[:, 1, 0], counts[:, 1].sum(axis=1)).T,
    )


def condorcet_null(votes: Any, labels: Any, *, strata: Any = None) -> CondorcetNull:
    """Accuracy that independent judges of the same accuracies would reach by majority.

    Parameters
    ----------
    votes : array_like (n_queries, n_judges)
        Ballots, as in :func:`tally`; a tie is decided as 0.
    labels : array_like (n_queries,)
        0, 1 or missing: such a query is left out.
    strata : array_like (n_queries,), optional
        Keys of difficulty strata (task, benchmark, ...): accuracies are then taken within
        each. Without, a difficulty that the judges share counts as dependence.

    Returns
    -------
    CondorcetNull
        ``panel_accuracy``, ``expected_accuracy``, ``gap``.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong type or shape, or a value is no ballot.

    Notes
    -----
    The number of right ballots is then Poisson binomial over the judges that voted on the
    query: the panel is right above half, and at half if the label is 0 (arXiv:2605.29800).

    Examples
    --------
    >>> from ropoll_core import condorcet_null
    >>> votes = [[1, 1, 1], [1, 1, 1], [0, 0, 0], [0, 0, 0]]
    >>> condorcet_null(votes, [1, 1, 1, 0]).expected_accuracy
    0.84375
    """
    ballots = as_ballots(votes)
    label_column = as_column(labels, "labels", ballots.shape[0])
    codes, n_strata = (None, 1) if strata is None else as_tasks(strata, ballots.shape[0])
    expected, n_right, n_scored = [], 0, 0
    for stratum in range(n_strata):
        inside = slice(None) if codes is None else codes == stratum
        types = as_types(ballots[inside], None, np.ascontiguousarray(label_column[inside]))
        scored = (types.labels >= 0) & (types.votes >= 0).any(axis=1)
        rows, label, count = types.votes[scored], types.labels[scored], types.counts[scored]
        answered = rows >= 0
        right = rows == label[:, None]
        accuracy = divide(count @ right, count @ answered)
        seats, place = np.unique(answered, axis=0, return_inverse=True)
        for number, seat in enumerate(seats):
            here = place.reshape(-1) == number
            above, at_half = _majority_odds(accuracy[seat])
            n, n_zero = int(count[here].sum()), int(count[here & (label == 0)].sum())
            expected.append(n * above + n_zero * at_half)
        n_right += int(count[tally(rows).decision == label].sum())
        n_scored += int(count.sum())
    measured = n_right / n_scored if n_scored else math.nan
    predicted = math.fsum(expected) / n_scored if n_scored else math.nan
    return CondorcetNull(
        panel_accuracy=measured,
        expected_accuracy=predicted,
        gap=predicted - measured,
        n_scored=n_scored,
        n_strata=n_strata,
    )


def _majority_odds(accuracy: NDArray[np.float64]) -> tuple[float, float]:
    """Probability that more than half, and exactly half, of independent ballots are right."""
    odds = np.ones(1)
    for p in accuracy:
        odds = np.append(odds * (1 - p), 0.0) + np.append(0.0, odds * p)
    k = accuracy.size
    return float(odds[k // 2 + 1 :].sum()), float(odds[k // 2]) if k % 2 == 0 else 0.0
