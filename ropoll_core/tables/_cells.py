"""Cells as SQL: what state a cell is in, and its value if it has one.

Every cell is in exactly one `State`; a reader counts them all, so nothing goes missing without
being counted. Ids and categories become codes in order of first appearance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from ropoll_core._checks.tables import NUMBER
from ropoll_core.tables._columns import named_column
from ropoll_core.tables._errors import TableError
from ropoll_core.tables._session import literal
from ropoll_core.tables._source import Column, Source

__all__ = [
    "MISSING_TEXTS",
    "CellRules",
    "State",
    "category_cell",
    "check_values",
    "condition",
    "id_kind",
    "score_cell",
]

# Texts that mean "no score" beside the empty cell; compared exactly, in value columns only.
MISSING_TEXTS = ("NA", "N/A", "n/a", "NaN", "nan", "null", "None")

# Largest integer below which every integer is a double.
_EXACT = 1 << 53


class State(IntEnum):
    """What a cell holds."""

    VALUE = 0
    EMPTY = 1  # an empty cell, a null, NaN, or one of MISSING_TEXTS
    DECLARED = 2  # one of the values declared to be missing
    BAD = 3  # not a finite number
    OFF_SCALE = 4
    ABSENT = 5  # a JSON record without the key


@dataclass(frozen=True)
class CellRules:
    """How number cells are read: what is missing, the allowed range, the decimal mark."""

    texts: Sequence[str] = ()
    numbers: Sequence[float] = ()
    scale: tuple[float, float] | None = None
    decimal: str = "."


def check_values(source: Source, columns: Sequence[Column]) -> None:
    """Raise for columns that hold neither numbers nor text: lists, or objects of two types."""
    for column in columns:
        if column.kind in ("mixed", "other"):
            what = "objects of more than one type" if column.kind == "mixed" else "no plain values"
            raise TableError(f"{source.name}: column {column.name!r} holds {what}")


def score_cell(column: Column, rules: CellRules) -> tuple[str, str]:
    """SQL for the state of a number cell and for its value (any number where it has none)."""
    if column.kind in ("text", "json"):
        text, value, valid = _text_cell(column, rules)
        empty = f"{text} IS NULL OR {text} IN ({_texts(('', *MISSING_TEXTS))})"
        declared = f"{text} IN ({_texts(rules.texts)})" if rules.texts else "false"
    else:
        value, valid, empty = _typed_cell(column)
        declared = "false"
    number = []
    if rules.numbers:
        values = ", ".join(map(_number, rules.numbers))
        number.append(f"WHEN {value} IN ({values}) THEN {State.DECLARED:d}")
    if rules.scale is not None:
        low, high = map(_number, rules.scale)
        number.append(f"WHEN {value} NOT BETWEEN {low} AND {high} THEN {State.OFF_SCALE:d}")
    found = f"CASE {' '.join(number)} ELSE {State.VALUE:d} END" if number else f"{State.VALUE:d}"
    absent = f"WHEN {column.sql} IS NULL THEN {State.ABSENT:d}" if column.optional else ""
    # The usual case first: a number needs no comparison with the texts for missing.
    state = (
        f"CAST(CASE WHEN {valid} THEN {found} {absent} WHEN {empty} THEN {State.EMPTY:d} "
        f"WHEN {declared} THEN {State.DECLARED:d} ELSE {State.BAD:d} END AS TINYINT)"
    )
    return state, f"coalesce({value}, 0::DOUBLE)"


def _text_cell(column: Column, rules: CellRules) -> tuple[str, str, str]:
    text = column.text
    if column.kind == "json":
        # true and false are numbers as NumPy has it; the texts "true" and "false" are not
        text = f"(CASE {column.raw} WHEN 'true' THEN '1' WHEN 'false' THEN '0' ELSE {text} END)"
    written = text
    pattern = NUMBER
    if rules.decimal == ",":
        pattern = NUMBER.replace(r"\.", ",")
        written = f"replace({text}, ',', '.')"
    value = f"TRY_CAST({written} AS DOUBLE)"
    valid = f"regexp_full_match({text}, {literal(pattern)}) AND isfinite({value})"
    return text, value, valid


def _typed_cell(column: Column) -> tuple[str, str, str]:
    # A decimal goes through its text: the direct cast divides, and so rounds twice.
    value = f"CAST({column.text if column.kind == 'decimal' else column.sql} AS DOUBLE)"
    if column.kind == "integer":
        valid = f"{column.sql} BETWEEN -{_EXACT} AND {_EXACT}"
    else:
        valid = f"isfinite({value})"
    return value, valid, f"{column.sql} IS NULL OR isnan({value})"


def category_cell(column: Column, empty: Sequence[str], declared: Sequence[str]) -> tuple[str, str]:
    """SQL for the state of a cell of categories and for its text (NULL where it has none)."""
    text = column.text
    nothing = f"{text} IS NULL"
    if column.kind == "float":
        nothing += f" OR isnan({column.sql})"
    if empty:
        nothing += f" OR {text} IN ({_texts(empty)})"
    absent = f"WHEN {column.sql} IS NULL THEN {State.ABSENT:d}" if column.optional else ""
    missing = f"WHEN {text} IN ({_texts(declared)}) THEN {State.DECLARED:d}" if declared else ""
    state = (
        f"CAST(CASE {absent} WHEN {nothing} THEN {State.EMPTY:d} {missing} "
        f"ELSE {State.VALUE:d} END AS TINYINT)"
    )
    return state, f"CASE WHEN {state} = {State.VALUE:d} THEN {text} END"


def _texts(texts: Sequence[str]) -> str:
    return ", ".join(map(literal, texts))


def _number(number: float) -> str:
    return f"{number!r}::DOUBLE"


def condition(source: Source, where: Mapping[str, str]) -> str:
    """SQL for the rows to read."""
    tests = [
        f"{named_column(source, name, 'where').text} = {literal(text)}"
        for name, text in where.items()
    ]
    return " AND ".join(tests) or "true"


def id_kind(source: Source, role: str, column: Column) -> str:
    """SQL for what an id is: 0 text, 1 an integer, 2 neither. Typed columns are all one kind."""
    if column.kind not in ("text", "json", "integer"):
        raise TableError(
            f"{source.name}: column {column.name!r} ({role}) must hold text or integers, "
            f"got {column.kind} values"
        )
    if column.kind != "json":
        return "0"
    return (
        f"CASE WHEN starts_with({column.raw}, '\"') OR coalesce({column.raw}, 'null') = 'null' "
        f"THEN 0 WHEN regexp_full_match({column.raw}, '-?[0-9]+') THEN 1 ELSE 2 END"
    )
