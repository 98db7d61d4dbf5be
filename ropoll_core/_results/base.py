"""What every result shares: a repr that fits on a screen."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

__all__ = ["Result"]

_SMALL = 12


class Result:
    """Base of the frozen result dataclasses: prints a field a line, large arrays by shape."""

    def __repr__(self) -> str:
        fields = [f for f in dataclasses.fields(self) if f.repr]  # type: ignore[arg-type]
        width = max((len(f.name) for f in fields), default=0)
        lines = [f"  {f.name:<{width}}  {_brief(getattr(self, f.name))}" for f in fields]
        return "\n".join([type(self).__name__, *lines])


def _brief(value: Any) -> str:
    if isinstance(value, np.ndarray):
        if value.size <= _SMALL:
            return np.array2string(value, precision=6, separator=", ").replace("\n", " ")
        return f"array of shape {value.shape}, {value.dtype}"
    if isinstance(value, float):
        return f"{value:.6g}"
    text = " ".join(repr(value).split())
    return text if len(text) <= 100 else text[:97] + "..."
