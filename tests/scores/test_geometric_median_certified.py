"""Panels as judge frameworks make them, in bulk: not one may fail to certify.

An iteration capped at 100 steps gives up on up to a fifth of these. The proof is worked out
again here, in NumPy, from the medians alone.
"""

import numpy as np
import pytest

from ropoll_core.scores import geometric_median

KINDS = {
    "binary": lambda rng, shape: rng.integers(0, 2, size=shape).astype(float),
    "graded": lambda rng, shape: rng.integers(0, 5, size=shape) / 4,
    "continuous": lambda rng, shape: rng.random(size=shape),
}


def proved_gaps(panels, medians):
    """Upper bounds of F(z) - min F, relative to F: the best of a few dual points."""
    f = np.linalg.norm(panels - medians[:, None, :], axis=2).sum(axis=1)
    bounds = [dual_bounds(panels, medians, f, near) for near in (-1.0, 1e-12, 1e-6)]
    return np.min(bounds, axis=0) / np.where(f > 0, f, 1)


def dual_bounds(panels, medians, f, near):
    """Judges pull with their unit vectors, but those near z take up the pull of all others.

    As far as their number allows, and the others' pulls shrink to what is left. Without any
    judge that near, the pulls are shifted to balance and shrunk to fit.
    """
    n = panels.shape[1]
    t = panels - medians[:, None, :]
    r = np.linalg.norm(t, axis=2)
    at_z = r <= near * f[:, None]
    u = np.where(at_z[..., None], 0, t / np.where(at_z | (r == 0), 1, r)[..., None])
    pull = u.sum(axis=1)
    rho = np.linalg.norm(pull, axis=1) / n
    shifted = (rho * f + np.einsum("qk,qk->q", pull, t.mean(axis=1))) / (1 + rho)
    count = at_z.sum(axis=1)
    share = np.minimum(1, count / np.maximum(rho * n, 1e-300))
    near_t = np.where(at_z[..., None], t, 0).sum(axis=1) / np.maximum(count, 1)[:, None]
    near_f = np.where(at_z, r, 0).sum(axis=1)
    answered = (1 - share) * (f - near_f) + near_f + share * np.einsum("qk,qk->q", pull, near_t)
    usable = np.where((r == 0).any(axis=1), np.inf, shifted)
    return np.where(count > 0, answered, usable)


def turning(panels, medians, dtype):
    """What rounding z to its type does to those bounds: it turns the unit pulls, the near ones
    most. If they turn by e_i, the bound grows by no more than 2 sum(e_i)/n of F."""
    units = np.linalg.norm(np.spacing(np.abs(medians).astype(dtype)).astype(float), axis=1)
    r = np.linalg.norm(panels - medians[:, None, :], axis=2)
    return 2 * (units[:, None] / np.maximum(r, units[:, None])).mean(axis=1)


def certify(kind, n_judges, n_attributes, n_panels, dtype="float64"):
    rng = np.random.default_rng([n_judges, n_attributes, len(kind)])
    tol = {"float64": 1e-12, "float32": 1e-5}[dtype]
    for start in range(0, n_panels, 20_000):
        shape = (min(20_000, n_panels - start), n_judges, n_attributes)
        panels = KINDS[kind](rng, shape).astype(dtype)
        result = geometric_median(panels, full_output=True)
        failed = ~result.certified | (result.gap > tol * result.objective)
        assert not failed.any(), panels[failed.argmax()].tolist()
        panels, medians = panels.astype(float), result.median.astype(float)
        gaps = proved_gaps(panels, medians)
        allowed = tol + 8 * np.finfo(dtype).eps
        open_queries = np.flatnonzero(gaps > allowed)
        turned = turning(panels[open_queries], medians[open_queries], dtype)
        assert len(open_queries) < 20
        assert (gaps[open_queries] <= allowed + turned).all(), panels[open_queries].tolist()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n_attributes", [4, 10])
@pytest.mark.parametrize("n_judges", [3, 5, 7])
@pytest.mark.parametrize("kind", KINDS)
def test_none_fails_to_certify(kind, n_judges, n_attributes, dtype):
    certify(kind, n_judges, n_attributes, 5_000, dtype)


@pytest.mark.slow
@pytest.mark.parametrize("n_attributes", [4, 10])
@pytest.mark.parametrize("n_judges", [3, 5, 7])
@pytest.mark.parametrize("kind", KINDS)
def test_none_of_a_hundred_thousand_fails_to_certify(kind, n_judges, n_attributes, simd_variant):
    certify(kind, n_judges, n_attributes, 100_000)
