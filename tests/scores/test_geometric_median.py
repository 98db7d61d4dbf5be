"""The geometric median: exact values, optimality, invariances, the published iteration."""

import numpy as np
import pytest
from reference.geometric_median import excess_pull, objective, weiszfeld
from reference.median_batches import FAMILIES, clusters, gaussian, likert, mixed_batch

from ropoll_core import default_workers
from ropoll_core.scores import Status, geometric_median

SHAPES = [
    (1, 3),
    (2, 3),
    (3, 2),
    (3, 5),
    (4, 2),
    (5, 4),
    (7, 5),
    (13, 5),
    (6, 8),
    (9, 11),
    (15, 16),
]


# --- exact values ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scores", "median", "total", "status"),
    [
        # nobody gave 5/5/5
        ([[5, 5, 1], [5, 1, 5], [1, 5, 5]], [11 / 3] * 3, 2 * 6**0.5 * 2, Status.CERTIFIED),
        # a data point with the condition tight
        ([[3, 3], [0, 3], [6, 3], [3, 5]], [3, 3], 8, Status.CERTIFIED),
        # a vertex of 120 degrees or more, three judges
        ([[0, 0], [1, 0.1], [-1, 0.1]], [0, 0], 2 * 1.01**0.5, Status.CERTIFIED),
        # a regular hexagon: the mean already is the median
        (
            [[np.cos(t), np.sin(t)] for t in np.arange(6) * np.pi / 3],
            [0, 0],
            6,
            Status.CERTIFIED,
        ),
        # copies count each
        ([[2, 2], [2, 2], [2, 2], [9, 4], [5, 9]], [2, 2], 53**0.5 + 58**0.5, Status.CERTIFIED),
        # all the same: 0/0 in a plain iteration
        ([[4, 2, 7]] * 5, [4, 2, 7], 0, Status.CERTIFIED),
        ([[0, 0]] * 3, [0, 0], 0, Status.CERTIFIED),
        # plain Weiszfeld from the mean stops at 0
        ([[-3], [0], [1], [1], [1]], [1], 5, Status.CERTIFIED),
        # two judges, and even numbers on a line: the middle
        ([[0, 0], [2, 4]], [1, 2], 20**0.5, Status.NOT_UNIQUE),
        ([[0, 0], [1, 1], [3, 3], [10, 10]], [2, 2], 12 * 2**0.5, Status.NOT_UNIQUE),
        ([[0, 0], [0, 0], [1, 2], [1, 2]], [0.5, 1], 2 * 5**0.5, Status.NOT_UNIQUE),
        ([[5, 1, 2]], [5, 1, 2], 0, Status.CERTIFIED),
    ],
)
def test_exact_values(scores, median, total, status, simd_variant):
    result = geometric_median(scores, full_output=True)
    np.testing.assert_allclose(result.median, median, rtol=0, atol=1e-12)
    np.testing.assert_allclose(result.objective, total, rtol=1e-14)
    assert result.status == status
    assert result.certified


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 9])
def test_one_attribute_is_the_median(n):
    x = np.random.default_rng(n).normal(size=(50, n, 1))
    np.testing.assert_array_equal(geometric_median(x), np.median(x, axis=1))


def test_weights_act_as_copies():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(40, 4, 3))
    repeated = np.repeat(x, [1, 2, 1, 3], axis=1)
    np.testing.assert_allclose(
        geometric_median(x, weights=[1, 2, 1, 3]), geometric_median(repeated), atol=1e-11
    )


def test_equal_weights_are_no_weights():
    x = np.random.default_rng(2).normal(size=(40, 5, 3))
    plain = geometric_median(x)
    np.testing.assert_array_equal(plain, geometric_median(x, weights=np.full(5, 0.3)))
    np.testing.assert_array_equal(plain, geometric_median(x, weights=np.full((40, 5), 7e-200)))


def test_tiny_weights_do_not_vanish_in_float32():
    x = np.random.default_rng(3).normal(size=(5, 3)).astype(np.float32)
    w = np.array([1, 2, 1, 3, 1]) * 1e-60
    np.testing.assert_array_equal(
        geometric_median(x, weights=w), geometric_median(x, weights=w * 1e60)
    )


# --- optimality -----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("family", FAMILIES)
def test_every_query_is_certified_and_optimal(family, dtype, simd_variant):
    rng = np.random.default_rng(7)
    for n, d in SHAPES:
        x = family(rng, 60, n, d).astype(dtype)
        x[rng.random((60, n)) < 0.1] = np.nan
        for weights in (None, rng.random(n) + 0.1, rng.integers(1, 4, size=(60, n))):
            result = geometric_median(x, weights=weights, full_output=True)
            w = np.broadcast_to(1.0 if weights is None else weights, (60, n))
            tol = 1e-12 if dtype == np.float64 else 1e-5
            for q in range(60):
                valid = ~np.isnan(x[q]).any(axis=1)
                assert result.n_valid[q] == valid.sum()
                if not valid.any():
                    assert result.status[q] == Status.ALL_MISSING
                    continue
                assert result.certified[q]
                assert 0 <= result.gap[q] <= tol * result.objective[q]
                points, share = x[q, valid].astype(float), w[q, valid]
                z = result.median[q].astype(float)
                total = objective(points, z, share)
                np.testing.assert_allclose(
                    total,
                    result.objective[q],
                    rtol=1e-6 if dtype == np.float32 else 1e-13,
                    atol=1e-6 if dtype == np.float32 else 1e-14,
                )
                if dtype == np.float64 and family is not clusters:
                    assert excess_pull(points, z, share) < 1e-9


