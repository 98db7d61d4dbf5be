"""The contamination study: ours against the same sweep in NumPy and geom-median.

    python bench/report.py study
    python bench/study.py            the full grid as well (minutes), timed for real

The peer runs the same cells on a fraction of the items and replicates, and its time is
multiplied up to ours: said so in each row.
"""

from __future__ import annotations

import os
import time
import warnings

import numpy as np
from timing import Row, Timing, compare, interleave, machine, print_rows

from ropoll_core import contamination

SCALE = (0.0, 4.0)
METHODS = (
    "geometric_median",
    "mean",
    "coordinatewise_median",
    "trimmed_mean",
    "coordinatewise_trimmed_mean",
    "medoid",
    "krum",
)
SIZES = (3, 5, 7, 13)
# Items and replicates of a cell: of the full grid, of the timed one, and what peers get of it.
FULL = (2000, 20)
TIMED = (200, 10)
NUMPY_SHARE = (200, 1)
GEOM_MEDIAN_SHARE = (3, 1)


def corrupt(rng, truth, panels, kind, rate):
    """The six corruptions in NumPy, whole arrays at a time."""
    low, high = SCALE
    shape = panels.shape
    true = truth[:, None, :]
    values = {
        "zeros": lambda: np.zeros(shape),
        "inverted": lambda: np.broadcast_to(low + high - true, shape),
        "bimodal-random": lambda: rng.choice([low, high], size=shape),
        "cauchy-far": lambda: true + 10 + 2 * (high - low) * rng.standard_cauchy(shape),
        "sycophantic": lambda: np.full(shape, high),
        "noisy-gt": lambda: np.clip(true + 0.8 * rng.standard_normal(shape), low, high),
    }[kind]()
    hit = rng.random(shape[:2]) < rate
    return np.where(hit[:, :, None], values, panels)


def geom_median(panels):
    """geom-median's NumPy solver, a panel at a time (it has no batch)."""
    from geom_median.numpy import compute_geometric_median

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.array([compute_geometric_median(list(panel)).median for panel in panels])


def mean(panels):
    return panels.mean(axis=1)


def coordinatewise_median(panels):
    return np.median(panels, axis=1)


def trimmed_mean(panels):
    n_kept = panels.shape[1] - int(0.3 * panels.shape[1])
    far = np.linalg.norm(panels - panels.mean(axis=1, keepdims=True), axis=2)
    order = np.argsort(far, axis=1, kind="stable")[:, :n_kept, None]
    return np.take_along_axis(panels, order, axis=1).mean(axis=1)


def coordinatewise_trimmed_mean(panels):
    n = panels.shape[1]
    cut = int(0.3 * n)
    return np.sort(panels, axis=1)[:, cut : n - cut].mean(axis=1)


def distances(panels):
    return np.linalg.norm(panels[:, :, None] - panels[:, None], axis=3)


def medoid(panels):
    best = distances(panels).sum(axis=2).argmin(axis=1)
    return panels[np.arange(len(panels)), best]


