"""The bootstrap of functions of moment totals: statistics, tasks, refusals."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from reference import resampling as reference

from ropoll_core import votes
from ropoll_core._rng import as_key
from ropoll_core.resampling import (
    EffectiveVotes,
    Mean,
    OfTotals,
    Ratio,
    bootstrap,
)

METHODS = ["percentile", "basic", "bca"]


def panel(n_tasks, n_rows, k, seed, error=0.3):
    """Errors (n_rows, k) that share a task effect, and the task of each row."""
    rng = np.random.default_rng(seed)
    tasks = rng.integers(0, n_tasks, n_rows)
    tasks[:n_tasks] = np.arange(n_tasks)
    hard = rng.random(n_tasks) < 0.3
    chance = np.where(hard[tasks], 0.6, error)[:, None]
    return (rng.random((n_rows, k)) < chance).astype(np.int64), tasks


def test_statistics_equal_formulas_on_the_drawn_rows(simd_variant):
    errors, tasks = panel(12, 90, 4, seed=1)
    columns, names = reference.error_moments(errors)
    columns["hit"] = 1 - errors[:, 0]
    neff = EffectiveVotes(*names)
    statistic = {
        "neff": neff,
        "mean": Mean("e1"),
        "ratio": Ratio("e0,1", "e1"),
        "difference": Mean("e1") - Ratio("hit", "n") / 2,
        "both": neff * 2.0 + 1 - Mean("e1"),
        "several": Ratio(["e0", "e1"], "n"),
        "root": Mean("e2").sqrt(),
    }
    found = bootstrap(statistic, columns, tasks=tasks, n_resamples=40, rng=9)
    for r in range(40):
        drawn = reference.draws(as_key(9), r, 12)
        rows = np.concatenate([np.flatnonzero(tasks == task) for task in drawn])
        e = errors[rows]
        expected = {
            "neff": reference.effective_votes(e),
            "mean": e[:, 1].mean(),
            "ratio": (e[:, 0] * e[:, 1]).sum() / e[:, 1].sum(),
            "difference": e[:, 1].mean() - (1 - e[:, 0]).mean() / 2,
            "both": reference.effective_votes(e) * 2 + 1 - e[:, 1].mean(),
            "several": e[:, :2].mean(axis=0),
            "root": np.sqrt(e[:, 2].mean()),
        }
        for name, value in expected.items():
            np.testing.assert_allclose(found[name].replicates[..., r], value, rtol=1e-12)
    np.testing.assert_allclose(found["neff"].estimate, reference.effective_votes(errors))


def test_panels_share_their_correlations():
    errors, tasks = panel(30, 200, 6, seed=2)
    columns, names = reference.error_moments(errors)
    panels = [[0, 1, 2], [5, 1, 3, 4], [2, 3], range(6)]
    found = bootstrap(EffectiveVotes(*names, panels=panels), columns, tasks=tasks, rng=1)
    assert found.estimate.shape == (4,)
    for i, members in enumerate(panels):
        np.testing.assert_allclose(
            found.estimate[i], reference.effective_votes(errors[:, list(members)])
        )
    base = EffectiveVotes(*names, panels=panels)
    change = bootstrap(base[1:3].mean() - base[0], columns, tasks=tasks, rng=1)
    np.testing.assert_array_equal(
        change.replicates,
        (found.replicates[1] + found.replicates[2]) / 2 - found.replicates[0],
    )


def test_effective_votes_leaves_out_judges_without_variance():
    errors = np.array([[0, 1, 0, 1], [0, 1, 1, 1], [0, 0, 0, 1], [0, 0, 1, 1]])
    columns, names = reference.error_moments(errors)
    found = bootstrap(EffectiveVotes(*names), columns, n_resamples=500, rng=2)
    assert found.estimate == pytest.approx(2.0)  # judges 1 and 2 only, phi = 0
    # One judge left is worth one vote, none left is undefined.
    for r in range(200):
        value = reference.effective_votes(errors[reference.draws(as_key(2), r, 4)])
        np.testing.assert_allclose(found.replicates[r], value, rtol=1e-12)
    assert found.n_undefined == np.isnan(found.replicates).sum() > 0


def test_effective_votes_with_missing_ballots():
    # Pairwise complete: each pair has its own n, E_i, E_j, E_ij.
    rng = np.random.default_rng(0)
    errors = rng.integers(0, 2, (80, 3)).astype(float)
    errors[rng.random((80, 3)) < 0.2] = np.nan
    columns, n, sides, both, phi = {}, [], [], [], []
    for i, j in [(0, 1), (0, 2), (1, 2)]:
        ok = ~np.isnan(errors[:, i]) & ~np.isnan(errors[:, j])
        a, b = np.where(ok, errors[:, i], 0), np.where(ok, errors[:, j], 0)
        tag = f"{i}{j}"
        columns |= {f"n{tag}": ok, f"i{tag}": a, f"j{tag}": b, f"b{tag}": a * b}
        n.append(f"n{tag}")
        sides.append((f"i{tag}", f"j{tag}"))
        both.append(f"b{tag}")
        phi.append(np.corrcoef(errors[ok][:, i], errors[ok][:, j])[0, 1])
    found = bootstrap(EffectiveVotes(n, sides, both), columns, n_resamples=10, rng=1)
    assert found.estimate == pytest.approx(3 / (1 + 2 * np.mean(phi)))


def test_infinite_effective_votes_are_not_clamped():
    # Two judges who are never wrong together and always one of them is: phi = -1 = -1/(k - 1).
    errors = np.array([[0, 1], [1, 0], [0, 1], [1, 0]])
    columns, names = reference.error_moments(errors)
    found = bootstrap(EffectiveVotes(*names), columns, rng=2)
    assert found.estimate == np.inf
    assert found.high == np.inf


def test_one_form_in_one_form_out():
    data = np.arange(12).reshape(6, 2)
    single = bootstrap(Mean(1), data, rng=1)
    listed = bootstrap([Mean(1), Mean(0)], data, rng=1)
    named = bootstrap({"a": Mean(1)}, {0: data[:, 0], 1: data[:, 1]}, rng=1)
    assert isinstance(listed, list)
    for found in (listed[0], named["a"]):
        np.testing.assert_array_equal(found.replicates, single.replicates)
        assert (found.low, found.high) == (single.low, single.high)


def test_repeated_draws_of_a_task_count():
    means = np.array([0.1, 0.4, 0.4, 0.7, 0.9, 0.2, 0.5, 0.8])
    found = bootstrap(Mean(0), np.repeat(means, 5), tasks=np.repeat(np.arange(8), 5), rng=1)
    assert found.standard_error == pytest.approx(0.09354143466934854, rel=0.03)


def test_rows_of_a_task_are_not_independent():
    means = np.array([0, 0, 1, 1, 1, 0.5])
    found = bootstrap(Mean(0), np.repeat(means, 10), tasks=np.repeat(np.arange(6), 10), rng=1)
    assert found.standard_error == pytest.approx(0.183207027198235, rel=0.03)


def test_order_of_rows_and_kind_of_keys():
    import pandas as pd

    keys = ["t2", "t0", "t10", "t2", "t0", "t10", "t2", "t0", "t10"]
    values = np.array([1, 0, 1, 1, 1, 0, 0, 0, 1])
    first = bootstrap(Mean(0), values, tasks=keys, rng=1)
    assert first.n_tasks == 3
    assert first.estimate == pytest.approx(5 / 9)
    assert first.standard_error == pytest.approx(0.09072184232530289, rel=0.03)
    order = np.argsort(keys, kind="stable")
    variants = {
        "sorted": (np.array(keys)[order], values[order]),
        "reversed": (keys[::-1], values[::-1]),
        "objects": (np.array(keys, dtype=object), values),
        "tuples": ([("x", key) for key in keys], values),
        "bytes": (np.array(keys, dtype="S"), values),
        "categorical": (pd.Categorical(keys, categories=["t0", "t10", "t2", "t7"]), values),
        "series": (pd.Series(keys), values),
    }
    for name, (tasks, data) in variants.items():
        found = bootstrap(Mean(0), data, tasks=tasks, rng=1)
        np.testing.assert_array_equal(found.replicates, first.replicates, err_msg=name)
        assert found.n_tasks == 3
    # Whole numbers sort by value: 0, 2, 10, another order than that of the strings.
    numbers = np.array([int(key[1:]) for key in keys])
    as_strings = ["a" if n == 0 else "b" if n == 2 else "c" for n in numbers]
    np.testing.assert_array_equal(
        bootstrap(Mean(0), values, tasks=numbers, rng=1).replicates,
        bootstrap(Mean(0), values, tasks=as_strings, rng=1).replicates,
    )


def test_keys_that_do_not_sort():
    keys = [("a", 1), 7, None.__class__, ("a", 1), 7]
    found = bootstrap(Mean(0), np.arange(5), tasks=keys, rng=1)
    assert found.n_tasks == 3


@pytest.mark.parametrize(
    ("tasks", "rows"),
    [
        (["t0", "t1", None, "t1", ""], "2, 4"),
        (np.array(["t0", "t1", "", "t1", ""]), "2, 4"),
        (np.array([0.0, 1.0, np.nan, 1.0, 2.0]), "2"),
        (np.array(["2020-01-01", "NaT"] + ["2020-01-02"] * 3, dtype="M8[D]"), "1"),
        ([1, 2, float("nan"), 3, None], "2, 4"),
    ],
)
def test_missing_task_keys_name_their_rows(tasks, rows):
    with pytest.raises(ValueError, match=f"missing or empty at row {rows}$"):
        bootstrap(Mean(0), np.array([1, 0, 1, 1, 0]), tasks=tasks)


def test_missing_key_of_a_data_frame():
    import pandas as pd

    frame = pd.DataFrame({"task": ["a", None, "b"], "value": [1, 0, 1]})
    with pytest.raises(ValueError, match=r"row 1$"):
        bootstrap(Mean("value"), frame[["value"]], tasks=frame["task"])
    with pytest.raises(ValueError, match=r"row 0, 1, 2, 3, 4 and 3 more$"):
        bootstrap(Mean(0), np.arange(8), tasks=[None] * 8)


@settings(max_examples=50, deadline=None)
@given(
    values=hnp.arrays(np.int64, st.integers(2, 30), elements=st.integers(-1000, 1000)),
    data=st.data(),
)
def test_order_of_rows_never_matters(values, data):
    tasks = data.draw(hnp.arrays(np.int64, values.size, elements=st.integers(0, 5)))
    order = np.array(data.draw(st.permutations(range(values.size))))
    options = {"n_resamples": 50, "rng": 1, "method": "bca"}
    first = bootstrap(Mean(0), values, tasks=tasks, **options)
    again = bootstrap(Mean(0), values[order], tasks=tasks[order], **options)
    np.testing.assert_array_equal(first.replicates, again.replicates)
    np.testing.assert_array_equal([first.low, first.high], [again.low, again.high])


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"statistic": 3}, TypeError, "statistic must be"),
        ({"statistic": {}}, ValueError, "empty mapping"),
        ({"statistic": Mean(2)}, ValueError, "reads column 2, which data does not have"),
        ({"data": [[1, np.nan]]}, ValueError, "finite, got nan at row 0, column 1"),
        ({"data": [["a", "b"]]}, TypeError, "column 0 of data must hold numbers"),
        ({"data": np.zeros((0, 2))}, ValueError, "at least one row"),
        ({"data": {"a": [1, 2], "b": [1]}}, ValueError, "column 'b' has 1"),
        ({"tasks": [1]}, ValueError, "2 rows, 1 keys"),
        ({"tasks": np.zeros((2, 2))}, ValueError, "shape"),
        ({"method": "bc"}, ValueError, "method must be one of"),
        ({"confidence_level": 95}, ValueError, r"in \(0, 1\), got 95"),
        ({"n_resamples": 0}, ValueError, "at least 1"),
        ({"statistic": OfTotals(lambda t: 1.0)}, ValueError, "must return shape"),
    ],
)
def test_refusals(change, error, message):
    arguments = {"statistic": Mean(0), "data": [[1, 2], [3, 4]], "rng": 1} | change
    with pytest.raises(error, match=message):
        bootstrap(arguments.pop("statistic"), arguments.pop("data"), **arguments)


@pytest.mark.parametrize("statistic", [Mean(0), np.mean])
def test_what_a_container_says_about_its_rows(statistic):
    """A Series is one column; a mask is never dropped."""
    import pandas as pd

    values = np.arange(10.0)
    plain = bootstrap(statistic, values, n_resamples=50, rng=0)
    assert bootstrap(statistic, pd.Series(values), n_resamples=50, rng=0).low == plain.low
    masked = np.ma.masked_array(values, values > 3)
    for data in (masked, {0: masked}):
        with pytest.raises(TypeError, match="a masked array would lose its mask"):
            bootstrap(statistic, data, n_resamples=50, rng=0)


def test_statistic_refusals():
    with pytest.raises(ValueError, match="columns for k judges"):
        EffectiveVotes("n", ["a", "b"], ["x", "y"])
    with pytest.raises(ValueError, match="errors must have 2 columns"):
        EffectiveVotes("n", ["a"], ["x"])
    with pytest.raises(ValueError, match="two distinct judges"):
        EffectiveVotes("n", ["a", "b"], ["x"], panels=[[0, 0]])
    with pytest.raises(ValueError, match="lists of one length"):
        Ratio(["a", "b"], ["c", "d", "e"])
    with pytest.raises(TypeError, match="combines with a statistic or a number, got str"):
        Mean(0) + "a"
    with pytest.raises(TypeError, match="takes a function"):
        OfTotals(3)


def test_ballots_are_counted_once_and_not_in_every_resample():
    # An evaluation harness recomputed a costly metric of each sample in every resample: minutes
    # for what is a sum of a few numbers a task.
    n_tasks, n_candidates, n_judges = 3000, 10, 7
    task, candidate, judge = np.ogrid[:n_tasks, :n_candidates, :n_judges]
    marks = task * 31 + candidate * 17 + judge * judge * 7 + (task * judge) % 3
    ballots = (marks % 7 < 4).astype(np.int8).reshape(-1, n_judges)
    start = time.thread_time()
    decision = votes.tally(ballots).decision
    tasks = np.repeat(np.arange(n_tasks), n_candidates)
    found = bootstrap(Mean(0), decision, tasks=tasks, rng=0)
    assert time.thread_time() - start < 2.0
    assert found.n_resamples == 10_000
    assert found.estimate == pytest.approx(0.5714666666666667, abs=1e-12)
    by_task = decision.reshape(n_tasks, n_candidates).mean(axis=1)
    assert found.low < found.estimate < found.high
    assert found.standard_error == pytest.approx(by_task.std() / n_tasks**0.5, rel=0.05)
