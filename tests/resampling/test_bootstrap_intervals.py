"""Intervals from replicates: SciPy's formulas, stated policies, studentised ratios."""

import numpy as np
import pytest
from reference import resampling as reference
from scipy import stats

from ropoll_core._rng import as_key
from ropoll_core.resampling import (
    BootstrapStatus,
    Mean,
    OfTotals,
    Ratio,
    bootstrap,
)
from ropoll_core.resampling._intervals import acceleration, sorted_quantile

METHODS = ["percentile", "basic", "bca"]


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
