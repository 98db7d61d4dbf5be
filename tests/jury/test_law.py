"""The consensus law: rational enumeration, 50 digits, limits, monotonicity, simulation."""

import itertools
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.jury import law_by_enumeration, law_in_high_precision

from ropoll_core import ConsensusLaw, consensus

RULES = ("correct", "uniform", "strict")


def by_size(law, n):
    """Pr(size) and Pr(size and correct) by rule, from the public methods."""
    coverage = law.coverage(n)
    size = coverage - np.append(coverage[1:], 0.0)
    above = {rule: np.nan_to_num(law.selective(n, ties=rule)) * coverage for rule in RULES}
    return size, {rule: v - np.append(v[1:], 0.0) for rule, v in above.items()}


def test_one_attractor_by_the_printed_formula():
    # Acc = sum_c Pr(C = c) Pr(A <= c), A ~ Binomial(M - c, s), for a wrong answer that is
    # either the attractor or shared with nobody: ties to the correct class, c >= 1.
    a, rho, s, n = 0.7, 0.47, 0.3, 4
    law = ConsensusLaw(a, rho, s)
    k = 1 / rho - 1
    total = mpmath.mpf(0)
    for c in range(1, n + 1):
        beta = mpmath.binomial(n, c) * mpmath.beta(c + a * k, n - c + (1 - a) * k)
        beta /= mpmath.beta(a * k, (1 - a) * k)
        at_most = sum(mpmath.binomial(n - c, i) * s**i * (1 - s) ** (n - c - i)
                      for i in range(min(c, n - c) + 1))  # fmt: skip
        total += beta * at_most
    assert law.accuracy(n) == pytest.approx(float(total), rel=1e-14)
    assert round(law.accuracy(n), 4) == 0.8626
    assert round(law.accuracy(n, ties="uniform"), 4) == 0.7936


GRID = [
    ("1/2", "1/3", ("1/4",)),
    ("7/10", "47/100", ("3/10",)),
    ("1/3", "0", ("1/2", "1/3", "1/6")),
    ("9/10", "1", ("1/5", "1/5")),
    ("0", "1/2", ("2/3", "1/3")),
    ("1", "1/2", ("1/3",)),
    ("2/5", "1/5", ()),
    ("2/5", "1/5", ("1", "0")),
    ("3/7", "9/10", ("1/2", "1/4", "1/8", "1/16")),
]


@pytest.mark.parametrize(("a", "rho", "masses"), GRID)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_agrees_with_rational_enumeration(a, rho, masses, n):
    a, rho, masses = Fraction(a), Fraction(rho), [Fraction(s) for s in masses]
    size, correct = law_by_enumeration(a, rho, masses, n)
    law = ConsensusLaw(float(a), float(rho), [float(s) for s in masses])
    got_size, got_correct = by_size(law, n)
    np.testing.assert_allclose(got_size, [float(size[g]) for g in range(1, n + 1)], atol=3e-16)
    for rule in RULES:
        wanted = [float(correct[rule][g]) for g in range(1, n + 1)]
        np.testing.assert_allclose(got_correct[rule], wanted, atol=3e-16)
        assert law.accuracy(n, ties=rule) == pytest.approx(sum(wanted), rel=1e-14, abs=0)
    wanted_floor = size[n] - correct["correct"][n] if n > 1 else 1 - a
    assert law.floor(n) == pytest.approx(float(wanted_floor), rel=1e-13, abs=0)


# 0.1 and others are taken as the doubles they are, so that the reference has the same input.
PRECISE = [
    (0.7, 0.47, (0.3,), 4),
    (0.7, 0.47, (0.4, 0.2, 0.1, 0.05, 0.02, 0.01), 9),
    (0.5, 1e-12, (0.75, 0.21, 0.04), 8),
    (0.5, 1e-30, (0.75, 0.21), 8),
    (0.25, 1 - 2**-40, (0.5, 0.25), 12),
    (0.25, 1 - 2**-53, (0.5, 0.25), 12),
    (1e-12, 0.3, (0.9, 0.05), 7),
    (1 - 2**-50, 0.3, (0.9, 0.05), 7),
    (1e-100, 1e-5, (0.5,), 5),
    (0.6, 0.4, (1e-30, 1e-5), 6),
    (0.6, 0.2, (0.5, 0.2, 0.1, 0.1, 0.05, 0.05), 33),
    (0.43, 0.31, (0.5, 0.2, 0.1, 0.1, 0.05, 0.03), 64),
    (0.02, 1e-6, (0.25, 0.25, 0.25, 0.25), 64),
]


@pytest.mark.parametrize(("a", "rho", "masses", "n"), PRECISE)
def test_agrees_with_fifty_digits(a, rho, masses, n):
    accuracy, size, floor = law_in_high_precision(a, rho, masses, n)
    law = ConsensusLaw(a, rho, masses)
    for rule in RULES:
        assert law.accuracy(n, ties=rule) == pytest.approx(float(accuracy[rule]), rel=1e-13)
    assert law.floor(n) == pytest.approx(float(floor), rel=1e-13)
    upper = [float(mpmath.fsum(size[g:])) for g in range(n)]
    np.testing.assert_allclose(law.coverage(n), upper, rtol=2e-13)


