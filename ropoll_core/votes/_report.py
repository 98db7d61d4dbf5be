"""Everything that can be said of a panel and a signal, with intervals: one call."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.ballots import as_ballots, as_column, as_judge_names, check_ballots
from ropoll_core._checks.resampling import as_tasks
from ropoll_core._results.base import Result
from ropoll_core._results.resampling import BootstrapResult
from ropoll_core._results.vote_analysis import JudgeMetrics, PermutationControl, PolicyTable
from ropoll_core._results.votes import EffectiveVotes, Tally
from ropoll_core._rng import as_key
from ropoll_core.resampling import Ratio, Statistic, bootstrap
from ropoll_core.votes._dependence import effective_votes, names_or_numbers
from ropoll_core.votes._metrics import judge_metrics
from ropoll_core.votes._moments import TaskMoments, task_moments
from ropoll_core.votes._permutation import permutation_control
from ropoll_core.votes._policies import policy_table
from ropoll_core.votes._rules import least_unit
from ropoll_core.votes._tally import opposed_flip, strata_of, tally

__all__ = ["Estimate", "PivotalReport", "RuleReport", "pivotal_report"]


@dataclasses.dataclass(frozen=True)
class Estimate:
    """A number and its bootstrap interval; NaN where undefined."""

    value: float
    low: float
    high: float


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class RuleReport(Result):
    """Gain of a substitution rule, overall, on pivotal queries and by pivotal stratum."""

    rule: str
    gain: Estimate
    pivotal_gain: Estimate
    stratum_gain: tuple[Estimate, ...]


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class PivotalReport(Result):
    """A panel's margins, pivotal queries, substitution gains, dependence and policies.

    Attributes
    ----------
    judges : tuple of str
    n_queries, n_scored, n_tasks : int
        Queries; those with a label and a ballot, on which all is based; tasks resampled.
    stratum : int array (n_strata,)
        As in :class:`Substitution`; `pivotal_stratum` are those of 0, 1 and 2 that occur.
    n, n_errors : int64 arrays (n_strata,)
    error_rate : tuple of Estimate
        Of the panel, by stratum.
    panel_accuracy, pivotal_share : Estimate
    n_eff : Estimate
        Effective votes; `effective_votes` has the details.
    permutation, n_eff_after, n_eff_change, signal_accuracy, rules
        None, or empty, without a signal. `permutation` is None too without a pivotal query.
    """

    judges: tuple[str, ...]
    n_queries: int
    n_scored: int
    n_tasks: int
    stratum: NDArray[np.int64]
    pivotal_stratum: NDArray[np.int64]
    n: NDArray[np.int64]
    n_errors: NDArray[np.int64]
    error_rate: tuple[Estimate, ...]
    panel_accuracy: Estimate
    pivotal_share: Estimate
    n_eff: Estimate
    effective_votes: EffectiveVotes
    policies: PolicyTable
    metrics: JudgeMetrics
    signal_accuracy: Estimate | None = None
    n_eff_after: Estimate | None = None
    n_eff_change: Estimate | None = None
    rules: tuple[RuleReport, ...] = ()
    permutation: PermutationControl | None = None


def pivotal_report(
    votes: Any,
    signal: Any,
    labels: Any,
    *,
    tasks: Any = None,
    judges: Any = None,
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
    rng: Any = None,
    workers: int | None = None,
) -> PivotalReport:
    """Report on a panel, and on what a signal would do for it.

    Parameters
    ----------
    votes, signal, labels : array_like
        As in :func:`substitution`; signal None for what can be said without one.
    tasks : array_like (n_queries,), optional
        Keys of the tasks to resample; default: every query is its own.
    judges : sequence of str, optional
        Names of the columns.
    n_resamples, confidence_level, rng, workers
        Of the task-level percentile bootstrap; all intervals see the same draws.

    Returns
    -------
    PivotalReport

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong type or shape, a value is no ballot, or no query has
        both a label and a ballot.

    Examples
    --------
    >>> from ropoll_core.votes import demo_panel, pivotal_report
    >>> panel = demo_panel()
    >>> report = pivotal_report(
    ...     panel.votes, panel.signal, panel.labels, tasks=panel.tasks, n_resamples=200, rng=1
    ... )
    >>> [rule.rule for rule in report.rules][:2], round(report.rules[0].pivotal_gain.value, 4)
    (['uniform', 'majority'], 0.1121)
    """
    # Check arguments: votes / signal / labels / judges / tasks
    names = as_judge_names(judges)
    ballots = as_ballots(votes, judges=names)
    n_queries, n_judges = ballots.shape
    label_column = as_column(labels, "labels", n_queries)
    check_ballots(label_column, "labels")
    column = None if signal is None else as_column(signal, "signal", n_queries)
    if column is not None:
        check_ballots(column, "signal")
    _, n_tasks = as_tasks(tasks, n_queries)
    names = names_or_numbers(names, n_judges)

    counted = tally(ballots, workers=workers)
    scored = (label_column >= 0) & (counted.n_valid > 0)
    if not scored.any():
        raise ValueError("votes must have a query with a label and a ballot, got none")
    columns = _Columns(ballots, column, label_column, counted, scored)
    key = as_key(rng)

    def resample(statistics: Any, data: Any, tasks: Any) -> Any:
        return bootstrap(
            statistics,
            data,
            tasks=tasks,
            n_resamples=n_resamples,
            confidence_level=confidence_level,
            rng=np.random.SeedSequence(list(key)),
            workers=workers,
        )

    found = resample(columns.statistics, columns.data, tasks)
    moments = task_moments(ballots, column, label_column, tasks=tasks, rule="majority")
    wanted = _moment_statistics(moments, n_judges)
    more = resample(wanted, moments.data, None) if wanted else {}
    extra = {"n_eff": Estimate(np.nan, np.nan, np.nan)}
    extra |= {name: _estimate(more[name]) for name in wanted}
    known = (ballots >= 0) & scored[:, None]
    errors = np.where(known, ballots != label_column[:, None], -1).astype(np.int8)
    return PivotalReport(
        judges=names,
        n_queries=n_queries,
        n_scored=int(scored.sum()),
        n_tasks=n_tasks,
        stratum=columns.strata,
        pivotal_stratum=columns.pivotal_strata,
        n=columns.n,
        n_errors=columns.n_errors,
        error_rate=_estimates(found["error_rate"]),
        panel_accuracy=_estimate(found["panel_accuracy"]),
        pivotal_share=_estimate(found["pivotal_share"]),
        effective_votes=effective_votes(errors, judges=names, workers=workers),
        policies=policy_table(ballots, column, label_column, judges=names, tasks=tasks),
        metrics=judge_metrics(ballots, label_column, judges=names, workers=workers),
        rules=tuple(columns.report(rule, found, names) for rule in columns.rules),
        permutation=_permutation(ballots, column, label_column, columns, confidence_level, key),
        **extra,
    )


def _moment_statistics(moments: TaskMoments, n_judges: int) -> dict[str, Statistic]:
    """What is resampled from the moments, under the names of the report's fields."""
    wanted = {"n_eff": moments.effective_votes()} if n_judges > 1 else {}
    if moments.has_signal:
        wanted["signal_accuracy"] = moments.signal_accuracy()
        if n_judges > 1:
            wanted["n_eff_change"] = moments.effective_votes_change()
            wanted["n_eff_after"] = wanted["n_eff_change"] + wanted["n_eff"]
    return wanted


