"""Bounds and saturation laws of robust panels, with the constants of the proofs.

Source: "RoPoLL: Robust Panel of LLM Judges", arXiv 2606.30931. Functions of numbers broadcast
over arrays and give a float for plain numbers.
"""

from __future__ import annotations

from ropoll_core.theory.bounds import (
    breakdown_bound,
    breakdown_floor,
    cluster_radius,
    geometric_constant,
    minimax_lower_bound,
)
from ropoll_core.theory.correlation import indicator_correlation, judge_correlation
from ropoll_core.theory.saturation import equicorrelated_mse, mean_bias, saturation

__all__ = [
    "breakdown_bound",
    "breakdown_floor",
    "cluster_radius",
    "equicorrelated_mse",
    "geometric_constant",
    "indicator_correlation",
    "judge_correlation",
    "mean_bias",
    "minimax_lower_bound",
    "saturation",
]
