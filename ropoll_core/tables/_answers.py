"""Long tables of answers: one row for each (item, judge)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ropoll_core._checks.options import as_choice
from ropoll_core._checks.tables import as_columns, as_missing_values, as_where
from ropoll_core._results.tables import AnswerTable
from ropoll_core.tables._ballots import Read, Roles, read_ballots
from ropoll_core.tables._cells import condition
from ropoll_core.tables._encode import explained
from ropoll_core.tables._session import Session
from ropoll_core.tables._source import open_source

__all__ = ["read_answers"]


def read_answers(
    table: Any,
    *,
    item: str | None = None,
    judge: str | None = None,
    answer: str | None = None,
    gold: str | None = None,
    tasks: str | None = None,
    groups: str | None = None,
    where: Mapping[str, str] | None = None,
    missing_values: Iterable[str | float] = (),
    empty: str = "missing",
    delimiter: str | None = None,
    workers: int | None = None,
) -> AnswerTable:
    """Read a long table of answers: a row for each (item, judge).

    Parameters
    ----------
    table : path, Arrow table, pandas or polars frame
        As for `read_scores`.
    item, judge, answer, gold, tasks, groups : str, optional
        The columns. Without them the only column with a usual name is taken. Item and judge as
        for `read_scores`; answer, prediction, choice, response; gold, label, truth, target;
        task (unless that is the item). There is no usual name for groups. A table may do
        without gold, tasks and groups.
    where : mapping of str to str, optional
        Read only the rows whose cells equal these texts.
    missing_values : list of str or number, optional
        Texts that mean no answer, compared as written, in answers and in gold.
    empty : {"missing", "category"}
        Whether an empty text is no answer or an answer of its own; a null is never an answer.
    delimiter, workers
        As for `read_scores`.

    Returns
    -------
    AnswerTable
        Answers (n_items, n_judges) as codes with -1 for missing, the texts of the codes, gold,
        tasks, groups, the ids exactly as written in order of first appearance, and what was
        left out.

    Raises
    ------
    TableError
        A ValueError that names the file, the line, the column and the value: a key given
        twice, a gold, task or group that differs within an item, a missing id, a broken file.
    ImportError
        If the ``cli`` extra is not installed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from ropoll_core.tables import read_answers
    >>> path = pathlib.Path(tempfile.mkdtemp(), "answers.csv")
    >>> _ = path.write_text("item,judge,answer,gold\\nq1,a,B,C\\nq1,b,C,C\\nq2,a,B,B\\n")
    >>> table = read_answers(path)
    >>> table.answers
    array([[ 0,  1],
           [ 0, -1]], dtype=int32)
    >>> table.categories[table.gold]
    array(['C', 'B'], dtype=object)
    """
    declared, _ = as_missing_values(missing_values)
    conditions = as_where(where)
    as_columns(item=item, judge=judge, answer=answer, gold=gold, tasks=tasks, groups=groups)
    nothing = ("",) if as_choice(empty, "empty", ("missing", "category")) == "missing" else ()
    with Session(workers) as session:
        source = open_source(table, session, delimiter=delimiter)

        def read() -> AnswerTable:
            with explained(source, session):
                roles = Roles.find(
                    source, "answer", answer, item=item, judge=judge, tasks=tasks,
                    truth="gold", truth_given=gold, groups=groups,
                )  # fmt: skip
                rows = condition(source, conditions)
                return _as_answers(read_ballots(session, source, roles, rows, nothing, declared))

        return session.run(read)


def _as_answers(read: Read) -> AnswerTable:
    gold = None
    categories = list(read.texts)
    if read.truth is not None:
        code = {text: i for i, text in enumerate(categories)}
        for text in read.truth:
            if text is not None and text not in code:
                code[text] = len(categories)
                categories.append(text)
        codes = [-1 if text is None else code[text] for text in read.truth]
        gold = np.array(codes, dtype=np.int32)
    return AnswerTable(
        answers=read.codes,
        categories=np.array(categories, dtype=object),
        items=read.items,
        judges=read.judges,
        gold=gold,
        tasks=read.tasks,
        groups=read.groups,
        n_rows=read.n_rows,
        left_out=read.left_out(),
    )
