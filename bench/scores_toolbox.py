"""Aggregators beside their batched NumPy twins, and the mean beside a read of memory.

    python bench/scores_toolbox.py

Data: Gaussian panels, 30 % of the judges of each corrupted; float64, one thread. Agreement is
checked before anything is timed. Twins are vectorised over all queries, as one writes them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from timing import Row, compare, interleave, print_rows, read_call

from ropoll_core import scores

SHAPES = ((3, 5), (5, 4), (7, 5), (13, 5), (15, 16))
MOST_NUMBERS = 4_000_000  # scores in a case: beyond the caches


def panels(n: int, d: int) -> np.ndarray:
    rng = np.random.default_rng(n * d)
    x = rng.normal(size=(MOST_NUMBERS // (n * d), n, d))
    x[rng.random(x.shape[:2]) < 0.3] += 20
    return x


def twin_trimmed_mean(x: np.ndarray, keep: int) -> np.ndarray:
    distance = ((x - x.mean(axis=1, keepdims=True)) ** 2).sum(axis=2)
    nearest = np.argpartition(distance, keep - 1, axis=1)[:, :keep]
    return np.take_along_axis(x, nearest[:, :, None], axis=1).mean(axis=1)


def twin_squares(x: np.ndarray) -> np.ndarray:
    norm = np.einsum("qna,qna->qn", x, x)
    return np.maximum(norm[:, :, None] + norm[:, None] - 2 * x @ x.swapaxes(1, 2), 0)


def pick(x: np.ndarray, judge: np.ndarray) -> np.ndarray:
    return np.take_along_axis(x, judge[:, None, None], axis=1)[:, 0]


def twin_medoid(x: np.ndarray) -> np.ndarray:
    return pick(x, np.sqrt(twin_squares(x)).sum(axis=2).argmin(axis=1))


def twin_krum(x: np.ndarray, n_faulty: int) -> np.ndarray:
    close = x.shape[1] - n_faulty - 2
    nearest = np.sort(twin_squares(x), axis=2)[:, :, 1 : 1 + close]
    return pick(x, nearest.sum(axis=2).argmin(axis=1))


def twin_huber_mean(x: np.ndarray, threshold: float, steps: int = 50) -> np.ndarray:
    """A fixed number of reweighted means: not certified."""
    z = np.median(x, axis=1)
    for _ in range(steps):
        r = np.sqrt(((x - z[:, None]) ** 2).sum(axis=2))
        w = np.minimum(1, threshold / np.maximum(r, 1e-12))
        z = (w[:, :, None] * x).sum(axis=1) / w.sum(axis=1)[:, None]
    return z


Call = Callable[[np.ndarray], Any]


def cases(n: int) -> dict[str, tuple[Call, Call, float, float]]:
    """Method -> ours, twin, the least ratio that a guard asks for, agreement."""
    cut = int(0.3 * n + 1e-9)
    share = cut / n
    f = (n - 3) // 2
    ends = min(cut, (n - 1) // 2)
    found: dict[str, tuple[Call, Call, float, float]] = {
        "mean": (scores.mean, lambda x: x.mean(axis=1), 1.2, 1e-12),
        "coordinatewise_median": (
            scores.coordinatewise_median,
            lambda x: np.median(x, axis=1),
            4.0,
            1e-12,
        ),
        "medoid": (scores.medoid, twin_medoid, 3.0, 1e-12),
        "krum": (
            lambda x: scores.krum(x, n_faulty=f),
            lambda x: twin_krum(x, f),
            4.0,
            1e-12,
        ),
        "huber_mean": (
            lambda x: scores.huber_mean(x, threshold=1.0),
            lambda x: twin_huber_mean(x, 1.0),
            15.0,
            1e-2,
        ),
    }
    if cut:
        found["trimmed_mean"] = (
            lambda x: scores.trimmed_mean(x, proportion=share),
            lambda x: twin_trimmed_mean(x, n - cut),
            4.0,
            1e-12,
        )
        found["coordinatewise_trimmed_mean"] = (
            lambda x: scores.coordinatewise_trimmed_mean(x, proportion=ends / n),
            lambda x: np.sort(x, axis=1)[:, ends : n - ends].mean(axis=1),
            2.0,
            1e-12,
        )
    return found


def check(x: np.ndarray, ours: Call, twin: Call, agreement: float) -> None:
    """Equal on all panels but those where rounding decides which of two judges it is."""
    part = x[:2000]
    apart = np.abs(ours(part) - twin(part)).max(axis=1) > agreement
    assert apart.mean() <= 0.005, f"{apart.sum()} of {len(part)} panels differ"


def measure() -> list[Row]:
    found: list[Row] = []
    for n, d in SHAPES:
        x = panels(n, d)
        for method, (ours, twin, _, agreement) in cases(n).items():
            check(x, ours, twin, agreement)
            calls: dict[str, Callable[[], object]] = {
                "ropoll_core": lambda ours=ours, x=x: ours(x),
                "NumPy twin": lambda twin=twin, x=x: twin(x),
            }
            if method == "mean":
                calls["reading the scores"] = read_call(x.nbytes)[0]
            timings = interleave(calls, rounds=3, burst=0.01)
            found += compare(method, f"{len(x)} panels of {n} x {d}", timings, "ropoll_core")
    return found


if __name__ == "__main__":
    print_rows(measure())