class _Columns:
    """Columns of the bootstrap, a row a query: counts, errors and gains by stratum."""

    def __init__(
        self,
        ballots: NDArray[np.int8],
        signal: NDArray[np.int8] | None,
        labels: NDArray[np.int8],
        counted: Tally,
        scored: NDArray[np.bool_],
    ) -> None:
        self.stratum = strata_of(ballots)
        self.scored = scored
        wrong = scored & (counted.decision != labels)
        self.strata = np.unique(self.stratum[scored])
        self.pivotal_strata = self.strata[(self.strata >= 0) & (self.strata <= 2)]
        self.data: dict[Any, NDArray[Any]] = {
            "n": scored,
            "correct": scored & ~wrong,
            "n_pivotal": scored & counted.pivotal,
        }
        levels = self.strata.tolist()
        for level in levels:
            self.data["n", level] = scored & (self.stratum == level)
            self.data["errors", level] = wrong & (self.stratum == level)
        self.n = np.array([self.data["n", level].sum() for level in levels], np.int64)
        self.n_errors = np.array([self.data["errors", level].sum() for level in levels], np.int64)
        self.statistics: dict[Any, Any] = {
            "error_rate": Ratio([("errors", s) for s in levels], [("n", s) for s in levels]),
            "panel_accuracy": Ratio("correct", "n"),
            "pivotal_share": Ratio("n_pivotal", "n"),
        }
        self.rules: list[str | int] = []
        if signal is not None:
            self.rules = ["uniform", "majority", *range(ballots.shape[1])]
            for rule in self.rules:
                self._add_gain(rule, ballots, signal, labels, counted)

    def _add_gain(
        self,
        rule: str | int,
        ballots: NDArray[np.int8],
        signal: NDArray[np.int8],
        labels: NDArray[np.int8],
        counted: Tally,
    ) -> None:
        unit = least_unit(rule, np.unique(counted.n_valid[self.scored]).tolist())
        if unit * len(labels) >= 2**53:  # too many sizes of panels: fractions, then
            unit = 1
        flips, of = opposed_flip(ballots, rule, counted)
        active = self.scored & (signal >= 0) & (signal != counted.decision)
        sign = np.where(signal == labels, 1, -1)
        gain = np.where(active, sign * flips * unit / of, 0.0)
        self.data["gain", rule] = gain
        self.statistics["gain", rule] = Ratio(("gain", rule), "n") / unit
        self.statistics["pivotal_gain", rule] = Ratio(("gain", rule), "n_pivotal") / unit
        pivotal = self.pivotal_strata.tolist()
        for level in pivotal:
            self.data["gain", rule, level] = gain * (self.stratum == level)
        if pivotal:
            self.statistics["stratum_gain", rule] = (
                Ratio([("gain", rule, s) for s in pivotal], [("n", s) for s in pivotal]) / unit
            )

    def report(self, rule: str | int, found: Any, names: tuple[str, ...]) -> RuleReport:
        by_stratum = found.get(("stratum_gain", rule))
        return RuleReport(
            rule=rule if isinstance(rule, str) else f"judge {names[rule]}",
            gain=_estimate(found["gain", rule]),
            pivotal_gain=_estimate(found["pivotal_gain", rule]),
            stratum_gain=() if by_stratum is None else _estimates(by_stratum),
        )


def _estimate(result: BootstrapResult) -> Estimate:
    return Estimate(float(result.estimate), float(result.low), float(result.high))


def _estimates(result: BootstrapResult) -> tuple[Estimate, ...]:
    ends = (np.atleast_1d(getattr(result, name)).tolist() for name in ("estimate", "low", "high"))
    return tuple(Estimate(*row) for row in zip(*ends, strict=True))


def _permutation(
    ballots: NDArray[np.int8],
    signal: NDArray[np.int8] | None,
    labels: NDArray[np.int8],
    columns: _Columns,
    level: float,
    key: tuple[int, int],
) -> PermutationControl | None:
    if signal is None or not columns.data["n_pivotal"].any():
        return None
    # Panels of one size have one or two groups of equal odds: the exact null is then cheap.
    same_size = np.unique((ballots >= 0).sum(axis=1)).size == 1
    few = int(columns.data["n_pivotal"].sum()) < 4000
    return permutation_control(
        ballots,
        signal,
        labels,
        confidence_level=level,
        n_resamples=None if same_size and few else 10_000,
        rng=np.random.SeedSequence(list(key)),
    )
