"""The bootstrap beside SciPy, arch, foostrap and NumPy.

    python bench/resampling.py

The panel: 463 tasks with 7 candidates each, 7 judges and a signal, 42 integer moments a task;
pivotal gain, overall gain and the change of effective votes; 10,000 resamples, one thread. Peers
get the same moments and the same statistics (foostrap only one ratio: it has no more).
"""

from __future__ import annotations

import functools
import itertools
import time
from collections.abc import Callable

import numpy as np
import scipy.stats
from timing import Row, compare, interleave, print_rows

from ropoll_core import resampling, votes

N_TASKS, N_CANDIDATES, N_JUDGES, N_RESAMPLES = 463, 7, 7, 10_000
LEVELS = (2.5, 97.5)
PAIRS = list(itertools.combinations(range(N_JUDGES + 1), 2))


def panel(n_tasks: int = N_TASKS, seed: int = 0) -> votes.TaskMoments:
    """Moments of ballots whose errors share a task effect, and of a better signal."""
    rng = np.random.default_rng(seed)
    n = n_tasks * N_CANDIDATES
    tasks = np.repeat(np.arange(n_tasks), N_CANDIDATES)
    labels = rng.integers(0, 2, n)
    hard = (rng.random(n_tasks) < 0.3)[tasks]
    errors = rng.random((n, N_JUDGES + 1)) < np.where(hard, 0.45, 0.15)[:, None]
    ballots = labels[:, None] ^ errors
    return votes.task_moments(ballots[:, :N_JUDGES], ballots[:, N_JUDGES], labels, tasks=tasks)


def statistics_of(moments: votes.TaskMoments) -> dict[str, resampling.Statistic]:
    return {
        "pivotal gain": moments.pivotal_gain(),
        "gain": moments.gain(),
        "change of effective votes": moments.effective_votes_change(),
    }


class NumpyTwin:
    """The same three statistics of totals (..., n_moments), in vectorised NumPy."""

    def __init__(self, moments: votes.TaskMoments):
        names = list(moments.data)
        self.unit = moments.unit
        self.table = np.stack([moments.data[name] for name in names], axis=1)
        self.place = {name: number for number, name in enumerate(names)}
        self.errors = [self.place["errors", j] for j in range(N_JUDGES + 1)]
        self.both = [self.place["errors", i, j] for i, j in PAIRS]
        self.first, self.second = np.array(PAIRS).T

    def of_totals(self, totals: np.ndarray) -> np.ndarray:
        n = totals[..., self.place["n"]]
        gain = totals[..., self.place["gain"]]
        e = totals[..., self.errors]
        r = 1.0 / np.sqrt(n[..., None] * e - e * e)
        a, b = self.first, self.second
        phi = (
            (n[..., None] * totals[..., self.both] - e[..., a] * e[..., b]) * r[..., a] * r[..., b]
        )
        matrix = np.zeros((*n.shape, N_JUDGES + 1, N_JUDGES + 1))
        matrix[..., a, b] = matrix[..., b, a] = phi
        k, judges = N_JUDGES, matrix[..., :N_JUDGES, :N_JUDGES]
        inside = judges.sum(axis=(-2, -1)) / 2
        signal = matrix[..., :N_JUDGES, N_JUDGES]
        replaced = inside[..., None] - judges.sum(axis=-1) + signal.sum(axis=-1)[..., None] - signal
        n_pairs = k * (k - 1) / 2
        before = k / (1 + (k - 1) * inside / n_pairs)
        after = (k / (1 + (k - 1) * replaced / n_pairs)).mean(axis=-1)
        return np.stack(
            [
                gain / totals[..., self.place["n_pivotal"]] / self.unit,
                gain / n / self.unit,
                after - before,
            ]
        )

    def of_tasks(self, drawn: np.ndarray, axis: int = -1) -> np.ndarray:
        return self.of_totals(self.table[drawn].sum(axis=-2).astype(float))


