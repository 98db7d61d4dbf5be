"""One panel's geometric median for compiled (`@njit`) code: the Cython kernel by its address."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from ropoll_core._kernels import geometric_median as kernel

__all__ = ["one_panel"]


def _function(name: str, result: Any, *arguments: Any) -> Any:
    """A C function that the kernel exports, callable from nopython code.

    Pointers are passed as integers (`array.ctypes.data`).
    """
    capsule = kernel.__pyx_capi__[name]
    get_name = ctypes.pythonapi.PyCapsule_GetName
    get_name.restype, get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype = ctypes.c_void_p
    get_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    address = get_pointer(capsule, get_name(capsule))
    return ctypes.CFUNCTYPE(result, *arguments)(address)


_scratch = _function(
    "geometric_median_scratch", ctypes.c_size_t, ctypes.c_ssize_t, ctypes.c_ssize_t
)
_one = _function(
    "geometric_median_one",
    ctypes.c_int,
    ctypes.c_size_t,
    ctypes.c_size_t,
    ctypes.c_ssize_t,
    ctypes.c_ssize_t,
    ctypes.c_size_t,
    ctypes.c_size_t,
)
_INFINITE = 5


def one_panel(weighted: bool) -> Callable[..., Any]:
    """What `geometric_median(scores, weights=...)` compiles to for one (n_judges,
    n_attributes) panel; with weights or without."""

    def solve(scores: Any, pointer: Any) -> Any:
        panel = np.ascontiguousarray(scores).astype(np.float64)
        n, d = panel.shape
        if n == 0 or d == 0:
            raise ValueError("scores must have at least one judge and one attribute")
        out = np.empty(d)
        scratch = np.empty(_scratch(n, d), dtype=np.uint8)
        status = _one(panel.ctypes.data, pointer, n, d, out.ctypes.data, scratch.ctypes.data)
        # Read after the call, so that neither is released before it.
        scratch[0] = 0
        panel[0, 0] = 0
        if status == _INFINITE:
            raise ValueError("scores must be finite or NaN (missing)")
        return out

    from numba import njit

    compiled = njit(solve)

    def plain(scores: Any, weights: Any = None) -> Any:
        return compiled(scores, 0)

    def with_weights(scores: Any, weights: Any = None) -> Any:
        own = weights.astype(np.float64)
        if own.shape[0] != scores.shape[0]:
            raise ValueError("weights must have one value a judge")
        for weight in own:
            if not 0 <= weight < np.inf:
                raise ValueError("weights must be finite and not negative")
        if own.max() == 0:
            raise ValueError("weights must not all be zero")
        out = compiled(scores, own.ctypes.data)
        own[0] = 0  # kept alive until here
        return out

    return with_weights if weighted else plain
