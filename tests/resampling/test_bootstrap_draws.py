"""Draws and totals of resamples: plain twins, laws, and bits that depend on nothing else."""

import threading

import numpy as np
import pytest
from reference import resampling as reference
from scipy import stats

from ropoll_core import default_workers
from ropoll_core._rng import as_key
from ropoll_core.resampling import (
    Mean,
    OfTotals,
    bootstrap,
)
from ropoll_core.resampling._tasks import Draws

METHODS = ["percentile", "basic", "bca"]


def drawn(key, r, n_tasks):
    draws, out = Draws(n_tasks), np.empty(n_tasks, dtype=np.int64)
    draws.draw(key, r, draws.scratch(), out)
    return out


@pytest.mark.parametrize("n_tasks", [1, 2, 3, 60, 127, 128, 129, 463, 1000, 1997, 8129, 8191])
def test_draws_equal_the_plain_twin(n_tasks):
    # 8129 tasks: many rejected pairs, spares from groups beyond the last draw. 1997: an odd number.
    for r in (0, 5) if n_tasks > 2000 else (0, 1, 2, 9999, 2**39):
        assert drawn(as_key(3), r, n_tasks).tolist() == reference.draws(as_key(3), r, n_tasks)


@pytest.mark.parametrize("n_tasks", [8192, 8193, 20_000, 70_001])
def test_draws_of_many_tasks_equal_the_plain_twin(n_tasks):
    found = drawn(as_key(3), 7, n_tasks)
    assert found.tolist() == reference.draws(as_key(3), 7, n_tasks)
    assert found.min() >= 0
    assert found.max() < n_tasks


def test_draws_of_many_tasks_are_multinomial():
    n_tasks, n = 8200, 400
    counts = np.zeros((n, n_tasks), dtype=int)
    for r in range(n):
        counts[r] = np.bincount(drawn(as_key(5), r, n_tasks), minlength=n_tasks)
    assert (counts.sum(axis=1) == n_tasks).all()
    # Each count is Binomial(T, 1/T), and sums over blocks vary as multinomial sums do.
    times = np.bincount(counts.ravel(), minlength=8)[:8]
    expected = stats.binom.pmf(np.arange(8), n_tasks, 1 / n_tasks) * counts.size
    assert (
        stats.chisquare(times[:6], expected[:6] * times[:6].sum() / expected[:6].sum()).pvalue
        > 1e-3
    )
    for size in (100, 512, 3000):
        totals = counts[:, :size].sum(axis=1)
        p = size / n_tasks
        z = (totals - n_tasks * p) / np.sqrt(n_tasks * p * (1 - p))
        assert stats.kstest(z, "norm").pvalue > 1e-3


def test_draws_are_uniform_and_independent():
    n_tasks, n = 7, 20_000
    counts = np.zeros((n_tasks, n_tasks), dtype=int)
    for r in range(n):
        counts[np.arange(n_tasks), drawn(as_key(11), r, n_tasks)] += 1
    assert stats.chisquare(counts.ravel()).pvalue > 1e-3
    assert stats.chi2_contingency(counts).pvalue > 1e-3


@pytest.mark.parametrize("scale", [1, 400, 10**6, 3 * 10**9, 0.37])
@pytest.mark.parametrize(("n_tasks", "n_moments"), [(5, 1), (463, 42), (97, 300), (300, 33)])
def test_totals_equal_the_plain_twin(simd_variant, scale, n_tasks, n_moments):
    rng = np.random.default_rng(n_moments)
    moments = rng.integers(-9, 10, (n_tasks, n_moments)) * scale
    found = bootstrap(OfTotals(lambda t: t.copy()), moments, n_resamples=21, rng=4)
    expected = reference.replicate_totals(as_key(4), moments, 21)
    if isinstance(scale, int):
        np.testing.assert_array_equal(found.replicates, expected)
    else:
        np.testing.assert_allclose(found.replicates, expected, rtol=0, atol=1e-11)
    np.testing.assert_allclose(found.estimate, moments.sum(axis=0), rtol=0, atol=1e-11)


@pytest.mark.parametrize("offset", [0, -20, 10**9, -(2**40)])
@pytest.mark.parametrize("spread", [0, 1, 63, 64, 255])
@pytest.mark.parametrize("n_moments", [1, 42, 70])
def test_totals_of_narrow_moments_equal_the_plain_twin(simd_variant, offset, spread, n_moments):
    # 2,003 draws: more than 16 bits hold of 63, and no multiple of the rows added at a time.
    moments = np.random.default_rng(2).choice([0, spread], (2003, n_moments)) + offset
    moments[:, 0] = spread + offset
    found = bootstrap(OfTotals(lambda t: t.copy()), moments, n_resamples=3, rng=4)
    for r in range(3):
        chosen = moments[drawn(as_key(4), r, 2003)]
        np.testing.assert_array_equal(found.replicates[:, r], chosen.sum(axis=0))


