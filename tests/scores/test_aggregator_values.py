"""Aggregators: exact values of the comparators, scores of any size, and properties."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from reference import aggregators as twin
from reference.aggregator_calls import BY_ARITHMETIC, call, panels
from reference.aggregators import METHODS, WEIGHTED

from ropoll_core import scores as rs
from ropoll_core.scores import AggregateStatus, AggregationWarning

NAN = float("nan")


# ---- published faults of other tools, with right values ----


def test_missing_values_are_not_what_is_trimmed():
    column = np.array([1, 2, 4, 8, 16, 32, NAN, NAN])[:, None]
    assert rs.coordinatewise_trimmed_mean(column, proportion=0.25) == [7.5]


def test_trimming_nothing_is_said():
    column = np.array([1.0, 2, 3, 4, 100])[:, None]
    for trim in (rs.coordinatewise_trimmed_mean, rs.trimmed_mean):
        with pytest.warns(AggregationWarning, match="1 of 1 queries have too few valid judges"):
            assert trim(column, proportion=0.1) == [22.0]
        report = trim(column, proportion=0.1, full_output=True)
        assert report.status == AggregateStatus.NOTHING_TRIMMED
        assert report.n_used == report.n_valid == 5
        assert trim(column, proportion=0.0) == [22.0]  # asked for, so nothing to say
    x = np.ones((2, 2, 5, 1))
    x[1, 0, :2] = NAN
    with pytest.warns(AggregationWarning, match=r"1 of 4 queries \(first: query \(1, 0\)\)"):
        rs.trimmed_mean(x, proportion=0.25)


@pytest.mark.parametrize("proportion", [0.5, 0.6, 1, -0.1, NAN])
def test_trimming_everything_is_refused(proportion):
    with pytest.raises(ValueError, match=r"proportion must be a finite number in \[0, 0.5\)"):
        rs.coordinatewise_trimmed_mean([[4.0], [6.0]], proportion=proportion)


def test_a_proportion_next_to_its_bound_leaves_a_judge():
    column = np.array([[[1.0], [2.0], [4.0]]])
    report = rs.trimmed_mean(column, proportion=np.nextafter(1.0, 0.0), full_output=True)
    assert report.n_used.tolist() == [1]
    assert report.value.tolist() == [[2.0]]
    below_half = {"proportion": np.nextafter(0.5, 0.0), "full_output": True}
    two = rs.coordinatewise_trimmed_mean(column[:, :2], **below_half)
    assert two.value.tolist() == [[1.5]]


def test_distance_trimming_keeps_at_least_one_judge():
    assert rs.trimmed_mean([[4.0], [6.0]], proportion=0.99) == [4.0]
    with pytest.raises(ValueError, match=r"\[0, 1\)"):
        rs.trimmed_mean([[4.0], [6.0]], proportion=1.0)


def test_proportion_that_rounding_keeps_below_an_integer():
    column = np.arange(100.0)[:, None]
    report = rs.trimmed_mean(column, proportion=0.29, full_output=True)
    assert int(report.n_used) == 71


@pytest.mark.parametrize(
    ("dtype", "column", "median", "mean"),
    [
        ("int16", [14, 15, 3, 20], 14.5, 13.0),
        ("int8", [100, 101, 102, 103], 101.5, 101.5),
        ("uint8", [0, 1], 0.5, 0.5),
        ("bool", [True, False, True, True], 1.0, 0.75),
        ("int64", [2**53 + 1, 2**53 + 1], 2.0**53, 2.0**53),
        ("int64", [2**62, 2**62, 2**62], 2.0**62, 2.0**62),
    ],
)
def test_integers_neither_truncate_nor_overflow(dtype, column, median, mean):
    x = np.array(column, dtype=dtype)[:, None]
    assert rs.coordinatewise_median(x) == [median]
    assert rs.mean(x) == [mean]
    assert rs.mean(x).dtype == np.float64


@pytest.mark.parametrize(
    ("column", "weights", "median"),
    [
        ([1, 4], None, 2.5),
        ([4, 1, 3, 2], None, 2.5),
        ([1, 4], [2, 2], 2.5),
        ([8, 1, 6, 9, 2], [1, 7, 1, 7, 1], 6),
        ([0, 1, 0, 1], None, 0.5),
        ([1, 2, 3, 4, 5, 6], [0.1] * 6, 3.5),
    ],
)
def test_even_and_weighted_medians(column, weights, median):
    assert rs.coordinatewise_median(np.array(column)[:, None], weights=weights) == [median]


@pytest.mark.parametrize("method", WEIGHTED)
def test_no_weight_left_is_a_status(method):
    x = [[[NAN], [3], [5]], [[1], [3], [5]]]
    report = call(method, x, weights=[1, 0, 0], full_output=True)
    assert np.isnan(report.value[0, 0])
    assert report.value[1, 0] == 1.0
    assert report.status.tolist() == [AggregateStatus.ALL_MISSING, AggregateStatus.OK]
    assert report.n_valid.tolist() == [2, 3]
    assert report.used.tolist() == [[False] * 3, [True, False, False]]


def test_zero_weight_judge_may_be_missing():
    x = [[1.0], [NAN], [3.0]]
    for policy in ("omit", "propagate", "raise"):
        assert rs.mean(x, weights=[1, 0, 1], nan_policy=policy) == [2.0]


def test_the_perfect_cell_that_no_judge_gave():
    panel = [[5, 5, 1], [5, 1, 5], [1, 5, 5]]
    assert rs.coordinatewise_median(panel).tolist() == [5, 5, 5]
    assert rs.mean(panel) == pytest.approx([11 / 3] * 3, abs=1e-15)


# ---- range ----


def test_mean_does_not_overflow():
    big = np.finfo(float).max
    assert rs.mean([[big], [big], [big]]) == [big]
    assert rs.mean([[big], [-big]]) == [0]
    assert rs.mean([[1e308, 1.0], [1e308, 3.0]], weights=[2, 2]).tolist() == [1e308, 2.0]
    assert rs.coordinatewise_median([[big], [big]]) == [big]
    assert rs.coordinatewise_median([[5e-324], [5e-324]]) == [5e-324]
    assert rs.coordinatewise_trimmed_mean([[big]] * 4, proportion=0.25) == [big]


@pytest.mark.parametrize(
    "method", sorted(set(BY_ARITHMETIC) - {"huber_mean"})
)  # has a scale itself
@pytest.mark.parametrize("power", [-900, -600, 600, 1000])
def test_scaling_by_a_power_of_two_is_exact(method, power, simd_variant):
    x = np.random.default_rng(3).integers(1, 9, size=(40, 7, 3)).astype(float)
    assert np.array_equal(call(method, np.ldexp(x, power)), np.ldexp(call(method, x), power))


@pytest.mark.parametrize("outlier", [1e3, 1e100, 1e200, 1e308])
def test_outliers_of_any_size(outlier, simd_variant):
    panel = np.array([[1.0, 2], [2, 2], [2, 3], [outlier, outlier], [3, 2]])
    assert rs.medoid(panel).tolist() == [2, 2]
    assert rs.trimmed_mean(panel, proportion=0.2).tolist() == [2, 2.25]
    assert rs.coordinatewise_median(panel).tolist() == [2, 2]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("size", [1.7e308, 1e308, 1e-308, 5e-324])
def test_results_stay_among_the_scores_at_any_size(method, size, simd_variant):
    least = max(METHODS[method][2], 5)
    x = np.random.default_rng(2).choice([-1.0, 0.5, 1.0], size=(20, least, 2)) * size
    result = call(method, x)
    assert (result <= x.max(axis=1) + size * 1e-9).all()
    assert (result >= x.min(axis=1) - size * 1e-9).all()
    assert np.array_equal(call(method, np.full((3, least, 2), size)), np.full((3, 2), size))


# ---- properties ----

likert = hnp.arrays(
    np.float64,
    st.tuples(st.integers(1, 9), st.integers(1, 4)),
    elements=st.sampled_from([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, NAN]),
)


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=60, deadline=None)
@given(panel=likert)
def test_likert_panels_agree_with_the_twin(method, panel):
    if len(panel) < METHODS[method][2]:
        return
    if len(twin.valid(panel)[0]) == 0:
        assert np.isnan(call(method, panel)).all()
        return
    if method in ("trimmed_mean", "huber_mean"):
        return  # equally far judges, flat minima: their own tests
    wanted = METHODS[method][1](panel, **METHODS[method][0])
    np.testing.assert_allclose(call(method, panel), wanted, rtol=1e-14, atol=1e-15)


@settings(max_examples=100, deadline=None)
@given(panel=likert, proportion=st.sampled_from([0.0, 0.2, 0.34, 0.5, 0.9]))
def test_trimmed_mean_drops_the_farthest(panel, proportion):
    x, _ = twin.valid(panel)
    if len(x) == 0:
        return
    report = rs.trimmed_mean(panel, proportion=proportion, full_output=True)
    distance = np.linalg.norm(panel - x.mean(axis=0), axis=1)
    dropped = ~report.used & ~np.isnan(distance)
    assert dropped.sum() == twin.count(proportion, len(x))
    if dropped.any():
        assert distance[dropped].min() >= distance[report.used].max() - 1e-12
    np.testing.assert_allclose(
        report.value, panel[report.used].mean(axis=0), rtol=1e-14, atol=1e-15
    )


# Bulyan ends on sums over one neighbour, which two mutual neighbours share: a tie by nature.
# Groups of judges are made in their order.
@pytest.mark.parametrize("method", sorted(set(BY_ARITHMETIC) - {"bulyan"}))
def test_order_of_judges_does_not_matter(method):
    rng = np.random.default_rng(9)
    x = panels(2, 9, 3)
    result = call(method, x)
    again = call(method, x[:, rng.permutation(9)])
    np.testing.assert_allclose(again, result, rtol=1e-13, atol=1e-14)
