"""Engines give what one call gives: Dask, xarray, and the batch function of Spark and Ray without
them. `test_spark`, `test_ray` and `test_torch` run those engines where they are installed."""

import importlib.util
import pickle

import dask.array
import dask.dataframe
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import xarray
from reference.batches import ATTRIBUTES, list_batch, panels

from ropoll_core import engines, scores, tables
from ropoll_core.engines import dask as dask_engine
from ropoll_core.engines import spark as spark_engine
from ropoll_core.engines import torch as torch_engine
from ropoll_core.engines import xarray as xarray_engine


def same(got, expected):
    pd.testing.assert_frame_equal(got.to_pandas(), expected.to_pandas(), check_exact=True)


LISTS = tables.BatchSpec("s", ATTRIBUTES, keep=["id"])


def test_batch_of_lists():
    values = panels()
    result = tables.aggregate_batch(list_batch(values), LISTS)
    expected = scores.geometric_median(values, full_output=True)
    assert isinstance(result, pa.RecordBatch)
    assert result.schema == tables.batch_schema(list_batch(values).schema, LISTS)
    got = np.stack([result.column(name).to_numpy() for name in ATTRIBUTES], axis=1)
    np.testing.assert_array_equal(got, expected.median)
    for name in ("n_valid", "status", "gap"):
        np.testing.assert_array_equal(result.column(name).to_numpy(), getattr(expected, name))
    assert result.column("id").to_pylist()[:2] == ["000", "001"]


@pytest.mark.parametrize("sizes", [(500,), (1, 499), (100,) * 5, (250, 0, 250)])
def test_any_split_into_batches_gives_the_same(sizes):
    batch = list_batch(panels())
    whole = tables.aggregate_batch(batch, LISTS)
    starts = np.cumsum((0, *sizes[:-1]))
    pieces = [batch.slice(start, size) for start, size in zip(starts, sizes, strict=True)]
    mapped = list(spark_engine.BatchMapper(LISTS)(iter(pieces)))
    same(pa.Table.from_batches(mapped), whole)


def test_batch_of_columns_and_types():
    table = pa.table(
        {
            "a_x": pa.array([1, 2], type=pa.int8()), "a_y": [1.5, None], "b_x": [3, 4],
            "b_y": pa.array([0.5, 1.0], type=pa.float32()), "c": [True, False], "d": ["p", "q"],
        }
    )  # fmt: skip
    spec = tables.BatchSpec([["a_x", "a_y"], ["b_x", "b_y"]], ["x", "y"], method="mean")
    result = tables.aggregate_batch(table, spec)
    assert isinstance(result, pa.Table)
    assert result.to_pydict() == {"x": [2.0, 4.0], "y": [1.0, 1.0]}
    spec = tables.BatchSpec([["a_x"], ["b_x"], ["c"]], ["x"], method="mean",
                            options={"weights": [1, 1, 2]})  # fmt: skip
    assert tables.aggregate_batch(table, spec).to_pydict() == {"x": [1.5, 1.5]}


def test_batches_that_are_not_as_the_spec_says():
    lists = pa.record_batch({"s": [[1.0, 2.0], [1.0], None]})
    spec = tables.BatchSpec("s", ["x"])
    with pytest.raises(ValueError, match=r"lists of one length.*row 1 has 1 values"):
        tables.aggregate_batch(lists, spec)
    with pytest.raises(ValueError, match="a multiple of 3"):
        tables.aggregate_batch(lists.slice(0, 1), tables.BatchSpec("s", ["x", "y", "z"]))
    with pytest.raises(ValueError, match="one column 't'"):
        tables.aggregate_batch(lists, tables.BatchSpec("t", ["x"]))
    with pytest.raises(TypeError, match="must hold lists"):
        tables.aggregate_batch(pa.record_batch({"s": [1.0]}), spec)
    with pytest.raises(TypeError, match="must hold numbers, got string"):
        tables.aggregate_batch(pa.record_batch({"s": ["4"]}), tables.BatchSpec([["s"]], ["x"]))
    with pytest.raises(TypeError, match=r"pyarrow.RecordBatch or pyarrow.Table, got dict"):
        tables.aggregate_batch({}, spec)
    with pytest.raises(ValueError, match="inf"):
        tables.aggregate_batch(pa.record_batch({"s": [[1.0, np.inf]]}), spec)
    result = tables.aggregate_batch(lists.slice(2, 1), spec)
    assert result.column("n_valid").to_pylist() == [0]


def tensors(values, permutation=None):
    flat = pa.array(np.ascontiguousarray(values).reshape(-1))
    lists = pa.FixedSizeListArray.from_arrays(flat, int(np.prod(values.shape[1:])))
    kind = pa.fixed_shape_tensor(pa.float64(), values.shape[1:], permutation=permutation)
    return pa.record_batch({"s": pa.ExtensionArray.from_storage(kind, lists)})


