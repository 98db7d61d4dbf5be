"""The bootstrap of functions of moment totals: draws, totals, intervals, policies."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from reference import resampling as reference
from scipy import stats

from ropoll_core import default_workers
from ropoll_core._rng import as_key
from ropoll_core.resampling import (
    BootstrapStatus,
    EffectiveVotes,
    Mean,
    OfTotals,
    Ratio,
    bootstrap,
)
from ropoll_core.resampling._intervals import acceleration, sorted_quantile
from ropoll_core.resampling._tasks import Draws

METHODS = ["percentile", "basic", "bca"]


def panel(n_tasks, n_rows, k, seed, error=0.3):
    """Errors (n_rows, k) that share a task effect, and the task of each row."""
    rng = np.random.default_rng(seed)
    tasks = rng.integers(0, n_tasks, n_rows)
    tasks[:n_tasks] = np.arange(n_tasks)
    hard = rng.random(n_tasks) < 0.3
    chance = np.where(hard[tasks], 0.6, error)[:, None]
    return (rng.random((n_rows, k)) < chance).astype(np.int64), tasks


# Draws and totals


def drawn(key, r, n_tasks):
    draws, out = Draws(n_tasks), np.empty(n_tasks, dtype=np.int64)
    draws.draw(key, r, draws.scratch(), out)
    return out


@pytest.mark.parametrize("n_tasks", [1, 2, 3, 60, 127, 128, 129, 463, 1000, 5461, 8191])
def test_draws_equal_the_plain_twin(n_tasks):
    # 5461 and 8191 tasks: many rejected words, spares from groups beyond the last draw.
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


@pytest.mark.parametrize("n_moments", [2, 300])
def test_totals_of_many_tasks_equal_the_plain_twin(simd_variant, n_moments):
    moments = np.random.default_rng(1).integers(-5, 100, (20_000, n_moments))
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


# Statistics


def test_statistics_equal_formulas_on_the_drawn_rows(simd_variant):
    errors, tasks = panel(12, 90, 4, seed=1)
    columns, names = reference.error_moments(errors)
    columns["hit"] = 1 - errors[:, 0]
    neff = EffectiveVotes(*names)
    statistic = {
        "neff": neff,
        "mean": Mean("e1"),
        "ratio": Ratio("e0,1", "e1"),
        "difference": Mean("e1") - Ratio("hit", "n") / 2,
        "both": neff * 2.0 + 1 - Mean("e1"),
        "several": Ratio(["e0", "e1"], "n"),
        "root": Mean("e2").sqrt(),
    }
    found = bootstrap(statistic, columns, tasks=tasks, n_resamples=40, rng=9)
    for r in range(40):
        drawn = reference.draws(as_key(9), r, 12)
        rows = np.concatenate([np.flatnonzero(tasks == task) for task in drawn])
        e = errors[rows]
        expected = {
            "neff": reference.effective_votes(e),
            "mean": e[:, 1].mean(),
            "ratio": (e[:, 0] * e[:, 1]).sum() / e[:, 1].sum(),
            "difference": e[:, 1].mean() - (1 - e[:, 0]).mean() / 2,
            "both": reference.effective_votes(e) * 2 + 1 - e[:, 1].mean(),
            "several": e[:, :2].mean(axis=0),
            "root": np.sqrt(e[:, 2].mean()),
        }
        for name, value in expected.items():
            np.testing.assert_allclose(found[name].replicates[..., r], value, rtol=1e-12)
    np.testing.assert_allclose(found["neff"].estimate, reference.effective_votes(errors))


def test_panels_share_their_correlations():
    errors, tasks = panel(30, 200, 6, seed=2)
    columns, names = reference.error_moments(errors)
    panels = [[0, 1, 2], [5, 1, 3, 4], [2, 3], range(6)]
    found = bootstrap(EffectiveVotes(*names, panels=panels), columns, tasks=tasks, rng=1)
    assert found.estimate.shape == (4,)
    for i, members in enumerate(panels):
        np.testing.assert_allclose(
            found.estimate[i], reference.effective_votes(errors[:, list(members)])
        )
    base = EffectiveVotes(*names, panels=panels)
    change = bootstrap(base[1:3].mean() - base[0], columns, tasks=tasks, rng=1)
    np.testing.assert_array_equal(
        change.replicates,
        (found.replicates[1] + found.replicates[2]) / 2 - found.replicates[0],
    )


def test_effective_votes_leaves_out_judges_without_variance():
    errors = np.array([[0, 1, 0, 1], [0, 1, 1, 1], [0, 0, 0, 1], [0, 0, 1, 1]])
    columns, names = reference.error_moments(errors)
    found = bootstrap(EffectiveVotes(*names), columns, n_resamples=500, rng=2)
    assert found.estimate == pytest.approx(2.0)  # judges 1 and 2 only, phi = 0
    # One judge left is worth one vote, none left is undefined.
    for r in range(200):
        value = reference.effective_votes(errors[reference.draws(as_key(2), r, 4)])
        np.testing.assert_allclose(found.replicates[r], value, rtol=1e-12)
    assert found.n_undefined == np.isnan(found.replicates).sum() > 0


def test_effective_votes_with_missing_ballots():
    # Pairwise complete: each pair has its own n, E_i, E_j, E_ij.
    rng = np.random.default_rng(0)
    errors = rng.integers(0, 2, (80, 3)).astype(float)
    errors[rng.random((80, 3)) < 0.2] = np.nan
    columns, n, sides, both, phi = {}, [], [], [], []
    for i, j in [(0, 1), (0, 2), (1, 2)]:
        ok = ~np.isnan(errors[:, i]) & ~np.isnan(errors[:, j])
        a, b = np.where(ok, errors[:, i], 0), np.where(ok, errors[:, j], 0)
        tag = f"{i}{j}"
        columns |= {f"n{tag}": ok, f"i{tag}": a, f"j{tag}": b, f"b{tag}": a * b}
        n.append(f"n{tag}")
        sides.append((f"i{tag}", f"j{tag}"))
        both.append(f"b{tag}")
        phi.append(np.corrcoef(errors[ok][:, i], errors[ok][:, j])[0, 1])
    found = bootstrap(EffectiveVotes(n, sides, both), columns, n_resamples=10, rng=1)
    assert found.estimate == pytest.approx(3 / (1 + 2 * np.mean(phi)))


def test_infinite_effective_votes_are_not_clamped():
    # Two judges who are never wrong together and always one of them is: phi = -1 = -1/(k - 1).
    errors = np.array([[0, 1], [1, 0], [0, 1], [1, 0]])
    columns, names = reference.error_moments(errors)
    found = bootstrap(EffectiveVotes(*names), columns, rng=2)
    assert found.estimate == np.inf
    assert found.high == np.inf


def test_one_form_in_one_form_out():
    data = np.arange(12).reshape(6, 2)
    single = bootstrap(Mean(1), data, rng=1)
    listed = bootstrap([Mean(1), Mean(0)], data, rng=1)
    named = bootstrap({"a": Mean(1)}, {0: data[:, 0], 1: data[:, 1]}, rng=1)
    assert isinstance(listed, list)
    for found in (listed[0], named["a"]):
        np.testing.assert_array_equal(found.replicates, single.replicates)
        assert (found.low, found.high) == (single.low, single.high)


# Intervals


def test_quantile_equals_numpy():
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 10, 999, 10_000):
        values = np.sort(rng.normal(size=n))
        for level in (0.0, 0.025, 0.31, 0.5, 0.975, 1.0):
            assert sorted_quantile(values, level) == pytest.approx(
                np.quantile(values, level), rel=1e-14
            )


def test_acceleration_is_centred_on_the_jackknife_mean():
    values = np.array([0.4, 0.46, 0.48, 0.5, 0.52, 0.7])
    assert acceleration(values) == pytest.approx(-0.07599996110940485, abs=1e-12)
    assert acceleration(values * 1e-200) == pytest.approx(-0.07599996110940485, abs=1e-12)
    assert acceleration(np.full(6, 3.0)) == 0.0


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("seed", range(6))
def test_bca_equals_scipys_formula_on_the_same_replicates(seed, level):
    rng = np.random.default_rng(seed)
    x = rng.exponential(size=37) if seed % 2 else rng.integers(0, 9, 37)
    y = rng.integers(1, 5, 37)
    found = bootstrap(
        Ratio(0, 1), np.stack([x, y], axis=1), method="bca", confidence_level=level, rng=seed
    )

    def ratio(a, b, axis=-1):
        return a.sum(axis=axis) / b.sum(axis=axis)

    theta = found.replicates
    share = ((theta < found.estimate).sum() + (theta <= found.estimate).sum()) / (2 * theta.size)
    z0 = stats.norm.ppf(share)
    left_out = np.array([ratio(np.delete(x, i), np.delete(y, i)) for i in range(37)])
    u = 36 * (left_out.mean() - left_out)
    a = (u**3).sum() / 37**3 / (6 * ((u**2).sum() / 37**2) ** 1.5)
    z = stats.norm.ppf([(1 - level) / 2, (1 + level) / 2])
    levels = stats.norm.cdf(z0 + (z0 + z) / (1 - a * (z0 + z)))
    np.testing.assert_allclose([found.low, found.high], np.quantile(theta, levels), rtol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_intervals_agree_with_scipy(method):
    values = np.arange(40)
    found = bootstrap(Mean(0), values, method=method, rng=1, n_resamples=40_000)
    peer = stats.bootstrap(
        (values,), np.mean, method=method, n_resamples=40_000, rng=np.random.default_rng(1)
    ).confidence_interval
    assert found.estimate == 19.5
    assert found.low == pytest.approx(peer.low, abs=0.15)
    assert found.high == pytest.approx(peer.high, abs=0.15)
    assert found.standard_error == pytest.approx(1.825171, rel=0.02)
    assert found.low < 19.5 < found.high


def test_basic_mirrors_percentile():
    values = np.random.default_rng(0).exponential(size=30)
    percentile = bootstrap(Mean(0), values, rng=1)
    basic = bootstrap(Mean(0), values, rng=1, method="basic")
    assert basic.low == 2 * basic.estimate - percentile.high
    assert basic.high == 2 * basic.estimate - percentile.low


def test_one_sided_p():
    gain = np.array([1, -1, 0, 0, 1, 0, 0, 1])
    found = bootstrap(Mean(0), gain, rng=1)
    assert found.p_not_positive == (found.replicates <= 0).mean()
    assert 0 < found.p_not_positive < 0.5


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "values", [[0, 0, 0, 0, 0, 0], [2.5, 2.5, 2.5, 2.5], [1e-300] * 3, [0.1] * 7]
)
def test_constant_data(method, values):
    found = bootstrap(Mean(0), np.array(values), method=method, rng=1)
    np.testing.assert_allclose([found.low, found.high], values[:2], rtol=1e-12)
    assert found.low == found.high == found.estimate
    assert found.status is BootstrapStatus.DEGENERATE
    assert found.standard_error == 0


def test_bca_without_jackknife_variance():
    # A median of six: leaving any one out gives 3.
    values = np.array([1, 2, 3, 3, 4, 9])
    indicators = (values[:, None] == np.unique(values)).astype(int)

    def median(totals):
        cumulative = np.cumsum(totals, axis=0)
        n, levels = cumulative[-1], np.unique(values)
        lower = levels[(cumulative >= np.floor((n + 1) / 2)).argmax(axis=0)]
        upper = levels[(cumulative >= np.floor(n / 2 + 1)).argmax(axis=0)]
        return (lower + upper) / 2

    found = bootstrap(OfTotals(median), indicators, method="bca", confidence_level=0.9, rng=1)
    assert found.estimate == 3.0
    assert np.isfinite([found.low, found.high]).all()
    assert found.low < 3.0 < found.high
    assert found.status is BootstrapStatus.OK


def test_infinite_bias_correction_falls_back_to_percentile():
    # Below every resample: a task left out or drawn twice always raises this statistic.
    powers = 2 ** np.arange(12)
    lowest = OfTotals(lambda t: np.where(t[0] == 4095, 0.0, t[0]))
    found = bootstrap(lowest, powers, method="bca", n_resamples=50, rng=3)
    assert found.estimate == 0.0
    assert found.replicates.min() > 0
    assert found.status is BootstrapStatus.PERCENTILE
    percentile = bootstrap(lowest, powers, n_resamples=50, rng=3)
    assert (found.low, found.high) == (percentile.low, percentile.high)


def test_one_task_has_no_interval():
    found = bootstrap(Mean(0), np.array([1, 0, 1]), tasks=["t0"] * 3, rng=1, method="bca")
    assert found.estimate == pytest.approx(2 / 3)
    assert np.isnan([found.low, found.high]).all()
    assert found.status is BootstrapStatus.ONE_TASK
    assert found.n_tasks == 1


@pytest.mark.parametrize("method", METHODS)
def test_two_tasks_are_flagged(method):
    found = bootstrap(Mean(0), np.array([1, 0]), tasks=["t0", "t1"], rng=1, method=method)
    assert found.status is BootstrapStatus.TWO_TASKS
    values, counts = np.unique(found.replicates, return_counts=True)
    assert values.tolist() == [0, 0.5, 1]
    assert stats.chisquare(counts, np.array([0.25, 0.5, 0.25]) * 10_000).pvalue > 1e-3


def test_undefined_resamples_are_counted_and_left_out():
    data = np.array([[1, 1], [0, 0], [0, 0], [0, 1]])
    found = bootstrap(Ratio(0, 1), data, rng=1)
    undefined = np.isnan(found.replicates)
    assert found.n_undefined == undefined.sum()
    assert found.n_undefined / 10_000 == pytest.approx(0.5**4, abs=0.01)
    assert found.low == np.quantile(found.replicates[~undefined], 0.025)
    nothing = bootstrap(Ratio(0, 1), np.zeros((4, 2), dtype=int), rng=1)
    assert nothing.status is BootstrapStatus.UNDEFINED
    assert nothing.n_undefined == 10_000
    assert np.isnan([nothing.estimate, nothing.low, nothing.high, nothing.standard_error]).all()


# Tasks


def test_repeated_draws_of_a_task_count():
    means = np.array([0.1, 0.4, 0.4, 0.7, 0.9, 0.2, 0.5, 0.8])
    found = bootstrap(Mean(0), np.repeat(means, 5), tasks=np.repeat(np.arange(8), 5), rng=1)
    assert found.standard_error == pytest.approx(0.09354143466934854, rel=0.03)


def test_rows_of_a_task_are_not_independent():
    means = np.array([0, 0, 1, 1, 1, 0.5])
    found = bootstrap(Mean(0), np.repeat(means, 10), tasks=np.repeat(np.arange(6), 10), rng=1)
    assert found.standard_error == pytest.approx(0.183207027198235, rel=0.03)


def test_order_of_rows_and_kind_of_keys():
    import pandas as pd

    keys = ["t2", "t0", "t10", "t2", "t0", "t10", "t2", "t0", "t10"]
    values = np.array([1, 0, 1, 1, 1, 0, 0, 0, 1])
    first = bootstrap(Mean(0), values, tasks=keys, rng=1)
    assert first.n_tasks == 3
    assert first.estimate == pytest.approx(5 / 9)
    assert first.standard_error == pytest.approx(0.09072184232530289, rel=0.03)
    order = np.argsort(keys, kind="stable")
    variants = {
        "sorted": (np.array(keys)[order], values[order]),
        "reversed": (keys[::-1], values[::-1]),
        "objects": (np.array(keys, dtype=object), values),
        "tuples": ([("x", key) for key in keys], values),
        "bytes": (np.array(keys, dtype="S"), values),
        "categorical": (pd.Categorical(keys, categories=["t0", "t10", "t2", "t7"]), values),
        "series": (pd.Series(keys), values),
    }
    for name, (tasks, data) in variants.items():
        found = bootstrap(Mean(0), data, tasks=tasks, rng=1)
        np.testing.assert_array_equal(found.replicates, first.replicates, err_msg=name)
        assert found.n_tasks == 3
    # Whole numbers sort by value: 0, 2, 10, another order than that of the strings.
    numbers = np.array([int(key[1:]) for key in keys])
    as_strings = ["a" if n == 0 else "b" if n == 2 else "c" for n in numbers]
    np.testing.assert_array_equal(
        bootstrap(Mean(0), values, tasks=numbers, rng=1).replicates,
        bootstrap(Mean(0), values, tasks=as_strings, rng=1).replicates,
    )


def test_keys_that_do_not_sort():
    keys = [("a", 1), 7, None.__class__, ("a", 1), 7]
    found = bootstrap(Mean(0), np.arange(5), tasks=keys, rng=1)
    assert found.n_tasks == 3


@pytest.mark.parametrize(
    ("tasks", "rows"),
    [
        (["t0", "t1", None, "t1", ""], "2, 4"),
        (np.array(["t0", "t1", "", "t1", ""]), "2, 4"),
        (np.array([0.0, 1.0, np.nan, 1.0, 2.0]), "2"),
        (np.array(["2020-01-01", "NaT"] + ["2020-01-02"] * 3, dtype="M8[D]"), "1"),
        ([1, 2, float("nan"), 3, None], "2, 4"),
    ],
)
def test_missing_task_keys_name_their_rows(tasks, rows):
    with pytest.raises(ValueError, match=f"missing or empty at row {rows}$"):
        bootstrap(Mean(0), np.array([1, 0, 1, 1, 0]), tasks=tasks)


def test_missing_key_of_a_data_frame():
    import pandas as pd

    frame = pd.DataFrame({"task": ["a", None, "b"], "value": [1, 0, 1]})
    with pytest.raises(ValueError, match=r"row 1$"):
        bootstrap(Mean("value"), frame[["value"]], tasks=frame["task"])
    with pytest.raises(ValueError, match=r"row 0, 1, 2, 3, 4 and 3 more$"):
        bootstrap(Mean(0), np.arange(8), tasks=[None] * 8)


@settings(max_examples=50, deadline=None)
@given(
    values=hnp.arrays(np.int64, st.integers(2, 30), elements=st.integers(-1000, 1000)),
    data=st.data(),
)
def test_order_of_rows_never_matters(values, data):
    tasks = data.draw(hnp.arrays(np.int64, values.size, elements=st.integers(0, 5)))
    order = np.array(data.draw(st.permutations(range(values.size))))
    options = {"n_resamples": 50, "rng": 1, "method": "bca"}
    first = bootstrap(Mean(0), values, tasks=tasks, **options)
    again = bootstrap(Mean(0), values[order], tasks=tasks[order], **options)
    np.testing.assert_array_equal(first.replicates, again.replicates)
    np.testing.assert_array_equal([first.low, first.high], [again.low, again.high])


# Refusals


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"statistic": 3}, TypeError, "statistic must be"),
        ({"statistic": {}}, ValueError, "empty mapping"),
        ({"statistic": Mean(2)}, ValueError, "reads column 2, which data does not have"),
        ({"data": [[1, np.nan]]}, ValueError, "finite, got nan at row 0, column 1"),
        ({"data": [["a", "b"]]}, TypeError, "column 0 of data must hold numbers"),
        ({"data": np.zeros((0, 2))}, ValueError, "at least one row"),
        ({"data": {"a": [1, 2], "b": [1]}}, ValueError, "column 'b' has 1"),
        ({"tasks": [1]}, ValueError, "2 rows, 1 keys"),
        ({"tasks": np.zeros((2, 2))}, ValueError, "shape"),
        ({"method": "bc"}, ValueError, "method must be one of"),
        ({"confidence_level": 95}, ValueError, r"in \(0, 1\), got 95"),
        ({"n_resamples": 0}, ValueError, "at least 1"),
        ({"statistic": OfTotals(lambda t: 1.0)}, ValueError, "must return shape"),
    ],
)
def test_refusals(change, error, message):
    arguments = {"statistic": Mean(0), "data": [[1, 2], [3, 4]], "rng": 1} | change
    with pytest.raises(error, match=message):
        bootstrap(arguments.pop("statistic"), arguments.pop("data"), **arguments)


def test_statistic_refusals():
    with pytest.raises(ValueError, match="columns for k judges"):
        EffectiveVotes("n", ["a", "b"], ["x", "y"])
    with pytest.raises(ValueError, match="errors must have 2 columns"):
        EffectiveVotes("n", ["a"], ["x"])
    with pytest.raises(ValueError, match="two distinct judges"):
        EffectiveVotes("n", ["a", "b"], ["x"], panels=[[0, 0]])
    with pytest.raises(ValueError, match="lists of one length"):
        Ratio(["a", "b"], ["c", "d", "e"])
    with pytest.raises(TypeError, match="combines with a statistic or a number, got str"):
        Mean(0) + "a"
    with pytest.raises(TypeError, match="takes a function"):
        OfTotals(3)


# Studentised intervals


def linearised_error(a, b):
    """sqrt(sum A^2 - 2 r sum AB + r^2 sum B^2) / B of the ratio r of two task totals."""
    r = a.sum() / b.sum()
    return np.sqrt((a**2).sum() - 2 * r * (a * b).sum() + r**2 * (b**2).sum()) / b.sum()


def ratio_tables(seed=0, n_tasks=25, n_rows=120):
    rng = np.random.default_rng(seed)
    tasks = rng.integers(0, n_tasks, n_rows)
    tasks[:n_tasks] = np.arange(n_tasks)
    rows = np.stack([rng.poisson(2, n_rows), rng.poisson(4, n_rows), rng.poisson(1, n_rows)], 1)
    sums = np.stack([np.bincount(tasks, column) for column in rows.T], 1)
    return rows, tasks, sums


def test_studentised_ratio_by_its_formula():
    rows, tasks, sums = ratio_tables()
    found = bootstrap(Ratio(0, 1), rows, tasks=tasks, method="studentized", rng=8, n_resamples=400)
    pivots = []
    for r in range(400):
        a, b, _ = sums[reference.draws(as_key(8), r, 25)].T
        pivots.append((a.sum() / b.sum() - found.estimate) / linearised_error(a, b))
    error = linearised_error(sums[:, 0], sums[:, 1])
    low, high = np.quantile(pivots, [0.025, 0.975])
    np.testing.assert_allclose(found.low, found.estimate - high * error, rtol=1e-12)
    np.testing.assert_allclose(found.high, found.estimate - low * error, rtol=1e-12)
    assert found.n_undefined == 0


def test_studentised_sums_of_ratios_use_the_influence_of_each_task():
    rows, tasks, sums = ratio_tables(1)
    statistic = 2 * Ratio(0, 1) - Ratio(2, 1) / 4 + Mean(0) + 3
    found = bootstrap(statistic, rows, tasks=tasks, method="studentized", rng=8, n_resamples=60)
    counts = np.bincount(tasks)

    def value_and_error(drawn):
        a, b, c = sums[drawn].T
        n = counts[drawn]
        terms = [(2.0, a, b), (-0.25, c, b), (1.0, a, n)]
        value = sum(w * top.sum() / bottom.sum() for w, top, bottom in terms) + 3
        psi = sum(
            w * (top - top.sum() / bottom.sum() * bottom) / bottom.sum() for w, top, bottom in terms
        )
        return value, np.sqrt((psi**2).sum())

    estimate, error = value_and_error(np.arange(25))
    drawn = [value_and_error(reference.draws(as_key(8), r, 25)) for r in range(60)]
    pivots = [(value - estimate) / e for value, e in drawn]
    low, high = np.quantile(pivots, [0.025, 0.975])
    np.testing.assert_allclose(
        [found.low, found.high], [estimate - high * error, estimate - low * error], rtol=1e-10
    )


def test_studentised_several_outputs():
    rows, tasks, _ = ratio_tables(2)
    options = {"tasks": tasks, "method": "studentized", "rng": 8}
    both = bootstrap(Ratio([0, 2], 1) - Mean(0), rows, **options)
    for i, column in enumerate((0, 2)):
        one = bootstrap(Ratio(column, 1) - Mean(0), rows, **options)
        assert (one.low, one.high) == pytest.approx((both.low[i], both.high[i]), rel=1e-12)


def test_studentised_leaves_out_resamples_without_spread():
    found = bootstrap(Mean(0), np.array([0, 0, 1]), method="studentized", rng=1)
    # One of three tasks drawn thrice, or only the two zeros: 9 of 27.
    assert found.n_undefined / 10_000 == pytest.approx(9 / 27, abs=0.02)
    same = bootstrap(Mean(0), np.array([2, 2, 2]), method="studentized", rng=1)
    assert same.status is BootstrapStatus.DEGENERATE


def test_studentised_refusals():
    for statistic in (Mean(0).sqrt(), Mean(0) * Mean(1), OfTotals(lambda t: t[0])):
        with pytest.raises(TypeError, match="takes sums and differences of Ratio and Mean"):
            bootstrap(statistic, np.ones((3, 2)), method="studentized")
    with pytest.raises(TypeError, match="not a function of the rows"):
        bootstrap(np.mean, np.ones((3, 2)), method="studentized")
