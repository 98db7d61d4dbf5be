"""Ray itself runs the adapter: what it gives is what one call gives, to the bit."""

import numpy as np
import pyarrow as pa
import pytest
from reference.batches import ATTRIBUTES, list_batch, panels

from ropoll_core import tables
from ropoll_core.engines import ray as ray_engine

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'ropoll-core[ray]'")
data = pytest.importorskip("ray.data", reason="Ray is installed without Ray Data")

# Ray leaves sockets and files of its own to the garbage collector, and warns of its future.
pytestmark = [
    pytest.mark.filterwarnings("default"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
LISTS = tables.BatchSpec("s", ATTRIBUTES, keep=["id"])


@pytest.fixture(scope="module", autouse=True)
def cluster():
    print(f"ray {ray.__version__}")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    yield
    ray.shutdown()


def table_of(dataset):
    return pa.concat_tables(ray.get(dataset.to_arrow_refs()))


@pytest.mark.parametrize("options", [{}, {"batch_size": 64}, {"batch_size": 1, "concurrency": 1}])
def test_lists(options):
    table = pa.Table.from_batches([list_batch(panels())])
    dataset = ray_engine.aggregate(data.from_arrow(table).repartition(4), LISTS, **options)
    got = table_of(dataset).sort_by("id")
    expected = tables.aggregate_batch(table, LISTS)
    assert got.schema == expected.schema
    assert got.to_pandas().equals(expected.to_pandas())


@pytest.mark.parametrize("shape", [(500, 5, 3), (500, 15)])
def test_arrays(shape):
    dataset = data.from_numpy(panels().reshape(shape))
    spec = tables.BatchSpec("data", ATTRIBUTES)
    got = table_of(ray_engine.aggregate(dataset, spec, batch_size=100))
    expected = tables.aggregate_batch(list_batch(panels()), tables.BatchSpec("s", ATTRIBUTES))
    assert got.num_rows == 500
    assert got.to_pandas().equals(expected.to_pandas())


def test_columns_and_another_method():
    values = panels(60)
    names = [[f"{judge}_{name}" for name in ATTRIBUTES] for judge in "abcde"]
    columns = values.reshape(60, -1).T
    table = pa.table({name: columns[i] for i, name in enumerate(n for j in names for n in j)})
    spec = tables.BatchSpec(names, ATTRIBUTES, method="mean", options={"weights": [1, 1, 1, 1, 2]})
    got = table_of(ray_engine.aggregate(data.from_arrow(table), spec, batch_size=7))
    assert got.to_pandas().equals(tables.aggregate_batch(table, spec).to_pandas())


def test_bad_scores_are_named():
    table = pa.table({"s": [[1.0, 2.0], [np.inf, 1.0]]})
    with pytest.raises(Exception, match=r"scores must be finite .*inf"):
        table_of(ray_engine.aggregate(data.from_arrow(table), tables.BatchSpec("s", ["x"])))
    with pytest.raises(Exception, match="must have one column 't'"):
        table_of(ray_engine.aggregate(data.from_arrow(table), tables.BatchSpec("t", ["x"])))
