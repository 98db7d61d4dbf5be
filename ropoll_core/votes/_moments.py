"""Integer moments by task: what the bootstrap of every ballot statistic needs."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.ballots import as_ballots, as_column, check_ballots, raise_no_ballot
from ropoll_core._checks.resampling import as_tasks
from ropoll_core._kernels import task_moments as kernels
from ropoll_core._results.base import Result
from ropoll_core.resampling import EffectiveVotes, Ratio, Statistic
from ropoll_core.votes._rules import as_rule, gain_unit, rule_code, unit_shares
from ropoll_core.votes._types import constant

__all__ = ["TaskMoments", "task_moments"]


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class TaskMoments(Result):
    """Sums of integers by task, as ``data`` for :func:`ropoll_core.resampling.bootstrap`.

    Candidates are the judges, in order, and last the signal if there is one.

    Attributes
    ----------
    data : dict of int64 arrays (n_tasks,)
        ``"n"``, ``"n_pivotal"``, ``"panel_correct"``; with a signal ``"gain"`` (in 1/`unit`),
        ``"signal_correct"``, ``"pivotal_signal_correct"``; ``("errors", j)`` of a candidate
        and ``("errors", i, j)`` of a pair, i < j. With gaps, ``"n_signal"`` and
        ``"n_pivotal_signal"`` count the answers of the signal, and ``("n", i, j)``,
        ``("first", i, j)`` and ``("second", i, j)`` the queries that both candidates of a pair
        answered and their errors there; ``("errors", j)`` is then absent.
    unit : int
        What the gain is counted in.
    n_tasks, n_candidates, n_left_out : int
        `n_left_out` queries have no label or no valid ballot.
    complete : bool
        No scored query has a missing ballot or an abstaining signal.
    """

    data: dict[Any, NDArray[np.int64]]
    unit: int
    n_tasks: int
    n_candidates: int
    n_left_out: int
    complete: bool
    has_signal: bool

    def panel_accuracy(self) -> Statistic:
        """Accuracy of the panel."""
        return Ratio("panel_correct", "n")

    def gain(self) -> Statistic:
        """Gain of the substitution over all queries."""
        self._need_signal("gain")
        return Ratio("gain", "n") / self.unit

    def pivotal_gain(self) -> Statistic:
        """Gain of the substitution over the pivotal queries."""
        self._need_signal("pivotal_gain")
        return Ratio("gain", "n_pivotal") / self.unit

    def signal_accuracy(self) -> Statistic:
        """Accuracy of the signal where it is given."""
        self._need_signal("signal_accuracy")
        return Ratio("signal_correct", "n" if self.complete else "n_signal")

    def effective_votes(self) -> Statistic:
        """Effective votes of the panel of all judges."""
        return self._effective_votes()[0]

    def effective_votes_change(self) -> Statistic:
        """Mean over the replaced judge of the panel with the signal, less the panel.

        Where the signal abstains the new panel lacks a ballot.
        """
        self._need_signal("effective_votes_change")
        panels = self._effective_votes()
        return panels[1:].mean() - panels[0]

    def _effective_votes(self) -> Statistic:
        n = self.n_candidates
        pairs = list(itertools.combinations(range(n), 2))
        judges = list(range(n - self.has_signal))
        panels = [judges]
        if self.has_signal:
            panels += [[*judges[:r], *judges[r + 1 :], n - 1] for r in judges]
        both = [("errors", *pair) for pair in pairs]
        if self.complete:
            return EffectiveVotes("n", [("errors", j) for j in range(n)], both, panels)
        counts = [("n", *pair) for pair in pairs]
        sides = [(("first", *pair), ("second", *pair)) for pair in pairs]
        return EffectiveVotes(counts, sides, both, panels)

    def _need_signal(self, what: str) -> None:
        if not self.has_signal:
            raise ValueError(f"{what} needs moments made with a signal")


def task_moments(
    votes: Any, signal: Any, labels: Any, *, tasks: Any = None, rule: Any = "uniform"
) -> TaskMoments:
    """Sum what the bootstrap of ballot statistics needs, by task, in integers.

    Parameters
    ----------
    votes : array_like (n_queries, n_judges)
        Ballots, as in :func:`tally`.
    signal : array_like (n_queries,) or None
        0, 1 or missing; None for what can be said without one.
    labels : array_like (n_queries,)
        0, 1 or missing: such a query is left out, and counted.
    tasks : array_like (n_queries,), optional
        Keys of the tasks, in any order: strings, numbers or hashable objects, none missing.
        Default: every query is its own task.
    rule : {"uniform", "majority"} or int
        As in :func:`substitution`.

    Returns
    -------
    TaskMoments
        ``data`` for the bootstrap, and its statistics as methods.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong type or shape, a value is no ballot, or panels of too
        many different sizes have no common unit of gain below 2^53.

    Notes
    -----
    Three passes, about 30 ns a query for 7 judges; 42 integers a task for 7 judges and a signal,
    more with gaps, where every pair of candidates has counts of its own.

    Examples
    --------
    >>> from ropoll_core import resampling, votes
    >>> ballots = [[1, 1, 0], [1, 0, 0], [1, 1, 1], [0, 1, 0]]
    >>> moments = votes.task_moments(ballots, [0, 1, 1, 0], [0, 1, 1, 0], tasks=list("aabb"))
    >>> moments.data["gain"].tolist(), moments.unit
    ([4, 0], 3)
    >>> round(float(resampling.bootstrap(moments.gain(), moments.data, rng=0).estimate), 4)
    0.3333
    """
    # Check arguments: votes / signal / labels / tasks / rule
    ballots = as_ballots(votes)
    n_queries, n_judges = ballots.shape
    label_column = as_column(labels, "labels", n_queries)
    check_ballots(label_column, "labels")
    has_signal = signal is not None
    column = as_column(signal, "signal", n_queries) if has_signal else constant(-1, n_queries)
    if has_signal:
        check_ballots(column, "signal")
    rule = as_rule(rule, n_judges)
    codes, n_tasks = as_tasks(tasks, n_queries)
    codes = np.arange(n_queries) if codes is None else codes

    n_of_size = np.zeros(n_judges + 1, np.int64)
    bad, n_abstained = kernels.survey_rows(ballots, column, label_column, n_of_size)
    if bad >= 0:
        raise_no_ballot(votes=ballots)
    sizes = np.flatnonzero(n_of_size).tolist()
    unit = gain_unit(rule, sizes, n_queries)
    complete = sizes in ([], [n_judges]) and not (has_signal and n_abstained)
    rows = (ballots, column, label_column, codes)
    outcomes = np.zeros((n_tasks, len(kernels.OUTCOMES)), np.int64)
    kernels.outcome_rows(*rows, rule_code(rule), unit_shares(unit, n_judges), outcomes)
    data: dict[Any, NDArray[np.int64]] = dict(zip(kernels.OUTCOMES, outcomes.T, strict=True))
    drop = [] if has_signal else ["gain", "signal_correct", "pivotal_signal_correct"]
    if complete or not has_signal:
        drop += ["n_signal", "n_pivotal_signal"]
    for name in drop:
        del data[name]
    n_candidates = n_judges + has_signal
    data |= _error_moments(rows, n_candidates, n_tasks, complete)
    return TaskMoments(
        data=data,
        unit=unit,
        n_tasks=n_tasks,
        n_candidates=n_candidates,
        n_left_out=n_queries - int(n_of_size.sum()),
        complete=complete,
        has_signal=has_signal,
    )


def _error_moments(rows: Any, n: int, n_tasks: int, complete: bool) -> dict[Any, NDArray[np.int64]]:
    pairs = list(itertools.combinations(range(n), 2))
    if complete:
        single = np.zeros((n_tasks, n), np.int64)
        both = np.zeros((n_tasks, len(pairs)), np.int64)
        arguments = (*rows, single, both, np.empty(n + 1, np.int32))
        kernels.error_rows(*arguments)
        return {("errors", j): single[:, j] for j in range(n)} | {
            ("errors", *pair): both[:, p] for p, pair in enumerate(pairs)
        }
    out = np.zeros((n_tasks, 4, len(pairs)), np.int64)
    arguments = (*rows, out, np.empty(n, np.int8))
    kernels.pair_rows(*arguments)
    return {
        (name, *pair): out[:, row, p]
        for row, name in enumerate(("n", "first", "second", "errors"))
        for p, pair in enumerate(pairs)
    }
