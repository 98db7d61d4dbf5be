"""Every family of panels against sixty digits: certified, honest, in the right place."""

import numpy as np
import pytest
from reference.median_checks import check_panels
from reference.panels import FAMILIES, ORDINARY, with_missing, with_weights

SHAPES = [(1, 1), (1, 4), (2, 1), (2, 3), (3, 2), (3, 5), (4, 1), (4, 2), (5, 4), (6, 3), (7, 5)]
SHAPES += [(8, 12), (9, 13), (12, 2), (16, 16), (33, 2), (1, 32), (2, 32), (3, 32)]
LARGE = [(13, 5), (15, 16), (20, 33), (64, 3), (64, 64), (5, 64)]


def draw(family, shape, dtype, n_queries, seed):
    """A batch of one family, or None where the numbers do not fit the type."""
    rng = np.random.default_rng([seed, *shape])
    panels = np.array([FAMILIES[family](rng, *shape) for _ in range(n_queries)])
    with np.errstate(over="ignore", under="ignore"):
        cast = panels.astype(dtype)
    if not np.isfinite(cast).all() or (not cast.any() and panels.any()):
        return None, rng
    return cast, rng


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("family", FAMILIES)
def test_family(family, dtype):
    not_certified = run(family, dtype, SHAPES, n_queries=3, seed=1)
    if family in ORDINARY:
        assert not_certified == []


def run(family, dtype, shapes, n_queries, seed):
    not_certified = []
    for shape in shapes:
        panels, rng = draw(family, shape, dtype, n_queries, seed)
        if panels is None:
            continue
        not_certified += [(shape, "plain", q) for q in check_panels(panels)]
        missing = with_missing(rng, panels)
        not_certified += [(shape, "missing", q) for q in check_panels(missing)]
        weights = with_weights(rng, panels.shape[:2])
        not_certified += [(shape, "weighted", q) for q in check_panels(panels, weights)]
    return not_certified


@pytest.mark.exhaustive
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("family", FAMILIES)
def test_family_at_length(family, dtype):
    not_certified = run(family, dtype, SHAPES, n_queries=30, seed=2)
    not_certified += run(family, dtype, LARGE, n_queries=3, seed=3)
    if family in ORDINARY:
        assert not_certified == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("n", range(1, 65))
def test_every_size(n):
    rng = np.random.default_rng(n)
    for d in sorted({1, 2, 3, n, *rng.integers(4, 65, size=3).tolist()}):
        for family in ("gaussian", "likert", "outliers 1e+12"):
            panel = FAMILIES[family](rng, n, d)
            assert check_panels(panel[None]) == []
            assert check_panels(with_missing(rng, panel[None])) == []


def test_large_sizes():
    rng = np.random.default_rng(4)
    for shape in LARGE:
        for family in ("corrupted", "likert"):
            assert check_panels(FAMILIES[family](rng, *shape)[None]) == []
