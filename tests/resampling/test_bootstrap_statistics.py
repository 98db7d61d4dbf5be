"""Statistical proof of the bootstrap: coverage of its intervals, equality in law with SciPy."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from ropoll_core.resampling import Mean, bootstrap

BENCH = Path(__file__).resolve().parents[2] / "bench"


@pytest.fixture(scope="module")
def simulation():
    sys.path.insert(0, str(BENCH))
    try:
        spec = importlib.util.spec_from_file_location("rc", BENCH / "resampling_coverage.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield module
    finally:
        sys.path.remove(str(BENCH))


def test_the_simulation_knows_its_true_values(simulation):
    found = bootstrap(
        simulation.statistics_of(),
        simulation.panel(60_000, np.random.default_rng(1)),
        n_resamples=200,
        rng=1,
    )
    for name, value in simulation.truth().items():
        assert found[name].estimate == pytest.approx(value, abs=4.5 * found[name].standard_error)


@pytest.mark.slow
@pytest.mark.parametrize("n_tasks", [60, 463])
@pytest.mark.parametrize("method", ["percentile", "basic", "bca", "studentized"])
def test_coverage_of_95_percent_intervals(simulation, method, n_tasks):
    # With 20 tasks it falls short: docs/resampling.md has the figures.
    for name, share in simulation.coverage(n_tasks, method).items():
        assert 0.93 <= share <= 0.97, name


@pytest.mark.slow
def test_same_law_as_scipy(simulation):
    data = simulation.panel(60, np.random.default_rng(3))
    names = simulation.PAIRS
    table = np.stack([data[name] for name in data], axis=1)
    place = {name: number for number, name in enumerate(data)}
    n = 30_000

    def statistic(index, axis=-1):
        t = table[index].sum(axis=-2)
        e = t[..., [place[j] for j in range(simulation.K)]]
        rows = t[..., place["n"]]
        phi = [
            (rows * t[..., place[i, j]] - e[..., i] * e[..., j])
            / np.sqrt((rows * e[..., i] - e[..., i] ** 2) * (rows * e[..., j] - e[..., j] ** 2))
            for i, j in names
        ]
        n_eff = simulation.K / (1 + (simulation.K - 1) * np.mean(phi, axis=0))
        return np.stack([t[..., place["first"]] / 60, t[..., place[0, 1]] / e[..., 1], n_eff])

    peer = stats.bootstrap(
        (np.arange(60),),
        statistic,
        vectorized=True,
        n_resamples=n,
        batch=500,
        method="percentile",
        rng=np.random.default_rng(5),
    ).bootstrap_distribution
    ours = bootstrap(simulation.statistics_of(), data, n_resamples=n, rng=5)
    for theirs, mine in zip(peer, ours.values(), strict=True):
        assert stats.ks_2samp(theirs, mine.replicates).pvalue > 1e-3


@pytest.mark.slow
def test_a_million_resamples_have_the_exact_moments():
    values = np.random.default_rng(0).poisson(3, 25)
    found = bootstrap(Mean(0), values, n_resamples=1_000_000, rng=1).replicates
    centred = values - values.mean()
    sd = np.sqrt((centred**2).mean() / 25)
    assert found.mean() == pytest.approx(values.mean(), abs=4.5 * sd / 1000)
    assert found.std() == pytest.approx(sd, rel=0.004)
    skew = (centred**3).mean() / (centred**2).mean() ** 1.5 / 25**0.5
    assert stats.skew(found) == pytest.approx(skew, abs=4.5 * np.sqrt(6 / 1_000_000))
