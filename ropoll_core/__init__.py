"""Numerical core for panels of judges.

Three jobs, one package: ``scores`` aggregates a panel's score vectors robustly, ``votes``
analyses its ballots, ``jury`` uses its agreement as a verifier; ``resampling`` gives the
intervals under all three. Submodules and names load on first use, so ``import ropoll_core``
costs little more than ``import numpy``.
"""

from __future__ import annotations

import importlib
from typing import Any

from ropoll_core._version import __version__

# Public module -> the names re-exported from it. The one list behind attribute access,
# dir() and `from ropoll_core import *`.
_EXPORTS: dict[str, tuple[str, ...]] = {
    "scores": (
        "AggregateStatus",
        "AggregationWarning",
        "aggregate",
        "calibrate",
        "coordinatewise_median",
        "geometric_median",
        "median_of_means",
        "medoid",
        "trimmed_mean",
    ),
    "votes": (
        "tally",
        "substitution",
        "subset_sweep",
        "gated_decision",
        "error_correlation",
        "effective_votes",
        "judge_metrics",
        "condorcet_null",
        "permutation_control",
        "signal_sweep",
        "policy_table",
        "pivotal_report",
    ),
    "jury": (
        "ConsensusLaw",
        "best_panel",
        "cascade",
        "consensus",
        "select_candidate",
        "selective_accuracy",
        "shared_blind_spot",
    ),
    "resampling": ("bootstrap",),
    "contamination": ("corrupt", "simulate_jury"),
    "theory": ("breakdown_bound", "indicator_correlation", "judge_correlation"),
    "tables": (
        "aggregate_panel",
        "aggregate_table",
        "inspect_scores",
        "read_answers",
        "read_score_parts",
        "read_scores",
        "read_votes",
        "write_table",
    ),
    "engines": (),
    "_build_info": ("build_info",),
    "_parallel": ("default_workers",),
}
_HOME = {name: module for module, names in _EXPORTS.items() for name in names}
_MODULES = tuple(module for module in _EXPORTS if not module.startswith("_"))

__all__ = ["__version__", *_MODULES, *_HOME]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    elif name in _MODULES:
        value = importlib.import_module(f"{__name__}.{name}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
