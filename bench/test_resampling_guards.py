"""The bootstrap must not get slow: ratios against NumPy twins in the same process.

Bounds leave room for noise: about half of what `python bench/resampling.py` measures.
"""

import numpy as np
import resampling as bench
from timing import interleave

from ropoll_core import resampling


def ratio(ours, peer, *, rounds=5):
    timings = interleave({"ours": ours, "peer": peer}, rounds=rounds)
    return timings["peer"].best / timings["ours"].best


def test_three_statistics_of_463_tasks():
    moments = bench.panel()
    statistics = bench.statistics_of(moments)
    peer = bench.peer_calls(moments)["NumPy multinomial @"]
    ours = lambda: resampling.bootstrap(statistics, moments.data, rng=0)  # noqa: E731
    assert ratio(ours, peer) > 25


def test_bca_costs_little_more_than_percentile():
    moments = bench.panel()
    statistics = bench.statistics_of(moments)

    def run(method):
        return lambda: resampling.bootstrap(statistics, moments.data, rng=0, method=method)

    assert ratio(run("bca"), run("percentile")) > 0.5


def test_many_tasks_with_distinct_rows():
    table = np.random.default_rng(0).integers(0, 8, (200_000, 42))
    floats = table.astype(float)
    statistic = resampling.Ratio(1, 0)
    whole = resampling.OfTotals(lambda totals: totals[1:] / totals[0])
    rng = np.random.default_rng(0)
    n_resamples = 512  # enough that packing the rows, once a call, is not what is timed

    def peer():
        for _ in range(8):
            drawn = rng.integers(0, len(table), len(table))
            _ = np.bincount(drawn, minlength=len(table)).astype(float) @ floats

    ours = lambda: resampling.bootstrap([statistic, whole], table, n_resamples=n_resamples, rng=0)  # noqa: E731
    assert n_resamples / 8 * ratio(ours, peer, rounds=3) > 14


def test_repeated_rows_are_drawn_by_type():
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 8, (49, 42))
    table = kinds[rng.integers(0, 49, 200_000)]
    distinct = rng.integers(0, 8, (200_000, 42))
    whole = resampling.OfTotals(lambda totals: totals[1:] / totals[0])

    def run(rows):
        return lambda: resampling.bootstrap(whole, rows, n_resamples=1024, rng=0)

    assert ratio(run(table), run(distinct), rounds=3) > 2


def test_all_sub_panels_of_nine_judges_in_seconds():
    assert bench.sweep_seconds() < 10
