"""Krum and its kin, Huber mean, median of means, Tukey medians, calibration: what is their own."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from reference import aggregators as twin
from scipy.optimize import linprog, minimize

from ropoll_core import scores as rs
from ropoll_core.scores import AggregateStatus, AggregationWarning

NAN = float("nan")

# ---- Krum, multi-Krum, Bulyan ----


@pytest.mark.parametrize(("n", "d", "n_faulty"), [(3, 2, 0), (7, 5, 2), (11, 3, 4), (20, 8, 3)])
def test_krum_for_other_numbers_of_faulty_judges(n, d, n_faulty, simd_variant):
    x = np.random.default_rng(n).normal(size=(50, n, d))
    wanted = np.array([twin.krum(p, n_faulty) for p in x])
    assert np.array_equal(rs.krum(x, n_faulty=n_faulty), wanted)
    for selected in (1, 2, n):
        wanted = np.array([twin.multi_krum(p, n_faulty, selected) for p in x])
        got = rs.multi_krum(x, n_faulty=n_faulty, n_selected=selected)
        np.testing.assert_allclose(got, wanted, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize(("n", "n_faulty"), [(3, 0), (7, 1), (11, 2), (15, 3), (16, 3)])
def test_bulyan_for_other_numbers_of_faulty_judges(n, n_faulty, simd_variant):
    x = np.random.default_rng(n).normal(size=(30, n, 4))
    wanted = np.array([twin.bulyan(p, n_faulty) for p in x])
    np.testing.assert_allclose(rs.bulyan(x, n_faulty=n_faulty), wanted, rtol=1e-13, atol=1e-14)


def test_krum_against_byzfl():
    # What byzfl 0.0.11 gives for Krum(f=2), MultiKrum(f=2) and TrMean(f=1) of these NumPy vectors.
    # Its Krum sums over the n - f - 1 nearest, one more than published, so its f is our
    # n_faulty + 1; its MultiKrum then averages n - f. It takes any f < n/2 where the published
    # bound is n >= 2 f + 3.
    x = np.array(
        [[1.0, 2.0], [2.0, 1.0], [1.5, 1.75], [2.5, 2.25], [9.0, -7.0], [1.25, 2.5], [-8.0, 8.0]]
    )
    assert rs.krum(x, n_faulty=1).tolist() == [1.5, 1.75]
    assert rs.multi_krum(x, n_faulty=1, n_selected=5).tolist() == pytest.approx([1.65, 1.9])
    cut = rs.coordinatewise_trimmed_mean(x, proportion=1 / 7)
    assert cut.tolist() == pytest.approx([1.65, 1.9])


def test_too_few_judges_for_krum():
    with pytest.raises(ValueError, match=r"n_faulty=2 needs at least 2 n_faulty \+ 3 = 7 judges"):
        rs.krum(np.zeros((6, 2)), n_faulty=2)
    with pytest.raises(ValueError, match=r"4 n_faulty \+ 3 = 7 judges, got 6"):
        rs.bulyan(np.zeros((6, 2)), n_faulty=1)
    x = np.random.default_rng(0).normal(size=(3, 5, 2))
    x[1, 0] = NAN
    with pytest.warns(AggregationWarning, match=r"1 of 3 queries \(first: query 1\) have fewer"):
        value = rs.krum(x, n_faulty=1)
    assert np.isnan(value[1]).all()
    assert not np.isnan(value[[0, 2]]).any()
    report = rs.krum(x, n_faulty=1, full_output=True)
    assert report.status.tolist() == [0, AggregateStatus.TOO_FEW_JUDGES, 0]
    assert report.n_valid.tolist() == [5, 4, 5]
    assert report.n_used.tolist() == [1, 0, 1]
    assert report.used.sum(axis=1).tolist() == [1, 0, 1]


@pytest.mark.parametrize("method", ["krum", "multi_krum", "bulyan"])
@pytest.mark.parametrize("size", [1e3, 1e100, 1e200, 1e308])
def test_faulty_judges_of_any_size_do_not_move_krum(method, size):
    rng = np.random.default_rng(4)
    good = rng.integers(0, 6, size=(20, 9, 3)).astype(float)
    x = np.concatenate([good, np.full((20, 2, 3), size)], axis=1)
    report = rs.aggregate(x, method=method, n_faulty=2, full_output=True)
    assert (report.value >= good.min(axis=1)).all()
    assert (report.value <= good.max(axis=1)).all()
    if method == "krum":
        assert not report.used[:, 9:].any()


# ---- Huber mean ----


@pytest.mark.parametrize("threshold", [1e-3, 0.1, 1.0, 100.0])
@pytest.mark.parametrize(("n", "d"), [(3, 2), (5, 5), (8, 1), (20, 12)])
def test_huber_mean_is_a_minimum(threshold, n, d, simd_variant):
    rng = np.random.default_rng(n * d)
    x = rng.normal(size=(12, n, d)) * np.where(rng.random((12, n, 1)) < 0.3, 30, 1)
    weights = rng.random(n) + 0.2
    report = rs.huber_mean(x, threshold=threshold, weights=weights, full_output=True)
    assert (report.status == AggregateStatus.OK).all()
    for panel, z in zip(x, report.value, strict=True):
        ours = twin.huber_loss(z, panel, weights, threshold)
        start = twin.coordinatewise_median(panel)
        found = minimize(twin.huber_loss, start, (panel, weights, threshold), tol=1e-12)
        assert ours <= found.fun * (1 + 2e-10)


def test_huber_mean_between_mean_and_median():
    x = np.random.default_rng(2).normal(size=(30, 7, 3))
    np.testing.assert_allclose(rs.huber_mean(x, threshold=1e3), x.mean(axis=1), atol=1e-12)
    near = rs.huber_mean(x, threshold=1e-7)
    loss = np.linalg.norm(x - near[:, None], axis=2).sum(axis=1)
    best = rs.geometric_median(x, full_output=True).objective
    assert (loss <= best * (1 + 1e-6)).all()


@pytest.mark.parametrize("power", [-600, 0, 600])
def test_huber_mean_scales_with_its_threshold(power):
    x = np.random.default_rng(7).normal(size=(20, 5, 4))
    scaled = rs.huber_mean(np.ldexp(x, power), threshold=2.0**power)
    np.testing.assert_allclose(np.ldexp(scaled, -power), rs.huber_mean(x, threshold=1.0), rtol=1e-9)


@pytest.mark.parametrize("scale", [1e4, 1e10, 1e20, 1e100, 1e250])
def test_huber_mean_converges_however_small_its_threshold(scale, simd_variant):
    x = np.random.default_rng(5).integers(1, 6, size=(300, 5, 2)) * scale
    report = rs.huber_mean(x, threshold=0.5, full_output=True)
    assert (report.status == AggregateStatus.OK).all()
    loss = np.linalg.norm((report.value[:, None] - x) / scale, axis=2).sum(axis=1)
    best = rs.geometric_median(x / scale, full_output=True).objective
    assert (loss <= best * (1 + 1e-9) + 0.5 / scale * 5).all()


def test_huber_mean_of_near_judges_among_far_ones(simd_variant):
    far = [[-339197083015, 183771408406, 879006566053], [1488874973728, 698063641545, 127641251486]]
    near = [[1.1655, -0.3983, 0.9681], [-0.9073, 0.3942, 0.4149], [0.25, 0.5, 1.5]]
    panel = np.array(far + near)
    report = rs.huber_mean(panel, threshold=0.5, full_output=True)
    assert report.status == AggregateStatus.OK
    r = np.linalg.norm(panel - report.value, axis=1)
    pull = np.minimum(1, 0.5 / r)[:, None] * (panel - report.value)
    assert np.linalg.norm(pull.sum(axis=0)) < 1e-3
    assert r[2:].max() < 5


def test_huber_mean_says_when_it_did_not_converge():
    x = np.random.default_rng(7).normal(size=(20, 5, 4))
    with pytest.warns(AggregationWarning, match="did not reach tol within max_iter steps"):
        rs.huber_mean(x, threshold=0.3, max_iter=1)
    report = rs.huber_mean(x, threshold=0.3, max_iter=1, full_output=True)
    assert (report.status == AggregateStatus.NOT_CONVERGED).any()
    for threshold in (0, -1.0, NAN, np.inf):
        with pytest.raises(ValueError, match="threshold must be a finite number"):
            rs.huber_mean(x, threshold=threshold)


# ---- median of means ----


def test_median_of_means_ends():
    x = np.random.default_rng(1).normal(size=(2000, 7, 3))
    np.testing.assert_allclose(rs.median_of_means(x, n_groups=1), x.mean(axis=1), atol=1e-12)
    np.testing.assert_allclose(
        rs.median_of_means(x, n_groups=7), rs.geometric_median(x), rtol=1e-8, atol=1e-9
    )
    assert rs.geometric_median_of_means is rs.median_of_means
    named = rs.aggregate(x, method="geometric_median_of_means", n_groups=3, workers=2)
    assert np.array_equal(named, rs.median_of_means(x, n_groups=3))


def test_random_groups_are_seeded():
    x = np.random.default_rng(1).normal(size=(40, 9, 3))
    first = rs.median_of_means(x, n_groups=3, groups="random", rng=5)
    assert np.array_equal(first, rs.median_of_means(x, n_groups=3, groups="random", rng=5))
    assert not np.array_equal(first, rs.median_of_means(x, n_groups=3))
    assert np.array_equal(
        first[3:8], rs.median_of_means(x[3:8], n_groups=3, groups="random", rng=5)
    )
    with pytest.raises(ValueError, match='rng applies to groups="random" only'):
        rs.median_of_means(x, n_groups=3, rng=5)


def test_fewer_valid_judges_than_groups():
    x = np.random.default_rng(1).normal(size=(4, 5, 3))
    x[2, :3] = NAN
    with pytest.warns(AggregationWarning, match="fewer than n_groups=3 valid judges"):
        value = rs.median_of_means(x, n_groups=3)
    assert np.isnan(value[2]).all()
    report = rs.median_of_means(x, n_groups=3, full_output=True)
    assert report.status.tolist() == [0, 0, AggregateStatus.TOO_FEW_JUDGES, 0]


# ---- Tukey medians ----


def half_spaces(x, k):
    """Normals and bounds, <u, z> >= c, of the region of depth k; Gaussian directions beside
    those through the judges, so that nothing depends on which ones suffice."""
    n, d = x.shape
    normals = list(np.random.default_rng(0).normal(size=(300, d)))
    pairs = [(i, j) for i in range(n) for j in range(i)]
    for i, j in pairs:
        t = x[i] - x[j]
        if d == 2:
            normals.append(np.array([-t[1], t[0]]))
        else:
            normals += [np.cross(t, x[k] - x[j]) for k in range(j)]
    normals = np.array([u / np.linalg.norm(u) for u in normals if np.linalg.norm(u) > 1e-9])
    normals = np.concatenate([normals, -normals])
    return normals, np.sort(normals @ x.T, axis=1)[:, k - 1]


def feasible(normals, bounds):
    d = normals.shape[1]
    done = linprog(
        np.r_[np.zeros(d), -1],
        A_ub=np.c_[-normals, np.ones(len(normals))],
        b_ub=-bounds,
        bounds=[(None, None)] * d + [(None, 1)],
    )
    return -done.fun > -1e-8  # slack of the best point


def depth_of(z, x):
    normals, _ = half_spaces(x, 1)
    return int(((x - z) @ normals.T >= -1e-7).sum(axis=0).min())


@pytest.mark.parametrize(
    ("n", "d"), [(3, 2), (4, 2), (7, 2), (12, 2), (4, 3), (5, 3), (7, 3), (9, 3)]
)
@pytest.mark.parametrize("likert", [False, True])
def test_tukey_median_is_deepest(n, d, likert):
    rng = np.random.default_rng(n * d)
    for _ in range(6):
        x = rng.integers(0, 6, size=(n, d)).astype(float) if likert else rng.normal(size=(n, d))
        z = rs.tukey_median(x)
        depth = depth_of(z, x)
        assert depth >= -(-n // (d + 1))
        assert not feasible(*half_spaces(x, depth + 1))


def test_tukey_median_of_plain_shapes():
    square = [[0, 0], [2, 0], [0, 2], [2, 2]]
    assert rs.tukey_median(square) == pytest.approx([1, 1], abs=1e-8)
    line = [[0, 0, 1], [1, 1, 1], [2, 2, 1], [7, 7, 1]]
    assert rs.tukey_median(line) == pytest.approx([1.5, 1.5, 1], abs=1e-8)
    plane = [[0, 0, 5], [4, 0, 5], [0, 4, 5], [1, 1, 5]]
    assert rs.tukey_median(plane) == pytest.approx([1, 1, 5], abs=1e-8)
    assert rs.tukey_median([[3, 4]] * 5).tolist() == [3, 4]
    assert rs.tukey_median([[4.0], [1], [3], [9]]) == [3.5]
    simplex = np.vstack([np.zeros(3), np.eye(3)])
    assert rs.tukey_median(simplex) == pytest.approx([0.25] * 3, abs=1e-8)  # depth 1: all of it


@pytest.mark.parametrize("d", [2, 3])
def test_tukey_median_is_affine_equivariant(d):
    rng = np.random.default_rng(d)
    x = rng.normal(size=(20, 8, d))
    matrix, offset = rng.normal(size=(d, d)), 10 * rng.normal(size=d)
    mapped = (rs.tukey_median(x @ matrix.T + offset) - offset) @ np.linalg.inv(matrix).T
    plain = rs.tukey_median(x)
    for panel, ours, other in zip(x, plain, mapped, strict=True):
        assert depth_of(ours, panel) == depth_of(other, panel)
    # A needle of a region is known to less along its length than across.
    assert np.quantile(np.abs(mapped - plain), 0.8) < 1e-7
    assert np.abs(mapped - plain).max() < 1e-3


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_tukey_median_at_the_ends_of_the_range(size):
    x = np.random.default_rng(8).normal(size=(20, 7, 2))
    np.testing.assert_allclose(rs.tukey_median(size * x) / size, rs.tukey_median(x), atol=1e-6)


@settings(max_examples=150, deadline=None)
@given(
    hnp.arrays(
        np.float64,
        st.tuples(st.integers(1, 9), st.integers(1, 3)),
        elements=st.sampled_from([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, NAN]),
    )
)
def test_tukey_median_settles_every_likert_panel(panel):
    x, _ = twin.valid(panel)
    report = rs.tukey_median(panel, full_output=True)
    if len(x) == 0:
        assert report.status == AggregateStatus.ALL_MISSING
        return
    assert report.status == AggregateStatus.OK
    assert (report.value >= x.min(axis=0) - 1e-7).all()
    assert (report.value <= x.max(axis=0) + 1e-7).all()


def test_tukey_median_says_what_it_cannot_do():
    for shape in [(5, 4), (65, 2), (33, 3)]:
        with pytest.raises(ValueError, match=f"got {shape[0]} judges of {shape[1]} attributes"):
            rs.tukey_median(np.zeros(shape))


def test_random_tukey_median():
    x = np.random.default_rng(3).normal(size=(60, 7, 5))
    first = rs.random_tukey_median(x, rng=1)
    assert np.array_equal(first, rs.random_tukey_median(x, rng=1, workers=2))
    assert np.array_equal(first[5:9], rs.random_tukey_median(x[5:9], rng=1))
    report = rs.random_tukey_median(x[:, :, :2], rng=1, n_directions=4000, full_output=True)
    for panel, used in zip(x[:, :, :2], report.used, strict=True):
        depths = [depth_of(p, panel) for p in panel]
        assert [depth == max(depths) for depth in depths] == used.tolist()
    with pytest.raises(ValueError, match="n_directions must be at least 1"):
        rs.random_tukey_median(x, n_directions=0)


# ---- calibration ----


def jury(seed=0, n_queries=200, n=4, d=3):
    rng = np.random.default_rng(seed)
    truth = rng.normal(3, 1, size=(n_queries, d))
    slope, offset = rng.uniform(0.5, 3, n), rng.normal(0, 5, n)
    noise = rng.normal(0, 0.2, size=(n_queries, n, d))
    return truth, (truth[:, None] + noise) * slope[:, None] + offset[:, None]


@pytest.mark.parametrize("by", ["judge", "attribute"])
def test_calibration_is_least_squares_on_the_other_folds(by):
    truth, x = jury()
    labels = truth.copy()
    labels[120:] = NAN
    x[3, 1, 0] = NAN
    result = rs.calibrate(x, labels, by=by, n_folds=4, rng=1, full_output=True)
    assert sorted(np.bincount(result.fold[:120])) == [30, 30, 30, 30]
    assert (result.fold[120:] == -1).all()
    assert result.n_labelled.tolist() == [120, 119, 120, 120]
    assert result.slope.shape == ((4,) if by == "judge" else (4, 3))
    valid = ~np.isnan(x).any(axis=2)
    for fold in (-1, 0, 3):
        use = (result.fold >= 0) & (result.fold != fold)
        for judge in range(4):
            rows = use & valid[:, judge]
            parts = [slice(None)] if by == "judge" else [slice(a, a + 1) for a in range(3)]
            for part in parts:
                xs, ys = x[rows, judge, part].ravel(), truth[rows, part].ravel()
                slope, intercept = np.polyfit(xs, ys, 1)
                own = (result.fold == fold) & valid[:, judge]
                np.testing.assert_allclose(
                    result.scores[own, judge, part], slope * x[own, judge, part] + intercept
                )
    assert np.isnan(result.scores[3, 1]).all()


def test_calibration_helps_any_aggregator():
    truth, x = jury(3)
    labels = np.where(np.arange(200)[:, None] < 60, truth, NAN)
    ready = rs.calibrate(x, labels, rng=0)
    for method in ("mean", "geometric_median", "medoid"):
        before = np.sqrt(np.mean((rs.aggregate(x, method=method) - truth)[60:] ** 2))
        after = np.sqrt(np.mean((rs.aggregate(ready, method=method) - truth)[60:] ** 2))
        assert after < 0.3 < before


def test_labels_do_not_bear_on_their_own_query():
    truth, x = jury(5)
    base = rs.calibrate(x, truth, rng=2, full_output=True)
    changed = truth.copy()
    changed[17] += 100
    again = rs.calibrate(x, changed, rng=2, full_output=True)
    own = base.fold == base.fold[17]
    assert np.array_equal(base.scores[17], again.scores[17]) or np.allclose(
        base.scores[own], again.scores[own], rtol=1e-9, atol=1e-9
    )
    assert not np.allclose(base.scores[~own], again.scores[~own], atol=1e-3)


def test_judge_without_a_line_is_left_out_and_named():
    truth, x = jury()
    x[:, 2] = 0.0
    with pytest.warns(AggregationWarning, match=r"1 of 4 judges \(first: judge 2\)"):
        ready = rs.calibrate(x, truth, rng=1)
    assert np.isnan(ready[:, 2]).all()
    assert not np.isnan(ready[:, [0, 1, 3]]).any()
    x[:, 2] = 0.1 + 1e9  # equal, but not to itself after rounding of sums
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        report = rs.calibrate(x, truth, rng=1, full_output=True)
    assert report.left_out.tolist() == [False, False, True, False]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"labels": np.zeros((200, 2))}, r"labels must have shape \(200, 3\), got \(200, 2\)"),
        ({"labels": np.full((200, 3), np.inf)}, "labels must be finite or NaN"),
        ({"labels": np.full((200, 3), NAN)}, "labels must cover at least n_folds=5 queries, got 0"),
        ({"n_folds": 1}, "n_folds must be at least 2"),
        ({"by": "query"}, "by must be one of judge, attribute"),
        ({"scores": np.zeros((5, 3))}, "scores must have exactly 3 axes"),
    ],
)
def test_bad_calibration_arguments(change, message):
    truth, x = jury()
    arguments = {"scores": x, "labels": truth} | change
    with pytest.raises(ValueError, match=message):
        rs.calibrate(**arguments)


def test_median_of_means_says_when_it_is_not_certified(monkeypatch):
    from ropoll_core.scores import _geometric_median

    monkeypatch.setitem(_geometric_median.CERTIFIED_TO, 8, 0.0)
    x = np.random.default_rng(1).normal(size=(30, 12, 3))
    with pytest.warns(AggregationWarning, match="have a median of means that is not certified"):
        value = rs.median_of_means(x, n_groups=6)
    report = rs.median_of_means(x, n_groups=6, full_output=True)
    assert (report.status == AggregateStatus.NOT_CONVERGED).any()
    assert np.array_equal(report.value, value)


def test_random_tukey_median_of_the_smallest_scores():
    x = np.array([[0.0, 2], [1, 0], [2, 2], [1, 1], [1, 1]])
    wanted = rs.random_tukey_median(x, rng=1)
    assert rs.random_tukey_median(x * 5e-324, rng=1).tolist() == (wanted * 5e-324).tolist()
