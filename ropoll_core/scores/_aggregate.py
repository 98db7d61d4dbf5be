"""One entry to every aggregator, by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ropoll_core._checks.options import as_choice
from ropoll_core.scores._geometric_median import geometric_median
from ropoll_core.scores._huber import huber_mean
from ropoll_core.scores._krum import bulyan, krum, multi_krum
from ropoll_core.scores._means import coordinatewise_trimmed_mean, mean, trimmed_mean
from ropoll_core.scores._median_of_means import median_of_means
from ropoll_core.scores._medians import coordinatewise_median, medoid
from ropoll_core.scores._tukey import random_tukey_median, tukey_median

__all__ = ["METHODS", "aggregate"]

#: Every aggregator by name.
METHODS: dict[str, Callable[..., Any]] = {
    "geometric_median": geometric_median,
    "mean": mean,
    "coordinatewise_median": coordinatewise_median,
    "trimmed_mean": trimmed_mean,
    "coordinatewise_trimmed_mean": coordinatewise_trimmed_mean,
    "median_of_means": median_of_means,
    "geometric_median_of_means": median_of_means,
    "medoid": medoid,
    "krum": krum,
    "multi_krum": multi_krum,
    "bulyan": bulyan,
    "tukey_median": tukey_median,
    "random_tukey_median": random_tukey_median,
    "huber_mean": huber_mean,
}


def aggregate(scores: Any, method: str = "geometric_median", **options: Any) -> Any:
    """Aggregate each panel by a named method.

    Parameters
    ----------
    scores : array_like of shape (..., n_judges, n_attributes)
        Score vectors.
    method : str
        Name of a function of this module: a key of ``METHODS``.
    **options
        Passed on to that function.

    Returns
    -------
    array of shape (..., n_attributes), or a result
        What the function returns.

    Raises
    ------
    TypeError
        If the method does not take an option (weights, say), or needs one that is not given.
    ValueError
        For an unknown method, and whatever the function itself raises.

    Notes
    -----
    Breakdown point, cost and source of each method are in the docstring of its function.

    Examples
    --------
    >>> import ropoll_core
    >>> panel = [[4, 5], [5, 4], [4, 4], [5, 5], [0, 0]]
    >>> ropoll_core.scores.aggregate(panel, method="trimmed_mean", proportion=0.2)
    array([4.5, 4.5])
    """
    function = METHODS[as_choice(method, "method", METHODS)]
    known = _OPTIONS[method]
    for name in options:
        if name == "weights" and name not in known:
            raise TypeError(f"weights are not defined for method {method!r}")
        if name not in known:
            raise TypeError(f"method {method!r} takes {', '.join(known)}; got {name!r}")
    missing = [name for name, required in known.items() if required and name not in options]
    if missing:
        raise TypeError(f"method {method!r} needs {', '.join(missing)}")
    return function(scores, **options)


# Method -> its options, and whether each must be given.
_OPTIONS = {
    method: {
        name: parameter.default is parameter.empty
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY
    }
    for method, function in METHODS.items()
}
