"""Task keys and per-row moments."""

from __future__ import annotations

import numbers
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.options import as_plain_array

__all__ = ["as_moments", "as_returned", "as_rows", "as_statistics", "as_strata", "as_tasks"]

_MISSING_TYPES = {"NAType", "NaTType"}
_LISTED = 5


def _has_columns(data: Any) -> bool:
    """A mapping or a data frame; a pandas Series has keys too, of its rows."""
    return hasattr(data, "keys") and getattr(data, "ndim", 2) != 1


def _as_columns(data: Any) -> tuple[list[Hashable], list[NDArray[Any]]]:
    """Names and columns of a table: an array (names 0, 1, ...) or a mapping to 1-D arrays."""
    if _has_columns(data):
        names = list(data)
        columns = [as_plain_array(data[name], "data") for name in names]
        if not names:
            raise ValueError("data must have at least one column")
    else:
        array = as_plain_array(data, "data")
        if array.ndim not in (1, 2):
            raise ValueError(
                "data must have shape (n_rows,) or (n_rows, n_moments), or map names to columns; "
                f"got shape {array.shape}"
            )
        array = array[:, None] if array.ndim == 1 else array
        names = list(range(array.shape[1]))
        columns = [array[:, i] for i in names]
    for name, column in zip(names, columns, strict=True):
        if column.ndim != 1:
            raise ValueError(f"column {name!r} of data must have one axis, got {column.shape}")
        if column.shape != columns[0].shape:
            raise ValueError(
                f"columns of data must have one length: column {names[0]!r} has "
                f"{columns[0].size} rows, column {name!r} has {column.size}"
            )
    if not columns or columns[0].size == 0:
        raise ValueError("data must have at least one row and one column")
    return names, columns


def as_rows(data: Any) -> tuple[NDArray[Any] | dict[Hashable, NDArray[Any]], int]:
    """Data to be indexed by row, and its number of rows: an array, or arrays by name."""
    if _has_columns(data):
        arrays = {name: as_plain_array(data[name], "data") for name in data}
        if not arrays:
            raise ValueError("data must have at least one column")
    else:
        arrays = {"data": as_plain_array(data, "data")}
    first = next(iter(arrays))
    for name, array in arrays.items():
        if array.ndim == 0:
            raise ValueError(f"{name} must have at least one axis, the rows")
        if array.shape[0] != arrays[first].shape[0]:
            raise ValueError(
                f"columns of data must have one length: column {first!r} has "
                f"{arrays[first].shape[0]} rows, column {name!r} has {array.shape[0]}"
            )
    n_rows = arrays[first].shape[0]
    if n_rows == 0:
        raise ValueError("data must have at least one row")
    return (arrays if _has_columns(data) else arrays["data"]), n_rows


def as_moments(data: Any) -> tuple[list[Hashable], NDArray[Any]]:
    """Names and moments (n_rows, n_moments): int64 where every column is whole, else float64."""
    names, columns = _as_columns(data)
    whole = True
    for name, column in zip(names, columns, strict=True):
        if column.dtype.kind not in "iubf":
            raise TypeError(f"column {name!r} of data must hold numbers, got dtype {column.dtype}")
        if column.dtype.kind == "f":
            bad = ~np.isfinite(column)
            if bad.any():
                row = int(bad.argmax())
                raise ValueError(
                    f"data must be finite, got {column[row]} at row {row}, column {name!r}"
                )
            whole = whole and bool(np.all(column == np.rint(column)))
            whole = whole and bool(np.all(np.abs(column) < 2.0**53))
        elif column.dtype == np.uint64 and column.max() > np.iinfo(np.int64).max:
            raise ValueError(f"column {name!r} of data must be below 2^63, got {column.max()}")
    if not _has_columns(data):
        moments = np.asarray(data).reshape(columns[0].size, len(names))
    else:
        moments = np.stack(columns, axis=1)
    return names, moments.astype(np.int64 if whole else np.float64, copy=False)


def as_returned(value: Any, kind: str) -> NDArray[np.float64]:
    """What a statistic of the user returned: real numbers. None is not a missing one."""
    array = as_plain_array(value, f"what a statistic of {kind} returns")
    real = array.dtype.kind in "biuf"
    if array.dtype.kind == "O":
        real = all(isinstance(one, numbers.Real) for one in array.flat)
    if not real:
        got = type(value).__name__ if array.ndim == 0 else f"an array of dtype {array.dtype}"
        raise TypeError(
            f"a statistic of {kind} must return real numbers (NaN where it is undefined), got {got}"
        )
    return array.astype(np.float64, copy=False)


