"""Robust aggregation of score vectors: the geometric median and its comparators."""

from ropoll_core._results.aggregate import Aggregate, AggregateStatus, AggregationWarning
from ropoll_core._results.calibration import Calibration
from ropoll_core._results.scores import GeometricMedian, Status
from ropoll_core.scores._aggregate import METHODS, aggregate
from ropoll_core.scores._calibrate import calibrate
from ropoll_core.scores._geometric_median import geometric_median
from ropoll_core.scores._huber import huber_mean
from ropoll_core.scores._krum import bulyan, krum, multi_krum
from ropoll_core.scores._means import coordinatewise_trimmed_mean, mean, trimmed_mean
from ropoll_core.scores._median_of_means import geometric_median_of_means, median_of_means
from ropoll_core.scores._medians import coordinatewise_median, medoid
from ropoll_core.scores._tukey import random_tukey_median, tukey_median

__all__ = [
    "METHODS",
    "Aggregate",
    "AggregateStatus",
    "AggregationWarning",
    "Calibration",
    "GeometricMedian",
    "Status",
    "aggregate",
    "bulyan",
    "calibrate",
    "coordinatewise_median",
    "coordinatewise_trimmed_mean",
    "geometric_median",
    "geometric_median_of_means",
    "huber_mean",
    "krum",
    "mean",
    "median_of_means",
    "medoid",
    "multi_krum",
    "random_tukey_median",
    "trimmed_mean",
    "tukey_median",
]
