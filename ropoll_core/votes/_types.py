"""Equal queries seen once: the distinct (ballots, signal, label) rows and how often each occurs.

A panel of few judges has few distinct rows whatever the number of queries, and one pass over
the data counts them. All that does not need to know *which* queries they were is then computed
on the types: substitution under every rule, all sub-panels, correlations, judge metrics.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.ballots import as_ballots, as_column, check_ballots, raise_no_ballot
from ropoll_core._kernels import ballots as kernels
from ropoll_core._parallel import run_chunks
from ropoll_core._results.base import Result

__all__ = ["DistinctBallots", "as_types", "constant", "distinct_ballots"]

# sum_j bit_j(p) 3^j for every pattern p: base-2 digits read as base-3 ones.
_TERNARY = sum(
    ((np.arange(1 << kernels.MOST_PATTERN_JUDGES) >> j) & 1) * 3**j
    for j in range(kernels.MOST_PATTERN_JUDGES)
).astype(np.int32)


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class DistinctBallots(Result):
    """Distinct rows with their counts; or, where that would not pay, every query once.

    Attributes
    ----------
    votes : int8 array (n_types, n_judges)
    signal, labels : int8 arrays (n_types,)
    counts : int64 array (n_types,)
        Queries with this row.
    """

    votes: NDArray[np.int8]
    signal: NDArray[np.int8]
    labels: NDArray[np.int8]
    counts: NDArray[np.int64]

    @property
    def n_types(self) -> int:
        return int(self.votes.shape[0])

    @property
    def n_judges(self) -> int:
        return int(self.votes.shape[1])


def constant(value: int, n_queries: int) -> NDArray[np.int8]:
    """A column that holds one value and takes no memory."""
    return np.broadcast_to(np.int8(value), (n_queries,))


def as_types(
    votes: NDArray[np.int8],
    signal: NDArray[np.int8] | None = None,
    labels: NDArray[np.int8] | None = None,
    *,
    counts: NDArray[np.int64] | None = None,
    merge: bool = True,
    workers: int | None = None,
) -> DistinctBallots:
    """Count equal rows; reads every byte, and raises for one that is no ballot.

    Rows are not merged if they come with counts already, or if something else, such as weights
    of their own, tells them apart.
    """
    n_queries, n_judges = votes.shape
    named = {"votes": votes, "signal": signal, "labels": labels}
    given = {name: array for name, array in named.items() if array is not None}
    signal = constant(0, n_queries) if signal is None else signal
    labels = constant(0, n_queries) if labels is None else labels
    n_cells = 1 << (n_judges + 2)
    small = n_judges <= kernels.MOST_PATTERN_JUDGES and n_queries >= 2 * n_cells
    if counts is not None or not (merge and small):
        for argument, array in given.items():
            check_ballots(array, argument)
        each = np.broadcast_to(np.int64(1), (n_queries,)) if counts is None else counts
        return DistinctBallots(votes, signal, labels, each)

    tables: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
    n_gapped: list[int] = []

    def new_tables() -> Any:
        tables.append((np.zeros(n_cells, np.int64), np.zeros(9 * 3**n_judges, np.int64)))
        return tables[-1]

    def count(start: int, stop: int, pair: Any) -> None:
        complete, gapped_cells = pair
        bad, gapped = kernels.pattern_rows(
            votes, signal, labels, _TERNARY, complete, gapped_cells, start, stop
        )
        n_gapped.append(gapped)
        if bad >= 0:
            raise_no_ballot(**given)

    run_chunks(count, n_queries, cost_ns=1.0, lanes=8, workers=workers, scratch=new_tables)
    rows = _complete_rows(sum(pair[0] for pair in tables), n_judges)  # type: ignore[arg-type]
    if any(n_gapped):
        gapped = _gapped_rows(sum(pair[1] for pair in tables), n_judges)  # type: ignore[arg-type]
        rows = tuple(np.concatenate(both) for both in zip(rows, gapped, strict=True))
    return DistinctBallots(*rows)


def _complete_rows(table: NDArray[np.int64], n_judges: int) -> Any:
    cells = np.flatnonzero(table)
    bits = ((cells[:, None] >> np.arange(n_judges + 2)) & 1).astype(np.int8)
    votes = np.ascontiguousarray(bits[:, :n_judges])
    return votes, bits[:, n_judges + 1].copy(), bits[:, n_judges].copy(), table[cells]


def _gapped_rows(table: NDArray[np.int64], n_judges: int) -> Any:
    cells = np.flatnonzero(table)
    side, pattern = np.divmod(cells, 3**n_judges)
    digits = (pattern[:, None] // 3 ** np.arange(n_judges)) % 3
    votes = np.where(digits == 2, -1, digits).astype(np.int8)
    return votes, (side // 3 - 1).astype(np.int8), (side % 3 - 1).astype(np.int8), table[cells]


def distinct_ballots(
    votes: Any, signal: Any, labels: Any, *, workers: int | None = None
) -> DistinctBallots:
    """Count equal queries, so that many questions about them read the data once.

    Parameters
    ----------
    votes, signal, labels : array_like
        As in :func:`substitution`.
    workers : int, optional
        Threads; see :func:`ropoll_core.default_workers`.

    Returns
    -------
    DistinctBallots
        ``votes``, ``signal``, ``labels`` and ``counts``, for the functions that take counts:
        exactly the same results. Queries are left as they are, each counted once, for more
        than 12 judges or where there are few.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong type or shape, or a value is no ballot.

    Notes
    -----
    One pass: under 1 ns a query for 7 judges without gaps.

    Examples
    --------
    >>> import numpy as np
    >>> from ropoll_core.votes import distinct_ballots, substitution
    >>> votes = np.tile([[1, 1, 0], [0, 0, 1]], (500, 1))
    >>> distinct = distinct_ballots(votes, [0, 1] * 500, [0, 1] * 500)
    >>> distinct.votes.tolist(), distinct.counts.tolist()
    ([[1, 1, 0], [0, 0, 1]], [500, 500])
    >>> columns = (distinct.votes, distinct.signal, distinct.labels)
    >>> substitution(*columns, counts=distinct.counts).total_gain
    Fraction(2000, 3)
    """
    ballots = as_ballots(votes)
    return as_types(
        ballots,
        as_column(signal, "signal", ballots.shape[0]),
        as_column(labels, "labels", ballots.shape[0]),
        workers=workers,
    )