def as_tasks(
    tasks: Any, n_rows: int, *, argument: str = "tasks"
) -> tuple[NDArray[np.int64] | None, int]:
    """Task number of each row, and how many tasks; None where every row is its own task.

    `argument` is what messages call the keys.

    Tasks are numbered in the sorted order of their keys (numbers by value, strings by code
    point); keys that cannot be sorted, in the order of their first row.
    """
    if tasks is None:
        return None, n_rows
    keys = _as_keys(tasks, argument)
    if keys.shape[0] != n_rows:
        raise ValueError(f"{argument} must have one key a row: {n_rows} rows, {keys.shape[0]} keys")
    _check_missing(keys, argument)
    if keys.dtype.kind == "O":
        codes, n_tasks = _number_objects(keys, argument)
    else:
        _, inverse = np.unique(keys, return_inverse=True)
        codes, n_tasks = inverse.reshape(-1), int(inverse.max(initial=-1)) + 1
    return codes.astype(np.int64, copy=False), n_tasks


def as_strata(
    strata: Any, codes: NDArray[np.int64] | None, n_rows: int, n_tasks: int
) -> NDArray[np.int64] | None:
    """Stratum number of each task; None for a single stratum."""
    if strata is None:
        return None
    numbers, _ = as_tasks(strata, n_rows, argument="strata")
    assert numbers is not None
    if codes is None:
        return numbers
    of_task = np.empty(n_tasks, dtype=np.int64)
    of_task[codes] = numbers
    strays = of_task[codes] != numbers
    if strays.any():
        row = int(strays.argmax())
        raise ValueError(
            f"a task must lie in one stratum: row {row} has another than other rows of its task"
        )
    return of_task


def _as_keys(tasks: Any, argument: str) -> NDArray[Any]:
    """One-dimensional array of keys; tuples and mixed types stay objects."""
    if isinstance(tasks, (list, tuple)):
        if all(isinstance(key, str) for key in tasks):
            return np.asarray(tasks)
        keys = np.empty(len(tasks), dtype=object)
        keys[:] = [key.item() if isinstance(key, np.generic) else key for key in tasks]
        return keys
    keys = as_plain_array(tasks, argument)
    if keys.ndim != 1:
        raise ValueError(f"{argument} must have shape (n_rows,), got {keys.shape}")
    return keys


def _is_missing(key: Any) -> bool:
    if key is None or type(key).__name__ in _MISSING_TYPES:
        return True
    if isinstance(key, (float, np.floating)):
        return bool(key != key)
    return isinstance(key, (str, bytes)) and len(key) == 0


def _check_missing(keys: NDArray[Any], argument: str) -> None:
    kind = keys.dtype.kind
    if kind == "f":
        missing = np.isnan(keys)
    elif kind in "mM":
        missing = np.isnat(keys)
    elif kind in "US":
        missing = keys == keys.dtype.type("")
    elif kind == "O":
        missing = np.fromiter((_is_missing(k) for k in keys.tolist()), dtype=bool, count=keys.size)
    else:
        return
    if missing.any():
        rows = np.flatnonzero(missing)
        listed = ", ".join(str(int(row)) for row in rows[:_LISTED])
        more = f" and {rows.size - _LISTED} more" if rows.size > _LISTED else ""
        raise ValueError(
            f"{argument} must have a key for every row; missing or empty at row {listed}{more}"
        )


def _number_objects(keys: NDArray[Any], argument: str) -> tuple[NDArray[np.int64], int]:
    numbers: dict[Hashable, int] = {}
    listed = keys.tolist()
    try:
        codes = np.array([numbers.setdefault(key, len(numbers)) for key in listed], dtype=np.int64)
    except TypeError as error:
        raise TypeError(f"{argument} must be hashable: {error}") from None
    try:
        ordered = sorted(numbers)  # type: ignore[type-var]
    except TypeError:
        return codes, len(numbers)
    rank = np.empty(len(numbers), dtype=np.int64)
    rank[[numbers[key] for key in ordered]] = np.arange(len(numbers))
    return rank[codes], len(numbers)


def as_statistics(statistic: Any, single: Any) -> tuple[list[Any], Any]:
    """Statistics in a list, and a function that gives results the form of the argument.

    `single` coerces one statistic and raises for what is none.
    """
    if isinstance(statistic, Mapping):
        names = list(statistic)
        if not names:
            raise ValueError("statistic must not be an empty mapping")
        return [single(statistic[name]) for name in names], lambda results: dict(
            zip(names, results, strict=True)
        )
    if isinstance(statistic, (list, tuple)):
        if not statistic:
            raise ValueError("statistic must not be an empty sequence")
        return [single(item) for item in statistic], list
    return [single(statistic)], lambda results: results[0]
