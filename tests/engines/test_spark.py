"""Spark itself runs the adapter: what it gives is what one call gives, to the bit."""

import shutil
import sys

import pandas as pd
import pyarrow as pa
import pytest
from reference.batches import ATTRIBUTES, list_batch, panels

from ropoll_core import tables
from ropoll_core.engines import spark as spark_engine

pyspark = pytest.importorskip(
    "pyspark", reason="PySpark is not installed: pip install 'ropoll-core[spark]'"
)
if shutil.which("java") is None:
    pytest.skip("Spark needs Java, which is not on the path", allow_module_level=True)

# Spark warns of its own future, and leaves sockets to the garbage collector.
pytestmark = [
    pytest.mark.filterwarnings("default"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
LISTS = tables.BatchSpec("s", ATTRIBUTES, keep=["id"])


@pytest.fixture(scope="module")
def session():
    from pyspark.sql import SparkSession

    print(f"pyspark {pyspark.__version__}")
    options = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "40",
    }
    builder = SparkSession.builder.master("local[2]")
    for name, value in options.items():
        builder = builder.config(name, value)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)  # else the executors take any python3
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()


def collected(frame):
    return pd.DataFrame([row.asDict() for row in frame.orderBy("id").collect()])


def list_frame(session):
    rows = [(row["id"], row["s"]) for row in list_batch(panels()).to_pylist()]
    return session.createDataFrame(rows, "id string, s array<double>").repartition(5)


def test_lists(session):
    result = spark_engine.aggregate(list_frame(session), LISTS)
    assert result.schema.simpleString() == (
        "struct<id:string,x:double,y:double,z:double,n_valid:bigint,status:tinyint,gap:double>"
    )
    expected = tables.aggregate_batch(list_batch(panels()), LISTS).to_pandas()
    pd.testing.assert_frame_equal(collected(result), expected, check_exact=True, check_dtype=False)


def test_columns_and_another_method(session):
    rows = [(i, i % 5, (7 * i) % 11 / 4, None if i % 9 == 0 else float(i % 3)) for i in range(200)]
    frame = session.createDataFrame(rows, "id bigint, a int, b float, c double").repartition(3)
    spec = tables.BatchSpec([["a"], ["b"], ["c"]], ["x"], keep=["id"], method="mean")
    got = collected(spark_engine.aggregate(frame, spec))
    columns = dict(zip("abc", list(zip(*rows, strict=True))[1:], strict=True))
    expected = tables.aggregate_batch(pa.table({"id": range(200), **columns}), spec).to_pandas()
    pd.testing.assert_frame_equal(got, expected, check_exact=True)


def test_nothing_in_and_panels_without_judges(session):
    frame = list_frame(session)
    assert spark_engine.aggregate(frame.filter("false"), LISTS).count() == 0
    nulls = session.createDataFrame([("p", None), ("q", None)], "id string, s array<double>")
    rows = spark_engine.aggregate(nulls, LISTS).collect()
    assert [row.n_valid for row in rows] == [0, 0]


def test_bad_scores_are_named(session):
    frame = session.createDataFrame([("p", [1.0, float("inf")])], "id string, s array<double>")
    with pytest.raises(Exception, match=r"scores must be finite .*inf"):
        spark_engine.aggregate(frame, tables.BatchSpec("s", ["x"])).collect()
    with pytest.raises(Exception, match="must have one column 't'"):
        spark_engine.aggregate(frame, tables.BatchSpec("t", ["x"])).collect()
