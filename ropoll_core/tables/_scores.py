"""Score tables, long and semi-wide, to a dense panel."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.options import as_choice
from ropoll_core._checks.tables import as_missing_values, as_names, as_scale, as_where
from ropoll_core._results.tables import LeftOut, Panel
from ropoll_core.tables._cells import CellRules, State, check_values, condition, score_cell
from ropoll_core.tables._columns import ALIASES, find_column, named_column
from ropoll_core.tables._encode import Encoded, explained, listed
from ropoll_core.tables._errors import TableError
from ropoll_core.tables._session import Session, literal
from ropoll_core.tables._source import Column, Source, open_source

__all__ = ["Layout", "find_layout", "read_scores"]

ON_BAD = ("raise", "missing")
_WRONG = {
    State.BAD: "not a number",
    State.OFF_SCALE: "off the scale",
    State.ABSENT: "the key is not there",
}


def read_scores(
    table: Any,
    *,
    item: str | None = None,
    judge: str | None = None,
    attribute: str | None = None,
    score: str | None = None,
    attributes: Iterable[str] | None = None,
    where: Mapping[str, str] | None = None,
    missing_values: Iterable[str | float] = (),
    on_bad: str = "raise",
    scale: tuple[float, float] | None = None,
    delimiter: str | None = None,
    decimal: str = ".",
    workers: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Panel:
    """Read a table of scores into a dense panel.

    Two layouts are read. Long: a row for each (item, judge, attribute) with one score. Semi-wide:
    a row for each (item, judge) with a column for each attribute; a table without an attribute
    column is semi-wide.

    Parameters
    ----------
    table : path, Arrow table, pandas or polars frame
        A path ends in .csv, .tsv, .jsonl, .ndjson, .json (lines, or one array of objects),
        .parquet or .pq. In memory anything with ``__arrow_c_stream__`` will do.
    item, judge, attribute, score : str, optional
        The columns. Without them the only column with a usual name is taken: item, task, id,
        sample_id, doc_id, prompt_id; judge, worker, rater, annotator, model; attribute,
        criterion, dimension; score, label, rating, judge_score. Two candidates are an error.
    attributes : list of str, optional
        The attributes to read, in this order: columns in semi-wide form, else values of the
        attribute column. Without it, semi-wide form reads the score column if there is one,
        else every column of numbers; text columns that are constant within each item are
        metadata, and any other text column is an error.
    where : mapping of str to str, optional
        Read only the rows whose cells equal these texts.
    missing_values : list of str or number, optional
        Further cells that mean missing. Empty cells, nulls, NaN and the texts NA, N/A, n/a,
        NaN, nan, null and None always do. Numbers are compared by value, texts as written.
    on_bad : {"raise", "missing"}
        What to do with a cell that is not a finite number or lies off the scale: an error that
        lists the first of them, or count it and treat it as missing.
    scale : (float, float), optional
        The lowest and the highest score there can be.
    delimiter : str, optional
        Of delimited text; by default a tab for .tsv and a comma otherwise.
    decimal : {".", ","}
        The decimal mark of numbers in text. Digit groups are never accepted.
    workers : int or None
        Threads; see `default_workers`. The result does not depend on it.
    progress : callable, optional
        Called with the number of rows done so far.

    Returns
    -------
    Panel
        Scores (n_items, n_judges, n_attributes) with NaN for missing, the ids exactly as
        written, in order of first appearance, and what was left out.

    Raises
    ------
    TableError
        A ValueError that names the file, the line (or row), the column and the value: a key
        given twice, text in a number column, an infinite or off-scale number, a missing id, a
        broken file.
    ImportError
        If the ``cli`` extra is not installed.
    FileNotFoundError, TypeError, ValueError
        For a path that does not exist and options out of range.

    Notes
    -----
    Two passes over the table. Memory is the result, one byte a cell and the ids; neither the
    file nor its rows are held. JSON true and false, and boolean columns, are the numbers 1 and
    0; the texts are not.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from ropoll_core.tables import read_scores
    >>> path = pathlib.Path(tempfile.mkdtemp(), "scores.csv")
    >>> _ = path.write_text("item,judge,style,fact\\nq1,a,3,4\\nq1,b,5,NA\\n")
    >>> panel = read_scores(path)
    >>> panel.scores
    array([[[ 3.,  4.],
            [ 5., nan]]])
    >>> panel.attributes
    array(['style', 'fact'], dtype=object)
    """
    texts, numbers = as_missing_values(missing_values)
    rules = CellRules(texts, numbers, as_scale(scale), as_choice(decimal, "decimal", (".", ",")))
    conditions = as_where(where)
    wanted = as_names(attributes, "attributes")
    strict = as_choice(on_bad, "on_bad", ON_BAD) == "raise"
    with Session(workers) as session:
        source = open_source(table, session, delimiter=delimiter)

        def read() -> Panel:
            with explained(source, session):
                layout = find_layout(
                    source,
                    session,
                    item=item,
                    judge=judge,
                    attribute=attribute,
                    score=score,
                    attributes=wanted,
                    rows=condition(source, conditions),
                    rules=rules,
                )
                return _read(source, session, layout, rules, strict, progress)

        return session.run(read)


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
    attributes: tuple[str, ...] | None,
    rows: str,
    rules: CellRules,
) -> Layout:
    """Long or semi-wide, and the columns that hold the scores."""
    taken = {name for name in (item, judge, attribute, score) if name is not None}
    keys = {}
    for role, given, required in (
        ("item", item, True),
        ("judge", judge, True),
        ("attribute", attribute, False),
    ):
        column = find_column(source, role, given, taken=taken, required=required)
        if column is not None:
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
                f"{', '.join(map(repr, others))} hold numbers too; say which are attributes "
                "(attributes=)"
            )
        return Layout(keys, (usual,), None, rows, unused=tuple(c.name for c in rest if c != usual))
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


def _read(
    source: Source,
    session: Session,
    layout: Layout,
    rules: CellRules,
    strict: bool,
    progress: Callable[[int], None] | None,
) -> Panel:
    check_values(source, layout.scores)
    encoded = Encoded(session, source, layout.rows, layout.keys, constants=layout.metadata)
    for column in layout.metadata:
        if encoded.varies(column):
            numbers = ", ".join(repr(c.name) for c in layout.scores)
            raise TableError(
                f"{source.name}: column {column.name!r} is text that differs within an item: "
                f"neither a score nor a property of the item; the columns of numbers are "
                f"{numbers}; say which are attributes (attributes=)"
            )
    items, judges = encoded.ids("item"), encoded.ids("judge")
    attributes = _attributes(source, encoded, layout)
    dense, counts, n_rows = _scatter(encoded, layout, rules, items, judges, attributes, progress)
    wrong = int(counts[[State.BAD, State.OFF_SCALE, State.ABSENT]].sum())
    examples = _examples(source, encoded, layout, rules) if wrong else ()
    if wrong and strict:
        raise TableError(
            f"{source.name}: {wrong} cells cannot be read as scores"
            f"{listed(examples, wrong)}\n"
            "name them among the missing values, or count such cells as missing "
            '(on_bad="missing")'
        )
    left_out = LeftOut(
        no_row=dense.size - int(counts.sum()),
        empty=int(counts[State.EMPTY]),
        declared=int(counts[State.DECLARED]),
        bad=int(counts[State.BAD] + counts[State.ABSENT]),
        off_scale=int(counts[State.OFF_SCALE]),
        rows=0 if layout.rows == "true" else encoded.count_all() - n_rows,
        examples=tuple(examples),
    )
    return Panel(
        scores=dense,
        items=items,
        judges=judges,
        attributes=attributes,
        n_rows=n_rows,
        left_out=left_out,
        metadata=tuple(column.name for column in layout.metadata),
        unused=layout.unused,
    )


def _attributes(source: Source, encoded: Encoded, layout: Layout) -> NDArray[np.object_]:
    if not layout.long:
        return np.array([column.name for column in layout.scores], dtype=object)
    found = encoded.ids("attribute")
    if layout.attributes is None:
        return found
    for name in layout.attributes:
        if name not in found:
            raise TableError(f"{source.name}: no row has the attribute {name!r}")
    return np.array(layout.attributes, dtype=object)


def _scatter(
    encoded: Encoded,
    layout: Layout,
    rules: CellRules,
    items: NDArray[np.object_],
    judges: NDArray[np.object_],
    attributes: NDArray[np.object_],
    progress: Callable[[int], None] | None,
) -> tuple[NDArray[np.float64], NDArray[np.int64], int]:
    """The dense scores, how many cells were in each state, and the number of rows."""
    dense = np.full((len(items), len(judges), len(attributes)), np.nan)
    position = f"code0.code * {len(judges)} + code1.code"
    if layout.long:
        position = f"({position}) * {len(attributes)} + code2.code"
    cells = [sql for column in layout.scores for sql in score_cell(column, rules)]
    flat = dense.reshape(-1, len(layout.scores))
    seen = np.zeros(flat.shape[0], dtype=np.bool_)
    counts = np.zeros(len(State), dtype=np.int64)
    n_rows = 0
    for where, *columns in encoded.stream([position], cells):
        seen[where] = True
        n_rows += where.size
        for a, (state, value) in enumerate(zip(columns[::2], columns[1::2], strict=True)):
            counts += np.bincount(state, minlength=len(State))
            flat[where, a] = np.where(state == State.VALUE, value, np.nan)
        if progress is not None:
            progress(n_rows)
    encoded.check_distinct(n_rows, seen)
    if layout.long and layout.attributes is not None:
        dense = np.ascontiguousarray(
            dense[:, :, [list(encoded.ids("attribute")).index(name) for name in attributes]]
        )
    return dense, counts, n_rows


def _examples(source: Source, encoded: Encoded, layout: Layout, rules: CellRules) -> list[str]:
    """The first cells that are bad, off scale or absent, each with its place."""
    found = []
    for column in layout.scores:
        state, _ = score_cell(column, rules)
        test = f"c0 IN ({State.BAD:d}, {State.OFF_SCALE:d}, {State.ABSENT:d})"
        for record, code, text in encoded.records([state, column.text], test):
            found.append((record, column.name, State(code), text))
    found.sort(key=lambda cell: cell[0])
    found = found[:5]
    places = source.places([cell[0] for cell in found])
    return [
        f"{place}, column {name!r}: {_WRONG[state]}" + ("" if text is None else f": {text!r}")
        for place, (_, name, state, text) in zip(places, found, strict=True)
    ]
