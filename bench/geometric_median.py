"""The geometric median beside its peers and the memory's copy speed.

    python bench/geometric_median.py          the table
    python bench/report.py geometric_median   the same, kept in docs/

Peers get the same panels in the layout they want, prepared outside the timed call, and those
too slow for the whole batch get a part of it; a row then compares times per panel. Before
anything is timed every peer must agree with ours to the error it is known for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import geomad
import numpy as np
from geom_median.numpy import compute_geometric_median
from scipy.optimize import minimize
from sklearn.linear_model._theil_sen import _spatial_median
from timing import Row, compare, copy_call, copy_on_threads, interleave, print_rows

from ropoll_core import geometric_median
from ropoll_core._parallel import available_cores

__all__ = ["measure"]

SHAPES = [(3, 5), (5, 4), (7, 5), (13, 5), (15, 16), (64, 64)]
# Against geomad at its default (float32, errors of 1e-2 to 1e-5).
TARGETS = {(3, 5): 120, (5, 4): 12, (7, 5): 8, (13, 5): 6, (15, 16): 5, (64, 64): 6}
Panels = np.ndarray
Medians = Callable[[Panels], Panels]


def gaussian(rng: np.random.Generator, n_queries: int, n: int, d: int) -> Panels:
    """Normal scores, 30 % of the judges ten times as wide."""
    x = rng.normal(size=(n_queries, n, d))
    x[rng.random((n_queries, n)) < 0.3] *= 10
    return x


def likert(rng: np.random.Generator, n_queries: int, n: int, d: int) -> Panels:
    """Scores 1 to 5, one reply in five failed and entered as zeros."""
    x = rng.integers(1, 6, size=(n_queries, n, d)).astype(float)
    x[rng.random((n_queries, n)) < 0.2] = 0
    return x


def scikit_learn(x: Panels) -> Panels:
    return np.stack([_spatial_median(panel, max_iter=10_000, tol=1e-10)[1] for panel in x])


def geom_median(x: Panels) -> Panels:
    return np.stack([compute_geometric_median(list(panel)).median for panel in x])


def scipy_bfgs(x: Panels) -> Panels:
    def one(panel: Panels) -> Panels:
        def value(z: Panels) -> tuple[float, Panels]:
            t = z - panel
            r = np.sqrt((t * t).sum(axis=1))
            return r.sum(), (t / np.maximum(r, 1e-300)[:, None]).sum(axis=0)

        return minimize(value, panel.mean(axis=0), jac=True, method="BFGS").x

    return np.stack([one(panel) for panel in x])


def numpy_weiszfeld(x: Panels, steps: int = 100) -> Panels:
    z = x.mean(axis=1)
    for _ in range(steps):
        a = 1 / np.maximum(np.linalg.norm(x - z[:, None], axis=2), 1e-8)
        z = np.einsum("qn,qnd->qd", a, x) / a.sum(axis=1, keepdims=True)
    return z


# Peer -> its function, the share of the batch it gets, the median relative excess of the
# objective that it may show.
PEERS: dict[str, tuple[Medians, int, float]] = {
    "scikit-learn": (scikit_learn, 4, 1e-6),
    "geom-median": (geom_median, 4, 1e-4),
    "SciPy BFGS": (scipy_bfgs, 4, 1e-6),
    "NumPy Weiszfeld, 100 steps": (numpy_weiszfeld, 500, 1e-4),
}


def objective(x: Panels, z: Panels) -> Panels:
    return np.linalg.norm(x - z[:, None], axis=2).sum(axis=1)


def check_agreement(name: str, x: Panels, z: Panels, allowed: float) -> None:
    best = objective(x, geometric_median(x))
    excess = (objective(x, np.asarray(z, dtype=float)) - best) / np.where(best > 0, best, 1)
    if not (np.median(excess) <= allowed and excess.min() >= -1e-9):
        raise AssertionError(
            f"{name}: excess of the objective {np.median(excess):.1e} (median), "
            f"{excess.min():.1e} (least)"
        )


def geomad_call(x: Panels) -> Callable[[], Panels]:
    bands_first = np.ascontiguousarray(x.transpose(0, 2, 1)[:, None], dtype=np.float32)
    return lambda: geomad.nangeomedian_pcm(bands_first, num_threads=1)[:, 0]


def batch(n: int, d: int) -> int:
    """Panels that take a few milliseconds, and more than the caches hold where that is cheap."""
    return 400_000 if n == 3 else max(400, 600_000 // (n * d))


def shape_rows(n: int, d: int, family: Callable[..., Panels]) -> Iterator[Row]:
    rng = np.random.default_rng([n, d])
    n_queries = batch(n, d)
    x = family(rng, n_queries, n, d)
    holes = x.copy()
    holes[rng.random((n_queries, n)) < 0.05] = np.nan
    single = x.astype(np.float32)
    weights = rng.random(n) + 0.5
    few = max(100, n_queries // 50)
    part = x[:few]
    result = geometric_median(x[:20_000], full_output=True)
    if not (result.certified.all() and (result.gap <= 1e-12 * result.objective).all()):
        raise AssertionError("not every panel was certified to 1e-12")
    check_agreement("geomad", part, geomad_call(part)(), 1e-2)

    case = f"({n}, {d}) {family.__name__}"
    ours = {
        "ours": lambda: geometric_median(x),
        "5 % missing": lambda: geometric_median(holes),
        "weighted": lambda: geometric_median(x, weights=weights),
        "float32": lambda: geometric_median(single),
    }
    copy, copied = copy_call()
    timings = interleave(
        ours | {"geomad": geomad_call(part), "copy of as many bytes": copy}, rounds=7
    )
    moved = x.nbytes + n_queries * d * 8
    rivals = {"geomad": TARGETS[n, d]} | ({"copy of as many bytes": 0.6} if n == 3 else {})
    yield from compare(
        "geometric_median",
        case,
        {name: timings[name] for name in ("ours", "geomad", "copy of as many bytes")},
        "ours",
        targets=rivals,
        scale={"geomad": n_queries / few, "copy of as many bytes": moved / copied},
    )
    # Missing judges or weights may cost half as much again.
    variants = {"5 % missing": 1 / 1.5, "weighted": 1 / 1.5, "float32": 1.0}
    for kind, target in variants.items():
        yield from compare(
            "geometric_median",
            f"{case}, {kind}",
            {kind: timings[kind], "plain, one worker": timings["ours"]},
            kind,
            targets={"plain, one worker": target},
        )
    yield from worker_rows(case, x)
    if family is gaussian:
        yield from slow_rows(case, x, n_queries, ours=ours["ours"])


def worker_rows(case: str, x: Panels) -> Iterator[Row]:
    """Every core on a batch that takes tens of milliseconds; two idle cores should give 1.7.

    Three judges take no longer than their bytes, so what every core copies together is the limit.
    """
    three = x.shape[1] == 3
    many = np.concatenate([x] * (4 if three else 16))
    out = np.empty((len(many), x.shape[2]))
    calls = {
        "all workers": lambda: geometric_median(many, out=out, workers=-1),
        "one worker": lambda: geometric_median(many, out=out),
    }
    copy, copied = copy_on_threads(available_cores())
    limit = "copy of as many bytes, every core"
    timings = interleave(calls | ({limit: copy} if three else {}), rounds=7)
    yield from compare(
        "geometric_median",
        f"{case}, all workers",
        timings,
        "all workers",
        targets={"one worker": 1.7},
        scale={limit: (many.nbytes + out.nbytes) / copied} if three else None,
    )


def slow_rows(case: str, x: Panels, n_queries: int, *, ours: Callable[[], object]) -> Iterator[Row]:
    for name, (function, few, allowed) in PEERS.items():
        part = x[:few]
        check_agreement(name, part, function(part), allowed)
        timings = interleave({"ours": ours, name: lambda f=function, p=part: f(p)}, rounds=3)
        yield from compare("geometric_median", case, timings, "ours", scale={name: n_queries / few})


def single_panel_rows() -> Iterator[Row]:
    """One panel a call, as judge frameworks do."""
    panel = gaussian(np.random.default_rng(5), 1, 5, 5)[0]
    for kind, given in (("an array", panel), ("nested lists", panel.tolist())):
        calls = {
            "ours": lambda given=given: geometric_median(given),
            "NumPy Weiszfeld, 100 steps": lambda: numpy_weiszfeld(panel[None]),
        }
        yield from compare(
            "geometric_median", f"one (5, 5) panel from {kind}", interleave(calls), "ours"
        )


def measure() -> list[Row]:
    """Rows of the whole table."""
    rows: list[Row] = []
    for n, d in SHAPES:
        for family in (gaussian, likert):
            rows += shape_rows(n, d, family)
    rows += single_panel_rows()
    return rows


if __name__ == "__main__":
    print_rows(measure())
