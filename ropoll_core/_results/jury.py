"""Results of the jury area."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.answers import AnswerCodes, as_gold_codes
from ropoll_core._results.base import Result

__all__ = ["Consensus"]


@dataclass(frozen=True, repr=False, eq=False)
class Consensus(Result):
    """Plurality consensus of each query.

    Attributes
    ----------
    answer : ndarray of object, (n_queries,)
        The answer of the first judge in the chosen class; None where there is none.
    agreement : ndarray of float64, (n_queries,)
        `count / n_valid`; NaN for a query without a valid answer.
    count : ndarray of int32, (n_queries,)
        Judges in the largest class.
    n_valid : ndarray of int32, (n_queries,)
        Judges who answered.
    tie : ndarray of bool, (n_queries,)
        Whether several classes are the largest.
    n_tied : ndarray of int32, (n_queries,)
        How many are; 1 without a tie, 0 without a valid answer.
    judge : ndarray of int32, (n_queries,)
        The judge whose answer is given; -1 where there is none.
    ties : str
        The tie policy.
    n_unanswered, n_ties : int
        Queries without a valid answer, and with a tie.
    """

    answer: NDArray[np.object_]
    agreement: NDArray[np.float64]
    count: NDArray[np.int32]
    n_valid: NDArray[np.int32]
    tie: NDArray[np.bool_]
    n_tied: NDArray[np.int32]
    judge: NDArray[np.int32]
    ties: str
    n_unanswered: int
    n_ties: int
    _coded: AnswerCodes = field(repr=False)

    def credit(self, gold: Any) -> NDArray[np.float64]:
        """Credit of each query against gold answers, in [0, 1].

        Parameters
        ----------
        gold : array_like, (n_queries,)
            Right answers, of the same type as the answers (`key` is applied to them too; with
            `key` an array they are classes). Missing ones give NaN.

        Returns
        -------
        ndarray of float64, (n_queries,)
            1 where the consensus is right, 0 where it is wrong or absent. A tie that holds the
            gold answer counts 1 / n_tied under ties="expected" and 0 under ties="none".

        Raises
        ------
        TypeError, ValueError
            If `gold` is no column of n_queries hashable answers.
        """
        wanted = as_gold_codes(gold, self._coded)
        credit = np.zeros(len(wanted))
        if self.ties == "expected":
            support = (self._coded.codes == wanted[:, None]).sum(axis=1)
            right = (support == self.count) & (self.count > 0)
            credit[right] = 1.0 / self.n_tied[right]
        else:
            chosen = self.judge >= 0
            rows = np.flatnonzero(chosen)
            credit[rows] = self._coded.codes[rows, self.judge[rows]] == wanted[rows]
        credit[wanted == -1] = np.nan
        return credit

    def accuracy(self, gold: Any) -> float:
        """Mean credit over the queries that have a gold answer; NaN if none has."""
        credit = self.credit(gold)
        known = ~np.isnan(credit)
        return float(credit[known].mean()) if known.any() else float("nan")
