"""Ways to use a panel and a signal, side by side."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.ballots import as_ballots, as_column, as_judge_names, check_ballots
from ropoll_core._checks.options import as_count
from ropoll_core._checks.resampling import as_tasks
from ropoll_core._results.vote_analysis import PolicyTable
from ropoll_core.votes._dependence import names_or_numbers
from ropoll_core.votes._latent import dawid_skene
from ropoll_core.votes._tally import gated_decision, tally

__all__ = ["accuracy_weighted_vote", "policy_table"]


def accuracy_weighted_vote(
    votes: Any, labels: Any, *, tasks: Any = None, n_folds: int = 5
) -> NDArray[np.int8]:
    """Majority vote weighted by each judge's log-odds of being right, cross-fitted.

    Parameters
    ----------
    votes : array_like (n_queries, n_judges)
        Ballots, as in :func:`tally`.
    labels : array_like (n_queries,)
        0, 1 or missing (not learned from, but decided).
    tasks : array_like (n_queries,), optional
        Keys of tasks; a task is never split between folds. Default: every query is its own.
    n_folds : int
        At least 2. Fold f holds the tasks f, f + n_folds, ... in the sorted order of the keys.

    Returns
    -------
    int8 array (n_queries,)
        1, or 0 (also for a tie), or -1 without a valid ballot.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong type or shape, or a value is no ballot.

    Notes
    -----
    The weight log(p / (1 - p)), with p = (right + 1)/(answered + 2) on the other folds, is
    optimal for independent judges; a judge more often wrong than right counts against its vote.

    Examples
    --------
    >>> from ropoll_core.votes import accuracy_weighted_vote
    >>> votes = [[1, 0, 0], [0, 1, 1], [1, 0, 1], [0, 1, 0]] * 3
    >>> accuracy_weighted_vote(votes, [1, 0, 1, 0] * 3).tolist()[:4]
    [1, 0, 1, 0]
    """
    ballots = as_ballots(votes)
    label_column = as_column(labels, "labels", ballots.shape[0])
    check_ballots(ballots, "votes")
    check_ballots(label_column, "labels")
    n_folds = as_count(n_folds, "n_folds", least=2)
    codes, n_tasks = as_tasks(tasks, ballots.shape[0])
    folds = (np.arange(n_tasks) if codes is None else codes) % n_folds

    signed = np.where(ballots < 0, 0, 2 * ballots - 1)
    answered = (ballots >= 0) & (label_column >= 0)[:, None]
    right = answered & (ballots == label_column[:, None])
    score = np.zeros(ballots.shape[0])
    for fold in range(n_folds):
        inside = folds == fold
        n_right = right[~inside].sum(axis=0)
        n_wrong = answered[~inside].sum(axis=0) - n_right
        score[inside] = signed[inside] @ np.log((n_right + 1) / (n_wrong + 1))
    return np.where((ballots >= 0).any(axis=1), score > 0, -1).astype(np.int8)


def policy_table(
    votes: Any,
    signal: Any,
    labels: Any,
    *,
    judges: Any = None,
    tasks: Any = None,
    n_folds: int = 5,
) -> PolicyTable:
    """Accuracy, and how often the signal is asked, of the usual policies.

    Parameters
    ----------
    votes : array_like (n_queries, n_judges)
        Ballots, as in :func:`tally`; a tie is decided as 0.
    signal : array_like (n_queries,) or None
        0, 1 or missing; None for the policies that do without.
    labels : array_like (n_queries,)
        0, 1 or missing: such a query is left out.
    judges : sequence of str, optional
        Names of the columns.
    tasks, n_folds
        Of the cross-fitted vote: see :func:`accuracy_weighted_vote`.

    Returns
    -------
    PolicyTable
        The panel; its substitutions (gated: only pivotal queries ask the signal); the signal
        alone; each judge alone, the best of them (chosen on the same data); the
        accuracy-weighted vote, cross-fitted; Dawid-Skene, which sees no label.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong type or shape, or a value is no ballot.

    Examples
    --------
    >>> from ropoll_core import policy_table
    >>> votes = [[1, 1, 0], [1, 1, 1], [0, 0, 1], [0, 1, 1]] * 5
    >>> policy_table(votes, [0, 1, 0, 0] * 5, [0, 1, 0, 0] * 5).policy[:4]
    ('panel', 'substitute uniform', 'substitute majority', 'substitute judge 0')
    """
    names = as_judge_names(judges)
    ballots = as_ballots(votes, judges=names)
    n_queries, n_judges = ballots.shape
    label_column = as_column(labels, "labels", n_queries)
    check_ballots(label_column, "labels")
    names = names_or_numbers(names, n_judges)
    rows: list[tuple[str, float, int, float, bool]] = []
    counted = tally(ballots)
    scored = (label_column >= 0) & (counted.n_valid > 0)

    def add(
        name: str,
        answer: NDArray[Any],
        known: NDArray[np.bool_],
        asked: NDArray[np.bool_] | None = None,
        same: bool = False,
    ) -> None:
        known = known & scored
        right = np.where(label_column == 1, answer, 1 - answer)[known]
        n = int(known.sum())
        rate = 0.0 if asked is None else float(asked[scored].mean()) if scored.any() else np.nan
        rows.append((name, float(right.mean()) if n else np.nan, n, rate, same))

    everywhere = np.ones(n_queries, np.bool_)
    add("panel", counted.decision, everywhere)
    if signal is not None:
        column = as_column(signal, "signal", n_queries)
        rules: list[str | int] = ["uniform", "majority", *range(n_judges)]
        for rule in rules:
            gate = gated_decision(ballots, column, rule=rule)
            label = f"judge {names[rule]}" if isinstance(rule, int) else rule
            add(f"substitute {label}", gate.decision, everywhere, gate.called)
        add("signal", column, column >= 0, everywhere)
    for j, name in enumerate(names):
        add(f"judge {name}", ballots[:, j], ballots[:, j] >= 0)
    alone = rows[-n_judges:]
    best = max(range(n_judges), key=lambda j: (-1.0 if alone[j][2] == 0 else alone[j][1], -j))
    add(f"best judge ({names[best]})", ballots[:, best], ballots[:, best] >= 0, same=True)
    weighted = accuracy_weighted_vote(ballots, label_column, tasks=tasks, n_folds=n_folds)
    add("accuracy-weighted vote", weighted, everywhere)
    add("Dawid-Skene", dawid_skene(ballots).decision, everywhere)
    policy, accuracy, n, call_rate, same_data = zip(*rows, strict=True)
    return PolicyTable(
        policy=policy,
        accuracy=np.array(accuracy),
        n=np.array(n),
        call_rate=np.array(call_rate),
        same_data=np.array(same_data),
    )
