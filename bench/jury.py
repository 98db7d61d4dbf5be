"""Jury: consensus against pandas, SciPy and NumPy; the law against loops; the fit against NumPy.

    python bench/jury.py

Peers do what they are able to: pandas groupby-mode and scipy.stats.mode give the modal class
and no tie, count or agreement. Peers that would take minutes are timed on a part and scaled,
which favours them where their cost grows faster than the rows.
"""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
from scipy import special, stats
from timing import Row, Timing, compare, interleave, print_rows

from ropoll_core import ConsensusLaw, consensus

ROWS, JUDGES, CLASSES = 2_000_000, 5, 10
PART = 20_000  # rows given to pandas' groupby-mode


def answers(rows: int = ROWS) -> np.ndarray:
    """Codes of judges that mostly agree."""
    rng = np.random.default_rng(0)
    table = rng.integers(0, CLASSES, (rows, JUDGES))
    agree = rng.random((rows, JUDGES)) < 0.6
    return np.where(agree, table[:, :1], table)


def pandas_mode(table: np.ndarray) -> pd.Series:
    """The usual line: long form, grouped by query, the first mode."""
    rows, judges = table.shape
    long = pd.DataFrame({"query": np.repeat(np.arange(rows), judges), "answer": table.ravel()})
    return long.groupby("query")["answer"].agg(lambda x: x.mode().iat[0])


def pandas_counts(table: np.ndarray) -> pd.DataFrame:
    """The fast way in pandas: size by (query, answer), sorted, the first of each query."""
    rows, judges = table.shape
    long = pd.DataFrame({"query": np.repeat(np.arange(rows), judges), "answer": table.ravel()})
    sizes = long.groupby(["query", "answer"], sort=False).size().reset_index(name="n")
    return sizes.sort_values(["query", "n"], ascending=[True, False]).drop_duplicates("query")


