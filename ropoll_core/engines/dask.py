"""Dask: arrays block by block, frames partition by partition.

Every function of this library may also be submitted to a cluster as it is. Dask has an argument
``workers`` of its own there (which machines may run it), so that of the library, its threads, goes
along in a `functools.partial`:

>>> import functools
>>> import ropoll_core
>>> two_threads = functools.partial(ropoll_core.geometric_median, workers=2)
>>> median = client.submit(two_threads, panels)  # doctest: +SKIP

`dask.delayed` and ``map_blocks`` pass ``workers=`` on.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ropoll_core._checks.options import refuse_options
from ropoll_core._checks.scores import float_dtype
from ropoll_core.engines._lazy import needed
from ropoll_core.scores import aggregate as aggregate_scores
from ropoll_core.tables import BatchSpec, aggregate_batch, batch_schema

__all__ = ["aggregate", "aggregate_frame"]


def aggregate(scores: Any, method: str = "geometric_median", **options: Any) -> Any:
    """Aggregate a Dask array of panels, lazily.

    Parameters
    ----------
    scores : dask.array.Array of shape (..., n_judges, n_attributes)
        Chunked over the leading axes; a panel that lies in several chunks is merged first.
    method : str
        A method of `scores.aggregate`.
    **options
        Of the method, but for ``out`` and ``full_output``; arrays among them must apply to every
        panel alike.

    Returns
    -------
    dask.array.Array of shape (..., n_attributes)

    Raises
    ------
    TypeError
        If `scores` is not a Dask array, or an option has no place here.
    ImportError
        If Dask is not installed.

    Examples
    --------
    >>> import dask.array
    >>> from ropoll_core.engines.dask import aggregate
    >>> panels = dask.array.ones((1000, 5, 4), chunks=(100, 5, 4))
    >>> aggregate(panels).shape
    (1000, 4)
    """
    array = needed("dask.array", "dask")
    refuse_options(options, "out", "full_output")
    if not isinstance(scores, array.Array):
        raise TypeError(f"scores must be a dask.array.Array, got {type(scores).__name__}")
    whole = scores.rechunk({scores.ndim - 2: -1, scores.ndim - 1: -1})
    dtype = float_dtype(scores.dtype)
    return whole.map_blocks(
        aggregate_scores,
        method,
        **options,
        drop_axis=scores.ndim - 2,
        dtype=dtype,
        meta=np.empty((0,) * (scores.ndim - 1), dtype=dtype),
    )


def aggregate_frame(frame: Any, spec: BatchSpec) -> Any:
    """Aggregate a Dask frame with one row a panel, lazily.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
    spec : BatchSpec
        Where the scores lie, what to keep, and the method.

    Returns
    -------
    dask.dataframe.DataFrame
        The kept columns, the attributes and, for the geometric median, n_valid, status, gap.

    Raises
    ------
    ImportError
        If Dask's frames or pyarrow are not installed.

    Examples
    --------
    >>> import pandas, dask.dataframe
    >>> from ropoll_core.engines.dask import aggregate_frame
    >>> from ropoll_core.tables import BatchSpec
    >>> panels = pandas.DataFrame({"id": ["p", "q"], "a": [1, 2], "b": [1, 4], "c": [9, 3]})
    >>> spec = BatchSpec(scores=[["a"], ["b"], ["c"]], attributes=["x"], keep=["id"])
    >>> frame = dask.dataframe.from_pandas(panels, npartitions=2)
    >>> aggregate_frame(frame, spec).compute().x.tolist()
    [1.0, 3.0]
    """
    needed("dask.dataframe", "dask")
    arrow = needed("pyarrow", "arrow")
    like = frame._meta
    schema = arrow.Schema.from_pandas(like, preserve_index=False)
    meta = batch_schema(schema, spec).empty_table().to_pandas()
    for name in spec.keep:
        meta[name] = meta[name].astype(like[name].dtype)
    return frame.map_partitions(_partition, spec, meta.dtypes, meta=meta)


def _partition(frame: Any, spec: BatchSpec, dtypes: Any) -> Any:
    arrow = needed("pyarrow", "arrow")
    table = arrow.Table.from_pandas(frame, preserve_index=False)
    result = aggregate_batch(table, spec).to_pandas().astype(dtypes)
    result.index = frame.index
    return result
