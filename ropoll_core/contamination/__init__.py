"""Huber contamination: generated juries, corruption types, protocols and sweeps.

Source: "RoPoLL: Robust Panel of LLM Judges", arXiv 2606.30931.
"""

from __future__ import annotations

from ropoll_core.contamination.claims import check_claims, knee
from ropoll_core.contamination.corruptions import (
    CORRUPTIONS,
    CorruptedCells,
    bimodal_random,
    cauchy_far,
    inverted,
    noisy_gt,
    register_corruption,
    sycophantic,
    zeros,
)
from ropoll_core.contamination.juries import simulate_jury
from ropoll_core.contamination.panels import corrupt, effective_rate, natural_failure_rate
from ropoll_core.contamination.sweep import PAPER_METHODS, PAPER_RATES, sweep

__all__ = [
    "CORRUPTIONS",
    "PAPER_METHODS",
    "PAPER_RATES",
    "CorruptedCells",
    "bimodal_random",
    "cauchy_far",
    "check_claims",
    "corrupt",
    "effective_rate",
    "inverted",
    "knee",
    "natural_failure_rate",
    "noisy_gt",
    "register_corruption",
    "simulate_jury",
    "sweep",
    "sycophantic",
    "zeros",
]
