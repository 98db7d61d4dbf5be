"""Ray Data: one Arrow batch function under ``map_batches``."""

from __future__ import annotations

from typing import Any

from ropoll_core.tables import BatchSpec, aggregate_batch

__all__ = ["aggregate"]


def aggregate(dataset: Any, spec: BatchSpec, **options: Any) -> Any:
    """Aggregate a Ray dataset with one row a panel, lazily.

    Parameters
    ----------
    dataset : ray.data.Dataset
    spec : BatchSpec
        Where the scores lie, what to keep, and the method.
    **options
        Of ``Dataset.map_batches``, such as ``batch_size``.

    Returns
    -------
    ray.data.Dataset
        The kept columns, the attributes and, for the geometric median, n_valid, status, gap.

    Examples
    --------
    >>> from ropoll_core.engines import ray
    >>> result = ray.aggregate(dataset, spec)  # doctest: +SKIP
    """
    return dataset.map_batches(
        aggregate_batch, fn_kwargs={"spec": spec}, batch_format="pyarrow", **options
    )