@pytest.mark.parametrize("scale", [1e-200, 1e-150, 1e-30, 1.0, 1e30, 1e150, 1e200])
def test_scale(scale, simd_variant):
    x = gaussian(np.random.default_rng(11), 50, 5, 4)
    result = geometric_median(x * scale, full_output=True)
    assert result.certified.all()
    np.testing.assert_allclose(result.median / scale, geometric_median(x), rtol=0, atol=1e-10)


@pytest.mark.parametrize("far", [1e3, 1e9, 1e100, 1e308])
@pytest.mark.parametrize("shape", [(3, 5), (5, 4), (9, 16)])
def test_outliers_short_of_half(far, shape):
    rng = np.random.default_rng(13)
    n, d = shape
    x = rng.normal(size=(30, n, d))
    direction = rng.normal(size=(30, (n - 1) // 2, d))
    direction /= np.abs(direction).max(axis=-1, keepdims=True)
    x[:, : (n - 1) // 2] = direction * far
    result = geometric_median(x, full_output=True)
    assert result.certified.all()
    assert np.abs(result.median).max() < 20


def test_common_offset():
    x = np.random.default_rng(17).integers(-512, 512, size=(50, 5, 4)) / 256
    moved = geometric_median(x + 2.0**30, full_output=True)
    assert moved.certified.all()
    np.testing.assert_allclose(moved.median - 2.0**30, geometric_median(x), rtol=0, atol=3e-7)


def test_mixed_scales_and_nearly_collinear():
    rng = np.random.default_rng(19)
    for n in (3, 4, 5, 6, 9):
        mixed = rng.normal(size=(40, n, 3)) * 10.0 ** rng.uniform(-12, 12, size=(40, n, 1))
        assert geometric_median(mixed, full_output=True).certified.all()
        for off in (1e-6, 1e-9, 1e-12, 1e-14):
            line = rng.normal(size=(40, n, 1)) * rng.normal(size=(40, 1, 3))
            near = line + off * rng.normal(size=(40, n, 3))
            assert geometric_median(near, full_output=True).certified.all()


# --- influence ------------------------------------------------------------------------------


def test_influence_are_the_weights_of_a_mean():
    rng = np.random.default_rng(23)
    x = gaussian(rng, 30, 5, 3)
    x[3, 1] = np.nan
    w = rng.random(5)
    w[4] = 0
    result = geometric_median(x, weights=w, full_output=True)
    np.testing.assert_allclose(result.influence.sum(axis=1), 1, atol=1e-14)
    mean = np.einsum("qj,qjd->qd", result.influence, np.nan_to_num(x))
    np.testing.assert_allclose(mean, result.median, atol=1e-9)
    assert (result.influence[:, 4] == 0).all()
    assert result.influence[3, 1] == 0


def test_influence_at_a_data_point_is_all_its_own():
    x = [[3, 3], [0, 3], [6, 3], [3, 3], [3, 5]]
    result = geometric_median(x, weights=[3, 1, 1, 1, 1], full_output=True)
    np.testing.assert_array_equal(result.influence, [0.75, 0, 0, 0.25, 0])


# --- missing judges -------------------------------------------------------------------------


def test_a_missing_judge_is_left_out_as_a_whole():
    rng = np.random.default_rng(29)
    x = gaussian(rng, 100, 6, 4)
    gone = rng.random((100, 6)) < 0.3
    holes = x.copy()
    holes[gone, rng.integers(0, 4, size=gone.sum())] = np.nan
    weights = np.where(gone, 0.0, 1.0)
    keep = ~gone.all(axis=1)
    result = geometric_median(holes, full_output=True)
    np.testing.assert_array_equal(result.n_valid, (~gone).sum(axis=1))
    for q in np.flatnonzero(keep):
        np.testing.assert_array_equal(result.median[q], geometric_median(x[q, ~gone[q]]))
    np.testing.assert_array_equal(
        result.median[keep], geometric_median(holes[keep], weights=weights[keep])
    )


def test_all_missing_leaves_its_neighbours_alone():
    x = np.random.default_rng(31).normal(size=(9, 3, 2))
    plain = geometric_median(x)
    x[4] = np.nan
    result = geometric_median(x, full_output=True)
    assert np.isnan(result.median[4]).all()
    assert np.isnan(result.influence[4]).all()
    assert result.status[4] == Status.ALL_MISSING
    assert not result.certified[4]
    rest = np.arange(9) != 4
    np.testing.assert_array_equal(result.median[rest], plain[rest])


def test_nan_policies():
    x = np.random.default_rng(37).normal(size=(4, 5, 2))
    x[2, 1, 1] = np.nan
    result = geometric_median(x, nan_policy="propagate", full_output=True)
    assert result.status.tolist() == [0, 0, Status.PROPAGATED, 0]
    assert np.isnan(result.median[2]).all()
    assert result.n_valid[2] == 4
    with pytest.raises(ValueError, match="query 2, judge 1, attribute 1"):
        geometric_median(x, nan_policy="raise")
    geometric_median(x, nan_policy="raise", weights=[1, 0, 1, 1, 1])


def test_a_judge_of_weight_zero_may_be_anything():
    x = np.random.default_rng(41).normal(size=(3, 5, 2))
    expected = geometric_median(np.delete(x, 2, axis=1))
    for junk in (np.nan, np.inf):
        x[:, 2] = junk
        np.testing.assert_array_equal(geometric_median(x, weights=[1, 1, 0, 1, 1]), expected)


# --- the same bits whatever the batch -------------------------------------------------------


@pytest.mark.parametrize("solver", ["newton", "weiszfeld"])
@pytest.mark.parametrize("shape", [(3, 5), (5, 4), (6, 13), (20, 3)])
def test_bits_do_not_depend_on_the_batch(shape, solver, simd_variant):
    rng = np.random.default_rng(43)
    x = mixed_batch(rng, 700, *shape)
    w = rng.integers(1, 3, size=(700, shape[0]))
    options = {"solver": solver, "full_output": True}
    if solver == "weiszfeld":
        options["max_iter"] = 50
    whole = geometric_median(x, weights=w, **options)
    order = rng.permutation(700)
    shuffled = geometric_median(x[order], weights=w[order], **options)
    with default_workers(3):
        threaded = geometric_median(x, weights=w, **options)
    for field in ("median", "objective", "gap", "n_valid", "n_iter", "status", "influence"):
        expected = getattr(whole, field)
        np.testing.assert_array_equal(getattr(shuffled, field), expected[order])
        np.testing.assert_array_equal(getattr(threaded, field), expected)
        for q in range(0, 700, 37):
            alone = geometric_median(x[q], weights=w[q], **options)
            np.testing.assert_array_equal(getattr(alone, field), expected[q])


def test_variants_agree_within_the_gap():
    from ropoll_core._kernels import simd

    x = mixed_batch(np.random.default_rng(47), 500, 6, 4)
    before, results = simd.active(), []
    try:
        for name in simd.available():
            simd.use(name)
            results.append(geometric_median(x, full_output=True))
    finally:
        simd.use(before)
    for other in results[1:]:
        np.testing.assert_allclose(other.objective, results[0].objective, rtol=1e-12)
        np.testing.assert_array_equal(other.certified, results[0].certified)


def test_order_of_judges_and_rotation():
    rng = np.random.default_rng(53)
    x = gaussian(rng, 60, 7, 4)
    expected = geometric_median(x)
    np.testing.assert_allclose(
        geometric_median(x[:, rng.permutation(7)]), expected, rtol=0, atol=1e-10
    )
    rotation, _ = np.linalg.qr(rng.normal(size=(4, 4)))
    np.testing.assert_allclose(
        geometric_median(x @ rotation), expected @ rotation, rtol=0, atol=1e-10
    )


# --- the published iteration ----------------------------------------------------------------


def test_weiszfeld_is_the_plain_iteration(simd_variant):
    x = likert(np.random.default_rng(71), 30, 6, 3)
    w = np.random.default_rng(72).random(6)
    result = geometric_median(x, weights=w, solver="weiszfeld", max_iter=100, full_output=True)
    for q in range(30):
        z, steps = weiszfeld(x[q], w, max_iter=100)
        np.testing.assert_allclose(result.median[q], z, rtol=0, atol=1e-11)
        assert result.n_iter[q] == steps


def test_weiszfeld_shows_its_gap():
    x = [[-3], [0], [1], [1], [1]]
    wrong = geometric_median(x, solver="weiszfeld", eta=1e-10, full_output=True)
    assert abs(wrong.median[0]) < 1e-6
    assert wrong.status == Status.NOT_CERTIFIED
    assert wrong.objective - 5 <= wrong.gap


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_weiszfeld_at_any_scale(scale):
    x = gaussian(np.random.default_rng(73), 20, 5, 3)
    options = {"solver": "weiszfeld", "max_iter": 40}
    moved = geometric_median(x * scale, eta=1e-6 * scale, tol=1e-9 * scale, **options)
    plain = geometric_median(x, eta=1e-6, tol=1e-9, **options)
    np.testing.assert_allclose(moved / scale, plain, rtol=1e-9, atol=1e-12)
