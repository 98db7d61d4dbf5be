"""User statistics compiled by Numba into C functions that the kernels call by address.

The user's function is inlined in a small wrapper of fixed signature; the loops around it are
compiled ahead of time, so that a new statistic costs the compilation of itself alone.
"""

from __future__ import annotations

import importlib
import sys
import weakref
from typing import Any, NoReturn

__all__ = ["Callback", "is_jit_function", "raise_again", "rows_callback", "totals_callback"]


class Callback:
    """A compiled C function; alive as long as this object is."""

    def __init__(self, compiled: Any):
        self._compiled = compiled
        self.address: int = compiled.address


# By number of axes of the argument, then by the user's function.
_compiled: dict[int, weakref.WeakKeyDictionary[Any, Callback]] = {
    1: weakref.WeakKeyDictionary(),
    2: weakref.WeakKeyDictionary(),
}


def is_jit_function(value: Any) -> bool:
    """Whether `value` came from ``numba.njit``; does not import Numba."""
    if "numba" not in sys.modules:
        return False
    from numba.core.registry import CPUDispatcher

    return isinstance(value, CPUDispatcher)


def totals_callback(function: Any) -> Callback:
    """C function (totals, n, failed) of a jitted ``f(totals)``."""
    return _callback(function, 1)


def rows_callback(function: Any) -> Callback:
    """C function (rows, n_rows, n_columns, failed) of a jitted ``f(rows)``."""
    return _callback(function, 2)


def _callback(function: Any, n_axes: int) -> Callback:
    found = _compiled[n_axes].get(function)
    if found is None:
        found = _compiled[n_axes][function] = Callback(_compile(function, n_axes))
    return found


def _compile(function: Any, n_axes: int) -> Any:
    numba: Any = importlib.import_module("numba")
    carray, types = numba.carray, numba.types
    pointer, flag = types.CPointer(types.float64), types.CPointer(types.int64)

    # An exception must not leave a C function: it becomes a flag, and is raised by the caller.
    def of_totals(totals, n, failed):  # type: ignore[no-untyped-def]
        try:
            return float(function(carray(totals, (n,))))
        except Exception:
            failed[0] = 1
            return float("nan")

    def of_rows(rows, n_rows, n_columns, failed):  # type: ignore[no-untyped-def]
        try:
            return float(function(carray(rows, (n_rows, n_columns))))
        except Exception:
            failed[0] = 1
            return float("nan")

    signature = types.float64(pointer, *[types.int64] * n_axes, flag)
    return numba.cfunc(signature)(of_totals if n_axes == 1 else of_rows)


def raise_again(function: Any, argument: Any) -> NoReturn:
    """Raise what a jitted function raised without the GIL, by calling it on the same argument."""
    function(argument)
    raise RuntimeError(f"{function.__name__} raised in a resample, but not when called again")
