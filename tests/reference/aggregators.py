"""Plain twins of the aggregators: one panel (n_judges, n_attributes) at a time, in NumPy."""

import math

import numpy as np

from ropoll_core.scores import geometric_median


def valid(panel, weights=None):
    """The judges with complete scores and a positive weight, and their weights."""
    panel = np.asarray(panel, dtype=float)
    weights = np.ones(len(panel)) if weights is None else np.asarray(weights, dtype=float)
    keep = ~np.isnan(panel).any(axis=1) & (weights > 0)
    return panel[keep], weights[keep]


def count(proportion, n):
    return math.floor(proportion * n + 1e-9)


def mean(panel, weights=None):
    x, w = valid(panel, weights)
    return (w / w.sum()) @ x


def weighted_median(values, weights):
    """Midpoint of the minimisers of sum w |x - z|, among which are data points."""
    costs = [np.sum(weights * np.abs(values - z)) for z in values]
    best = min(costs)
    minimisers = [z for z, c in zip(values, costs, strict=True) if c <= best * (1 + 1e-12)]
    return (min(minimisers) + max(minimisers)) / 2


def coordinatewise_median(panel, weights=None):
    x, w = valid(panel, weights)
    if weights is None:
        return np.median(x, axis=0)
    return np.array([weighted_median(column, w) for column in x.T])


def trimmed_mean(panel, proportion):
    x, _ = valid(panel)
    distance = np.sum((x - x.mean(axis=0)) ** 2, axis=1)
    order = np.argsort(distance, kind="stable")
    return x[order[: len(x) - count(proportion, len(x))]].mean(axis=0)


def coordinatewise_trimmed_mean(panel, proportion):
    x, _ = valid(panel)
    cut = count(proportion, len(x))
    return np.sort(x, axis=0)[cut : len(x) - cut].mean(axis=0)


def medoid(panel, weights=None):
    x, w = valid(panel, weights)
    distances = np.sqrt(np.sum((x[:, None] - x[None]) ** 2, axis=2))
    costs = distances @ w
    return x[np.flatnonzero(costs <= costs.min() * (1 + 1e-13))[0]]


def krum_costs(x, close):
    square = np.sum((x[:, None] - x[None]) ** 2, axis=2)
    return np.array(
        [np.sum(np.sort(np.delete(row, i))[: max(close, 0)]) for i, row in enumerate(square)]
    )


def first_smallest(costs, number=1):
    """Indices of the smallest costs one by one, of equal ones the first."""
    costs, chosen = np.array(costs, dtype=float), []
    for _ in range(number):
        chosen.append(int(np.flatnonzero(costs <= costs.min() * (1 + 1e-13))[0]))
        costs[chosen[-1]] = np.inf
    return chosen


def multi_krum(panel, n_faulty, n_selected=None):
    x, _ = valid(panel)
    if len(x) < max(2 * n_faulty + 3, n_selected or 1):
        return np.full(np.shape(panel)[1], np.nan)
    costs = krum_costs(x, len(x) - n_faulty - 2)
    return x[first_smallest(costs, n_selected or len(x) - n_faulty)].mean(axis=0)


def krum(panel, n_faulty):
    return multi_krum(panel, n_faulty, 1)


def bulyan(panel, n_faulty):
    x, _ = valid(panel)
    if len(x) < 4 * n_faulty + 3:
        return np.full(np.shape(panel)[1], np.nan)
    left, taken = list(range(len(x))), []
    while len(taken) < len(x) - 2 * n_faulty:
        costs = krum_costs(x[left], max(len(left) - n_faulty - 2, 1))
        taken.append(left.pop(first_smallest(costs)[0]))
    result = []
    for column in x[taken].T:
        median = np.median(column)
        nearest = sorted(column, key=lambda v: (abs(v - median), v))
        result.append(np.mean(nearest[: len(taken) - 2 * n_faulty]))
    return np.array(result)


def huber_loss(z, x, w, threshold):
    r = np.linalg.norm(x - z, axis=1)
    return np.sum(w * np.where(r > threshold, threshold * (r - threshold / 2), r**2 / 2))


def huber_mean(panel, threshold, weights=None):
    """Reweighted means until nothing moves any more."""
    x, w = valid(panel, weights)
    z = np.median(x, axis=0)
    for _ in range(5000):
        r = np.linalg.norm(x - z, axis=1)
        pull = w * np.minimum(1, threshold / np.maximum(r, 1e-300))
        new = pull @ x / pull.sum()
        if np.abs(new - z).max() <= 1e-13:
            return new
        z = new
    return z


def group_means(panel, n_groups, order=None):
    keep = ~np.isnan(panel).any(axis=1)
    order = [j for j in (range(len(panel)) if order is None else order) if keep[j]]
    return np.array([panel[part].mean(axis=0) for part in np.array_split(order, n_groups)])


def median_of_means(panel, n_groups):
    if len(valid(panel)[0]) < n_groups:
        return np.full(np.shape(panel)[1], np.nan)
    return geometric_median(group_means(np.asarray(panel, dtype=float), n_groups))  # tested itself


# Method -> (options, twin, fewest valid judges). The one registry behind the tests.
METHODS = {
    "mean": ({}, mean, 1),
    "coordinatewise_median": ({}, coordinatewise_median, 1),
    "trimmed_mean": ({"proportion": 0.4}, trimmed_mean, 1),
    "coordinatewise_trimmed_mean": ({"proportion": 0.25}, coordinatewise_trimmed_mean, 1),
    "medoid": ({}, medoid, 1),
    "median_of_means": ({"n_groups": 3}, median_of_means, 3),
    "krum": ({"n_faulty": 1}, krum, 5),
    "multi_krum": ({"n_faulty": 1}, multi_krum, 5),
    "bulyan": ({"n_faulty": 1}, bulyan, 7),
    "huber_mean": ({"threshold": 0.7}, huber_mean, 1),
}
WEIGHTED = ("mean", "coordinatewise_median", "medoid", "huber_mean")
