"""Statistics that need the drawn rows themselves."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.resampling import as_returned
from ropoll_core._jit.callbacks import is_jit_function, raise_again, rows_callback
from ropoll_core._kernels import callbacks
from ropoll_core._parallel import run_chunks
from ropoll_core.resampling._moments import Sampled
from ropoll_core.resampling._tasks import Draws

__all__ = ["RowProblem"]

Rows = NDArray[Any] | dict[Hashable, NDArray[Any]]

# Rough cost of one call of a user's function, and of handing it one row.
_CALL_NS = 20_000.0
_ROW_NS = 5.0


class RowProblem:
    """Functions of the rows of a resample: those of each drawn task, task after task.

    data : an array with rows on its first axis, or such arrays by name.
    """

    def __init__(
        self,
        functions: list[Callable[[Any], Any]],
        data: Rows,
        codes: NDArray[np.int64] | None,
        n_tasks: int,
    ):
        self.n_tasks = n_tasks
        self.draws = Draws(n_tasks)
        if codes is None:
            sizes = np.ones(n_tasks, dtype=np.int64)
        else:
            sizes = np.bincount(codes, minlength=n_tasks).astype(np.int64)
            data = _take(data, np.argsort(codes, kind="stable"))
        self.data = data
        self.starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.n_rows = int(self.starts[-1])
        self.parts = [
            _Jitted(function, self) if is_jit_function(function) else _Plain(function, self)
            for function in functions
        ]

    def rows_of(self, tasks: NDArray[np.int64]) -> NDArray[np.int64]:
        """Row numbers of some tasks, one after the other."""
        if self.n_rows == self.n_tasks:
            return tasks
        sizes = self.starts[tasks + 1] - self.starts[tasks]
        ends = np.cumsum(sizes)
        return np.repeat(self.starts[tasks] - (ends - sizes), sizes) + np.arange(ends[-1])

    def sample(
        self, key: tuple[int, int], n_resamples: int, method: str, workers: int | None
    ) -> list[Sampled]:
        """What `method` needs of each function."""
        estimates = [part.value(self.data) for part in self.parts]
        samples = [Sampled(e, np.empty((*e.shape, n_resamples))) for e in estimates]

        def kernel(
            start: int, stop: int, held: tuple[NDArray[np.uint16], NDArray[np.int64]]
        ) -> None:
            for part, one in zip(self.parts, samples, strict=True):
                part.fill(key, start, stop, *held, one.replicates)

        run_chunks(
            kernel,
            n_resamples,
            cost_ns=_CALL_NS + _ROW_NS * self.n_rows,
            workers=workers,
            scratch=lambda: (self.draws.scratch(), np.empty(self.n_tasks, dtype=np.int64)),
        )
        if method == "bca" and self.n_tasks > 1:
            self._leave_out(samples)
        return samples

    def _leave_out(self, samples: list[Sampled]) -> None:
        for one in samples:
            one.jackknife = np.empty((*one.estimate.shape, self.n_tasks))
        for task in range(self.n_tasks):
            left_out = slice(int(self.starts[task]), int(self.starts[task + 1]))
            rest = _take(self.data, np.delete(np.arange(self.n_rows), left_out))
            for part, one in zip(self.parts, samples, strict=True):
                assert one.jackknife is not None
                one.jackknife[..., task] = part.value(rest)


def _take(data: Rows, rows: NDArray[np.int64]) -> Rows:
    if isinstance(data, dict):
        return {name: array[rows] for name, array in data.items()}
    return data[rows]


class _Plain:
    """A Python function of the resampled data."""

    def __init__(self, function: Callable[[Any], Any], problem: RowProblem):
        self.function, self.problem = function, problem

    def value(self, data: Rows) -> NDArray[np.float64]:
        value = as_returned(self.function(data), "rows")
        if value.ndim > 1:
            raise ValueError(
                f"a statistic of rows must return a number or a 1-D array, got shape {value.shape}"
            )
        return value

    def fill(
        self,
        key: tuple[int, int],
        start: int,
        stop: int,
        scratch: NDArray[np.uint16],
        drawn: NDArray[np.int64],
        out: NDArray[np.float64],
    ) -> None:
        for r in range(start, stop):
            self.problem.draws.draw(key, r, scratch, drawn)
            value = self.value(_take(self.problem.data, self.problem.rows_of(drawn)))
            if value.shape != out.shape[:-1]:
                raise ValueError(
                    f"a statistic must return one shape: {out.shape[:-1]} for the data, "
                    f"{value.shape} for resample {r}"
                )
            out[..., r] = value


class _Jitted:
    """A jitted function of the resampled rows (n_rows, n_columns), run without the GIL."""

    def __init__(self, function: Any, problem: RowProblem):
        if isinstance(problem.data, dict):
            raise TypeError("a jitted statistic of rows takes an array as data, got a mapping")
        if problem.data.dtype.kind not in "iubf":
            raise TypeError(
                f"a jitted statistic of rows takes numbers, got dtype {problem.data.dtype}"
            )
        self.function, self.problem = function, problem
        self.callback = rows_callback(function)
        self.rows = self._as_rows(problem.data)

    @staticmethod
    def _as_rows(data: NDArray[Any]) -> NDArray[np.float64]:
        return np.ascontiguousarray(data.reshape(data.shape[0], -1), dtype=np.float64)

    def value(self, data: Rows) -> NDArray[np.float64]:
        assert not isinstance(data, dict)
        rows = self._as_rows(data).copy()
        value, failed = callbacks.call_rows(self.callback.address, rows)
        if failed:
            raise_again(self.function, rows)
        return np.asarray(value)

    def fill(
        self,
        key: tuple[int, int],
        start: int,
        stop: int,
        scratch: NDArray[np.uint16],
        drawn: NDArray[np.int64],
        out: NDArray[np.float64],
    ) -> None:
        copy = np.empty((self.problem.n_rows, self.rows.shape[1]))
        while start < stop:
            start, short = callbacks.map_resamples(
                self.callback.address,
                *key,
                self.rows,
                self.problem.starts,
                self.problem.draws.part_size,
                start,
                stop,
                scratch,
                drawn,
                copy,
                out,
            )
            if short < 0:
                self.problem.draws.draw(key, start, scratch, drawn)
                raise_again(self.function, self.rows[self.problem.rows_of(drawn)])
            if short > 0:
                copy = np.empty((short + short // 4, self.rows.shape[1]))
