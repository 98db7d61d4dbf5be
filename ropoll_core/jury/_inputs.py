"""The inputs of the consensus law as functions of moment totals.

A moment is a number of each query that adds up: errors E_j, shared errors E_ij, sizes of the
wrong classes. Everything here works on totals (n_moments, n_resamples), so the same code gives
the estimate, a bootstrap replicate and a cross-fitted fold.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ropoll_core._kernels.totals import phi_rows
from ropoll_core.jury._graded import Graded

__all__ = ["LawInputs", "inputs_from", "n_input_moments", "pairs_of", "stack_inputs"]

Floats = NDArray[np.float64]


class LawInputs(NamedTuple):
    """a (n,), rho (n,) as measured, attractors (n, n_slots), phi (n_pairs, n)."""

    accuracy: Floats
    correlation: Floats
    attractors: Floats
    phi: Floats

    def usable(self) -> tuple[Floats, Floats, Floats]:
        """Arguments of the law: a negative correlation counts as 0.

        Where all answers are right, or all wrong, correlation has no value and no influence;
        the same holds for attractors where all are right.
        """
        certain = (self.accuracy == 0.0) | (self.accuracy == 1.0)
        rho = np.where(certain, 0.0, np.where(self.correlation < 0.0, 0.0, self.correlation))
        masses = np.where((self.accuracy == 1.0)[:, None], 0.0, self.attractors)
        return self.accuracy, rho, np.ascontiguousarray(masses)


def pairs_of(n_judges: int) -> list[tuple[int, int]]:
    return list(itertools.combinations(range(n_judges), 2))


def n_input_moments(n_judges: int, n_slots: int) -> int:
    return 1 + n_judges + n_judges * (n_judges - 1) // 2 + n_slots


def stack_inputs(graded: Graded) -> NDArray[np.int64]:
    """Moments (n_queries, n_input_moments): 1, E_j, E_ij by pair, sizes of the wrong classes."""
    errors = graded.errors
    n_queries, n_judges = errors.shape
    moments = np.empty((n_queries, n_input_moments(n_judges, graded.slots.shape[1])), np.int64)
    moments[:, 0] = 1
    moments[:, 1 : n_judges + 1] = errors
    column = n_judges + 1
    for i, j in pairs_of(n_judges):
        np.logical_and(errors[:, i], errors[:, j], out=moments[:, column], casting="unsafe")
        column += 1
    moments[:, column:] = graded.slots
    return moments


def inputs_from(totals: Floats, n_judges: int) -> LawInputs:
    """a, rho and the profile from totals in the order of :func:`stack_inputs`."""
    pairs = pairs_of(n_judges)
    n, errors = totals[0], totals[1 : n_judges + 1]
    slots = totals[1 + n_judges + len(pairs) :]
    wrong = errors.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        accuracy = 1.0 - wrong / (n * n_judges)
        attractors = np.ascontiguousarray((slots / wrong).T)
    phi = np.empty((len(pairs), totals.shape[1]))
    index = [(0, 1 + i, 1 + j, 1 + n_judges + p) for p, (i, j) in enumerate(pairs)]
    phi_rows(totals, np.array(index, dtype=np.int64).reshape(-1, 4), phi)
    n_defined = len(pairs) - np.isnan(phi).sum(axis=0)
    total = np.zeros(totals.shape[1])
    for row in phi:  # in turn, so that a sum does not depend on how many resamples a block has
        total += np.where(np.isnan(row), 0.0, row)
    correlation = np.full(totals.shape[1], np.nan)
    np.divide(total, n_defined, out=correlation, where=n_defined > 0)
    return LawInputs(accuracy, correlation, attractors, phi)
