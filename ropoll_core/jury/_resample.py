"""Intervals of functions of totals over the graded queries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.resampling import as_tasks
from ropoll_core._results.jury import Interval
from ropoll_core._results.resampling import BootstrapResult
from ropoll_core.resampling import OfTotals, bootstrap

__all__ = ["Resampling", "clopper_pearson", "interval_at", "task_numbers"]

Floats = NDArray[np.float64]


class Resampling(NamedTuple):
    """Options of the bootstrap, handed through."""

    n_resamples: int
    confidence_level: float
    rng: Any
    workers: int | None

    def run(
        self, statistic: Callable[[Floats], Floats], moments: NDArray[Any], of_task: NDArray[Any]
    ) -> BootstrapResult:
        """Bootstrap a function of totals (n_moments, n) with outputs (size, n)."""
        result: BootstrapResult = bootstrap(
            OfTotals(statistic),
            moments,
            tasks=of_task,
            n_resamples=self.n_resamples,
            confidence_level=self.confidence_level,
            rng=self.rng,
            workers=self.workers,
        )
        return result


def task_numbers(tasks: Any, n_given: int, rows: NDArray[np.intp]) -> NDArray[np.int64]:
    """Task of each row that is used; each its own without `tasks`."""
    codes, _ = as_tasks(tasks, n_given)
    return rows.astype(np.int64) if codes is None else codes[rows]


def interval_at(boot: BootstrapResult, at: int | slice) -> Interval:
    """One output, or several, of a bootstrap."""
    parts = [np.asarray(part)[at] for part in (boot.estimate, boot.low, boot.high)]
    return Interval(*parts) if isinstance(at, slice) else Interval(*map(float, parts))


def clopper_pearson(events: int, n: int, level: float) -> tuple[float, float]:
    """Exact binomial interval of a proportion."""
    from scipy.special import betaincinv

    tail = (1.0 - level) / 2.0
    low = 0.0 if events == 0 else float(betaincinv(events, n - events + 1, tail))
    high = 1.0 if events == n else float(betaincinv(events + 1, n - events, 1.0 - tail))
    return low, high
