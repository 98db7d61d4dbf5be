"""Statistics of moment totals, over resamples and without one task each."""

from __future__ import annotations

import itertools
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core.resampling._studentized import RatioErrors
from ropoll_core.resampling._tasks import (
    Packed,
    StrataMoments,
    for_each_block,
    for_each_left_out,
    pack,
    pack_strata,
    sum_by_task,
)
from ropoll_core.resampling.statistics import Columns, Statistic, Totals

__all__ = ["MomentProblem", "Sampled", "used_columns"]


@dataclass
class Sampled:
    """A statistic of the data, of each resample, and what the method of interval needs besides.

    Shapes (...), (..., n_resamples), (..., n_values), (n_values,), (...), (..., n_resamples). A
    jackknife value stands for as many tasks as its weight; the values of a stratum lie together,
    those of stratum s from strata_starts[s] on.
    """

    estimate: NDArray[np.float64]
    replicates: NDArray[np.float64]
    jackknife: NDArray[np.float64] | None = None
    jackknife_weights: NDArray[np.int64] | None = None
    strata_starts: tuple[int, ...] = (0,)
    error: NDArray[np.float64] | None = None
    errors: NDArray[np.float64] | None = None


class MomentProblem:
    """Statistics over the totals of the columns that they read, and of the rows of each task."""

    def __init__(
        self,
        statistics: list[Statistic],
        names: list[Hashable],
        rows: NDArray[Any],
        codes: NDArray[np.int64] | None,
        n_tasks: int,
        *,
        studentized: bool = False,
        share_draws: bool = False,
        strata: NDArray[np.int64] | None = None,
    ):
        self.statistics = statistics
        used = used_columns(statistics, names)
        place = {name: number for number, name in enumerate(names)}
        moments = rows if len(used) == len(names) else rows[:, [place[name] for name in used]]
        self.columns = Columns(used)
        # After the columns comes the number of rows, unless it is one for each task.
        self.counts_rows = codes is not None or studentized
        if self.counts_rows:
            ones = np.ones((rows.shape[0], 1), dtype=rows.dtype)
            moments = np.concatenate([moments, ones], axis=1)
        moments = sum_by_task(moments, codes, n_tasks)
        self.ratios: RatioErrors | None = None
        if studentized:
            self.ratios = RatioErrors(statistics, self.columns, moments.shape[1])
            moments = self.ratios.extend(moments)
        self.strata = strata
        self.tasks: Packed = (
            pack(moments, share_draws=share_draws)
            if strata is None
            else pack_strata(moments, strata)
        )

    def sample(
        self, key: tuple[int, int], n_resamples: int, method: str, workers: int | None
    ) -> list[Sampled]:
        """What `method` needs of each statistic."""
        data = self.tasks.total()
        totals = self._totals(data, self.tasks.n_tasks)
        estimates = [np.asarray(totals.value(s)[..., 0]) for s in self.statistics]
        samples = [Sampled(e, np.empty((*e.shape, n_resamples))) for e in estimates]
        if self.ratios is not None:
            for number, one in enumerate(samples):
                one.error = self.ratios.of(number, data)[..., 0].reshape(one.estimate.shape)
                one.errors = np.empty(one.replicates.shape)
        self._resample(samples, key, n_resamples, workers)
        if method == "bca":
            self._leave_out(samples)
        return samples

    def _totals(self, moments: NDArray[np.float64], n_tasks: int) -> Totals:
        n = len(self.columns)
        return Totals(self.columns, moments[:n], moments[n] if self.counts_rows else float(n_tasks))

    def _resample(
        self, samples: list[Sampled], key: tuple[int, int], n_resamples: int, workers: int | None
    ) -> None:
        def use(start: int, stop: int, block: NDArray[np.float64]) -> None:
            totals = self._totals(block, self.tasks.n_tasks)
            for number, (one, statistic) in enumerate(zip(samples, self.statistics, strict=True)):
                one.replicates[..., start:stop] = totals.value(statistic)
                if self.ratios is not None and one.errors is not None:
                    errors = self.ratios.of(number, block)
                    one.errors[..., start:stop] = errors.reshape(one.errors[..., start:stop].shape)

        outputs = sum(one.estimate.size for one in samples)
        for_each_block(self.tasks, key, n_resamples, use, cost_ns=20.0 * outputs, workers=workers)

    def _leave_out(self, samples: list[Sampled]) -> None:
        n_tasks = self.tasks.n_tasks
        n_values = self.tasks.left_out()[1].size
        values = [np.empty((*one.estimate.shape, n_values)) for one in samples]

        def use(start: int, stop: int, block: NDArray[np.float64]) -> None:
            totals = self._totals(block, n_tasks - 1)
            for into, statistic in zip(values, self.statistics, strict=True):
                into[..., start:stop] = totals.value(statistic)

        weights = for_each_left_out(self.tasks, use)
        for one, value in zip(samples, values, strict=True):
            one.jackknife, one.jackknife_weights = value, weights
            if isinstance(self.tasks, StrataMoments):
                sizes = [part.left_out()[1].size for part in self.tasks.parts]
                one.strata_starts = (0, *itertools.accumulate(sizes[:-1]))


def used_columns(statistics: list[Statistic], names: list[Hashable]) -> list[Hashable]:
    """Columns that some statistic reads, in the order of the data."""
    used: set[Hashable] = set()
    known = set(names)
    for statistic in statistics:
        columns = statistic._columns()
        if columns is None:
            return names
        unknown = [column for column in columns if column not in known]
        if unknown:
            raise ValueError(
                f"statistic reads column {unknown[0]!r}, which data does not have; "
                f"it has {', '.join(repr(name) for name in names[:20])}"
            )
        used |= columns
    return [name for name in names if name in used]
