"""The dial, the cascade, best-of-N, panel design and blind spots, against plain twins."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import jury as reference

from ropoll_core import ConsensusLaw, jury

RULES = ("correct", "uniform", "strict")
FEW = {"n_resamples": 20, "rng": 1}

ANSWERS = st.sampled_from([None, "A", "B", "C", "D"])
TABLES = st.integers(2, 5).flatmap(
    lambda k: st.lists(st.lists(ANSWERS, min_size=k, max_size=k), min_size=1, max_size=10)
)


def with_gold(rows):
    gold = ["ABCD"[q % 4] for q in range(len(rows))]
    return gold if any(x is not None for row in rows for x in row) else None


@settings(deadline=None, max_examples=80)
@given(TABLES)
def test_dial_and_cascade_agree_with_the_twin(rows):
    gold = with_gold(rows)
    if gold is None:
        return
    for rule in RULES:
        dial = jury.selective_accuracy(rows, gold, ties=rule, **FEW)
        wanted = reference.dial(rows, gold, rule)
        assert dial.agreement.tolist() == [float(level) for level in wanted]
        np.testing.assert_allclose(dial.coverage.value, [c for c, _ in wanted.values()])
        np.testing.assert_allclose(dial.accuracy.value, [a for _, a in wanted.values()])
        result = jury.cascade(rows, gold, ties=rule, **FEW)
        got = (result.accuracy.value, result.escalation.value, result.mean_calls.value)
        assert got == pytest.approx(reference.cascade(rows, gold, rule), abs=1e-12)
        assert result.accuracy_by_pair.mean() == pytest.approx(result.accuracy.value, abs=1e-12)
        assert result.escalation_by_pair.mean() == pytest.approx(result.escalation.value, abs=1e-12)
        credits = [reference.credit(r, g, rule) for r, g in zip(rows, gold, strict=True)]
        assert result.full_accuracy.value == pytest.approx(np.mean(credits), abs=1e-12)
        pairs = [reference.credit([r[i], r[j]], g, rule) for r, g in zip(rows, gold, strict=True)
                 for i, j in itertools.combinations(range(len(r)), 2)]  # fmt: skip
        assert result.pair_accuracy.value == pytest.approx(np.mean(pairs), abs=1e-12)


def test_dial_counts_what_nobody_answered_and_what_has_no_gold():
    rows = [["A", "A"], [None, None], ["A", "B"], ["A", None]]
    dial = jury.selective_accuracy(rows, ["A", "A", None, "B"], **FEW)
    assert (dial.n_queries, dial.n_no_gold, dial.n_unanswered) == (3, 1, 1)
    assert dial.agreement.tolist() == [1.0]
    assert dial.coverage.value.tolist() == [2 / 3]
    assert dial.accuracy.value.tolist() == [0.5]
    assert dial.n_accepted.tolist() == [2]
    wrong = jury.selective_accuracy(rows, ["A", "A", None, "B"], missing="wrong", **FEW)
    assert wrong.agreement.tolist() == [1.0, 0.5]
    assert wrong.n_accepted.tolist() == [1, 3]


def test_dial_and_law_agree_on_what_the_law_generates():
    law = ConsensusLaw(0.6, 0.4, (0.5, 0.2))
    answers = law.simulate(4, 60_000, rng=3)
    dial = jury.selective_accuracy(answers, np.zeros(60_000, int), rng=1, n_resamples=500)
    np.testing.assert_allclose(dial.coverage.value[::-1], law.coverage(4), atol=0.01)
    wanted = law.selective(4, ties="uniform")
    np.testing.assert_allclose(dial.accuracy.value[::-1], wanted, atol=0.01)
    assert (dial.accuracy.low < dial.accuracy.value).all()
    assert (dial.accuracy.high > dial.accuracy.value).all()


def test_a_cascade_of_two_judges_never_asks_more():
    result = jury.cascade([["A", "B"], ["A", "A"]], ["A", "A"], **FEW)
    assert result.mean_calls.value == 2.0
    assert result.escalation.value == 0.5
    assert result.accuracy.value == result.pair_accuracy.value == result.full_accuracy.value == 0.75


POOLS = st.integers(1, 5).flatmap(
    lambda k: st.lists(
        st.tuples(
            st.lists(ANSWERS, min_size=k, max_size=k), st.lists(ANSWERS, min_size=3, max_size=3)
        ),
        min_size=1, max_size=10,
    )
)  # fmt: skip


@settings(deadline=None, max_examples=80)
@given(POOLS)
def test_selection_agrees_with_the_twin(rows):
    pool, panel = [r[0] for r in rows], [r[1] for r in rows]
    gold = ["ABCD"[q % 4] for q in range(len(rows))]
    result = jury.select_candidate(pool, panel, gold=gold, **FEW)
    wanted = [reference.select(*row) for row in rows]
    assert result.index.tolist() == [w[0] for w in wanted]
    assert result.support.tolist() == [w[1] for w in wanted]
    assert result.answer.tolist() == [
        None if w[0] < 0 else p[w[0]] for w, p in zip(wanted, pool, strict=True)
    ]

    def share(picked):
        return np.mean([i >= 0 and p[i] == g for i, p, g in zip(picked, pool, gold, strict=True)])

    assert result.accuracy["jury"].value == pytest.approx(share([w[0] for w in wanted]))
    assert result.accuracy["self_consistency"].value == pytest.approx(share([w[2] for w in wanted]))
    oracle = np.mean([g in p for p, g in zip(pool, gold, strict=True)])
    assert result.accuracy["oracle"].value == pytest.approx(oracle)
    gain = result.accuracy["jury"].value - result.accuracy["self_consistency"].value
    assert result.gain["self_consistency"].value == pytest.approx(gain)
    assert result.gain["oracle"].value <= 0


def test_published_order_of_selection():
    pool = [["a", "b", "b", "c"]]
    # Support first; then frequency in the pool; then the earliest.
    assert jury.select_candidate(pool, [["a", "a", "b"]]).index.tolist() == [0]
    assert jury.select_candidate(pool, [["a", "b", "z"]]).index.tolist() == [1]
    assert jury.select_candidate(pool, [["a", "c", "z"]]).index.tolist() == [0]
    # The modal answer is not in the pool: the next best-supported candidate.
    fallen = jury.select_candidate(pool, [["z", "z", "c"]])
    assert fallen.index.tolist() == [3]
    # No candidate is supported: the pool decides, and it is counted.
    alone = jury.select_candidate(pool, [["x", "y", "z"]])
    assert (alone.index.tolist(), alone.n_unsupported) == ([1], 1)
    assert alone.accuracy == {}


def test_scores_pick_their_argmax():
    pool = [["a", "b", "c"], ["a", None, "c"], ["a", "b", "c"]]
    scores = [[0.1, 0.9, 0.9], [np.nan, 5.0, -1.0], [np.nan, np.nan, np.nan]]
    result = jury.select_candidate(
        pool, [["a"], ["a"], ["a"]], gold=["b", "c", "a"], scores=scores, **FEW
    )
    assert result.accuracy["argmax_score"].value == pytest.approx(2 / 3)
    assert result.accuracy["jury"].value == pytest.approx(1 / 3)


def test_the_paired_test_sees_a_gain_and_key_applies_to_both_tables():
    rng = np.random.default_rng(1)
    right = rng.random((600, 5)) < 0.45
    pool = np.where(right, "Yes", rng.choice(["no", "maybe"], (600, 5)))
    panel = np.where(rng.random((600, 4)) < 0.7, "YES", "never")
    gold = ["yes"] * 600
    plain = jury.select_candidate(pool, panel, gold=gold, rng=1)
    keyed = jury.select_candidate(pool, panel, gold=gold, key=str.lower, rng=1)
    assert plain.accuracy["jury"].value == 0.0
    assert keyed.gain["self_consistency"].low > 0
    assert keyed.p_value["self_consistency"] == 0.0
    assert keyed.p_value["oracle"] == 1.0
    some = ["yes"] * 300 + [None] * 300
    half = jury.select_candidate(pool, panel, gold=some, key=str.lower, rng=1)
    assert half.n_no_gold == 300
    assert half.accuracy["jury"].value == pytest.approx(
        np.mean([(a or "").lower() == "yes" for a in keyed.answer[:300]])
    )


def panel_data(n=240, k=5, seed=3):
    answers = ConsensusLaw(0.6, 0.3, (0.5, 0.3)).simulate(k, n, rng=seed)
    return answers, np.zeros(n, dtype=int)


def test_ranking_agrees_with_a_fit_of_every_panel():
    answers, gold = panel_data()
    result = jury.best_panel(answers, gold, 3, rng=2)
    assert len(result.members) == 10
    assert (np.diff(result.measured_accuracy) <= 0).all()
    for at, panel in enumerate(result.members):
        fit = ConsensusLaw.fit(answers[:, panel], gold, rng=1, n_resamples=1)
        pairs = [
            (result.measured_accuracy[at], fit.measured_accuracy["uniform"].value),
            (result.predicted_accuracy[at], fit.predicted_accuracy["uniform"].value),
            (result.measured_floor[at], fit.measured_floor.value),
            (result.predicted_floor[at], fit.predicted_floor.value),
        ]
        for got, wanted in pairs:
            assert got == pytest.approx(wanted, rel=1e-12)
    assert result.chosen["measured_accuracy"] == tuple(result.members[0])
    assert result.apparent["measured_accuracy"] == result.measured_accuracy[0]
    assert result.mean_accuracy == pytest.approx(result.measured_accuracy.mean())


def test_the_winner_of_equals_loses_on_other_queries():
    # All judges are alike, so the best panel is best by luck, and only apparently.
    apparent, crossed, mean = [], [], []
    for seed in range(12):
        answers, gold = panel_data(n=150, k=8, seed=seed)
        result = jury.best_panel(answers, gold, 4, rng=seed)
        apparent.append(result.apparent["measured_accuracy"])
        crossed.append(result.cross_fitted["measured_accuracy"])
        mean.append(result.mean_accuracy)
    assert np.mean(apparent) > np.mean(mean) + 0.02
    assert abs(np.mean(crossed) - np.mean(mean)) < 0.02


def test_cross_fitting_by_hand():
    answers, gold = panel_data(n=60, k=4, seed=8)
    tasks = np.arange(60) // 6
    result = jury.best_panel(answers, gold, 3, tasks=tasks, n_folds=10, rng=2, ties="strict")
    panels = list(itertools.combinations(range(4), 3))
    credits = np.array([
        [reference.credit(list(answers[q, list(p)]), 0, "strict") for q in range(60)]
        for p in panels
    ])  # fmt: skip
    total = 0.0
    for task in range(10):  # ten tasks in ten folds: one each, in some order
        out = tasks == task
        winner = np.argmax(credits[:, ~out].mean(axis=1))
        total += credits[winner, out].sum()
        assert panels[winner] in {tuple(p) for p in result.fold_choice["measured_accuracy"]}
    assert result.cross_fitted["measured_accuracy"] == pytest.approx(total / 60)


def test_planted_blind_spots_are_found_and_others_are_not():
    answers = ConsensusLaw(0.7, 0.3, (0.5, 0.2)).simulate(5, 4000, rng=5)
    gold = np.zeros(4000, dtype=int)
    clean = jury.shared_blind_spot(answers, gold, rng=1, n_resamples=400)
    assert clean.suspects == []
    assert clean.error_excess.low < 0 < clean.error_excess.high
    joint = answers.copy()
    joint[:200, [1, 3]] = 1
    found = jury.shared_blind_spot(joint, gold, rng=1, n_resamples=400)
    assert found.suspects == [(1, 3)]
    alike = answers.copy()
    both = (answers[:, 0] != 0) & (answers[:, 2] != 0)
    alike[both, 2] = alike[both, 0]
    same = jury.shared_blind_spot(alike, gold, rng=1, n_resamples=400)
    at = [tuple(p) for p in same.pairs].index((0, 2))
    assert same.same_answer_excess_by_pair.low[at] > 0.1
    assert same.error_excess_by_pair.value[at] == clean.error_excess_by_pair.value[at]
    assert (0, 2) in same.suspects


def test_blind_spot_statistic_by_hand():
    answers = ConsensusLaw(0.6, 0.35, (0.6, 0.3)).simulate(4, 150, rng=6)
    gold = np.zeros(150, dtype=int)
    result = jury.shared_blind_spot(answers, gold, rng=1, n_resamples=5)
    a, rho, profile = reference.law_inputs([list(r) for r in answers], gold, 4)
    k = 1 / rho - 1
    errors = (answers != 0).astype(int)
    pairs = list(itertools.combinations(range(4), 2))
    right_others = {(i, j): 2 - errors[:, [m for m in range(4) if m not in (i, j)]].sum(axis=1)
                    for i, j in pairs}  # fmt: skip
    both = {(i, j): errors[:, i] * errors[:, j] for i, j in pairs}
    same = {(i, j): both[i, j] * (answers[:, i] == answers[:, j]) for i, j in pairs}
    for at, (i, j) in enumerate(pairs):
        excess = answer_excess = 0.0
        for d in range(3):
            rows = right_others[i, j] == d
            alpha, beta = a * k + d, (1 - a) * k + 2 - d
            allowed = alpha * beta / ((alpha + beta) ** 2 * (alpha + beta + 1))
            if rows.any():
                cov = np.cov(errors[rows, i], errors[rows, j], bias=True)[0, 1]
                excess += rows.sum() * (cov - allowed)
            pooled = sum(same[p][right_others[p] == d].sum() for p in pairs)
            pooled /= sum(both[p][right_others[p] == d].sum() for p in pairs)
            answer_excess += same[i, j][rows].sum() - pooled * both[i, j][rows].sum()
        assert result.error_excess_by_pair.value[at] == pytest.approx(excess / 150, abs=1e-12)
        wanted = answer_excess / both[i, j].sum()
        assert result.same_answer_excess_by_pair.value[at] == pytest.approx(wanted, abs=1e-12)
    assert result.error_excess.value == pytest.approx(result.error_excess_by_pair.value.mean())
    share = sum(s.sum() for s in same.values()) / sum(b.sum() for b in both.values())
    assert result.same_answer_excess.value == pytest.approx(share - (profile**2).sum())


@pytest.mark.parametrize("name", ["selective_accuracy", "cascade", "shared_blind_spot"])
def test_workers_change_nothing(name):
    answers, gold = panel_data()
    results = [repr(getattr(jury, name)(answers, gold, rng=3, n_resamples=300, workers=w))
               for w in (1, 2, -1)]  # fmt: skip
    assert results[0] == results[1] == results[2]


TWO = [["A", "B"], ["A", "A"]]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: jury.selective_accuracy(TWO, ["A", "A"], ties="x"), ValueError, "ties must be"),
        (lambda: jury.selective_accuracy([[None]], ["A"]), ValueError, "answers are all missing"),
        (lambda: jury.selective_accuracy(TWO, [None, None]), ValueError, "no query is left"),
        (lambda: jury.cascade([["A"]], ["A"]), ValueError, "at least 2 judges, got 1"),
        (lambda: jury.select_candidate(TWO, [["A"]]), ValueError, "the 2 queries of cand.*, got 1"),
        (lambda: jury.select_candidate(TWO, TWO, key=[[1]]), TypeError, "key must be callable"),
        (lambda: jury.select_candidate(TWO, TWO, gold=["A"]), ValueError, "gold must have shape"),
        (lambda: jury.select_candidate(TWO, TWO, gold=[None, None]), ValueError, "all 2 are"),
        (lambda: jury.select_candidate(TWO, TWO, scores=[[1, 2]]), ValueError, "scores must have"),
        (lambda: jury.select_candidate(TWO, TWO, scores=[["a", "b"]] * 2), TypeError, "scores"),
        (lambda: jury.best_panel(TWO, ["A", "B"], 3), ValueError, "size must be from 2 to 2"),
        (lambda: jury.best_panel(TWO, ["A", "B"], 2), ValueError, "n_folds must be at most .* 2"),
        (lambda: jury.best_panel([["A"]], ["A"], 2), ValueError, "at least 2 judges"),
        (lambda: jury.best_panel(np.zeros((9, 30), int), np.zeros(9, int), 15), ValueError,
         "at most 100,000 panels, got 155,117,520"),
        (lambda: jury.shared_blind_spot(TWO, ["A", "B"]), ValueError, "3 to 12 judges, got 2"),
        (lambda: jury.shared_blind_spot(np.zeros((9, 13), int), np.zeros(9, int)), ValueError,
         "3 to 12 judges, got 13"),
    ],
)  # fmt: skip
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()
