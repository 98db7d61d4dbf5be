"""ConsensusLaw.fit: inputs and measurements against plain twins, held-out parts, bad input."""

import re

import numpy as np
import pytest
from reference.jury import credit, law_inputs, modal_classes

from ropoll_core import ConsensusLaw
from ropoll_core.jury._resample import clopper_pearson

RULES = ("correct", "uniform", "strict")


def some_answers(n=300, k=5, seed=0, missing=0.0):
    """Text answers of judges of different skill that share wrong answers, and gold."""
    rng = np.random.default_rng(seed)
    gold = rng.choice(list("ABCDEFGH"), n)
    hard = rng.random(n) < 0.3
    skill = np.linspace(0.5, 0.85, k)
    chance = np.where(hard[:, None], skill - 0.35, skill)
    wrong = np.array([[chr(ord("I") + min(int(x), 6)) for x in row]
                      for row in rng.exponential(1.2, (n, k))])  # fmt: skip
    answers = np.where(rng.random((n, k)) < chance, gold[:, None], wrong).astype(object)
    answers[rng.random((n, k)) < missing] = None
    return answers, gold


@pytest.mark.parametrize(("k", "max_attractors"), [(2, 6), (3, 1), (5, 3), (5, 6), (7, 6)])
def test_inputs_and_measurements_agree_with_the_twin(k, max_attractors):
    answers, gold = some_answers(k=k, seed=k)
    fit = ConsensusLaw.fit(answers, gold, max_attractors=max_attractors, n_resamples=20, rng=1)
    rows = [list(row) for row in answers]
    a, rho, profile = law_inputs(rows, gold, min(max_attractors, k))
    assert fit.member_accuracy.value == pytest.approx(a, rel=1e-12)
    assert fit.correlation.value == pytest.approx(rho, rel=1e-12)
    np.testing.assert_allclose(fit.attractors.value, profile, rtol=1e-12)
    np.testing.assert_allclose(fit.accuracy_by_member, (answers == gold[:, None]).mean(axis=0))
    law = ConsensusLaw(a, rho, profile)
    for rule in RULES:
        measured = np.mean([credit(r, g, rule) for r, g in zip(rows, gold, strict=True)])
        assert fit.measured_accuracy[rule].value == pytest.approx(measured, rel=1e-12)
        predicted = law.accuracy(k, ties=rule)
        assert fit.predicted_accuracy[rule].value == pytest.approx(predicted, rel=1e-12)
        assert fit.accuracy_gap[rule].value == pytest.approx(predicted - measured, abs=1e-12)
    assert fit.predicted_floor.value == pytest.approx(law.floor(k), rel=1e-12)
    np.testing.assert_allclose(fit.predicted_coverage.value, law.coverage(k), rtol=1e-12)
    sizes = np.array([modal_classes(row)[1] for row in rows])
    coverage = [(sizes >= m).mean() for m in range(1, k + 1)]
    np.testing.assert_allclose(fit.measured_coverage.value, coverage, rtol=1e-12)
    events = sum(len(set(r)) == 1 and r[0] != g for r, g in zip(rows, gold, strict=True))
    assert fit.floor_events == events
    assert fit.measured_floor.value == events / len(gold)
    assert (fit.measured_floor.low, fit.measured_floor.high) == clopper_pearson(events, 300, 0.95)
    assert repr(fit.law) == repr(law)


def test_intervals_are_those_of_a_plain_bootstrap():
    answers, gold = some_answers(n=400, k=4, seed=9)
    fit = ConsensusLaw.fit(answers, gold, rng=3, n_resamples=4000)
    rng = np.random.default_rng(1)
    plain = []
    for _ in range(250):
        at = rng.integers(0, 400, 400)
        again = ConsensusLaw.fit(answers[at], gold[at], n_resamples=1, rng=0)
        plain.append([
            again.member_accuracy.value, again.correlation.value, again.attractors.value[0],
            again.predicted_accuracy["uniform"].value, again.accuracy_gap["uniform"].value,
            again.predicted_floor.value, again.predicted_coverage.value[3],
            again.measured_coverage.value[3],
        ])  # fmt: skip
    spread = np.std(plain, axis=0)
    intervals = [
        fit.member_accuracy, fit.correlation, _at(fit.attractors, 0),
        fit.predicted_accuracy["uniform"], fit.accuracy_gap["uniform"], fit.predicted_floor,
        _at(fit.predicted_coverage, 3), _at(fit.measured_coverage, 3),
    ]  # fmt: skip
    for sd, interval in zip(spread, intervals, strict=True):
        assert interval.low < interval.value < interval.high
        assert (interval.high - interval.low) / (2 * 1.96) == pytest.approx(sd, rel=0.2)


