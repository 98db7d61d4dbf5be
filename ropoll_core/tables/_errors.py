"""What a table that cannot be read says: the file, the place, the column and the value."""

from __future__ import annotations

__all__ = ["TableError"]


class TableError(ValueError):
    """A file or table does not hold what was asked of it.

    The message names the file, the line (or row), the column and the value of the first
    offenders, and how many there are.
    """
