"""Panels in Arrow batches: one row a panel, in and out. What the engines' adapters call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.options import as_choice, refuse_options
from ropoll_core._checks.tables import as_names
from ropoll_core._results.scores import GeometricMedian
from ropoll_core.scores import METHODS, aggregate

__all__ = ["BatchSpec", "aggregate_batch", "batch_schema"]


def _arrow() -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError(
            "Arrow batches need the package 'pyarrow': pip install 'ropoll-core[arrow]'",
            name="pyarrow",
        ) from error
    return pyarrow


@dataclass(frozen=True)
class BatchSpec:
    """How panels lie in a batch and how they are aggregated. Plain data, so it pickles.

    Attributes
    ----------
    scores : str or tuple of tuple of str
        Either a column of lists, each with n_judges x n_attributes numbers, judge by judge, or of
        tensors (n_judges, n_attributes), as Ray makes of arrays; or for each judge the names of
        its columns, one an attribute.
    attributes : tuple of str
        Names of the attributes: the columns of the result.
    keep : tuple of str
        Columns to carry over, ids above all.
    method : str
        A method of `scores.aggregate`. The geometric median also gives n_valid, status and gap.
    options : mapping
        Further options of the method, weights among them, but for ``out``, ``full_output`` and
        ``workers``.

    Raises
    ------
    TypeError, ValueError
        For names that are not distinct strings, judges with differing numbers of columns, an
        unknown method, an option that has no place here.

    Examples
    --------
    >>> from ropoll_core.tables import BatchSpec
    >>> BatchSpec(scores=[["a_x", "a_y"], ["b_x", "b_y"]], attributes=["x", "y"]).n_judges
    2
    """

    scores: str | Sequence[Sequence[str]]
    attributes: Sequence[str]
    keep: Sequence[str] = ()
    method: str = "geometric_median"
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        attributes = as_names(self.attributes, "attributes") or ()
        object.__setattr__(self, "attributes", attributes)
        if self.keep:
            object.__setattr__(self, "keep", as_names(self.keep, "keep"))
        as_choice(self.method, "method", METHODS)
        if not isinstance(self.options, Mapping):
            raise TypeError(f"options must be a mapping, got {type(self.options).__name__}")
        refuse_options(self.options, "out", "full_output", "workers")
        if not isinstance(self.scores, (str, Sequence)):
            raise TypeError(
                "scores must be the name of a column or a list of names for each judge, got "
                f"{type(self.scores).__name__}"
            )
        if not isinstance(self.scores, str):
            judges = tuple(as_names(names, "scores") or () for names in self.scores)
            for j, names in enumerate(judges):
                if len(names) != len(attributes):
                    raise ValueError(
                        f"scores must name {len(attributes)} columns for each judge, got "
                        f"{len(names)} for judge {j}"
                    )
            as_names([name for names in judges for name in names], "scores")
            object.__setattr__(self, "scores", judges)
        extra = ("n_valid", "status", "gap") if self.exact else ()
        as_names([*self.keep, *attributes, *extra], "the result's columns")

    @property
    def exact(self) -> bool:
        """Whether the method certifies its result."""
        return self.method == "geometric_median"

    @property
    def n_judges(self) -> int | None:
        """Number of judges, None where the lists decide it."""
        return None if isinstance(self.scores, str) else len(self.scores)


def batch_schema(schema: Any, spec: BatchSpec) -> Any:
    """The Arrow schema that `aggregate_batch` gives for batches of `schema`.

    Parameters
    ----------
    schema : pyarrow.Schema
        Of the batches that will come in.
    spec : BatchSpec

    Returns
    -------
    pyarrow.Schema

    Raises
    ------
    ImportError
        If pyarrow is not installed.

    Examples
    --------
    >>> import pyarrow
    >>> from ropoll_core.tables import BatchSpec, batch_schema
    >>> schema = pyarrow.schema({"id": pyarrow.string(), "s": pyarrow.list_(pyarrow.float64())})
    >>> batch_schema(schema, BatchSpec("s", ["x"], keep=["id"], method="mean")).names
    ['id', 'x']
    """
    arrow = _arrow()
    fields = [schema.field(name) for name in spec.keep]
    fields += [arrow.field(name, arrow.float64()) for name in spec.attributes]
    if spec.exact:
        fields += [
            arrow.field("n_valid", arrow.int64()),
            arrow.field("status", arrow.int8()),
            arrow.field("gap", arrow.float64()),
        ]
    return arrow.schema(fields)


def aggregate_batch(batch: Any, spec: BatchSpec, *, workers: int | None = None) -> Any:
    """Aggregate the panels of an Arrow record batch or table, one row a panel.

    Parameters
    ----------
    batch : pyarrow.RecordBatch or pyarrow.Table
        Nulls and NaN are missing scores; a null list is a panel without judges.
    spec : BatchSpec
        Where the scores lie, what to keep, and the method.
    workers : int or None
        Threads; see `default_workers`. Engines run many batches at once, so 1 is right there.

    Returns
    -------
    pyarrow.RecordBatch or pyarrow.Table
        Like `batch`: the kept columns, the attributes as float64 (NaN for an all-missing
        panel) and, for the geometric median, n_valid, status and gap.

    Raises
    ------
    TypeError
        For anything but Arrow data, and for columns that are not numbers.
    ValueError
        For a column that is not there, lists of the wrong length, and whatever the method
        raises; infinite scores above all.
    ImportError
        If pyarrow is not installed.

    Notes
    -----
    A row's result depends on that row alone, so any split into batches gives the same.

    Examples
    --------
    >>> import pyarrow
    >>> from ropoll_core.tables import BatchSpec, aggregate_batch
    >>> batch = pyarrow.record_batch({"id": ["007"], "s": [[5, 5, 1, 5, 1, 5, 1, 5, 5]]})
    >>> result = aggregate_batch(batch, BatchSpec("s", ["x", "y", "z"], keep=["id"]))
    >>> result.column("x")[0].as_py()  # doctest: +ELLIPSIS
    3.666...
    """
    arrow = _arrow()
    if not isinstance(batch, (arrow.RecordBatch, arrow.Table)):
        raise TypeError(
            f"batch must be a pyarrow.RecordBatch or pyarrow.Table, got {type(batch).__name__}"
        )
    schema = batch_schema(batch.schema, spec)
    scores = _scores(batch, spec, arrow)
    options = dict(spec.options)
    if spec.exact:
        options["full_output"] = True
    result = aggregate(scores, spec.method, workers=workers, **options)
    columns = [batch.column(name) for name in spec.keep]
    if isinstance(result, GeometricMedian):
        values = [*result.median.T, result.n_valid, result.status, result.gap]
    else:
        values = [*np.asarray(result).T]
    kinds = schema.types[len(columns) :]
    columns += [
        arrow.array(np.ascontiguousarray(value), type=kind)
        for value, kind in zip(values, kinds, strict=True)
    ]
    return type(batch).from_arrays(columns, schema=schema)


def _scores(batch: Any, spec: BatchSpec, arrow: Any) -> NDArray[np.float64]:
    """The batch's panels as (n_rows, n_judges, n_attributes), NaN for nulls."""
    names = [spec.scores] if isinstance(spec.scores, str) else [n for j in spec.scores for n in j]
    for name in names:
        if batch.schema.names.count(name) != 1:
            raise ValueError(
                f"batch must have one column {name!r}, the columns are "
                f"{', '.join(map(repr, batch.schema.names))}"
            )
    n_attributes = len(spec.attributes)
    if isinstance(spec.scores, str):
        return _from_lists(batch, spec.scores, spec, arrow)
    dense = np.empty((batch.num_rows, len(spec.scores), n_attributes))
    for j, judge in enumerate(spec.scores):
        for a, name in enumerate(judge):
            dense[:, j, a] = _numbers(batch.column(name), name, arrow)
    return dense


