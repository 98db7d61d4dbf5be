"""Engines are imported when first used."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["needed"]


def needed(module: str, extra: str) -> Any:
    """The module, or an ImportError that says which extra has it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"this adapter needs the package {module!r}: pip install 'ropoll-core[{extra}]'",
            name=error.name,
        ) from error
