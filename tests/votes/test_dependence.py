"""Correlated errors and effective votes."""

import numpy as np
import pytest
from reference import votes as twin

from ropoll_core import effective_votes, error_correlation


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize(("n", "k"), [(40, 3), (3000, 5), (500, 20)])
def test_phi_is_the_pearson_correlation(n, k, missing):
    rng = np.random.default_rng(k)
    hard = rng.random((n, 1)) < 0.4
    errors = (rng.random((n, k)) < np.where(hard, 0.6, 0.1)).astype(np.int8)
    errors[rng.random((n, k)) < missing] = -1
    result = error_correlation(errors)
    np.testing.assert_allclose(result.phi, twin.phi_matrix(errors), rtol=0, atol=1e-12)
    answered = (errors >= 0).astype(int)
    np.testing.assert_array_equal(result.n_pairs, answered.T @ answered)
    wrong = (errors == 1).astype(int)
    np.testing.assert_array_equal(result.n_both_wrong, wrong.T @ wrong)
    if not missing:
        votes = effective_votes(errors)
        matrix = np.corrcoef(errors.T)
        mean = matrix[np.triu_indices(k, 1)].mean()
        assert votes.mean_phi == pytest.approx(mean, abs=1e-12)
        assert votes.n_eff == pytest.approx(k / (1 + (k - 1) * mean), abs=1e-9)
        assert votes.n_eff_eigen == pytest.approx(k / np.linalg.eigvalsh(matrix)[-1], abs=1e-9)
        assert (votes.k_used, votes.left_out, votes.reason) == (k, (), "")


def test_a_judge_that_never_errs_is_left_out_of_the_mean_and_of_k():
    errors = np.array(
        [
            [1, 1, 1, 0, 0, 0, 0, 0, 0],
            [0, 0, 0, 1, 1, 1, 0, 0, 0],
            [0, 0, 1, 0, 0, 0, 1, 1, 1],
            [0, 0, 0, 0, 0, 0, 0, 0, 0],
        ]
    ).T
    result = effective_votes(errors, judges=["a", "b", "c", "perfect"])
    assert result.left_out == ("perfect",)
    assert result.k_used == 3
    assert result.mean_phi == pytest.approx(-0.4301898050140316, abs=1e-12)
    assert result.n_eff == pytest.approx(21.486832980505138, abs=1e-9)
    phi = error_correlation(errors).phi
    expected = [-0.5, -0.15811388300841897, np.nan, -0.6324555320336759, np.nan, np.nan]
    np.testing.assert_allclose(phi[np.triu_indices(4, 1)], expected, rtol=0, atol=1e-9)


def test_negative_dependence_is_not_clamped():
    errors = np.array([[1, 1, 1, 0, 0, 0, 0, 0], [0, 0, 1, 1, 1, 1, 0, 1]]).T
    result = effective_votes(errors)
    assert result.mean_phi == pytest.approx(-0.4666666666666667, abs=1e-12)
    assert result.n_eff == pytest.approx(3.75, abs=1e-12)
    opposed = effective_votes([[1, 0], [0, 1], [1, 0]])
    assert opposed.mean_phi == -1
    assert opposed.n_eff == np.inf


@pytest.mark.parametrize("value", [0, 1])
def test_no_variance_is_a_reason_not_a_number(value):
    result = effective_votes(np.full((4, 3), value))
    assert np.isnan(result.n_eff)
    assert np.isnan(result.mean_phi)
    assert np.isnan(result.n_eff_eigen)
    assert result.reason == "fewer than two judges whose errors vary"
    assert result.mean_agreement == 1.0
    assert result.n_errors.tolist() == [4 * value] * 3
    opposite = effective_votes(np.array([[0, 0, 0, 0], [1, 1, 1, 1]]).T)
    assert np.isnan(opposite.n_eff)
    assert opposite.mean_agreement == 0.0


def test_raw_agreement_and_error_counts_stand_beside_phi():
    errors = np.zeros((10, 2), int)
    errors[0, 0] = errors[1, 1] = 1
    result = effective_votes(errors)
    assert result.mean_phi == pytest.approx(-1 / 9, abs=1e-12)
    assert result.n_eff == pytest.approx(2.25, abs=1e-12)
    assert result.mean_agreement == pytest.approx(0.8, abs=1e-12)
    assert result.n_errors.tolist() == [1, 1]


def test_a_transposed_array_is_refused_when_judges_are_named():
    ballots = np.array([[1, 1, 1], [0, 0, 1], [1, 0, 1], [0, 1, 0], [1, 1, 0]])
    assert error_correlation(ballots, judges=["a", "b", "c"]).judges == ("a", "b", "c")
    with pytest.raises(ValueError, match=r"shape \(n_queries, 3\).* got \(3, 5\).* transposed"):
        effective_votes(ballots.T, judges=["a", "b", "c"])
    with pytest.raises(ValueError, match="judges must be distinct, got 'a' again at index 1"):
        effective_votes(ballots, judges=["a", "a", "b"])
    with pytest.raises(TypeError, match="judges must be a sequence of strings"):
        effective_votes(ballots, judges="abc")


def test_a_pair_without_common_variance_is_a_reason():
    errors = [[1, 0], [0, -1], [1, 1], [-1, 0]]
    result = effective_votes(errors, judges=["a", "b"])
    assert np.isnan(result.n_eff)
    assert "a or b do not vary where both answered" in result.reason


def test_one_judge_has_no_correlation():
    result = effective_votes([[1], [0], [0]])
    assert np.isnan(result.n_eff)
    assert (result.k_used, result.reason) == (1, "fewer than two judges whose errors vary")
