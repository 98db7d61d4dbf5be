"""Judges, null models, signal models and policies against plain twins."""

import itertools
import math

import numpy as np
import pytest
from reference import votes as twin
from reference.votes import random_panel
from scipy import stats

from ropoll_core import (
    condorcet_null,
    gated_decision,
    judge_metrics,
    permutation_control,
    policy_table,
    signal_sweep,
    substitution,
    tally,
)
from ropoll_core.votes import (
    SignalModel,
    accuracy_weighted_vote,
    dawid_skene,
    effective_votes_change,
)
from ropoll_core.votes._permutation import _exact_losses as exact_losses


@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize(("n", "k"), [(50, 3), (4000, 4), (200, 14)])
def test_judge_metrics(n, k, missing):
    votes, _, labels = random_panel(k, n, k, missing)
    result = judge_metrics(votes, labels, judges=[f"j{j}" for j in range(k)])
    strata = np.array([twin.stratum(row) for row in votes.tolist()])
    for j in range(k):
        tp, fp, tn, fn = twin.judge_counts(votes, labels, j)
        assert result.n[j] == tp + fp + tn + fn
        assert result.n_missing[j] == np.count_nonzero(labels >= 0) - result.n[j]
        assert result.reject_rate[j] == (tn + fn) / result.n[j]
        assert result.accuracy[j] == (tp + tn) / result.n[j]
        assert result.fpr[j] == fp / (fp + tn)
        assert result.fnr[j] == fn / (fn + tp)
        balanced = (tp / (tp + fn) + tn / (tn + fp)) / 2
        assert result.balanced_accuracy[j] == pytest.approx(balanced, abs=1e-15)
        both = (votes[:, j] >= 0) & (labels >= 0)
        mcc = np.corrcoef(votes[both, j], labels[both])[0, 1]
        assert result.mcc[j] == pytest.approx(mcc, abs=1e-12)
        for column, level in enumerate(result.stratum):
            tp, fp, tn, fn = twin.judge_counts(votes[strata == level], labels[strata == level], j)
            fpr = fp / (fp + tn) if fp + tn else math.nan
            fnr = fn / (fn + tp) if fn + tp else math.nan
            np.testing.assert_equal(result.stratum_fpr[j, column], fpr)
            np.testing.assert_equal(result.stratum_fnr[j, column], fnr)


def test_metrics_without_variance_are_nan():
    result = judge_metrics([[1, 1], [1, -1]], [1, 1])
    assert np.isnan(result.fpr).all()
    assert np.isnan(result.mcc).all()
    assert result.accuracy.tolist() == [1.0, 1.0]
    assert result.n_missing.tolist() == [0, 1]


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_condorcet_null_over_all_outcomes(k, missing):
    votes, _, labels = random_panel(k, 200, k, missing)
    strata = np.array(["easy", "hard"])[np.arange(200) % 2]
    result = condorcet_null(votes, labels, strata=strata)
    total, right, n = 0.0, 0, 0
    for key in ("easy", "hard"):
        v, y = votes[strata == key], labels[strata == key]
        accuracy = []
        for j in range(k):
            tp, fp, tn, fn = twin.judge_counts(v, y, j)
            accuracy.append((tp + tn) / (tp + fp + tn + fn))
        for row, label in zip(v.tolist(), y.tolist(), strict=True):
            seats = [j for j in range(k) if row[j] >= 0]
            if label < 0 or not seats:
                continue
            n += 1
            total += twin.majority_odds([accuracy[j] for j in seats], label)
            right += twin.decide(row) == label
    assert (result.n_scored, result.n_strata) == (n, 2)
    assert result.expected_accuracy == pytest.approx(total / n, abs=1e-12)
    assert result.panel_accuracy == right / n
    assert result.gap == result.expected_accuracy - result.panel_accuracy


