"""Huber contamination: generated juries, corruption types, protocols and sweeps.

Source: "RoPoLL: Robust Panel of LLM Judges", arXiv 2606.30931, section 3.
"""

from __future__ import annotations

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

__all__ = [
    "CORRUPTIONS",
    "CorruptedCells",
    "bimodal_random",
    "cauchy_far",
    "corrupt",
    "effective_rate",
    "inverted",
    "natural_failure_rate",
    "noisy_gt",
    "register_corruption",
    "simulate_jury",
    "sycophantic",
    "zeros",
]
