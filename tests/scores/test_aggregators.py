"""Aggregators: the conventions that all share."""

import numpy as np
import pytest
from reference.aggregator_calls import BY_ARITHMETIC, call, panels
from reference.aggregators import METHODS, WEIGHTED

from ropoll_core import scores as rs
from ropoll_core.scores import AggregateStatus

NAN = float("nan")


def expected(method, scores, **options):
    plain = METHODS[method][1]
    return np.array([plain(panel, **METHODS[method][0], **options) for panel in scores])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("n", "d"), [(1, 1), (2, 3), (3, 5), (5, 4), (7, 5), (13, 9), (33, 20)])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_agrees_with_the_twin(method, n, d, missing, simd_variant):
    x = panels(n * d, n, d, missing=missing)
    if n < METHODS[method][2]:
        rule = f"at least . n_faulty . 3 = . judges, got {n}|n_groups must be from 1 to {n}, got 3"
        with pytest.raises(ValueError, match=rule):
            call(method, x)
        return
    close = {"huber_mean": 1e-7}.get(method, 1e-13)  # a flat minimum: its objective is tested too
    np.testing.assert_allclose(call(method, x), expected(method, x), rtol=close, atol=close)


@pytest.mark.parametrize("method", WEIGHTED)
@pytest.mark.parametrize("per_query", [False, True])
def test_weights_agree_with_the_twin(method, per_query, simd_variant):
    rng = np.random.default_rng(5)
    x = panels(3, 7, 4, missing=0.2)
    weights = rng.random((37, 7) if per_query else 7) + 0.1
    if per_query:
        weights[np.arange(37), rng.integers(7, size=37)] = 0
    rows = np.broadcast_to(weights, (37, 7))
    options, plain, _ = METHODS[method]
    wanted = [plain(p, **options, weights=w) for p, w in zip(x, rows, strict=True)]
    close = {"huber_mean": 1e-7}.get(method, 1e-13)
    np.testing.assert_allclose(call(method, x, weights=weights), wanted, rtol=close, atol=close)


@pytest.mark.parametrize("method", WEIGHTED)
@pytest.mark.parametrize("weight", [0.1, 3.0, 1e300, 1e-300])
@pytest.mark.parametrize("n", [4, 6, 7, 10])
def test_equal_weights_are_no_weights(method, weight, n):
    x = np.random.default_rng(n).integers(0, 6, size=(50, n, 3)).astype(float)
    assert np.array_equal(call(method, x), call(method, x, weights=np.full(n, weight)))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("workers", [2, -1])
def test_batch_position_and_workers_do_not_matter(method, workers, simd_variant):
    x = panels(11, 7, 5, n_queries=5000, missing=0.1)
    whole = call(method, x)
    assert np.array_equal(whole, call(method, x, workers=workers), equal_nan=True)
    for q in (0, 1, 9, 2345, 4999):
        assert np.array_equal(whole[q], call(method, x[q]), equal_nan=True)
    assert np.array_equal(whole[3:20], call(method, x[3:20]), equal_nan=True)


@pytest.mark.parametrize("method", BY_ARITHMETIC)
def test_variants_give_the_same_bits(method):
    from ropoll_core._kernels import simd

    x = panels(12, 9, 6, n_queries=100, missing=0.1)
    before = simd.active()
    try:
        seen = []
        for name in simd.available():
            simd.use(name)
            seen.append(call(method, x))
    finally:
        simd.use(before)
    assert all(np.array_equal(seen[0], other, equal_nan=True) for other in seen)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("layout", ["fortran", "reversed", "sliced", "big-endian", "read-only"])
def test_strides_byte_order_and_flags(method, layout):
    x = panels(21, 7, 4)
    if layout == "fortran":
        y = np.asfortranarray(x)
    elif layout == "reversed":
        y = np.ascontiguousarray(x[::-1, :, ::-1])[::-1, :, ::-1]
    elif layout == "sliced":
        big = np.full((74, 7, 8), 99.0)
        big[::2, :, ::2] = x
        y = big[::2, :, ::2]
    elif layout == "big-endian":
        y = x.astype(">f8")
    else:
        y = x.copy()
        y.flags.writeable = False
    before = y.tobytes()
    assert np.array_equal(call(method, y), call(method, x))
    assert y.tobytes() == before


@pytest.mark.parametrize("method", BY_ARITHMETIC)
def test_float32_stays_and_is_computed_in_double(method, simd_variant):
    x = panels(8, 7, 5, missing=0.2).astype(np.float32)
    result = call(method, x)
    assert result.dtype == np.float32
    wanted = call(method, x.astype(np.float64)).astype(np.float32)
    assert np.array_equal(result, wanted, equal_nan=True)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("lead", [(), (0,), (3,), (2, 3), (2, 0, 3)])
