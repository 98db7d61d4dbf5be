"""Tables out: every format reads back as written, and a fault leaves nothing behind."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

from ropoll_core.tables import write_table

COLUMNS = {"item": ["007", 'x,"y'], 'we"ird': np.array([1.5, np.nan]), "n": np.array([1, 2])}


def test_each_format_holds_the_same(tmp_path):
    for ending in ("csv", "tsv", "jsonl", "parquet"):
        write_table(tmp_path / f"out.{ending}", COLUMNS)
    assert (tmp_path / "out.csv").read_text() == ('item,"we""ird",n\n007,1.5,1\n"x,""y",,2\n')
    assert (tmp_path / "out.tsv").read_text().splitlines()[1] == "007\t1.5\t1"
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert rows == pq.read_table(tmp_path / "out.parquet").to_pylist()
    assert rows[1] == {"item": 'x,"y', 'we"ird': None, "n": 2}


@pytest.mark.parametrize(
    ("name", "columns", "message"),
    [
        ("out.xls", COLUMNS, "cannot tell the format"),
        ("out.csv", {"a": [1, 2], "b": [1]}, "columns must be of one length"),
        ("out.csv", {"Quality": [1], "quality": [2]}, "must differ by more than case, got 'Qual"),
    ],
)
def test_a_fault_leaves_nothing_behind(tmp_path, name, columns, message):
    with pytest.raises(ValueError, match=message):
        write_table(tmp_path / name, columns)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("columns", "error", "message"),
    [
        ([1, 2], TypeError, "columns must map names to arrays, got list"),
        ({1: [2]}, TypeError, "names of columns must be strings, got 1"),
        ({"a": 3}, ValueError, r"column 'a' must have one axis, got shape \(\)"),
        ({"a": [[1, 2]]}, ValueError, r"column 'a' must have one axis, got shape \(1, 2\)"),
        ({"a": [[1], [2, 3]]}, ValueError, "column 'a' must be a rectangular array"),
        ({"a": [1j]}, TypeError, "column 'a' must hold text or numbers, got dtype complex128"),
        ({"a": np.ma.array([1], mask=[1])}, TypeError, "column 'a' must be a plain array"),
        ({"a": ["\ud800"]}, ValueError, "cannot be written: .*surrogate"),
    ],
)
def test_columns_that_are_none(tmp_path, columns, error, message):
    with pytest.raises(error, match=message):
        write_table(tmp_path / "out.csv", columns)
    assert list(tmp_path.iterdir()) == []
