"""Rows to tasks, tasks to the moment totals of resamples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._kernels import resample
from ropoll_core._kernels.counter_rng import subkey
from ropoll_core._parallel import chunk_size, run_chunks

__all__ = [
    "Draws",
    "Packed",
    "StrataMoments",
    "TaskMoments",
    "TypeMoments",
    "for_each_block",
    "for_each_left_out",
    "pack",
    "pack_strata",
    "sum_by_task",
]

# One vector of the kernel, the most of them it keeps in registers, and its alignment.
_VECTOR_BYTES = 32
_MOST_VECTORS = 8
_ALIGNMENT = 64
# Moments that vary by no more, once less the least of their column, are added as bytes.
_MOST_BYTE = 63
# Below this many tasks the kernel's indices have room in 16 bits and the table stays in cache;
# from there on the draws are first split among parts of the second size.
_FEW_TASKS = 8192
_PART = 1024
# Tasks for each distinct row from which on resampling the types of rows pays.
_TASKS_A_TYPE = 64


class Draws:
    """How resamples of n_tasks tasks are drawn, and the draws of one of them."""

    def __init__(self, n_tasks: int):
        self.n_tasks = n_tasks
        self.part_size = n_tasks if n_tasks < _FEW_TASKS else _PART

    def scratch(self, n_blocks: int = 1) -> NDArray[np.uint16]:
        """Room for indices, of one thread."""
        shape = resample.scratch_shape(self.n_tasks, self.part_size, n_blocks)
        return np.empty(shape, dtype=np.uint16)

    def draw(
        self,
        key: tuple[int, int],
        number: int,
        scratch: NDArray[np.uint16],
        out: NDArray[np.int64],
    ) -> None:
        """Task indices of resample `number`, in the order in which they are added up."""
        resample.draw_tasks(*key, number, self.part_size, scratch, out)


def sum_by_task(rows: NDArray[Any], codes: NDArray[np.int64] | None, n_tasks: int) -> NDArray[Any]:
    """Moments of each task: the sum of its rows, added in the order of the rows."""
    if codes is None:
        return rows
    out = np.zeros((n_tasks, rows.shape[1]), dtype=rows.dtype)
    resample.sum_rows(codes, rows, out)
    return out


def _aligned(shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    raw = np.empty(size + _ALIGNMENT, dtype=np.uint8)
    offset = -raw.ctypes.data % _ALIGNMENT
    table: NDArray[Any] = raw[offset : offset + size].view(dtype).reshape(shape)
    return table


def _narrowest(moments: NDArray[Any]) -> tuple[Any, int, NDArray[Any]]:
    """Type that holds the moments less an offset a column, draws that its sums last, offsets."""
    n_tasks, none = moments.shape[0], np.zeros(moments.shape[1], dtype=moments.dtype)
    if moments.dtype != np.int64:
        return np.float64, n_tasks, none
    lowest, highest = moments[0].copy(), moments[0].copy()
    resample.find_ranges(moments, lowest, highest)
    largest = max(int(highest.max()), -int(lowest.min()))
    if largest <= np.iinfo(np.int32).max:
        spread = int((highest - lowest).max())
        if spread <= _MOST_BYTE and n_tasks * spread <= np.iinfo(np.int32).max:
            return np.uint8, min(np.iinfo(np.uint16).max // max(spread, 1), n_tasks), lowest
    for narrow in (np.int16, np.int32):
        room = np.iinfo(narrow).max // max(largest, 1)
        # An int16 sum has to last for a while before it moves to double.
        if room >= 32 or (narrow is np.int32 and room >= 1):
            return narrow, min(room, n_tasks), none
    return np.float64, n_tasks, none


class TaskMoments:
    """Moments of each task, packed for the kernel in the narrowest type that holds them.

    moments : (n_tasks, n_moments), int64 or float64.
    """

    def __init__(self, moments: NDArray[Any]):
        self.moments = moments = np.ascontiguousarray(moments)
        self.n_tasks, self.n_moments = moments.shape
        self.draws = Draws(self.n_tasks)
        dtype, self.flush, lowest = _narrowest(moments)
        lanes = _VECTOR_BYTES // np.dtype(dtype).itemsize
        vectors = -(-self.n_moments // lanes)
        n_blocks = -(-vectors // _MOST_VECTORS)
        width = -(-vectors // n_blocks) * lanes
        self.table = _aligned((n_blocks, self.n_tasks, width), dtype)
        self.base = np.zeros(n_blocks * width)
        self.base[: self.n_moments] = lowest * float(self.n_tasks)
        for block in range(n_blocks):
            first = block * width
            count = min(width, self.n_moments - first)
            resample.pack_rows(moments, first, count, lowest, self.table[block])
        # Measured: a draw, and the 32-byte rows it adds, and the store of a total.
        self.cost_ns = self.n_tasks * (0.15 + 0.08 * vectors) + 0.8 * self.n_moments

    def total(self) -> NDArray[np.float64]:
        """Totals of the data, (n_moments, 1), added task by task as a resample's are."""
        out = np.zeros((1, self.n_moments), dtype=self.moments.dtype)
        resample.sum_rows(np.zeros(self.n_tasks, dtype=np.int64), self.moments, out)
        return out.T.astype(np.float64)

    def scratch(self) -> Any:
        """What `fill` needs besides, of one thread."""
        n_blocks, _, width = self.table.shape
        return self.draws.scratch(n_blocks), np.empty((resample.TILE, width))

    def fill(
        self,
        key: tuple[int, int],
        start: int,
        stop: int,
        scratch: Any,
        out: NDArray[np.float64],
    ) -> None:
        """Totals of resamples start .. stop - 1 into the first columns of out."""
        indices, tile = scratch
        resample.total_resamples(
            *key,
            self.table,
            self.base,
            self.n_moments,
            self.flush,
            self.draws.part_size,
            start,
            stop,
            indices,
            tile,
            out,
        )

    def left_out(self) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Rows of moments to leave out, one at a time, and how many tasks have each."""
        return self.moments, np.ones(self.n_tasks, dtype=np.int64)


class TypeMoments:
    """Moments of tasks of a few types: the distinct rows, and how many tasks have each.

    Types are in lexicographic order, so that the order of the tasks does not matter.
    """

    def __init__(self, rows: NDArray[Any], n_of: NDArray[np.int64]):
        order = np.lexsort(rows.T[::-1])
        self.rows = np.ascontiguousarray(rows[order], dtype=np.float64)
        self.n_of = n_of[order]
        self.n_tasks, self.n_moments = int(n_of.sum()), rows.shape[1]
        self.cost_ns = rows.shape[0] * (80.0 + 0.5 * self.n_moments)

    def total(self) -> NDArray[np.float64]:
        total: NDArray[np.float64] = (self.n_of[:, None] * self.rows).sum(axis=0)
        return total[:, None]

    def scratch(self) -> tuple[NDArray[Any], NDArray[Any]]:
        return np.empty(self.n_of.size, dtype=np.int64), np.empty(self.n_moments)

    def fill(
        self,
        key: tuple[int, int],
        start: int,
        stop: int,
        scratch: tuple[NDArray[Any], NDArray[Any]],
        out: NDArray[np.float64],
    ) -> None:
        resample.total_types(*key, self.rows, self.n_of, start, stop, *scratch, out)

    def left_out(self) -> tuple[NDArray[Any], NDArray[np.int64]]:
        return self.rows, self.n_of


class StrataMoments:
    """Moments of independent groups of tasks, each of which is resampled by itself."""

    def __init__(self, parts: list[TaskMoments | TypeMoments]):
        self.parts = parts
        self.n_tasks = sum(part.n_tasks for part in parts)
        self.n_moments = parts[0].n_moments
        self.cost_ns = sum(part.cost_ns for part in parts)

    def total(self) -> NDArray[np.float64]:
        total = self.parts[0].total()
        for part in self.parts[1:]:
            total += part.total()
        return total

    def scratch(self) -> Any:
        return [part.scratch() for part in self.parts]

    def fill(
        self,
        key: tuple[int, int],
        start: int,
        stop: int,
        scratch: Any,
        out: NDArray[np.float64],
    ) -> None:
        n, one = stop - start, np.empty_like(out)
        out[:, :n] = 0.0
        for number, (part, held) in enumerate(zip(self.parts, scratch, strict=True)):
            part.fill(subkey(*key, number), start, stop, held, one)
            out[:, :n] += one[:, :n]

    def left_out(self) -> tuple[NDArray[Any], NDArray[np.int64]]:
        rows, n_of = zip(*(part.left_out() for part in self.parts), strict=True)
        return np.concatenate(rows), np.concatenate(n_of)


Packed = TaskMoments | TypeMoments | StrataMoments


def pack_strata(moments: NDArray[Any], strata: NDArray[np.int64]) -> StrataMoments:
    """Moments of tasks for resampling within strata; strata numbers the stratum of each."""
    return StrataMoments(
        [pack(moments[strata == s], share_draws=False) for s in range(int(strata.max()) + 1)]
    )


def pack(moments: NDArray[Any], *, share_draws: bool) -> TaskMoments | TypeMoments:
    """Moments of tasks for resampling, by types where many tasks have equal rows.

    share_draws: others draw tasks of the same resamples, so they have to be drawn one by one.
    """
    n_tasks = moments.shape[0]
    if moments.dtype == np.int64 and n_tasks >= _FEW_TASKS and not share_draws:
        most = n_tasks // _TASKS_A_TYPE
        slots = np.full(1 << (2 * most).bit_length(), -1, dtype=np.int64)
        first, n_of = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
        n_types = resample.find_types(moments, slots, first, n_of)
        if n_types > 0:
            return TypeMoments(moments[first[:n_types]], n_of[:n_types].copy())
    return TaskMoments(moments)


def for_each_block(
    tasks: Packed,
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
    cost_ns += tasks.cost_ns
    room = min(chunk_size(n_resamples, cost_ns, resample.TILE), n_resamples)

    def scratch() -> tuple[Any, NDArray[np.float64]]:
        return tasks.scratch(), np.empty((tasks.n_moments, room))

    def kernel(
        start: int,
        stop: int,
        held: tuple[Any, NDArray[np.float64]],
    ) -> None:
        inner, totals = held
        tasks.fill(key, start, stop, inner, totals)
        use(start, stop, totals[:, : stop - start])

    run_chunks(
        kernel, n_resamples, cost_ns=cost_ns, workers=workers, lanes=resample.TILE, scratch=scratch
    )


def for_each_left_out(
    tasks: Packed,
    use: Callable[[int, int, NDArray[np.float64]], None],
    block: int = 1024,
) -> NDArray[np.int64]:
    """Call use(start, stop, totals) on blocks of the totals without one task each.

    Returns how many tasks each of them stands for.
    """
    total = tasks.total()
    rows, n_of = tasks.left_out()
    for start in range(0, rows.shape[0], block):
        stop = min(start + block, rows.shape[0])
        use(start, stop, np.ascontiguousarray(total - rows[start:stop].T))
    return n_of
