"""Simulated juries and corrupted scores: to the bit, in distribution, and what they refuse."""

import itertools

import numpy as np
import pytest
from reference import study as twin

from ropoll_core import contamination
from ropoll_core.contamination import CORRUPTIONS

SCALE = (0.0, 4.0)
BUILT_IN = ("zeros", "inverted", "bimodal-random", "cauchy-far", "sycophantic", "noisy-gt")


@pytest.fixture(scope="module")
def jury():
    return contamination.simulate_jury(
        60, 5, 3, scale=SCALE, sigma=0.5, correlation=0.4, failure_rate=0.1, rng=9
    )


def test_simulated_jury_equals_twin():
    sigma, failure = np.array([0.1, 0.5, 0.5, 2.0]), np.array([0.0, 0.1, 0.5, 1.0])
    options = {"scale": (1.0, 7.0), "sigma": sigma, "correlation": 0.3, "failure_rate": failure}
    jury = contamination.simulate_jury(40, 4, 3, **options, rng=5)
    truth, scores = twin.simulate(40, 4, 3, **options, rng=5)
    np.testing.assert_array_equal(jury.truth, truth)
    np.testing.assert_allclose(jury.scores, scores, rtol=1e-12, atol=1e-13)
    assert np.isnan(jury.scores[:, 3]).all()


@pytest.mark.parametrize("colluding", [False, True])
@pytest.mark.parametrize("kind", BUILT_IN)
def test_corrupted_scores_equal_twin(jury, kind, colluding):
    rate = np.array([0.0, 0.2, 0.5, 0.8, 1.0])
    options = {"rate": rate, "scale": SCALE, "replicate": 3, "colluding": colluding, "rng": 6}
    result = contamination.corrupt(jury.truth, jury.scores, kind, **options)
    scores, hit = twin.corrupt(jury.truth, jury.scores, kind, **options)
    np.testing.assert_array_equal(result.hit, hit)
    np.testing.assert_allclose(result.scores, scores, rtol=1e-11, atol=1e-12)
    np.testing.assert_array_equal(result.scores[~hit], jury.scores[~hit])


@pytest.mark.parametrize("kind", BUILT_IN)
def test_function_of_cells_equals_kernel(jury, kind):
    # A user's function takes the path by cells; the built-in one given as such must not differ.
    def by_cells(cells):
        return CORRUPTIONS[kind](cells)

    options = {"rate": 0.4, "scale": SCALE, "colluding": True, "rng": 1}
    fused = contamination.corrupt(jury.truth, jury.scores, kind, **options)
    direct = contamination.corrupt(jury.truth, jury.scores, by_cells, **options)
    np.testing.assert_array_equal(fused.scores, direct.scores)


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_bits_do_not_depend_on_workers_or_company(workers):
    options = {"scale": SCALE, "sigma": 0.5, "correlation": 0.4, "failure_rate": 0.1, "rng": 9}
    large = contamination.simulate_jury(30_000, 5, 3, **options, workers=workers)
    small = contamination.simulate_jury(100, 3, 2, **options)
    # Fewer items, judges and attributes: the same numbers where they overlap.
    overlap = large.scores[:100, :3, :2]
    np.testing.assert_array_equal(small.scores, overlap)
    options = {"rate": 0.3, "scale": SCALE, "rng": 2}
    whole = contamination.corrupt(
        large.truth, large.scores, "cauchy-far", **options, workers=workers
    )
    part = contamination.corrupt(small.truth, small.scores, "cauchy-far", **options)
    np.testing.assert_array_equal(part.scores, whole.scores[:100, :3, :2])


def test_seed_and_replicate_change_everything_and_numpy_state_nothing(jury):
    def run(**options):
        return contamination.corrupt(
            jury.truth, jury.scores, "noisy-gt", rate=0.5, scale=SCALE, **options
        ).scores

    base = run(rng=1)
    np.random.seed(0)  # noqa: NPY002
    np.testing.assert_array_equal(run(rng=1), base)
    np.testing.assert_array_equal(run(rng=np.random.SeedSequence(1)), base)
    assert not np.array_equal(run(rng=2), base, equal_nan=True)
    assert not np.array_equal(run(rng=1, replicate=1), base, equal_nan=True)