def _at(interval, place):
    return type(interval)(*(x[place] for x in (interval.value, interval.low, interval.high)))


def test_tasks_widen_the_intervals_and_workers_change_nothing():
    answers, gold = some_answers(n=400, k=4, seed=9)
    order = np.argsort((answers == gold[:, None]).sum(axis=1), kind="stable")
    answers, gold = answers[order], gold[order]
    alone = ConsensusLaw.fit(answers, gold, rng=3, n_resamples=2000)
    tasks = np.repeat([f"t{i}" for i in range(20)], 20)
    clustered = ConsensusLaw.fit(answers, gold, rng=3, n_resamples=2000, tasks=tasks)
    assert clustered.n_tasks == 20
    assert clustered.member_accuracy.value == alone.member_accuracy.value
    width = [f.member_accuracy.high - f.member_accuracy.low for f in (alone, clustered)]
    assert width[1] > 2 * width[0]
    for workers in (2, 3):
        again = ConsensusLaw.fit(answers, gold, rng=3, n_resamples=2000, workers=workers)
        assert repr(again) == repr(alone)
        assert again.predicted_floor.high == alone.predicted_floor.high
    shuffled = np.random.default_rng(0).permutation(400)
    moved = ConsensusLaw.fit(
        answers[shuffled], gold[shuffled], rng=3, n_resamples=2000, tasks=tasks[shuffled]
    )
    assert moved.predicted_accuracy["uniform"].low == clustered.predicted_accuracy["uniform"].low


def test_recovers_what_was_simulated():
    law = ConsensusLaw(0.65, 0.4, (0.6, 0.4))
    answers = law.simulate(6, 20_000, rng=4)
    fit = ConsensusLaw.fit(answers, np.zeros(20_000, dtype=int), rng=1, n_resamples=1000)
    assert fit.member_accuracy.low < 0.65 < fit.member_accuracy.high
    assert fit.correlation.low < 0.4 < fit.correlation.high
    # The profile is sorted within queries, so it leans to the first attractor.
    assert fit.attractors.value[0] > 0.6
    exact = ConsensusLaw(fit.law.member_accuracy, fit.law.correlation, (0.6, 0.4))
    for rule in RULES:
        measured = fit.measured_accuracy[rule]
        assert exact.accuracy(6, ties=rule) == pytest.approx(measured.value, abs=0.01)
    assert exact.floor(6) == pytest.approx(fit.measured_floor.value, abs=0.004)


@pytest.mark.slow
def test_intervals_cover_what_was_simulated():
    law = ConsensusLaw(0.6, 0.35, (0.7, 0.3))
    covered = np.zeros(3)
    n_data_sets = 400
    for seed in range(n_data_sets):
        answers = law.simulate(4, 300, rng=seed)
        fit = ConsensusLaw.fit(answers, np.zeros(300, dtype=int), rng=seed, n_resamples=1000)
        floor = fit.measured_floor
        covered += [
            fit.member_accuracy.low <= 0.6 <= fit.member_accuracy.high,
            fit.correlation.low <= 0.35 <= fit.correlation.high,
            floor.low <= law.floor(4) <= floor.high,
        ]
    share = covered / n_data_sets
    error = 3.5 * np.sqrt(0.95 * 0.05 / n_data_sets)
    assert abs(share[0] - 0.95) < error
    assert abs(share[1] - 0.95) < error + 0.01  # the percentile interval of a correlation is short
    assert share[2] > 0.95 - error  # an exact binomial interval covers at least as often


def test_split_calibrates_on_one_part_and_measures_the_other():
    answers, gold = some_answers(n=500, k=4, seed=2)
    part = np.arange(500) % 3 > 0
    fit = ConsensusLaw.fit(answers, gold, split=part, rng=1, n_resamples=50)
    there = ConsensusLaw.fit(answers[part], gold[part], rng=1, n_resamples=50)
    here = ConsensusLaw.fit(answers[~part], gold[~part], rng=1, n_resamples=50)
    assert repr(fit.law) == repr(there.law)
    assert (fit.n_calibration, fit.n_evaluation) == (part.sum(), (~part).sum())
    assert fit.predicted_accuracy["correct"].value == there.predicted_accuracy["correct"].value
    assert fit.measured_accuracy["correct"].value == here.measured_accuracy["correct"].value
    assert fit.measured_floor.value == here.measured_floor.value
    np.testing.assert_array_equal(fit.measured_coverage.value, here.measured_coverage.value)


