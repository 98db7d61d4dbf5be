"""A panel aggregated, and what a reader of the result should know about it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.options import as_choice, as_real, refuse_options
from ropoll_core._results.scores import GeometricMedian, Status
from ropoll_core._results.tables import LeftOut, Panel, PanelConsensus
from ropoll_core.scores import METHODS, aggregate, coordinatewise_median, mean
from ropoll_core.tables._panel import BLOCK
from ropoll_core.tables._scores import read_score_parts

__all__ = ["aggregate_panel", "aggregate_table", "consensus_columns"]


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
    weights : mapping of judge to weight, or array_like of shape (n_judges,), optional
        Where the method has weights. A judge that a mapping does not name has weight 1.
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
        As `scores.aggregate` does, and for the weight of a judge that is not there.

    Examples
    --------
    Three judges, each of whom saw another flaw. The coordinate-wise median is a 5/5/5 that
    nobody gave, farther from every judge than they are from the consensus on average:

    >>> import pyarrow
    >>> from ropoll_core.tables import aggregate_panel, read_scores
    >>> scores = {"x": [5, 5, 1], "y": [5, 1, 5], "z": [1, 5, 5]}
    >>> table = pyarrow.table({"item": ["q"] * 3, "judge": list("abc"), **scores})
    >>> result = aggregate_panel(read_scores(table))
    >>> result.consensus.round(2)
    array([[3.67, 3.67, 3.67]])
    >>> result.unsupported
    array([ True])
    """
    if not isinstance(panel, Panel):
        raise TypeError(f"panel must be what read_scores returns, got {type(panel).__name__}")
    return _joined([panel], method, weights, workers, options)


def aggregate_table(
    table: Any,
    *,
    method: str = "geometric_median",
    weights: Any = None,
    options: Mapping[str, Any] | None = None,
    workers: int | None = None,
    **read_options: Any,
) -> PanelConsensus:
    """Read a table of scores and aggregate it, in parts where it does not fit into memory.

    Parameters
    ----------
    table : path, Arrow table, pandas or polars frame
        As for `read_scores`.
    method, weights
        As for `aggregate_panel`.
    options : mapping, optional
        Further options of the method.
    workers : int or None
        Threads; see `default_workers`.
    **read_options
        Options of `read_score_parts`, ``max_bytes`` and ``on_bad`` among them.

    Returns
    -------
    PanelConsensus
        The same to the bit as `aggregate_panel` gives for the whole panel.

    Raises
    ------
    TableError, ImportError, FileNotFoundError, TypeError, ValueError
        As `read_scores` and `scores.aggregate` do.

    Notes
    -----
    Memory is one part and the result.

    Examples
    --------
    >>> import pyarrow
    >>> from ropoll_core.tables import aggregate_table
    >>> table = pyarrow.table({"item": ["p"] * 3, "judge": list("abc"), "score": [1, 2, 9]})
    >>> aggregate_table(table).consensus
    array([[2.]])
    """
    as_choice(method, "method", METHODS)  # before a long read
    refuse_options(options or {}, "weights", "workers")
    with closing(read_score_parts(table, workers=workers, **read_options)) as parts:
        return _joined(parts, method, weights, workers, options or {})


def consensus_columns(result: PanelConsensus) -> dict[str, NDArray[Any]]:
    """The columns of the consensus table: item, attributes, n_valid, status and gap.

    A name that an attribute has already, in any case of letters, gets an underscore.
    """
    if not isinstance(result, PanelConsensus):
        raise TypeError(f"result must be what aggregate_panel returns, got {type(result).__name__}")
    columns: dict[str, NDArray[Any]] = {}
    taken = {name.lower() for name in result.attributes}

    def add(name: str, column: NDArray[Any]) -> None:
        while name in taken:
            name += "_"
        columns[name] = column

    add("item", result.items)
    for a, name in enumerate(result.attributes):
        columns[name] = result.consensus[:, a]
    add("n_valid", result.n_valid)
    if result.status is not None and result.gap is not None:
        names = np.array([status.name.lower() for status in Status], dtype=object)
        add("status", names[result.status])
        add("gap", result.gap)
    return columns


@dataclass(frozen=True)
class _Part:
    """Some items of a panel, aggregated."""

    panel: Panel  # without its scores
    consensus: NDArray[Any]
    n_valid: NDArray[np.int64]
    status: NDArray[np.int8] | None
    gap: NDArray[np.float64] | None
    moved: NDArray[np.float64]
    unsupported: NDArray[np.bool_]
    sums: NDArray[np.float64]  # (n_blocks, 4, n_judges): valid, compared, distance, influence


