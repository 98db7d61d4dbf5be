"""Exact single-ballot substitution, from one table of strata."""

from __future__ import annotations

import dataclasses
import itertools
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
from ropoll_core.votes._rules import as_rule, rule_code
from ropoll_core.votes._tally import strata_of
from ropoll_core.votes._types import DistinctBallots, as_types

__all__ = ["StratumTable", "stratum_table", "substitution", "summarise"]

_ROW_NS = 3.0


@dataclasses.dataclass(frozen=True)
class StratumTable:
    """Sums over the queries of a stratum, by label, as the kernel defines them.

    Attributes
    ----------
    strata, pivotal : range
        Every stratum there can be, in the order of `sums`; the pivotal ones, in that of `gains`.
    sums : int64 array (n_labels, n_strata, 4)
        By label: queries, errors of the panel, answers of the signal, right ones.
    gains : int64 array (n_labels, n_pivotal, n_judges + 1)
        By label, and by what the gain is counted in: 1/0 (never), 1/1, 1/2, ...
    n_empty, n_unlabelled : int
        Queries without a ballot; with one, but without a label.
    """

    strata: range
    pivotal: range
    sums: NDArray[np.int64]
    gains: NDArray[np.int64]
    n_empty: int
    n_unlabelled: int

    def gain(self) -> tuple[list[list[int]], int]:
        """By label and pivotal stratum, as whole numbers of 1/unit; and the unit."""
        places = np.nonzero(self.gains)
        labels, levels, units = (axis.tolist() for axis in places)
        unit = math.lcm(*units)
        whole = [[0] * len(self.pivotal) for _ in self.gains]
        for y, s, of, gain in zip(labels, levels, units, self.gains[places].tolist(), strict=True):
            whole[y][s] += gain * (unit // of)
        return whole, unit


def stratum_table(
    types: DistinctBallots,
    rule: str | int,
    weights: NDArray[np.float64] | None = None,
    *,
    workers: int | None = None,
) -> StratumTable:
    """Run the kernel over the types."""
    k = types.n_judges
    strata, pivotal = range(-k, k + 1), range(min(k, 2) + 1)
    if weights is not None:
        strata, pivotal = range(2), range(1, 2)
    shapes = ((2, len(strata), 4), (2, pivotal.stop, k + 1), (2,))
    parts: list[list[NDArray[np.int64]]] = []

    def new_sums() -> list[NDArray[np.int64]]:
        parts.append([np.zeros(shape, np.int64) for shape in shapes])
        return parts[-1]

    def kernel(start: int, stop: int, sums: Any) -> None:
        data = (types.signal, types.labels, types.counts, rule_code(rule), *sums, start, stop)
        if weights is None:
            kernels.stratum_rows(types.votes, *data)
        else:
            kernels.weighted_stratum_rows(types.votes, weights, *data)

    run_chunks(kernel, types.n_types, cost_ns=_ROW_NS + k, workers=workers, scratch=new_sums)
    if not parts:
        new_sums()
    for other in parts[1:]:
        for total, part in zip(parts[0], other, strict=True):
            total += part
    sums, gains, left_out = parts[0]
    return StratumTable(strata, pivotal, sums, gains[:, pivotal.start :], *left_out.tolist())


def ratio(numerator: int | float, denominator: int) -> float:
    """One rounding; NaN for 0/0."""
    return numerator / denominator if denominator else math.nan


def jitted_gains(
    types: DistinctBallots, weights: NDArray[np.float64] | None, rule: Any
) -> dict[int, float]:
    """Gain by stratum under a user's compiled rule, every replacement tried."""
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
    return {int(level): math.fsum(gain[stratum == level]) for level in np.unique(stratum)}


def summarise(
    table: StratumTable, rule: Any, float_gains: dict[int, float] | None = None
) -> Substitution:
    """Read the result off a table; a user's own rule comes with its gains by stratum."""
    by_label, unit = table.gain()
    gains: dict[int, Any] = dict(
        zip(table.pivotal, map(sum, zip(*by_label, strict=True)), strict=True)
    )
    total: Any = sum(gains.values())
    if float_gains is not None:
        gains, unit, total = float_gains, 1, math.fsum(float_gains.values())
    rows = zip(table.strata, np.add.reduce(table.sums, axis=0).tolist(), strict=True)
    kept = [(level, *row) for level, row in rows if row[0]]
    strata, n, n_errors, n_answered, n_agreed = zip(*kept, strict=True) if kept else ((),) * 5
    pivotal = [level in table.pivotal for level in strata]
    n_scored, n_pivotal = sum(n), sum(itertools.compress(n, pivotal))
    n_right = n_scored - sum(n_errors)
    return Substitution(
        rule=rule if isinstance(rule, (str, int)) else rule.__name__,
        n_queries=n_scored + table.n_empty + table.n_unlabelled,
        n_scored=n_scored,
        n_empty=table.n_empty,
        n_unlabelled=table.n_unlabelled,
        n_abstained=n_scored - sum(n_answered),
        n_pivotal=n_pivotal,
        panel_accuracy=ratio(n_right, n_scored),
        accuracy=ratio(n_right * unit + total, n_scored * unit),
        gain=ratio(total, n_scored * unit),
        pivotal_gain=ratio(total, n_pivotal * unit),
        total_gain=Fraction(total, unit) if float_gains is None else total,
        signal_accuracy=ratio(sum(n_agreed), sum(n_answered)),
        pivotal_signal_accuracy=ratio(
            sum(itertools.compress(n_agreed, pivotal)), sum(itertools.compress(n_answered, pivotal))
        ),
        stratum=np.array(strata, np.int64),
        stratum_pivotal=np.array(pivotal, np.bool_),
        n=np.array(n, np.int64),
        n_errors=np.array(n_errors, np.int64),
        stratum_gain=np.array(
            [ratio(gains.get(s, 0), size * unit) for s, size in zip(strata, n, strict=True)],
            np.float64,
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
    are read once, into a histogram of ballot patterns: about half a nanosecond a query for 7.

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
    table = stratum_table(types, "uniform" if jitted else rule, seat_weights, workers=workers)
    result = summarise(table, rule, jitted_gains(types, seat_weights, rule) if jitted else None)
    if tasks is None:
        return result
    moments = task_moments(ballots, signal_column, label_column, tasks=tasks, rule=rule)
    return dataclasses.replace(result, task_moments=moments)
