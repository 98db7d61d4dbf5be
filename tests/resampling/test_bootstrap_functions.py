"""The bootstrap of a user's own functions: of totals or rows, plain or jitted."""

from fractions import Fraction

import numpy as np
import pytest
from reference import resampling as reference

from ropoll_core._rng import as_key
from ropoll_core.resampling import BootstrapStatus, Mean, OfTotals, Ratio, bootstrap

numba = pytest.importorskip("numba")


def clustered(seed=0, n_tasks=11, n_rows=70):
    rng = np.random.default_rng(seed)
    tasks = rng.integers(0, n_tasks, n_rows)
    tasks[:n_tasks] = np.arange(n_tasks)
    return rng.integers(0, 20, (n_rows, 2)), tasks


@numba.njit
def jitted_ratio(totals):
    return totals[0] / totals[1]


@numba.njit
def jitted_median(rows):
    return np.median(rows[:, 0])


@numba.njit
def jitted_refusal(totals):
    if totals[0] > 60:
        raise ValueError("too much")
    return totals[0]


def test_functions_of_totals_agree_with_the_built_in_ratio():
    data, tasks = clustered()
    statistic = {
        "built in": Ratio(0, 1),
        "numpy": OfTotals(lambda t: t[0] / t[1]),
        "jitted": OfTotals(jitted_ratio),
    }
    for method in ("percentile", "basic", "bca"):
        found = bootstrap(statistic, data, tasks=tasks, rng=1, method=method)
        first = found.pop("built in")
        for other in found.values():
            np.testing.assert_array_equal(other.replicates, first.replicates)
            assert (other.estimate, other.low, other.high) == (
                first.estimate,
                first.low,
                first.high,
            )


def test_functions_of_rows_see_the_rows_of_the_drawn_tasks():
    data, tasks = clustered()
    found = bootstrap(
        [
            jitted_median,
            lambda rows: np.median(rows[:, 0]),
            lambda rows: rows.sum(axis=0),
            Mean(1),
        ],
        data,
        tasks=tasks,
        n_resamples=60,
        rng=5,
    )
    for r in range(60):
        drawn = reference.draws(as_key(5), r, 11)
        rows = data[np.concatenate([np.flatnonzero(tasks == task) for task in drawn])]
        assert found[0].replicates[r] == np.median(rows[:, 0])
        assert found[1].replicates[r] == np.median(rows[:, 0])
        np.testing.assert_array_equal(found[2].replicates[:, r], rows.sum(axis=0))
        assert found[3].replicates[r] == rows[:, 1].mean()
    assert found[0].estimate == np.median(data[:, 0])
    assert found[0].n_rows == 70


def test_rows_come_task_after_task_in_their_own_order():
    values = np.array([10, 20, 11, 21, 12])
    tasks = np.array(["a", "b", "a", "b", "a"])
    seen = []
    bootstrap(lambda rows: seen.append(rows.tolist()) or 0.0, values, tasks=tasks, n_resamples=8)
    pieces = {"a": [10, 11, 12], "b": [20, 21]}
    for rows in seen:
        while rows:
            piece = pieces["a" if rows[0] == 10 else "b"]
            assert rows[: len(piece)] == piece
            rows = rows[len(piece) :]


def test_mapping_of_arrays():
    data = {"x": np.arange(6), "y": np.arange(12).reshape(6, 2)}
    found = bootstrap(lambda d: d["x"].mean() - d["y"].mean(), data, rng=1, n_resamples=20)
    for r in range(20):
        drawn = reference.draws(as_key(1), r, 6)
        assert found.replicates[r] == data["x"][drawn].mean() - data["y"][drawn].mean()


def test_bca_leaves_whole_tasks_out():
    data, tasks = clustered(3)
    by_rows = bootstrap(
        lambda rows: rows[:, 0].sum() / rows[:, 1].sum(), data, tasks=tasks, rng=1, method="bca"
    )
    by_totals = bootstrap(Ratio(0, 1), data, tasks=tasks, rng=1, method="bca")
    assert (by_rows.low, by_rows.high) == (by_totals.low, by_totals.high)


def test_a_median_whose_jackknife_does_not_vary():
    found = bootstrap(
        np.median, np.array([1, 2, 3, 3, 4, 9]), method="bca", confidence_level=0.9, rng=1
    )
    assert found.estimate == 3.0
    assert found.low < 3.0 < found.high
    assert found.status is BootstrapStatus.OK