def test_cells_hit_at_a_rate_are_hit_at_higher_ones(jury):
    hits = [
        contamination.corrupt(jury.truth, jury.scores, "zeros", rate=rate, scale=SCALE, rng=3).hit
        for rate in (0.0, 0.1, 0.3, 0.7, 1.0)
    ]
    assert not hits[0].any()
    np.testing.assert_array_equal(hits[-1], ~np.isnan(jury.scores[:, :, 0]))
    for lower, higher in itertools.pairwise(hits):
        assert (higher | ~lower).all()


def test_distribution_of_the_draws():
    n = 50_000
    truth = np.full((n, 2), 3.5)
    scores = np.zeros((n, 3, 2))
    options = {"rate": [0.1, 0.5, 1.0], "scale": SCALE, "rng": 12}
    hit = contamination.corrupt(truth, scores, "zeros", **options).hit
    np.testing.assert_allclose(hit.mean(axis=0), [0.1, 0.5, 1.0], atol=4.5 * 0.5 / n**0.5)
    coins = contamination.corrupt(truth, scores, "bimodal-random", **options).scores[:, 2]
    assert set(np.unique(coins)) == {0.0, 4.0}
    np.testing.assert_allclose(coins.mean(axis=0), 2, atol=4.5 * 2 / n**0.5)
    assert abs(np.corrcoef(coins.T)[0, 1]) < 4.5 / n**0.5
    far = contamination.corrupt(truth, scores, "cauchy-far", **options).scores[:, 2]
    # Quartiles of truth + 10 + 8 t: 5.5, 13.5, 21.5; standard error about 8 pi / (2 sqrt n).
    quartiles = np.quantile(far, [0.25, 0.5, 0.75], axis=0)
    np.testing.assert_allclose(quartiles[:, 0], [5.5, 13.5, 21.5], atol=4.5 * 14 / n**0.5)
    noisy = contamination.corrupt(truth, scores, "noisy-gt", **options).scores[:, 2]
    assert noisy.max() == 4.0
    np.testing.assert_allclose(np.median(noisy, axis=0), 3.5, atol=4.5 * 1.0 / n**0.5)
    assert (noisy == 4.0).mean() == pytest.approx(0.266, abs=0.01)  # P(z > .5 / .8)


def test_colluding_judges_speak_with_one_voice():
    truth, scores = np.ones((200, 2)), np.zeros((200, 4, 2))
    options = {"rate": 1.0, "scale": SCALE, "rng": 7}
    together = contamination.corrupt(truth, scores, "cauchy-far", **options, colluding=True)
    assert (together.scores == together.scores[:, :1]).all()
    assert len(np.unique(together.scores[:, 0, 0])) == 200
    apart = contamination.corrupt(truth, scores, "cauchy-far", **options)
    assert len(np.unique(apart.scores)) == apart.scores.size


def test_rates_of_failure():
    jury = contamination.simulate_jury(
        20_000, 3, 2, scale=SCALE, sigma=0.1, failure_rate=[0, 0.2, 0.5], rng=1
    )
    scores = jury.scores.copy()
    scores[:2000, 0] = 0.0  # failed parses that somebody filled with zeros
    result = contamination.corrupt(jury.truth, scores, "sycophantic", rate=0.3, scale=SCALE, rng=2)
    np.testing.assert_allclose(result.natural_failure_rate, [0.1, 0.2, 0.5], atol=0.016)
    np.testing.assert_array_equal(
        result.natural_failure_rate, contamination.natural_failure_rate(scores)
    )
    f = result.natural_failure_rate
    np.testing.assert_allclose(result.effective_rate, f + (1 - f) * 0.3, rtol=1e-14)
    np.testing.assert_allclose(
        contamination.effective_rate(f, 0.3), result.effective_rate, rtol=1e-15
    )
    # Missing or zeros by itself, or hit: that is what the effective rate counts.
    lost = np.isnan(scores[:, :, 0]) | (scores == 0).all(axis=2) | result.hit
    np.testing.assert_allclose(lost.mean(axis=0), result.effective_rate, atol=0.016)


