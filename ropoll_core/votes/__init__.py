"""Ballots: margins, pivotal queries, exact substitution, effective votes."""

from __future__ import annotations

from ropoll_core._results.votes import (
    EffectiveVotes,
    ErrorCorrelation,
    GatedDecision,
    SubsetSweep,
    Substitution,
    Tally,
)
from ropoll_core.votes._dependence import effective_votes, error_correlation
from ropoll_core.votes._moments import TaskMoments, task_moments
from ropoll_core.votes._substitution import substitution
from ropoll_core.votes._sweep import subset_sweep
from ropoll_core.votes._tally import gated_decision, tally

__all__ = [
    "EffectiveVotes",
    "ErrorCorrelation",
    "GatedDecision",
    "SubsetSweep",
    "Substitution",
    "Tally",
    "TaskMoments",
    "effective_votes",
    "error_correlation",
    "gated_decision",
    "subset_sweep",
    "substitution",
    "tally",
    "task_moments",
]
