"""Coverage of the bootstrap intervals on simulated clustered panels; writes docs/resampling.md.

    python bench/resampling_coverage.py        (about five minutes)

A task is easy (70 %) or hard; hard tasks have more candidates. Five judges err together: each
takes, with probability 0.6, a shared draw instead of its own. Errors of the rows of a task share
its difficulty. The true values of the three statistics are known exactly.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import numpy as np
from timing import machine

from ropoll_core import resampling

K, SHARED = 5, 0.6
CHANCE = np.array([0.1, 0.5])
EXTRA_ROWS = np.array([3.0, 6.0])
SHARE = np.array([0.7, 0.3])
PAIRS = list(itertools.combinations(range(K), 2))
METHODS = ("percentile", "basic", "bca", "studentized")
OUT = Path(__file__).resolve().parents[1] / "docs" / "resampling.md"


def truth() -> dict[str, float]:
    """Mean difficulty of a task; P(both wrong) / P(one wrong); effective votes."""
    weight = SHARE * (1 + EXTRA_ROWS)
    weight = weight / weight.sum()
    wrong = float(weight @ CHANCE)
    both = float(weight @ (CHANCE**2 + SHARED**2 * CHANCE * (1 - CHANCE)))
    phi = (both - wrong**2) / (wrong * (1 - wrong))
    return {
        "mean": float(SHARE @ CHANCE),
        "ratio": both / wrong,
        "n_eff": K / (1 + (K - 1) * phi),
    }


def panel(n_tasks: int, rng: np.random.Generator) -> dict[object, np.ndarray]:
    """Moments of each task of one simulated panel."""
    hard = (rng.random(n_tasks) < SHARE[1]).astype(int)
    rows = 1 + rng.poisson(EXTRA_ROWS[hard])
    tasks = np.repeat(np.arange(n_tasks), rows)
    chance = CHANCE[hard][tasks]
    own = rng.random((tasks.size, K)) < chance[:, None]
    shared = rng.random(tasks.size) < chance
    errors = np.where(rng.random((tasks.size, K)) < SHARED, shared[:, None], own)

    def by_task(column: np.ndarray) -> np.ndarray:
        return np.bincount(tasks, column, minlength=n_tasks)

    data: dict[object, np.ndarray] = {"n": rows, "first": rng.binomial(20, CHANCE[hard]) / 20}
    data |= {j: by_task(errors[:, j]) for j in range(K)}
    data |= {pair: by_task(errors[:, pair[0]] & errors[:, pair[1]]) for pair in PAIRS}
    return data


def statistics_of() -> dict[str, resampling.Statistic]:
    return {
        "mean": resampling.Mean("first"),
        "ratio": resampling.Ratio(PAIRS[0], 1),
        "n_eff": resampling.EffectiveVotes("n", list(range(K)), PAIRS),
    }


def coverage(
    n_tasks: int, method: str, *, n_panels: int = 2000, n_resamples: int = 2000, seed: int = 0
) -> dict[str, float]:
    """Share of panels whose 95 % interval holds the true value."""
    true = truth()
    statistics = statistics_of()
    if method == "studentized":
        del statistics["n_eff"]
    hits = dict.fromkeys(statistics, 0)
    rng = np.random.default_rng([seed, n_tasks])
    for number in range(n_panels):
        data = panel(n_tasks, rng)
        found = resampling.bootstrap(
            statistics, data, n_resamples=n_resamples, method=method, rng=number
        )
        for name, result in found.items():
            hits[name] += bool(result.low <= true[name] <= result.high)
    return {name: count / n_panels for name, count in hits.items()}


def main() -> None:
    n_panels = 2000
    lines = [
        "# How far to trust the intervals",
        "",
        "Written by `python bench/resampling_coverage.py`; do not edit.",
        "",
        f"Share of {n_panels:,} simulated panels whose 95 % interval (2,000 resamples) holds the",
        "true value. The Monte Carlo error of an entry is 0.5 points. The simulation is described",
        "at the head of the program: tasks of unequal size and difficulty, five judges whose",
        "errors are correlated. `mean` is over tasks, `ratio` is P(both wrong) / P(one wrong),",
        "`n_eff` the effective number of votes.",
        "",
        "| tasks | method | mean | ratio | n_eff |",
        "|---|---|---|---|---|",
    ]
    for n_tasks in (20, 60, 463):
        for method in METHODS:
            found = coverage(n_tasks, method, n_panels=n_panels)
            cells = [f"{100 * found[name]:.1f} %" if name in found else "-" for name in truth()]
            lines.append(f"| {n_tasks} | {method} | " + " | ".join(cells) + " |")
            print(lines[-1], flush=True)
    where = ", ".join(f"{key} {value}" for key, value in machine().items())
    lines += ["", f"Measured on: {where}.", ""]
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
