"""Aggregators called with the options that their twins take, and panels to call them on."""

import warnings

import numpy as np
from reference.aggregators import METHODS

from ropoll_core import scores as rs
from ropoll_core.scores import AggregationWarning

# All but those that iterate to a certificate, whose last bits are free.
BY_ARITHMETIC = sorted(set(METHODS) - {"median_of_means"})


def call(method, scores, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AggregationWarning)
        return rs.aggregate(scores, method=method, **METHODS[method][0], **options)


def panels(seed, n, d, n_queries=37, missing=0.0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n_queries, n, d))
    gone = rng.random((n_queries, n)) < missing
    gone[np.arange(n_queries), rng.integers(n, size=n_queries)] = False
    x[gone, rng.integers(d)] = np.nan
    return x