def test_batch_of_tensors():
    values, spec = panels(), tables.BatchSpec("s", ATTRIBUTES)
    batch = tensors(values)
    whole = tables.aggregate_batch(batch, spec)
    same(whole, tables.aggregate_batch(list_batch(values), spec))
    same(tables.aggregate_batch(batch.slice(9, 5), spec), whole.slice(9, 5))
    same(tables.aggregate_batch(pa.Table.from_batches([batch]), spec), whole)
    same(tables.aggregate_batch(tensors(values.reshape(500, 15)), spec), whole)
    for wrong in (tensors(values.transpose(0, 2, 1)), tensors(values.reshape(-1, 5, 1, 3)),
                  tensors(values, permutation=[1, 0])):  # fmt: skip
        with pytest.raises(ValueError, match=r"column 's' must hold tensors \(n_judges, 3\)"):
            tables.aggregate_batch(wrong, spec)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scores": [["a"], ["b", "c"]], "attributes": ["x"]}, "1 columns for each judge, got 2"),
        ({"scores": [["a"], ["a"]], "attributes": ["x"]}, "names 'a' twice"),
        ({"scores": "s", "attributes": ["x", "x"]}, "names 'x' twice"),
        ({"scores": "s", "attributes": ["x"], "keep": ["x"]}, "columns names 'x' twice"),
        ({"scores": "s", "attributes": ["gap"]}, "names 'gap' twice"),
        ({"scores": "s", "attributes": ["x"], "method": "average"}, "method must be one of"),
    ],
)
def test_specs_that_make_no_sense(options, message):
    with pytest.raises(ValueError, match=message):
        tables.BatchSpec(**options)


@pytest.mark.parametrize("name", ["out", "full_output"])
def test_options_that_no_engine_can_pass_on(name):
    values, message = panels(20), f"options must not hold '{name}'"
    lazy = dask.array.from_array(values)
    cube = xarray.DataArray(values, dims=("item", "judge", "attribute"))
    with pytest.raises(TypeError, match=message):
        dask_engine.aggregate(lazy, **{name: None})
    with pytest.raises(TypeError, match=message):
        xarray_engine.aggregate(cube, judge="judge", attribute="attribute", **{name: None})
    with pytest.raises(TypeError, match=message):
        tables.BatchSpec("s", ["x"], options={name: None})
    with pytest.raises(TypeError, match="options must not hold 'workers'"):
        tables.BatchSpec("s", ["x"], options={"workers": 2})


def test_specs_pickle():
    assert pickle.loads(pickle.dumps(LISTS)) == LISTS


@pytest.mark.parametrize("chunks", [(500, 5, 3), (128, 5, 3), (1, 2, 1), (499, 1, 3)])
@pytest.mark.parametrize("method", ["geometric_median", "mean"])
def test_dask_array(chunks, method):
    values = panels()
    lazy = dask_engine.aggregate(dask.array.from_array(values, chunks=chunks), method)
    assert lazy.shape == (500, 3)
    np.testing.assert_array_equal(
        lazy.compute(scheduler="threads"), scores.aggregate(values, method)
    )


def test_dask_array_of_more_axes_and_float32():
    values = panels().astype(np.float32).reshape(20, 25, 5, 3)
    lazy = dask_engine.aggregate(dask.array.from_array(values, chunks=(7, 6, 5, 3)))
    assert lazy.dtype == np.float32
    np.testing.assert_array_equal(lazy.compute(), scores.geometric_median(values))
    with pytest.raises(TypeError, match=r"dask.array.Array, got ndarray"):
        dask_engine.aggregate(values)


def test_dask_array_promises_the_type_that_comes():
    for dtype in (np.float16, np.float32, np.int8, np.float64):
        lazy = dask_engine.aggregate(dask.array.ones((6, 3, 2), chunks=(3, 3, 2), dtype=dtype))
        assert lazy.dtype == lazy.compute(scheduler="sync").dtype


def test_dask_frame():
    values = panels()
    names = [[f"{judge}_{name}" for name in ATTRIBUTES] for judge in "abcde"]
    frame = pd.DataFrame(values.reshape(500, -1), columns=[n for judge in names for n in judge])
    frame["id"] = [f"{i:03d}" for i in range(500)]
    spec = tables.BatchSpec(names, ATTRIBUTES, keep=["id"])
    lazy = dask_engine.aggregate_frame(dask.dataframe.from_pandas(frame, npartitions=4), spec)
    result = lazy.compute()
    assert dict(result.dtypes) == dict(lazy.dtypes)
    assert list(result.index) == list(range(500))
    assert list(result["id"]) == list(frame["id"])
    np.testing.assert_array_equal(
        result[list(ATTRIBUTES)].to_numpy(), scores.geometric_median(values)
    )


@pytest.mark.parametrize("lazy", [False, True])
def test_xarray(lazy):
    values = panels().reshape(20, 25, 5, 3)
    cube = xarray.DataArray(
        values.transpose(3, 0, 2, 1),
        dims=("band", "row", "date", "column"),
        coords={"band": list(ATTRIBUTES)},
        attrs={"units": "1"},
    )
    if lazy:
        cube = cube.chunk({"row": 7, "date": 2})
    result = xarray_engine.aggregate(cube, judge="date", attribute="band")
    assert result.dims == ("row", "column", "band")
    assert list(result.band.values) == list(ATTRIBUTES)
    assert result.attrs == {"units": "1"}
    np.testing.assert_array_equal(result.values, scores.geometric_median(values))
    with pytest.raises(ValueError, match="a dimension 'judge'"):
        xarray_engine.aggregate(cube, judge="judge", attribute="band")
    with pytest.raises(ValueError, match="two dimensions, got 'band' for both"):
        xarray_engine.aggregate(cube, judge="band", attribute="band")
    with pytest.raises(TypeError, match=r"an xarray.DataArray, got ndarray"):
        xarray_engine.aggregate(values, judge="date", attribute="band")


@pytest.mark.parametrize(
    ("module", "call", "extra"),
    [
        ("torch", lambda: torch_engine.aggregate(None), "torch"),
        ("pyspark", lambda: spark_engine.aggregate(None, LISTS), "spark"),
    ],
)
def test_engines_that_are_not_installed(module, call, extra):
    if importlib.util.find_spec(module) is not None:
        pytest.skip(f"{module} is installed")
    with pytest.raises(ImportError, match=rf"pip install 'ropoll-core\[{extra}\]'"):
        call()
    assert engines.__doc__