def test_limits_are_reached_without_a_jump():
    masses = (0.5, 0.3)
    for n in (2, 4, 7):
        for a in (0.2, 0.6):
            for rule in RULES:
                for rho, near in ((0.0, 1e-14), (1.0, 1 - 1e-14)):
                    exact = ConsensusLaw(a, rho, masses).accuracy(n, ties=rule)
                    close = ConsensusLaw(a, near, masses).accuracy(n, ties=rule)
                    assert close == pytest.approx(exact, abs=1e-11)
        # All or nothing: right together or wrong together.
        assert ConsensusLaw(0.6, 1.0, masses).accuracy(n) == pytest.approx(0.6, abs=1e-15)
        floor = 0.4 * sum(s**n for s in masses)
        assert ConsensusLaw(0.6, 1.0, masses).floor(n) == pytest.approx(floor, rel=1e-14)
        assert ConsensusLaw(1.0, 0.3, masses).accuracy(n, ties="strict") == 1.0
        assert ConsensusLaw(0.0, 0.3, masses).accuracy(n) == 0.0
        assert ConsensusLaw(1.0, 0.3, masses).floor(n) == 0.0
    for rho in (0.0, 0.4, 1.0):
        assert ConsensusLaw(0.37, rho, masses).accuracy(1, ties="strict") == pytest.approx(0.37)
        assert ConsensusLaw(0.37, rho, masses).floor(1) == pytest.approx(0.63)


fraction = st.floats(0, 1, allow_subnormal=False)


@settings(deadline=None, max_examples=200)
@given(fraction, fraction, st.lists(fraction, max_size=6), st.integers(1, 16))
def test_laws_of_the_law(a, rho, raw, n):
    total = sum(raw)
    masses = [s / max(total, 1.0) for s in raw]
    law = ConsensusLaw(a, rho, masses)
    by_rule = [law.accuracy(n, ties=rule) for rule in RULES]
    assert by_rule[0] >= by_rule[1] - 1e-15
    assert by_rule[1] >= by_rule[2] - 1e-15
    coverage = law.coverage(n)
    assert coverage[0] == pytest.approx(1.0, abs=1e-12)
    assert (np.diff(coverage) <= 1e-15).all()
    # The invariant of every published row: floor = coverage x error at unanimity.
    selective = law.selective(n)[-1]
    if coverage[-1] > 1e-200:
        assert coverage[-1] * (1 - selective) == pytest.approx(law.floor(n), abs=1e-13)
    else:
        assert law.floor(n) <= 1e-200
    # The order of the attractors, and attractors of no mass, change nothing.
    again = ConsensusLaw(a, rho, [0.0, *masses[::-1], 0.0])
    assert again.accuracy(n, ties="uniform") == pytest.approx(by_rule[1], abs=1e-13)


@settings(deadline=None, max_examples=100)
@given(fraction, fraction, fraction, st.lists(fraction, min_size=1, max_size=4), st.integers(2, 9))
def test_monotone_in_member_accuracy_and_in_shared_error(a, b, rho, raw, n):
    masses = [s / max(sum(raw), 1.0) for s in raw]
    low, high = sorted((a, b))
    better, worse = ConsensusLaw(high, rho, masses), ConsensusLaw(low, rho, masses)
    for rule in RULES:
        assert better.accuracy(n, ties=rule) >= worse.accuracy(n, ties=rule) - 1e-13
    assert better.floor(n) <= worse.floor(n) + 1e-13
    # A larger panel, less correlation and a smaller attractor lower the floor.
    assert better.floor(n + 1) <= better.floor(n) + 1e-13
    assert (
        ConsensusLaw(a, rho * b, masses).floor(n) <= ConsensusLaw(a, rho, masses).floor(n) + 1e-13
    )
    smaller = [masses[0] * b, *masses[1:]]
    assert ConsensusLaw(a, rho, smaller).floor(n) <= ConsensusLaw(a, rho, masses).floor(n) + 1e-13


SIMULATED = list(itertools.product(
    (0.3, 0.7), (0.0, 0.45, 1.0), ((), (0.8,), (0.5, 0.25, 0.15, 0.1)), (3, 4, 7)
))  # fmt: skip


@pytest.mark.parametrize(("a", "rho", "masses", "n"), SIMULATED)
def test_closed_form_against_simulation(a, rho, masses, n):
    law = ConsensusLaw(a, rho, masses)
    n_queries = 40_000
    seed = np.random.SeedSequence([int(100 * a), int(100 * rho), len(masses), n])
    answers = law.simulate(n, n_queries, rng=seed)
    gold = np.zeros(n_queries, dtype=int)
    panel = consensus(answers)

    def check(measured, chance):
        assert abs(measured - chance) <= 4.5 * np.sqrt(chance * (1 - chance) / n_queries) + 1e-12

    check(panel.accuracy(gold), law.accuracy(n, ties="uniform"))
    check(consensus(answers, ties="none").accuracy(gold), law.accuracy(n, ties="strict"))
    right = (answers == 0).sum(axis=1)
    check((right == panel.count).mean(), law.accuracy(n))
    check(((panel.count == n) & (right == 0)).mean(), law.floor(n))
    for m, chance in enumerate(law.coverage(n), start=1):
        check((panel.count >= m).mean(), chance)


