"""Long tables of binary ballots: one row for each (item, judge)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ropoll_core._checks.options import as_choice
from ropoll_core._checks.tables import as_columns, as_missing_values, as_where
from ropoll_core._results.tables import VoteTable
from ropoll_core.tables._ballots import Read, Roles, read_ballots
from ropoll_core.tables._cells import MISSING_TEXTS, condition
from ropoll_core.tables._encode import explained, listed
from ropoll_core.tables._errors import TableError
from ropoll_core.tables._session import Session, literal
from ropoll_core.tables._source import Source, open_source

__all__ = ["VOTE_TEXTS", "read_votes"]

# The texts that are a vote without ``positive=``, compared without regard to case.
VOTE_TEXTS = {
    **dict.fromkeys(("1", "1.0", "true", "t", "yes", "y", "pass", "correct"), 1),
    **dict.fromkeys(("0", "0.0", "false", "f", "no", "n", "fail", "incorrect"), 0),
}


def read_votes(
    table: Any,
    *,
    item: str | None = None,
    judge: str | None = None,
    vote: str | None = None,
    label: str | None = None,
    tasks: str | None = None,
    positive: str | None = None,
    signal: str | None = None,
    where: Mapping[str, str] | None = None,
    missing_values: Iterable[str | float] = (),
    on_bad: str = "raise",
    delimiter: str | None = None,
    workers: int | None = None,
) -> VoteTable:
    """Read a long table of binary ballots: a row for each (item, judge).

    Parameters
    ----------
    table : path, Arrow table, pandas or polars frame
        As for `read_scores`.
    item, judge, vote, label, tasks : str, optional
        The columns. Without them the only column with a usual name is taken. Item and judge as
        for `read_scores`; vote, ballot, verdict, decision, pass; label, gold, truth, target;
        task (unless that is the item). A table may do without label and tasks.
    positive : str, optional
        The text that becomes 1; there may be one other, which becomes 0. Without it votes and
        labels must be 1, true, t, yes, y, pass, correct or 0, false, f, no, n, fail,
        incorrect, in any case of letters.
    signal : str, optional
        The judge whose ballots are the signal; it is not in ``votes``.
    where : mapping of str to str, optional
        Read only the rows whose cells equal these texts.
    missing_values : list of str or number, optional
        Further cells that mean no ballot, beside empty cells, nulls, NaN and the texts NA, N/A,
        n/a, NaN, nan, null and None.
    on_bad : {"raise", "missing"}
        What to do with a vote that is neither class: an error, or count it and treat it as
        missing. A label that is neither is always an error.
    delimiter, workers
        As for `read_scores`.

    Returns
    -------
    VoteTable
        Votes (n_items, n_judges) as int8 with -1 for missing, labels, signal, tasks, the ids
        exactly as written in order of first appearance, and what was left out.

    Raises
    ------
    TableError
        A ValueError that names the file, the line, the column and the value: a vote that is
        neither class, a key given twice, a label or task that differs within an item, a
        missing id, a broken file.
    ImportError
        If the ``cli`` extra is not installed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from ropoll_core.tables import read_votes
    >>> path = pathlib.Path(tempfile.mkdtemp(), "votes.csv")
    >>> _ = path.write_text("item,judge,vote,label\\nq1,a,yes,yes\\nq1,b,no,yes\\nq2,a,no,no\\n")
    >>> table = read_votes(path)
    >>> table.votes
    array([[ 1,  0],
           [ 0, -1]], dtype=int8)
    >>> table.labels
    array([1, 0], dtype=int8)
    """
    declared, _ = as_missing_values(missing_values)
    conditions = as_where(where)
    as_columns(item=item, judge=judge, vote=vote, label=label, tasks=tasks)
    strict = as_choice(on_bad, "on_bad", ("raise", "missing")) == "raise"
    with Session(workers) as session:
        source = open_source(table, session, delimiter=delimiter)

        def read() -> VoteTable:
            with explained(source, session):
                roles = Roles.find(
                    source, "vote", vote, item=item, judge=judge, tasks=tasks,
                    truth="label", truth_given=label,
                )  # fmt: skip
                rows = condition(source, conditions)
                read = read_ballots(session, source, roles, rows, ("", *MISSING_TEXTS), declared)
                return _as_votes(read, positive, signal, strict)

        return session.run(read)


def _as_votes(read: Read, positive: str | None, signal: str | None, strict: bool) -> VoteTable:
    source = read.encoded.source
    labels = () if read.truth is None else dict.fromkeys(t for t in read.truth if t is not None)
    texts = list(dict.fromkeys([*read.texts, *labels]))
    value = _classes(source, texts, positive)
    bad = [text for text in read.texts if text not in value]
    n_bad, examples = 0, []
    if bad:
        n_bad = int(np.isin(read.codes, [i for i, t in enumerate(read.texts) if t in bad]).sum())
        examples = _examples(read, bad)
        if strict:
            classes = f"{positive!r} and one other" if positive else ", ".join(VOTE_TEXTS)
            raise TableError(
                f"{source.name}: {n_bad} cells are not votes ({classes}){listed(examples, n_bad)}",
                "say which text is a 1 (positive=), name them among the missing values "
                '(missing_values=), or count such cells as missing (on_bad="missing")',
            )
    _check_labels(read, value)
    lookup = np.array([*(value.get(text, -1) for text in read.texts), -1], dtype=np.int8)
    votes = lookup[read.codes]
    judges, by_signal = read.judges, None
    if signal is not None:
        if signal not in judges:
            raise TableError(
                f"{source.name}: no judge {signal!r}; the judges are "
                f"{', '.join(map(repr, judges[:20]))}",
                "it was given by signal=",
            )
        keep = judges != signal
        by_signal = np.ascontiguousarray(votes[:, ~keep][:, 0])
        votes, judges = np.ascontiguousarray(votes[:, keep]), judges[keep]
        if not len(judges):
            raise TableError(f"{source.name}: the signal {signal!r} is the only judge")
    return VoteTable(
        votes=votes,
        items=read.items,
        judges=judges,
        labels=None
        if read.truth is None
        else np.array([-1 if t is None else value[t] for t in read.truth], dtype=np.int8),
        signal=by_signal,
        tasks=read.tasks,
        classes=tuple(  # type: ignore[arg-type]
            ", ".join(text for text in texts if value.get(text) == cls) for cls in (0, 1)
        ),
        n_rows=read.n_rows,
        left_out=read.left_out(n_bad, examples),
    )


def _classes(source: Source, texts: Sequence[str], positive: str | None) -> dict[str, int]:
    """Text -> 0 or 1, for the texts that are votes."""
    if positive is None:
        return {t: VOTE_TEXTS[t.lower()] for t in texts if t.lower() in VOTE_TEXTS}
    if not isinstance(positive, str):
        raise TypeError(f"positive must be a text, got {positive!r}")
    others = [text for text in texts if text != positive]
    if len(others) > 1:
        raise TableError(
            f"{source.name}: beside the positive {positive!r} there may be one other class, got "
            f"{', '.join(map(repr, others[:8]))}"
        )
    return {positive: 1, **dict.fromkeys(others, 0)}


def _check_labels(read: Read, value: Mapping[str, int]) -> None:
    column = read.roles.truth
    if read.truth is None or column is None:
        return
    for item, text in zip(read.items, read.truth, strict=True):
        if text is not None and text not in value:
            source = read.encoded.source
            record, _ = read.encoded.records([column.text], f"c0 = {literal(text)}")[0]
            raise TableError(
                f"{source.name}, {source.places([record])[0]}, column {column.name!r}: the label "
                f"of item {item!r} is {text!r}, which is neither class",
                "say which text is a 1 (positive=)",
            )


def _examples(read: Read, bad: Sequence[str]) -> list[str]:
    column = read.roles.value
    test = f"c0 IN ({', '.join(map(literal, bad))})"
    found = read.encoded.records([column.text], test)
    places = read.encoded.source.places([record for record, _ in found])
    return [
        f"{place}, column {column.name!r}: {text!r}"
        for place, (_, text) in zip(places, found, strict=True)
    ]
