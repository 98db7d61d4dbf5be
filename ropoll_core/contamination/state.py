"""The state file of a sweep: what is done so far, for a run that was interrupted."""

from __future__ import annotations

import os
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["SweepState"]

# A killed run loses at most this much work, and writing costs next to nothing.
_SECONDS_BETWEEN_SAVES = 2.0


class SweepState:
    """Results by cell and which cells are done, kept in a file if there is a path.

    The file always holds a complete state: it is written beside the target, flushed to disk and
    renamed over it.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        fingerprint: str,
        arrays: dict[str, NDArray[Any]],
        shape: tuple[int, ...],
    ) -> None:
        self.path = None if path is None else Path(path)
        self.fingerprint = fingerprint
        self.arrays = arrays
        self.cells = np.zeros(shape, dtype=bool)
        self._saved_at = time.monotonic()
        if self.path is not None and self.path.exists():
            self._load(self.path)

    def _load(self, path: Path) -> None:
        try:
            # Opened here: numpy.load leaves a damaged file open.
            with path.open("rb") as file, np.load(file, allow_pickle=False) as members:
                stored = {name: members[name] for name in members.files}
            found = str(stored["fingerprint"])
        except (ValueError, KeyError, EOFError, zipfile.BadZipFile):
            raise ValueError(
                f"state must be a file that a sweep wrote, whole, or not exist; got {path}"
            ) from None
        if found != self.fingerprint:
            raise ValueError(
                f"state must belong to this sweep, but {path} was written by one with other "
                "data or options; delete it or name another"
            )
        self.cells = stored["cells"]
        for name in self.arrays:
            self.arrays[name][...] = stored[name]

    def finish(self, cell: tuple[int, ...], values: dict[str, NDArray[Any]]) -> None:
        """Note the results of one cell, and save if it is time."""
        for name, value in values.items():
            self.arrays[name][cell] = value
        self.cells[cell] = True
        if time.monotonic() - self._saved_at > _SECONDS_BETWEEN_SAVES:
            self.save()

    def copy(self, cell: tuple[int, ...], source: tuple[int, ...]) -> None:
        """Give a cell the results of another."""
        self.finish(cell, {name: array[source].copy() for name, array in self.arrays.items()})

    def save(self) -> None:
        """Write the file, if there is a path."""
        if self.path is None:
            return
        handle, name = tempfile.mkstemp(
            dir=self.path.parent, prefix=self.path.name, suffix=".partial"
        )
        try:
            with os.fdopen(handle, "wb") as file:
                arrays: dict[str, Any] = {"fingerprint": self.fingerprint, "cells": self.cells}
                np.savez(file, **(arrays | self.arrays))
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, self.path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        self._saved_at = time.monotonic()
