"""Effective votes as a statistic of moment totals."""

from __future__ import annotations

import itertools
import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._kernels import totals as kernels
from ropoll_core.resampling.statistics import Column, Statistic, Totals, as_list, is_several

__all__ = ["EffectiveVotes"]


class EffectiveVotes(Statistic):
    """Effective number of independent votes, n_eff = k / (1 + (k - 1) mean phi).

    phi is the Pearson correlation of the errors of two judges (arXiv 2605.29800). A judge whose
    errors do not vary in a resample has no phi: it is left out of the mean and of k there, and a
    single judge left is worth one vote. Undefined with none left, or (missing ballots) with a
    pair left that has no phi; infinite where the mean phi is -1/(k - 1).

    Parameters
    ----------
    n : column, or list of columns
        Number of ballots that all judges cast; with missing ballots a list of one column a pair.
    errors : list of columns, or of pairs of columns
        Errors of each judge, E_j; with missing ballots for each pair the errors of its two
        judges where both voted.
    pairs : list of columns
        Shared errors E_ij, in the order of ``itertools.combinations(range(n_judges), 2)``.
    panels : list of lists of judge numbers, optional
        Panels to judge, one output each. Default: the panel of all judges, a scalar.

    Raises
    ------
    ValueError
        If the numbers of columns do not fit together, or a panel is not made of at least two
        distinct judges.
    """

    def __init__(self, n: Any, errors: Any, pairs: Any, panels: Any = None):
        shared = as_list(pairs)
        k = round(0.5 + (0.25 + 2 * len(shared)) ** 0.5)
        if k < 2 or k * (k - 1) // 2 != len(shared) or k > 64:
            raise ValueError(
                "pairs must have k (k - 1) / 2 columns for k judges, 2 <= k <= 64; "
                f"got {len(shared)}"
            )
        order = list(itertools.combinations(range(k), 2))
        by_pair = is_several(n)
        counts = as_list(n) if by_pair else [n] * len(order)
        if by_pair:
            sides = [tuple(as_list(pair)) for pair in errors]
        else:
            each = as_list(errors)
            if len(each) != k:
                raise ValueError(
                    f"errors must have {k} columns for {len(shared)} pairs, got {len(each)}"
                )
            sides = [(each[i], each[j]) for i, j in order]
        if len(counts) != len(order) or len(sides) != len(order):
            raise ValueError(
                f"n and errors must have one entry a pair ({len(order)}), "
                f"got {len(counts)} and {len(sides)}"
            )
        # Four columns a pair: n, E_i, E_j, E_ij.
        self._table = [
            column
            for count, (i, j), both in zip(counts, sides, shared, strict=True)
            for column in (count, i, j, both)
        ]
        self._several = panels is not None
        place = {pair: number for number, pair in enumerate(order)}
        chosen = [_panel(panel, k, place) for panel in (panels if self._several else [range(k)])]
        self._pairs = np.concatenate([pairs for pairs, _ in chosen])
        self._judges = np.concatenate([judges for _, judges in chosen])
        sizes = [0, *(pairs.size for pairs, _ in chosen)]
        self._starts = np.cumsum(sizes, dtype=np.int64)

    def _columns(self) -> set[Column] | None:
        return set(self._table)

    def _compute(self, totals: Totals) -> NDArray[np.float64]:
        columns = totals.places(self._table).reshape(-1, 4)
        out = np.empty((self._starts.size - 1, totals.totals.shape[1]))
        phi = np.empty((columns.shape[0], kernels.PHI_TILE))
        kernels.effective_votes(
            totals.totals, columns, self._pairs, self._judges, self._starts, phi, out
        )
        return out if self._several else out[0]


def _panel(
    panel: Any, k: int, place: dict[tuple[int, int], int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    members = sorted({operator.index(judge) for judge in panel})
    if len(members) != len(list(panel)) or len(members) < 2 or members[0] < 0 or members[-1] >= k:
        raise ValueError(
            f"a panel must be at least two distinct judges from 0 to {k - 1}, got {list(panel)}"
        )
    judges = list(itertools.combinations(members, 2))
    return (
        np.array([place[pair] for pair in judges], dtype=np.int64),
        np.array(judges, dtype=np.int64),
    )
