"""Long tables of ballots and of answers as they are read, before their texts have a meaning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ropoll_core._results.tables import LeftOut
from ropoll_core.tables._cells import State, category_cell, check_values
from ropoll_core.tables._columns import ALIASES, find_column
from ropoll_core.tables._encode import Encoded
from ropoll_core.tables._errors import TableError
from ropoll_core.tables._session import Session
from ropoll_core.tables._source import Column, Source

__all__ = ["Read", "Roles", "read_ballots"]


@dataclass(frozen=True)
class Roles:
    """The columns of a table of ballots or answers."""

    item: Column
    judge: Column
    value: Column
    truth: Column | None
    tasks: Column | None
    groups: Column | None

    @classmethod
    def find(
        cls,
        source: Source,
        value: str,
        value_given: str | None,
        *,
        item: str | None,
        judge: str | None,
        tasks: str | None,
        truth: str,
        truth_given: str | None,
        groups: str | None = None,
    ) -> Roles:
        given = (item, judge, value_given, truth_given, tasks, groups)
        taken = {name for name in given if name is not None}
        if tasks is None:
            # "task" is a usual name of the item too; beside another one it is the task
            others = [n for n in source.columns if n.lower() in ALIASES["item"] and n != item]
            if item is not None or len(others) > 1:
                column = find_column(source, "tasks", None, taken=taken, required=False)
                tasks = None if column is None else column.name
                taken |= {tasks} if tasks is not None else set()
        by_truth = find_column(source, truth, truth_given, taken=taken, required=False)
        return cls(
            item=_required(source, "item", item, taken),
            judge=_required(source, "judge", judge, taken),
            value=_required(source, value, value_given, taken),
            truth=by_truth,
            tasks=None if tasks is None else find_column(source, "tasks", tasks),
            groups=None if groups is None else find_column(source, "groups", groups),
        )

    @property
    def constants(self) -> list[Column]:
        found = (self.truth, self.tasks, self.groups)
        return list(dict.fromkeys(column for column in found if column is not None))


def _required(source: Source, role: str, given: str | None, taken: set[str]) -> Column:
    column = find_column(source, role, given, taken=taken)
    assert column is not None
    return column


@dataclass
class Read:
    """A table as read, before its texts have a meaning."""

    encoded: Encoded
    roles: Roles
    items: NDArray[np.object_]
    judges: NDArray[np.object_]
    codes: NDArray[np.int32]  # (n_items, n_judges), -1 where there is none
    texts: NDArray[np.object_]  # by code
    truth: NDArray[np.object_] | None  # text of each item, None where there is none
    tasks: NDArray[np.object_] | None
    groups: NDArray[np.object_] | None
    n_rows: int
    counts: NDArray[np.int64]  # cells in each state
    left_rows: int

    def left_out(self, bad: int = 0, examples: Sequence[str] = ()) -> LeftOut:
        return LeftOut(
            no_row=self.codes.size - self.n_rows,
            empty=int(self.counts[State.EMPTY]),
            declared=int(self.counts[State.DECLARED]),
            bad=bad,
            rows=self.left_rows,
            examples=tuple(examples),
        )


def read_ballots(
    session: Session,
    source: Source,
    roles: Roles,
    rows: str,
    empty: Sequence[str],
    declared: Sequence[str],
) -> Read:
    check_values(source, [roles.value, *roles.constants])
    state, text = category_cell(roles.value, empty, declared)
    encoded = Encoded(
        session,
        source,
        rows,
        {"item": roles.item, "judge": roles.judge},
        category=text,
        constants=roles.constants,
    )
    items, judges = encoded.ids("item"), encoded.ids("judge")
    codes = np.full((len(items), len(judges)), -1, dtype=np.int32)
    seen = np.zeros(codes.size, dtype=np.bool_)
    counts = np.zeros(len(State), dtype=np.int64)
    n_rows = 0
    outer = [f"code0.code * {len(judges)} + code1.code", "coalesce(code2.code, -1)"]
    for position, code, states in encoded.stream(outer, [state]):
        seen[position] = True
        codes.reshape(-1)[position] = code
        counts += np.bincount(states, minlength=len(State))
        n_rows += position.size
    encoded.check_distinct(n_rows, seen)
    if counts[State.ABSENT]:
        record, _ = encoded.records([state], f"c0 = {State.ABSENT:d}")[0]
        raise TableError(
            f"{source.name}, {source.places([record])[0]}: the key {roles.value.name!r} is not "
            f"there ({counts[State.ABSENT]} such rows)"
        )
    truth = None
    if roles.truth is not None:
        truth = encoded.constant(roles.truth)
        truth[np.isin(truth, [*empty, *declared])] = None
    return Read(
        encoded=encoded,
        roles=roles,
        items=items,
        judges=judges,
        codes=codes,
        texts=encoded.ids("category"),
        truth=truth,
        tasks=None if roles.tasks is None else encoded.constant(roles.tasks),
        groups=None if roles.groups is None else encoded.constant(roles.groups),
        n_rows=n_rows,
        counts=counts,
        left_rows=0 if rows == "true" else encoded.count_all() - n_rows,
    )
