"""Rows to tasks, tasks to the moment totals of resamples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._kernels import resample
from ropoll_core._parallel import chunk_size, run_chunks

__all__ = ["TaskMoments", "index_scratch", "sum_by_task"]

# One vector of the kernel, the most of them it keeps in registers, and its alignment.
_VECTOR_BYTES = 32
_MOST_VECTORS = 8
_ALIGNMENT = 64
# Words that a group of draws fills, and resamples whose draws are held at once.
_GROUP = 128
_TILE = 16
_FEW_TASKS = 65535


def sum_by_task(rows: NDArray[Any], codes: NDArray[np.int64] | None, n_tasks: int) -> NDArray[Any]:
    """Moments of each task: the sum of its rows, added in the order of the rows."""
    if codes is None:
        return rows
    out = np.zeros((n_tasks, rows.shape[1]), dtype=rows.dtype)
    resample.sum_rows(codes, rows, out)
    return out


def index_scratch(n_tasks: int) -> NDArray[np.int32]:
    """Room for the draws of as many resamples as the kernel holds at once."""
    words = -(-n_tasks // _GROUP) * _GROUP
    return np.empty((_TILE if n_tasks < _FEW_TASKS else 1, words), dtype=np.int32)


def _aligned(shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    raw = np.zeros(size + _ALIGNMENT, dtype=np.uint8)
    offset = -raw.ctypes.data % _ALIGNMENT
    table: NDArray[Any] = raw[offset : offset + size].view(dtype).reshape(shape)
    return table


class TaskMoments:
    """Moments of each task, packed for the kernel in the narrowest type that holds them.

    moments : (n_tasks, n_moments), int64 or float64.
    """

    def __init__(self, moments: NDArray[Any]):
        self.moments = moments
        self.n_tasks, self.n_moments = moments.shape
        largest = max(int(moments.max()), -int(moments.min())) if moments.dtype == np.int64 else -1
        dtype: Any = np.float64
        self.flush = self.n_tasks
        for narrow in (np.int16, np.int32):
            room = np.iinfo(narrow).max // max(largest, 1)
            # An int16 sum has to last for a while before it moves to double.
            if largest >= 0 and (room >= 32 or (narrow is np.int32 and room >= 1)):
                dtype, self.flush = narrow, min(room, self.n_tasks)
                break
        lanes = _VECTOR_BYTES // np.dtype(dtype).itemsize
        vectors = -(-self.n_moments // lanes)
        self.n_blocks = -(-vectors // _MOST_VECTORS)
        width = -(-vectors // self.n_blocks) * lanes
        self.table = _aligned((self.n_blocks, self.n_tasks, width), dtype)
        for block in range(self.n_blocks):
            columns = moments[:, block * width : (block + 1) * width]
            self.table[block, :, : columns.shape[1]] = columns
        # Measured: a draw, and the 32-byte rows it adds, and the store of a total.
        self.cost_ns = self.n_tasks * (0.4 + 0.15 * vectors) + 1.5 * self.n_moments

    def total(self) -> NDArray[np.float64]:
        """Totals of the data, (n_moments, 1), added task by task as a resample's are."""
        out = np.zeros((1, self.n_moments), dtype=self.moments.dtype)
        resample.sum_rows(np.zeros(self.n_tasks, dtype=np.int64), self.moments, out)
        return out.T.astype(np.float64)

    def for_each_block(
        self,
        key: tuple[int, int],
        n_resamples: int,
        use: Callable[[int, int, NDArray[np.float64]], None],
        *,
        cost_ns: float,
        workers: int | None,
    ) -> None:
        """Call use(start, stop, totals) on blocks of resamples, totals (n_moments, stop - start).

        cost_ns is what `use` costs for a resample.
        """
        cost_ns += self.cost_ns
        room = min(chunk_size(n_resamples, cost_ns, _TILE), n_resamples)

        def scratch() -> tuple[NDArray[np.int32], NDArray[np.float64]]:
            return index_scratch(self.n_tasks), np.empty((self.n_moments, room))

        def kernel(
            start: int, stop: int, held: tuple[NDArray[np.int32], NDArray[np.float64]]
        ) -> None:
            indices, totals = held
            resample.total_resamples(
                *key, self.table, self.n_moments, self.flush, start, stop, indices, totals
            )
            use(start, stop, totals[:, : stop - start])

        run_chunks(
            kernel, n_resamples, cost_ns=cost_ns, workers=workers, lanes=_TILE, scratch=scratch
        )

    def for_each_left_out(
        self, use: Callable[[int, int, NDArray[np.float64]], None], block: int = 1024
    ) -> None:
        """Call use(start, stop, totals) on blocks of the totals without one task each."""
        total = self.total()
        for start in range(0, self.n_tasks, block):
            stop = min(start + block, self.n_tasks)
            use(start, stop, np.ascontiguousarray(total - self.moments[start:stop].T))
