"""Ballots: margins, pivotal queries, exact substitution, effective votes."""

from __future__ import annotations

from ropoll_core._results.vote_analysis import (
    CondorcetNull,
    DawidSkene,
    EffectiveVotesChange,
    JudgeMetrics,
    PermutationControl,
    PolicyTable,
    SignalSweep,
)
from ropoll_core._results.votes import (
    EffectiveVotes,
    ErrorCorrelation,
    GatedDecision,
    SubsetSweep,
    Substitution,
    Tally,
)
from ropoll_core.votes._demo import DemoPanel, MarginCell, demo_panel, panel_with_margins
from ropoll_core.votes._dependence import (
    effective_votes,
    effective_votes_change,
    error_correlation,
)
from ropoll_core.votes._latent import dawid_skene
from ropoll_core.votes._metrics import condorcet_null, judge_metrics
from ropoll_core.votes._moments import TaskMoments, task_moments
from ropoll_core.votes._permutation import permutation_control
from ropoll_core.votes._plurality import plurality_substitution
from ropoll_core.votes._policies import accuracy_weighted_vote, policy_table
from ropoll_core.votes._report import Estimate, PivotalReport, RuleReport, pivotal_report
from ropoll_core.votes._signals import SignalModel, signal_sweep
from ropoll_core.votes._substitution import substitution
from ropoll_core.votes._sweep import subset_sweep
from ropoll_core.votes._tally import gated_decision, tally
from ropoll_core.votes._types import DistinctBallots, distinct_ballots

__all__ = [
    "CondorcetNull",
    "DawidSkene",
    "DemoPanel",
    "DistinctBallots",
    "EffectiveVotes",
    "EffectiveVotesChange",
    "ErrorCorrelation",
    "Estimate",
    "GatedDecision",
    "JudgeMetrics",
    "MarginCell",
    "PermutationControl",
    "PivotalReport",
    "PolicyTable",
    "RuleReport",
    "SignalModel",
    "SignalSweep",
    "SubsetSweep",
    "Substitution",
    "Tally",
    "TaskMoments",
    "accuracy_weighted_vote",
    "condorcet_null",
    "dawid_skene",
    "demo_panel",
    "distinct_ballots",
    "effective_votes",
    "effective_votes_change",
    "error_correlation",
    "gated_decision",
    "judge_metrics",
    "panel_with_margins",
    "permutation_control",
    "pivotal_report",
    "plurality_substitution",
    "policy_table",
    "signal_sweep",
    "subset_sweep",
    "substitution",
    "tally",
    "task_moments",
]
