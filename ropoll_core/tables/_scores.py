"""Score tables, long and semi-wide: read into a panel, or looked over."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.options import as_choice, as_count
from ropoll_core._checks.tables import as_columns, as_missing_values, as_names, as_scale, as_where
from ropoll_core._results.tables import Panel, TableReport
from ropoll_core.tables._cells import CellRules, condition
from ropoll_core.tables._encode import explained, listed
from ropoll_core.tables._errors import TableError
from ropoll_core.tables._layout import Layout, find_layout
from ropoll_core.tables._panel import Faults, load_parts
from ropoll_core.tables._session import Session
from ropoll_core.tables._source import Source, open_source

__all__ = ["inspect_scores", "read_score_parts", "read_scores"]


def read_scores(
    table: Any,
    *,
    item: str | None = None,
    judge: str | None = None,
    attribute: str | None = None,
    score: str | None = None,
    only_judge: str | None = None,
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
    only_judge : str, optional
        The name of the one judge that all scores are of, for a table without a column of judges
        (gold scores, say); a column with their usual name is not taken then.
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
    strict = as_choice(on_bad, "on_bad", ("raise", "missing")) == "raise"
    request = _Request.check(
        item=item,
        judge=judge,
        attribute=attribute,
        score=score,
        only_judge=only_judge,
        attributes=attributes,
        where=where,
        missing_values=missing_values,
        scale=scale,
        delimiter=delimiter,
        decimal=decimal,
        workers=workers,
    )
    ((source, _, panel, faults),) = request.parts(table, progress=progress)
    _raise_faults(source, faults, strict)
    return panel


def read_score_parts(
    table: Any, *, max_bytes: int = 1 << 31, on_bad: str = "raise", **options: Any
) -> Generator[Panel, None, None]:
    """Read a table of scores in parts that fit into memory, each of whole items.

    Parameters
    ----------
    table : path, Arrow table, pandas or polars frame
        As for `read_scores`.
    max_bytes : int
        Largest part, in bytes of the dense array and its mask; a part holds 65,536 items at
        the least. A table that fits is one part.
    on_bad : {"raise", "missing"}
        As for `read_scores`. An error may come after parts without one were given.
    **options
        The other options of `read_scores`.

    Yields
    ------
    Panel
        All judges and attributes, and the next items in order of first appearance.

    Raises
    ------
    TableError, ImportError, FileNotFoundError, TypeError, ValueError
        As `read_scores` does.

    Notes
    -----
    The rows of a larger table are written once, as codes, to the temporary folder.

    Examples
    --------
    >>> import pyarrow
    >>> from ropoll_core.tables import read_score_parts
    >>> table = pyarrow.table({"item": ["p", "q"], "judge": ["a", "a"], "score": [1, 2]})
    >>> [panel.scores.shape for panel in read_score_parts(table)]
    [(2, 1, 1)]
    """
    strict = as_choice(on_bad, "on_bad", ("raise", "missing")) == "raise"
    limit = as_count(max_bytes, "max_bytes")
    progress = options.pop("progress", None)
    request = _Request.check(**options)
    with closing(request.parts(table, max_bytes=limit, progress=progress)) as parts:
        for source, _, panel, faults in parts:
            _raise_faults(source, faults, strict)
            yield panel


def _raise_faults(source: Source, faults: Faults, strict: bool) -> None:
    if faults.repeated:
        raise TableError(
            f"{source.name}: {faults.repeated} rows repeat a key"
            f"{listed(faults.keys, faults.repeated)}"
        )
    if faults.wrong and strict:
        raise TableError(
            f"{source.name}: {faults.wrong} cells cannot be read as scores"
            f"{listed(faults.cells, faults.wrong)}",
            "name them among the missing values (missing_values=), or count such cells as missing "
            '(on_bad="missing")',
        )


def inspect_scores(table: Any, **options: Any) -> TableReport:
    """Say what a table of scores holds and what is wrong with it.

    Wrong cells and repeated keys are reported, not raised. A table that has no panel in it (a
    broken file, columns that are not there, ids that are missing) is an error all the same.

    Parameters
    ----------
    table : path, Arrow table, pandas or polars frame
        As for `read_scores`.
    **options
        The options of `read_scores`, without ``on_bad``.

    Returns
    -------
    TableReport

    Raises
    ------
    TableError, ImportError, FileNotFoundError, TypeError, ValueError
        As `read_scores` does.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from ropoll_core.tables import inspect_scores
    >>> path = pathlib.Path(tempfile.mkdtemp(), "scores.csv")
    >>> _ = path.write_text("item,judge,score\\nq1,a,3\\nq1,b,4/5\\nq1,a,2\\n")
    >>> report = inspect_scores(path)
    >>> report.clean
    False
    >>> report.problems
    ("line 3, column 'score': not a number: '4/5'", "item 'q1', judge 'a': line 2 and line 4")
    """
    progress = options.pop("progress", None)
    request = _Request.check(**options)
    ((source, layout, panel, faults),) = request.parts(table, progress=progress)
    there = ~np.isnan(panel.scores)
    columns = {role: column.name for role, column in layout.keys.items()}
    if layout.long:
        columns["score"] = layout.scores[0].name
    return TableReport(
        name=source.name,
        columns=columns,
        panel=panel,
        duplicates=faults.repeated,
        wrong=faults.wrong,
        problems=(*faults.cells, *faults.keys),
        coverage=there.all(axis=2).mean(axis=0),
        zero_rows=(panel.scores == 0).all(axis=2).sum(axis=0),
        lowest=_extreme(np.min, panel.scores, there, np.inf),
        highest=_extreme(np.max, panel.scores, there, -np.inf),
    )


def _extreme(
    function: Any, scores: NDArray[Any], there: NDArray[np.bool_], start: float
) -> NDArray[np.float64]:
    found = function(scores, axis=(0, 2), initial=start, where=there)
    return np.where(there.any(axis=(0, 2)), found, np.nan)


@dataclass(frozen=True)
class _Request:
    """The options of a read, checked."""

    columns: dict[str, str | None]
    only_judge: str | None
    attributes: tuple[str, ...] | None
    where: dict[str, str]
    rules: CellRules
    delimiter: str | None
    workers: int | None

    @classmethod
    def check(
        cls,
        *,
        item: str | None = None,
        judge: str | None = None,
        attribute: str | None = None,
        score: str | None = None,
        only_judge: str | None = None,
        attributes: Iterable[str] | None = None,
        where: Mapping[str, str] | None = None,
        missing_values: Iterable[str | float] = (),
        scale: tuple[float, float] | None = None,
        delimiter: str | None = None,
        decimal: str = ".",
        workers: int | None = None,
    ) -> _Request:
        texts, numbers = as_missing_values(missing_values)
        if only_judge is not None and not (isinstance(only_judge, str) and only_judge):
            raise TypeError(f"only_judge must be a name, got {only_judge!r}")
        if judge is not None and only_judge is not None:
            raise ValueError("give judge or only_judge, not both: a column, or one name for all")
        return cls(
            columns=as_columns(item=item, judge=judge, attribute=attribute, score=score),
            only_judge=only_judge,
            attributes=as_names(attributes, "attributes"),
            where=as_where(where),
            rules=CellRules(
                texts, numbers, as_scale(scale), as_choice(decimal, "decimal", (".", ","))
            ),
            delimiter=delimiter,
            workers=workers,
        )

    def parts(
        self,
        table: Any,
        *,
        max_bytes: int | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> Generator[tuple[Source, Layout, Panel, Faults], None, None]:
        """Open the table, find its layout and read it; Ctrl-C stops the statement it is in."""
        if progress is not None and not callable(progress):
            raise TypeError(f"progress must be callable, got {type(progress).__name__}")
        with Session(self.workers) as session:
            source = open_source(table, session, delimiter=self.delimiter)

            def layout_of() -> Layout:
                with explained(source, session):
                    return find_layout(
                        source,
                        session,
                        **self.columns,
                        only_judge=self.only_judge,
                        attributes=self.attributes,
                        rows=condition(source, self.where),
                        rules=self.rules,
                    )

            layout = session.run(layout_of)
            parts = load_parts(
                source, session, layout, self.rules, max_bytes=max_bytes, progress=progress
            )

            def next_part() -> tuple[Panel, Faults] | None:
                with explained(source, session):
                    return next(parts, None)

            while (part := session.run(next_part)) is not None:
                yield source, layout, *part