def _from_lists(batch: Any, name: str, spec: BatchSpec, arrow: Any) -> NDArray[np.float64]:
    n_attributes = len(spec.attributes)
    column = batch.column(name)
    if isinstance(column, arrow.ChunkedArray):
        column = column.combine_chunks()
    if isinstance(column.type, arrow.BaseExtensionType):
        _check_tensors(column.type, name, n_attributes)
        column = column.storage
    if not (
        arrow.types.is_list(column.type)
        or arrow.types.is_large_list(column.type)
        or arrow.types.is_fixed_size_list(column.type)
    ):
        raise TypeError(f"column {name!r} must hold lists, got {column.type}")
    there = np.asarray(column.is_valid())
    values = _numbers(column.flatten(), name, arrow)  # of the lists that are there
    lengths = np.asarray(arrow.compute.list_value_length(column.drop_null()))
    if not lengths.size:  # how many judges there are does not matter where all are missing
        lengths = np.array([n_attributes * len(spec.options.get("weights", (1,)))])
    n_cells = lengths[0]
    odd = np.flatnonzero((lengths != n_cells) | (lengths % n_attributes != 0) | (lengths == 0))
    if odd.size:
        row = int(np.flatnonzero(there)[odd[0]])
        raise ValueError(
            f"column {name!r} must hold lists of one length, a multiple of {n_attributes} "
            f"(the attributes); row {row} has {lengths[odd[0]]} values"
        )
    n_judges = int(n_cells) // n_attributes
    dense = np.full((batch.num_rows, n_judges, n_attributes), np.nan)
    dense[there] = values.reshape(-1, n_judges, n_attributes)
    return dense


def _check_tensors(kind: Any, name: str, n_attributes: int) -> None:
    """Raise unless the lists beneath an extension type are panels, judge by judge."""
    shape = tuple(getattr(kind, "shape", None) or ())
    plain = len(shape) < 2  # a list, whose length is checked as such
    panel = len(shape) == 2 and shape[1] == n_attributes
    if getattr(kind, "permutation", None) or not (plain or panel):
        raise ValueError(
            f"column {name!r} must hold tensors (n_judges, {n_attributes}) in row order, got {kind}"
        )


def _numbers(column: Any, name: str, arrow: Any) -> NDArray[np.float64]:
    if isinstance(column, arrow.ChunkedArray):
        column = column.combine_chunks()
    kind = column.type
    if not (
        arrow.types.is_integer(kind)
        or arrow.types.is_floating(kind)
        or arrow.types.is_null(kind)
        or arrow.types.is_boolean(kind)
    ):
        raise TypeError(f"column {name!r} must hold numbers, got {kind}")
    if arrow.types.is_boolean(kind):
        column = column.cast(arrow.int8())
    # a checked cast: an integer that no double holds is an error
    numbers = column.cast(arrow.float64())
    return np.asarray(numbers.to_numpy(zero_copy_only=False), dtype=np.float64)