def krum(panels):
    n = panels.shape[1]
    n_near = max(n - (n - 3) // 2 - 2, 1)
    near = np.sort(distances(panels) ** 2, axis=2)[:, :, 1 : 1 + n_near].sum(axis=2)
    return panels[np.arange(len(panels)), near.argmin(axis=1)]


PEERS = {
    "geometric_median": geom_median,
    "mean": mean,
    "coordinatewise_median": coordinatewise_median,
    "trimmed_mean": trimmed_mean,
    "coordinatewise_trimmed_mean": coordinatewise_trimmed_mean,
    "medoid": medoid,
    "krum": krum,
}


def numpy_sweep(truth, scores, methods, n_replicates, sizes=SIZES):
    """The same sweep: squared errors of every method in every cell, without intervals."""
    rng = np.random.default_rng(0)
    n_items, n_judges, _ = scores.shape
    errors = {}
    for size in sizes:
        for kind in contamination.CORRUPTIONS:
            for rate in contamination.PAPER_RATES:
                total = np.zeros(len(methods))
                for _ in range(n_replicates):
                    seats = np.argsort(rng.random((n_items, n_judges)), axis=1)[:, :size, None]
                    panels = np.take_along_axis(scores, seats, axis=1)
                    panels = corrupt(rng, truth, panels, kind, rate)
                    for m, name in enumerate(methods):
                        total[m] += ((PEERS[name](panels) - truth) ** 2).mean(axis=1).sum()
                errors[size, kind, rate] = np.sqrt(total / (n_items * n_replicates))
    return errors


def jury(n_items):
    return contamination.simulate_jury(
        n_items, 13, 5, scale=SCALE, sigma=0.7, correlation=0.5, rng=1
    )


def our_sweep(made, n_replicates, methods=None, workers=1, **options):
    return contamination.sweep(
        made.truth, made.scores, scale=SCALE, methods=methods or METHODS, committees=SIZES,
        n_replicates=n_replicates, rng=2, workers=workers, **options,
    )  # fmt: skip


def agree() -> None:
    """Ours and the peer's errors are the same within their sampling error, or this raises."""
    made = jury(400)
    mine = our_sweep(made, 10, n_resamples=0)
    vectorised = [name for name in METHODS if name != "geometric_median"]
    errors = numpy_sweep(made.truth, made.scores, vectorised, 10)
    for (size, kind, rate), values in errors.items():
        if kind == "cauchy-far":  # no variance: nothing to compare
            continue
        seat, k = SIZES.index(size), mine.corruptions.index(kind)
        for name, value in zip(vectorised, values, strict=True):
            rmse = mine.rmse[seat, k, mine.rates.tolist().index(rate), METHODS.index(name)]
            if not (np.isnan(rmse) or abs(rmse / value - 1) < 0.08):
                raise AssertionError(f"{name}, {kind}, {rate}, {size}: {rmse} against {value}")


def measure() -> list[Row]:
    agree()
    made = jury(TIMED[0])
    vectorised = [name for name in METHODS if name != "geometric_median"]
    few = GEOM_MEDIAN_SHARE[0]
    timings = interleave(
        {
            "ours": lambda: our_sweep(made, TIMED[1]),
            "NumPy": lambda: numpy_sweep(made.truth, made.scores, vectorised, NUMPY_SHARE[1]),
            "geom-median": lambda: numpy_sweep(
                made.truth[:few], made.scores[:few], ["geometric_median"], GEOM_MEDIAN_SHARE[1]
            ),
        },
        rounds=3,
    )
    panels = TIMED[0] * TIMED[1]
    up_numpy = panels / (NUMPY_SHARE[0] * NUMPY_SHARE[1])
    up_geom = panels / (few * GEOM_MEDIAN_SHARE[1])
    whole = Timing(
        tuple(
            up_numpy * numpy + up_geom * geom
            for numpy, geom in zip(
                timings["NumPy"].rounds, timings["geom-median"].rounds, strict=True
            )
        )
    )
    alone = Timing(tuple(up_numpy * seconds for seconds in timings["NumPy"].rounds))
    case = f"7 methods, 144 cells of {panels} panels"
    return compare(
        "contamination sweep",
        case,
        {
            "ours": timings["ours"],
            "NumPy + geom-median, from a share": whole,
            "NumPy without a median, from a share": alone,
        },
        "ours",
        targets={"NumPy + geom-median, from a share": 50.0},
    )


def full_grid() -> None:
    """The whole study at its published size, with intervals, on all cores."""
    made = jury(FULL[0])
    start = time.perf_counter()
    result = our_sweep(made, FULL[1], workers=-1)
    seconds = time.perf_counter() - start
    cells = int(np.prod(result.rmse.shape[:3]))
    print(
        f"full grid: {cells} cells x {result.n_panels} panels x {len(METHODS)} methods = "
        f"{cells * result.n_panels * len(METHODS):,} aggregations in {seconds:.1f} s on "
        f"{os.cpu_count()} cores (load {os.getloadavg()[0]:.1f}), {machine()}"
    )


if __name__ == "__main__":
    print_rows(measure())
    full_grid()
