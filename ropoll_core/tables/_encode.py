"""Ids to codes, in order of first appearance, and a stream of (position, cells) to scatter.

One pass over the file groups every key at once (GROUPING SETS); a second joins the codes on and
streams positions and values, which NumPy scatters. Memory is the codes plus the dense result.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core.tables._cells import id_kind
from ropoll_core.tables._errors import TableError
from ropoll_core.tables._session import Session, literal
from ropoll_core.tables._source import Column, Source

__all__ = ["Encoded", "explained", "listed"]

_SHOWN = 5


@contextmanager
def explained(source: Source, session: Session) -> Iterator[None]:
    """Turn the engine's errors into TableErrors that name the line."""
    try:
        yield
    except session.duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except session.duckdb.OutOfMemoryException as error:
        raise MemoryError(f"{source.name}: {error}") from None
    except session.duckdb.Error as error:
        raise source.explain(error) from None


class Encoded:
    """The keys of a source as codes.

    `ids` are the id columns by role, the item first; `rows` is the SQL condition that chooses
    rows; `category` is SQL for one more key, NULL where there is none; `constants` are columns
    that should not vary within an item.
    """

    def __init__(
        self,
        session: Session,
        source: Source,
        rows: str,
        ids: Mapping[str, Column],
        *,
        category: str | None = None,
        constants: Sequence[Column] = (),
    ) -> None:
        self.session, self.source, self.rows = session, source, rows
        self.columns = dict(ids)
        keys = [column.text for column in ids.values()]
        self.roles = list(ids)
        if category is not None:
            keys.append(category)
            self.roles.append("category")
        kinds = [id_kind(source, role, column) for role, column in ids.items()]
        self._keys = [f"{sql} AS k{i}" for i, sql in enumerate(keys)]
        self._kinds = [f"{sql} AS t{i}" for i, sql in enumerate(kinds)]
        self._constants = list(constants)
        texts = [f"coalesce({column.text}, '') AS m{i}" for i, column in enumerate(constants)]
        names = [f"k{i}" for i in range(len(keys))]
        extremes = [f"min(m{i}) AS a{i}, max(m{i}) AS b{i}" for i in range(len(constants))]
        extremes += [f"min(t{i}) AS low{i}, max(t{i}) AS high{i}" for i in range(len(kinds))]
        sets = ", ".join(f"({name})" for name in names)
        session.execute(
            f"CREATE TEMP TABLE seen AS SELECT GROUPING({', '.join(names)}) AS g, "
            f"{', '.join([*names, 'min(record) AS record', *extremes])} "
            f"FROM ({self._select([*self._keys, *self._kinds, *texts])}) "
            f"GROUP BY GROUPING SETS ({sets})"
        )
        for i in range(len(ids)):
            self._check_ids(i)
        for i in range(len(keys)):
            session.execute(
                f"CREATE TEMP TABLE code{i} AS SELECT k{i} AS id, "
                f"row_number() OVER (ORDER BY record) - 1 AS code FROM seen "
                f"WHERE g = {self._grouping(i)} AND k{i} IS NOT NULL"
            )

    def _check_ids(self, i: int) -> None:
        """Ids are in every row, and are text or integers throughout: 7 and "7" differ."""
        ((empty, low, high),) = self.session.rows(
            f"SELECT count(*) FILTER (WHERE coalesce(k{i}, '') = ''), min(low{i}), max(high{i}) "
            f"FROM seen WHERE g = {self._grouping(i)}"
        )
        if low is None:
            raise TableError(f"{self.source.name}: no rows are left to read")
        if not empty and low == high < 2:
            return
        test, fault = "c1 = 1", "a number here and text elsewhere; 7 and '7' are not the same id"
        if empty:
            test, fault = "coalesce(c0, '') = ''", "empty or not there"
        elif high == 2:
            test, fault = "c1 = 2", "neither text nor an integer"
        role = self.roles[i]
        cells = [sql.rsplit(" AS ", 1)[0] for sql in (self._keys[i], self._kinds[i])]
        record, text, _ = self.records(cells, test)[0]
        raise TableError(
            f"{self.source.name}, {self.source.places([record])[0]}, "
            f"column {self.columns[role].name!r}: the {role} is {fault}"
            + (f": {text!r}" if text else "")
        )

    def _grouping(self, i: int) -> int:
        """What GROUPING() gives for the set that holds the i-th key alone."""
        full = (1 << len(self.roles)) - 1
        return full ^ (1 << (len(self.roles) - 1 - i))

    def _select(self, columns: Sequence[str]) -> str:
        numbered = f"SELECT row_number() OVER () AS record, * FROM {self.source.relation}"
        return f"SELECT record, {', '.join(columns)} FROM ({numbered}) WHERE {self.rows}"

    def ids(self, role: str, start: int = 0, stop: int | None = None) -> NDArray[np.object_]:
        """The distinct ids of a role, by code."""
        i = self.roles.index(role)
        end = "" if stop is None else f" AND code < {stop}"
        return self.session.texts(
            f"SELECT id FROM code{i} WHERE code >= {start}{end} ORDER BY code"
        )

    def count(self, role: str) -> int:
        """How many distinct ids a role has."""
        return self._count(f"code{self.roles.index(role)}")

    def constant(self, column: Column) -> NDArray[np.object_]:
        """The text of a column for each item; TableError where it varies within one."""
        j = self._constants.index(column)
        if self.varies(column):
            self._raise_varying(column, j)
        return self.session.texts(
            f"SELECT a{j} FROM seen WHERE g = {self._grouping(0)} ORDER BY record"
        )

    def varies(self, column: Column) -> bool:
        """Whether a column has more than one text within some item."""
        j = self._constants.index(column)
        sql = f"SELECT count(*) FROM seen WHERE g = {self._grouping(0)} AND a{j} <> b{j}"
        return bool(self.session.rows(sql)[0][0])

    def _raise_varying(self, column: Column, j: int) -> None:
        ((item,),) = self.session.rows(
            f"SELECT k0 FROM seen WHERE g = {self._grouping(0)} AND a{j} <> b{j} "
            "ORDER BY record LIMIT 1"
        )
        rows = self._select([self._keys[0], f"coalesce({column.text}, '') AS m"])
        found = self.session.rows(
            f"SELECT min(record) AS record, m FROM ({rows}) "
            f"WHERE k0 = {literal(item)} GROUP BY m ORDER BY record LIMIT 2"
        )
        places = self.source.places([record for record, _ in found])
        texts = " and ".join(
            f"{text!r} ({place})" for (_, text), place in zip(found, places, strict=True)
        )
        raise TableError(
            f"{self.source.name}, column {column.name!r}: item {item!r} has {texts}; "
            "it must be the same throughout an item"
        )

    def stream(self, codes: Sequence[str], cells: Sequence[str]) -> Iterator[list[NDArray[Any]]]:
        """Batches of every chosen row: `codes` over ``code0.code``, ..., then the cells."""
        return self.session.batches(self._coded(codes, cells))

    def spill(self, part: str, codes: Sequence[str], cells: Sequence[str]) -> None:
        """Write what `stream` gives to the scratch folder, by part (SQL over the codes)."""
        self.session.execute(
            f"COPY ({self._coded([*codes, part], cells)}) TO {literal(self._parts)} "
            f"(FORMAT parquet, PARTITION_BY (p{len(codes)}))"
        )

    def spilled(self, part: int) -> Iterator[list[NDArray[Any]]]:
        """Batches of one part."""
        files = glob.glob(f"{glob.escape(self._parts)}/*={part}/*.parquet")
        listed = ", ".join(map(literal, files))
        return self.session.batches(
            f"SELECT * FROM read_parquet([{listed}], hive_partitioning=false)"
        )

    @property
    def _parts(self) -> str:
        return os.path.join(self.session.folder, "parts")

    def _coded(self, codes: Sequence[str], cells: Sequence[str]) -> str:
        # Ids are in every row; a category may be missing, and its code is then NULL.
        joins = " ".join(
            f"{'LEFT ' if role == 'category' else ''}JOIN code{i} ON k{i} = code{i}.id"
            for i, role in enumerate(self.roles)
        )
        named = [f"{sql} AS c{n}" for n, sql in enumerate(cells)]
        inner = (
            f"SELECT {', '.join([*self._keys, *named])} FROM {self.source.relation} "
            f"WHERE {self.rows}"
        )
        outer = [f"{sql} AS p{n}" for n, sql in enumerate(codes)]
        outer += [f"c{n}" for n in range(len(cells))]
        return f"SELECT {', '.join(outer)} FROM ({inner}) {joins}"

    def records(self, cells: Sequence[str], test: str) -> list[tuple[Any, ...]]:
        """(record, *cells) of the first rows for which `test`, over c0, c1, ..., holds."""
        named = [f"{sql} AS c{n}" for n, sql in enumerate(cells)]
        return self.session.rows(
            f"SELECT record, {', '.join(f'c{n}' for n in range(len(cells)))} "
            f"FROM ({self._select(named)}) WHERE {test} ORDER BY record LIMIT {_SHOWN}"
        )

    def check_distinct(self, n_rows: int, seen: NDArray[np.bool_]) -> None:
        """Raise if `n_rows` rows filled fewer positions than there are rows."""
        repeated = n_rows - int(np.count_nonzero(seen))
        if repeated:
            raise TableError(
                f"{self.source.name}: {repeated} rows repeat a key"
                f"{listed(self.duplicates(), repeated)}"
            )

    def duplicates(self) -> list[str]:
        """The first keys that stand in more than one row, described with their places."""
        roles = list(self.columns)
        names = [f"k{i}" for i in range(len(roles))]
        found = self.session.rows(
            f"SELECT {', '.join(names)}, list(record ORDER BY record)[:4], count(*), min(record) "
            f"AS first FROM ({self._select(self._keys)}) GROUP BY {', '.join(names)} "
            f"HAVING count(*) > 1 ORDER BY first LIMIT {_SHOWN}"
        )
        described = []
        for *ids, records, _, _ in found:
            places = self.source.places(records)
            what = ", ".join(f"{role} {text!r}" for role, text in zip(roles, ids, strict=True))
            described.append(f"{what}: {' and '.join(places)}")
        return described

    def count_all(self) -> int:
        """Every row of the source, chosen or not."""
        return self._count(self.source.relation)

    def count_rows(self) -> int:
        """The rows chosen."""
        return self._count(f"{self.source.relation} WHERE {self.rows}")

    def _count(self, what: str) -> int:
        return int(self.session.rows(f"SELECT count(*) FROM {what}")[0][0])


def listed(first: Sequence[str], total: int) -> str:
    """The first problems, one a line, and how many more there are."""
    lines = "".join(f"\n  {text}" for text in first)
    rest = total - len(first)
    return lines + (f"\n  and {rest} more" if rest > 0 else "")
