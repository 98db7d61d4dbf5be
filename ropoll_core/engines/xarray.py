"""xarray: labelled arrays, in memory or on Dask."""

from __future__ import annotations

from typing import Any

from ropoll_core._checks.options import refuse_options
from ropoll_core._checks.scores import float_dtype
from ropoll_core.engines._lazy import needed
from ropoll_core.scores import aggregate as aggregate_scores

__all__ = ["aggregate"]


def aggregate(
    scores: Any, method: str = "geometric_median", *, judge: str, attribute: str, **options: Any
) -> Any:
    """Aggregate a DataArray over its judge dimension.

    Parameters
    ----------
    scores : xarray.DataArray
        With the dimensions `judge` and `attribute` and any others; on Dask it stays lazy.
    method : str
        A method of `scores.aggregate`.
    judge, attribute : str
        Names of the two dimensions.
    **options
        Of the method, but for ``out`` and ``full_output``; arrays among them must apply to every
        panel alike.

    Returns
    -------
    xarray.DataArray
        Without the judge dimension; coordinates are kept.

    Raises
    ------
    ImportError
        If xarray is not installed.
    TypeError
        If `scores` is not a DataArray, or an option has no place here.
    ValueError
        If a dimension is not there, or both are one.

    Examples
    --------
    >>> import numpy, xarray
    >>> from ropoll_core.engines.xarray import aggregate
    >>> cube = xarray.DataArray(numpy.ones((13, 4, 4, 82)), dims=("band", "y", "x", "date"))
    >>> aggregate(cube, judge="date", attribute="band").dims
    ('y', 'x', 'band')
    """
    labelled = needed("xarray", "xarray")
    if not isinstance(scores, labelled.DataArray):
        raise TypeError(f"scores must be an xarray.DataArray, got {type(scores).__name__}")
    refuse_options(options, "out", "full_output")
    for name in (judge, attribute):
        if name not in scores.dims:
            raise ValueError(f"scores must have a dimension {name!r}, got {scores.dims}")
    if judge == attribute:
        raise ValueError(f"judge and attribute must be two dimensions, got {judge!r} for both")
    if scores.chunks is not None:
        scores = scores.chunk({judge: -1, attribute: -1})
    dtype = float_dtype(scores.dtype)
    return labelled.apply_ufunc(
        aggregate_scores,
        scores,
        kwargs={"method": method, **options},
        input_core_dims=[[judge, attribute]],
        output_core_dims=[[attribute]],
        dask="parallelized",
        output_dtypes=[dtype],
        keep_attrs=True,
    )
