"""Tables out: a file appears complete or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.options import as_plain_array
from ropoll_core.tables._session import Session, identifier, literal

__all__ = ["check_target", "complete_or_nothing", "write_table"]

_FORMATS = {
    ".csv": "FORMAT csv, HEADER true",
    ".tsv": "FORMAT csv, HEADER true, DELIMITER '\t'",
    ".jsonl": "FORMAT json",
    ".parquet": "FORMAT parquet",
}


@contextmanager
def complete_or_nothing(path: str | os.PathLike[str]) -> Iterator[str]:
    """A temporary name beside `path`, renamed to it once the block ends without an error.

    Parameters
    ----------
    path : path
        An existing file is replaced.

    Yields
    ------
    str
        The temporary name, with the ending of `path`.

    Raises
    ------
    OSError
        If nothing can be written there.

    Notes
    -----
    The data is on disk before the name changes; after an error, or Ctrl-C, nothing is left.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from ropoll_core.tables import complete_or_nothing
    >>> path = pathlib.Path(tempfile.mkdtemp(), "page.md")
    >>> with complete_or_nothing(path) as temporary:
    ...     _ = pathlib.Path(temporary).write_text("done", encoding="utf-8")
    >>> path.read_text()
    'done'
    """
    target = Path(path)
    if target.is_dir():  # else the temporary name would stand in the error
        raise IsADirectoryError(21, "is a folder, not a file", str(target))
    try:
        handle, temporary = tempfile.mkstemp(
            dir=target.parent, prefix=f".{target.name}.", suffix=target.suffix
        )
    except OSError as error:
        raise type(error)(
            error.errno, f"cannot be written ({error.strerror})", str(target)
        ) from None
    os.close(handle)
    try:
        yield temporary
        mask = os.umask(0)
        os.umask(mask)
        with open(temporary, "rb+") as file:
            os.fchmod(file.fileno(), 0o666 & ~mask)  # mkstemp makes private files
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def check_target(
    path: str | os.PathLike[str], source: str | os.PathLike[str] | None = None
) -> None:
    """Raise before any work is done if `path` cannot be written as a table.

    Parameters
    ----------
    path : path
        What `write_table` will be given.
    source : path, optional
        The file that is read: under any of its names it is never written over.

    Raises
    ------
    ValueError
        For an ending that is no format of tables.
    FileNotFoundError, IsADirectoryError
        If the folder is not there, or `path` is a folder.
    FileExistsError
        If `path` is `source`.

    Examples
    --------
    >>> from ropoll_core.tables import check_target
    >>> check_target("consensus.xlsx")
    Traceback (most recent call last):
        ...
    ValueError: cannot tell the format of 'consensus.xlsx' from its ending; known are .csv, .tsv, \
.jsonl, .parquet
    """
    target = Path(path)
    if target.suffix.lower() not in _FORMATS:
        raise ValueError(
            f"cannot tell the format of {str(target)!r} from its ending; known are "
            f"{', '.join(_FORMATS)}"
        )
    if not target.parent.is_dir():
        raise FileNotFoundError(2, "no such folder", str(target.parent))
    if target.is_dir():
        raise IsADirectoryError(21, "is a folder, not a file", str(target))
    there = target.exists() and source is not None and os.path.exists(source)
    if source is not None and there and os.path.samefile(target, source):
        raise FileExistsError(17, "is the input; write to another file", str(target))


def write_table(
    path: str | os.PathLike[str], columns: Mapping[str, Any], *, workers: int | None = None
) -> None:
    """Write columns of equal length as .csv, .tsv, .jsonl or .parquet.

    Parameters
    ----------
    path : path
        The ending decides the format. An existing file is replaced.
    columns : mapping of str to array of shape (n_rows,)
        Text (objects) and numbers. NaN becomes an empty cell or a null.
    workers : int or None
        Threads; see `default_workers`.

    Raises
    ------
    ValueError
        For an unknown ending, no columns, columns that differ in length or are not 1-D, or names
        that differ in the case of letters only (the engine would rename one).
    TypeError
        For what is no mapping of strings to columns of text or numbers.
    FileNotFoundError, OSError
        If the folder is not there or the file cannot be written.
    ImportError
        If the ``cli`` extra is not installed.

    Notes
    -----
    Written under a temporary name and renamed when complete: a failure leaves nothing behind.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from ropoll_core.tables import write_table
    >>> path = pathlib.Path(tempfile.mkdtemp(), "out.csv")
    >>> write_table(path, {"item": ["007", "NA"], "score": [1.5, float("nan")]})
    >>> path.read_text()
    'item,score\\n007,1.5\\nNA,\\n'
    """
    check_target(path)
    if not isinstance(columns, Mapping):
        raise TypeError(f"columns must map names to arrays, got {type(columns).__name__}")
    arrays = {name: _as_column(column, name) for name, column in columns.items()}
    sizes = {array.shape for array in arrays.values()}
    if len(sizes) != 1:
        raise ValueError(f"columns must be of one length, got shapes {sorted(sizes)}")
    known: dict[str, str] = {}
    for name in arrays:
        other = known.setdefault(name.lower(), name)
        if other != name:
            raise ValueError(
                f"names of columns must differ by more than case, got {other!r} and {name!r}"
            )
    with Session(workers) as session, complete_or_nothing(path) as temporary:
        session.con.register("output", {f"c{i}": array for i, array in enumerate(arrays.values())})
        chosen = ", ".join(
            f"{_value(f'c{i}', array)} AS {identifier(name)}"
            for i, (name, array) in enumerate(arrays.items())
        )
        options = _FORMATS[Path(path).suffix.lower()]
        try:
            session.run(
                lambda: session.execute(
                    f"COPY (SELECT {chosen} FROM output) TO {literal(temporary)} ({options})"
                )
            )
        except session.duckdb.InterruptException:
            raise KeyboardInterrupt from None
        except session.duckdb.IOException as error:
            raise OSError(f"{path}: {str(error).splitlines()[0]}") from None
        except session.duckdb.Error as error:  # a text that is no UTF-8
            raise ValueError(f"{path} cannot be written: {str(error).splitlines()[0]}") from None


def _as_column(column: Any, name: Any) -> NDArray[Any]:
    if not isinstance(name, str):
        raise TypeError(f"names of columns must be strings, got {name!r}")
    array = as_plain_array(column, f"column {name!r}", fill="numpy.nan")
    if array.ndim != 1:
        raise ValueError(f"column {name!r} must have one axis, got shape {array.shape}")
    if array.dtype.kind not in "biufOUS":
        raise TypeError(f"column {name!r} must hold text or numbers, got dtype {array.dtype}")
    if array.dtype.kind in "US":
        array = array.astype(object)
    return np.ascontiguousarray(array)


def _value(name: str, array: NDArray[Any]) -> str:
    return f"CASE WHEN isnan({name}) THEN NULL ELSE {name} END" if array.dtype.kind == "f" else name
