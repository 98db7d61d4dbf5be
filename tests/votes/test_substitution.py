"""Tallies, exact substitution and gating against loops over every replacement."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import votes as twin
from reference.votes import random_panel

from ropoll_core import gated_decision, substitution, tally
from ropoll_core.votes._types import as_types


def check_substitution(votes, signal, labels, rule, weights=None):
    result = substitution(votes, signal, labels, rule=rule, weights=weights)
    total, strata = twin.substitution(votes, signal, labels, rule, weights)
    assert result.total_gain == total
    assert result.stratum.tolist() == sorted(strata)
    for row, key in enumerate(sorted(strata)):
        n, errors, gained = strata[key]
        assert (result.n[row], result.n_errors[row]) == (n, errors)
        assert result.stratum_gain[row] == float(gained / n)
        if not result.stratum_pivotal[row]:
            assert gained == 0
    assert result.n_scored == sum(n for n, _, _ in strata.values())
    assert result.n_queries == len(votes)
    return result


PATTERNS = [(k, np.array(list(itertools.product((0, 1), repeat=k)), np.int8)) for k in range(1, 13)]


@pytest.mark.parametrize(("k", "patterns"), PATTERNS, ids=[f"k={k}" for k, _ in PATTERNS])
def test_propositions_on_every_ballot_pattern(k, patterns):
    """A replacement matters iff s is h or h + 1 and the signal is not d, with the printed odds."""
    half = k // 2
    s = patterns.sum(axis=1)
    result = tally(patterns)
    np.testing.assert_array_equal(result.decision, 2 * s > k)
    np.testing.assert_array_equal(result.margin, np.abs(2 * s - k))
    np.testing.assert_array_equal(result.tie, 2 * s == k)
    np.testing.assert_array_equal(result.pivotal, (s == half) | (s == half + 1))
    for signal in (0, 1):
        gate = gated_decision(patterns, np.full(len(patterns), signal), rule="uniform")
        flip = np.abs(gate.decision - result.decision)
        odds = np.where(s == half + 1, (half + 1) / k, (k - half) / k)
        expected = np.where(result.pivotal & (result.decision != signal), odds, 0)
        np.testing.assert_allclose(flip, expected, rtol=0, atol=1e-15)


@pytest.mark.parametrize("k", range(1, 10))
@pytest.mark.parametrize("rule", ["uniform", "majority", 0])
def test_substitution_on_every_pattern_signal_and_label(k, rule):
    sides = list(itertools.product((0, 1), (0, 1)))
    rows = [(*p, *side) for p in itertools.product((0, 1), repeat=k) for side in sides]
    table = np.array(rows, np.int8)
    check_substitution(table[:, :k].copy(), table[:, k], table[:, k + 1], rule)


@pytest.mark.parametrize("k", range(1, 6))
@pytest.mark.parametrize("rule", ["uniform", "majority", 0])
def test_substitution_on_every_pattern_with_gaps(k, rule):
    """Mixed odd and even, empty panels, abstaining signals, missing labels: all combinations."""
    table = np.array(list(itertools.product((-1, 0, 1), repeat=k + 2)), np.int8)
    result = check_substitution(table[:, :k].copy(), table[:, k], table[:, k + 1], rule)
    assert result.n_empty == 9
    assert result.n_unlabelled == 3 * (3**k - 1)
    assert result.n_abstained == 2 * (3**k - 1)


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 6, 7, 8, 9])
@pytest.mark.parametrize("rule", ["uniform", "majority", 0])
@pytest.mark.parametrize("per_query", [False, True])
def test_weighted_substitution(k, rule, per_query):
    rng = np.random.default_rng(k)
    votes, signal, labels = random_panel(k, 150, k, missing=0.1)
    weights = rng.integers(0, 4, (150, k)).astype(float)
    weights[:, -1] += 1
    weights = weights if per_query else weights[0]
    check_substitution(votes, signal, labels, rule, weights)


def test_equal_weights_change_nothing():
    votes, signal, labels = random_panel(3, 500, 6, missing=0.1)
    plain, weighted = tally(votes), tally(votes, weights=np.full(6, 0.1))
    for name in ("decision", "ones", "n_valid", "tie", "pivotal"):
        np.testing.assert_array_equal(getattr(plain, name), getattr(weighted, name))
    np.testing.assert_allclose(plain.margin, weighted.margin, rtol=0, atol=1e-12)
    for rule in ("uniform", "majority", 2):
        one = substitution(votes, signal, labels, rule=rule)
        other = substitution(votes, signal, labels, rule=rule, weights=np.full(6, 0.1))
        assert one.total_gain == other.total_gain


@pytest.mark.parametrize("scale", [1e-320, 1.7e308])
def test_only_ratios_of_weights_count(scale):
    votes, signal, labels = random_panel(6, 200, 5, 0.2)
    plain, scaled = tally(votes), tally(votes, weights=np.full(5, scale))
    for name in ("decision", "ones", "n_valid", "tie", "pivotal"):
        np.testing.assert_array_equal(getattr(plain, name), getattr(scaled, name))
    np.testing.assert_allclose(plain.margin, scaled.margin, rtol=1e-15)
    one = substitution(votes, signal, labels)
    assert substitution(votes, signal, labels, weights=np.full(5, scale)).gain == one.gain


@pytest.mark.parametrize("ties", ["incorrect", "correct", "missing"])
@pytest.mark.parametrize("weighted", [False, True])
def test_tally_against_the_twin(ties, weighted):
    votes, _, _ = random_panel(5, 400, 6, missing=0.3)
    weights = np.array([1.0, 2, 3, 0, 1, 2]) if weighted else None
    value = {"incorrect": 0, "correct": 1, "missing": -1}[ties]
    result = tally(votes, weights=weights, ties=ties)
    for i, row in enumerate(votes.tolist()):
        decision = twin.decide(row, weights, value)
        assert result.decision[i] == (-1 if decision is None else decision)
        seats = twin.seats_of(row, weights)
        assert result.n_valid[i] == len(seats)
        assert result.ones[i] == sum(row[j] for j in seats)
        assert result.pivotal[i] == twin.is_pivotal(row, weights, value)
        assert result.tie[i] == (bool(seats) and twin.decide(row, weights, 2) == 2)
    assert result.n_empty == np.count_nonzero(result.n_valid == 0)


WEIGHTS = {"none": None, "by judge": [2.0, 1, 0, 3], "by query": "by query"}


@pytest.mark.parametrize("rule", ["uniform", "majority", 0, 3])
@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
def test_gate_equals_universal_substitution(rule, weights):
    votes, signal, _ = random_panel(8, 600, 4, missing=0.2)
    if weights == "by query":
        weights = np.random.default_rng(0).integers(0, 4, (600, 4)).astype(float)
        weights[:, 1] += 1
    gate = gated_decision(votes, signal, rule=rule, weights=weights)
    for i, row in enumerate(votes.tolist()):
        own = weights[i] if isinstance(weights, np.ndarray) else weights
        if twin.decide(row, own) is None:
            assert np.isnan(gate.decision[i])
            assert not gate.called[i]
            continue
        answers = [twin.probability_of_one(row, v, rule, own) for v in (-1, 0, 1)]
        assert gate.decision[i] == pytest.approx(float(answers[signal[i] + 1]), abs=1e-15)
        assert gate.called[i] == (len(set(answers)) > 1)


@pytest.mark.parametrize("k", range(1, 10))
@pytest.mark.parametrize("rule", ["uniform", "majority", 0])
def test_weighted_gate_on_every_pattern(k, rule):
    """Weights that differ, some equal, so that ties occur; replaced in turn by 0 and by 1."""
    patterns = np.array(list(itertools.product((0, 1), repeat=k)), np.int8)
    weights = np.arange(k) % 4 + 1.0
    for signal in (0, 1):
        gate = gated_decision(patterns, np.full(len(patterns), signal), rule=rule, weights=weights)
        expected = [
            twin.probability_of_one(row, signal, rule, weights.tolist())
            for row in patterns.tolist()
        ]
        np.testing.assert_allclose(gate.decision, [float(p) for p in expected], rtol=0, atol=1e-15)


def test_single_replacement_table():
    """All k replacements by hand: five judges, then four valid ones of which one is 0."""
    after = {0: [0, 0, 0, 0.4, 1, 1], 1: [0, 0, 0.6, 1, 1, 1]}
    patterns = np.array([[1] * s + [0] * (5 - s) for s in range(6)])
    for signal, expected in after.items():
        result = gated_decision(patterns, np.full(6, signal), rule="uniform")
        np.testing.assert_allclose(result.decision, expected, rtol=0, atol=1e-12)
    result = gated_decision([[1, 1, -1, 0, 1]], [0], rule="uniform")
    assert result.decision.tolist() == [0.25]


def test_even_panels_tie_to_incorrect_and_say_so():
    ballots = [[1, 1, 0, 0], [1, 0, None, None], [1, 1, 1, 0], [0, 0, 0, 1]]
    result = tally(ballots)
    assert result.decision.tolist() == [0, 0, 1, 0]
    assert result.margin.tolist() == [0, 0, 2, 2]
    assert result.tie.tolist() == [True, True, False, False]
    assert result.n_valid.tolist() == [4, 2, 4, 4]


@pytest.mark.parametrize(
    "ballots",
    [
        np.array([[np.nan, np.nan, 0, 0, 1]]),
        np.array([[None, None, 0, 0, 1]], dtype=object),
        pd.DataFrame([[pd.NA, pd.NA, False, False, True]], dtype="boolean"),
        [[-1, -1, 0, 0, 1]],
    ],
    ids=["float", "object", "pandas boolean", "integer"],
)
def test_a_missing_ballot_is_no_vote(ballots):
    result = tally(ballots)
    assert (result.decision[0], result.n_valid[0], result.margin[0]) == (0, 3, 1)


@pytest.mark.parametrize("k", [1, 3, 7, 8, 9, 12, 13, 16, 64, 65, 100])
@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_wide_panels(k, missing):
    votes, signal, labels = random_panel(k, 60, k, missing)
    check_substitution(votes, signal, labels, "uniform")
    result = tally(votes)
    np.testing.assert_array_equal(result.ones, (votes == 1).sum(axis=1))
    np.testing.assert_array_equal(result.n_valid, (votes >= 0).sum(axis=1))


def check_types(votes, signal, labels, workers=1):
    types = as_types(votes, signal, labels, workers=workers)
    got = np.column_stack([types.votes, types.signal, types.labels])
    rows, counts = np.unique(np.column_stack([votes, signal, labels]), axis=0, return_counts=True)
    order = np.lexsort(got.T[::-1])
    np.testing.assert_array_equal(got[order], rows)
    np.testing.assert_array_equal(types.counts[order], counts)


@pytest.mark.parametrize("k", range(1, 13))
@pytest.mark.parametrize("missing", [0.0, 0.0003, 0.05])
def test_the_histogram_counts_every_row(k, missing, simd_variant):
    """Types are the distinct rows with their counts, however rows are taken together."""
    n = 2 * (1 << (k + 2)) + 67
    check_types(*random_panel(k, n, k, missing), workers=2)


@pytest.mark.parametrize("k", [1, 3, 7, 8])
def test_the_histogram_wherever_a_gap_or_the_end_of_the_array_falls(k, simd_variant):
    votes, signal, labels = random_panel(k, 2 * (1 << (k + 2)) + 256, k)
    n = len(labels)
    for cut in range(66):
        check_types(votes[cut:], signal[cut:], labels[cut:])
    for row in [*range(0, 130, 9), *range(n - 130, n, 9)]:
        for array in (votes, signal, labels):
            kept = array[row].copy()
            array[row] = -1
            check_types(votes, signal, labels)
            array[row] = kept


@pytest.mark.parametrize("where", ["votes", "signal", "labels"])
def test_the_first_bad_row_is_named_wherever_it_falls(where, simd_variant):
    arrays = dict(zip(("votes", "signal", "labels"), random_panel(4, 1200, 7), strict=True))
    for row in (0, 7, 8, 63, 64, 640, 1140, 1199):
        changed = {name: a.copy() for name, a in arrays.items()}
        changed[where][row] = 3
        changed["votes"][row // 2, 1] = -1
        index = rf"\({row}, 0\)" if where == "votes" else str(row)
        with pytest.raises(
            ValueError, match=rf"{where} must be 0, 1 or .* got 3 at index {index}$"
        ):
            as_types(**changed)


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 3000])
@pytest.mark.parametrize("k", [3, 8, 10])
def test_results_do_not_depend_on_workers_or_neighbours(n, k):
    votes, signal, labels = random_panel(n + k, n, k, missing=0.05)
    one, two = tally(votes), tally(votes, workers=2)
    np.testing.assert_array_equal(one.decision, two.decision)
    first = substitution(votes, signal, labels)
    other = substitution(votes[::-1], signal[::-1], labels[::-1], workers=2)
    assert first.total_gain == other.total_gain
    np.testing.assert_array_equal(first.stratum_gain, other.stratum_gain)


FORMS = {
    "int64": lambda a: a.astype(np.int64),
    "big-endian": lambda a: a.astype(">i4"),
    "float32": lambda a: np.where(a < 0, np.nan, a).astype(np.float32),
    "Fortran": np.asfortranarray,
    "strided": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    "reversed": lambda a: a[..., ::-1].copy()[..., ::-1],
    "list": lambda a: a.tolist(),
    "object": lambda a: np.array([None if v < 0 else int(v) for v in a.flat], object).reshape(
        a.shape
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_input(form):
    votes, signal, labels = random_panel(1, 300, 5, missing=0.1)
    expected = substitution(votes, signal, labels)
    convert = FORMS[form]
    result = substitution(convert(votes), convert(signal), convert(labels))
    assert result.total_gain == expected.total_gain
    assert result.n_abstained == expected.n_abstained


def test_unsigned_bool_and_read_only_input():
    votes, signal, labels = random_panel(2, 300, 5)
    expected = substitution(votes, signal, labels).total_gain
    for dtype in (np.bool_, np.uint8, np.uint64):
        changed = [a.astype(dtype) for a in (votes, signal, labels)]
        for array in changed:
            array.flags.writeable = False
        before = [a.copy() for a in changed]
        assert substitution(*changed).total_gain == expected
        for array, copy in zip(changed, before, strict=True):
            np.testing.assert_array_equal(array, copy)


@pytest.mark.parametrize("n", [3, 20_000])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.float64, object])
@pytest.mark.parametrize("where", ["votes", "signal", "labels"])
def test_a_value_that_is_no_ballot_is_named(n, dtype, where):
    arrays = dict(zip(("votes", "signal", "labels"), random_panel(4, n, 3), strict=True))
    arrays = {name: a.astype(dtype) for name, a in arrays.items()}
    arrays[where][-1] = 2
    index = rf"\({n - 1}, 0\)" if where == "votes" else str(n - 1)
    with pytest.raises(ValueError, match=rf"{where} must be 0, 1 or missing .* got 2.* {index}"):
        substitution(**arrays)


def test_wrong_arguments_are_refused():
    votes, signal, labels = random_panel(4, 10, 3)
    with pytest.raises(ValueError, match=r"votes must have 2 axes .* got shape \(10,\)"):
        tally(labels)
    with pytest.raises(ValueError, match=r"at least one judge, got shape \(10, 0\)"):
        tally(votes[:, :0])
    with pytest.raises(ValueError, match=r"signal must have shape \(10,\).* got \(9,\)"):
        substitution(votes, signal[:-1], labels)
    with pytest.raises(TypeError, match="votes must hold 0, 1 or missing, got dtype <U"):
        tally(votes.astype(str))
    with pytest.raises(TypeError, match=r"got '1' \(str\) at index \(0, 0\)"):
        tally(np.array([["1", 0]], dtype=object))
    with pytest.raises(TypeError, match="masked array would lose its mask"):
        tally(np.ma.masked_equal(votes, 1))
    with pytest.raises(ValueError, match="rectangular"):
        tally([[1, 0], [1]])
    with pytest.raises(ValueError, match=r"rule must be one of uniform, majority.* got 'best'"):
        substitution(votes, signal, labels, rule="best")
    with pytest.raises(ValueError, match="rule must be from 0 to 2, got 3"):
        substitution(votes, signal, labels, rule=3)
    with pytest.raises(TypeError, match="rule must be an integer, got NoneType"):
        substitution(votes, signal, labels, rule=None)
    with pytest.raises(ValueError, match="ties must be one of"):
        tally(votes, ties="random")
    with pytest.raises(ValueError, match=r"weights must have shape \(3,\) or \(10, 3\)"):
        tally(votes, weights=[1, 2])
    with pytest.raises(ValueError, match=r"finite and not negative, got .*-1.* at index \(1,\)"):
        tally(votes, weights=[1, -1, 1])
    with pytest.raises(ValueError, match="weights must not all be zero"):
        tally(votes, weights=[0, 0, 0])


def test_identities_between_rules():
    """Majority side makes a pivotal panel the signal; the uniform gain is (k + 1)/2k of it."""
    votes, signal, labels = random_panel(9, 4000, 7)
    uniform = substitution(votes, signal, labels)
    side = substitution(votes, signal, labels, rule="majority")
    assert uniform.total_gain == side.total_gain * 8 / 14
    assert uniform.total_gain * 7 == sum(
        substitution(votes, signal, labels, rule=j).total_gain for j in range(7)
    )
    pivotal = tally(votes).pivotal
    gate = gated_decision(votes, signal)
    np.testing.assert_array_equal(gate.decision[pivotal], signal[pivotal])
    assert gate.call_rate == side.pivotal_share == pivotal.mean()


def test_even_panel_gains_nothing_one_below_the_tie():
    """s = k/2 - 1: no single replacement by a 1 is enough, as ties are decided as 0."""
    votes, signal, labels = random_panel(10, 3000, 6)
    result = substitution(votes, signal, labels)
    gain = dict(zip(result.stratum.tolist(), result.stratum_gain.tolist(), strict=True))
    assert gain[-2] == 0
    assert gain[0] != 0
    assert gain[2] != 0


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_gain_is_bounded_and_judges_can_be_permuted(data):
    k = data.draw(st.integers(1, 6))
    n = data.draw(st.integers(0, 12))
    cell = st.sampled_from([-1, 0, 1])
    rows = data.draw(
        st.lists(st.lists(cell, min_size=k + 2, max_size=k + 2), min_size=n, max_size=n)
    )
    table = np.array(rows, np.int8).reshape(n, k + 2)
    votes, signal, labels = table[:, :k], table[:, k], table[:, k + 1]
    order = data.draw(st.permutations(range(k)))
    for rule in ("uniform", "majority"):
        result = check_substitution(votes, signal, labels, rule)
        assert abs(result.total_gain) <= result.n_pivotal
        assert (
            result.total_gain == substitution(votes[:, order], signal, labels, rule=rule).total_gain
        )


def test_nothing_to_score_is_nan_not_a_number():
    result = substitution([[-1, -1], [1, 0]], [1, 1], [1, -1])
    assert (result.n_scored, result.n_empty, result.n_unlabelled) == (0, 1, 1)
    for name in ("panel_accuracy", "accuracy", "gain", "pivotal_gain", "pivotal_share"):
        assert np.isnan(getattr(result, name))
    assert "n_unlabelled" in repr(result)
