"""Lets a user's own `@njit` code call `geometric_median` on one panel."""

from __future__ import annotations

from typing import Any

from ropoll_core.scores._geometric_median import geometric_median

__all__ = ["register"]


def register() -> None:
    """Teach Numba the call; Numba's extension entry point runs this before it compiles."""
    from numba import types
    from numba.extending import overload

    from ropoll_core._jit.geometric_median import one_panel

    @overload(geometric_median)  # type: ignore[untyped-decorator, unused-ignore]
    def compile_call(scores: Any, weights: Any = None) -> Any:
        real = (types.Float, types.Integer)
        if not (isinstance(scores, types.Array) and scores.ndim == 2):
            return None
        if not isinstance(scores.dtype, real):
            return None
        if weights is None or isinstance(weights, (types.NoneType, types.Omitted)):
            return one_panel(weighted=False)
        if isinstance(weights, types.Array) and weights.ndim == 1:
            return one_panel(weighted=True)
        return None
