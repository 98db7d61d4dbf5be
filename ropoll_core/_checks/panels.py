"""The arguments that all aggregators share, checked together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.options import as_choice, as_flag, as_real
from ropoll_core._checks.scores import NAN_POLICIES, as_scores, as_weights
from ropoll_core._parallel import resolve_workers

__all__ = ["Panels", "as_cut_counts", "as_out", "as_panels"]


@dataclass(frozen=True)
class Panels:
    """Checked arguments of an aggregator."""

    scores: NDArray[Any]  # (n_queries, n_judges, n_attributes)
    lead: tuple[int, ...]
    weights: NDArray[np.float64] | None  # (1 or n_queries, n_judges)
    nan_policy: str
    out: NDArray[Any]  # (*lead, n_attributes)
    rows: NDArray[Any]  # `out` as (n_queries, n_attributes)
    workers: int
    full_output: bool

    @property
    def n_judges(self) -> int:
        return int(self.scores.shape[1])


def as_panels(
    scores: Any,
    *,
    weights: Any = None,
    nan_policy: Any,
    out: Any,
    workers: Any,
    full_output: Any,
) -> Panels:
    """Check and coerce what every aggregator takes."""
    array, lead = as_scores(scores)
    policy = as_choice(nan_policy, "nan_policy", NAN_POLICIES)
    result = as_out(out, (*lead, array.shape[2]), array)
    return Panels(
        array,
        lead,
        as_weights(weights, array, lead),
        policy,
        result,
        result if len(lead) == 1 else result.reshape(array.shape[0], array.shape[2]),
        resolve_workers(workers),
        as_flag(full_output, "full_output"),
    )


def as_out(out: Any, shape: tuple[int, ...], scores: NDArray[Any]) -> NDArray[Any]:
    """`out` if it can take a result of `shape` and the dtype of `scores`; a new array for None."""
    if out is None:
        return np.empty(shape, scores.dtype)
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out must be a NumPy array, got {type(out).__name__}")
    if out.shape != shape:
        raise ValueError(f"out must have shape {shape}, got {out.shape}")
    if out.dtype != scores.dtype or not out.flags.aligned:
        raise TypeError(f"out must be an aligned array of {scores.dtype}, got {out.dtype}")
    if not out.flags.writeable:
        raise ValueError("out must be writable, got a read-only array")
    if np.may_share_memory(out, scores):
        raise ValueError("out must not overlap scores")
    if out.ndim > 2 and out.size and not np.may_share_memory(out, out.reshape(-1, shape[-1])):
        raise ValueError(
            f"out must have leading axes that merge into one, got strides {out.strides}"
        )
    return out


def as_cut_counts(
    proportion: Any, n_judges: int, *, high: float, argument: str = "proportion"
) -> NDArray[np.int32]:
    """How many of m judges a proportion in [0, `high`) is, rounded down, for m = 0..n_judges.

    A product that rounding alone keeps below an integer (0.29 * 100) counts as that integer,
    but not as `high` * m: some judge is always left.
    """
    share = as_real(proportion, argument, low=0.0, high=high, open_high=True)
    counts = [
        min(math.floor(share * m * (1 + 1e-14)), math.ceil(high * m) - 1)
        for m in range(1, n_judges + 1)
    ]
    return np.array([0, *counts], dtype=np.int32)
