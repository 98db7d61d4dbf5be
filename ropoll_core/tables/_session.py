"""One DuckDB connection for the length of a read: SQL text, Ctrl-C, and columns out as NumPy.

The engine is embedded and optional: it is imported on first use, and a missing one is an
ImportError that names the extra. Columns leave over the Arrow C stream, a batch at a time, so
memory does not grow with the number of rows.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ropoll_core._parallel import resolve_workers, run_interruptible

__all__ = ["Session", "identifier", "literal"]

T = TypeVar("T")


def identifier(name: str) -> str:
    """A column name as SQL, whatever it contains."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as an SQL constant."""
    return "'" + text.replace("'", "''") + "'"


def _engine() -> tuple[Any, Any]:
    try:
        import duckdb
        import nanoarrow
    except ImportError as error:
        raise ImportError(
            f"reading tables needs the package {error.name!r}: pip install 'ropoll-core[cli]'",
            name=error.name,
        ) from error
    return duckdb, nanoarrow


class Session:
    """A private in-memory database with a scratch folder, both gone at the end of the block."""

    def __init__(self, workers: int | None = None) -> None:
        threads = resolve_workers(workers)
        self.duckdb, self._nanoarrow = _engine()
        self._folder = tempfile.TemporaryDirectory(prefix="ropoll-")
        self.folder = self._folder.name
        self._cancelled = False
        self.con = self.duckdb.connect(
            ":memory:",
            config={
                "threads": threads,
                "temp_directory": self.folder,
                "preserve_insertion_order": True,
                "autoinstall_known_extensions": False,
                "autoload_known_extensions": False,
            },
        )
        # After two seconds it would draw a bar on stdout, terminal or not.
        self.execute("SET enable_progress_bar_print = false")
        # The engine guesses a text file at some forty rows and would build its hash tables
        # from the file; joins are written with the small side on the right.
        self.execute("SET disabled_optimizers = 'join_order,build_side_probe_side'")

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.con.close()
        self._folder.cleanup()

    def run(self, task: Callable[[], T]) -> T:
        """Run `task` so that Ctrl-C stops the statement it is in."""
        return run_interruptible(task, self._interrupt)

    def _interrupt(self) -> None:
        self._cancelled = True
        self.con.interrupt()

    def execute(self, sql: str) -> None:
        self.con.execute(sql).fetchall()

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Every row of a small result."""
        return self.con.execute(sql).fetchall()  # type: ignore[no-any-return]

    def texts(self, sql: str) -> NDArray[np.object_]:
        """The single text column of a result, in its order."""
        columns = self.con.sql(sql).fetchnumpy()
        (column,) = columns.values()
        return np.asarray(column, dtype=object)

    def batches(self, sql: str) -> Iterator[list[NDArray[Any]]]:
        """The columns of a result, a batch at a time. Fixed width and never null."""
        relation = self.con.sql(sql)
        for batch in self._nanoarrow.c_array_stream(relation):
            if self._cancelled:
                raise KeyboardInterrupt
            view = batch.view()
            yield [
                np.asarray(child.buffer(1))[child.offset : child.offset + child.length]
                for child in view.children
            ]
