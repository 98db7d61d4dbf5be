"""Plain twins of the geometric median: the optimality condition, the published iteration."""

import numpy as np


def objective(points, z, weights=None):
    """sum_i w_i |z - x_i| for one query."""
    points = np.asarray(points, dtype=np.float64)
    weights = np.ones(len(points)) if weights is None else weights
    return float(np.sum(weights * np.linalg.norm(points - z, axis=1)))


def excess_pull(points, z, weights=None):
    """Length by which the pull at z exceeds what the points at z can hold, over total weight.

    Zero exactly where z is a geometric median.
    """
    points = np.asarray(points, dtype=np.float64)
    weights = np.ones(len(points)) if weights is None else np.asarray(weights, dtype=np.float64)
    offsets = points - z
    distance = np.linalg.norm(offsets, axis=1)
    away = distance > 1e-11 * max(distance.max(), 1e-300)
    pull = np.sum(weights[away, None] * offsets[away] / distance[away, None], axis=0)
    return max(np.linalg.norm(pull) - weights[~away].sum(), 0.0) / weights.sum()


def weiszfeld(points, weights=None, *, eta=1e-8, tol=1e-8, max_iter=1000):
    """The published iteration for one query, from the mean; also the number of steps."""
    points = np.asarray(points, dtype=np.float64)
    weights = np.ones(len(points)) if weights is None else np.asarray(weights, dtype=np.float64)
    z = np.average(points, axis=0, weights=weights)
    step, moved = 0, np.inf
    while step < max_iter and np.linalg.norm(moved) > tol:
        a = weights / np.maximum(np.linalg.norm(points - z, axis=1), eta)
        moved = (a @ points) / a.sum() - z
        z = z + moved
        step += 1
    return z, step