@pytest.mark.parametrize("largest", [9, 100])
@pytest.mark.parametrize("n_moments", [3, 300])
def test_totals_of_many_tasks_equal_the_plain_twin(simd_variant, n_moments, largest):
    moments = np.random.default_rng(1).integers(-5, largest, (20_000, n_moments))
    found = bootstrap(OfTotals(lambda t: t.copy()), moments, n_resamples=40, rng=4).replicates
    for r in (0, 31, 32, 39):
        chosen = moments[drawn(as_key(4), r, 20_000)]
        np.testing.assert_array_equal(found[:, r], chosen.sum(axis=0))


def test_types_of_tasks_are_drawn_by_their_multinomial():
    rng = np.random.default_rng(1)
    kinds = np.array([[3, 1, -2], [0, 0, 0], [3, 1, 4], [0, 5, 0]])
    which = rng.choice(4, 9000, p=[0.5, 0.001, 0.2, 0.299])
    found = bootstrap(OfTotals(lambda t: t.copy()), kinds[which], n_resamples=40, rng=4)
    ordered = np.array(sorted(kinds.tolist()))
    sizes = [int((kinds[which] == row).all(axis=1).sum()) for row in ordered]
    for r in range(40):
        counts = reference.type_counts(as_key(4), r, sizes)
        assert sum(counts) == 9000
        np.testing.assert_array_equal(found.replicates[:, r], counts @ ordered)
    # The order of the tasks does not matter, and functions of rows share the draws if asked.
    again = bootstrap(
        OfTotals(lambda t: t.copy()), kinds[rng.permutation(which)], n_resamples=40, rng=4
    )
    np.testing.assert_array_equal(again.replicates, found.replicates)
    by_totals, by_rows = bootstrap(
        [Mean(0), lambda rows: rows[:, 0].mean()], kinds[which], n_resamples=5, rng=4
    )
    np.testing.assert_array_equal(by_totals.replicates, by_rows.replicates)


@pytest.mark.parametrize("method", METHODS)
def test_types_and_single_tasks_give_the_same_intervals(method):
    values = np.random.default_rng(3).poisson(1.0, 9000)
    types = bootstrap(Mean(0), values, method=method, rng=1, n_resamples=4000)
    distinct = values + np.linspace(0, 1e-9, 9000)
    single = bootstrap(Mean(0), distinct, method=method, rng=2, n_resamples=4000)
    assert types.low == pytest.approx(single.low, abs=0.0025)
    assert types.high == pytest.approx(single.high, abs=0.0025)
    assert types.standard_error == pytest.approx(values.std() / 9000**0.5, rel=0.05)
    assert stats.ks_2samp(types.replicates, single.replicates).pvalue > 1e-3


def test_bits_do_not_depend_on_variant_workers_or_state(simd_variant):
    values = np.array([0.1, 0.5, 0.2, 0.9, 0.4, 0.7, 0.3])
    # Fixed values: a change here is a change of every published interval.
    first = bootstrap(Mean(0), values, rng=12345, n_resamples=3000)
    expected = [values[reference.draws(as_key(12345), r, 7)].sum() / 7 for r in range(3)]
    np.testing.assert_allclose(first.replicates[:3], expected, rtol=1e-15)
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    for workers in (1, 2, 4, -1):
        again = bootstrap(Mean(0), values, rng=12345, n_resamples=3000, workers=workers)
        np.testing.assert_array_equal(again.replicates, first.replicates)
    with default_workers(3):
        again = bootstrap(Mean(0), values, rng=12345, n_resamples=1234)
    np.testing.assert_array_equal(again.replicates, first.replicates[:1234])
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    other = bootstrap(Mean(0), values, rng=12346, n_resamples=3000)
    assert (other.replicates != first.replicates).mean() > 0.5


def test_two_threads_at_once():
    values = np.arange(50) % 7
    expected = bootstrap(Mean(0), values, rng=1).replicates
    found = [None] * 4

    def work(i):
        found[i] = bootstrap(Mean(0), values, rng=1, workers=1 + i % 2).replicates

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for replicates in found:
        np.testing.assert_array_equal(replicates, expected)


def test_generator_and_seed_sequence():
    values = np.arange(9)
    sequence = np.random.SeedSequence(5)
    np.testing.assert_array_equal(
        bootstrap(Mean(0), values, rng=sequence).replicates,
        bootstrap(Mean(0), values, rng=5).replicates,
    )
    generator = np.random.default_rng(5)
    first = bootstrap(Mean(0), values, rng=generator).replicates
    second = bootstrap(Mean(0), values, rng=generator).replicates
    assert (first != second).any()