def test_leading_shapes_and_out(method, lead):
    x = np.random.default_rng(1).normal(size=(*lead, 7, 4))
    result = call(method, x)
    assert result.shape == (*lead, 4)
    out = np.full((*lead, 8), 7.0)[..., ::2]
    assert call(method, x, out=out) is out
    assert np.array_equal(out, result)
    report = call(method, x, full_output=True)
    assert report.n_valid.shape == report.status.shape == lead
    assert report.used is None or report.used.shape == (*lead, 7)


def test_infinite_is_refused_wherever_it_is():
    for method in METHODS:
        x = panels(4, 7, 3, n_queries=30)
        x[17, 2, 1] = -np.inf
        with pytest.raises(ValueError, match=r"got -inf at query 17, judge 2, attribute 1"):
            call(method, x)
        x[17, 2, 0] = NAN  # missing already, and still an error
        with pytest.raises(ValueError, match="query 17, judge 2"):
            call(method, x)


@pytest.mark.parametrize("method", METHODS)
def test_missing_policies(method):
    x = panels(6, 8, 3, n_queries=20)
    clean = call(method, x)
    x[3, 1, 2] = NAN
    x[8] = NAN
    omitted = call(method, x)
    others = np.delete(np.arange(20), [3, 8])
    assert np.array_equal(omitted[others], clean[others])
    assert np.array_equal(omitted[3], call(method, np.delete(x[3], 1, axis=0)))
    assert np.isnan(omitted[8]).all()
    propagated = call(method, x, nan_policy="propagate", full_output=True)
    assert np.isnan(propagated.value[[3, 8]]).all()
    assert np.array_equal(propagated.value[others], clean[others])
    assert (propagated.status[[3, 8]] == AggregateStatus.PROPAGATED).all()
    with pytest.raises(ValueError, match="query 3, judge 1, attribute 2"):
        call(method, x, nan_policy="raise")
    report = call(method, x, full_output=True)
    assert report.status[8] == AggregateStatus.ALL_MISSING
    assert report.n_valid.tolist()[3:9] == [7, 8, 8, 8, 8, 0]
    assert report.n_used[8] == 0


def test_used_judges_are_named():
    panel = [[4, 5], [5, 4], [0, 0], [NAN, 5], [5, 5], [4, 4]]
    trimmed = rs.trimmed_mean(panel, proportion=0.2, full_output=True)
    assert trimmed.used.tolist() == [True, True, False, False, True, True]
    assert (int(trimmed.n_valid), int(trimmed.n_used)) == (5, 4)
    chosen = rs.medoid(panel, full_output=True)
    assert chosen.used.tolist() == [False, False, False, False, False, True]
    assert rs.mean(panel, full_output=True).used.tolist() == [True] * 3 + [False] + [True] * 2
    cut = rs.coordinatewise_trimmed_mean(panel, proportion=0.2, full_output=True)
    assert cut.used is None
    assert (int(cut.n_valid), int(cut.n_used)) == (5, 3)


# ---- aggregate and bad arguments ----


def test_aggregate_checks_options():
    x = np.ones((3, 5, 2))
    with pytest.raises(ValueError, match="method must be one of"):
        rs.aggregate(x, method="mode")
    with pytest.raises(TypeError, match="weights are not defined for method 'trimmed_mean'"):
        rs.aggregate(x, method="trimmed_mean", proportion=0.2, weights=np.ones(5))
    with pytest.raises(TypeError, match="method 'trimmed_mean' needs proportion"):
        rs.aggregate(x, method="trimmed_mean")
    with pytest.raises(TypeError, match=r"method 'mean' takes weights, .*; got 'proportion'"):
        rs.aggregate(x, method="mean", proportion=0.2)


@pytest.mark.parametrize(
    ("out", "error", "message"),
    [
        ([0.0, 0.0], TypeError, "out must be a NumPy array, got list"),
        (np.empty((3, 1)), ValueError, r"out must have shape \(3, 2\), got \(3, 1\)"),
        (np.empty((3, 2), np.float32), TypeError, "aligned array of float64, got float32"),
        (np.broadcast_to(0.0, (3, 2)), ValueError, "out must be writable"),
    ],
)
def test_bad_out(out, error, message):
    with pytest.raises(error, match=message):
        rs.mean(np.ones((3, 5, 2)), out=out)


def test_out_may_not_overlap_the_scores():
    x = np.ones((3, 5, 2))
    with pytest.raises(ValueError, match="out must not overlap scores"):
        rs.mean(x, out=x[:, 0])


def test_bad_options():
    x = np.ones((3, 5, 2))
    with pytest.raises(ValueError, match="nan_policy must be one of"):
        rs.mean(x, nan_policy="drop")
    with pytest.raises(TypeError, match="full_output must be True or False"):
        rs.mean(x, full_output=1)
    with pytest.raises(TypeError, match="proportion must be a real number"):
        rs.trimmed_mean(x, proportion="0.2")
