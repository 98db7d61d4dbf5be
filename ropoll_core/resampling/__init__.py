"""Task-level resampling: the bootstrap and the statistics it takes.

Tasks are drawn with replacement and drawn copies count as separate units. Statistics are
functions of column totals over the drawn tasks, so a resample costs no more than a sum of short
rows, and every random draw is a pure function of (seed, resample, draw).
"""

from ropoll_core._results.resampling import BootstrapResult, BootstrapStatus, PermutationResult
from ropoll_core.resampling._bootstrap import bootstrap
from ropoll_core.resampling._effective_votes import EffectiveVotes
from ropoll_core.resampling._permutation import permutation
from ropoll_core.resampling._state import BootstrapState
from ropoll_core.resampling.statistics import Mean, OfTotals, Ratio, Statistic

__all__ = [
    "BootstrapResult",
    "BootstrapState",
    "BootstrapStatus",
    "EffectiveVotes",
    "Mean",
    "OfTotals",
    "PermutationResult",
    "Ratio",
    "Statistic",
    "bootstrap",
    "permutation",
]
