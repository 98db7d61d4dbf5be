"""Thin adapters to engines that outgrow one machine; each imports its engine lazily.

`dask` takes arrays and frames, `xarray` labelled arrays, `torch` tensors; `spark` and `ray` map
`tables.aggregate_batch` over their Arrow batches. A panel's result depends on that panel alone,
so partitions change nothing.

The tests run each of these engines that is installed, and ``pytest -rP tests/engines`` prints its
version. Spark, Ray and PyTorch are too large for the extra ``test``: install each by its own.
"""