def test_effective_votes_change_of_identical_judges():
    """Two copies are one vote; an uncorrelated signal makes two."""
    votes = np.array([[1, 1], [1, 1], [0, 0], [0, 0]])
    result = effective_votes_change(votes, [1, 0, 1, 0], [1, 1, 1, 1], judges=["a", "b"])
    assert result.before.n_eff == 1.0
    assert result.after.tolist() == [2.0, 2.0]
    assert result.change == 1.0


def small_panel(k, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, 9)
    votes = np.where(rng.random((9, k)) < 0.6, labels[:, None], 1 - labels[:, None])
    signal = labels.copy()
    signal[rng.permutation(9)[:3]] ^= 1
    return votes, signal, labels


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("rule", ["uniform", "majority", 0])
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_permutation_control_over_every_placement_of_the_errors(k, rule, gaps, weighted):
    votes, signal, labels = small_panel(k, k)
    options = {"rule": rule, "weights": np.arange(k) % 3 + 1.0 if weighted else None}
    if gaps:
        votes[0, 0] = signal[1] = -1
    answered = (signal >= 0) & (votes >= 0).any(axis=1)
    places = np.flatnonzero(answered)
    n_errors = int((signal != labels)[answered].sum())
    gains = []
    for chosen in itertools.combinations(places, n_errors):
        permuted = np.where(signal < 0, -1, labels)
        permuted[list(chosen)] = 1 - labels[list(chosen)]
        gains.append(substitution(votes, permuted, labels, **options).pivotal_gain)
    result = permutation_control(votes, signal, labels, **options)
    expected, counts = np.unique(np.round(gains, 12), return_counts=True)
    np.testing.assert_allclose(result.values, expected, rtol=0, atol=1e-11)
    np.testing.assert_allclose(result.probabilities, counts / counts.sum(), rtol=1e-11)
    observed = substitution(votes, signal, labels, **options).pivotal_gain
    assert result.observed == pytest.approx(observed, abs=1e-12)
    assert result.mean == pytest.approx(np.mean(gains), abs=1e-12)
    assert result.standard_deviation == pytest.approx(np.std(gains), abs=1e-12)
    assert result.p_upper == pytest.approx(np.mean(np.array(gains) >= observed - 1e-9), abs=1e-11)
    assert result.p_lower == pytest.approx(np.mean(np.array(gains) <= observed + 1e-9), abs=1e-11)
    sampled = permutation_control(votes, signal, labels, **options, n_resamples=4000, rng=1)
    assert not sampled.exact
    assert sampled.mean == pytest.approx(result.mean, abs=5 * result.standard_deviation / 60)


def test_permutation_control_with_weights_of_each_query():
    votes, signal, labels = small_panel(4, 1)
    weights = np.random.default_rng(3).integers(1, 5, votes.shape).astype(float)
    gains = []
    for chosen in itertools.combinations(range(9), 3):
        permuted = labels.copy()
        permuted[list(chosen)] ^= 1
        total, strata = twin.substitution(votes, permuted, labels, "uniform", weights)
        gains.append(float(total / strata[1][0]))
    result = permutation_control(votes, signal, labels, weights=weights)
    expected, counts = np.unique(np.round(gains, 12), return_counts=True)
    np.testing.assert_allclose(result.values, expected, rtol=0, atol=1e-11)
    np.testing.assert_allclose(result.probabilities, counts / 84, rtol=1e-11)


def test_one_group_is_hypergeometric():
    """Seven judges, uniform: (k + 1)/2k (N_w - H)/n_pivotal, thousands of queries."""
    votes, signal, labels = random_panel(2, 3000, 7)
    result = permutation_control(votes, signal, labels)
    counted = tally(votes)
    n_wrong = int((counted.pivotal & (counted.decision != labels)).sum())
    law = stats.hypergeom(3000, result.n_pivotal, int((signal != labels).sum()))
    h = np.rint(n_wrong - result.values * result.n_pivotal * 14 / 8).astype(int)
    np.testing.assert_allclose(result.probabilities, law.pmf(h), rtol=1e-9, atol=1e-300)


