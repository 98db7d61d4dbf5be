"""Which columns of a table are keys and which hold scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ropoll_core.tables._cells import CellRules, State, score_cell
from ropoll_core.tables._columns import ALIASES, find_column, named_column
from ropoll_core.tables._errors import TableError
from ropoll_core.tables._session import Session, literal
from ropoll_core.tables._source import Column, Source

__all__ = ["Layout", "find_layout"]


@dataclass(frozen=True)
class Layout:
    """Which columns are keys and which hold scores, and which rows are read."""

    keys: dict[str, Column]  # item, judge and, in long form, attribute
    scores: tuple[Column, ...]
    attributes: tuple[str, ...] | None  # the chosen values of the attribute column, if any
    rows: str
    metadata: tuple[Column, ...] = ()
    unused: tuple[str, ...] = ()

    @property
    def long(self) -> bool:
        return "attribute" in self.keys


def find_layout(
    source: Source,
    session: Session,
    *,
    item: str | None,
    judge: str | None,
    attribute: str | None,
    score: str | None,
    only_judge: str | None,
    attributes: tuple[str, ...] | None,
    rows: str,
    rules: CellRules,
) -> Layout:
    """Long or semi-wide, and the columns that hold the scores."""
    taken = {name for name in (item, judge, attribute, score) if name is not None}
    keys: dict[str, Column] = {}
    for role, given, required in (
        ("item", item, True),
        ("judge", judge, True),
        ("attribute", attribute, False),
    ):
        if role == "judge" and only_judge is not None:
            keys[role] = Column(only_judge, literal(only_judge), "text")
            continue
        column = find_column(source, role, given, taken=taken, required=required)
        if column is not None:
            for other, known in keys.items():
                if column == known:
                    raise ValueError(
                        f"{role} must be a column other than the {other}, got {given!r}"
                    )
            keys[role] = column
            taken.add(column.name)
    rest = [column for name, column in source.columns.items() if name not in taken]
    if "attribute" in keys:
        value = find_column(source, "score", score, taken=taken - {score})
        assert value is not None
        if attributes is not None:
            chosen = ", ".join(map(literal, attributes))
            rows = f"({rows}) AND {keys['attribute'].text} IN ({chosen})"
        unused = tuple(column.name for column in rest if column.name != value.name)
        return Layout(keys, (value,), attributes, rows, unused=unused)
    if attributes is not None:
        if score is not None:
            raise ValueError("give score or attributes, not both, for a table in semi-wide form")
        scores = tuple(named_column(source, name, "attributes") for name in attributes)
        unused = tuple(column.name for column in rest if column not in scores)
        return Layout(keys, scores, None, rows, unused=unused)
    return _sort_columns(source, session, keys, rest, score, rows, rules)


def _sort_columns(
    source: Source,
    session: Session,
    keys: dict[str, Column],
    rest: Sequence[Column],
    score: str | None,
    rows: str,
    rules: CellRules,
) -> Layout:
    """Semi-wide form without a list of attributes: tell scores from other columns."""
    if score is not None:
        value = named_column(source, score, "score")
        return Layout(keys, (value,), None, rows, unused=tuple(c.name for c in rest))
    numeric = [c for c in rest if _holds_numbers(session, source, c, rows, rules)]
    texts = [c for c in rest if c not in numeric]
    usual = find_column(
        source, "score", None, taken=set(source.columns) - {c.name for c in rest}, required=False
    )
    if usual is not None:
        others = [c.name for c in numeric if c != usual]
        if others:
            raise TableError(
                f"{source.name}: column {usual.name!r} is a score, but "
                f"{', '.join(map(repr, others))} hold numbers too",
                "say which are attributes (attributes=)",
            )
        return Layout(keys, (usual,), None, rows, unused=tuple(c.name for c in rest if c != usual))
    if not session.rows(f"SELECT 1 FROM {source.relation} WHERE ({rows}) LIMIT 1"):
        raise TableError(f"{source.name}: no rows are left to read")
    if not numeric:
        raise TableError(
            f"{source.name}: no column for the score ({', '.join(ALIASES['score'])}) and no "
            f"column of numbers; the columns are {', '.join(map(repr, source.columns))}"
        )
    return Layout(keys, tuple(numeric), None, rows, metadata=tuple(texts))


def _holds_numbers(
    session: Session, source: Source, column: Column, rows: str, rules: CellRules
) -> bool:
    """Whether a column is one of numbers: typed so, or text with a number in some cell."""
    if column.kind in ("integer", "float", "decimal", "boolean"):
        return True
    if column.kind in ("mixed", "other"):
        return False
    state, _ = score_cell(column, CellRules(decimal=rules.decimal))
    sql = f"SELECT 1 FROM {source.relation} WHERE ({rows}) AND {state} = {State.VALUE:d} LIMIT 1"
    return bool(session.rows(sql))
