"""Plain twins of the aggregators: one panel (n_judges, n_attributes) at a time, in NumPy."""

import math

import numpy as np


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
