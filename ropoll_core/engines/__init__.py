"""Thin adapters to engines that outgrow one machine; each imports its engine lazily.

`dask` takes arrays and frames, `xarray` labelled arrays, `torch` tensors; `spark` and `ray` map
`tables.aggregate_batch` over their Arrow batches. A panel's result depends on that panel alone,
so partitions change nothing.
"""
