"""Guards of the score kernels: a lost vectorisation or a slow call path fails here.

Ratios against a NumPy twin in the same process, far below what is measured, so that noise does
not fail them.
"""

import numpy as np
import pytest
from timing import interleave

from ropoll_core import geometric_median

pytest.importorskip("pytest_benchmark")


def gaussian(n_queries, n, d):
    rng = np.random.default_rng([n, d])
    x = rng.normal(size=(n_queries, n, d))
    x[rng.random((n_queries, n)) < 0.3] *= 10
    return x


def weiszfeld_steps(x, steps=10):
    """What the work amounts to in NumPy: ten passes over the distances."""
    z = x.mean(axis=1)
    for _ in range(steps):
        a = 1 / np.maximum(np.linalg.norm(x - z[:, None], axis=2), 1e-8)
        z = np.einsum("qn,qnd->qd", a, x) / a.sum(axis=1, keepdims=True)
    return z


def best_ratio(ours, twin):
    timings = interleave({"ours": ours, "twin": twin}, rounds=5)
    return max(b / a for a, b in zip(timings["ours"].rounds, timings["twin"].rounds, strict=True))


# Half or less of the ratios measured with AVX2.
@pytest.mark.parametrize(
    ("n", "d", "least"),
    [(3, 5, 100), (5, 4, 8), (7, 5, 8), (13, 5, 8), (15, 16, 4), (64, 64, 2)],
)
def test_batches_against_numpy(n, d, least):
    x = gaussian(max(400, 150_000 // (n * d)), n, d)
    assert best_ratio(lambda: geometric_median(x), lambda: weiszfeld_steps(x)) >= least


@pytest.mark.parametrize("kind", ["missing", "weights"])
@pytest.mark.parametrize(("n", "d"), [(3, 5), (5, 4), (13, 5), (15, 16)])
def test_missing_and_weights_cost_little(n, d, kind):
    x = gaussian(150_000 // (n * d), n, d)
    rng = np.random.default_rng(1)
    if kind == "missing":
        holes = x.copy()
        holes[rng.random(x.shape[:2]) < 0.05] = np.nan
        ratio = best_ratio(lambda: geometric_median(holes), lambda: geometric_median(x))
    else:
        w = rng.random(n) + 0.5
        ratio = best_ratio(lambda: geometric_median(x, weights=w), lambda: geometric_median(x))
    assert ratio >= 1 / 2.5


@pytest.mark.parametrize("lists", [False, True])
def test_one_panel(lists):
    panel = gaussian(1, 5, 5)[0]
    given = panel.tolist() if lists else panel
    ratio = best_ratio(lambda: geometric_median(given), lambda: weiszfeld_steps(panel[None]))
    assert ratio >= 1


def test_scratch_does_not_grow_with_the_batch():
    from ropoll_core._kernels.geometric_median import scratch_bytes

    assert scratch_bytes(5, 4) < 1 << 17
    x = gaussian(200_000, 5, 8)[:, :, ::2]
    out = np.empty((200_000, 4))
    import tracemalloc

    tracemalloc.start()
    geometric_median(x, out=out)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 18
