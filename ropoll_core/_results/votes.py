"""Results of the analysis of ballots."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._results.base import Result

__all__ = [
    "EffectiveVotes",
    "ErrorCorrelation",
    "GatedDecision",
    "SubsetSweep",
    "Substitution",
    "Tally",
]


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class Tally(Result):
    """What a panel decided, query by query; every array is (n_queries,).

    Attributes
    ----------
    decision : int8 array
        1 or 0; -1 for a query without a valid ballot, and for a tie under ``ties="missing"``.
    ones, n_valid : int32 arrays
        Ballots for 1, and valid ballots (of positive weight).
    margin : int32 or float64 array
        ``|2 ones - n_valid|``; for a weighted panel the same of the weights, renormalised to
        sum to `n_valid`.
    tie, pivotal : bool arrays
        Both sides equal; some single ballot, moved to the other side, changes the decision.
    """

    decision: NDArray[np.int8]
    ones: NDArray[np.int32]
    n_valid: NDArray[np.int32]
    margin: NDArray[Any]
    tie: NDArray[np.bool_]
    pivotal: NDArray[np.bool_]

    @property
    def tally(self) -> NDArray[np.int32]:
        """``2 ones - n_valid``, the margin with its sign, in ballots."""
        return 2 * self.ones - self.n_valid

    @property
    def n_empty(self) -> int:
        """Queries without a valid ballot."""
        return int(np.count_nonzero(self.n_valid == 0))


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class Substitution(Result):
    """What replacing one ballot by the signal does, in exact expectation.

    Attributes
    ----------
    rule : str or int
        Which ballot is replaced.
    n_queries, n_scored, n_empty, n_unlabelled, n_abstained : int
        All queries; those with a label and a valid ballot, over which everything else is
        taken; those left out for want of a ballot, and, with a ballot, of a label; and the
        scored ones on which the signal is missing, so that nothing is replaced.
    n_pivotal : int
        Scored queries on which some replacement can change the decision.
    panel_accuracy, accuracy, gain : float
        Before, after, and the difference, over the scored queries.
    pivotal_gain : float
        The same gain over the pivotal queries; NaN if there are none.
    total_gain : Fraction or float
        Expected number of decisions put right less those put wrong: exact for built-in rules.
    signal_accuracy, pivotal_signal_accuracy : float
        Of the signal, over scored queries (pivotal ones) on which it is given.
    stratum : int array (n_strata,)
        ``|2 s - k|`` where the query's count k of valid ballots is odd, the signed ``2 s - k``
        where it is even; the two never meet. For a weighted panel 1 if pivotal, else 0.
    stratum_pivotal : bool array (n_strata,)
    n, n_errors : int64 arrays (n_strata,)
        Scored queries of the stratum, and how many of them the panel decided wrongly.
    stratum_gain : float64 array (n_strata,)
        Gain over the queries of the stratum.
    task_moments : TaskMoments or None
        Sums by task for the bootstrap, where `tasks` were given.
    """

    rule: str | int
    n_queries: int
    n_scored: int
    n_empty: int
    n_unlabelled: int
    n_abstained: int
    n_pivotal: int
    panel_accuracy: float
    accuracy: float
    gain: float
    pivotal_gain: float
    total_gain: Fraction | float
    signal_accuracy: float
    pivotal_signal_accuracy: float
    stratum: NDArray[np.int64]
    stratum_pivotal: NDArray[np.bool_]
    n: NDArray[np.int64]
    n_errors: NDArray[np.int64]
    stratum_gain: NDArray[np.float64]
    task_moments: Any = None

    @property
    def pivotal_share(self) -> float:
        """Share of the scored queries that are pivotal: how often a gate asks the signal."""
        return self.n_pivotal / self.n_scored if self.n_scored else float("nan")


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class GatedDecision(Result):
    """Decisions that ask the signal only where it can matter.

    Attributes
    ----------
    decision : float64 array (n_queries,)
        Probability that the panel decides 1 after the replacement: 0 or 1 under a rule that
        names the ballot, in between where a ballot is drawn; NaN without a valid ballot.
    called : bool array (n_queries,)
        Where some value of the signal would have changed that.
    """

    decision: NDArray[np.float64]
    called: NDArray[np.bool_]

    @property
    def call_rate(self) -> float:
        """Share of the queries on which the signal was needed."""
        return float(self.called.mean()) if self.called.size else float("nan")


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class ErrorCorrelation(Result):
    """Pearson correlation of the errors of each pair of judges, over queries both answered.

    Attributes
    ----------
    judges : tuple of str
    phi : float64 array (n_judges, n_judges)
        NaN for a pair in which one judge is always or never wrong; 1 on the diagonal of a
        judge whose errors vary.
    n_pairs, n_both_wrong : int64 arrays (n_judges, n_judges)
        Queries answered by both, and wrong in both; on the diagonal, by one judge.
    agreement : float64 array (n_judges, n_judges)
        Share of the queries answered by both on which both are right or both wrong.
    """

    judges: tuple[str, ...]
    phi: NDArray[np.float64]
    n_pairs: NDArray[np.int64]
    n_both_wrong: NDArray[np.int64]
    agreement: NDArray[np.float64]

    @property
    def n_errors(self) -> NDArray[np.int64]:
        """Errors of each judge."""
        return np.diagonal(self.n_both_wrong)


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class EffectiveVotes(Result):
    """How many independent judges the panel is worth.

    Attributes
    ----------
    n_eff : float
        ``k / (1 + (k - 1) mean_phi)`` of the judges used; NaN if undefined, with `reason`;
        more than k, or infinite, when errors repel each other.
    mean_phi : float
        Mean correlation of errors over the pairs of judges used; NaN below two judges.
    n_eff_eigen : float
        ``k / lambda_max`` of their correlation matrix.
    k_used : int
        Judges used.
    left_out : tuple of str
        Judges whose errors do not vary, so that no correlation is defined.
    reason : str
        Why `n_eff` is NaN; empty otherwise.
    mean_agreement : float
        Mean over all pairs of judges of the share of queries both get right or both wrong.
    n_errors : int64 array (n_judges,)
        Errors of each judge, those left out included.
    """

    n_eff: float
    mean_phi: float
    n_eff_eigen: float
    k_used: int
    left_out: tuple[str, ...]
    reason: str
    mean_agreement: float
    n_errors: NDArray[np.int64]


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class SubsetSweep(Result):
    """Substitution on every sub-panel of a size; arrays have one row a panel.

    Attributes
    ----------
    rule : str or int
    size : int
    members : int32 array (n_panels, size)
        Judges of each panel.
    n_scored, n_pivotal : int64 arrays (n_panels,)
        Queries with a label and a ballot of the panel, and the pivotal ones among them.
    panel_accuracy, accuracy, gain, pivotal_gain : float64 arrays (n_panels,)
        As in :class:`Substitution`.
    stratum : int array (n_strata,)
        Strata that some panel has, as in :class:`Substitution`; 0 to 2 are pivotal, and for
        weighted panels 1.
    n, n_errors : int64 arrays (n_panels, n_strata)
    stratum_gain : float64 array (n_panels, n_strata)
        NaN where the panel has no query in the stratum.
    task_moments : int64 array (n_panels, n_tasks, 4) or None
        n, n_pivotal, gain in 1/`unit`, panel_correct; tasks in the order of the bootstrap.
    unit : int
    """

    rule: str | int
    size: int
    members: NDArray[np.int32]
    n_scored: NDArray[np.int64]
    n_pivotal: NDArray[np.int64]
    panel_accuracy: NDArray[np.float64]
    accuracy: NDArray[np.float64]
    gain: NDArray[np.float64]
    pivotal_gain: NDArray[np.float64]
    stratum: NDArray[np.int64]
    n: NDArray[np.int64]
    n_errors: NDArray[np.int64]
    stratum_gain: NDArray[np.float64]
    task_moments: NDArray[np.int64] | None
    unit: int

    def moment_table(self) -> NDArray[np.int64]:
        """`task_moments` as bootstrap data (n_tasks, 4 n_panels): column 4 p + moment."""
        if self.task_moments is None:
            raise ValueError("moment_table needs a sweep made with tasks=")
        n_panels, n_tasks, n_moments = self.task_moments.shape
        return self.task_moments.transpose(1, 0, 2).reshape(n_tasks, n_panels * n_moments)
