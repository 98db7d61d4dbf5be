"""The judges of the other tests are judged here: twin, sixty digits, and their proof."""

import mpmath
import numpy as np
import pytest
from reference.exact_median import (
    decimals,
    exact_bound,
    exact_median,
    exact_objective,
    naive_median,
)
from reference.panels import FAMILIES, ORDINARY, with_weights

SIZES = [(1, 1), (1, 3), (2, 3), (3, 2), (4, 2), (5, 4), (6, 3), (7, 5), (8, 12), (16, 1)]


def panels_of(family, seed=1):
    rng = np.random.default_rng(seed)
    for n, d in SIZES:
        panel = FAMILIES[family](rng, n, d)
        assert panel.shape == (n, d)
        assert np.isfinite(panel).all()
        yield panel, None
        yield panel, with_weights(rng, n)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_reference_median_is_proved_by_a_dual_point(family):
    for panel, weights in panels_of(family):
        exact = exact_median(panel, weights)
        scale = float(exact.objective) or 1.0
        assert exact_bound(exact.median, panel, weights) <= 1e-40 * scale


@pytest.mark.parametrize("family", ORDINARY)
def test_the_twin_is_optimal(family):
    for panel, weights in panels_of(family):
        z = naive_median(panel, weights)
        exact = exact_median(panel, weights)
        assert exact.gap(z, panel, weights) <= 1e-15 * (float(exact.objective) or 1.0)


def test_sixty_digits_agree_with_another_arithmetic():
    panel = np.random.default_rng(5).normal(size=(5, 3))
    with mpmath.workdps(60):
        rows = [[mpmath.mpf(float(v)) for v in row] for row in panel]

        def pull(*z):
            total = mpmath.matrix(3, 1)
            for row in rows:
                t = mpmath.matrix([v - c for v, c in zip(row, z, strict=True)])
                total += t / mpmath.norm(t)
            return total

        root = mpmath.findroot(pull, list(naive_median(panel)), tol=1e-100)
        found = exact_median(panel).median
        for mine, theirs in zip(found, root, strict=True):
            assert abs(mpmath.mpf(str(mine)) - theirs) < mpmath.mpf(10) ** -50


def test_known_values():
    # Kuhn: the pull of the others at (3, 3) is exactly its own weight.
    tight = exact_median([[3, 3], [0, 3], [6, 3], [3, 5]])
    assert tight.kind == "data point"
    assert tight.objective == 8
    # Whole segment: the ends, and the midpoint between.
    flat = exact_median([[0, 0], [1, 2], [3, 6], [4, 8]])
    assert flat.kind == "line"
    assert list(flat.ends[0]) == [1, 2]
    assert list(flat.ends[1]) == [3, 6]
    assert list(flat.median) == [2, 4]
    # Published with its gradient, 3e-55.
    base = [[2.0, 8.0, 5.0], [3.0, 7.0, 5.5], [2.5, 7.5, 4.0], [9.0, 1.0, 9.5], [3.5, 8.5, 6.0]]
    expected = [2.9721041516769438, 7.267387879499667, 5.385365125050197]
    assert exact_median(base).distance(expected) < 2e-15


def test_the_bound_is_never_below_the_gap():
    rng = np.random.default_rng(9)
    for _ in range(50):
        panel = rng.normal(size=(6, 3))
        weights = with_weights(rng, 6)
        exact = exact_median(panel, weights)
        for z in (rng.normal(size=3), panel[0], panel[3], panel.mean(axis=0)):
            gap = exact.gap(z, panel, weights)
            assert 0 <= gap <= exact_bound(z, panel, weights) * (1 + 1e-12) + 1e-50
            assert float(exact_objective(z, panel, weights)) >= float(exact.objective)


def test_decimals_are_exact():
    values = np.array([0.1, 5e-324, -1.7976931348623157e308])
    assert [float(v) for v in decimals(values)] == values.tolist()
    assert str(decimals(np.array([0.1]))[0]).startswith("0.1000000000000000055511151231257827")
