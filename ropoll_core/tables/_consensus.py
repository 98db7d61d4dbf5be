"""A panel aggregated, and what a reader of the result should know about it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._results.scores import Status
from ropoll_core._results.tables import Panel, PanelConsensus
from ropoll_core.scores import aggregate, coordinatewise_median, mean

__all__ = ["aggregate_panel", "consensus_columns"]

_ROWS = 65_536  # items looked at together, so that scratch memory does not grow with the panel


def aggregate_panel(
    panel: Panel,
    *,
    method: str = "geometric_median",
    weights: Any = None,
    workers: int | None = None,
    **options: Any,
) -> PanelConsensus:
    """Aggregate a panel and describe judges and items against the consensus.

    Parameters
    ----------
    panel : Panel
        What `read_scores` returns.
    method : str
        A method of `scores.aggregate`.
    weights : array_like of shape (n_judges,), optional
        Weight of each judge, where the method has weights.
    workers : int or None
        Threads; see `default_workers`.
    **options
        Further options of the method.

    Returns
    -------
    PanelConsensus

    Raises
    ------
    TypeError, ValueError
        As `scores.aggregate` does.

    Examples
    --------
    Three judges, each of whom saw another flaw. The coordinate-wise median is a 5/5/5 that
    nobody gave, farther from every judge than they are from the consensus on average:

    >>> import pyarrow
    >>> from ropoll_core.tables import aggregate_panel, read_scores
    >>> scores = {"x": [5, 5, 1], "y": [5, 1, 5], "z": [1, 5, 5]}
    >>> table = pyarrow.table({"item": ["q"] * 3, "judge": list("abc"), **scores})
    >>> consensus = aggregate_panel(read_scores(table))
    >>> consensus.consensus.round(2)
    array([[3.67, 3.67, 3.67]])
    >>> consensus.unsupported
    array([ True])
    """
    scores = panel.scores
    weighted = {} if weights is None else {"weights": weights}
    exact = method == "geometric_median"
    if exact:
        options["full_output"] = True
    result = aggregate(scores, method, workers=workers, **weighted, **options)
    consensus = np.asarray(result.median if exact else result)
    plain = np.asarray(mean(scores, workers=workers, **weighted))
    middle = np.asarray(coordinatewise_median(scores, workers=workers, **weighted))
    n_items, n_judges, _ = scores.shape
    distance = np.empty((n_items, n_judges))
    unsupported = np.zeros(n_items, dtype=np.bool_)
    for start in range(0, n_items, _ROWS):
        rows = slice(start, start + _ROWS)
        distance[rows] = _distances(scores[rows], consensus[rows])
        nearest = _least(_distances(scores[rows], middle[rows]))
        with np.errstate(invalid="ignore"):
            unsupported[rows] = nearest > _row_mean(distance[rows])
    valid = ~np.isnan(scores).any(axis=2)
    influence = np.full((n_items, n_judges), np.nan)
    if exact:
        influence = np.where(valid, result.influence, np.nan)
    return PanelConsensus(
        method=method,
        consensus=consensus,
        n_valid=valid.sum(axis=1),
        status=result.status if exact else None,
        gap=result.gap if exact else None,
        coverage=valid.mean(axis=0),
        mean_distance=_column_mean(distance),
        mean_influence=_column_mean(influence) if exact else None,
        moved=_distances(plain[:, np.newaxis], consensus)[:, 0],
        unsupported=unsupported,
    )


def _distances(scores: NDArray[Any], point: NDArray[Any]) -> NDArray[np.float64]:
    """Distance of each judge's vector to a point of its query; NaN for a missing judge."""
    with np.errstate(over="ignore"):
        squares = np.square(scores - point[:, np.newaxis]).sum(axis=2)
    distance: NDArray[np.float64] = np.sqrt(squares)
    return distance


def _least(distance: NDArray[np.float64]) -> NDArray[np.float64]:
    least: NDArray[np.float64] = np.where(np.isnan(distance), np.inf, distance).min(axis=1)
    least[np.isinf(least)] = np.nan
    return least


def _row_mean(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return _column_mean(values.T)


def _column_mean(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean of each column over what is there; NaN for a column of nothing."""
    there = ~np.isnan(values)
    total = np.where(there, values, 0.0).sum(axis=0)
    count = there.sum(axis=0)
    mean_of: NDArray[np.float64] = np.full(total.shape, np.nan)
    np.divide(total, count, out=mean_of, where=count > 0)
    return mean_of


def consensus_columns(panel: Panel, result: PanelConsensus) -> dict[str, NDArray[Any]]:
    """The columns of the consensus table: item, attributes, n_valid, status and gap.

    A name that an attribute has already gets an underscore.
    """
    columns: dict[str, NDArray[Any]] = {}

    def add(name: str, column: NDArray[Any]) -> None:
        while name in panel.attributes:
            name += "_"
        columns[name] = column

    add("item", panel.items)
    for a, name in enumerate(panel.attributes):
        columns[name] = result.consensus[:, a]
    add("n_valid", result.n_valid)
    if result.status is not None and result.gap is not None:
        names = np.array([status.name.lower() for status in Status], dtype=object)
        add("status", names[result.status])
        add("gap", result.gap)
    return columns