def _joined(
    panels: Iterable[Panel],
    method: str,
    weights: Any,
    workers: int | None,
    options: Mapping[str, Any],
) -> PanelConsensus:
    """Aggregate part by part; sums over items are taken block by block, in order."""
    refuse_options(options, "out", "full_output")
    parts = [_aggregated(panel, method, weights, workers, options) for panel in panels]
    first = parts[0].panel
    sums = np.concatenate([part.sums for part in parts])
    valid, compared, distance, influence = np.add.reduce(sums, axis=0)
    n_valid = np.concatenate([part.n_valid for part in parts])
    exact = parts[0].status is not None
    with np.errstate(invalid="ignore"):  # 0/0 for a judge that is never valid
        mean_distance, mean_influence = distance / compared, influence / compared
    return PanelConsensus(
        method=method,
        items=np.concatenate([part.panel.items for part in parts]),
        judges=first.judges,
        attributes=first.attributes,
        consensus=np.concatenate([part.consensus for part in parts]),
        n_valid=n_valid,
        status=_concatenated([part.status for part in parts]),
        gap=_concatenated([part.gap for part in parts]),
        coverage=valid / len(n_valid),
        mean_distance=mean_distance,
        mean_influence=mean_influence if exact else None,
        moved=np.concatenate([part.moved for part in parts]),
        unsupported=np.concatenate([part.unsupported for part in parts]),
        n_rows=sum(part.panel.n_rows for part in parts),
        left_out=_added([part.panel.left_out for part in parts]),
        metadata=first.metadata,
        unused=first.unused,
    )


def _concatenated(arrays: Sequence[NDArray[Any] | None]) -> NDArray[Any] | None:
    there = [array for array in arrays if array is not None]
    return np.concatenate(there) if there else None


def _added(parts: Sequence[LeftOut]) -> LeftOut:
    counts = ("no_row", "empty", "declared", "bad", "off_scale", "rows")
    total = {name: sum(getattr(part, name) for part in parts) for name in counts}
    examples = next((part.examples for part in parts if part.examples), ())
    return LeftOut(**total, examples=examples)


def _aggregated(
    panel: Panel,
    method: str,
    weights: Any,
    workers: int | None,
    options: Mapping[str, Any],
) -> _Part:
    scores = panel.scores
    weighted = {} if weights is None else {"weights": _weights(panel, weights)}
    wanted = {**options, "full_output": True} if method == "geometric_median" else dict(options)
    result = aggregate(scores, method, workers=workers, **weighted, **wanted)
    exact = result if isinstance(result, GeometricMedian) else None
    consensus = np.asarray(result if exact is None else exact.median)
    plain = np.asarray(mean(scores, workers=workers, **weighted))
    middle = np.asarray(coordinatewise_median(scores, workers=workers, **weighted))
    n_items, n_judges, _ = scores.shape
    n_valid = np.empty(n_items, dtype=np.int64)
    unsupported = np.empty(n_items, dtype=np.bool_)
    sums = np.zeros((max(-(-n_items // BLOCK), 1), 4, n_judges))
    for block in range(-(-n_items // BLOCK)):
        rows = slice(block * BLOCK, (block + 1) * BLOCK)
        valid = ~np.isnan(scores[rows]).any(axis=2)
        n_valid[rows] = valid.sum(axis=1)
        distance = _distances(scores[rows], consensus[rows])
        compared = ~np.isnan(distance)
        distance[~compared] = 0
        sums[block, :3] = valid.sum(axis=0), compared.sum(axis=0), distance.sum(axis=0)
        if exact is not None:
            sums[block, 3] = np.where(compared, exact.influence[rows], 0).sum(axis=0)
        nearest = np.fmin.reduce(_distances(scores[rows], middle[rows]), axis=1)
        typical = distance.sum(axis=1) / np.maximum(compared.sum(axis=1), 1)
        unsupported[rows] = nearest > typical
    return _Part(
        panel=dataclasses.replace(panel, scores=scores[:0]),
        consensus=consensus,
        n_valid=n_valid,
        status=None if exact is None else exact.status,
        gap=None if exact is None else exact.gap,
        moved=_distances(plain[:, np.newaxis], consensus)[:, 0],
        unsupported=unsupported,
        sums=sums,
    )


def _weights(panel: Panel, weights: Any) -> Any:
    if not isinstance(weights, Mapping):
        return weights
    for name, weight in weights.items():
        if name not in panel.judges:
            raise ValueError(
                f"weights name the judge {name!r}; the judges are {', '.join(panel.judges[:20])}"
            )
        as_real(weight, f"weights of judge {name!r}", low=0)
    return np.array([weights.get(name, 1.0) for name in panel.judges], dtype=np.float64)


def _distances(scores: NDArray[Any], point: NDArray[Any]) -> NDArray[np.float64]:
    """Distance of each judge's vector to a point of its query; NaN for a missing judge."""
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.square(scores - point[:, np.newaxis]).sum(axis=2)
    distance: NDArray[np.float64] = np.sqrt(squares)
    return distance