def peer_calls(moments: votes.TaskMoments) -> dict[str, Callable[[], object]]:
    twin = NumpyTwin(moments)
    n_tasks = twin.table.shape[0]
    floats = twin.table.astype(float)
    gain = np.stack(
        [moments.data["gain"], moments.data["n_pivotal"] * moments.unit], axis=1
    ).astype(float)

    def scipy_vectorised(method: str) -> object:
        return scipy.stats.bootstrap(
            (np.arange(n_tasks),),
            twin.of_tasks,
            vectorized=True,
            n_resamples=N_RESAMPLES,
            batch=100,
            method=method,
            rng=np.random.default_rng(0),
        )

    def numpy_multinomial() -> object:
        rng = np.random.default_rng(0)
        counts = rng.multinomial(n_tasks, np.full(n_tasks, 1 / n_tasks), size=N_RESAMPLES)
        return np.percentile(twin.of_totals(counts @ floats), LEVELS, axis=-1)

    def numpy_indices() -> object:
        rng = np.random.default_rng(0)
        found = [
            twin.of_tasks(rng.integers(0, n_tasks, (100, n_tasks)))
            for _ in range(N_RESAMPLES // 100)
        ]
        return np.percentile(np.concatenate(found, axis=-1), LEVELS, axis=-1)

    # The heavier peers are imported where they are called; one that is missing is an error.
    def arch_iid() -> object:
        import arch.bootstrap

        sampler = arch.bootstrap.IIDBootstrap(floats, seed=np.random.default_rng(0))
        return sampler.conf_int(
            lambda rows: twin.of_totals(rows.sum(axis=0)), reps=N_RESAMPLES, method="percentile"
        )

    def foostrap_ratio() -> object:
        from foostrap import foostrap

        return foostrap(
            gain, statistic="ratio", boot_samples=N_RESAMPLES, random_state=0, parallel=False
        )

    return {
        "SciPy vectorised": functools.partial(scipy_vectorised, "percentile"),
        "SciPy vectorised BCa": functools.partial(scipy_vectorised, "BCa"),
        "NumPy multinomial @": numpy_multinomial,
        "NumPy indices": numpy_indices,
        "arch": arch_iid,
        "foostrap (one ratio)": foostrap_ratio,
    }


def panel_rows() -> list[Row]:
    moments = panel()
    statistics = statistics_of(moments)

    def ours(method: str = "percentile") -> object:
        return resampling.bootstrap(
            statistics, moments.data, n_resamples=N_RESAMPLES, method=method, rng=0
        )

    calls = {"ropoll_core": ours, **peer_calls(moments)}
    calls["foostrap (one ratio)"]()  # its compilation is not timed
    timings = interleave(calls, rounds=5)
    case = f"{N_TASKS} tasks, {len(moments.data)} moments"
    targets = {"SciPy vectorised": 50.0, "NumPy multinomial @": 25.0}
    rows = compare("bootstrap, three statistics", case, timings, "ropoll_core", targets=targets)
    best = timings["ropoll_core"].best
    limit = Row(
        "bootstrap, three statistics",
        case,
        best,
        "a limit of 15 ms",
        0.015,
        0.015 / best,
        0.015 / max(timings["ropoll_core"].rounds),
        0.015 / best,
        1.0,
    )
    return [*rows, limit]


def many_tasks_rows(n_tasks: int = 1_000_000, n_moments: int = 42) -> list[Row]:
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 8, (49, n_moments))
    tables = {
        "49 distinct rows": (kinds[rng.integers(0, 49, n_tasks)], N_RESAMPLES),
        "all rows distinct": (rng.integers(0, 8, (n_tasks, n_moments)), 1000),
    }
    rows = []
    for name, (table, n_resamples) in tables.items():
        floats = table.astype(float)
        statistic = resampling.OfTotals(lambda totals: totals[1:] / totals[0])

        def ours(table=table, n_resamples=n_resamples, statistic=statistic) -> object:
            return resampling.bootstrap(statistic, table, n_resamples=n_resamples, rng=0)

        def peer(floats=floats) -> object:
            drawn = rng.integers(0, n_tasks, n_tasks)
            return np.bincount(drawn, minlength=n_tasks).astype(float) @ floats

        timings = interleave({"ropoll_core": ours, "NumPy bincount @": peer}, rounds=3)
        rows += compare(
            f"bootstrap, {n_resamples:,} resamples",
            f"{n_tasks:,} tasks, {name}",
            timings,
            "ropoll_core",
            targets={"NumPy bincount @": 25.0},
            scale={"NumPy bincount @": float(n_resamples)},
        )
    return rows


def sweep_seconds(n_judges: int = 9) -> float:
    """Every panel of 3 to 8 of nine judges, with intervals of two gains each."""
    rng = np.random.default_rng(0)
    n = N_TASKS * N_CANDIDATES
    tasks = np.repeat(np.arange(N_TASKS), N_CANDIDATES)
    labels = rng.integers(0, 2, n)
    hard = (rng.random(N_TASKS) < 0.3)[tasks]
    errors = rng.random((n, n_judges + 1)) < np.where(hard, 0.45, 0.15)[:, None]
    ballots = labels[:, None] ^ errors
    start = time.perf_counter()
    tables = [
        votes.subset_sweep(
            ballots[:, :n_judges], ballots[:, n_judges], labels, size, tasks=tasks
        ).moment_table()
        for size in range(3, n_judges)
    ]
    data = np.concatenate(tables, axis=1)
    panels = range(0, data.shape[1], 4)
    gain = [p + 2 for p in panels]
    resampling.bootstrap(
        [resampling.Ratio(gain, [p + 1 for p in panels]), resampling.Ratio(gain, list(panels))],
        data,
        n_resamples=N_RESAMPLES,
        rng=0,
    )
    return time.perf_counter() - start


def sweep_row() -> Row:
    seconds = [sweep_seconds() for _ in range(3)]
    ratios = sorted(5.0 / s for s in seconds)
    return Row(
        "sweep and bootstrap",
        "465 panels of 3 to 8 of 9 judges",
        min(seconds),
        "a limit of 5 s",
        5.0,
        ratios[1],
        ratios[0],
        ratios[-1],
        1.0,
    )


def measure() -> list[Row]:
    return [*panel_rows(), *many_tasks_rows(), sweep_row()]


if __name__ == "__main__":
    print_rows(measure())