def test_simulation_has_the_stated_moments_and_is_reproducible():
    law = ConsensusLaw(0.6, 0.35, (0.5, 0.3))
    answers = law.simulate(3, 200_000, rng=7)
    assert answers.dtype == np.int32
    assert (answers == law.simulate(3, 200_000, rng=7)).all()
    errors = answers != 0
    assert errors.mean() == pytest.approx(0.4, abs=0.004)
    assert np.corrcoef(errors.T)[0, 1] == pytest.approx(0.35, abs=0.01)
    wrong = answers[errors]
    assert [(wrong == j).mean() for j in (1, 2)] == pytest.approx([0.5, 0.3], abs=0.005)
    alone = np.sort(np.where(answers > 2, answers, -np.arange(3)), axis=1)
    assert (np.diff(alone, axis=1) > 0).all()


def test_vectorised_equals_one_by_one_whatever_the_workers():
    rng = np.random.default_rng(8)
    a, rho = rng.random((40, 1)), rng.random((1, 5))
    masses = rng.dirichlet(np.ones(5), (40, 5))[..., :4]
    law = ConsensusLaw(a, rho, masses)
    assert law.shape == (40, 5)
    whole = law.accuracy(6, ties="uniform")
    for workers in (2, -1):
        assert (law.accuracy(6, ties="uniform", workers=workers) == whole).all()
    assert law.coverage(6).shape == (40, 5, 6)
    assert law.selective(6).shape == (40, 5, 6)
    for i, j in ((0, 0), (17, 3), (39, 4)):
        one = ConsensusLaw(a[i, 0], rho[0, j], masses[i, j])
        assert one.accuracy(6, ties="uniform") == whole[i, j]
        assert (one.coverage(6) == law.coverage(6)[i, j]).all()
        assert one.floor(6) == law.floor(6)[i, j]
    assert ConsensusLaw(np.empty(0), 0.5, [0.2]).accuracy(4).shape == (0,)


def test_agreement_without_probability_gives_nan():
    law = ConsensusLaw(0.0, 0.0, ())
    assert law.coverage(4).tolist() == [1.0, 0.0, 0.0, 0.0]
    assert law.selective(4)[0] == 0.0
    assert np.isnan(law.selective(4)[1:]).all()


def test_printed_profiles_that_round_above_one_are_taken():
    masses = (0.49, 0.25, 0.17, 0.09)
    law = ConsensusLaw(0.5, 0.5, masses)
    assert law.coverage(4)[0] == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((1.2, 0.5, 0.3), ValueError, r"accuracy must be in \[0, 1\], got 1.2"),
        (([0.5, -0.1], 0.5, 0.3), ValueError, r"accuracy must be in .* got -0.1 at index \(1,\)"),
        ((0.5, -0.01, 0.3), ValueError, r"correlation must be in \[0, 1\], got -0.01"),
        ((0.5, float("nan"), 0.3), ValueError, "correlation must be in .* got nan"),
        ((0.5, 0.5, (0.7, 0.4)), ValueError, r"attractors must sum to at most 1, got 1\.1"),
        ((0.5, 0.5, [[0.1, 0.2], [0.9, 0.2]]), ValueError, r"at most 1, got 1.1 at index \(1,\)"),
        ((0.5, 0.5, -0.1), ValueError, r"attractors must be in \[0, 1\], got -0.1"),
        (("half", 0.5, 0.3), TypeError, "accuracy must hold real numbers"),
        ((0.5, None, 0.3), TypeError, "correlation must hold real numbers"),
        ((True, 0.5, 0.3), TypeError, "accuracy must hold real numbers, got dtype bool"),
        (([0.1, 0.2], [0.1, 0.2, 0.3], 0.3), ValueError, "must broadcast"),
    ],
)
def test_bad_parameters(arguments, error, message):
    with pytest.raises(error, match=message):
        ConsensusLaw(*arguments)


def test_bad_options():
    law = ConsensusLaw(0.5, 0.5, 0.3)
    for n in (0, 65, -1):
        with pytest.raises(ValueError, match=f"n must be from 1 to 64, got {n}"):
            law.accuracy(n)
    with pytest.raises(TypeError, match="n must be an integer"):
        law.floor(4.0)
    with pytest.raises(ValueError, match="ties must be one of correct, uniform, strict"):
        law.accuracy(4, ties="expected")
    with pytest.raises(ValueError, match="simulate needs single parameters"):
        ConsensusLaw([0.1, 0.2], 0.5, 0.3).simulate(3, 10)
    assert "0.3" in repr(law)
    assert "(2,)" in repr(ConsensusLaw([0.1, 0.2], 0.5, 0.3))