def test_exact_losses_hold_beyond_the_products_that_fit_an_integer():
    losses, odds = exact_losses(np.array([2**42]), np.array([4000]), 6000, 900)
    hits = np.arange(901)
    np.testing.assert_array_equal(losses, hits * 2**42)
    np.testing.assert_allclose(
        odds, stats.hypergeom(6000, 4000, 900).pmf(hits), rtol=1e-9, atol=1e-300
    )


def test_permutation_control_refuses_what_it_cannot_say():
    with pytest.raises(ValueError, match="votes must have a pivotal query with a label"):
        permutation_control([[1, 1, 1]], [1], [1])
    votes, signal, labels = random_panel(1, 4000, 16, missing=0.3)
    with pytest.raises(ValueError, match="sample it with n_resamples="):
        permutation_control(votes, signal, labels)
    assert permutation_control(votes, signal, labels, n_resamples=100, rng=0).values.size > 10


@pytest.mark.parametrize("k", [3, 4])
@pytest.mark.parametrize("rule", ["uniform", "majority", 1])
def test_signal_sweep_is_the_expectation_over_every_signal(k, rule):
    """All 2^6 signals weighted by their probability; abstention halves the gain."""
    rng = np.random.default_rng(k)
    votes, labels = rng.integers(0, 2, (6, k)), np.array([0, 0, 1, 1, 1, 0])
    model = SignalModel(0.9, 0.7)
    total = 0.0
    for signal in itertools.product((0, 1), repeat=6):
        right = np.array(signal) == labels
        odds = np.where(labels == 1, model.sensitivity, model.specificity)
        probability = np.prod(np.where(right, odds, 1 - odds))
        total += probability * substitution(votes, signal, labels, rule=rule).gain
    models = [model, SignalModel(0.9, 0.7, coverage=0.5)]
    result = signal_sweep(votes, labels, models, rule=rule)
    np.testing.assert_allclose(result.gain, [total, total / 2], rtol=0, atol=1e-12)
    np.testing.assert_allclose(result.signal_accuracy, 0.8, rtol=0, atol=1e-15)
    np.testing.assert_allclose(result.accuracy, result.panel_accuracy + result.gain)
    assert signal_sweep(votes, labels, model, rule=rule).gain == result.gain[0]


def test_nested_signals_share_their_errors():
    labels = np.random.default_rng(0).integers(0, 2, 20_000)
    prevalence = labels.mean()
    errors = []
    for accuracy in (0.95, 0.8, 0.6):
        model = SignalModel.nested(accuracy, prevalence=prevalence)
        assert model.sensitivity == 1
        assert model.accuracy(prevalence) == pytest.approx(accuracy, abs=1e-12)
        signal = model.simulate(labels, rng=5)
        errors.append(signal != labels)
        assert not errors[-1][labels == 1].any()
        assert 1 - errors[-1].mean() == pytest.approx(accuracy, abs=0.02)
    assert not (errors[0] & ~errors[1]).any()
    assert not (errors[1] & ~errors[2]).any()
    other = SignalModel.nested(0.9, prevalence=0.5, errors="reject")
    assert (other.sensitivity, other.specificity) == (0.8, 1.0)
    silent = SignalModel.independent(0.9, coverage=0.25).simulate(labels, rng=5)
    assert (silent >= 0).mean() == pytest.approx(0.25, abs=0.02)
    with pytest.raises(ValueError, match=r"accuracy must be at least 0\.5"):
        SignalModel.nested(0.4, prevalence=0.5)
    with pytest.raises(ValueError, match="sensitivity must be a finite number in"):
        SignalModel(1.2, 0.5)
    with pytest.raises(TypeError, match="models must hold SignalModel, got float at index 1"):
        signal_sweep([[1]], [1], [other, 0.5])


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_policy_table(missing):
    votes, signal, labels = random_panel(6, 500, 4, missing)
    table = policy_table(votes, signal, labels, judges=list("abcd"))
    accuracy = dict(zip(table.policy, table.accuracy, strict=True))
    rate = dict(zip(table.policy, table.call_rate, strict=True))
    scored = (labels >= 0) & (votes >= 0).any(axis=1)
    for rule, name in (("uniform", "uniform"), ("majority", "majority"), (2, "judge c")):
        result = substitution(votes, signal, labels, rule=rule)
        assert accuracy[f"substitute {name}"] == pytest.approx(result.accuracy, abs=1e-12)
        gate = gated_decision(votes, signal, rule=rule)
        assert rate[f"substitute {name}"] == gate.called[scored].mean()
    assert accuracy["panel"] == result.panel_accuracy
    assert accuracy["signal"] == pytest.approx(result.signal_accuracy, abs=1e-12)
    assert (rate["panel"], rate["signal"], rate["substitute majority"]) == (
        0,
        1,
        result.pivotal_share,
    )
    metrics = judge_metrics(votes, labels)
    for j, name in enumerate("abcd"):
        assert accuracy[f"judge {name}"] == pytest.approx(metrics.accuracy[j], abs=1e-12)
    best = "abcd"[int(metrics.accuracy.argmax())]
    assert accuracy[f"best judge ({best})"] == pytest.approx(metrics.accuracy.max(), abs=1e-12)
    chosen = [name for name, same in zip(table.policy, table.same_data, strict=True) if same]
    assert chosen == [f"best judge ({best})"]
    assert "chosen on the same data" in repr(table)
    bare = policy_table(votes, None, labels)
    assert not any("signal" in name or "substitute" in name for name in bare.policy)


