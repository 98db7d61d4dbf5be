"""Every sub-panel of a size, from the distinct ballot patterns of the whole panel."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.ballots import as_ballots, as_column, as_query_counts, as_vote_weights
from ropoll_core._checks.options import as_count
from ropoll_core._checks.resampling import as_tasks
from ropoll_core._kernels import sub_panels as kernels
from ropoll_core._parallel import run_chunks
from ropoll_core._results.votes import SubsetSweep
from ropoll_core.votes._rules import as_rule, gain_unit, rule_code, unit_shares
from ropoll_core.votes._substitution import stratum_table
from ropoll_core.votes._types import DistinctBallots, as_types

__all__ = ["subset_sweep"]

MOST_PANELS = 1 << 22
_ROW_NS = 1.5
_BLOCK = 2048  # rows whose cells stay in the first-level cache

# By panel and stratum: [queries, errors of the panel]; and the gain.
_Sums = tuple[NDArray[np.int64], NDArray[np.float64]]


def subset_sweep(
    votes: Any,
    signal: Any,
    labels: Any,
    size: int,
    *,
    rule: Any = "uniform",
    tasks: Any = None,
    weights: Any = None,
    counts: Any = None,
    workers: int | None = None,
) -> SubsetSweep:
    """Substitution on every panel of `size` of the judges.

    Parameters
    ----------
    votes, signal, labels : array_like
        As in :func:`substitution`.
    size : int
        Judges of a sub-panel, 1 to n_judges. Even sizes show their asymmetry by themselves: a
        tally of -2 gains exactly nothing.
    rule : {"uniform", "majority"} or int
        As in :func:`substitution`; a judge's index keeps the panels which that judge is in.
    tasks : array_like (n_queries,), optional
        Keys of tasks: the result then holds integer sums by task for the bootstrap. Not with
        `weights`.
    weights : array_like (n_judges,) or (n_queries, n_judges), optional
        As in :func:`substitution`: each panel votes with the weights of its own judges. A panel
        whose judges all have weight 0 has no seats, and scores no query.
    counts : array_like (n_queries,), optional
        As in :func:`substitution`; not with `tasks`.
    workers : int, optional
        Threads; see :func:`ropoll_core.default_workers`.

    Returns
    -------
    SubsetSweep
        One row a panel, in lexicographic order of its judges.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong type or shape, a value is no ballot, or there are more
        than 2^22 panels.

    Notes
    -----
    Up to 12 judges one pass over the data serves every panel: the rest works on at most
    2^(n_judges + 2) distinct rows (more with gaps), 1 to 2 ns a row and panel, and 2 to 3 ns
    a query and panel for sums by task. Tables take about 300 (size + 1)^2 bytes. A weighted
    panel costs as much as a weighted substitution.

    Examples
    --------
    >>> from ropoll_core import subset_sweep
    >>> sweep = subset_sweep([[1, 1, 0], [1, 0, 0]], [0, 0], [0, 0], 2)
    >>> sweep.members.tolist(), sweep.panel_accuracy.tolist()
    ([[0, 1], [0, 2], [1, 2]], [0.5, 1.0, 1.0])
    >>> sweep.gain.tolist()
    [0.5, 0.0, 0.0]
    """
    # Check arguments: votes / signal / labels / size / rule / tasks / weights
    ballots = as_ballots(votes)
    n_queries, n_judges = ballots.shape
    signal_column = as_column(signal, "signal", n_queries)
    label_column = as_column(labels, "labels", n_queries)
    size = as_count(size, "size", most=n_judges)
    rule = as_rule(rule, n_judges)
    if math.comb(n_judges, size) > MOST_PANELS:
        raise ValueError(
            f"size={size} of {n_judges} judges makes {math.comb(n_judges, size)} panels, "
            f"more than {MOST_PANELS}"
        )
    if tasks is not None and counts is not None:
        raise ValueError("counts and tasks exclude each other: equal rows may be of several tasks")
    if tasks is not None and weights is not None:
        raise ValueError("tasks must not be given with weights")
    codes, n_tasks = (None, 0) if tasks is None else as_tasks(tasks, n_queries)
    seat_weights = as_vote_weights(weights, n_queries, n_judges)

    members = np.array(list(itertools.combinations(range(n_judges), size)), np.int32)
    if isinstance(rule, int):
        members = np.ascontiguousarray(members[(members == rule).any(axis=1)])
    types = as_types(
        ballots,
        signal_column,
        label_column,
        counts=as_query_counts(counts, n_queries),
        merge=seat_weights is None or seat_weights.shape[0] == 1,
        workers=workers,
    )
    if seat_weights is not None:
        sums = _weighted_sums(types, members, rule, seat_weights, workers)
        return _wrap(rule, members, range(2), range(1, 2), *sums)
    columns = _Columns.of(types.votes, types.signal, types.labels, members, rule)
    sums = columns.sum_by_stratum(types.counts, workers)
    by_task: tuple[Any, int] = (None, 1)
    if codes is not None:
        unit = gain_unit(rule, range(1, size + 1) if (types.votes < 0).any() else [size], n_queries)
        columns = _Columns.of(ballots, signal_column, label_column, members, rule)
        by_task = columns.sum_by_task(codes, n_tasks, unit, workers), unit
    return _wrap(rule, members, range(-size, size + 1), range(min(size, 2) + 1), *sums, *by_task)


def _weighted_sums(
    types: DistinctBallots,
    members: NDArray[np.int32],
    rule: str | int,
    weights: NDArray[np.float64],
    workers: int | None,
) -> _Sums:
    """Strata as of a weighted substitution; judges outside a panel have weight 0 in it."""
    counted = np.empty((len(members), 2, 2), np.int64)
    gained = np.zeros((len(members), 2))
    for panel, judges in enumerate(members):
        inside = np.zeros_like(weights)
        inside[:, judges] = weights[:, judges]
        table = stratum_table(types, rule, inside, workers=workers)
        by_label, unit = table.gain()
        counted[panel] = table.sums.sum(axis=0)[:, :2].T
        gained[panel, 1] = sum(map(sum, by_label)) / unit
    return counted, gained


@dataclasses.dataclass(frozen=True)
class _Columns:
    """Rows as the kernel takes them, for the panels of one size under one rule."""

    columns: NDArray[np.int32]
    sides: NDArray[np.int32]
    outcomes: NDArray[np.int64]
    members: NDArray[np.int32]
    rule: int

    @classmethod
    def of(
        cls,
        votes: NDArray[np.int8],
        signal: NDArray[np.int8],
        labels: NDArray[np.int8],
        members: NDArray[np.int32],
        rule: str | int,
    ) -> _Columns:
        size, code = members.shape[1], rule_code(rule)
        columns, sides = np.empty(votes.shape[::-1], np.int32), np.empty(len(votes), np.int32)
        kernels.panel_columns(votes, signal, labels, code, size, columns, sides)
        outcomes = np.empty(((size + 1) ** 2 * kernels.count_sides(code), 4), np.int64)
        kernels.outcome_table(code, size, outcomes)
        return cls(columns, sides, outcomes, members, code)

    def sum_by_stratum(self, counts: NDArray[np.int64], workers: int | None) -> _Sums:
        n_panels, size = self.members.shape
        slots = 2 * size + 1
        counted, gained = np.zeros((n_panels, 2, slots), np.int64), np.zeros((n_panels, slots))
        data = (self.columns, self.sides, counts, self.members, self.rule, self.outcomes)

        def kernel(start: int, stop: int, scratch: Any) -> None:
            kernels.stratum_rows(*data, counted, gained, start, stop, *scratch)

        def scratch() -> Any:
            sizes = (len(self.outcomes), slots)
            return (np.empty(_BLOCK, np.int32), *(np.empty(n, np.int64) for n in sizes))

        cost = _ROW_NS * len(self.sides) + len(self.outcomes)
        run_chunks(kernel, n_panels, cost_ns=cost, workers=workers, scratch=scratch)
        return counted, gained

    def sum_by_task(
        self, codes: NDArray[np.int64], n_tasks: int, unit: int, workers: int | None
    ) -> NDArray[np.int64]:
        """(n_panels, n_tasks, 4), the gain in 1/unit."""
        n_panels, size = self.members.shape
        outcomes = self.outcomes.copy()
        if self.rule == rule_code("uniform"):
            outcomes.reshape(size + 1, -1, 4)[:, :, 2] *= unit_shares(unit, size)[:, None]
        sums = np.zeros((n_panels, n_tasks, 4), np.int64)
        data = (self.columns, self.sides, codes, self.members, outcomes, sums)

        def kernel(start: int, stop: int, block: NDArray[np.int32]) -> None:
            kernels.task_rows(*data, start, stop, block)

        cost = 2 * _ROW_NS * len(self.sides)
        scratch = functools.partial(np.empty, _BLOCK, np.int32)
        run_chunks(kernel, n_panels, cost_ns=cost, workers=workers, scratch=scratch)
        return sums


def _wrap(
    rule: str | int,
    members: NDArray[np.int32],
    strata: range,
    pivotal: range,
    counted: NDArray[np.int64],
    gained: NDArray[np.float64],
    moments: NDArray[np.int64] | None = None,
    unit: int = 1,
) -> SubsetSweep:
    used = counted[:, 0].any(axis=0)
    n, n_errors = counted[:, 0], counted[:, 1]
    n_scored = n.sum(axis=1)
    inside = slice(strata.index(pivotal.start), strata.index(pivotal.stop - 1) + 1)
    n_pivotal, total = n[:, inside].sum(axis=1), gained[:, inside].sum(axis=1)
    n_right = n_scored - n_errors.sum(axis=1)
    with np.errstate(invalid="ignore"):  # 0/0: nothing to score
        return SubsetSweep(
            rule=rule,
            size=members.shape[1],
            members=members,
            n_scored=n_scored,
            n_pivotal=n_pivotal,
            panel_accuracy=n_right / n_scored,
            accuracy=(n_right + total) / n_scored,
            gain=total / n_scored,
            pivotal_gain=total / n_pivotal,
            stratum=np.array(strata)[used],
            n=n[:, used],
            n_errors=n_errors[:, used],
            stratum_gain=gained[:, used] / n[:, used],
            task_moments=moments,
            unit=unit,
        )