def numpy_bincount(table: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Modal class, count and ties from a dense table of counts."""
    rows, judges = table.shape
    flat = np.repeat(np.arange(rows), judges) * CLASSES + table.ravel()
    counts = np.bincount(flat, minlength=rows * CLASSES).reshape(rows, CLASSES)
    best = counts.max(axis=1)
    return counts.argmax(axis=1), best, (counts == best[:, None]).sum(axis=1) > 1


def numpy_pairs(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Modal class and count by comparing every two judges."""
    same = (table[:, :, None] == table[:, None, :]).sum(axis=2)
    at = same.argmax(axis=1)
    rows = np.arange(len(table))
    return table[rows, at], same[rows, at]


def law_by_loops(a: float, rho: float, masses: np.ndarray, n: int) -> float:
    """Accuracy with ties to the correct class: every composition of the wrong members."""
    k = 1 / rho - 1
    total = 0.0
    alone = 1 - masses.sum()
    for c in range(1, n + 1):
        w = n - c
        pmf = special.comb(n, c) * np.exp(
            special.betaln(c + a * k, w + (1 - a) * k) - special.betaln(a * k, (1 - a) * k)
        )
        inside = 0.0
        for sizes in itertools.product(range(min(c, w) + 1), repeat=len(masses)):
            u = w - sum(sizes)
            if u < 0:
                continue
            ways = special.gammaln(w + 1) - special.gammaln(u + 1)
            ways -= special.gammaln(np.array(sizes) + 1).sum()
            inside += np.exp(ways) * alone**u * np.prod(masses ** np.array(sizes))
        total += pmf * inside
    return total


def law_by_simulation(a: np.ndarray, rho: np.ndarray, masses: np.ndarray, n: int) -> np.ndarray:
    """What one does without a closed form: 10,000 simulated panels for each parameter set."""
    rng = np.random.default_rng(0)
    out = np.empty(len(a))
    for i in range(len(a)):
        k = 1 / rho[i] - 1
        p = rng.beta(a[i] * k, (1 - a[i]) * k, 10_000)
        right = rng.random((10_000, n)) < p[:, None]
        slot = np.searchsorted(np.cumsum(masses[i]), rng.random((10_000, n)))
        wrong = [((slot == j) & ~right).sum(axis=1) for j in range(masses.shape[1])]
        most = np.maximum(np.max(wrong, axis=0), 1)
        out[i] = ((right.sum(axis=1) >= most) & right.any(axis=1)).mean()
    return out


def law_parameters(sets: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    masses = rng.dirichlet(np.ones(7), sets)[:, :6]
    return rng.uniform(0.05, 0.95, sets), rng.uniform(0.05, 0.95, sets), masses


def fit_by_numpy(table: np.ndarray, gold: np.ndarray, resamples: int) -> np.ndarray:
    """a, rho and the profile of each resample of the queries; no law, nothing measured."""
    rng = np.random.default_rng(0)
    errors = (table != gold[:, None]).astype(np.float64)
    wrong = np.where(errors > 0, table, -1)
    sizes = np.stack([(wrong == c).sum(axis=1) for c in range(table.max() + 1)], axis=1)
    slots = np.sort(sizes, axis=1)[:, ::-1][:, :6]
    pairs = np.triu_indices(table.shape[1], 1)
    out = []
    for _ in range(resamples):
        at = rng.integers(0, len(gold), len(gold))
        e = errors[at]
        rho = np.corrcoef(e.T)[pairs].mean()
        out.append([1 - e.mean(), rho, *(slots[at].sum(axis=0) / e.sum())])
    return np.array(out)


def fit_data(rows: int = 10_342, judges: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """As many answers as MMLU-Pro has, with its accuracy and correlation."""
    codes = ConsensusLaw(0.58, 0.42, (0.5, 0.2, 0.1)).simulate(judges, rows, rng=2)
    return codes.astype(np.int64), np.zeros(rows, dtype=np.int64)


def measure_consensus() -> list[Row]:
    codes = answers()
    letters = np.array(list("ABCDEFGHIJ"))[codes]
    objects = letters.astype(object)
    case = f"{ROWS:,} x {JUDGES}"
    timings = interleave(
        {
            "ours": lambda: consensus(codes),
            "pandas groupby-mode": lambda: pandas_mode(codes[:PART]),
            "pandas size, sort, first": lambda: pandas_counts(codes[: ROWS // 10]),
            "scipy.stats.mode": lambda: stats.mode(codes[: ROWS // 10], axis=1),
            "NumPy bincount": lambda: numpy_bincount(codes),
            "NumPy all pairs": lambda: numpy_pairs(codes),
        },
        rounds=5,
    )
    rows = compare(
        "consensus", f"int64, {case}", timings, "ours",
        targets={"pandas groupby-mode": 20.0},
        scale={"pandas groupby-mode": ROWS / PART, "pandas size, sort, first": 10.0,
               "scipy.stats.mode": 10.0},
    )  # fmt: skip
    for name, table in (("text", letters), ("objects", objects)):
        timings = interleave(
            {
                "ours": lambda table=table: consensus(table),
                "pandas groupby-mode": lambda table=table: pandas_mode(table[:PART]),
            },
            rounds=5,
        )
        rows += compare(
            "consensus", f"{name}, {case}", timings, "ours",
            targets={"pandas groupby-mode": 20.0}, scale={"pandas groupby-mode": ROWS / PART},
        )  # fmt: skip
    return rows


def with_a_second(timings: dict[str, Timing]) -> dict[str, Timing]:
    """A peer that takes a second, to state an absolute target as a ratio."""
    return timings | {"a second": Timing((1.0,) * len(timings["ours"].rounds))}


def measure_law() -> list[Row]:
    sets, part = 100_000, 20
    a, rho, masses = law_parameters(sets)
    law = ConsensusLaw(a, rho, masses)
    some = (a[:part], rho[:part], masses[:part])
    loops = [law_by_loops(*one, 4) for one in zip(*some, strict=True)]
    np.testing.assert_allclose(law.accuracy(4)[:part], loops, rtol=1e-10)
    timings = interleave(
        {
            "ours": lambda: law.accuracy(4),
            "loops over compositions": lambda: [
                law_by_loops(*one, 4) for one in zip(*some, strict=True)
            ],
            "10,000 simulated panels": lambda: law_by_simulation(*some, 4),
        },
        rounds=5,
    )
    scale = {"loops over compositions": sets / part, "10,000 simulated panels": sets / part}
    return compare(
        "law", "100,000 sets, n = 4, 6 attractors", with_a_second(timings), "ours",
        targets={"a second": 1.0}, scale=scale,
    )  # fmt: skip


def measure_fit() -> list[Row]:
    table, gold = fit_data()
    timings = interleave(
        {
            "ours": lambda: ConsensusLaw.fit(table, gold, rng=1),
            "NumPy, inputs only": lambda: fit_by_numpy(table, gold, 50),
        },
        rounds=5,
    )
    return compare(
        "fit, 10,000 resamples", "10,342 x 6", with_a_second(timings), "ours",
        targets={"a second": 1.0}, scale={"NumPy, inputs only": 10_000 / 50},
    )  # fmt: skip


def measure() -> list[Row]:
    return measure_consensus() + measure_law() + measure_fit()


if __name__ == "__main__":
    print_rows(measure())
