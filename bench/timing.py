"""Timing side by side: ours, peers and hardware limits interleaved in one process.

Machines are shared and noisy, so absolute times mean little and times of different runs nothing.
Everything compared is called in turn, round after round, and a ratio is taken within each round;
the median of those ratios and their range are what a table quotes.
"""

from __future__ import annotations

import datetime
import gc
import os
import platform
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

__all__ = [
    "Row",
    "Timing",
    "compare",
    "copy_call",
    "copy_on_threads",
    "interleave",
    "machine",
    "print_rows",
    "read_call",
]


@dataclass(frozen=True)
class Timing:
    """Seconds a call, one value a round."""

    rounds: tuple[float, ...]

    @property
    def best(self) -> float:
        return min(self.rounds)


@dataclass(frozen=True)
class Row:
    """One line of a table: how many times faster than `against` ours is."""

    what: str
    case: str
    ours: float  # seconds a call, best round
    against: str
    peer: float  # seconds a call, best round
    ratio: float  # median over rounds of peer / ours
    low: float
    high: float
    target: float | None = None

    @property
    def met(self) -> bool:
        return self.target is None or self.ratio >= self.target


def _loops(call: Callable[[], object], burst: float) -> int:
    start = time.perf_counter()
    call()
    once = time.perf_counter() - start
    if once > burst / 2:
        return 1
    start = time.perf_counter()
    call()
    return max(1, int(burst / max(time.perf_counter() - start, 1e-9)))


def interleave(
    calls: dict[str, Callable[[], object]], *, rounds: int = 7, burst: float = 0.02
) -> dict[str, Timing]:
    """Time `calls` in turn, `rounds` times; a burst repeats a short call for `burst` seconds."""
    loops = {name: _loops(call, burst) for name, call in calls.items()}
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            for name, call in calls.items():
                start = time.perf_counter()
                for _ in range(loops[name]):
                    call()
                seconds[name].append((time.perf_counter() - start) / loops[name])
    finally:
        gc.enable()
    return {name: Timing(tuple(values)) for name, values in seconds.items()}


def compare(
    what: str,
    case: str,
    timings: dict[str, Timing],
    ours: str,
    *,
    targets: dict[str, float] | None = None,
    scale: dict[str, float] | None = None,
) -> list[Row]:
    """A row for each peer in `timings`; `scale` multiplies the time of a peer that did less."""
    rows = []
    for name, timing in timings.items():
        if name == ours:
            continue
        factor = (scale or {}).get(name, 1.0)
        mine = timings[ours].rounds
        ratios = [factor * b / a for a, b in zip(mine, timing.rounds, strict=True)]
        rows.append(
            Row(
                what,
                case,
                timings[ours].best,
                name,
                factor * timing.best,
                statistics.median(ratios),
                min(ratios),
                max(ratios),
                (targets or {}).get(name),
            )
        )
    return rows


def copy_call(nbytes: int = 1 << 27) -> tuple[Callable[[], object], int]:
    """A copy of `nbytes` and how many bytes it moves (read plus written)."""
    source = np.ones(nbytes // 8)
    target = np.zeros_like(source)
    return lambda: np.copyto(target, source), 2 * nbytes


def copy_on_threads(threads: int, nbytes: int = 1 << 27) -> tuple[Callable[[], object], int]:
    """A copy of `nbytes`, a part a thread, and how many bytes it moves (read plus written)."""
    source = np.ones(nbytes // 8)
    target = np.zeros_like(source)
    parts = list(zip(np.array_split(target, threads), np.array_split(source, threads), strict=True))
    pool = ThreadPoolExecutor(threads)
    return lambda: list(pool.map(lambda part: np.copyto(*part), parts)), 2 * nbytes


def read_call(nbytes: int = 1 << 27) -> tuple[Callable[[], object], int]:
    """A pass that reads `nbytes` (a maximum, which NumPy vectorises) and how many it moves."""
    source = np.ones(nbytes // 8, dtype=np.int64)  # zeros would all be one page, and cached
    return lambda: source.max(), nbytes


def machine() -> dict[str, str]:
    """What the numbers were measured on, and when."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    return {
        "date": datetime.date.today().isoformat(),
        "processor": model,
        "cores": str(len(os.sched_getaffinity(0))),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def print_rows(rows: list[Row]) -> None:
    """The rows as an aligned table on standard output."""
    for row in rows:
        verdict = "met" if row.met else "MISSED"
        mark = "" if row.target is None else f"  target {row.target:g}x {verdict}"
        print(
            f"{row.what:<28} {row.case:<34} {row.ours * 1e3:10.4g} ms  {row.against:<26} "
            f"{row.peer * 1e3:10.4g} ms  {row.ratio:8.2f}x [{row.low:.2f}, {row.high:.2f}]{mark}"
        )
