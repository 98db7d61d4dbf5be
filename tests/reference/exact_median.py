"""The geometric median by plain means: a NumPy twin, and sixty digits to judge every answer by.

Nothing here shares a line or a trick with the compiled kernel. `naive_median` is float64 NumPy
that favours the obvious. `exact_median` works on arrays of `decimal.Decimal` (the standard
library's C arithmetic: as many digits as one asks for and a huge exponent range), so a number
read from a float64 is exact and what comes out is good to about fifty digits; lines are told
from near-lines in rational arithmetic. All functions take one panel of shape (n, d) and leave
out, as a whole, a judge with a NaN or with weight zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction

import numpy as np

DIGITS = 60
_TIE = 1 + Decimal(10) ** (6 - DIGITS)  # an exact tie comes out with a few units of rounding


# ---------------------------------------------------------------- float64, the obvious way


def valid_rows(points, weights=None):
    """(points, weights) of the judges that count, in float64."""
    points = np.asarray(points, dtype=np.float64)
    weights = np.ones(len(points)) if weights is None else np.asarray(weights, dtype=np.float64)
    keep = ~np.isnan(points).any(axis=1) & (weights > 0)
    return points[keep], weights[keep]


def naive_objective(z, points, weights=None):
    """Weighted sum of the distances from `z`."""
    points, weights = valid_rows(points, weights)
    return float(weights @ np.linalg.norm(points - z, axis=1))


def naive_median(points, weights=None, steps=200):
    """Test every data point, else Newton's method with halved steps from the best one.

    For well-scaled data; answers NaN where no judge is valid.
    """
    points, weights = valid_rows(points, weights)
    if len(points) == 0:
        return np.full(points.shape[1], np.nan)
    line = _naive_line(points, weights)
    if line is not None:
        return line
    for x in points:
        t = points - x
        r = np.linalg.norm(t, axis=1)
        away = r > 0
        pull = (weights[away] / r[away]) @ t[away]
        if np.linalg.norm(pull) <= weights[~away].sum() * (1 + 1e-13):
            return x.copy()
    z = points[np.argmin([naive_objective(x, points, weights) for x in points])].copy()
    t = points - z
    r = np.linalg.norm(t, axis=1)
    away = r > 0
    pull = (weights[away] / r[away]) @ t[away]
    excess = np.linalg.norm(pull) - weights[~away].sum()
    u = pull / np.linalg.norm(pull)
    across = 1 - ((t[away] @ u) / r[away]) ** 2
    z = z + u * excess / max(weights[away] / r[away] @ across, 1e-12)
    for _ in range(steps):
        pull, hessian = _naive_derivatives(z, points, weights)
        step = np.linalg.solve(hessian, pull)
        while naive_objective(z + step, points, weights) > naive_objective(z, points, weights):
            step = step / 2
            if np.linalg.norm(step) <= 1e-17 * np.linalg.norm(points - z):
                return z
        z = z + step
    return z


def _naive_derivatives(z, points, weights):
    t = points - z
    r = np.linalg.norm(t, axis=1)
    a = weights / r
    return a @ t, np.sum(a) * np.eye(len(z)) - (t * (a / r**2)[:, None]).T @ t


def _naive_line(points, weights):
    t = points - points[0]
    far = np.argmax(np.linalg.norm(t, axis=1))
    length = np.linalg.norm(t[far])
    if length == 0:
        return points[0].copy()
    along = t @ (t[far] / length)
    if np.abs(t - along[:, None] * (t[far] / length)).max() > 1e-15 * length:
        return None
    order = np.argsort(along)
    cumulative = np.cumsum(weights[order])
    half = cumulative[-1] / 2
    low = np.searchsorted(cumulative, half * (1 - 1e-15))
    high = np.searchsorted(cumulative, half * (1 + 1e-15), side="right")
    return (points[order[low]] + points[order[min(high, len(order) - 1)]]) / 2


# ---------------------------------------------------------------- sixty digits


def _digits(points):
    """A context of sixty digits beyond the range of magnitudes, so that differences keep sixty."""
    sizes = np.abs(np.asarray(points, dtype=np.float64))
    sizes = sizes[sizes > 0]
    decades = np.ptp(np.log10(sizes)) if sizes.size else 0
    return localcontext(Context(prec=DIGITS + int(decades), Emax=999_999, Emin=-999_999))


@dataclass(frozen=True)
class Exact:
    """The median of one panel to about fifty digits.

    median : object array (d,) of Decimal; the midpoint where a whole segment is optimal.
    objective : Decimal, the smallest sum of distances.
    kind : "empty", "line", "data point" or "smooth".
    ends : the two ends of the segment of minimisers (equal where the median is unique).
    margin : (own weight - pull of the others) / W where the median is a data point, else 0.0.
    spread : median of the non-zero distances from the median to the judges.
    condition : smallest eigenvalue of the Hessian x spread / W (0 where the Hessian is not
        there): an error of eps in the gradient moves the median by eps x spread / condition.
    """

    median: np.ndarray
    objective: Decimal
    kind: str
    ends: tuple[np.ndarray, np.ndarray]
    margin: float
    spread: float
    condition: float

    def distance(self, z):
        """Distance from `z` to the median, as a float."""
        with _digits(z):
            return float(_norm(self.median - decimals(z)))

    def gap(self, z, points, weights=None):
        """Objective at `z` less the smallest there is, as a float."""
        with _digits(points):
            return float(exact_objective(z, points, weights) - self.objective)


def decimals(values):
    """An object array of the exact values of floats."""
    values = np.asarray(values)
    if values.dtype == object:
        return values
    out = np.empty(values.shape, dtype=object)
    out.reshape(-1)[:] = [Decimal(float(v)) for v in values.reshape(-1)]
    return out


def _norm(vector):
    return (vector @ vector).sqrt()


def _distances(t):
    return np.array([_norm(row) for row in t], dtype=object)


def exact_distances(z, points):
    """Distances from `z` to the points, in sixty digits."""
    with _digits(points):
        return _distances(decimals(points) - decimals(z))


def exact_objective(z, points, weights=None):
    """Weighted sum of the distances from `z`, in sixty digits."""
    points, weights = valid_rows(points, weights)
    with _digits(points):
        return decimals(weights) @ exact_distances(z, points)


def exact_bound(z, points, weights=None):
    """Objective at `z` less a lower bound of the least objective, both in sixty digits.

    By duality the least objective is the largest sum of <y_i, x_i> over vectors with
    |y_i| <= w_i that sum to zero; the unit pulls at `z`, less their mean and shrunk to be
    feasible, are such vectors. At a data point the pulls of the others alone may do better.
    """
    points, weights = valid_rows(points, weights)
    with _digits(points):
        x, w = decimals(points), decimals(weights)
        t = x - decimals(z)
        r = _distances(t)
        away = np.array([bool(v) for v in r])
        y = np.full(t.shape, Decimal(0), dtype=object)
        y[away] = t[away] * (w[away] / r[away])[:, None]
        if not away.all():
            # The judges at z itself take up what they can of the others' pull.
            own = w[~away].sum()
            pull = y.sum(axis=0)
            share = min(Decimal(1), own / _norm(pull)) if any(pull) else Decimal(0)
            y[~away] = -pull[None, :] * share * (w[~away] / own)[:, None]
        y = y - y.sum(axis=0)[None, :] * (w / w.sum())[:, None]
        shrink = max([_norm(row) / weight for row, weight in zip(y, w, strict=True)] + [Decimal(1)])
        return float(w @ r - (y * t).sum() / shrink)


def exact_median(points, weights=None):
    """The geometric median of one panel; fails loudly if it cannot prove its own answer."""
    points, weights = valid_rows(points, weights)
    if len(points) == 0:
        nothing = decimals(np.full(points.shape[1], np.nan))
        return Exact(nothing, Decimal("NaN"), "empty", (nothing, nothing), 0.0, 0.0, 0.0)
    with _digits(points):
        x, w = decimals(points), decimals(weights)
        line = _line_median(points, weights)
        if line is not None:
            low, high, margin = line
            # Not (a + a) / 2: a float64 may have more digits than the context keeps.
            middle = low if all(low == high) else (low + high) / 2
            return _wrap(middle, x, w, "line", (low, high), margin)
        best, best_objective = None, None
        for k in range(len(x)):
            t = x - x[k]
            r = _distances(t)
            away = np.array([bool(v) for v in r])
            pull = _norm((t[away] * (w[away] / r[away])[:, None]).sum(axis=0))
            own = w[~away].sum()
            if pull <= own * _TIE:
                margin = float((own - pull) / w.sum())
                return _wrap(x[k], x, w, "data point", (x[k], x[k]), margin)
            objective = w @ r
            if best is None or objective < best_objective:
                best, best_objective = k, objective
        z = _newton(x, w, best)
        return _wrap(z, x, w, "smooth", (z, z), 0.0)


def _line_median(points, weights):
    """(ends of the median interval, margin) if the points lie on one line exactly, else None."""
    if points.shape[1] > 1 and len(points) > 2:
        a = [Fraction(float(v)) for v in points[0]]
        direction, lead = None, 0
        for row in points[1:]:
            e = [Fraction(float(v)) - b for v, b in zip(row, a, strict=True)]
            if direction is None:
                if any(e):
                    direction, lead = e, next(k for k, v in enumerate(e) if v)
            elif any(u * direction[lead] != v * e[lead] for u, v in zip(e, direction, strict=True)):
                return None
    else:
        lead = int(np.argmax(points[0] != points[-1]))
    axis = [Fraction(float(v)) for v in points[:, lead]]
    w = [Fraction(float(v)) for v in weights]
    order = sorted(range(len(axis)), key=lambda i: axis[i])
    ends = []
    for side in (order, order[::-1]):
        running = Fraction(0)
        for i in side:
            running += w[i]
            if running >= sum(w) / 2:
                ends.append(i)
                break
    here = axis[ends[0]]
    below, above = (
        sum(v for v, a in zip(w, axis, strict=True) if side * (a - here) > 0) for side in (-1, 1)
    )
    own = sum(w) - below - above
    margin = max(float((own - abs(below - above)) / sum(w)), 0.0)
    return decimals(points[ends[0]]), decimals(points[ends[1]]), margin


def _newton(x, w, best):
    """Newton's method in sixty digits from the best data point, steps halved on overshoot."""
    origin = x[best]
    x = x - origin
    t_all = x
    r = _distances(x)
    away = np.array([bool(v) for v in r])
    t, r, a = t_all[away], r[away], w[away] / r[away]
    pull = (t * a[:, None]).sum(axis=0)
    length = _norm(pull)
    u = pull / length
    across = [1 - (row @ u / dist) ** 2 for row, dist in zip(t, r, strict=True)]
    curvature = a @ np.array(across, dtype=object)
    step = (length - w[~away].sum()) / curvature
    z = u * step
    # The leaving step may overshoot far where the line is nearly flat.
    while _overshoots(z, x, w, u, length - w[~away].sum()):
        step /= 2
        z = u * step
    for _ in range(200):
        pull = _pull(z, x, w)
        if _norm(pull) / w.sum() <= Decimal(10) ** (8 - DIGITS):
            return z + origin
        p = _solve(_hessian(z, x, w), pull)
        slope = pull @ p
        while _overshoots(z + p, x, w, p, slope):
            p, slope = p / 2, slope / 2
        while not _overshoots(z + 2 * p, x, w, p, -slope):  # still as steep: an almost flat way
            p, slope = 2 * p, 2 * slope
        z = z + p
    raise AssertionError("the sixty-digit reference did not settle")


