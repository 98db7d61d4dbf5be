"""What can be read, as SQL over named columns, and where its records lie in the original.

A `Source` knows three things: the columns it has (with an SQL expression for each), the FROM
clause that yields its records in their order, and the place ("line 7") of a record by its
number. The engine numbers records; only the original file knows lines.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ropoll_core.tables._errors import TableError
from ropoll_core.tables._session import Session, identifier, literal

__all__ = ["Column", "Source", "open_source"]

# What an SQL type is to this package. Anything else (lists, structs, blobs) is "other".
_INTEGERS = {
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "HUGEINT",
    "UTINYINT",
    "USMALLINT",
    "UINTEGER",
    "UBIGINT",
    "UHUGEINT",
}
_TEXT_LIKE = {"VARCHAR", "UUID", "DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE"}

DELIMITED = (".csv", ".tsv")
JSON = (".jsonl", ".ndjson", ".json")
PARQUET = (".parquet", ".pq")


@dataclass(frozen=True)
class Column:
    """A column: its name, the SQL for its value, and what kind of value that is.

    `kind` is "text", "json", "integer", "float", "decimal", "boolean", "mixed" or "other".
    Where `optional` is set, a record without the key is an SQL NULL and a null is not.
    """

    name: str
    sql: str
    kind: str
    optional: bool = False

    @property
    def text(self) -> str:
        """SQL for the value as text, exactly as written; NULL where there is none."""
        if self.kind == "json":
            # Parsing each value again would be half the time of a read; most need no parsing.
            plain = f"substring({self.raw}, 2, length({self.raw}) - 2)"
            return (
                f"(CASE WHEN NOT starts_with({self.raw}, '\"') THEN nullif({self.raw}, 'null') "
                f"WHEN contains({self.raw}, '\\') THEN json_extract_string({self.sql}, '$') "
                f"ELSE {plain} END)"
            )
        return self.sql if self.kind == "text" else f"CAST({self.sql} AS VARCHAR)"

    @property
    def raw(self) -> str:
        """SQL for a JSON value as written: a text in its quotes."""
        return f"CAST({self.sql} AS VARCHAR)"


class Source:
    """Records in order, with named columns. The base class serves typed tables."""

    def __init__(self, name: str, columns: Sequence[Column], relation: str) -> None:
        self.name = name
        self.columns = {column.name: column for column in columns}
        self.relation = relation

    def places(self, records: Sequence[int]) -> list[str]:
        """Where the records (numbered from 1) lie, for messages."""
        return [f"row {record}" for record in records]

    def explain(self, error: Exception) -> TableError:
        """What the engine's error means in the original."""
        return TableError(f"{self.name}: {str(error).splitlines()[0]}")


def open_source(
    table: Any, session: Session, *, delimiter: str | None, name: str = "table"
) -> Source:
    """A path, an Arrow table, a pandas or a polars frame as a `Source`."""
    if not isinstance(table, (str, os.PathLike)):
        if delimiter is not None:
            raise TypeError("delimiter is for delimited text files, not for tables in memory")
        return _open_frame(table, session, name)
    path = os.fspath(table)
    if not isinstance(path, str):
        raise TypeError(f"a path must be a str, got {type(path).__name__}")
    if not os.path.exists(path):
        raise FileNotFoundError(2, "no such file", path)
    if os.path.isdir(path):
        raise IsADirectoryError(21, "is a folder, not a file", path)
    if os.path.getsize(path) == 0:
        raise TableError(f"{path}: the file is empty")
    suffix = os.path.splitext(path)[1].lower()
    if delimiter is not None or suffix in DELIMITED:
        from ropoll_core.tables._delimited import open_delimited

        return open_delimited(path, session, delimiter or ("\t" if suffix == ".tsv" else ","))
    if suffix in JSON:
        from ropoll_core.tables._json import open_json

        return open_json(path, session)
    if suffix in PARQUET:
        return _open_parquet(path, session)
    raise TableError(
        f"{path}: cannot tell the format from the ending {suffix!r}; known are "
        f"{', '.join(DELIMITED + JSON + PARQUET)} (or give the delimiter of a text file)"
    )


def plain_path(path: str, session: Session) -> str:
    """`path`, or a link to it where its name would be taken for a pattern of names."""
    if not any(mark in path for mark in "*?[]{}"):
        return path
    link = os.path.join(session.folder, "input" + os.path.splitext(path)[1])
    os.symlink(os.path.abspath(path), link)
    return link


def _open_parquet(path: str, session: Session) -> Source:
    relation = f"read_parquet({literal(plain_path(path, session))}, hive_partitioning=false)"
    try:
        described = session.rows(f"DESCRIBE SELECT * FROM {relation}")
    except session.duckdb.Error as error:
        raise TableError(f"{path}: not a Parquet file ({str(error).splitlines()[0]})") from None
    return Source(path, [_typed_column(name, kind) for name, kind, *_ in described], relation)


def _open_frame(table: Any, session: Session, name: str) -> Source:
    module = type(table).__module__.split(".")[0]
    mixed: set[str] = set()
    if module == "pandas":
        mixed = _mixed_columns(table)
    elif not hasattr(table, "__arrow_c_stream__") and not hasattr(table, "__arrow_c_array__"):
        raise TypeError(
            "expected a path, an Arrow table, a pandas or a polars frame, "
            f"got {type(table).__name__}"
        )
    session.con.register("frame", table)
    described = session.rows("DESCRIBE SELECT * FROM frame")
    columns = [
        Column(label, identifier(label), "mixed") if label in mixed else _typed_column(label, kind)
        for label, kind, *_ in described
    ]
    return Source(name, columns, "frame")


def _mixed_columns(frame: Any) -> set[str]:
    """Columns of a pandas frame that hold more than one type of object.

    The engine would turn 7 and "7" into one text; they are two things to whoever wrote them.
    """
    from pandas.api.types import infer_dtype

    labels = list(frame.columns)
    if any(not isinstance(label, str) for label in labels):
        bad = next(label for label in labels if not isinstance(label, str))
        raise TypeError(f"column names must be strings, got {bad!r}")
    if len(set(labels)) != len(labels):
        bad = next(label for label in labels if labels.count(label) > 1)
        raise TableError(f"table: the column {bad!r} is there more than once")
    plain = {"string", "integer", "floating", "decimal", "boolean", "empty", "date", "datetime"}
    return {
        label
        for label in labels
        if frame[label].dtype == object and infer_dtype(frame[label], skipna=True) not in plain
    }


def _typed_column(name: str, sql_type: str) -> Column:
    sql = identifier(name)
    if sql_type in _INTEGERS:
        return Column(name, sql, "integer")
    if sql_type in ("FLOAT", "DOUBLE"):
        return Column(name, sql, "float")
    if sql_type.startswith("DECIMAL"):
        return Column(name, sql, "decimal")
    if sql_type == "BOOLEAN":
        return Column(name, sql, "boolean")
    if sql_type.startswith("ENUM"):
        return Column(name, f"CAST({sql} AS VARCHAR)", "text")
    if sql_type in _TEXT_LIKE:
        return Column(name, sql if sql_type == "VARCHAR" else f"CAST({sql} AS VARCHAR)", "text")
    return Column(name, sql, "other")
