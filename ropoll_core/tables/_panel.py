"""A table of scores to a dense panel: encode the keys, scatter the cells, count the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._results.tables import LeftOut, Panel
from ropoll_core.tables._cells import CellRules, State, check_values, score_cell
from ropoll_core.tables._encode import Encoded
from ropoll_core.tables._errors import TableError
from ropoll_core.tables._layout import Layout
from ropoll_core.tables._session import Session
from ropoll_core.tables._source import Source

__all__ = ["BLOCK", "Faults", "load_parts"]

# Parts hold a multiple of this many items, so that what is summed by block does not depend on
# how many parts there were.
BLOCK = 65_536

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


def load_parts(
    source: Source,
    session: Session,
    layout: Layout,
    rules: CellRules,
    *,
    max_bytes: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Iterator[tuple[Panel, Faults]]:
    """The panel as far as it can be read, and what is wrong with the rest.

    In one part, or in parts of whole items where the dense array would be above `max_bytes`.
    """
    check_values(source, layout.scores)
    encoded = Encoded(session, source, layout.rows, layout.keys, constants=layout.metadata)
    for column in layout.metadata:
        if encoded.varies(column):
            numbers = ", ".join(repr(c.name) for c in layout.scores)
            raise TableError(
                f"{source.name}: column {column.name!r} is text that differs within an item: "
                f"neither a score nor a property of the item; the columns of numbers are "
                f"{numbers}",
                "say which are attributes (attributes=)",
            )
    judges = encoded.ids("judge")
    attributes, order = _attributes(source, encoded, layout)
    n_items, n_cells = encoded.count("item"), len(judges) * len(attributes)
    position = f"code0.code * {len(judges)} + code1.code"
    if layout.long:
        position = f"({position}) * {len(attributes)} + code2.code"
    cells = [sql for column in layout.scores for sql in score_cell(column, rules)]
    size = _part_size(n_items, 9 * n_cells, max_bytes)
    if size < n_items:
        encoded.spill(f"code0.code // {size}", [position], cells)
    n_all = 0 if layout.rows == "true" else encoded.count_all() - encoded.count_rows()
    examples: list[str] = []
    done = 0
    for part, start in enumerate(range(0, n_items, size)):
        stop = min(start + size, n_items)
        stream = encoded.stream([position], cells) if size >= n_items else encoded.spilled(part)
        dense = np.full((stop - start, len(judges), len(attributes)), np.nan)
        first = start * n_cells // len(layout.scores)
        counts, n_rows, n_filled = _scatter(
            stream,
            dense.reshape(-1, len(layout.scores)),
            first,
            None if progress is None else _shifted(progress, done),
        )
        done += n_rows
        wrong = int(counts[[State.BAD, State.OFF_SCALE, State.ABSENT]].sum())
        if wrong and not examples:
            examples = _examples(source, encoded, layout, rules)
        # A position filled twice leaves fewer positions than rows.
        repeated = n_rows - n_filled
        yield (
            Panel(
                scores=dense if order is None else np.ascontiguousarray(dense[:, :, order]),
                items=encoded.ids("item", start, stop),
                judges=judges,
                attributes=attributes,
                n_rows=n_rows,
                left_out=LeftOut(
                    no_row=dense.size - n_filled * len(layout.scores),
                    empty=int(counts[State.EMPTY]),
                    declared=int(counts[State.DECLARED]),
                    bad=int(counts[State.BAD] + counts[State.ABSENT]),
                    off_scale=int(counts[State.OFF_SCALE]),
                    rows=n_all if part == 0 else 0,
                    examples=tuple(examples) if wrong else (),
                ),
                metadata=tuple(column.name for column in layout.metadata),
                unused=layout.unused,
            ),
            Faults(
                repeated=repeated,
                keys=encoded.duplicates() if repeated else [],
                wrong=wrong,
                cells=examples,
            ),
        )


def _shifted(progress: Callable[[int], None], before: int) -> Callable[[int], None]:
    return lambda rows: progress(before + rows)


def _part_size(n_items: int, bytes_an_item: int, max_bytes: int | None) -> int:
    """Items in a part: all, or a multiple of BLOCK that fits."""
    if max_bytes is None or n_items * bytes_an_item <= max_bytes:
        return max(n_items, 1)
    return max(max_bytes // bytes_an_item // BLOCK, 1) * BLOCK


def _attributes(
    source: Source, encoded: Encoded, layout: Layout
) -> tuple[NDArray[np.object_], list[int] | None]:
    """Names of the attributes, and where the codes of the chosen ones lie, if chosen."""
    if not layout.long:
        return np.array([column.name for column in layout.scores], dtype=object), None
    found = list(encoded.ids("attribute"))
    if layout.attributes is None:
        return np.array(found, dtype=object), None
    for name in layout.attributes:
        if name not in found:
            raise TableError(f"{source.name}: no row has the attribute {name!r}")
    return (
        np.array(layout.attributes, dtype=object),
        [found.index(name) for name in layout.attributes],
    )


def _scatter(
    stream: Iterable[list[NDArray[Any]]],
    dense: NDArray[np.float64],
    first: int,
    progress: Callable[[int], None] | None,
) -> tuple[NDArray[np.int64], int, int]:
    """Fill the rows of `dense`, whose positions begin at `first`.

    Gives how many cells were in each state, the rows read and the positions filled.
    """
    seen = np.zeros(dense.shape[0], dtype=np.bool_)
    counts = np.zeros(len(State), dtype=np.int64)
    n_rows = 0
    for position, *columns in stream:
        where = position - first
        seen[where] = True
        n_rows += where.size
        for a, (state, value) in enumerate(zip(columns[::2], columns[1::2], strict=True)):
            counts += np.bincount(state, minlength=len(State))
            dense[where, a] = np.where(state == State.VALUE, value, np.nan)
        if progress is not None:
            progress(n_rows)
    return counts, n_rows, int(np.count_nonzero(seen))


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
