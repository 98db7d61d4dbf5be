"""Exact single-ballot substitution, from one table of cells."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.ballots import as_ballots, as_column, as_query_counts, as_vote_weights
from ropoll_core._jit.callbacks import is_jit_function
from ropoll_core._jit.rules import flip_driver
from ropoll_core._kernels import substitution as kernels
from ropoll_core._kernels.ballots import TIE_WITHIN
from ropoll_core._parallel import run_chunks
from ropoll_core._results.votes import Substitution
from ropoll_core.votes._moments import task_moments
from ropoll_core.votes._rules import as_rule
from ropoll_core.votes._tally import strata_of
from ropoll_core.votes._types import DistinctBallots, as_types

__all__ = ["CellTable", "cell_table", "substitution"]

_CELL_NS = 10.0


@dataclasses.dataclass(frozen=True)
class CellTable:
    """Queries of equal (n_valid, ones), and for weighted panels equal decision and pivotality.

    Attributes
    ----------
    n_valid, ones, decision, stratum : int64 arrays (n_cells,)
    pivotal : bool array (n_cells,)
    cross : int64 array (n_cells, 3, 3)
        Queries by signal + 1 and label + 1.
    flips : int64 array (n_cells, 2, n_judges)
        By label: queries whose decision changes when the ballot of this judge is replaced.
    """

    n_valid: NDArray[np.int64]
    ones: NDArray[np.int64]
    decision: NDArray[np.int64]
    stratum: NDArray[np.int64]
    pivotal: NDArray[np.bool_]
    cross: NDArray[np.int64]
    flips: NDArray[np.int64]

    @property
    def scored(self) -> NDArray[np.int64]:
        """Queries that count, by label: labelled, with a valid ballot."""
        return np.where(self.n_valid[:, None] > 0, self.cross[:, :, 1:].sum(axis=1), 0)

    @property
    def n_errors(self) -> NDArray[np.int64]:
        """Scored queries that the panel decided wrongly."""
        scored = self.scored
        return np.where(self.decision == 1, scored[:, 0], scored[:, 1])

    def gain(self, rule: str | int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Expected gain summed over the queries of a cell, by label.

        Numerators (n_cells, 2) and denominators (n_cells, 1). A flip puts the decision right
        where the label is the other side, else wrong.
        """
        net = np.where(self.decision[:, None] == [0, 1], -1, 1)[:, :, None] * self.flips
        if isinstance(rule, int):
            return net[:, :, rule], np.ones_like(self.ones)[:, None]
        on_side = np.where(self.decision == 1, self.ones, self.n_valid - self.ones)
        of = self.n_valid if rule == "uniform" else on_side
        return net.sum(axis=2), np.maximum(of, 1)[:, None]


