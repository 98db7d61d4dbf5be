"""Corollary 1, Proposition 2 and saturation, each against simulation."""

import math

import numpy as np
import pytest

from ropoll_core import contamination, theory


def test_saturation_values_and_limit():
    assert theory.saturation(1, 0.3) == 1.0
    assert theory.saturation(13, 0.0) == 13.0
    assert theory.saturation(13, 1.0) == 1.0
    assert theory.saturation(math.inf, 0.49) == pytest.approx(1 / 0.49, rel=1e-15)
    assert theory.saturation(math.inf, 0.0) == math.inf
    assert theory.saturation(10**9, 0.5) == pytest.approx(2.0, rel=1e-8)
    assert theory.saturation(3, -0.5) == math.inf
    grid = theory.saturation(np.arange(1, 200), 0.2)
    assert (np.diff(grid) > 0).all()
    assert grid[-1] < 5


def test_impossible_correlation():
    with pytest.raises(ValueError, match=r"at least -1 / .n_judges - 1.*got -0.5 for 4 judges"):
        theory.saturation([2, 4], -0.5)
    with pytest.raises(ValueError, match="for inf judges"):
        theory.saturation(math.inf, -0.1)


@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.71, 1.0])
@pytest.mark.parametrize("n_judges", [1, 3, 13])
def test_corollary_1_against_simulation(correlation, n_judges):
    n_items, d, sigma = 40_000, 3, 0.6
    jury = contamination.simulate_jury(
        n_items, n_judges, d, scale=(0, 4), sigma=sigma, correlation=correlation, rng=11
    )
    squares = ((jury.scores.mean(axis=1) - jury.truth) ** 2).sum(axis=1)
    expected = theory.equicorrelated_mse(sigma, n_judges, d, correlation)
    # 4.5 standard errors of the simulated mean.
    assert abs(squares.mean() - expected) < 4.5 * squares.std() / math.sqrt(n_items)
    assert squares.std() / math.sqrt(n_items) < 0.01 * expected


@pytest.mark.parametrize("kind", ["zeros", "inverted", "bimodal-random", "sycophantic"])
def test_proposition_2_against_simulation(kind):
    n_items, n_judges = 60_000, 5
    truth = np.tile([1.0, 3.5, 2.0], (n_items, 1))
    alpha = np.array([0.0, 0.1, 0.2, 0.5, 1.0])
    jury = contamination.simulate_jury(
        n_items, n_judges, 3, scale=(0, 4), sigma=0.4, correlation=0.2, truth=truth, rng=3
    )
    panels = contamination.corrupt(truth, jury.scores, kind, rate=alpha, scale=(0, 4), rng=4).scores
    errors = panels.mean(axis=1) - truth
    centre = {
        "zeros": np.zeros(3),
        "inverted": 4 - truth[0],
        "bimodal-random": np.full(3, 2.0),
        "sycophantic": np.full(3, 4.0),
    }[kind]
    bias = theory.mean_bias(alpha, centre, truth[0])
    assert (np.abs(errors.mean(axis=0) - bias) < 4.5 * errors.std(axis=0) / 60_000**0.5).all()
    assert np.abs(bias).max() > 0.2


def test_one_far_judge_moves_the_mean_without_bound():
    truth = np.zeros(2)
    for far in (1e2, 1e6, 1e12):
        centre = np.array([[far, far], [0, 0], [0, 0]])
        bias = theory.mean_bias([0.01, 0, 0], centre, truth)
        assert bias == pytest.approx([far / 300, far / 300])


@pytest.mark.parametrize(
    ("alpha", "centre", "truth", "message"),
    [
        (0.1, [1, 1], [0, 0], r"alpha must have shape \(n_judges,\), got \(\)"),
        ([0.1, 1.2], [1, 1], [0, 0], r"alpha must hold .* got 1.2 at index \(1,\)"),
        ([0.1], [1, 1, 1], [0, 0], r"centre must have shape \(2,\) or \(1, 2\), got \(3,\)"),
        ([0.1], [1, 1], 0.0, r"truth must have shape \(n_attributes,\)"),
    ],
)
def test_mean_bias_refuses(alpha, centre, truth, message):
    with pytest.raises(ValueError, match=message):
        theory.mean_bias(alpha, centre, truth)
