"""Resampling within independent groups of tasks."""

import numpy as np
import pytest
from scipy import stats

from ropoll_core.resampling import BootstrapStatus, Mean, OfTotals, Ratio, bootstrap


def two_samples(a, b):
    """Two independent samples as rows of (in a, value in a, in b, value in b)."""
    rows = [(1, x, 0, 0) for x in a] + [(0, 0, 1, x) for x in b]
    return np.array(rows), ["a"] * len(a) + ["b"] * len(b)


A, B = [1, 4, 2, 8, 5], [3, 6, 1]


@pytest.mark.parametrize("method", ["percentile", "basic", "bca"])
def test_two_samples_of_different_size(method):
    rows, strata = two_samples(A, B)
    statistic = Ratio(1, 0) - Ratio(3, 2)
    options = {"strata": strata, "confidence_level": 0.9, "method": method, "n_resamples": 40_000}
    found = bootstrap(statistic, rows, rng=1, **options)
    swapped = bootstrap(-1 * statistic, rows, rng=2, **options)
    assert found.estimate == pytest.approx(2 / 3, abs=1e-12)
    assert swapped.estimate == pytest.approx(-2 / 3, abs=1e-12)
    assert found.low == pytest.approx(-swapped.high, abs=0.15)
    assert found.high == pytest.approx(-swapped.low, abs=0.15)
    peer = stats.bootstrap(
        (A, B),
        lambda x, y, axis=-1: x.mean(axis=axis) - y.mean(axis=axis),
        method=method,
        confidence_level=0.9,
        n_resamples=40_000,
        rng=np.random.default_rng(1),
    ).confidence_interval
    assert found.low == pytest.approx(peer.low, abs=0.15)
    assert found.high == pytest.approx(peer.high, abs=0.15)
    variance = np.var(A) / 5 + np.var(B) / 3
    assert found.standard_error == pytest.approx(variance**0.5, rel=0.02)


def test_two_sample_acceleration_is_scipys():
    rows, strata = two_samples(A, B)
    found = bootstrap(
        Ratio(1, 0) - Ratio(3, 2), rows, strata=strata, method="bca", rng=1, n_resamples=500
    )
    theta = found.replicates
    share = ((theta < found.estimate).sum() + (theta <= found.estimate).sum()) / (2 * theta.size)
    third, square = 0.0, 0.0
    for sample, sign, other in ((np.array(A), 1, np.mean(B)), (np.array(B), -1, np.mean(A))):
        left_out = np.array(
            [sign * (np.delete(sample, i).mean() - other) for i in range(sample.size)]
        )
        u = (sample.size - 1) * (left_out.mean() - left_out)
        third += (u**3).sum() / sample.size**3
        square += (u**2).sum() / sample.size**2
    a = third / (6 * square**1.5)
    z0, z = stats.norm.ppf(share), stats.norm.ppf([0.025, 0.975])
    levels = stats.norm.cdf(z0 + (z0 + z) / (1 - a * (z0 + z)))
    np.testing.assert_allclose([found.low, found.high], np.quantile(theta, levels), rtol=1e-12)


def test_strata_keep_their_sizes():
    rng = np.random.default_rng(0)
    strata = rng.integers(0, 3, 50)
    tasks = np.arange(50) % 25 + 100 * strata
    indicators = (strata[:, None] == np.arange(3)).astype(int)
    one_row = bootstrap(OfTotals(lambda t: t.copy()), indicators, strata=strata, rng=1)
    assert (one_row.replicates == np.bincount(strata)[:, None]).all()
    clustered = bootstrap(
        OfTotals(lambda t: t.copy()), indicators, tasks=tasks, strata=strata, rng=1, n_resamples=50
    )
    assert clustered.replicates.std(axis=1).max() > 0
    again = bootstrap(
        OfTotals(lambda t: t.copy()),
        indicators,
        tasks=tasks,
        strata=strata,
        rng=1,
        n_resamples=50,
        workers=2,
    )
    np.testing.assert_array_equal(again.replicates, clustered.replicates)


def test_few_tasks_in_a_stratum():
    values = np.array([1, 2, 3])
    single = bootstrap(Mean(0), values, strata=["a", "b", "c"], rng=1)
    assert single.status is BootstrapStatus.ONE_TASK
    flagged = bootstrap(Mean(0), values, strata=["a", "a", "b"], rng=1)
    assert flagged.status is BootstrapStatus.TWO_TASKS


def test_strata_refusals():
    values = np.array([1, 2, 3, 4])
    with pytest.raises(ValueError, match="row 2 has another"):
        bootstrap(Mean(0), values, tasks=[1, 1, 2, 2], strata=["a", "a", "a", "b"])
    with pytest.raises(ValueError, match="strata must have a key for every row"):
        bootstrap(Mean(0), values, strata=["a", "", "a", "b"])
    with pytest.raises(ValueError, match="strata are for functions of totals"):
        bootstrap(np.mean, values, strata=["a", "b", "a", "b"])
    with pytest.raises(ValueError, match="column 'a' has 5 rows, column 'b' has 3"):
        bootstrap(Mean("a") - Mean("b"), {"a": A, "b": B})
