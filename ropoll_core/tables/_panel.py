"""A table of scores to a dense panel: encode the keys, scatter the cells, count the rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ropoll_core._results.tables import LeftOut, Panel
from ropoll_core.tables._cells import CellRules, State, check_values, score_cell
from ropoll_core.tables._encode import Encoded
from ropoll_core.tables._errors import TableError
from ropoll_core.tables._layout import Layout
from ropoll_core.tables._session import Session
from ropoll_core.tables._source import Source

__all__ = ["Faults", "load_panel"]

_WRONG = {
    State.BAD: "not a number",
    State.OFF_SCALE: "off the scale",
    State.ABSENT: "the key is not there",
}


@dataclass(frozen=True)
class Faults:
    """What is wrong with a table: how much of it, and the first cases with their places."""

    repeated: int  # rows whose key an earlier row has
    keys: list[str]
    wrong: int  # cells that are not finite numbers or lie off the scale
    cells: list[str]


def load_panel(
    source: Source,
    session: Session,
    layout: Layout,
    rules: CellRules,
    progress: Callable[[int], None] | None = None,
) -> tuple[Panel, Faults]:
    """The panel as far as it can be read, and what is wrong with the rest."""
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
    dense, counts, n_rows, n_filled = _scatter(
        encoded, layout, rules, items, judges, attributes, progress
    )
    # A position filled twice leaves fewer positions than rows.
    repeated = n_rows - n_filled
    wrong = int(counts[[State.BAD, State.OFF_SCALE, State.ABSENT]].sum())
    faults = Faults(
        repeated=repeated,
        keys=encoded.duplicates() if repeated else [],
        wrong=wrong,
        cells=_examples(source, encoded, layout, rules) if wrong else [],
    )
    left_out = LeftOut(
        no_row=dense.size - n_filled * len(layout.scores),
        empty=int(counts[State.EMPTY]),
        declared=int(counts[State.DECLARED]),
        bad=int(counts[State.BAD] + counts[State.ABSENT]),
        off_scale=int(counts[State.OFF_SCALE]),
        rows=0 if layout.rows == "true" else encoded.count_all() - n_rows,
        examples=tuple(faults.cells),
    )
    panel = Panel(
        scores=dense,
        items=items,
        judges=judges,
        attributes=attributes,
        n_rows=n_rows,
        left_out=left_out,
        metadata=tuple(column.name for column in layout.metadata),
        unused=layout.unused,
    )
    return panel, faults


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
) -> tuple[NDArray[np.float64], NDArray[np.int64], int, int]:
    """The dense scores, how many cells were in each state, rows read, positions filled."""
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
    if layout.long and layout.attributes is not None:
        dense = np.ascontiguousarray(
            dense[:, :, [list(encoded.ids("attribute")).index(name) for name in attributes]]
        )
    return dense, counts, n_rows, int(np.count_nonzero(seen))


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
