"""The geometric median as it is called: arrays in and out, and what bad input gets."""

import numpy as np
import pytest
from reference.median_batches import gaussian, mixed_batch

import ropoll_core
from ropoll_core.scores import AggregationWarning, Status, geometric_median

# --- input and output arrays ----------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_layouts(dtype):
    x = gaussian(np.random.default_rng(59), 40, 5, 4).astype(dtype)
    expected = geometric_median(x)
    assert expected.dtype == dtype
    wide = np.full((80, 15, 12), 77, dtype=dtype)
    wide[::2, ::3, ::-3] = x
    read_only = x.copy()
    read_only.flags.writeable = False
    for same in (
        np.asfortranarray(x),
        wide[::2, ::3, ::-3],
        read_only,
        x.astype(x.dtype.newbyteorder(">")),
        np.ascontiguousarray(x.transpose(2, 1, 0)).transpose(2, 1, 0),
    ):
        np.testing.assert_array_equal(geometric_median(same), expected)
    np.testing.assert_array_equal(
        geometric_median(x.reshape(2, 4, 5, 5, 4)), expected.reshape(2, 4, 5, 4)
    )


@pytest.mark.parametrize("lead", [(0,), (3, 0), (0, 2)])
def test_empty(lead):
    result = geometric_median(np.empty((*lead, 3, 2)), full_output=True)
    assert result.median.shape == (*lead, 2)
    assert result.status.shape == lead
    assert result.influence.shape == (*lead, 3)


def test_one_panel_from_lists():
    result = geometric_median([[4, 5], [5, 4], [4, 4], [0, 0], [None, None]], full_output=True)
    np.testing.assert_array_equal(result.median, [4, 4])
    assert result.n_valid == 4


def test_out():
    x = np.random.default_rng(61).normal(size=(2, 30, 5, 4))
    expected = geometric_median(x)
    out = np.empty((2, 30, 4))
    assert geometric_median(x, out=out) is out
    np.testing.assert_array_equal(out, expected)
    strided = np.zeros((60, 8))[::2, ::-2]
    assert geometric_median(x[0], out=strided) is strided
    np.testing.assert_array_equal(strided, expected[0])
    read_only = np.empty((2, 30, 4))
    read_only.flags.writeable = False
    with pytest.raises(ValueError, match="writable"):
        geometric_median(x, out=read_only)
    with pytest.raises(ValueError, match=r"out must have shape \(2, 30, 4\)"):
        geometric_median(x, out=np.empty((2, 30, 5)))
    with pytest.raises(TypeError, match="out must be an aligned array of float64"):
        geometric_median(x, out=np.empty((2, 30, 4), dtype=np.float32))
    with pytest.raises(ValueError, match="overlap"):
        geometric_median(x, out=x[:, :, 0])


def test_input_is_not_modified():
    x = mixed_batch(np.random.default_rng(67), 100, 5, 4)
    before = x.copy()
    geometric_median(x, full_output=True)
    geometric_median(x, solver="weiszfeld", max_iter=3)
    np.testing.assert_array_equal(x, before)


# --- bad input ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"solver": "cg"}, ValueError, "solver must be one of"),
        ({"eta": 1e-6}, ValueError, "eta applies to"),
        ({"solver": "weiszfeld", "eta": 0}, ValueError, "eta must be"),
        ({"tol": -1}, ValueError, "tol must be"),
        ({"tol": "x"}, TypeError, "tol must be"),
        ({"max_iter": 0}, ValueError, "max_iter must be from 1 to"),
        ({"max_iter": 1.5}, TypeError, "max_iter must be an integer"),
        ({"nan_policy": "drop"}, ValueError, "nan_policy must be one of"),
        ({"weights": [1, -1, 1]}, ValueError, r"not negative, got .* at index \(1,\)"),
        ({"weights": [0, 0, 0]}, ValueError, "must not all be zero"),
        ({"weights": [1, 1]}, ValueError, "weights must have shape"),
        ({"weights": [1, np.nan, 1]}, ValueError, "weights must be finite"),
        ({"full_output": 1}, TypeError, "full_output must be"),
        ({"workers": 0}, ValueError, "workers must be"),
    ],
)
def test_bad_options(options, error, message):
    with pytest.raises(error, match=message):
        geometric_median(np.ones((2, 3, 2)), **options)


@pytest.mark.parametrize(
    ("scores", "error", "message"),
    [
        ([1.0, 2.0], ValueError, "at least 2 axes"),
        (np.ones((2, 0, 3)), ValueError, "at least one judge"),
        ([["a", "b"]], TypeError, "real numbers"),
        ([[1, 2], [3]], ValueError, "rectangular"),
        (np.ones((2, 2), dtype=complex), TypeError, "real numbers"),
        (np.ma.masked_equal(np.ones((2, 2)), 3), TypeError, "masked"),
    ],
)
def test_bad_scores(scores, error, message):
    with pytest.raises(error, match=message):
        geometric_median(scores)


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_scores_are_named(value):
    x = np.ones((600, 4, 3))
    x[411, 2, 1] = value
    with pytest.raises(ValueError, match="query 411, judge 2, attribute 1"):
        geometric_median(x)
    with pytest.raises(ValueError, match="at judge 2, attribute 1"):
        geometric_median(x[411])


def test_uncertified_is_said():
    x = gaussian(np.random.default_rng(79), 50, 9, 4)
    with pytest.warns(AggregationWarning, match="not certified to tol=1e-30"):
        geometric_median(x, tol=1e-30)
    result = geometric_median(x, max_iter=1, full_output=True)
    assert (result.status == Status.NOT_CERTIFIED).any()
    bad = result.status == Status.NOT_CERTIFIED
    assert (result.gap[bad] > 1e-12 * result.objective[bad]).all()
    exact = geometric_median(x, full_output=True)
    assert (result.objective - result.gap <= exact.objective * (1 + 1e-15)).all()


def test_public_name():
    assert ropoll_core.geometric_median is geometric_median
