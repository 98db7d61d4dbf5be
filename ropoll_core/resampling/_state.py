"""A bootstrap in pieces: states of shards that add up."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.options import as_choice, as_count, as_real
from ropoll_core._checks.resampling import as_moments, as_rows, as_statistics, as_tasks
from ropoll_core._kernels import poisson
from ropoll_core._parallel import run_chunks
from ropoll_core._results.base import Result
from ropoll_core._rng import as_key
from ropoll_core.resampling._bootstrap import summarise
from ropoll_core.resampling._moments import Sampled, used_columns
from ropoll_core.resampling._tasks import sum_by_task
from ropoll_core.resampling.statistics import Columns, Statistic, Totals

__all__ = ["BootstrapState"]

# Resamples whose totals stay in cache while the tasks go by; a multiple of 4.
_BLOCK = 64


@dataclass(frozen=True, repr=False, eq=False)
class BootstrapState(Result):
    """Moment totals of Poisson resamples, which add over shards of the data.

    Every task has a Poisson(1) weight in every resample, a pure function of (seed, resample, key
    of the task). States of any split of the rows, even one that cuts tasks, therefore merge to
    the totals of the whole: to the bit where moments are whole numbers below 2^53, up to the
    order of additions otherwise. The number of tasks in a resample varies, so totals are a
    little wider than in :func:`bootstrap`; ratios hardly differ.

    Attributes
    ----------
    columns : tuple
        Names of the columns.
    n_rows, n_tasks, n_resamples : int
        `n_tasks` counts a task once for each shard that has rows of it.
    key : tuple of int
        Of the random stream; only states with one key merge.

    Examples
    --------
    >>> import numpy as np
    >>> from ropoll_core.resampling import BootstrapState, Mean
    >>> correct, tasks = np.array([1, 0, 1, 1, 0, 1]), np.array(list("aabbcd"))
    >>> parts = [
    ...     BootstrapState.from_data(correct[rows], tasks=tasks[rows], rng=3)
    ...     for rows in (slice(0, 3), slice(3, 6))
    ... ]
    >>> merged = parts[0].merge(parts[1])
    >>> round(merged.interval(Mean(0)).estimate, 3)
    0.667
    """

    columns: tuple[Hashable, ...]
    n_rows: int
    n_tasks: int
    n_resamples: int
    key: tuple[int, int]
    totals: NDArray[np.float64] = field(repr=False)
    """(n_resamples, n_columns + 1); the last column counts rows."""
    data_totals: NDArray[np.float64] = field(repr=False)
    """(n_columns + 1,): each task once."""

    @classmethod
    def from_data(
        cls,
        data: Any,
        *,
        tasks: Any,
        rng: Any,
        n_resamples: int = 10_000,
        workers: int | None = None,
    ) -> BootstrapState:
        """The state of one shard.

        Parameters
        ----------
        data, n_resamples, workers
            As in :func:`bootstrap`.
        tasks : array_like of shape (n_rows,)
            Strings, bytes, numbers, or tuples of them: what names the same task in every shard.
        rng : int, numpy.random.SeedSequence or numpy.random.Generator
            The same for every shard; a Generator in the same state.

        Raises
        ------
        ValueError
            As :func:`bootstrap`; and for rng=None, with which shards would not fit together.
        TypeError
            As :func:`bootstrap`; and for keys of another type.

        Notes
        -----
        Costs about 10 ns a task and resample, more with many columns.
        """
        n_resamples = as_count(n_resamples, "n_resamples")
        if rng is None:
            raise ValueError("rng must be given, the same for every shard")
        key = as_key(rng)
        table, n_rows = as_rows(data)
        names, rows = as_moments(table)
        codes, n_tasks = as_tasks(tasks, n_rows)
        if codes is None:
            raise TypeError("tasks must be given: shards share draws by the keys of tasks")
        hashes = _hash_tasks(tasks, codes, n_tasks)

        ones = np.ones((n_rows, 1), dtype=rows.dtype)
        moments = sum_by_task(np.concatenate([rows, ones], axis=1), codes, n_tasks)
        floats = np.ascontiguousarray(moments, dtype=np.float64)
        totals = np.zeros((n_resamples, floats.shape[1]))
        run_chunks(
            lambda start, stop: _add(key, hashes, floats, start, stop, totals),
            n_resamples,
            cost_ns=n_tasks * (8.0 + 0.2 * floats.shape[1]),
            workers=workers,
            lanes=_BLOCK,
        )
        return cls(
            columns=tuple(names),
            n_rows=n_rows,
            n_tasks=n_tasks,
            n_resamples=n_resamples,
            key=key,
            totals=totals,
            data_totals=moments.sum(axis=0).astype(np.float64),
        )

    def merge(self, other: BootstrapState) -> BootstrapState:
        """The state of the rows of both.

        Raises
        ------
        ValueError
            If the columns, the number of resamples or the seed differ.
        TypeError
            If `other` is no BootstrapState.
        """
        if not isinstance(other, BootstrapState):
            raise TypeError(f"other must be a BootstrapState, got {type(other).__name__}")
        for name in ("columns", "n_resamples", "key"):
            if getattr(self, name) != getattr(other, name):
                raise ValueError(
                    f"states merge only with equal {name}, "
                    f"got {getattr(self, name)} and {getattr(other, name)}"
                )
        return BootstrapState(
            columns=self.columns,
            n_rows=self.n_rows + other.n_rows,
            n_tasks=self.n_tasks + other.n_tasks,
            n_resamples=self.n_resamples,
            key=self.key,
            totals=self.totals + other.totals,
            data_totals=self.data_totals + other.data_totals,
        )

    def interval(
        self, statistic: Any, *, confidence_level: float = 0.95, method: str = "percentile"
    ) -> Any:
        """Intervals of statistics of the merged data.

        Parameters
        ----------
        statistic : Statistic, or list or dict of them
            As in :func:`bootstrap`, but no function of rows.
        confidence_level : float
        method : {"percentile", "basic"}
            The others need the tasks themselves.

        Returns
        -------
        BootstrapResult, or list or dict of them
        """
        level = as_real(
            confidence_level, "confidence_level", low=0.0, high=1.0, open_low=True, open_high=True
        )
        method = as_choice(method, "method", ("percentile", "basic"))
        statistics, as_given = as_statistics(statistic, _as_statistic)
        used_columns(statistics, list(self.columns))
        place = Columns(list(self.columns))
        results = []
        drawn, whole = np.ascontiguousarray(self.totals.T), self.data_totals[:, None]
        in_resamples = Totals(place, drawn[:-1], drawn[-1])
        in_data = Totals(place, whole[:-1], whole[-1])
        for one in statistics:
            sample = Sampled(np.asarray(in_data.value(one)[..., 0]), in_resamples.value(one))
            results.append(
                summarise(
                    sample,
                    method=method,
                    level=level,
                    n_tasks=self.n_tasks,
                    fewest=self.n_tasks,
                    n_rows=self.n_rows,
                )
            )
        return as_given(results)


def _as_statistic(value: Any) -> Statistic:
    if not isinstance(value, Statistic):
        raise TypeError(f"statistic must be a Statistic, got {type(value).__name__}")
    return value


def _add(
    key: tuple[int, int],
    hashes: NDArray[np.uint64],
    moments: NDArray[np.float64],
    start: int,
    stop: int,
    totals: NDArray[np.float64],
) -> None:
    for first in range(start, stop, _BLOCK):
        poisson.add_totals(*key, hashes, moments, first, min(first + _BLOCK, stop), totals)


def _hash_tasks(tasks: Any, codes: NDArray[np.int64], n_tasks: int) -> NDArray[np.uint64]:
    """A 64-bit hash of each task's key that is the same in every process."""
    keys = tasks if isinstance(tasks, (list, tuple)) else np.asarray(tasks)
    _, first = np.unique(codes, return_index=True)
    named = (_encode(keys[row]) for row in first.tolist())
    words = (int.from_bytes(hashlib.blake2b(k, digest_size=8).digest(), "little") for k in named)
    return np.fromiter(words, dtype=np.uint64, count=n_tasks)


def _encode(key: Any) -> bytes:
    """Bytes that differ wherever keys do; equal numbers are one key, as in a dict."""
    if isinstance(key, np.generic):
        key = key.item()
    if isinstance(key, str):
        return b"s" + key.encode("utf-8", "surrogatepass")
    if isinstance(key, bytes):
        return b"b" + key
    if isinstance(key, (bool, int)) or (isinstance(key, float) and key.is_integer()):
        return b"i%d" % int(key)
    if isinstance(key, float):
        return b"f" + struct.pack("<d", key)
    if isinstance(key, tuple):
        parts = [_encode(part) for part in key]
        return b"t" + b"".join(b"%d:" % len(part) + part for part in parts)
    raise TypeError(
        "keys of tasks must be strings, bytes, numbers or tuples of them for a BootstrapState, "
        f"got {type(key).__name__}"
    )
