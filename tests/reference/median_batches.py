"""Batches of panels (n_queries, n, d) of a few plain families, and all of them in one."""

import numpy as np


def gaussian(rng, n_queries, n, d):
    x = rng.normal(size=(n_queries, n, d))
    x[rng.random((n_queries, n)) < 0.3] *= 10
    return x


def likert(rng, n_queries, n, d):
    x = rng.integers(1, 6, size=(n_queries, n, d)).astype(float)
    x[rng.random((n_queries, n)) < 0.2] = 0
    return x


def binary(rng, n_queries, n, d):
    return rng.integers(0, 2, size=(n_queries, n, d)).astype(float)


def collinear(rng, n_queries, n, d):
    return rng.integers(-5, 6, size=(n_queries, n, 1)) * rng.integers(-3, 4, size=(n_queries, 1, d))


def clusters(rng, n_queries, n, d):
    centre = rng.normal(size=(n_queries, 1, d))
    size = 10.0 ** rng.uniform(-9, 2, size=(n_queries, n, 1))
    return centre + size * rng.normal(size=(n_queries, n, d))


FAMILIES = [gaussian, likert, binary, collinear, clusters]


def mixed_batch(rng, n_queries, n, d):
    parts = [family(rng, n_queries, n, d) for family in FAMILIES]
    x = np.stack(parts)[rng.integers(len(parts), size=n_queries), np.arange(n_queries)]
    x[rng.random((n_queries, n)) < 0.1] = np.nan
    return x