def test_a_users_corruption(jury):
    seen = []

    def stubborn(cells):
        seen.append(len(cells.items))
        np.testing.assert_array_equal(cells.truth, jury.truth[cells.items])
        np.testing.assert_array_equal(cells.scores, jury.scores[cells.items, cells.judges])
        assert (cells.low, cells.high) == SCALE
        assert (cells.replicates == 2).all()
        return cells.scores[:, :1] + np.zeros(3) + cells.uniform(1) * 1e-3

    options = {"rate": 0.5, "scale": SCALE, "replicate": 2, "rng": 4}
    result = contamination.corrupt(jury.truth, jury.scores, stubborn, **options)
    assert sum(seen) == result.hit.sum() > 50
    spread = np.ptp(result.scores[result.hit], axis=1)
    assert (spread > 0).all()
    assert (spread < 1e-3).all()


def test_registry(monkeypatch):
    assert tuple(CORRUPTIONS) == BUILT_IN
    with pytest.raises(TypeError):
        CORRUPTIONS["mine"] = len
    with pytest.raises(ValueError, match="name must not be taken, got 'zeros'"):
        contamination.register_corruption("zeros", len)
    with pytest.raises(TypeError, match="name must be a string"):
        contamination.register_corruption(1, len)
    with pytest.raises(TypeError, match="function must be callable"):
        contamination.register_corruption("mine", 3)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"corruption": "nonsense"}, ValueError, "must be one of zeros, .* got 'nonsense'"),
        ({"corruption": 3}, TypeError, "corruption must be a string or a function"),
        ({"corruption": lambda cells: cells.truth[:1]}, ValueError, "must give shape"),
        ({"corruption": lambda cells: cells.truth + np.inf}, ValueError, "must give finite"),
        ({"corruption": lambda cells: cells.truth.astype(str)}, TypeError, "real numbers"),
        ({"corruption": lambda cells: cells.normal(240)}, ValueError, "stream must be from 0"),
        ({"rate": 1.1}, ValueError, r"rate must hold .* in \[0, 1\], got 1.1"),
        ({"rate": [0.1, 0.2]}, ValueError, r"rate must be a number or have shape \(5,\)"),
        ({"scale": (4, 0)}, ValueError, "low < high"),
        ({"scale": 4}, ValueError, r"scale must be two numbers"),
        ({"replicate": -1}, ValueError, "replicate must be from 0"),
        ({"colluding": 1}, TypeError, "colluding must be True or False"),
        ({"truth": np.ones((60, 2))}, ValueError, "to match scores"),
        ({"rng": -1}, ValueError, "rng must not be negative"),
    ],
)
def test_refuses(jury, change, error, message):
    arguments = {
        "truth": jury.truth,
        "scores": jury.scores,
        "corruption": "zeros",
        "rate": 0.9,
        "scale": SCALE,
        "rng": 1,
    }
    with pytest.raises(error, match=message):
        contamination.corrupt(**(arguments | change))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_judges": 5000}, "at most 4095 judges"),
        ({"n_items": 0}, "n_items must be at least 1"),
        ({"sigma": [1, 2]}, r"sigma must be a number or have shape \(3,\)"),
        ({"correlation": -0.1}, "correlation must be a finite number"),
        ({"failure_rate": 2}, "failure_rate must hold"),
        ({"truth": np.ones((1, 1))}, "truth must have shape"),
    ],
)
def test_simulate_refuses(change, message):
    arguments = {"n_items": 4, "n_judges": 3, "n_attributes": 2, "scale": SCALE, "sigma": 1.0}
    with pytest.raises(ValueError, match=message):
        contamination.simulate_jury(**(arguments | change))


def test_scores_near_the_largest_double_are_valid():
    scores = np.full((2, 2, 3), 1.7e308)
    scores[1, 1] = [1.7e308, -1.7e308, np.nan]
    result = contamination.corrupt(np.ones((2, 3)), scores, "zeros", rate=0.0, scale=SCALE, rng=1)
    np.testing.assert_array_equal(result.scores[0], scores[0])
    assert np.isnan(result.scores[1, 1]).all()
    assert result.natural_failure_rate.tolist() == [0.0, 0.5]
    assert np.isnan(scores[1, 1]).tolist() == [False, False, True]  # not written to
