"""gamma and gamma_W against a plain twin, with missing and constant judges."""

import numpy as np
import pytest
from reference.study import pearson_pairs

from ropoll_core import contamination, theory


@pytest.fixture
def panel():
    rng = np.random.default_rng(8)
    truth = rng.uniform(0, 4, (300, 3))
    shared = rng.standard_normal((300, 1, 3))
    scores = np.round(truth[:, None] + 0.5 * shared + rng.standard_normal((300, 5, 3)))
    scores[rng.random((300, 5)) < 0.1] = np.nan
    scores[7, 2, 1] = np.nan  # one attribute missing: the judge is missing
    return truth, scores


@pytest.mark.parametrize("on_errors", [False, True])
def test_judge_correlation_equals_twin(panel, on_errors):
    truth, scores = panel
    result = theory.judge_correlation(scores, truth=truth if on_errors else None)
    valid = ~np.isnan(scores).any(axis=2)
    values = scores - truth[:, None] if on_errors else scores
    expected = [pearson_pairs(values[:, :, a], valid)[0] for a in range(3)]
    np.testing.assert_allclose(result.per_attribute, expected, rtol=1e-12)
    assert result.gamma == pytest.approx(np.mean(expected), rel=1e-12)
    assert result.n_undefined == 0
    assert result.n_items[0, 1] == (valid[:, 0] & valid[:, 1]).sum()
    np.testing.assert_allclose(np.diagonal(result.matrix, axis1=1, axis2=2), 1, rtol=1e-12)


def test_indicator_correlation_equals_twin(panel):
    truth, scores = panel
    result = theory.indicator_correlation(scores, truth)
    deviation = np.linalg.norm(scores - truth[:, None], axis=2)
    for k, p in enumerate((0.5, 0.7, 0.9)):
        radius = np.nanquantile(deviation, p)
        within = np.nan_to_num(deviation, nan=np.inf) <= radius
        expected, _ = pearson_pairs(within.astype(float), np.ones_like(within))
        assert result.radius[k] == pytest.approx(radius, rel=1e-14)
        assert result.gamma[k] == pytest.approx(expected, rel=1e-11)
    assert (result.n_items, result.n_unknown, result.n_undefined) == (300, 0, 0)


def test_published_size_of_the_correlations():
    # Equicorrelated judges of gamma = .49: the correlation of the errors is recovered, and the
    # indicators are less correlated than the errors are.
    jury = contamination.simulate_jury(
        20_000, 6, 5, scale=(0, 4), sigma=0.9, correlation=0.49, rng=2
    )
    gamma = theory.judge_correlation(jury.scores, truth=jury.truth)
    assert gamma.gamma == pytest.approx(0.49, abs=0.01)
    within = theory.indicator_correlation(jury.scores, jury.truth)
    assert (within.gamma < 0.49).all()
    assert (within.gamma > 0.1).all()


def test_large_offset_does_not_cancel():
    rng = np.random.default_rng(1)
    scores = rng.standard_normal((50, 3, 1))
    plain = theory.judge_correlation(scores).gamma
    assert theory.judge_correlation(scores + 1e8).gamma == pytest.approx(plain, rel=1e-6)


def test_constant_and_unpaired_judges_are_left_out_and_counted():
    rng = np.random.default_rng(1)
    scores = rng.standard_normal((40, 4, 2))
    scores[:, 1] = 0.1  # constant, and not a number that floating point sums exactly
    scores[:20, 2] = np.nan
    scores[20:, 3] = np.nan
    result = theory.judge_correlation(scores)
    valid = ~np.isnan(scores).any(axis=2)
    twin = [pearson_pairs(scores[:, :, a], valid) for a in range(2)]
    assert result.n_undefined == sum(n for _, n in twin) == 2 * 4
    np.testing.assert_allclose(result.per_attribute, [m for m, _ in twin], rtol=1e-12)
    assert np.isnan(result.matrix[:, 1]).all()
    assert result.n_items[2, 3] == 0


def test_no_pair_at_all_is_nan_not_zero():
    result = theory.judge_correlation(np.ones((5, 3, 2)))
    assert np.isnan(result.gamma)
    assert np.isnan(result.per_attribute).all()
    assert result.n_undefined == 6


def test_unknown_truth_is_left_out_and_counted(panel):
    truth, scores = panel
    holes = truth.copy()
    holes[:50, 1] = np.nan
    some = theory.indicator_correlation(scores, holes)
    rest = theory.indicator_correlation(scores[50:], truth[50:])
    assert (some.n_items, some.n_unknown) == (250, 50)
    np.testing.assert_array_equal(some.gamma, rest.gamma)
    partial = theory.judge_correlation(scores, truth=holes)
    whole = theory.judge_correlation(scores[50:], truth=truth[50:])
    np.testing.assert_allclose(partial.per_attribute, whole.per_attribute, rtol=1e-12)


def test_input_is_not_modified(panel):
    truth, scores = panel
    before = scores.copy()
    theory.judge_correlation(scores, truth=truth)
    theory.indicator_correlation(scores, truth)
    np.testing.assert_array_equal(scores, before)


@pytest.mark.parametrize(
    ("scores", "truth", "error", "message"),
    [
        (np.ones((4, 1, 2)), np.ones((4, 2)), ValueError, "at least two judges, got 1"),
        (np.ones((4, 2)), np.ones((4, 2)), ValueError, "3 axes"),
        (np.ones((4, 2, 2)), np.ones((4, 3)), ValueError, r"\(4, 2\) to match scores"),
        (np.ones((4, 2, 2)), np.full((4, 2), np.inf), ValueError, "inf at item 0, attribute 0"),
        (np.full((4, 2, 2), -np.inf), np.ones((4, 2)), ValueError, "-inf at item 0, judge 0"),
        (np.full((4, 2, 2), "a"), np.ones((4, 2)), TypeError, "scores must hold real numbers"),
        (np.ones((4, 2, 2)), [["a", "b"]] * 4, TypeError, "truth must hold real numbers"),
        (np.full((4, 2, 2), np.nan), np.ones((4, 2)), ValueError, "at least one valid judge"),
    ],
)
def test_refuses(scores, truth, error, message):
    with pytest.raises(error, match=message):
        theory.indicator_correlation(scores, truth)


@pytest.mark.parametrize("quantiles", [[0.0], [1.0], [], 0.5])
def test_bad_quantiles(panel, quantiles):
    truth, scores = panel
    with pytest.raises(ValueError, match="quantiles must"):
        theory.indicator_correlation(scores, truth, quantiles=quantiles)
