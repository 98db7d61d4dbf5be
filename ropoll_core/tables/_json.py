"""JSON lines (and one JSON array of objects): keys by first appearance, values as JSON.

A first pass compares the keys of every record with those of the first; if some differ, another
collects the distinct lists of keys. That shows broken lines, records that are no objects, repeated
keys and keys that some record lacks. DuckDB's reader of named columns is the fast way to the
values, but it cannot tell a null from a missing key and matches keys without regard to case; where
either matters, values are taken from the whole objects instead. (Parsing the columns once, into the
scratch folder, costs what later passes save by it.)
"""

from __future__ import annotations

import json
import mmap
import re
from collections.abc import Iterator, Sequence

from ropoll_core.tables._errors import TableError
from ropoll_core.tables._session import Session, identifier, literal
from ropoll_core.tables._source import Column, Source, plain_path

__all__ = ["open_json"]


class JsonSource(Source):
    """A file of JSON objects, one a line or in one array."""

    def __init__(self, path: str, columns: Sequence[Column], relation: str, array: bool) -> None:
        super().__init__(path, columns, relation)
        self.path, self.array = path, array

    def places(self, records: Sequence[int]) -> list[str]:
        wanted = dict.fromkeys(records, "")
        last = max(wanted, default=0)
        lines = _array_lines(self.path) if self.array else (line for line, _ in _lines(self.path))
        for number, line in enumerate(lines, start=1):
            if number in wanted:
                wanted[number] = f"record {number}, line {line}" if self.array else f"line {line}"
            if number >= last:
                break
        return [wanted[record] for record in records]

    def explain(self, error: Exception) -> TableError:
        if self.array:
            return _array_fault(self.path) or super().explain(error)
        faults = []
        for line, text in _lines(self.path):
            try:  # the engine takes no half of a surrogate pair; Python does until it encodes it
                json.dumps(json.loads(text), ensure_ascii=False).encode()
            except json.JSONDecodeError as fault:
                what = f"{fault.msg} at character {fault.pos + 1}"
                faults.append(f"line {line}: not one JSON object a line ({what})")
            except (ValueError, RecursionError) as fault:
                faults.append(f"line {line}: not one JSON object a line ({fault})")
        if not faults:
            return super().explain(error)
        more = "" if len(faults) == 1 else f"; also line {', '.join(_line(f) for f in faults[1:6])}"
        return TableError(f"{self.path}, {faults[0]}{more}")


def _line(fault: str) -> str:
    return fault.removeprefix("line ").split(":")[0]


def open_json(path: str, session: Session) -> Source:
    """Find the keys; refuse broken lines, records that are no objects and repeated keys."""
    array = _first_byte(path) == b"["
    layout = "array" if array else "newline_delimited"
    file = literal(plain_path(path, session))
    objects = f"read_json_objects({file}, format='{layout}')"
    source = JsonSource(path, (), objects, array)
    try:
        found = session.run(lambda: _signatures(session, objects))
    except session.duckdb.Error as error:
        raise source.explain(error) from None
    if not found:
        raise TableError(f"{path}: no records")
    for kind, keys, record, _ in found:
        if kind != "OBJECT" or len(set(keys)) < len(keys):
            fault = "not a JSON object" if kind != "OBJECT" else "a key is there twice"
            raise TableError(f"{path}, {source.places([record])[0]}: {fault}")
    n_records = sum(count for *_, count in found)
    counts: dict[str, int] = {}
    for _, keys, _, count in found:
        for key in keys:
            counts[key] = counts.get(key, 0) + count
    sparse = any(count < n_records for count in counts.values())
    if sparse or len({key.lower() for key in counts}) < len(counts):
        pointers = ", ".join(literal(_pointer(key)) for key in counts)
        values = ", ".join(f"v[{i + 1}] AS c{i}" for i in range(len(counts)))
        source.relation = (
            f"(SELECT {values} FROM (SELECT json_extract(json, [{pointers}]) AS v FROM {objects}))"
        )
        columns = [Column(key, f"c{i}", "json", optional=True) for i, key in enumerate(counts)]
    else:
        named = ", ".join(f"{literal(key)}: 'JSON'" for key in counts)
        source.relation = f"read_json({file}, format='{layout}', columns={{{named}}})"
        columns = [Column(key, identifier(key), "json") for key in counts]
    source.columns = {column.name: column for column in columns}
    return source


def _signatures(session: Session, objects: str) -> list[tuple[str, list[str], int, int]]:
    """(JSON type, keys, first record, number of records) of each kind of record, in order."""
    first = session.rows(f"SELECT json_type(json), json_keys(json) FROM {objects} LIMIT 1")
    if first and first[0][1] and not any("\0" in key for key in first[0][1]):
        ((kind, keys),) = first
        listed = f"[{', '.join(map(literal, keys))}]"
        ((n_records, n_other),) = session.rows(
            f"SELECT count(*), count(*) FILTER (json_keys(json) IS DISTINCT FROM {listed}) "
            f"FROM {objects}"
        )
        if not n_other:
            return [(kind, keys, 1, n_records)]
    sql = (
        "SELECT json_type(json) AS kind, json_keys(json) AS keys, {record}, count(*) "
        "FROM {records} GROUP BY kind, keys ORDER BY 3"
    )
    found = session.rows(sql.format(record="1", records=objects))
    if len(found) > 1:  # seldom; numbering the records takes a second pass
        numbered = f"(SELECT row_number() OVER () AS record, json FROM {objects})"
        found = session.rows(sql.format(record="min(record)", records=numbered))
    return found


def _pointer(key: str) -> str:
    """The JSON pointer (RFC 6901) to a key of the record itself."""
    return "/" + key.replace("~", "~0").replace("/", "~1")


def _first_byte(path: str) -> bytes:
    with open(path, "rb") as file:
        head = file.read(1 << 16).removeprefix(b"\xef\xbb\xbf").lstrip()
    return head[:1]


def _lines(path: str) -> Iterator[tuple[int, bytes]]:
    """(line, text) of each line that is not blank."""
    with open(path, "rb") as file:
        for line, raw in enumerate(file, start=1):
            text = raw.removeprefix(b"\xef\xbb\xbf") if line == 1 else raw
            if text.strip():
                yield line, text


# A text as a whole, or what opens, parts or closes records; no quote is left open before the end.
_JSON_MARK = re.compile(rb'"(?:[^"\\]|\\.)*"|[][{},]', re.DOTALL)
_NOT_BLANK = re.compile(rb"[^ \t\r\n]")


def _array_lines(path: str) -> Iterator[int]:
    """The line on which each record of an array begins. For arrays that the engine has parsed."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        depth, line, counted = 0, 1, 0
        for mark in _JSON_MARK.finditer(content):
            what = mark[0]
            depth += (what in b"[{") - (what in b"]}")
            if depth == 1 and what in (b"[", b","):
                start = _NOT_BLANK.search(content, mark.end())
                if start is None or start[0] == b"]":
                    return
                line += content[counted : start.start()].count(b"\n")
                counted = start.start()
                yield line


def _array_fault(path: str) -> TableError | None:
    """Where an array is broken, by Python's parser; None if it finds nothing wrong."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            json.load(file)
    except json.JSONDecodeError as fault:
        return TableError(
            f"{path}, line {fault.lineno}: not a JSON array of objects ({fault.msg} at character "
            f"{fault.colno})"
        )
    except UnicodeDecodeError as fault:
        return TableError(f"{path}: the byte {fault.object[fault.start]:#04x} is not UTF-8 text")
    except (ValueError, RecursionError) as fault:
        return TableError(f"{path}: not a JSON array of objects ({fault})")
    return None
