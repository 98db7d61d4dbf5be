"""Answers of any type, and gold answers, to integer codes.

Equality is Python's: 7 and 7.0 are one answer, 7 and "7" are two. None, NaN and the NA of
pandas and Arrow are missing, and so is nothing else: the empty text is an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.options import as_plain_array
from ropoll_core._kernels import answer_codes

__all__ = ["AnswerCodes", "as_answer_codes", "as_gold_codes", "as_group_codes"]

Codes = NDArray[np.int32]


@dataclass(frozen=True)
class AnswerCodes:
    """Answers as codes: `values[value_codes[q, j]]` is what judge j said, -1 is missing.

    `codes` are the equivalence classes, 0 to n_classes - 1; the same array as `value_codes`
    where no `key` makes classes of answers.
    """

    codes: Codes
    n_classes: int
    value_codes: Codes
    values: list[Any]
    key: Callable[[Any], Any] | None
    class_of: Mapping[Any, int]
    classes_given: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        return self.codes.shape[0], self.codes.shape[1]


def as_answer_codes(answers: Any, key: Any = None, argument: str = "answers") -> AnswerCodes:
    """Code a table of answers (n_queries, n_judges), classes made by `key`.

    `key` is None, a callable that takes an answer to its class (None or NaN: missing), asked
    once for each distinct answer, or an integer array of the classes, negative for missing.
    """
    # Check arguments: answers
    value_codes, values = _encode_table(answers, argument)
    if value_codes.shape[1] == 0:
        raise ValueError(f"{argument} must have at least one judge, got shape {value_codes.shape}")
    # Check arguments: key
    if key is None:
        class_of = dict(zip(values, range(len(values)), strict=True))
        return AnswerCodes(value_codes, len(values), value_codes, values, None, class_of)
    if callable(key):
        to_class, class_of = _classes_by(key, values)
        codes = _take(to_class, value_codes)
        return AnswerCodes(codes, len(class_of), value_codes, values, key, class_of)
    codes, classes = _given_classes(key, value_codes.shape)
    codes[value_codes < 0] = -1
    class_of = dict(zip(classes, range(len(classes)), strict=True))
    return AnswerCodes(codes, len(classes), value_codes, values, None, class_of, True)


def as_gold_codes(gold: Any, answers: AnswerCodes, argument: str = "gold") -> Codes:
    """Gold answers (n_queries,) in the classes of `answers`; -1 missing, -2 never answered.

    Where the classes were given, gold is of them too, negative for missing.
    """
    codes, values = _encode_column(gold, argument)
    n_queries = answers.shape[0]
    if codes.shape != (n_queries,):
        raise ValueError(f"{argument} must have shape ({n_queries},), got {codes.shape}")
    canonical = values if answers.key is None else [_apply(answers.key, v) for v in values]
    if answers.classes_given:
        for code, value in enumerate(values):
            if not isinstance(value, int):
                raise TypeError(
                    f"{argument} must hold integers, classes as in the array key, got {value!r} "
                    f"at query {int((codes == code).argmax())}"
                )
        canonical = [value if value >= 0 else None for value in values]
    to_class = np.array(
        [-1 if _is_missing(c) else answers.class_of.get(c, -2) for c in canonical] or [-1],
        dtype=np.int32,
    )
    return _take(to_class, codes)


def _take(table: Codes, codes: Codes) -> Codes:
    """table[codes], with -1 staying -1."""
    return np.append(table, np.int32(-1))[codes]


# Equivalence classes


def _apply(key: Callable[[Any], Any], value: Any) -> Any:
    try:
        return key(value)
    except Exception as error:
        error.add_note(f"raised by key= for the answer {value!r}")
        raise


def _classes_by(key: Callable[[Any], Any], values: list[Any]) -> tuple[Codes, dict[Any, int]]:
    canonical = [_apply(key, value) for value in values]
    codes = np.empty(len(values), dtype=np.int32)
    try:
        classes = answer_codes.encode_objects(canonical, codes, _is_missing)
    except TypeError as error:
        if not (error.args and isinstance(error.args[0], int)):
            raise
        at = error.args[0]
        raise TypeError(
            f"key must return hashable values, got {type(canonical[at]).__name__} "
            f"for the answer {values[at]!r}"
        ) from None
    return codes, dict(zip(classes, range(len(classes)), strict=True))


def _given_classes(key: Any, shape: tuple[int, ...]) -> tuple[Codes, list[Any]]:
    array = as_plain_array(key, "key", fill="-1")
    if array.dtype.kind not in "iu":
        raise TypeError(
            "key must be a callable or an integer array of classes, "
            f"got {type(key).__name__} of dtype {array.dtype}"
        )
    if array.shape != shape:
        raise ValueError(f"key must have the shape of answers, {shape}, got {array.shape}")
    missing = (array < 0).reshape(-1)
    codes, values = _encode_fixed(array.reshape(-1), missing)
    return codes.reshape(shape), values


# Tables and columns


def _encode_table(answers: Any, argument: str) -> tuple[Codes, list[Any]]:
    columns = _columns(answers)
    if columns is not None:
        return _encode_columns(columns, argument)
    if isinstance(answers, np.ndarray):
        if answers.ndim != 2:
            raise ValueError(
                f"{argument} must have 2 axes (n_queries, n_judges), got shape {answers.shape}"
            )
        codes, values = _encode_array(answers, argument)
        return codes.reshape(answers.shape), values
    if isinstance(answers, Sequence) and not isinstance(answers, (str, bytes)):
        return _encode_rows(answers, argument)
    raise TypeError(
        f"{argument} must be a table of answers (n_queries, n_judges): an array, a list of rows, "
        f"a dict of columns, a data frame or an Arrow table; got {type(answers).__name__}"
    )


def _columns(answers: Any) -> list[Any] | None:
    """The columns of a mapping, pandas or polars frame or Arrow table; None for others."""
    if isinstance(answers, Mapping):
        return list(answers.values())
    if hasattr(answers, "iloc") and getattr(answers, "ndim", 0) == 2:
        return [answers.iloc[:, j] for j in range(answers.shape[1])]
    if hasattr(answers, "column_names") and hasattr(answers, "column"):
        return [answers.column(j) for j in range(answers.num_columns)]
    if hasattr(answers, "get_columns"):
        return list(answers.get_columns())
    return None


def _encode_columns(columns: list[Any], argument: str) -> tuple[Codes, list[Any]]:
    if not columns:
        return np.empty((0, 0), dtype=np.int32), []
    code_of: dict[Any, int] = {}
    coded = []
    for position, column in enumerate(columns):
        codes, values = _encode_column(column, f"{argument} (column {position})")
        merge = np.array([code_of.setdefault(v, len(code_of)) for v in values], dtype=np.int32)
        coded.append(_take(merge, codes))
        if codes.shape != coded[0].shape:
            raise ValueError(
                f"{argument} must have columns of one length, got {len(codes)} in column "
                f"{position} against {len(coded[0])} in column 0"
            )
    return np.ascontiguousarray(np.stack(coded, axis=1)), list(code_of)


def _encode_column(column: Any, argument: str) -> tuple[Codes, list[Any]]:
    """One column to codes; Arrow and pandas do their own in compiled code."""
    if hasattr(column, "dictionary_encode"):
        column = column.combine_chunks() if hasattr(column, "combine_chunks") else column
        encoded = column if hasattr(column, "indices") else column.dictionary_encode()
        indices = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        return _recode(indices, encoded.dictionary.to_pylist(), argument)
    if hasattr(column, "factorize"):
        indices, values = column.factorize()
        return _recode(indices, values.tolist(), argument)
    if isinstance(column, (str, bytes)):
        raise TypeError(f"{argument} must be a column of answers, got {type(column).__name__}")
    if hasattr(column, "to_list"):  # polars, whose integers with nulls would become floats
        column = column.to_list()
    if not isinstance(column, np.ndarray):
        column = list(column) if isinstance(column, Sequence) else np.asarray(column)
    if isinstance(column, list):
        return _encode_list(column, argument, None)
    if column.ndim != 1:
        raise ValueError(f"{argument} must have 1 axis (n_queries,), got shape {column.shape}")
    return _encode_array(column, argument)


def _recode(indices: Any, values: list[Any], argument: str) -> tuple[Codes, list[Any]]:
    """Codes from a dictionary that may hold duplicates, nulls or NaN."""
    to_code, distinct = _encode_list(values, argument, None)
    return _take(to_code, np.asarray(indices, dtype=np.int32)), distinct


def _encode_rows(rows: Sequence[Any], argument: str) -> tuple[Codes, list[Any]]:
    flat: list[Any] = []
    n_judges = None
    for query, row in enumerate(rows):
        if isinstance(row, (str, bytes)) or not isinstance(row, (Sequence, np.ndarray)):
            raise TypeError(
                f"{argument} must be rows of answers (n_queries, n_judges), "
                f"got {type(row).__name__} as row {query}"
            )
        n_judges = len(row) if n_judges is None else n_judges
        if len(row) != n_judges:
            raise ValueError(
                f"{argument} must have rows of one length, got {len(row)} answers in row "
                f"{query} against {n_judges} in row 0"
            )
        flat.extend(row.tolist() if isinstance(row, np.ndarray) else row)
    if n_judges is None:
        raise ValueError(
            f"{argument} has no rows, so no number of judges; use an array of shape (0, n_judges)"
        )
    codes, values = _encode_list(flat, argument, n_judges)
    return codes.reshape(len(rows), n_judges), values


# Flat arrays and lists


def _encode_array(array: NDArray[Any], argument: str) -> tuple[Codes, list[Any]]:
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError(f"{argument} must be a plain array: a masked array would lose its mask")
    flat = array.reshape(-1)
    kind = flat.dtype.kind
    if kind == "f" and flat.dtype.itemsize <= 8:
        # + 0.0 makes -0.0 the same bits as 0.0.
        return _encode_fixed(flat.astype(np.float64) + 0.0, np.isnan(flat))
    if kind in "biuU" and flat.dtype.itemsize:
        return _encode_fixed(flat, None)
    n_judges = array.shape[1] if array.ndim == 2 else None
    return _encode_list(flat.astype(object).tolist(), argument, n_judges)


def _encode_fixed(flat: NDArray[Any], missing: NDArray[np.bool_] | None) -> tuple[Codes, list[Any]]:
    """Codes of items that are equal exactly when their bits are."""
    wide = {"b": np.int64, "i": np.int64, "u": np.uint64}.get(flat.dtype.kind)
    records = flat if wide is None else flat.astype(wide, copy=False)
    records = np.ascontiguousarray(records, dtype=records.dtype.newbyteorder("="))
    words = records.view(np.uint32).reshape(flat.size, -1) if flat.size else None
    codes = np.zeros(flat.size, dtype=np.int32)
    if words is None:
        return codes, []
    if missing is not None:
        codes[missing] = -1
    first = np.empty(flat.size, dtype=np.int64)
    table = np.full(1 << 10, -1, dtype=np.int32)
    position, n_codes = answer_codes.encode_records(words, codes, first, table, 0, 0)
    while position < flat.size:
        table = np.full(table.size * 8, -1, dtype=np.int32)
        answer_codes.refill_table(words, first, table, n_codes)
        position, n_codes = answer_codes.encode_records(
            words, codes, first, table, n_codes, position
        )
    return codes, flat[first[:n_codes]].tolist()


def _encode_list(items: list[Any], argument: str, n_judges: int | None) -> tuple[Codes, list[Any]]:
    codes = np.empty(len(items), dtype=np.int32)
    try:
        return codes, answer_codes.encode_objects(items, codes, _is_missing)
    except TypeError as error:
        if not (error.args and isinstance(error.args[0], int)):
            raise
        at = error.args[0]
        where = (
            f"query {at}" if n_judges is None else f"query {at // n_judges}, judge {at % n_judges}"
        )
        raise TypeError(
            f"{argument} must be hashable (or give key= classes), "
            f"got {type(items[at]).__name__} at {where}"
        ) from None


def _is_missing(item: Any) -> bool:
    """None, NaN (the only value that differs from itself), NA and NaT."""
    if item is None or type(item).__name__ in {"NAType", "NaTType"}:
        return True
    if isinstance(item, (list, tuple, dict, set, np.ndarray)):
        return False
    return bool(item != item)


def as_group_codes(groups: Any, n_queries: int, argument: str) -> tuple[Codes, list[Any]]:
    """Group number of each query, and the names in order of first sight; none may be missing."""
    codes, names = _encode_column(groups, argument)
    if codes.shape != (n_queries,):
        raise ValueError(f"{argument} must have shape ({n_queries},), got {codes.shape}")
    if (codes < 0).any():
        raise ValueError(
            f"{argument} must name the group of every query, "
            f"missing at query {int((codes < 0).argmax())}"
        )
    return codes, names
