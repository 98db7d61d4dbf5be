"""Scalar options: choices, counts, real numbers, flags."""

from __future__ import annotations

import math
import operator
from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["as_choice", "as_count", "as_flag", "as_plain_array", "as_real", "refuse_options"]


def as_plain_array(value: Any, argument: str, *, fill: str = "") -> NDArray[Any]:
    """An array as NumPy has it; a ragged one, or a masked one that would lose its mask, is refused.

    `fill` is what would stand for missing, where the argument may hold that.
    """
    if isinstance(value, np.ma.MaskedArray):
        remedy = f"; use .filled({fill})" if fill else ""
        raise TypeError(
            f"{argument} must be a plain array: a masked array would lose its mask{remedy}"
        )
    try:
        return np.asarray(value)
    except ValueError as error:  # ragged nested lists
        raise ValueError(f"{argument} must be a rectangular array: {error}") from None


def as_choice(value: Any, argument: str, choices: Collection[str]) -> str:
    """One of `choices`."""
    if not isinstance(value, str):
        raise TypeError(f"{argument} must be a string, got {type(value).__name__}")
    if value not in choices:
        raise ValueError(f"{argument} must be one of {', '.join(choices)}; got {value!r}")
    return value


def as_count(value: Any, argument: str, *, least: int = 1, most: int | None = None) -> int:
    """An integer from `least` to `most`."""
    if isinstance(value, bool):
        raise TypeError(f"{argument} must be an integer, got a bool ({value!r})")
    try:
        count = operator.index(value)
    except TypeError:
        raise TypeError(f"{argument} must be an integer, got {type(value).__name__}") from None
    if count < least or (most is not None and count > most):
        rule = f"at least {least}" if most is None else f"from {least} to {most}"
        raise ValueError(f"{argument} must be {rule}, got {count}")
    return count


def as_real(
    value: Any,
    argument: str,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    open_low: bool = False,
    open_high: bool = False,
) -> float:
    """A finite real number in [low, high], ends excluded where `open_*` says so."""
    if isinstance(value, (bool, str)) or value is None:
        raise TypeError(f"{argument} must be a real number, got {type(value).__name__}")
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{argument} must be a real number, got {type(value).__name__}") from None
    below = number <= low if open_low else number < low
    above = number >= high if open_high else number > high
    if not math.isfinite(number) or below or above:
        left, right = "(" if open_low else "[", ")" if open_high else "]"
        raise ValueError(
            f"{argument} must be a finite number in {left}{low:g}, {high:g}{right}, got {value!r}"
        )
    return number


def as_flag(value: Any, argument: str) -> bool:
    """True or False, nothing that merely is truthy."""
    if not isinstance(value, bool):
        raise TypeError(f"{argument} must be True or False, got {value!r}")
    return value


def refuse_options(options: Collection[str], *names: str) -> None:
    """Raise for options of a method that its caller decides: arguments of their own, outputs."""
    for name in names:
        if name in options:
            raise TypeError(f"options must not hold {name!r}, which is not theirs to decide here")