def test_split_by_a_share_takes_whole_tasks():
    answers, gold = some_answers(n=500, k=3, seed=2)
    tasks = np.arange(500) // 10
    fits = [ConsensusLaw.fit(answers, gold, split=0.6, tasks=tasks, rng=r, n_resamples=20)
            for r in (1, 1, 2)]  # fmt: skip
    assert fits[0].n_calibration == 300
    assert repr(fits[0]) == repr(fits[1])
    assert repr(fits[0].law) != repr(fits[2].law)


def test_leave_one_group_out_is_a_split_by_group():
    answers, gold = some_answers(n=300, k=4, seed=5)
    groups = np.array(["x", "y", "z"])[np.arange(300) % 3]
    fit = ConsensusLaw.fit(answers, gold, groups=groups, rng=1, n_resamples=30)
    assert list(fit.held_out) == ["x", "y", "z"]
    for name, part in fit.held_out.items():
        alone = ConsensusLaw.fit(answers, gold, split=groups != name, rng=1, n_resamples=30)
        assert part.predicted_floor.value == alone.predicted_floor.value
        assert part.measured_accuracy["strict"].value == alone.measured_accuracy["strict"].value
        assert part.n_evaluation == 100
    assert fit.n_evaluation == 300


def test_missing_answers_and_gold_are_counted():
    answers, gold = some_answers(n=200, k=4, seed=6, missing=0.05)
    gold = gold.astype(object)
    gold[:15] = None
    full = np.array([None not in row for row in answers.tolist()])
    keep = full & (np.arange(200) >= 15)
    fit = ConsensusLaw.fit(answers, gold, rng=1, n_resamples=20)
    there = ConsensusLaw.fit(answers[keep], gold[keep], rng=1, n_resamples=20)
    assert (fit.n_no_gold, fit.n_incomplete) == (15, int((~full[15:]).sum()))
    assert fit.n_evaluation == keep.sum()
    assert repr(fit.law) == repr(there.law)
    as_wrong = ConsensusLaw.fit(answers, gold, rng=1, n_resamples=20, missing="wrong")
    assert (as_wrong.n_evaluation, as_wrong.n_incomplete) == (185, 0)
    own = answers.copy()
    for q, j in np.argwhere(own == None):  # noqa: E711
        own[q, j] = f"nobody {j}"
    named = ConsensusLaw.fit(own, gold, rng=1, n_resamples=20)
    assert repr(named.law) == repr(as_wrong.law)
    assert named.predicted_floor.value == as_wrong.predicted_floor.value


def test_judges_that_never_vary_are_left_out_and_named():
    answers, gold = some_answers(n=200, k=4, seed=7)
    answers[:, 2] = gold
    fit = ConsensusLaw.fit(answers, gold, rng=1, n_resamples=20)
    assert fit.left_out == (2,)
    _, rho, _ = law_inputs([list(r) for r in answers], gold, 4)
    assert fit.correlation.value == pytest.approx(rho, rel=1e-12)


def test_negative_correlation_is_reported_and_evaluated_at_zero():
    gold = np.zeros(40, dtype=int)
    answers = np.zeros((40, 2), dtype=int)
    answers[:20, 0] = 1
    answers[20:, 1] = 1
    fit = ConsensusLaw.fit(answers, gold, rng=1, n_resamples=50)
    assert fit.correlation.value == -1.0
    assert float(fit.law.correlation) == 0.0
    assert fit.n_negative > 40
    assert fit.predicted_accuracy["correct"].value == pytest.approx(0.75)


def test_perfect_and_hopeless_panels_need_no_correlation():
    answers = np.zeros((10, 3), dtype=int)
    right = ConsensusLaw.fit(answers, np.zeros(10, dtype=int), rng=1, n_resamples=20)
    assert right.predicted_accuracy["strict"].value == 1.0
    assert np.isnan(right.correlation.value)
    assert right.measured_floor.value == right.measured_floor.low == 0.0
    assert right.measured_floor.high == pytest.approx(1 - 0.025 ** (1 / 10))
    wrong = ConsensusLaw.fit(answers, np.ones(10, dtype=int), rng=1, n_resamples=20)
    assert wrong.predicted_floor.value == 1.0
    assert wrong.measured_accuracy["correct"].value == 0.0