@pytest.mark.parametrize("statistic", [jitted_median, OfTotals(jitted_ratio)])
def test_workers_do_not_matter(statistic):
    data, tasks = clustered()
    first = bootstrap(statistic, data, tasks=tasks, rng=1)
    again = bootstrap(statistic, data, tasks=tasks, rng=1, workers=3)
    np.testing.assert_array_equal(again.replicates, first.replicates)


def test_tasks_of_very_unequal_size():
    # A resample may hold many times the rows of the data.
    tasks = np.repeat(np.arange(5), [1, 1, 1, 1, 200])
    values = np.arange(tasks.size) % 13
    jitted = bootstrap(jitted_median, values, tasks=tasks, rng=1, n_resamples=300)
    plain = bootstrap(np.median, values, tasks=tasks, rng=1, n_resamples=300)
    np.testing.assert_array_equal(jitted.replicates, plain.replicates)


@pytest.mark.parametrize("workers", [1, 2])
def test_errors_of_the_function_surface(workers):
    data, tasks = clustered()
    options = {"rng": 1, "workers": workers}
    with pytest.raises(ValueError, match="too much"):
        bootstrap(OfTotals(jitted_refusal), np.arange(12), **options)
    with pytest.raises(ZeroDivisionError):
        bootstrap(OfTotals(jitted_ratio), np.array([[1, 0], [1, 1], [1, 0]]), **options)

    @numba.njit
    def refuse(rows):
        if rows[0, 0] == rows[1, 0]:
            raise ValueError("twice")
        return 0.0

    with pytest.raises(ValueError, match="twice"):
        bootstrap(refuse, np.arange(12), **options)

    def fail(rows):
        if rows[0, 0] != data[0, 0]:
            raise KeyError("mine")
        return 0.0

    with pytest.raises(KeyError, match="mine"):
        bootstrap(fail, data, tasks=tasks, **options)


def test_nan_rows_are_the_functions_business():
    data = np.array([1.0, np.nan, 3.0, 4.0])
    found = bootstrap(np.nansum, data, rng=1)
    assert found.estimate == 8.0
    undefined = bootstrap(np.mean, data, rng=1)
    assert undefined.status is BootstrapStatus.UNDEFINED


def test_refusals():
    with pytest.raises(TypeError, match="takes an array as data, got a mapping"):
        bootstrap(jitted_median, {"x": [1, 2]})
    with pytest.raises(TypeError, match="takes numbers, got dtype"):
        bootstrap(jitted_median, np.array([["a"], ["b"]]))
    with pytest.raises(ValueError, match="a number or a 1-D array"):
        bootstrap(lambda rows: rows, np.zeros((3, 2)))
    with pytest.raises(ValueError, match=r"one shape: \(\) for the data, \(2,\) for resample"):
        bootstrap(lambda rows: 0.0 if rows[0] == 0 else [0.0, 1.0], np.arange(5), rng=1)
    with pytest.raises(ValueError, match="column 'y' has 2"):
        bootstrap(lambda d: 0.0, {"x": [1, 2, 3], "y": [1, 2]})


@pytest.mark.parametrize(
    ("returned", "got"),
    [
        (None, "NoneType"),
        ("0.5", "str"),
        (0.5 + 1j, "complex"),
        ([0.5, None], "array of dtype object"),
        (["a", "b"], "array of dtype <U1"),
        (np.array([1j, 2.0]), "array of dtype complex128"),
    ],
)
def test_a_statistic_must_return_real_numbers(returned, got):
    data, tasks = clustered()
    with pytest.raises(TypeError, match=rf"of rows must return real numbers .*got (an )?{got}"):
        bootstrap(lambda rows: returned, data, tasks=tasks, rng=1, n_resamples=10)
    with pytest.raises(TypeError, match=rf"of totals must return real numbers .*got (an )?{got}"):
        bootstrap(OfTotals(lambda totals: returned), data, tasks=tasks, rng=1, n_resamples=10)


def test_a_statistic_that_forgets_to_return_from_some_resamples_is_an_error():
    data, tasks = clustered()
    first = data[:, 0].mean()
    statistic = lambda rows: 1.0 if rows[:, 0].mean() >= first else None  # noqa: E731
    with pytest.raises(TypeError, match="NoneType"):
        bootstrap(statistic, data, tasks=tasks, rng=1, n_resamples=100)


def test_whole_numbers_booleans_and_fractions_are_real():
    data, tasks = clustered()
    for returned in (True, 3, np.int8(3), Fraction(3, 4), [Fraction(3, 4), 1]):
        found = bootstrap(lambda rows, r=returned: r, data, tasks=tasks, rng=1, n_resamples=10)
        np.testing.assert_array_equal(found.estimate, np.asarray(returned, dtype=float))
