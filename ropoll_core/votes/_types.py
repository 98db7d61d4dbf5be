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

from ropoll_core._checks.ballots import check_ballots, raise_no_ballot
from ropoll_core._kernels import ballots as kernels
from ropoll_core._parallel import run_chunks

__all__ = ["Types", "as_types", "constant"]

# sum_j bit_j(p) 3^j for every pattern p: base-2 digits read as base-3 ones.
_TERNARY = sum(
    ((np.arange(1 << kernels.MOST_PATTERN_JUDGES) >> j) & 1) * 3**j
    for j in range(kernels.MOST_PATTERN_JUDGES)
).astype(np.int32)


@dataclasses.dataclass(frozen=True)
class Types:
    """Distinct rows with their counts; or, where that would not pay, every query once."""

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
    merge: bool = True,
    workers: int | None = None,
) -> Types:
    """Count equal rows; reads every byte, and raises for one that is no ballot.

    Rows are not merged if something else, such as weights of their own, tells them apart.
    """
    n_queries, n_judges = votes.shape
    named = {"votes": votes, "signal": signal, "labels": labels}
    given = {name: array for name, array in named.items() if array is not None}
    signal = constant(0, n_queries) if signal is None else signal
    labels = constant(0, n_queries) if labels is None else labels
    n_cells = 1 << (n_judges + 2)
    small = n_judges <= kernels.MOST_PATTERN_JUDGES and n_queries >= 2 * n_cells
    if not (merge and small):
        for argument, array in given.items():
            check_ballots(array, argument)
        return Types(votes, signal, labels, np.broadcast_to(np.int64(1), (n_queries,)))

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
    return Types(*rows)


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
