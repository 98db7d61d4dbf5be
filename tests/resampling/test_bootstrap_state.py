"""Poisson states of shards, and sampled permutation nulls."""

import itertools

import numpy as np
import pytest
from reference import rng as reference
from scipy import stats

from ropoll_core._rng import as_key
from ropoll_core.resampling import BootstrapState, Mean, Ratio, bootstrap, permutation


def table(seed=0, n_tasks=40, n_rows=300):
    rng = np.random.default_rng(seed)
    tasks = rng.integers(0, n_tasks, n_rows)
    tasks[:n_tasks] = np.arange(n_tasks)
    return rng.integers(0, 9, (n_rows, 3)), np.array([f"task {t}" for t in tasks])


def merged(data, tasks, parts, **options):
    states = [
        BootstrapState.from_data(data[part], tasks=tasks[part], rng=5, **options) for part in parts
    ]
    whole = states[0]
    for state in states[1:]:
        whole = whole.merge(state)
    return whole


def test_any_split_gives_the_same_totals():
    data, tasks = table()
    whole = merged(data, tasks, [slice(None)], n_resamples=500)
    rng = np.random.default_rng(1)
    for n_parts in (2, 3, 7):
        labels = rng.integers(0, n_parts, len(data))  # cuts tasks as well
        split = merged(data, tasks, [labels == p for p in range(n_parts)], n_resamples=500)
        np.testing.assert_array_equal(split.totals, whole.totals)
        np.testing.assert_array_equal(split.data_totals, whole.data_totals)
        assert split.n_rows == 300
    by_task = np.array([int(t.split()[1]) % 2 for t in tasks]) == 0
    split = merged(data, tasks, [by_task, ~by_task], n_resamples=500)
    assert split.n_tasks == whole.n_tasks == 40


def test_a_longer_run_and_more_workers_keep_the_resamples():
    data, tasks = table()
    short = merged(data, tasks, [slice(None)], n_resamples=123)
    long = merged(data, tasks, [slice(None)], n_resamples=1001, workers=3)
    np.testing.assert_array_equal(long.totals[:123], short.totals)


def test_weights_are_poisson_and_independent():
    n = 40_000
    state = BootstrapState.from_data(
        {"a": [1, 0, 0], "b": [0, 1, 0]}, tasks=["x", "y", "z"], rng=2, n_resamples=n
    )
    first, second = state.totals[:, 0], state.totals[:, 1]
    for weights in (first, second, state.totals[:, 2] - first - second):
        seen = np.bincount(weights.astype(int), minlength=7)
        expected = stats.poisson.pmf(np.arange(6), 1.0)
        expected = np.append(expected, 1 - expected.sum()) * n
        seen = np.append(seen[:6], seen[6:].sum())
        assert stats.chisquare(seen, expected).pvalue > 1e-3
    assert abs(np.corrcoef(first, second)[0, 1]) < 4.5 / n**0.5
    assert abs(np.corrcoef(first[1:], first[:-1])[0, 1]) < 4.5 / n**0.5


def test_intervals_agree_with_the_bootstrap():
    data, tasks = table(n_tasks=200, n_rows=1500)
    state = merged(data, tasks, [slice(0, 700), slice(700, None)])
    for method in ("percentile", "basic"):
        mine = state.interval({"r": Ratio(0, 1), "d": Mean(2) - Mean(0)}, method=method)
        exact = bootstrap(
            {"r": Ratio(0, 1), "d": Mean(2) - Mean(0)}, data, tasks=tasks, rng=5, method=method
        )
        for name, other in exact.items():
            assert mine[name].estimate == other.estimate
            width = other.high - other.low
            assert mine[name].low == pytest.approx(other.low, abs=0.06 * width)
            assert mine[name].high == pytest.approx(other.high, abs=0.06 * width)


@pytest.mark.parametrize(
    "keys",
    [
        [3, 1, 2, 3],
        [3.5, 1.0, 2.0, 3.5],
        [b"c", b"a", b"b", b"c"],
        [("x", 3), ("x", 1), ("y", 3), ("x", 3)],
        np.array(["2020-01-03", "2020-01-01", "2020-01-02", "2020-01-03"]),
    ],
)
def test_kinds_of_keys(keys):
    whole = BootstrapState.from_data(np.arange(4), tasks=keys, rng=1, n_resamples=50)
    pieces = [
        BootstrapState.from_data(
            np.arange(4)[i : i + 1], tasks=keys[i : i + 1], rng=1, n_resamples=50
        )
        for i in range(4)
    ]
    total = pieces[0].merge(pieces[1]).merge(pieces[2]).merge(pieces[3])
    np.testing.assert_array_equal(total.totals, whole.totals)
    assert whole.n_tasks == 3


def test_equal_numbers_are_one_key():
    as_int = BootstrapState.from_data([1, 2], tasks=[7, 8], rng=1, n_resamples=20)
    as_float = BootstrapState.from_data([1, 2], tasks=np.array([7.0, 8.0]), rng=1, n_resamples=20)
    as_text = BootstrapState.from_data([1, 2], tasks=["7", "8"], rng=1, n_resamples=20)
    np.testing.assert_array_equal(as_int.totals, as_float.totals)
    assert (as_int.totals != as_text.totals).any()