def test_cross_fitting_never_sees_the_labels_it_is_scored_on():
    votes, _, labels = random_panel(7, 300, 5, missing=0.1)
    tasks = np.arange(300) // 3
    decided = accuracy_weighted_vote(votes, labels, tasks=tasks, n_folds=4)
    for fold in range(4):
        inside = tasks % 4 == fold
        weights = []
        for j in range(5):
            tp, fp, tn, fn = twin.judge_counts(votes[~inside], labels[~inside], j)
            weights.append(np.log((tp + tn + 1) / (fp + fn + 1)))
        for row, got in zip(votes[inside].tolist(), decided[inside], strict=True):
            score = sum(w * (2 * v - 1) for w, v in zip(weights, row, strict=True) if v >= 0)
            assert got == (score > 0 if any(v >= 0 for v in row) else -1)
        changed = np.where(inside & (labels >= 0), 1 - labels, labels)
        again = accuracy_weighted_vote(votes, changed, tasks=tasks, n_folds=4)
        np.testing.assert_array_equal(again[inside], decided[inside])


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_dawid_skene_against_the_twin(missing):
    votes, _, _ = random_panel(3, 3000, 5, missing)
    votes = votes[(votes >= 0).any(axis=1)]
    result = dawid_skene(votes, max_iter=12, tol=0.0)
    posterior, share, sensitivity, specificity = twin.dawid_skene(votes, 1.0, result.n_iter)
    np.testing.assert_allclose(result.sensitivity, sensitivity, rtol=0, atol=1e-10)
    np.testing.assert_allclose(result.specificity, specificity, rtol=0, atol=1e-10)
    np.testing.assert_allclose(result.posterior, posterior, rtol=0, atol=1e-9)
    assert result.prevalence == pytest.approx(share, abs=1e-10)
    assert not result.converged


def test_dawid_skene_finds_the_good_judge():
    rng = np.random.default_rng(4)
    labels = rng.integers(0, 2, 4000)
    right = rng.random((4000, 5)) < [0.95, 0.6, 0.6, 0.6, 0.6]
    votes = np.where(right, labels[:, None], 1 - labels[:, None])
    result = dawid_skene(votes)
    assert result.converged
    assert (result.decision == labels).mean() > (tally(votes).decision == labels).mean() + 0.1
    np.testing.assert_allclose(result.sensitivity, [0.95, 0.6, 0.6, 0.6, 0.6], atol=0.04)
    nothing = dawid_skene([[-1, -1]])
    assert np.isnan(nothing.posterior[0])
    assert nothing.decision.tolist() == [-1]