def test_one_query_has_estimates_and_no_interval():
    fit = ConsensusLaw.fit([["A", "B"], ["A", "A"], ["C", "A"]], ["A", "B", "A"], tasks=["t"] * 3)
    assert fit.member_accuracy.value == pytest.approx(1 / 3)
    assert np.isnan(fit.member_accuracy.low)


def test_without_a_correlation_of_errors_what_was_measured_stands():
    answers, gold = [["A", "A", "C"]] * 6 + [["A", "B", "C"]] * 4, ["A"] * 10
    fit = ConsensusLaw.fit(answers, gold, rng=1, n_resamples=50, groups=[0, 1] * 5)
    assert fit.law is None
    assert re.search(r"undefined: .* judges: \[ 0  4 10\] of 10", fit.reason)
    assert fit.member_accuracy.value == pytest.approx(16 / 30)
    assert fit.accuracy_by_member.tolist() == [1.0, 0.6, 0.0]
    assert fit.measured_accuracy["correct"].value == 1.0
    assert fit.measured_accuracy["strict"].value == 0.6
    assert fit.measured_floor.value == 0.0
    for undefined in (fit.correlation, fit.predicted_floor, *fit.predicted_accuracy.values()):
        assert np.isnan([undefined.value, undefined.low, undefined.high]).all()
    assert fit.n_undefined == 50
    assert {part.law for part in fit.held_out.values()} == {None}
    one = ConsensusLaw.fit([["A", "B"]], ["A"])
    assert (one.law, one.measured_accuracy["uniform"].value) == (None, 0.5)
    there = ConsensusLaw.fit([["A", "B"], ["B", "A"]], ["A", "A"])
    assert there.reason == ""


@pytest.mark.parametrize(
    ("events", "n", "low", "high"),
    [(6, 198, 0.0112, 0.0648), (0, 30, 0.0, 0.1157), (30, 30, 0.8843, 1.0)],
)
def test_exact_binomial_interval(events, n, low, high):
    assert clopper_pearson(events, n, 0.95) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize(
    ("answers", "gold", "options", "error", "message"),
    [
        ([["A"], ["B"]], ["A", "A"], {}, ValueError, "2 to 64 judges, got 1"),
        ([["A", "B"]], [None], {}, ValueError, "no query is left: of 1, 1 have no gold answer"),
        ([["A", None]], ["A"], {}, ValueError, "0 have no gold answer and 1 lack an answer"),
        ([[None, None]], ["A"], {"missing": "wrong"}, ValueError, "answers are all missing"),
        ([["A", "B"]] * 3, ["A"] * 2, {}, ValueError, r"gold must have shape \(3,\)"),
        ([["A", "A"]], ["A"], {"missing": "drop"}, ValueError, "missing must be one of omit"),
        ([["A", "A"]], ["A"], {"max_attractors": 0}, ValueError, "max_attractors must be from 1"),
        ([["A", "A"]] * 2, "AA", {}, TypeError, "gold must be a column"),
        ([["A", "A"]] * 2, ["A"] * 2, {"split": 1.0}, ValueError, r"split must be .* in \(0, 1\)"),
        ([["A", "A"]] * 2, ["A"] * 2, {"split": [True, True]}, ValueError, "queries on both sides"),
        ([["A", "A"]] * 2, ["A"] * 2, {"split": [0.5, 0.5]}, ValueError, "split must be a number"),
        ([["A", "A"]] * 2, ["A"] * 2, {"split": 0.5, "groups": [1, 2]}, ValueError, "not both"),
        ([["A", "A"]] * 2, ["A"] * 2, {"groups": [1, 1]}, ValueError, "at least two groups, got 1"),
        ([["A", "A"]] * 2, ["A"] * 2, {"groups": [1, None]}, ValueError, "missing at query 1"),
        ([["A", "A"]] * 2, ["A"] * 2, {"groups": [1]}, ValueError, "groups must have shape"),
        ([["A", "A"]] * 2, ["A"] * 2, {"n_resamples": 0}, ValueError, "n_resamples"),
        ([["A", "A"]] * 2, ["A"] * 2, {"confidence_level": 1.5}, ValueError, "confidence_level"),
    ],
)  # fmt: skip
def test_bad_input(answers, gold, options, error, message):
    with pytest.raises(error, match=message):
        ConsensusLaw.fit(answers, gold, **options)
