"""Ballots, signals, labels, errors: small integers with a missing value; and judges' names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.options import as_plain_array
from ropoll_core._kernels import ballots as kernels

__all__ = [
    "as_ballots",
    "as_column",
    "as_judge_names",
    "as_query_counts",
    "as_vote_weights",
    "check_ballots",
    "raise_no_ballot",
]

_BLOCK = 1 << 18  # cells converted at a time, so that wide integers never need a second array
_LARGE = 1e280  # a weight above this is made smaller


def as_ballots(
    values: Any, argument: str = "votes", *, judges: tuple[str, ...] | None = None
) -> NDArray[np.int8]:
    """Coerce to (n_queries, n_judges) bytes 0, 1 and -1 (missing), C order.

    int8 in C order is taken as it is and **not read**: a kernel that reads it anyway reports a
    byte that is no ballot, see :func:`raise_no_ballot`; who calls none uses
    :func:`check_ballots`. bool likewise needs no reading. Other types are read here.
    """
    array = _to_bytes(_as_array(values, argument), argument)
    if array.ndim != 2:
        raise ValueError(
            f"{argument} must have 2 axes (n_queries, n_judges), got shape {array.shape}"
        )
    if array.shape[1] == 0:
        raise ValueError(f"{argument} must have at least one judge, got shape {array.shape}")
    if judges is not None and array.shape[1] != len(judges):
        wanted = f"(n_queries, {len(judges)}), a column for each of `judges`"
        hint = "; it looks transposed" if array.shape[0] == len(judges) else ""
        raise ValueError(f"{argument} must have shape {wanted}, got {array.shape}{hint}")
    return array


def as_column(values: Any, argument: str, n_queries: int) -> NDArray[np.int8]:
    """Coerce to (n_queries,) bytes 0, 1 and -1 (missing); int8 is not read, as above."""
    array = _to_bytes(_as_array(values, argument), argument)
    if array.shape != (n_queries,):
        raise ValueError(
            f"{argument} must have shape ({n_queries},), one value a query, got {array.shape}"
        )
    return array


def as_judge_names(judges: Any) -> tuple[str, ...] | None:
    """Distinct names, or None."""
    if judges is None:
        return None
    if isinstance(judges, str) or not isinstance(judges, (Sequence, np.ndarray)):
        raise TypeError(f"judges must be a sequence of strings, got {type(judges).__name__}")
    for position, name in enumerate(judges):
        if not isinstance(name, str):
            raise TypeError(f"judges must be strings, got {name!r} at index {position}")
        if name in judges[:position]:
            raise ValueError(f"judges must be distinct, got {name!r} again at index {position}")
    return tuple(str(name) for name in judges)


def as_vote_weights(weights: Any, n_queries: int, n_judges: int) -> NDArray[np.float64] | None:
    """Weights as (1 or n_queries, n_judges) float64; None stays None."""
    if weights is None:
        return None
    array = as_plain_array(weights, "weights")
    if array.dtype.kind not in "iubf":
        raise TypeError(f"weights must hold real numbers, got dtype {array.dtype}")
    if array.shape not in {(n_judges,), (n_queries, n_judges)}:
        raise ValueError(
            f"weights must have shape ({n_judges},) or {(n_queries, n_judges)}, got {array.shape}"
        )
    rows = np.ascontiguousarray(np.atleast_2d(array), dtype=np.float64)
    bad = ~(np.isfinite(rows) & (rows >= 0))
    if bad.any():
        place = tuple(int(i) for i in np.unravel_index(int(bad.argmax()), array.shape))
        raise ValueError(
            f"weights must be finite and not negative, got {array[place]} at index {place}"
        )
    empty = ~(rows > 0).any(axis=1)
    if empty.any():
        where = "" if array.ndim == 1 else f" of query {int(empty.argmax())}"
        raise ValueError(f"weights{where} must not all be zero")
    if rows.max(initial=0.0) > _LARGE:  # only ratios count, and sums must stay finite
        rows = np.where(rows.max(axis=1, keepdims=True) > _LARGE, rows * 2.0**-100, rows)
    return rows


def as_query_counts(counts: Any, n_queries: int) -> NDArray[np.int64] | None:
    """How often each row occurs, (n_queries,) int64; None stays None."""
    if counts is None:
        return None
    array = np.asarray(counts)
    if array.dtype.kind not in "iu":
        raise TypeError(f"counts must hold integers, got dtype {array.dtype}")
    if array.shape != (n_queries,):
        raise ValueError(f"counts must have shape ({n_queries},), got {array.shape}")
    if array.size and array.min() < 0:
        first = int(np.flatnonzero(array < 0)[0])
        raise ValueError(f"counts must not be negative, got {array[first]} at index {first}")
    return array.astype(np.int64, copy=False)


def check_ballots(array: NDArray[np.int8], argument: str) -> None:
    """Read everything, and raise for the first byte that is no ballot."""
    position = kernels.invalid_byte(array.reshape(-1))
    if position >= 0:
        _raise_value(array, position, argument, array.reshape(-1)[position])


def raise_no_ballot(**arrays: NDArray[np.int8]) -> None:
    """Raise for the first bad byte of these arguments; called once a kernel has met one."""
    for argument, array in arrays.items():
        check_ballots(array, argument)


def _as_array(values: Any, argument: str) -> NDArray[Any]:
    try:
        return as_plain_array(values, argument, fill="-1")
    except ValueError as error:  # ragged nested lists
        raise ValueError(f"{argument} must be a rectangular array of ballots: {error}") from None


def _to_bytes(array: NDArray[Any], argument: str) -> NDArray[np.int8]:
    kind = array.dtype.kind
    if kind == "b":
        return np.ascontiguousarray(array).view(np.int8)
    if array.dtype == np.int8:
        return np.ascontiguousarray(array)
    if kind not in "iufO":
        raise TypeError(f"{argument} must hold 0, 1 or missing, got dtype {array.dtype}")
    source = array.reshape(-1)
    result = np.empty(array.shape, dtype=np.int8)
    flat = result.reshape(-1)
    for start in range(0, source.size, _BLOCK):
        block = source[start : start + _BLOCK]
        if kind == "O":
            flat[start : start + _BLOCK] = [
                _from_object(item, array, start + i, argument) for i, item in enumerate(block)
            ]
            continue
        missing = np.isnan(block) if kind == "f" else block == -1 if kind == "i" else None
        good = (block == 0) | (block == 1)
        if missing is not None:
            good |= missing
        if not good.all():
            first = int(np.flatnonzero(~good)[0])
            _raise_value(array, start + first, argument, block[first])
        flat[start : start + _BLOCK] = block == 1
        if missing is not None:
            flat[start : start + _BLOCK][missing] = -1
    return result


def _from_object(item: Any, array: NDArray[Any], position: int, argument: str) -> int:
    if item is None or type(item).__name__ in {"NAType", "NaTType"}:
        return -1
    if isinstance(item, (bool, np.bool_)):
        return int(item)
    if not isinstance(item, (int, float, np.integer, np.floating)):
        index = tuple(int(i) for i in np.unravel_index(position, array.shape))
        raise TypeError(
            f"{argument} must hold 0, 1 or missing, "
            f"got {item!r} ({type(item).__name__}) at index {index}"
        )
    if item != item:
        return -1
    if item not in (0, 1):
        _raise_value(array, position, argument, item)
    return int(item)


def _raise_value(array: NDArray[Any], position: int, argument: str, value: Any) -> None:
    index = tuple(int(i) for i in np.unravel_index(position, array.shape))
    missing = {"f": "NaN", "O": "None", "u": "none in an unsigned type"}.get(array.dtype.kind, "-1")
    raise ValueError(
        f"{argument} must be 0, 1 or missing ({missing}), got {value} at index "
        f"{index if len(index) > 1 else index[0]}"
    )
