"""Results of the jury area."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.answers import AnswerCodes, as_gold_codes
from ropoll_core._results.base import Result

__all__ = ["Consensus", "Interval", "LawFit"]


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


@dataclass(frozen=True, repr=False, eq=False)
class Interval(Result):
    """An estimate and its interval; single numbers or arrays of one shape.

    Attributes
    ----------
    value, low, high : float or ndarray
        The ends are NaN where there is no interval (one task, or an undefined estimate).
    """

    value: Any
    low: Any
    high: Any

    def __repr__(self) -> str:
        if np.ndim(self.value):
            parts = zip(self.value, self.low, self.high, strict=True)
            return ", ".join(f"{v:.4f} [{a:.4f}, {b:.4f}]" for v, a, b in parts)
        return f"{self.value:.4f} [{self.low:.4f}, {self.high:.4f}]"


@dataclass(frozen=True, repr=False, eq=False)
class LawFit(Result):
    """The consensus law fitted to answers, with what it predicts and what was measured.

    Intervals come from resampling tasks, the same draws for inputs, predictions and
    measurements; that of the measured floor is exact binomial (Clopper-Pearson).

    Attributes
    ----------
    law : ConsensusLaw or None
        The fitted law, at the estimates. None where the correlation of errors is undefined (no
        two members are both sometimes right and sometimes wrong): its predictions are NaN then,
        and what was measured stands.
    reason : str
        Why there is no law; empty where there is one.
    member_accuracy : Interval
        Mean accuracy a of the members.
    correlation : Interval
        Mean pairwise correlation of their errors, as measured. The law is evaluated at 0 where
        it is negative: see `n_negative`.
    attractors : Interval
        Profile: share of all wrong answers that sit in the largest wrong class of their query,
        in the second largest, and so on.
    predicted_accuracy, measured_accuracy, accuracy_gap : dict of str to Interval
        By tie rule; the gap is predicted minus measured.
    predicted_floor, measured_floor : Interval
        Probability that all members are unanimous and wrong.
    floor_events : int
        Queries on which they were.
    predicted_coverage, measured_coverage : Interval, arrays (n_members,)
        Probability that at least m members agree, at index m - 1.
    accuracy_by_member : ndarray of float64, (n_members,)
    left_out : tuple of int
        Members that are always or never right, so that their errors have no correlation: left
        out of its mean.
    n_members, n_calibration, n_evaluation : int
        Members, queries that the law was fitted to, queries that it was measured on.
    n_no_gold, n_incomplete : int
        Queries left out: no gold answer; a missing answer (under missing="omit").
    n_tasks, n_resamples : int
    n_undefined : int
        Resamples without a prediction, left out of the intervals.
    n_negative : int
        Resamples with a negative correlation, evaluated at 0.
    held_out : dict of object to LawFit
        Leave-one-group-out: the law fitted to the other groups, measured on the named one.
        Empty without `groups`.
    """

    law: Any
    reason: str
    member_accuracy: Interval
    correlation: Interval
    attractors: Interval
    predicted_accuracy: dict[str, Interval]
    measured_accuracy: dict[str, Interval]
    accuracy_gap: dict[str, Interval]
    predicted_floor: Interval
    measured_floor: Interval
    floor_events: int
    predicted_coverage: Interval
    measured_coverage: Interval
    accuracy_by_member: NDArray[np.float64]
    left_out: tuple[int, ...]
    n_members: int
    n_calibration: int
    n_evaluation: int
    n_no_gold: int
    n_incomplete: int
    n_tasks: int
    n_resamples: int
    n_undefined: int
    n_negative: int
    held_out: dict[Any, LawFit] = field(repr=False)
