"""Panels of three judges: a closed form, and a pass of its own where they lie in order.

Where only the medians are asked for, a batch is solved before it is known what is missing, and
queries with a gap are settled beside the others.
"""

import numpy as np
import pytest
from reference.exact_median import exact_median
from reference.median_checks import check_panels
from reference.panels import with_missing

from ropoll_core.scores import geometric_median

D = [2, 3, 4, 5, 6, 7, 8, 9]


def turned(rng, panels):
    """The same panels in another direction, each in an order of its own."""
    d = panels.shape[2]
    panels = panels @ np.linalg.qr(rng.normal(size=(d, d)))[0]
    return panels[:, rng.permutation(3)]


def angle(rng, n, d, degrees, off):
    """Triangles whose angle at one judge is `degrees`, give or take `off` radians."""
    a = np.deg2rad(degrees) + rng.choice([-1, 1], n) * off
    side = 10.0 ** rng.uniform(-6, 6, n)
    panels = np.zeros((n, 3, d))
    panels[:, 1, 0] = 1
    panels[:, 2, 0] = side * np.cos(a)
    panels[:, 2, 1] = side * np.sin(a)
    return turned(rng, panels)


def outlier(rng, n, d):
    """One judge farther than the others by 1e3 to 1e30, whichever it is."""
    panels = rng.normal(size=(n, 3, d))
    panels[np.arange(n), rng.integers(3, size=n)] *= 10.0 ** rng.uniform(3, 30, (n, 1))
    return panels


def near_pair(rng, n, d):
    panels = rng.normal(size=(n, 3, d))
    panels[:, 2] = panels[:, 1] + panels[:, 2] * 10.0 ** rng.uniform(-15, -2, (n, 1))
    return panels[:, rng.permutation(3)]


TRIANGLES = {
    "any": lambda rng, n, d: rng.normal(size=(n, 3, d)),
    "120 degrees": lambda rng, n, d: angle(rng, n, d, 120, 10.0 ** rng.uniform(-16, -1, n)),
    "a line": lambda rng, n, d: angle(rng, n, d, 180, 10.0 ** rng.uniform(-16, -1, n)),
    "outlier": outlier,
    "near pair": near_pair,
    "likert": lambda rng, n, d: rng.integers(0, 4, size=(n, 3, d)).astype(float),
    "zero rows": lambda rng, n, d: (
        rng.integers(1, 6, size=(n, 3, d)) * (rng.random((n, 3, 1)) < 0.6)
    ).astype(float),
    "scales": lambda rng, n, d: (
        rng.normal(size=(n, 3, d)) * 10.0 ** rng.uniform(-12, 12, (n, 3, 1))
    ),
}
WEIGHTS = {
    "near": lambda rng, n: rng.uniform(0.5, 1.5, size=(n, 3)),
    "wild": lambda rng, n: 10.0 ** rng.uniform(-4, 4, size=(n, 3)),
    "one outweighs": lambda rng, n: rng.permutation([1.0, 1.0, 2.5]) * np.ones((n, 1)),
    "one balances": lambda rng, n: rng.permutation([1.0, 1.0, 2.0]) * np.ones((n, 1)),
}


@pytest.mark.parametrize("kind", TRIANGLES)
def test_every_triangle_is_right(kind, simd_variant):
    rng = np.random.default_rng(11)
    for d in (2, 5, 8):
        assert check_panels(TRIANGLES[kind](rng, 25, d)) == []


@pytest.mark.parametrize("weighting", WEIGHTS)
@pytest.mark.parametrize("kind", TRIANGLES)
def test_every_weighted_triangle_is_right(kind, weighting, simd_variant):
    rng = np.random.default_rng(12)
    panels = TRIANGLES[kind](rng, 12, 5)
    check_panels(panels, WEIGHTS[weighting](rng, 12))


