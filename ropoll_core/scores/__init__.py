"""Robust aggregation of score vectors: the geometric median and its comparators."""

from ropoll_core._results.aggregate import Aggregate, AggregateStatus, AggregationWarning
from ropoll_core._results.scores import GeometricMedian, Status
from ropoll_core.scores._aggregate import METHODS, aggregate
from ropoll_core.scores._geometric_median import geometric_median
from ropoll_core.scores._huber import huber_mean
from ropoll_core.scores._krum import bulyan, krum, multi_krum
from ropoll_core.scores._means import coordinatewise_trimmed_mean, mean, trimmed_mean
from ropoll_core.scores._medians import coordinatewise_median, medoid

__all__ = [
    "METHODS",
    "Aggregate",
    "AggregateStatus",
    "AggregationWarning",
    "GeometricMedian",
    "Status",
    "aggregate",
    "bulyan",
    "coordinatewise_median",
    "coordinatewise_trimmed_mean",
    "geometric_median",
    "huber_mean",
    "krum",
    "mean",
    "medoid",
    "multi_krum",
    "trimmed_mean",
]
