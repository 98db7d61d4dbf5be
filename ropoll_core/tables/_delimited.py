"""Delimited text (CSV, TSV): checked as bytes, parsed by DuckDB, located by Python's csv.

DuckDB reads every cell as text under strict rules. What it would pass over in silence (NUL
bytes, an empty file, a header of the wrong width) is checked here first, and what it reports by
record number is found again in the file by line. A file of mixed line endings, which DuckDB does
not read strictly, is rewritten once into the scratch folder by Python's csv module.
"""

from __future__ import annotations

import codecs
import csv
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ropoll_core.tables._errors import TableError
from ropoll_core.tables._session import Session, literal
from ropoll_core.tables._source import Column, Source, plain_path

__all__ = ["open_delimited"]

_CHUNK = 1 << 22


class DelimitedSource(Source):
    """A CSV or TSV file."""

    def __init__(self, path: str, header: list[str], delimiter: str, parsed_path: str) -> None:
        options = {
            "header": "true",
            "auto_detect": "false",
            "delim": literal(delimiter),
            "quote": literal('"'),
            "escape": literal('"'),
            "strict_mode": "true",
            "nullstr": literal("\x01ropoll"),
            "hive_partitioning": "false",
            "columns": "{" + ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(header))) + "}",
        }
        arguments = ", ".join(f"{key}={value}" for key, value in options.items())
        super().__init__(
            path,
            [Column(name, f"c{i}", "text") for i, name in enumerate(header)],
            f"read_csv({literal(parsed_path)}, {arguments})",
        )
        self.path, self.delimiter, self.width = path, delimiter, len(header)

    def places(self, records: Sequence[int]) -> list[str]:
        wanted = dict.fromkeys(records, "")
        for number, (line, _) in enumerate(_records(self.path, self.delimiter)):
            if number in wanted:  # record 0 is the header
                wanted[number] = f"line {line}"
            if number >= max(wanted, default=0):
                break
        return [wanted[record] for record in records]

    def explain(self, error: Exception) -> TableError:
        try:
            for line, cells in _records(self.path, self.delimiter):
                if len(cells) != self.width:
                    return TableError(
                        f"{self.path}, line {line}: {len(cells)} cells where the header has "
                        f"{self.width}: {self.delimiter.join(cells)[:120]!r}"
                    )
        except TableError as fault:
            return fault
        return super().explain(error)


def open_delimited(path: str, session: Session, delimiter: str) -> Source:
    """Check the bytes and the header of a delimited file; the records are left to the engine."""
    if len(delimiter) != 1 or delimiter in '"\r\n\0':
        raise ValueError(f"delimiter must be one character other than a quote, got {delimiter!r}")
    mixed_endings = _check_bytes(path)
    records = _records(path, delimiter)
    try:
        line, header = next(records)
        next(records)
    except StopIteration:
        raise TableError(f"{path}: a header and no rows") from None
    for position, name in enumerate(header):
        if not name:
            raise TableError(f"{path}, line {line}: column {position + 1} of the header is empty")
        if name in header[:position]:
            raise TableError(f"{path}, line {line}: the column {name!r} is there more than once")
    parsed = plain_path(path, session)
    if mixed_endings:
        parsed = _normalise(path, delimiter, len(header), session)
    return DelimitedSource(path, header, delimiter, parsed)


def _check_bytes(path: str) -> bool:
    """Refuse NUL bytes and bad UTF-8; say whether line endings are mixed."""
    decoder = codecs.getincrementaldecoder("utf-8")("strict")
    lines = n_cr = n_crlf = 0
    carry = b""  # a CR at the end of a chunk belongs to what follows
    with open(path, "rb") as file:
        while chunk := file.read(_CHUNK):
            if (at := chunk.find(b"\0")) >= 0:
                line = lines + chunk.count(b"\n", 0, at) + 1
                raise TableError(f"{path}, line {line}: a NUL byte; this is not a text file")
            try:
                decoder.decode(chunk)
            except UnicodeDecodeError as error:
                line = lines + error.object.count(b"\n", 0, error.start) + 1
                raise TableError(
                    f"{path}, line {line}: the byte {error.object[error.start]:#04x} "
                    "is not UTF-8 text"
                ) from None
            if n_cr or carry or b"\r" in chunk:
                n_cr += chunk.count(b"\r")
                n_crlf += (carry + chunk).count(b"\r\n")
                carry = b"\r" if chunk.endswith(b"\r") else b""
            lines += chunk.count(b"\n")
    try:
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise TableError(f"{path}: the file ends inside a UTF-8 character") from None
    return n_cr > 0 and not (n_cr == n_crlf == lines)


@contextmanager
def _long_fields() -> Iterator[None]:
    # The limit is a setting of the csv module as a whole, so it is put back.
    before = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _records(path: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """(line, cells) of each record, the header first; blank lines are no records."""
    with _long_fields(), open(path, encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, delimiter=delimiter, strict=True)
        line = 1
        try:
            for cells in reader:
                if cells:
                    yield line, cells
                line = reader.line_num + 1
        except csv.Error as error:
            fault = "a quote that is not closed" if "end of data" in str(error) else error
            raise TableError(f"{path}, line {line}: {fault}") from None


def _normalise(path: str, delimiter: str, width: int, session: Session) -> str:
    """A copy with one line ending, parsed and written by Python's csv."""
    copy = os.path.join(session.folder, "normalised.csv")
    with open(copy, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator="\n")
        for line, cells in _records(path, delimiter):
            if len(cells) != width:
                raise TableError(
                    f"{path}, line {line}: {len(cells)} cells where the header has {width}: "
                    f"{delimiter.join(cells)[:120]!r}"
                )
            writer.writerow(cells)
    return copy
