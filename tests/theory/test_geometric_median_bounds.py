"""What the theory promises of the geometric median, held against the geometric median."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ropoll_core import contamination, scores, theory


@st.composite
def adversarial_panels(draw):
    """A cluster within a ball, and fewer than half of the judges wherever it hurts."""
    n = draw(st.integers(1, 25))
    n_far = draw(st.integers(0, (n - 1) // 2))
    d = draw(st.integers(1, 8))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    radius = 10.0 ** draw(st.integers(-3, 3))
    directions = rng.standard_normal((n, d))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    push = directions[0]
    n_near = n - n_far
    near = {
        "ball": directions[:n_near] * rng.random((n_near, 1)),
        "sphere": directions[:n_near],
        "one side": np.tile(push, (n_near, 1)),
        "two points": push * np.where(np.arange(n_near) % 2, 1.0, -1.0)[:, None],
        "cap": push + 0.3 * directions[:n_near],
    }[draw(st.sampled_from(["ball", "sphere", "one side", "two points", "cap"]))]
    length = np.linalg.norm(near, axis=1, keepdims=True)
    near = radius * near / np.maximum(length, 1)
    distance = radius * 10.0 ** draw(st.integers(-1, 9))
    far = {
        "one point": np.tile(push, (n_far, 1)),
        "one direction": push * (1 + np.arange(n_far))[:, None],
        "around": directions[n_near:],
        "just outside": np.tile(push, (n_far, 1)) * (1.001 * radius / distance),
    }[draw(st.sampled_from(["one point", "one direction", "around", "just outside"]))]
    return np.concatenate([near, distance * far]), radius, n_far


@settings(max_examples=500, deadline=None)
@given(adversarial_panels())
@example((np.array([[1.0], [1.0], [-1.0]]), 1.0, 0))
def test_lemma_1_never_fails(case):
    panel, radius, n_far = case
    median = scores.geometric_median(panel)
    bound = theory.geometric_constant(n_far / len(panel)) * radius
    # Room for the rounding of points on the sphere itself, nothing else.
    assert np.linalg.norm(median) <= bound * (1 + 1e-9)


@pytest.mark.parametrize(("alpha", "d"), [(0.1, 2), (0.25, 4), (0.4, 4), (0.48, 16)])
def test_lemma_1_is_tight(alpha, d):
    # The far judges pull along one axis; the near ones sit where the tangents from the point at
    # distance C_alpha touch the unit ball, so that all pulls balance exactly there.
    n, n_far = 200, round(200 * alpha)
    worst = theory.geometric_constant(n_far / n)
    near = np.zeros((n - n_far, d))
    near[:, 0] = np.where(np.arange(n - n_far) % 2, 1.0, -1.0) * np.sqrt(1 - worst**-2)
    near[:, 1] = 1 / worst
    far = np.zeros((n_far, d))
    far[:, 1] = 1e9
    median = scores.geometric_median(np.concatenate([near, far]))
    assert np.linalg.norm(median) == pytest.approx(worst, rel=1e-6)


@pytest.mark.parametrize("kind", ["sycophantic", "cauchy-far", "zeros"])
@pytest.mark.parametrize(("n_judges", "alpha", "slack"), [(15, 0.1, 0.3), (101, 0.2, 0.2)])
def test_theorem_1_against_simulation(kind, n_judges, alpha, slack):
    n_items, d, sigma = 3000, 4, 0.5
    jury = contamination.simulate_jury(n_items, n_judges, d, scale=(0, 4), sigma=sigma, rng=21)
    panels = contamination.corrupt(
        jury.truth, jury.scores, kind, rate=alpha, scale=(0, 4), colluding=True, rng=22
    ).scores
    error = np.linalg.norm(scores.geometric_median(panels) - jury.truth, axis=1)
    promise = theory.breakdown_bound(sigma, n_judges, d, alpha, slack=slack)
    assert promise.probability > 0.4
    assert (error <= promise.bound).mean() >= promise.probability
    # A bound that says something: the mean breaks it under cauchy-far.
    if kind == "cauchy-far":
        mean_error = np.linalg.norm(scores.mean(panels) - jury.truth, axis=1)
        assert (mean_error > promise.bound).mean() > 0.3


def test_lemma_3_against_simulation():
    # Correlated judges: fewer are worth counting, and the promise is weaker but still kept.
    n_items, n_judges, d, sigma, alpha, slack = 4000, 101, 4, 0.5, 0.1, 0.35
    jury = contamination.simulate_jury(
        n_items, n_judges, d, scale=(0, 4), sigma=sigma, correlation=0.1, rng=5
    )
    panels = contamination.corrupt(
        jury.truth, jury.scores, "sycophantic", rate=alpha, scale=(0, 4), rng=6
    ).scores
    gamma = theory.indicator_correlation(panels, jury.truth, quantiles=[0.9]).gamma[0]
    promise = theory.breakdown_bound(sigma, n_judges, d, alpha, slack=slack, correlation=gamma)
    assert 0 < promise.probability < 1 - np.exp(-n_judges * slack**2 / 2)
    error = np.linalg.norm(scores.geometric_median(panels) - jury.truth, axis=1)
    assert (error <= promise.bound).mean() >= promise.probability


@pytest.mark.parametrize(("d", "alpha"), [(2, 0.1), (4, 0.1), (4, 0.3), (16, 0.2)])
def test_breakdown_floor_is_paid_however_many_judges_sit(d, alpha):
    sigma, n_judges, n_items = 0.5, 2000, 60
    truth = np.full((n_items, d), 2.0)
    jury = contamination.simulate_jury(
        n_items, n_judges, d, scale=(0, 4), sigma=sigma, truth=truth, rng=1
    )
    far = np.zeros(d)
    far[0] = 1e6
    rate = np.r_[np.ones(round(alpha * n_judges)), np.zeros(n_judges - round(alpha * n_judges))]
    panels = contamination.corrupt(
        truth, jury.scores, lambda cells: cells.truth + far, rate=rate, scale=(0, 4), rng=2
    ).scores
    bias = (scores.geometric_median(panels) - truth).mean(axis=0)
    floor = theory.breakdown_floor(sigma, d, alpha)
    error = 4.5 * sigma * 1.4 / np.sqrt((1 - alpha) * n_judges * n_items)
    assert bias[0] > floor - error
    # First order in alpha and 1/d: the exact bias is of the floor's size.
    assert bias[0] < 1.6 * floor
    assert np.abs(bias[1:]).max() < error
    # The price that no estimator avoids is sqrt(d) smaller.
    assert theory.minimax_lower_bound(sigma, np.inf, d, alpha) < bias[0]
