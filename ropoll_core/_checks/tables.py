"""Options of the table readers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from ropoll_core._checks.options import as_real

__all__ = ["NUMBER", "as_columns", "as_missing_values", "as_names", "as_scale", "as_where"]

# A number as text, nothing before or after: no blanks, digit groups, units or names.
NUMBER = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"


def as_scale(scale: Any) -> tuple[float, float] | None:
    """(lowest, highest) score allowed; None stays None."""
    if scale is None:
        return None
    if not isinstance(scale, (tuple, list)) or len(scale) != 2:
        raise TypeError(f"scale must be a pair (lowest, highest), got {scale!r}")
    low, high = as_real(scale[0], "scale[0]"), as_real(scale[1], "scale[1]")
    if not low < high:
        raise ValueError(f"scale must rise, got ({low:g}, {high:g})")
    return low, high


def as_missing_values(values: Any) -> tuple[list[str], list[float]]:
    """Cells that mean missing: texts, compared as written, and numbers, compared by value."""
    if isinstance(values, (str, int, float)) or not isinstance(values, Iterable):
        raise TypeError(f"missing_values must be a list of texts or numbers, got {values!r}")
    texts, numbers = [], []
    for value in values:
        if isinstance(value, str):
            texts.append(value)
            if re.fullmatch(NUMBER, value):
                numbers.append(float(value))
        elif isinstance(value, bool) or not isinstance(value, (int, float)):
            raise TypeError(f"missing_values must hold texts or numbers, got {value!r}")
        elif math.isfinite(value):
            numbers.append(float(value))
            texts.append(str(value))
    return texts, numbers


def as_names(names: Any, argument: str) -> tuple[str, ...] | None:
    """Distinct non-empty names in the order given; None stays None."""
    if names is None:
        return None
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise TypeError(f"{argument} must be a list of names, got {names!r}")
    result = tuple(names)
    for position, name in enumerate(result):
        if not isinstance(name, str):
            raise TypeError(f"{argument} must hold strings, got {name!r}")
        if name in result[:position]:
            raise ValueError(f"{argument} names {name!r} twice")
    if not result:
        raise ValueError(f"{argument} must not be empty")
    return result


def as_columns(**names: Any) -> dict[str, str | None]:
    """Argument -> the name of a column; None stays None."""
    for argument, name in names.items():
        if name is not None and not isinstance(name, str):
            raise TypeError(f"{argument} must be the name of a column, got {name!r}")
    return names


def as_where(where: Any) -> dict[str, str]:
    """Column -> the text its cells must be; None is no condition."""
    if where is None:
        return {}
    if not isinstance(where, Mapping):
        raise TypeError(f"where must map column names to texts, got {where!r}")
    for name, text in where.items():
        if not isinstance(name, str) or not isinstance(text, str):
            raise TypeError(f"where must map column names to texts, got {name!r}: {text!r}")
    return dict(where)
