"""Bounds: the formulas, their limits, what they refuse."""

import math

import numpy as np
import pytest

from ropoll_core import theory


def test_geometric_constant():
    assert theory.geometric_constant(0) == 1.0
    assert theory.geometric_constant(0.25) == pytest.approx(0.75 / math.sqrt(0.5), rel=1e-15)
    assert theory.geometric_constant(0.4) == pytest.approx(0.6 / math.sqrt(0.2), rel=1e-15)
    grid = theory.geometric_constant(np.linspace(0, 0.4999, 500))
    assert (np.diff(grid) > 0).all()
    assert grid[-1] > 30


def test_cluster_radius_holds_enough_gaussian_judges():
    rng = np.random.default_rng(5)
    for d, alpha, beta in [(1, 0.1, 0.05), (5, 0.2, 0.1), (16, 0.3, 0.15)]:
        radius = theory.cluster_radius(0.7, d, alpha, beta)
        outside = (np.linalg.norm(0.7 * rng.standard_normal((200_000, d)), axis=1) > radius).mean()
        assert outside <= beta / (2 * (1 - alpha))


def test_breakdown_bound_puts_the_parts_together():
    bound = theory.breakdown_bound(0.5, 101, 4, 0.2, slack=0.1)
    assert bound.radius == theory.cluster_radius(0.5, 4, 0.2, 0.1)
    assert bound.constant == pytest.approx(theory.geometric_constant(0.3), rel=1e-15)
    assert bound.bound == pytest.approx(bound.constant * bound.radius, rel=1e-15)
    assert bound.probability == pytest.approx(1 - math.exp(-101 * 0.01 / 2), rel=1e-15)


def test_correlated_judges_weaken_the_probability_only():
    free = theory.breakdown_bound(0.5, 400, 4, 0.2, slack=0.25)
    tied = theory.breakdown_bound(0.5, 400, 4, 0.2, slack=0.25, correlation=0.02)
    assert tied.bound == free.bound
    n_eff = 400 / (1 + 399 * 0.02)
    assert tied.probability == pytest.approx(1 - 1 / (0.0625 * n_eff), rel=1e-14)
    # Published correlations of .45 and more leave N_eff near 2: the lemma then promises nothing,
    # and the result says so instead of being clamped to zero.
    vacuous = theory.breakdown_bound(0.5, 13, 5, 0.1, slack=0.2, correlation=0.5)
    assert vacuous.probability < 0


def test_bounds_broadcast():
    bound = theory.breakdown_bound(0.5, [[10], [1000]], 4, [0.1, 0.2, 0.3], slack=0.1)
    assert bound.probability.shape == (2, 1)
    assert bound.bound.shape == (3,)
    lower = theory.minimax_lower_bound(1.0, np.array([4, np.inf]), 4, 0.2)
    assert lower.tolist() == [1.25, 0.25]


def test_floor_is_root_d_above_the_minimax_price():
    for d in (1, 4, 25):
        price = theory.minimax_lower_bound(0.3, np.inf, d, 0.2)
        assert theory.breakdown_floor(0.3, d, 0.2) == pytest.approx(math.sqrt(d) * price)
    assert theory.minimax_lower_bound(1.0, 16, 4, 0.2, constant=0.1) == pytest.approx(0.075)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.geometric_constant(0.5), r"alpha must hold .* in \[0, 0.5\), got 0.5"),
        (lambda: theory.geometric_constant([0.1, -1]), r"got -1 at index \(1,\)"),
        (lambda: theory.geometric_constant(math.nan), "got nan"),
        (lambda: theory.cluster_radius(1, 2, 0.3, 0.2), "alpha . slack must be below 1/2"),
        (lambda: theory.cluster_radius(1, 2, 0.3, 0), r"slack must hold .* in \(0, 0.5\)"),
        (lambda: theory.cluster_radius(-1, 2, 0.3, 0.1), "sigma must hold"),
        (lambda: theory.breakdown_bound(1, 0, 2, 0.3, slack=0.1), "n_judges must hold"),
        (lambda: theory.breakdown_bound(1, math.inf, 2, 0.3, slack=0.1), "n_judges .* got inf"),
        (lambda: theory.breakdown_floor(1, 0, 0.3), "n_attributes must hold"),
    ],
)
def test_out_of_range(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("value", ["0.1", None, True, [0.1, "a"], 1j])
def test_wrong_type(value):
    with pytest.raises(TypeError, match="alpha must hold real numbers"):
        theory.geometric_constant(value)