def _pull(z, x, w):
    t = x - z
    return (t * (w / _distances(t))[:, None]).sum(axis=0)


def _overshoots(z, x, w, step, slope):
    """Whether the slope has turned too far at z, or z is a data point and has none."""
    return not all(_distances(x - z)) or _pull(z, x, w) @ step < -slope / 2


def _hessian(z, x, w):
    t = x - z
    r = _distances(t)
    a = w / r
    u = t / r[:, None]
    hessian = -((u * a[:, None]).T @ u)
    hessian[np.diag_indices(len(z))] += a.sum()
    return hessian


def _solve(matrix, right):
    """Gaussian elimination with row pivoting on Decimals."""
    a = np.concatenate([matrix, right[:, None]], axis=1)
    d = len(right)
    for k in range(d):
        pivot = k + int(np.argmax(np.abs(a[k:, k])))
        a[[k, pivot]] = a[[pivot, k]]
        below = a[k + 1 :, k] / a[k, k]
        a[k + 1 :, k:] -= below[:, None] * a[k, k:][None, :]
    solution = np.empty(d, dtype=object)
    for k in reversed(range(d)):
        solution[k] = (a[k, d] - a[k, k + 1 : d] @ solution[k + 1 :]) / a[k, k]
    return solution


def _wrap(z, x, w, kind, ends, margin):
    r = _distances(x - z)
    positive = sorted(v for v in r if v)
    spread = float(positive[len(positive) // 2]) if positive else 0.0
    condition = 0.0
    if kind == "smooth":
        condition = _smallest_eigenvalue(
            _hessian(z, x, w) * (positive[len(positive) // 2] / w.sum())
        )
    return Exact(z, w @ r, kind, ends, margin, spread, condition)


def _smallest_eigenvalue(matrix):
    """Of a positive definite matrix of Decimals, to a few digits."""
    plain = matrix.astype(np.float64)
    if np.abs(plain).max() < 1e6:
        return float(np.linalg.eigvalsh(plain)[0])
    # A judge all but at the median: its part would drown the rest in float64.
    units = decimals(np.eye(len(plain)))
    inverse = np.array([_solve(matrix, unit) for unit in units]).astype(np.float64)
    return 1 / float(np.linalg.eigvalsh(inverse)[-1])
