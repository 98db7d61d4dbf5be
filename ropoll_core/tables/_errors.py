"""What a table that cannot be read says: the file, the place, the column and the value."""

from __future__ import annotations

__all__ = ["TableError"]


class TableError(ValueError):
    """A file or table does not hold what was asked of it.

    The message names the file, the line (or row), the column and the value of the first
    offenders, and how many there are.

    Attributes
    ----------
    hint : str
        The end of the message: which argument would help. The command line names its own options
        there.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        between = "\n" if "\n" in message else "; "
        super().__init__(message + between + hint if hint else message)
        self.hint = hint
