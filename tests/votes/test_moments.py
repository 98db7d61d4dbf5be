"""Integer moments by task, and sub-panels, against sums over rows."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from reference import votes as twin
from reference.votes import random_panel

from ropoll_core import effective_votes, resampling, subset_sweep, substitution
from ropoll_core.votes import distinct_ballots, task_moments


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("k", [1, 4, 7])
@pytest.mark.parametrize("rule", ["uniform", "majority", 0])
def test_moments_are_sums_over_the_rows_of_a_task(k, rule, missing):
    votes, signal, labels = random_panel(k, 400, k, missing)
    tasks = np.random.default_rng(0).integers(0, 20, 400).astype(str)
    moments = task_moments(votes, signal, labels, tasks=tasks, rule=rule)
    for t, key in enumerate(sorted(set(tasks))):
        rows = tasks == key
        part = substitution(votes[rows], signal[rows], labels[rows], rule=rule)
        assert moments.data["n"][t] == part.n_scored
        assert moments.data["n_pivotal"][t] == part.n_pivotal
        assert moments.data["gain"][t] == part.total_gain * moments.unit
        assert moments.data["panel_correct"][t] == part.n_scored - part.n_errors.sum()
        if part.n_abstained == 0:
            expected = part.signal_accuracy * part.n_scored
            assert moments.data["signal_correct"][t] == pytest.approx(expected, abs=1e-9)
    assert moments.complete == (missing == 0)
    empty = np.array([twin.decide(row) is None for row in votes.tolist()])
    assert moments.n_left_out == np.count_nonzero((labels < 0) | empty)


def test_seven_judges_and_a_signal_take_42_integers():
    moments = task_moments(*random_panel(1, 50, 7))
    assert len(moments.data) == 42
    assert moments.unit == 7
    assert (moments.n_tasks, moments.n_candidates) == (50, 8)


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_statistics_of_moments_are_the_functions_of_the_rows(missing):
    votes, signal, labels = random_panel(3, 600, 5, missing)
    tasks = np.arange(600) % 30
    moments = task_moments(votes, signal, labels, tasks=tasks)
    result = substitution(votes, signal, labels)
    statistics = {
        "gain": moments.gain(),
        "pivotal_gain": moments.pivotal_gain(),
        "panel_accuracy": moments.panel_accuracy(),
        "signal_accuracy": moments.signal_accuracy(),
        "n_eff": moments.effective_votes(),
        "change": moments.effective_votes_change(),
    }
    got = resampling.bootstrap(statistics, moments.data, n_resamples=200, rng=0)
    for name in ("gain", "pivotal_gain", "panel_accuracy", "signal_accuracy"):
        assert got[name].estimate == pytest.approx(getattr(result, name), abs=1e-12)
    scored = (labels >= 0) & (votes >= 0).any(axis=1)
    wrong = np.where(votes < 0, -1, votes != labels[:, None])[scored]
    signal_wrong = np.where(signal < 0, -1, signal != labels)[scored]
    assert got["n_eff"].estimate == pytest.approx(effective_votes(wrong).n_eff, abs=1e-12)
    after = []
    for r in range(5):
        panel = wrong.copy()
        panel[:, r] = signal_wrong
        after.append(effective_votes(panel).n_eff)
    change = np.mean(after) - effective_votes(wrong).n_eff
    assert got["change"].estimate == pytest.approx(change, abs=1e-12)


def test_without_a_signal():
    votes, _, labels = random_panel(3, 200, 5)
    moments = task_moments(votes, None, labels)
    assert len(moments.data) == 3 + 5 + 10
    with pytest.raises(ValueError, match="pivotal_gain needs moments made with a signal"):
        moments.pivotal_gain()
    got = resampling.bootstrap(moments.effective_votes(), moments.data, n_resamples=100, rng=0)
    wrong = votes != labels[:, None]
    assert got.estimate == pytest.approx(effective_votes(wrong).n_eff, abs=1e-12)


def test_panels_of_many_sizes_need_a_common_unit():
    votes, signal, labels = random_panel(3, 3000, 64, missing=0.4)
    with pytest.raises(ValueError, match="least common multiple"):
        task_moments(votes, signal, labels)
    assert task_moments(votes, signal, labels, rule="majority").unit == 1


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize(("n", "k"), [(300, 5), (3000, 6), (300, 9)])
@pytest.mark.parametrize("rule", ["uniform", "majority", 2])
def test_sweep_is_substitution_on_every_sub_panel(n, k, rule, missing):
    votes, signal, labels = random_panel(k, n, k, missing)
    tasks = np.arange(n) % 11
    for size in range(1, k + 1):
        sweep = subset_sweep(votes, signal, labels, size, rule=rule, tasks=tasks)
        panels = [p for p in itertools.combinations(range(k), size) if rule != 2 or 2 in p]
        assert sweep.members.tolist() == [list(p) for p in panels]
        for row, panel in enumerate(panels):
            inner = panel.index(2) if rule == 2 else rule
            one = substitution(votes[:, panel], signal, labels, rule=inner)
            for name in ("n_scored", "n_pivotal", "panel_accuracy"):
                assert getattr(sweep, name)[row] == getattr(one, name)
            for name in ("accuracy", "gain", "pivotal_gain"):
                assert getattr(sweep, name)[row] == pytest.approx(getattr(one, name), abs=1e-12)
            here = np.isin(sweep.stratum, one.stratum)
            np.testing.assert_array_equal(sweep.n[row, here], one.n)
            np.testing.assert_array_equal(sweep.n_errors[row, here], one.n_errors)
            np.testing.assert_allclose(sweep.stratum_gain[row, here], one.stratum_gain, atol=1e-12)
            assert np.isnan(sweep.stratum_gain[row, ~here]).all()
            moments = task_moments(votes[:, panel], signal, labels, tasks=tasks, rule=inner)
            for moment, name in enumerate(("n", "n_pivotal", "gain", "panel_correct")):
                scale = sweep.unit // moments.unit if name == "gain" else 1
                column = sweep.moment_table()[:, 4 * row + moment]
                np.testing.assert_array_equal(column, moments.data[name] * scale)


@pytest.mark.parametrize("k", range(1, 6))
@pytest.mark.parametrize("rule", ["uniform", "majority", 0])
def test_sweep_against_the_twin_on_every_pattern(k, rule):
    """Every ballot, signal and label with gaps; each sub-panel by loops over replacements."""
    table = np.array(list(itertools.product((-1, 0, 1), repeat=k + 2)), np.int8)
    votes, signal, labels = np.ascontiguousarray(table[:, :k]), table[:, k], table[:, k + 1]
    for size in range(1, k + 1):
        sweep = subset_sweep(votes, signal, labels, size, rule=rule)
        for row, panel in enumerate(sweep.members.tolist()):
            total, strata = twin.substitution(votes[:, panel], signal, labels, rule)
            assert sweep.n_scored[row] == sum(n for n, _, _ in strata.values())
            assert sweep.gain[row] * sweep.n_scored[row] == pytest.approx(float(total), abs=1e-9)
            got = zip(sweep.stratum.tolist(), sweep.n[row], sweep.n_errors[row], strict=True)
            assert {s: (n, errors) for s, n, errors in got if n} == {
                s: (n, errors) for s, (n, errors, _) in strata.items()
            }


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("rule", ["uniform", "majority", 2])
@pytest.mark.parametrize("per_query", [False, True])
def test_weighted_sweep_is_weighted_substitution_on_every_sub_panel(rule, missing, per_query):
    votes, signal, labels = random_panel(5, 300, 5, missing)
    weights = np.array([1.0, 2, 0, 1, 3])
    if per_query:
        weights = np.random.default_rng(1).integers(1, 4, (300, 5)).astype(float)
    for size in range(1, 6):
        sweep = subset_sweep(votes, signal, labels, size, rule=rule, weights=weights)
        for row, panel in enumerate(sweep.members.tolist()):
            inner = panel.index(2) if rule == 2 else rule
            own = weights[..., panel]
            if not own.any():
                assert sweep.n_scored[row] == 0
                assert np.isnan(sweep.gain[row])
                continue
            total, strata = twin.substitution(votes[:, panel], signal, labels, inner, own)
            assert sweep.n_scored[row] == sum(n for n, _, _ in strata.values())
            assert sweep.n_pivotal[row] == strata.get(1, (0,))[0]
            assert sweep.gain[row] == pytest.approx(float(total) / sweep.n_scored[row], abs=1e-12)
            for column, level in enumerate(sweep.stratum.tolist()):
                n, errors, _ = strata.get(level, (0, 0, 0))
                assert (sweep.n[row, column], sweep.n_errors[row, column]) == (n, errors)


@pytest.mark.parametrize("rule", ["uniform", "majority", 1])
def test_substitution_with_tasks_holds_the_moments_of_its_gain(rule):
    votes, signal, labels = random_panel(4, 300, 5, 0.1)
    tasks = np.arange(300) // 6
    plain = substitution(votes, signal, labels, rule=rule)
    result = substitution(votes, signal, labels, rule=rule, tasks=tasks)
    assert plain.task_moments is None
    assert result.total_gain == plain.total_gain
    moments = result.task_moments
    assert moments.n_tasks == 50
    assert Fraction(int(moments.data["gain"].sum()), moments.unit) == result.total_gain
    assert moments.data["n_pivotal"].sum() == result.n_pivotal
    boot = resampling.bootstrap(moments.gain(), moments.data, n_resamples=100, rng=0)
    assert boot.estimate == pytest.approx(result.gain, abs=1e-15)
    for other in ({"weights": np.ones(5)}, {"counts": np.ones(300, int)}):
        with pytest.raises(ValueError, match="tasks must not be given with weights, counts"):
            substitution(votes, signal, labels, rule=rule, tasks=tasks, **other)


def test_sweep_does_not_depend_on_workers_and_refuses_nonsense():
    votes, signal, labels = random_panel(3, 2000, 8)
    one = subset_sweep(votes, signal, labels, 4)
    two = subset_sweep(votes, signal, labels, 4, workers=2)
    np.testing.assert_array_equal(one.stratum_gain, two.stratum_gain)
    with pytest.raises(ValueError, match="size must be from 1 to 8, got 9"):
        subset_sweep(votes, signal, labels, 9)
    with pytest.raises(ValueError, match="moment_table needs a sweep made with tasks="):
        one.moment_table()
    with pytest.raises(ValueError, match="tasks must not be given with weights"):
        subset_sweep(votes, signal, labels, 4, tasks=np.arange(2000), weights=np.ones(8))
    wide = np.zeros((2, 40), np.int8)
    with pytest.raises(ValueError, match=r"size=20 of 40 judges makes 137846528820 panels"):
        subset_sweep(wide, [0, 0], [0, 0], 20)


@pytest.mark.parametrize("missing", [0.0, 0.05])
def test_distinct_ballots_answer_every_question_alike(missing):
    votes, signal, labels = random_panel(2, 3000, 5, missing)
    distinct = distinct_ballots(votes, signal, labels)
    columns = (distinct.votes, distinct.signal, distinct.labels)
    assert distinct.counts.sum() == 3000
    for rule in ("uniform", "majority", 3):
        one = substitution(votes, signal, labels, rule=rule)
        two = substitution(*columns, rule=rule, counts=distinct.counts)
        assert one.total_gain == two.total_gain
        np.testing.assert_array_equal(one.n_errors, two.n_errors)
    one = subset_sweep(votes, signal, labels, 3)
    two = subset_sweep(*columns, 3, counts=distinct.counts)
    np.testing.assert_array_equal(one.stratum_gain, two.stratum_gain)
    with pytest.raises(ValueError, match="counts and tasks exclude each other"):
        subset_sweep(*columns, 3, counts=distinct.counts, tasks=distinct.labels)
    with pytest.raises(ValueError, match=r"counts must not be negative, got -1 at index 0"):
        substitution(votes[:1], signal[:1], labels[:1], counts=[-1])
    with pytest.raises(TypeError, match="counts must hold integers, got dtype float64"):
        substitution(votes[:1], signal[:1], labels[:1], counts=[1.0])
    with pytest.raises(ValueError, match=r"counts must have shape \(1,\), got \(2,\)"):
        substitution(votes[:1], signal[:1], labels[:1], counts=[1, 1])
