"""Substitution among more than two classes, and by a user's own rule."""

import itertools
from fractions import Fraction

import numba
import numpy as np
import pytest
from reference import votes as twin
from reference.votes import random_panel

from ropoll_core import gated_decision, substitution
from ropoll_core.votes import plurality_substitution


def check(answers, signal, gold, rule):
    result = plurality_substitution(answers, signal, gold, rule=rule)
    strata, total, n_pivotal = {}, Fraction(0), 0
    for row, said, truth in zip(answers, signal, gold, strict=True):
        if truth is None or all(v is None for v in row):
            continue
        right, expected, pivotal, lead = twin.plurality(row, said, truth, rule)
        n, errors, gain = strata.get(lead, (0, 0, Fraction(0)))
        strata[lead] = (n + 1, errors + (not right), gain + expected - right)
        total += expected - right
        n_pivotal += pivotal
    assert result.total_gain == total
    assert result.n_pivotal == n_pivotal
    assert result.stratum.tolist() == sorted(strata)
    for row, lead in enumerate(sorted(strata)):
        n, errors, gain = strata[lead]
        assert (result.n[row], result.n_errors[row]) == (n, errors)
        assert result.stratum_gain[row] == float(gain / n)
    return result


@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize("rule", ["uniform", "majority", 0])
def test_every_pattern_of_three_classes_with_gaps(k, rule):
    rows, signal, gold = [], [], []
    for pattern in itertools.product(("A", "B", "C", None), repeat=k):
        for said in ("A", "Z", None):
            rows.append(list(pattern))
            signal.append(said)
            gold.append("A")
    check(rows, signal, gold, rule)


@pytest.mark.parametrize("rule", ["uniform", "majority", 2])
def test_many_judges_and_classes(rule):
    rng = np.random.default_rng(0)
    names = [*"ABCDE", None]
    table = [[names[i] for i in row] for row in rng.integers(0, 6, (300, 7))]
    signal, gold = ([names[i] for i in rng.integers(0, 6, 300)] for _ in range(2))
    result = check(table, signal, gold, rule)
    again = plurality_substitution(table, signal, gold, rule=rule, workers=2)
    assert again.total_gain == result.total_gain
    assert result.n_unlabelled == sum(g is None for g in gold)


def test_two_classes_and_odd_panels_are_the_binary_case():
    votes, signal, labels = random_panel(1, 400, 5)
    for rule in ("uniform", "majority", 3):
        plain = substitution(votes, signal, labels, rule=rule)
        classes = plurality_substitution(votes.tolist(), signal, labels, rule=rule)
        assert classes.total_gain == plain.total_gain
        assert classes.n_pivotal == plain.n_pivotal
        assert classes.panel_accuracy == plain.panel_accuracy
        assert classes.signal_accuracy == plain.signal_accuracy
        np.testing.assert_array_equal(classes.n, plain.n)


def test_a_signal_nobody_voted_for_can_win():
    result = plurality_substitution([["A"]], ["Z"], ["Z"])
    assert (result.panel_accuracy, result.accuracy) == (0.0, 1.0)
    with pytest.raises(ValueError, match=r"signal must have shape \(1,\).* got 2"):
        plurality_substitution([["A"]], ["Z", "Z"], ["Z"])


@numba.njit
def any_judge(ballots, judge, signal):
    return 1.0


@numba.njit
def majority_side(ballots, judge, signal):
    ones = 0
    valid = 0
    for vote in ballots:
        if vote >= 0:
            valid += 1
            ones += vote
    return 1.0 if ballots[judge] == (2 * ones > valid) else 0.0


@numba.njit
def second_judge(ballots, judge, signal):
    return judge == 1


@numba.njit
def later_more(ballots, judge, signal):
    return judge + 1.0


@numba.njit
def negative(ballots, judge, signal):
    return -1.0


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "k"), [(200, 4), (3000, 5)])
def test_a_compiled_rule_is_the_built_in_one(n, k, weighted):
    votes, signal, labels = random_panel(k, n, k, missing=0.1)
    weights = np.arange(1.0, k + 1) if weighted else None
    for rule, function in (("uniform", any_judge), ("majority", majority_side), (1, second_judge)):
        if rule == "majority" and weighted:
            continue
        plain = substitution(votes, signal, labels, rule=rule, weights=weights)
        own = substitution(votes, signal, labels, rule=function, weights=weights)
        assert own.total_gain == pytest.approx(float(plain.total_gain), abs=1e-9)
        np.testing.assert_array_equal(own.stratum, plain.stratum)
        np.testing.assert_allclose(own.stratum_gain, plain.stratum_gain, rtol=0, atol=1e-12)
        assert own.n_pivotal == plain.n_pivotal
        assert own.rule == function.__name__


def test_a_rule_of_unequal_weights():
    votes, signal, labels = random_panel(2, 200, 3)
    expected = 0.0
    for row, said, label in zip(votes.tolist(), signal, labels, strict=True):
        before = twin.decide(row) == label
        for j in range(3):
            after = twin.decide([int(said) if i == j else v for i, v in enumerate(row)]) == label
            expected += (j + 1) / 6 * (int(after) - int(before))
    own = substitution(votes, signal, labels, rule=later_more)
    assert own.total_gain == pytest.approx(expected, abs=1e-10)


def test_rules_that_are_refused():
    votes, signal, labels = random_panel(2, 20, 3)
    with pytest.raises(ValueError, match="rule must return finite weights that are not negative"):
        substitution(votes, signal, labels, rule=negative)
    with pytest.raises(TypeError, match=r"rule must be compiled by numba\.njit"):
        substitution(votes, signal, labels, rule=lambda ballots, judge, signal: 1.0)
    with pytest.raises(TypeError, match="rule must be one of uniform, majority, or the index"):
        gated_decision(votes, signal, rule=any_judge)
