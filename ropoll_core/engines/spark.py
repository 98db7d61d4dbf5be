"""Spark: one Arrow batch function under ``mapInArrow``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ropoll_core.engines._lazy import needed
from ropoll_core.tables import BatchSpec, aggregate_batch, batch_schema

__all__ = ["BatchMapper", "aggregate"]


class BatchMapper:
    """What runs on the executors: an iterator of batches to an iterator of batches."""

    def __init__(self, spec: BatchSpec) -> None:
        self.spec = spec

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            yield aggregate_batch(batch, self.spec)


def aggregate(frame: Any, spec: BatchSpec) -> Any:
    """Aggregate a Spark frame with one row a panel, lazily.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
    spec : BatchSpec
        Where the scores lie, what to keep, and the method.

    Returns
    -------
    pyspark.sql.DataFrame
        The kept columns, the attributes and, for the geometric median, n_valid, status, gap.

    Raises
    ------
    ImportError
        If PySpark is not installed. (PySpark itself needs pandas and pyarrow for this.)

    Examples
    --------
    >>> from ropoll_core.engines import spark
    >>> result = spark.aggregate(frame, spec)  # doctest: +SKIP
    """
    types = needed("pyspark.sql.pandas.types", "spark")
    schema = batch_schema(types.to_arrow_schema(frame.schema), spec)
    return frame.mapInArrow(BatchMapper(spec), types.from_arrow_schema(schema))