@pytest.mark.parametrize("weights", [None, [0.8, 1.2, 0.9]])
@pytest.mark.parametrize("kind", ["any", "outlier", "near pair", "scales"])
def test_beside_an_outlier_the_place_is_that_of_the_others(kind, weights, simd_variant):
    # To rounding of the shortest side, however long the others are.
    rng = np.random.default_rng(13)
    panels = TRIANGLES[kind](rng, 40, 4)
    for panel, z in zip(panels, geometric_median(panels, weights=weights), strict=True):
        exact = exact_median(panel, None if weights is None else np.array(weights))
        side = min(np.linalg.norm(panel[i] - panel[i - 1]) for i in range(3))
        grain = np.linalg.norm(np.spacing(np.abs(z)))
        assert exact.distance(z) <= 1e-14 * side + grain


def test_an_angle_on_the_edge_is_the_judge_to_the_bit(simd_variant):
    # 120 degrees exactly, in integers: the pull of the others is just held.
    panel = np.array([[3.0, 3, 3], [4, 2, 3], [3, 4, 2]])
    for order in ([0, 1, 2], [1, 0, 2], [2, 1, 0]):
        result = geometric_median(panel[order], full_output=True)
        assert result.median.tolist() == [3, 3, 3]
        assert result.certified


@pytest.mark.parametrize("weights", [None, [1.0, 1.0, 1.0], [1.0, 0.7, 1.2], [1.0, 3.0, 1.0]])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("d", D)
def test_medians_alone_are_those_of_the_full_output(d, dtype, weights, simd_variant):
    rng = np.random.default_rng(d)
    panels = np.concatenate([TRIANGLES[kind](rng, 67, d) for kind in TRIANGLES]).astype(dtype)
    for batch in (panels, with_missing(rng, panels), panels[:1], panels[5:18]):
        full = geometric_median(batch, weights=weights, full_output=True).median
        assert geometric_median(batch, weights=weights).tobytes() == full.tobytes()
        strided = np.asfortranarray(batch)
        assert geometric_median(strided, weights=weights).tobytes() == full.tobytes()
        every_other = np.repeat(batch, 2, axis=0)[::2]
        assert geometric_median(every_other, weights=weights).tobytes() == full.tobytes()
        columns = np.full((len(batch), 2 * d), 7, dtype=dtype)
        geometric_median(batch, weights=weights, out=columns[:, ::2])
        assert columns[:, ::2].tobytes() == full.tobytes()
        assert (columns[:, 1::2] == 7).all()


@pytest.mark.parametrize("missing", [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)])
def test_whichever_judge_is_missing(missing, simd_variant):
    rng = np.random.default_rng(3)
    panels = rng.normal(size=(41, 3, 5))
    panels[::4, missing, 2] = np.nan
    expected = [
        geometric_median(panel[~np.isnan(panel).any(axis=1)])
        if len(missing) < 3 or k % 4
        else np.full(5, np.nan)
        for k, panel in enumerate(panels)
    ]
    np.testing.assert_array_equal(geometric_median(panels), expected)
    propagated = geometric_median(panels, nan_policy="propagate")
    assert np.isnan(propagated[::4]).all()
    assert not np.isnan(propagated[1::4]).any()
    with pytest.raises(ValueError, match=rf"query 0, judge {missing[0]}, attribute 2"):
        geometric_median(panels, nan_policy="raise")
    panels[20, missing[-1], 4] = np.inf
    with pytest.raises(ValueError, match=rf"inf at query 20, judge {missing[-1]}, attribute 4"):
        geometric_median(panels)


def test_nothing_beyond_the_range_is_written():
    # What is fetched ahead of need, and the last lanes of a row, must not reach into memory
    # that another thread may be writing.
    panels = np.random.default_rng(4).normal(size=(37, 3, 5))
    room = np.full((60, 5), 7.0)
    geometric_median(panels, out=room[10:47])
    assert (room[:10] == 7).all()
    assert (room[47:] == 7).all()
    assert room[10:47].tobytes() == geometric_median(panels).tobytes()
