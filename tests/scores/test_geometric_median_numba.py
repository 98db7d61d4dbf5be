"""geometric_median called from a user's own compiled code."""

import numpy as np
import pytest

from ropoll_core.scores import geometric_median

numba = pytest.importorskip("numba")


@pytest.fixture(scope="module")
def compiled():
    from ropoll_core.scores._numba import register

    register()

    @numba.njit
    def spread(panels, weights):
        total = 0.0
        for panel in panels:
            centre = geometric_median(panel, weights=weights)
            total += np.abs(centre - geometric_median(panel)).sum()
        return total

    return spread


def test_agrees_with_the_python_call(compiled):
    x = np.random.default_rng(0).normal(size=(20, 5, 3))
    x[3, 1, 2] = np.nan
    w = np.array([1.0, 2.0, 0.0, 1.0, 1.0])
    expected = np.abs(geometric_median(x, weights=w) - geometric_median(x)).sum()
    np.testing.assert_allclose(compiled(x, w), expected, rtol=1e-14)
    np.testing.assert_allclose(compiled(x[:, ::-1][:, ::-1], w), expected, rtol=1e-14)


def test_bad_input_is_refused(compiled):
    x = np.ones((1, 3, 2))
    with pytest.raises(ValueError, match="not negative"):
        compiled(x, np.array([1.0, -1.0, 1.0]))
    with pytest.raises(ValueError, match="not all be zero"):
        compiled(x, np.zeros(3))
    with pytest.raises(ValueError, match="one value a judge"):
        compiled(x, np.ones(2))
    x[0, 1, 1] = np.inf
    with pytest.raises(ValueError, match="finite"):
        compiled(x, np.ones(3))
