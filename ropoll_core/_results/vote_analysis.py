"""Results on judges, on a panel's null models, and on policies."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from ropoll_core._results.base import Result
from ropoll_core._results.votes import EffectiveVotes

__all__ = [
    "CondorcetNull",
    "DawidSkene",
    "EffectiveVotesChange",
    "JudgeMetrics",
    "PermutationControl",
    "PolicyTable",
    "SignalSweep",
]


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class EffectiveVotesChange(Result):
    """Effective votes before and after a judge gives way to the signal.

    Attributes
    ----------
    before : EffectiveVotes
        Of the panel.
    after : float64 array (n_judges,)
        ``n_eff`` of the panel with the signal in the seat of each judge in turn.
    change : float
        Mean of `after` less ``before.n_eff``; NaN if any of them is undefined.
    """

    before: EffectiveVotes
    after: NDArray[np.float64]
    change: float


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class JudgeMetrics(Result):
    """How each judge votes against the labels, over the labelled queries it answered.

    Attributes
    ----------
    judges : tuple of str
    n, n_missing : int64 arrays (n_judges,)
        Labelled queries with a ballot, and without one, of the judge.
    reject_rate : float64 array (n_judges,)
        Share of its ballots that are 0.
    accuracy, balanced_accuracy, mcc, fpr, fnr : float64 arrays (n_judges,)
        Accuracy; mean of the accuracies on either label; Matthews correlation; share of label 0
        voted 1, and of label 1 voted 0. NaN where there is nothing to divide by.
    stratum : int array (n_strata,)
        As in :class:`Substitution`.
    stratum_fpr, stratum_fnr : float64 arrays (n_judges, n_strata)
    """

    judges: tuple[str, ...]
    n: NDArray[np.int64]
    n_missing: NDArray[np.int64]
    reject_rate: NDArray[np.float64]
    accuracy: NDArray[np.float64]
    balanced_accuracy: NDArray[np.float64]
    mcc: NDArray[np.float64]
    fpr: NDArray[np.float64]
    fnr: NDArray[np.float64]
    stratum: NDArray[np.int64]
    stratum_fpr: NDArray[np.float64]
    stratum_fnr: NDArray[np.float64]


@dataclasses.dataclass(frozen=True, repr=False)
class CondorcetNull(Result):
    """What the panel would reach if its judges erred independently.

    Attributes
    ----------
    panel_accuracy, expected_accuracy : float
        Measured, and under independence with the same accuracy of each judge in each stratum
        of difficulty.
    gap : float
        Expected less measured: what correlation costs.
    n_scored, n_strata : int
    """

    panel_accuracy: float
    expected_accuracy: float
    gap: float
    n_scored: int
    n_strata: int


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class PermutationControl(Result):
    """Pivotal gain when the signal errs as often, but anywhere.

    Attributes
    ----------
    observed : float
        Pivotal gain of the signal itself.
    mean, standard_deviation : float
        Of the null distribution.
    interval : tuple of float
        Central interval of the null at `confidence_level`.
    p_lower, p_upper : float
        Probabilities under the null of a gain as low, and as high, as observed.
    values, probabilities : float64 arrays
        The null distribution; of a sample, the distinct gains and their shares.
    exact : bool
        False if sampled.
    n_queries, n_signal_errors, n_pivotal, n_pivotal_errors : int
        Queries on which the signal is given and its errors there; pivotal ones among them
        and the panel's errors there.
    """

    observed: float
    mean: float
    standard_deviation: float
    interval: tuple[float, float]
    confidence_level: float
    p_lower: float
    p_upper: float
    values: NDArray[np.float64]
    probabilities: NDArray[np.float64]
    exact: bool
    n_queries: int
    n_signal_errors: int
    n_pivotal: int
    n_pivotal_errors: int


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class SignalSweep(Result):
    """What signals of given quality would give on a panel; one entry a model.

    Attributes
    ----------
    signal_accuracy : float64 array (n_models,)
        Expected, where the signal is given, over the scored queries.
    accuracy, gain, pivotal_gain : float64 arrays (n_models,)
        Expected, as in :class:`Substitution`.
    panel_accuracy : float
    n_scored, n_pivotal : int
    """

    signal_accuracy: NDArray[np.float64]
    accuracy: NDArray[np.float64]
    gain: NDArray[np.float64]
    pivotal_gain: NDArray[np.float64]
    panel_accuracy: float
    n_scored: int
    n_pivotal: int


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class PolicyTable(Result):
    """Accuracy and cost of ways to use a panel and a signal; one entry a policy.

    Attributes
    ----------
    policy : tuple of str
    accuracy : float64 array (n_policies,)
        Over the labelled queries to which the policy gives an answer (expected, where a
        ballot is drawn).
    n : int64 array (n_policies,)
        How many those are.
    call_rate : float64 array (n_policies,)
        Share of the scored queries on which the policy has to ask the signal; 0 without one.
    same_data : bool array (n_policies,)
        The policy was chosen on the labels it is scored on.
    """

    policy: tuple[str, ...]
    accuracy: NDArray[np.float64]
    n: NDArray[np.int64]
    call_rate: NDArray[np.float64]
    same_data: NDArray[np.bool_]

    def __repr__(self) -> str:
        width = max((len(name) for name in self.policy), default=0)
        lines = [f"  {'policy':<{width}}  accuracy  call rate       n"]
        for name, accuracy, rate, n, same in zip(
            self.policy, self.accuracy, self.call_rate, self.n, self.same_data, strict=True
        ):
            note = "  chosen on the same data" if same else ""
            lines.append(f"  {name:<{width}}  {accuracy:8.4f}  {rate:9.4f}  {n:6d}{note}")
        return "\n".join(["PolicyTable", *lines])


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class DawidSkene(Result):
    """Latent-class estimate of the truth and of each judge, without labels.

    Attributes
    ----------
    posterior : float64 array (n_queries,)
        Probability that the truth is 1; NaN without a valid ballot.
    prevalence : float
        Estimated share of 1.
    sensitivity, specificity : float64 arrays (n_judges,)
        Estimated probability of a ballot 1 where the truth is 1, and of 0 where it is 0.
    n_iter : int
    converged : bool
        The log-likelihood rose by less than the tolerance in the last step.
    """

    posterior: NDArray[np.float64]
    prevalence: float
    sensitivity: NDArray[np.float64]
    specificity: NDArray[np.float64]
    n_iter: int
    converged: bool

    @property
    def decision(self) -> NDArray[np.int8]:
        """1 where the posterior exceeds 1/2, else 0; -1 without a valid ballot."""
        known = ~np.isnan(self.posterior)
        return np.where(known, self.posterior > 0.5, -1).astype(np.int8)
