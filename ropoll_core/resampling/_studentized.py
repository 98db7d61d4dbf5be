"""Standard errors of ratios within each resample, for studentised intervals.

For a sum of ratios, sum_i c_i A_i / B_i of column totals, the linearised standard error over
tasks is the root of sum_t (sum_i c_i (A_it - r_i B_it) / B_i)^2. Expanded, it is a quadratic form
in the totals of the products of columns, which are moments like any other.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core.resampling.statistics import Statistic, divide

__all__ = ["RatioErrors"]

_EXACT = 2.0**53


class RatioErrors:
    """Standard errors of statistics that are sums of ratios.

    columns : column name to place among the moments; the last moment is the number of rows.
    """

    def __init__(self, statistics: list[Statistic], columns: dict[Hashable, int], n_moments: int):
        rows = n_moments - 1
        self.terms = [
            [
                [
                    (weight, columns[top], rows if bottom is None else columns[bottom])
                    for weight, top, bottom in output
                ]
                for output in statistic._ratio_terms()
            ]
            for statistic in statistics
        ]
        self.products: dict[tuple[int, int], int] = {}
        for output in itertools.chain.from_iterable(self.terms):
            used = sorted({place for _, top, bottom in output for place in (top, bottom)})
            for pair in itertools.combinations_with_replacement(used, 2):
                self.products.setdefault(pair, n_moments + len(self.products))

    def extend(self, moments: NDArray[Any]) -> NDArray[Any]:
        """The moments of each task, and the products that the errors need."""
        largest = float(max(abs(float(moments.max())), abs(float(moments.min()))))
        if largest**2 * moments.shape[0] >= _EXACT:
            moments = moments.astype(np.float64)
        pairs = [moments[:, a] * moments[:, b] for a, b in self.products]
        return np.concatenate([moments, np.stack(pairs, axis=1)], axis=1)

    def of(self, number: int, totals: NDArray[np.float64]) -> NDArray[np.float64]:
        """Errors of one statistic's outputs, (size, n); NaN where a denominator is zero."""
        return np.stack([self._output(output, totals) for output in self.terms[number]])

    def _output(
        self, terms: list[tuple[float, int, int]], totals: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        slope: dict[int, NDArray[np.float64]] = {}
        for weight, top, bottom in terms:
            scale = divide(weight, totals[bottom])
            slope[top] = slope.get(top, 0.0) + scale
            slope[bottom] = slope.get(bottom, 0.0) - scale * divide(totals[top], totals[bottom])
        square = np.zeros(totals.shape[1])
        for a, b in itertools.combinations_with_replacement(sorted(slope), 2):
            term = slope[a] * slope[b] * totals[self.products[a, b]]
            square += term if a == b else 2.0 * term
        # Rounding may leave a little below zero where every task has the same ratio.
        errors: NDArray[np.float64] = np.sqrt(np.maximum(square, 0.0))
        return errors
