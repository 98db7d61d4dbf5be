"""What must hold for any panel: equivariance to rounding, independence to the bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from reference.exact_median import exact_distances, exact_median, exact_objective
from reference.median_checks import WELL_CONDITIONED, check_panels
from reference.panels import FAMILIES, with_missing, with_weights

from ropoll_core._kernels import simd
from ropoll_core.scores import geometric_median

EPS = np.finfo(float).eps
FAMILY = st.sampled_from(sorted(FAMILIES))
SEED = st.integers(0, 2**32 - 1)
LIGHT = settings(max_examples=60, deadline=None)
MODERATE = sorted(
    set(FAMILIES)
    - {name for name in FAMILIES if name.startswith(("outliers", "times", "mixed"))}
    - {"subnormal", "largest"}
)


@st.composite
def batches(draw, families=FAMILY, most_queries=9):
    """(panels, weights or None): one shape, a family drawn for each query."""
    n = draw(st.integers(1, 12))
    d = draw(st.sampled_from([1, 2, 3, 4, 5, 7, 8, 13, 17]))
    names = draw(st.lists(families, min_size=1, max_size=most_queries))
    rng = np.random.default_rng(draw(SEED))
    panels = np.array([FAMILIES[name](rng, n, d) for name in names])
    if draw(st.booleans()):
        panels = with_missing(rng, panels)
    weights = with_weights(rng, panels.shape[:2]) if draw(st.booleans()) else None
    return panels, weights


def raw_panels(numbers):
    """One panel whose numbers hypothesis chooses, awkward ones first."""
    shape = st.tuples(st.integers(1, 6), st.integers(1, 4))
    return shape.flatmap(lambda s: hnp.arrays(np.float64, s, elements=numbers))


SMALL_NUMBERS = st.integers(-3, 3).map(float)


def run(panels, weights=None, **options):
    return geometric_median(panels, weights=weights, full_output=True, **options)


def row(weights, select):
    return None if weights is None else weights[select]


def same_bits(a, b):
    for field in ("median", "objective", "gap", "n_valid", "status", "n_iter", "influence"):
        x, y = np.asarray(getattr(a, field)), np.asarray(getattr(b, field))
        assert x.dtype == y.dtype, field
        assert x.tobytes() == y.tobytes(), field


# ---------------------------------------------------------------- any numbers at all


@settings(max_examples=150, deadline=None)
@given(raw_panels(st.floats(-1e150, 1e150, allow_nan=False) | SMALL_NUMBERS))
def test_any_numbers_are_answered_honestly(panel):
    check_panels(panel[None], place=False)


@settings(max_examples=150, deadline=None)
@given(raw_panels(st.floats(-1e3, 1e3).map(lambda v: round(v, 6)) | SMALL_NUMBERS))
def test_any_scores_are_answered_in_the_right_place(panel):
    assert check_panels(panel[None]) == []


@settings(max_examples=100, deadline=None)
@given(batches(most_queries=2))
def test_any_family_is_answered_honestly(batch):
    check_panels(*batch)


# ---------------------------------------------------------------- equivariance


def agree(found, expected, panel, weights):
    """Two answers to problems that differ by rounding: both optimal as far as it shows."""
    exact = exact_median(panel, weights)
    if exact.kind == "empty":
        return
    spread = float(np.max(exact_distances(exact.median, panel[~np.isnan(panel).any(axis=1)])))
    size = float(np.nanmax(np.abs(panel)))
    grain = 64 * EPS * size
    if exact.kind == "smooth" and exact.condition > WELL_CONDITIONED:
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * exact.spread + grain)
    total = 1.0 if weights is None else float(np.sum(weights))
    excess = exact.gap(found, panel, weights)
    assert excess <= 1e-12 * float(exact.objective) + len(panel) * total * (grain + EPS * spread)


def turned(rng, d):
    return np.linalg.qr(rng.normal(size=(d, d)))[0]


@LIGHT
@given(batches(st.sampled_from(MODERATE), most_queries=3), SEED)
def test_rotation(batch, seed):
    panels, weights = batch
    q = turned(np.random.default_rng(seed), panels.shape[-1])
    plain, moved = run(panels, weights), run(panels @ q, weights)
    for k, panel in enumerate(panels):
        agree(moved.median[k] @ q.T, plain.median[k], panel, row(weights, k))


@LIGHT
@given(batches(st.sampled_from(MODERATE), most_queries=3), SEED)
def test_translation(batch, seed):
    panels, weights = batch
    shift = np.random.default_rng(seed).normal(size=panels.shape[-1])
    plain, moved = run(panels, weights), run(panels + shift, weights)
    for k, panel in enumerate(panels):
        agree(moved.median[k] - shift, plain.median[k], panel, row(weights, k))


@LIGHT
@given(batches(st.sampled_from(MODERATE)), st.integers(-150, 150))
def test_scale_by_a_power_of_two_is_exact(batch, power):
    panels, weights = batch
    plain, scaled = run(panels, weights), run(np.ldexp(panels, power), weights)
    np.testing.assert_array_equal(scaled.median, np.ldexp(plain.median, power))
    np.testing.assert_array_equal(scaled.status, plain.status)
    np.testing.assert_array_equal(scaled.objective, np.ldexp(plain.objective, power))


@LIGHT
@given(batches(st.sampled_from(MODERATE), most_queries=3), st.integers(-900, 980))
def test_scale_by_any_power_of_two(batch, power):
    panels, weights = batch
    plain, scaled = run(panels, weights), run(np.ldexp(panels, power), weights)
    for k, panel in enumerate(panels):
        agree(np.ldexp(scaled.median[k], -power), plain.median[k], panel, row(weights, k))


@LIGHT
@given(batches(st.sampled_from(MODERATE)), st.integers(-40, 40))
def test_weights_times_a_power_of_two_is_exact(batch, power):
    panels, weights = batch
    weights = np.ones(panels.shape[:2]) if weights is None else weights
    plain, scaled = run(panels, weights), run(panels, np.ldexp(weights, power))
    np.testing.assert_array_equal(scaled.median, plain.median)
    np.testing.assert_array_equal(scaled.status, plain.status)


@LIGHT
@given(batches(most_queries=3), SEED)
def test_order_of_judges(batch, seed):
    panels, weights = batch
    order = np.random.default_rng(seed).permutation(panels.shape[1])
    shuffled = None if weights is None else weights[:, order]
    plain, moved = run(panels, weights), run(panels[:, order], shuffled)
    check_panels(panels[:, order], shuffled)
    np.testing.assert_array_equal(moved.n_valid, plain.n_valid)
    for k, panel in enumerate(panels):
        exact = exact_median(panel, row(weights, k))
        if exact.margin > 1e-12:
            assert moved.median[k].tobytes() == plain.median[k].tobytes()


# ---------------------------------------------------------------- weights


@LIGHT
@given(batches(), SEED)
def test_zero_weight_is_omitted(batch, seed):
    panels, _ = batch
    n = panels.shape[1]
    weights = with_weights(np.random.default_rng(seed), n)
    kept = weights > 0
    missing = panels.copy()
    missing[:, ~kept] = np.nan
    with_zeros = run(panels, weights)
    same_bits(with_zeros, run(missing, weights))
    alone = run(panels[:, kept], weights[kept])
    np.testing.assert_array_equal(with_zeros.n_valid, alone.n_valid)
    check_panels(panels, np.broadcast_to(weights, panels.shape[:2]))
    for k, panel in enumerate(panels):
        exact = exact_median(panel, weights)
        if exact.margin > 1e-12:
            assert with_zeros.median[k].tobytes() == alone.median[k].tobytes()


@LIGHT
@given(batches(st.sampled_from(MODERATE), most_queries=3), SEED)
def test_copies_are_whole_weights(batch, seed):
    panels, _ = batch
    counts = np.random.default_rng(seed).integers(1, 4, size=panels.shape[1])
    copied = run(np.repeat(panels, counts, axis=1))
    weighted = run(panels, counts.astype(float))
    for k, panel in enumerate(panels):
        agree(copied.median[k], weighted.median[k], panel, counts)
        agree(weighted.median[k], copied.median[k], panel, counts)


@LIGHT
@given(batches())
def test_equal_weights_are_no_weights(batch):
    panels, _ = batch
    plain = run(panels)
    same_bits(plain, run(panels, np.ones(panels.shape[1])))
    np.testing.assert_array_equal(run(panels, np.full(panels.shape[1], 4.0)).median, plain.median)


@LIGHT
@given(batches(most_queries=3))
def test_influence_is_a_share_of_the_pull(batch):
    panels, weights = batch
    influence = run(panels, weights).influence
    assert influence.shape == panels.shape[:2]
    for k, panel in enumerate(panels):
        w = np.ones(len(panel)) if weights is None else weights[k]
        counts = ~np.isnan(panel).any(axis=1) & (w > 0)
        assert (influence[k][counts] >= 0).all()
        assert not np.nan_to_num(influence[k][~counts]).any()
        if counts.any():
            np.testing.assert_allclose(influence[k][counts].sum(), 1, rtol=1e-12)


# ---------------------------------------------------------------- to the bit


@LIGHT
@given(batches(most_queries=14), SEED)
def test_position_size_and_neighbours_do_not_matter(batch, seed):
    panels, weights = batch
    rng = np.random.default_rng(seed)
    whole = run(panels, weights)
    order = rng.permutation(np.repeat(np.arange(len(panels)), 2))
    shuffled = run(panels[order], row(weights, order))
    for field in ("median", "objective", "gap", "status", "n_valid", "n_iter", "influence"):
        expected = np.asarray(getattr(whole, field))[order]
        assert np.asarray(getattr(shuffled, field)).tobytes() == expected.tobytes(), field
    for k in range(len(panels)):
        alone = run(panels[k : k + 1], row(weights, slice(k, k + 1)))
        assert alone.median[0].tobytes() == whole.median[k].tobytes()
        single = run(panels[k], row(weights, k))
        assert single.median.tobytes() == whole.median[k].tobytes()


def clothes(panels):
    """The same numbers in another layout, type or mood."""
    yield "Fortran", np.asfortranarray(panels)
    yield "swapped", np.swapaxes(np.ascontiguousarray(np.swapaxes(panels, 0, 2)), 0, 2)
    yield "backwards", panels[::-1, ::-1, ::-1].copy()[::-1, ::-1, ::-1]
    padded = np.full([2 * s + 1 for s in panels.shape], np.nan, dtype=panels.dtype)
    padded[1::2, 1::2, 1::2] = panels
    yield "strided", padded[1::2, 1::2, 1::2]
    yield "big-endian", panels.astype(panels.dtype.newbyteorder(">"))
    frozen = panels.copy()
    frozen.setflags(write=False)
    yield "read-only", frozen
    packed = np.zeros(panels.shape, dtype=[("pad", "u1"), ("score", panels.dtype)])
    packed["score"] = panels
    yield "unaligned", packed["score"]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@LIGHT
@given(batches(st.sampled_from(MODERATE)))
def test_layout_does_not_matter(dtype, batch):
    panels, weights = batch
    panels = panels.astype(dtype)
    weights = None if weights is None else weights.astype(dtype)
    plain = run(panels, weights)
    for _, other in clothes(panels):
        same_bits(plain, run(other, weights))
    if weights is not None:
        same_bits(plain, run(panels, weights.astype(weights.dtype.newbyteorder(">"))))
        same_bits(plain, run(panels, np.repeat(weights, 2, axis=1)[:, ::2]))
    lead = panels.reshape(1, len(panels), 1, *panels.shape[1:])
    lead_weights = None if weights is None else weights.reshape(1, len(panels), 1, -1)
    nested = run(lead, lead_weights)
    assert nested.median.shape == (1, len(panels), 1, panels.shape[2])
    assert nested.gap.shape == (1, len(panels), 1)
    assert nested.median.tobytes() == plain.median.tobytes()


@pytest.mark.parametrize("solver", ["newton", "weiszfeld"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("shape", [(3, 5), (5, 4), (7, 5), (16, 16)])
def test_workers_do_not_matter(shape, dtype, solver):
    rng = np.random.default_rng(8)
    names = ["gaussian", "likert", "binary", "collinear, rounded", "clustered", "outliers 1e+06"]
    panels = np.array([FAMILIES[names[k % 6]](rng, *shape) for k in range(2001)]).astype(dtype)
    panels = with_missing(rng, panels)
    weights = with_weights(rng, shape[0])
    plain = run(panels, weights, workers=1, solver=solver)
    for workers in (2, 3, 7, -1):
        same_bits(plain, run(panels, weights, workers=workers, solver=solver))
    out = np.empty_like(plain.median)
    assert geometric_median(panels, weights=weights, workers=2, solver=solver, out=out) is out
    assert out.tobytes() == plain.median.tobytes()


@LIGHT
@given(batches(most_queries=4))
def test_every_instruction_set_is_right(batch):
    before = simd.active()
    try:
        for variant in simd.available():
            simd.use(variant)
            check_panels(*batch)
    finally:
        simd.use(before)


def test_instruction_sets_agree_within_the_certified_gap():
    rng = np.random.default_rng(10)
    before = simd.active()
    for family in FAMILIES:
        panels = np.array([FAMILIES[family](rng, 7, 4) for _ in range(9)])
        found = []
        try:
            for variant in simd.available():
                simd.use(variant)
                found.append(run(panels))
        finally:
            simd.use(before)
        for other in found[1:]:
            np.testing.assert_array_equal(other.n_valid, found[0].n_valid)
            for k, panel in enumerate(panels):
                a, b = (exact_objective(r.median[k], panel) for r in (found[0], other))
                allowed = max(float(found[0].gap[k]), float(other.gap[k]))
                assert abs(float(a - b)) <= allowed + 16 * EPS * float(a), family
