"""What every answer of `geometric_median` is held to, query by query, in sixty digits."""

from __future__ import annotations

import numpy as np
from reference.exact_median import exact_distances, exact_median, exact_objective, valid_rows

from ropoll_core._results.scores import Status
from ropoll_core.scores import geometric_median

# The largest certified gap, relative to the objective, and how far the median may be from the
# reference, relative to the spread of the judges, where the problem is well conditioned; where
# it is less so, that much farther: a pull of rho leaves rho x spread / condition.
GAP = {"float64": 1e-12, "float32": 1e-5}
DISTANCE = {"float64": 1e-10, "float32": 1e-3}
WELL_CONDITIONED = 0.1
SMALLEST, LARGEST = 5e-324, float(np.finfo(np.float64).max)


def check_panels(panels, weights=None, place=True, **options):
    """Run a batch (n_queries, n, d), check every query; the queries that were not certified.

    `weights` is None or (n_queries, n). Without `place` the median may be anywhere as long as
    it is as good as the result says.
    """
    result = geometric_median(panels, weights=weights, full_output=True, **options)
    assert result.median.dtype == panels.dtype
    open_queries = []
    for q, panel in enumerate(panels):
        w = None if weights is None else weights[q].astype(panels.dtype)
        try:
            if not check_query(result, q, panel, w, place):
                open_queries.append(q)
        except AssertionError as error:
            message = f"query {q}: {error}\npanel = {panel.tolist()!r}\nweights = {w!r}"
            raise AssertionError(f"{message}\nmedian = {result.median[q].tolist()!r}") from error
    return open_queries


def check_query(result, q, panel, weights, place=True):
    """Check one query of a result; whether it was certified."""
    dtype = panel.dtype.name
    z = result.median[q]
    points, w = valid_rows(panel, weights)
    assert result.n_valid[q] == len(points)
    exact = exact_median(panel, weights)
    if exact.kind == "empty":
        assert np.isnan(z).all()
        assert result.status[q] == Status.ALL_MISSING
        return True
    assert np.isfinite(z).all(), f"the median is not finite, status {result.status[q]}"
    gap, objective = float(result.gap[q]), float(result.objective[q])
    assert gap >= 0, f"gap {gap}"

    at_z = float(exact_objective(z, panel, weights))
    if np.isinf(objective) and at_z > min(w.max(), 1) * LARGEST:
        # The sum is beyond float64 in units of the largest weight; the median is not.
        certified = exact.gap(z, panel, weights) <= GAP[dtype] * LARGEST
    else:
        slack = rounding(z, points, w, panel.dtype)
        assert abs(objective - at_z) <= slack, f"objective {objective}, in truth {at_z}"
        true = exact.gap(z, panel, weights)
        assert true <= gap + slack, f"reported gap {gap}, true gap {true}, rounding {slack}"
        certified = gap <= GAP[dtype] * objective
    assert bool(result.certified[q]) == certified, f"status {result.status[q]}, gap {gap}"
    if certified and place:
        check_place(exact, z, panel.dtype)
    return certified


def check_place(exact, z, dtype):
    """The median is where it should be, as far as the problem says where that is."""
    eps = float(np.finfo(dtype).eps)
    # Of judges so near each other that squares vanish beside the rest, any one may stand in.
    vanishing = 1e-160 * min(float(exact.objective), 1e300)
    grain = 4 * half_unit(z) + vanishing
    away = exact.distance(z)
    if exact.margin > 1e3 * eps:
        assert away <= vanishing, f"the median is a judge's vector, {away} away"
    elif exact.kind == "smooth" and exact.condition > WELL_CONDITIONED / 100:
        stretch = max(WELL_CONDITIONED / exact.condition, 1)
        allowed = DISTANCE[dtype.name] * stretch * exact.spread + grain
        assert away <= allowed, f"{away} from the median, allowed {allowed}"
    elif exact.kind == "line" and exact.margin == 0:
        apart = exact.distance(exact.ends[0].astype(np.float64))
        assert away <= grain + 4 * eps * apart, f"{away} from the middle of the segment"


def half_unit(z):
    """Largest distance from z to the numbers that round to it."""
    units = np.spacing(np.abs(z)).astype(np.float64)
    return max(float(units.max() * np.linalg.norm(units / units.max()) / 2), SMALLEST)


def rounding(z, points, weights, dtype):
    """How far F at the stored z may be from F at the point that the kernel meant.

    z is rounded to its grid, the vectors x - z to theirs: a move by delta changes a distance r
    by delta^2 / r beyond the gradient, which is as good as zero there, but by no more than
    2 delta; and every sum carries a unit of rounding a term.
    """
    eps = float(np.finfo(dtype).eps)
    delta = half_unit(z)
    with np.errstate(over="ignore", under="ignore"):
        r = exact_distances(z, points).astype(np.float64)
        objective = float(exact_objective(z, points, weights))
    moved = np.minimum(2 * delta, delta * (delta / np.maximum(r, delta))) if delta else 0 * r
    units = (8 + len(points)) * (eps * objective + SMALLEST * max(weights.max(), 1))
    return float(units + weights @ moved)