def test_state_refusals():
    data, tasks = table()
    state = merged(data, tasks, [slice(None)], n_resamples=10)
    with pytest.raises(ValueError, match="rng must be given"):
        BootstrapState.from_data(data, tasks=tasks, rng=None)
    with pytest.raises(TypeError, match="tasks must be given"):
        BootstrapState.from_data(data, tasks=None, rng=1)
    with pytest.raises(TypeError, match="got frozenset"):
        BootstrapState.from_data([1], tasks=[frozenset()], rng=1)
    with pytest.raises(ValueError, match="equal n_resamples, got 10 and 20"):
        state.merge(BootstrapState.from_data(data, tasks=tasks, rng=5, n_resamples=20))
    with pytest.raises(ValueError, match="equal key"):
        state.merge(BootstrapState.from_data(data, tasks=tasks, rng=6, n_resamples=10))
    with pytest.raises(ValueError, match="equal columns"):
        state.merge(BootstrapState.from_data(data[:, 0], tasks=tasks, rng=5, n_resamples=10))
    with pytest.raises(TypeError, match="other must be a BootstrapState"):
        state.merge(3)
    with pytest.raises(ValueError, match="method must be one of percentile, basic"):
        state.interval(Mean(0), method="bca")
    with pytest.raises(TypeError, match="must be a Statistic"):
        state.interval(np.mean)
    with pytest.raises(ValueError, match="reads column 9"):
        state.interval(Mean(9))


# Permutations


def shuffled(key, number, n):
    """Fisher and Yates with the plain twin's bounded integers."""
    rows = list(range(n))
    for i in range(n - 1, 0, -1):
        j = reference.bounded(*key, number, i, i + 1)
        rows[i], rows[j] = rows[j], rows[i]
    return rows


def test_permutations_equal_the_plain_twin():
    seen = []
    permutation(lambda rows: seen.append(rows.tolist()) or 0.0, np.arange(9), n_resamples=6, rng=4)
    assert seen[0] == list(range(9))
    assert seen[1:] == [shuffled(as_key(4), r, 9) for r in range(6)]


def test_permutations_are_uniform():
    seen = []
    permutation(
        lambda rows: seen.append(tuple(rows)) or 0.0, np.arange(4), n_resamples=12_000, rng=4
    )
    counts = [seen[1:].count(order) for order in itertools.permutations(range(4))]
    assert sum(counts) == 12_000
    assert stats.chisquare(counts).pvalue > 1e-3


def test_rows_stay_in_their_group():
    groups = np.array(["b", "a", "b", "a", "b", "c"])
    values = np.array([0, 10, 1, 11, 2, 20])
    seen = []
    found = permutation(
        lambda rows: seen.append(rows.tolist()) or 0.0, values, groups=groups, rng=1, n_resamples=60
    )
    assert found.n_groups == 3
    for rows in seen:
        assert sorted(np.array(rows)[groups == "b"]) == [0, 1, 2]
        assert sorted(np.array(rows)[groups == "a"]) == [10, 11]
        assert rows[5] == 20
    assert len({tuple(rows) for rows in seen}) == 12


def test_null_of_matching_errors_is_hypergeometric():
    # 5 of 40 rows are marked on one side, 8 on the other; how many meet?
    fixed = np.arange(40) < 5
    moved = np.arange(40) < 8
    found = permutation(lambda rows: (rows & fixed).sum(), moved, rng=3, n_resamples=8000)
    assert found.estimate == 5
    law = stats.hypergeom(40, 8, 5)
    counts = np.bincount(found.null.astype(int), minlength=6)
    assert (
        stats.chisquare(counts[:4], law.pmf(range(4)) * counts[:4].sum() / law.cdf(3)).pvalue > 1e-3
    )
    assert found.p_value == (1 + (found.null >= 5).sum()) / 8001
    assert found.null_mean == pytest.approx(law.mean(), abs=0.05)


def test_alternatives_and_workers():
    fixed = np.arange(30) % 2
    options = {"rng": 3, "n_resamples": 999}
    greater = permutation(lambda rows: (rows == fixed).mean(), fixed, **options)
    less = permutation(lambda rows: (rows == fixed).mean(), fixed, alternative="less", **options)
    both = permutation(
        lambda rows: (rows == fixed).mean(), fixed, alternative="two-sided", workers=2, **options
    )
    np.testing.assert_array_equal(both.null, greater.null)
    assert greater.p_value == 0.001
    assert less.p_value == 1.0
    assert both.p_value == 0.002


def test_permutation_refusals():
    with pytest.raises(TypeError, match="statistic must be a function"):
        permutation(3, [1, 2])
    with pytest.raises(ValueError, match="got NaN for the data"):
        permutation(lambda rows: float("nan"), [1, 2])
    with pytest.raises(ValueError, match=r"groups must have a key for every row; .* row 1$"):
        permutation(lambda rows: 0.0, [1, 2], groups=["a", None])
    with pytest.raises(ValueError, match="alternative must be one of"):
        permutation(lambda rows: 0.0, [1, 2], alternative="both")