def cell_table(
    types: DistinctBallots,
    weights: NDArray[np.float64] | None = None,
    *,
    workers: int | None = None,
) -> CellTable:
    """Run the kernel over the types, and keep the cells that occur."""
    k = types.n_judges
    n_cells = (k + 1) ** 2 if weights is None else 4 * (k + 1) ** 2
    tables: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []

    def new_tables() -> Any:
        tables.append((np.zeros((n_cells, 3, 3), np.int64), np.zeros((n_cells, 2, k), np.int64)))
        return tables[-1]

    def kernel(start: int, stop: int, pair: Any) -> None:
        data = (types.signal, types.labels, types.counts, *pair, start, stop)
        if weights is None:
            kernels.cell_rows(types.votes, *data)
        else:
            kernels.weighted_cell_rows(types.votes, weights, *data)

    run_chunks(kernel, types.n_types, cost_ns=_CELL_NS + k, workers=workers, scratch=new_tables)
    if not tables:
        new_tables()
    cross = np.sum([pair[0] for pair in tables], axis=0)
    cells = np.flatnonzero(cross.any(axis=(1, 2)))
    flips = np.sum([pair[1][cells] for pair in tables], axis=0)
    pivotal, decision = cells % 2 == 1, cells // 2 % 2
    n_valid, ones = np.divmod(cells if weights is None else cells // 4, k + 1)
    stratum = pivotal.astype(np.int64)
    if weights is None:
        lean = 2 * ones - n_valid
        decision = (lean > 0).astype(np.int64)
        stratum = np.where(n_valid % 2 == 1, np.abs(lean), lean)
        pivotal = (n_valid > 0) & (stratum >= 0) & (stratum <= 2)
    return CellTable(n_valid, ones, decision, stratum, pivotal, cross[cells], flips)


def on_common_unit(
    numerators: NDArray[np.int64], denominators: NDArray[np.int64]
) -> tuple[NDArray[Any], int]:
    """Fractions as whole numbers of 1/unit: their sums are exact, whatever the order."""
    unit = math.lcm(*np.unique(denominators).tolist())
    if unit * max(int(np.abs(numerators).sum()), 1) < 2**62:
        return numerators * (unit // denominators), unit
    whole = unit // denominators.astype(object)
    return numerators.astype(object) * whole, unit


def ratio(numerator: int | float, denominator: int) -> float:
    """One rounding; NaN for 0/0."""
    return numerator / denominator if denominator else math.nan


Gains = tuple[dict[int, Any], int]  # by stratum, in 1/unit; and unit


def stratum_gains(table: CellTable, rule: str | int) -> Gains:
    """Expected gain summed over the queries of each stratum."""
    whole, unit = on_common_unit(*table.gain(rule))
    by_cell = whole.sum(axis=1)
    gains: dict[int, Any] = dict.fromkeys(table.stratum.tolist(), 0)
    for level, gain in zip(table.stratum.tolist(), by_cell.tolist(), strict=True):
        gains[level] += gain
    return gains, unit


def jitted_gains(types: DistinctBallots, weights: NDArray[np.float64] | None, rule: Any) -> Gains:
    """The same for a user's compiled rule, every replacement tried; in floats."""
    seats = np.ones((1, types.n_judges)) if weights is None else weights
    flip = np.empty(types.n_types)
    row = flip_driver(rule)(types.votes, seats, types.signal, TIE_WITHIN, flip)
    if row >= 0:
        raise ValueError(
            "rule must return finite weights that are not negative, as it did not for ballots "
            f"{types.votes[row].tolist()} and signal {int(types.signal[row])}"
        )
    gain = np.where(types.labels == types.signal, flip, -flip) * types.counts
    gain[types.labels < 0] = 0
    stratum = strata_of(types.votes) if weights is None else (flip > 0).astype(np.int64)
    return {int(level): math.fsum(gain[stratum == level]) for level in np.unique(stratum)}, 1


def summarise(table: CellTable, rule: Any, gains: Gains | None = None) -> Substitution:
    """Read one rule off a table of cells; a user's own rule comes with its gains."""
    scored = table.scored
    n = scored.sum(axis=1)
    n_errors = table.n_errors
    by_stratum, unit = stratum_gains(table, rule) if gains is None else gains
    strata = np.unique(table.stratum[n > 0])
    inside = table.stratum == strata[:, None]
    here = [by_stratum.get(level, 0) for level in strata.tolist()]
    total: Any = sum(here) if gains is None else math.fsum(here)
    stratum_n = inside @ n
    n_scored, n_pivotal = int(n.sum()), int(n[table.pivotal].sum())
    n_right = n_scored - int(n_errors.sum())
    answered = np.where(table.n_valid[:, None, None] > 0, table.cross[:, 1:, 1:], 0)
    agreed = answered[:, 0, 0] + answered[:, 1, 1]
    n_answered = answered.sum(axis=(1, 2))
    return Substitution(
        rule=rule if isinstance(rule, (str, int)) else rule.__name__,
        n_queries=int(table.cross.sum()),
        n_scored=n_scored,
        n_empty=int(table.cross[table.n_valid == 0].sum()),
        n_unlabelled=int(table.cross[table.n_valid > 0][:, :, 0].sum()),
        n_abstained=n_scored - int(n_answered.sum()),
        n_pivotal=n_pivotal,
        panel_accuracy=ratio(n_right, n_scored),
        accuracy=ratio(n_right * unit + total, n_scored * unit),
        gain=ratio(total, n_scored * unit),
        pivotal_gain=ratio(total, n_pivotal * unit),
        total_gain=Fraction(total, unit) if gains is None else total,
        signal_accuracy=ratio(int(agreed.sum()), int(n_answered.sum())),
        pivotal_signal_accuracy=ratio(
            int(agreed[table.pivotal].sum()), int(n_answered[table.pivotal].sum())
        ),
        stratum=strata,
        stratum_pivotal=(inside & table.pivotal).any(axis=1),
        n=stratum_n,
        n_errors=inside @ n_errors,
        stratum_gain=np.array(
            [ratio(g, size * unit) for g, size in zip(here, stratum_n.tolist(), strict=True)],
            dtype=np.float64,
        ),
    )


def substitution(
    votes: Any,
    signal: Any,
    labels: Any,
    *,
    rule: Any = "uniform",
    tasks: Any = None,
    weights: Any = None,
    counts: Any = None,
    workers: int | None = None,
) -> Substitution:
    """Replace one ballot of each query by a signal: the exact expected gain, and where it is.

    Parameters
    ----------
    votes : array_like (n_queries, n_judges)
        Ballots, as in :func:`tally`; a tie is decided as 0. A missing ballot is not replaced.
    signal : array_like (n_queries,)
        0, 1 or missing: an abstaining signal replaces nothing.
    labels : array_like (n_queries,)
        0, 1 or missing: left out of every accuracy, and counted.
    rule : {"uniform", "majority"}, int or function
        Which ballot is replaced: each valid one with equal probability; one of the side that
        the panel decided for; that of this judge, if valid. A function compiled by
        ``numba.njit`` takes the ballots of a query (int8, -1 missing), the index of a judge
        and the signal, and returns the weight of replacing that judge: finite, not negative;
        where all are 0 nothing is replaced.
    tasks : array_like (n_queries,), optional
        Keys of tasks: the result then holds the integer sums by task from which the bootstrap
        has the interval of the gain, see :func:`task_moments`. With a built-in rule only, and
        not with `weights` or `counts`.
    weights : array_like (n_judges,) or (n_queries, n_judges), optional
        As in :func:`tally`. The signal takes over the weight of the ballot it replaces.
    counts : array_like (n_queries,), optional
        How often each row occurs, as from :func:`distinct_ballots`.
    workers : int, optional
        Threads; see :func:`ropoll_core.default_workers`.

    Returns
    -------
    Substitution
        Accuracy before and after, gain overall, on pivotal queries and by stratum, and counts.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong type or shape, or a value is no ballot.

    Notes
    -----
    No sampling: with s ones of k valid ballots, h = floor(k/2) and decision d = [s > h], a
    replacement can matter only if the signal is not d and s is h or h + 1; it then changes the
    decision exactly when the replaced ballot was d, which has probability (h + 1)/k for d = 1
    and (k - h)/k for d = 0 under the uniform rule. This is Proposition 1 (odd k) and 2 (even k)
    of "Blind to the Pivotal Vote", arXiv:2608.06940, in one formula. Up to 12 judges the data
    are read once, into a histogram of ballot patterns: about 1 ns a query.

    Examples
    --------
    >>> from ropoll_core import substitution
    >>> result = substitution([[1, 1, 0], [1, 1, 1], [0, 0, 1]], [0, 0, 1], [0, 0, 0])
    >>> result.panel_accuracy, result.n_pivotal, result.total_gain
    (0.3333333333333333, 2, Fraction(0, 1))
    >>> result.stratum.tolist(), result.n.tolist(), result.n_errors.tolist()
    ([1, 3], [2, 1], [1, 1])
    """
    # Check arguments: votes / signal / labels / weights / rule / tasks
    ballots = as_ballots(votes)
    n_queries, n_judges = ballots.shape
    signal_column = as_column(signal, "signal", n_queries)
    label_column = as_column(labels, "labels", n_queries)
    seat_weights = as_vote_weights(weights, n_queries, n_judges)
    jitted = is_jit_function(rule)
    if callable(rule) and not jitted:
        raise TypeError(f"rule must be compiled by numba.njit, got the plain {rule!r}")
    rule = rule if jitted else as_rule(rule, n_judges)
    if tasks is not None and (jitted or weights is not None or counts is not None):
        raise ValueError("tasks must not be given with weights, counts or a rule of your own")

    own_weights = seat_weights is not None and seat_weights.shape[0] > 1
    types = as_types(
        ballots,
        signal_column,
        label_column,
        counts=as_query_counts(counts, n_queries),
        merge=not own_weights,
        workers=workers,
    )
    table = cell_table(types, seat_weights, workers=workers)
    gains = jitted_gains(types, seat_weights, rule) if jitted else None
    result = summarise(table, rule, gains)
    if tasks is None:
        return result
    moments = task_moments(ballots, signal_column, label_column, tasks=tasks, rule=rule)
    return dataclasses.replace(result, task_moments=moments)
