"""Results of using a jury: the dial, best-of-N, the cascade, panel design, blind spots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._results.base import Result
from ropoll_core._results.jury import Interval

__all__ = ["BestPanel", "BlindSpot", "CandidateSelection", "Cascade", "SelectiveAccuracy"]


@dataclass(frozen=True, repr=False, eq=False)
class SelectiveAccuracy(Result):
    """Accuracy of the consensus where agreement is high enough: the abstention dial.

    Attributes
    ----------
    agreement : ndarray of float64, (n_levels,)
        The levels that occur, highest first; a query is accepted at its own level and below.
    coverage : Interval, arrays (n_levels,)
        Share of the queries accepted.
    accuracy : Interval, arrays (n_levels,)
        Share of right answers among the accepted; the risk is one minus this.
    n_accepted : ndarray of int64, (n_levels,)
    ties : str
    n_queries : int
        Queries with a gold answer.
    n_no_gold, n_unanswered : int
        Queries left out without a gold answer; queries that nobody answered, never accepted.
    """

    agreement: NDArray[np.float64]
    coverage: Interval
    accuracy: Interval
    n_accepted: NDArray[np.int64]
    ties: str
    n_queries: int
    n_no_gold: int
    n_unanswered: int


@dataclass(frozen=True, repr=False, eq=False)
class CandidateSelection(Result):
    """Which candidate of each query a jury selects, and how well that does.

    Attributes
    ----------
    index : ndarray of int32, (n_queries,)
        The selected candidate; -1 where all candidates are missing.
    answer : ndarray of object, (n_queries,)
    support : ndarray of int32, (n_queries,)
        Panel members that gave the selected answer.
    n_unsupported : int
        Queries on which no member gave the answer of any candidate: decided by the pool alone.
    accuracy : dict of str to Interval
        By selector: "jury", "self_consistency", "argmax_score" (with scores), "oracle" (some
        candidate is right: the ceiling). Empty without gold.
    gain : dict of str to Interval
        Accuracy of "jury" minus that of another selector, on the same resamples.
    p_value : dict of str to float
        One-sided: share of the resamples in which that gain is not positive.
    n_queries, n_no_gold : int
        Queries, and those of them without gold, left out of the accuracies.
    """

    index: NDArray[np.int32]
    answer: NDArray[np.object_]
    support: NDArray[np.int32]
    n_unsupported: int
    accuracy: dict[str, Interval]
    gain: dict[str, Interval]
    p_value: dict[str, float]
    n_queries: int
    n_no_gold: int


@dataclass(frozen=True, repr=False, eq=False)
class Cascade(Result):
    """Ask two judges, accept them if they agree, else ask the rest.

    The expectation is exact: the mean over all pairs of judges that may be asked first.

    Attributes
    ----------
    accuracy, escalation, mean_calls : Interval
        Accuracy, share of the queries on which the rest is asked, judges asked a query.
    pair_accuracy, full_accuracy : Interval
        Accuracy of two judges alone, and of the consensus of all.
    pairs : ndarray of intp, (n_pairs, 2)
    accuracy_by_pair, escalation_by_pair : ndarray of float64, (n_pairs,)
        The same for each pair.
    ties : str
    n_queries, n_no_gold : int
    """

    accuracy: Interval
    escalation: Interval
    mean_calls: Interval
    pair_accuracy: Interval
    full_accuracy: Interval
    pairs: NDArray[np.intp]
    accuracy_by_pair: NDArray[np.float64]
    escalation_by_pair: NDArray[np.float64]
    ties: str
    n_queries: int
    n_no_gold: int


@dataclass(frozen=True, repr=False, eq=False)
class BestPanel(Result):
    """Every sub-panel of one size, ranked, and what choosing the best is really worth.

    Attributes
    ----------
    members : ndarray of intp, (n_panels, size)
        Judges of each panel, best measured accuracy first.
    measured_accuracy, predicted_accuracy, measured_floor, predicted_floor : ndarray, (n_panels,)
        In that order; predicted by the law fitted to the panel. NaN where the errors of the
        panel have no correlation.
    mean_accuracy : float
        Measured accuracy of a panel taken at random.
    chosen : dict of str to tuple of int
        The panel chosen by each criterion: "measured_accuracy", "predicted_accuracy" (highest),
        "measured_floor", "predicted_floor" (lowest).
    apparent : dict of str to float
        Its measured accuracy on the queries that it was chosen on.
    cross_fitted : dict of str to float
        Accuracy of choosing by that criterion on other folds: free of the winner's curse.
    fold_choice : dict of str to ndarray of intp, (n_folds, size)
        The panels chosen without each fold.
    ties : str
    n_queries, n_no_gold, n_incomplete, n_folds : int
    """

    members: NDArray[np.intp]
    measured_accuracy: NDArray[np.float64]
    predicted_accuracy: NDArray[np.float64]
    measured_floor: NDArray[np.float64]
    predicted_floor: NDArray[np.float64]
    mean_accuracy: float
    chosen: dict[str, tuple[int, ...]]
    apparent: dict[str, float]
    cross_fitted: dict[str, float]
    fold_choice: dict[str, NDArray[np.intp]]
    ties: str
    n_queries: int
    n_no_gold: int
    n_incomplete: int
    n_folds: int


@dataclass(frozen=True, repr=False, eq=False)
class BlindSpot(Result):
    """Errors that two judges share beyond what difficulty explains.

    Attributes
    ----------
    error_excess : Interval
        Mean over pairs and queries of the covariance of two judges' errors given how many of
        the others are right, minus the covariance that the law leaves there.
    same_answer_excess : Interval
        Share of equal answers where two judges are wrong, minus the sum of the attractors
        squared. The profile is sorted within queries, so the law alone puts this below zero.
    pairs : ndarray of intp, (n_pairs, 2)
    error_excess_by_pair, same_answer_excess_by_pair : Interval, arrays (n_pairs,)
        Of shared errors, as above; of equal answers where both are wrong, above the share among
        all pairs at the same difficulty. An interval above zero marks a shared blind spot.
    n_both_wrong : ndarray of int64, (n_pairs,)
    suspects : list of tuple of int
        Pairs with an interval above zero in either.
    n_queries, n_no_gold, n_incomplete : int
    """

    error_excess: Interval
    same_answer_excess: Interval
    pairs: NDArray[np.intp]
    error_excess_by_pair: Interval
    same_answer_excess_by_pair: Interval
    n_both_wrong: NDArray[np.int64]
    suspects: list[tuple[Any, ...]]
    n_queries: int
    n_no_gold: int
    n_incomplete: int
