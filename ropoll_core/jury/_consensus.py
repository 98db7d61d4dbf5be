"""Plurality consensus."""

from __future__ import annotations

from typing import Any

import numpy as np

from ropoll_core._checks.answers import as_answer_codes
from ropoll_core._checks.options import as_choice
from ropoll_core._kernels.plurality import plurality_rows, take_rows
from ropoll_core._parallel import run_chunks
from ropoll_core._results.jury import Consensus
from ropoll_core._rng import as_key

__all__ = ["consensus"]

# What the kernel does with a tie; "expected" and "none" differ in the credit alone.
_POLICY = {"first": 0, "frequency": 1, "random": 2, "expected": 3, "none": 3}


def consensus(
    answers: Any,
    *,
    ties: str = "expected",
    key: Any = None,
    rng: Any = None,
    workers: int | None = None,
) -> Consensus:
    """Take the most common answer of each query, and how many judges agree on it.

    Parameters
    ----------
    answers : table, (n_queries, n_judges)
        Answers of any hashable type: an array, a list of rows, a dict of columns (judge to
        answers), a pandas or polars data frame or an Arrow table. Equal as Python has it: 7 and
        7.0 are one answer, 7 and "7" two. None, NaN and NA are missing and do not vote; the
        empty text is an answer.
    ties : {"expected", "none", "first", "frequency", "random"}
        What to do when several classes are the largest; such queries are flagged in any case.
        "expected": no answer; accuracies count 1 / n_tied if the right one is among them.
        "none": no answer, and no credit. "first": the class of the judge listed first (so it
        depends on the order of the judges). "frequency": the class most frequent in the whole
        table, then the first listed. "random": each with equal chance.
    key : callable or ndarray of int, (n_queries, n_judges), optional
        Which answers are equivalent. A callable takes an answer to its class, None for missing,
        and is asked once for each distinct answer; an array holds the classes themselves,
        which may be numbered anew in each query, negative for missing.
    rng : None, int, numpy.random.SeedSequence or numpy.random.Generator
        For ties="random": the choice is a function of this and the row of the query.
    workers : int, optional
        Threads; None means 1 or the default set for the process, -1 all.

    Returns
    -------
    Consensus
        answer, agreement, count, n_valid, tie, n_tied, judge; and ``.accuracy(gold)``.

    Raises
    ------
    TypeError
        If `answers` is no table, an answer is not hashable, or an option has a wrong type.
    ValueError
        If `answers` is not rectangular or has no judge, or an option has a wrong value.

    Notes
    -----
    The modal class and agreement of "LLMs as a Jury" (arXiv 2607.10139). Answers are coded once,
    about 3 ns each for numbers and short text in arrays and 25 ns for Python objects; counting
    then costs about 2 ns an answer for up to 16 judges and 5 ns for more.

    Examples
    --------
    >>> from ropoll_core import jury
    >>> panel = jury.consensus([["A", "A", "B"], ["C", None, "D"], [None, None, None]])
    >>> panel.answer
    array(['A', None, None], dtype=object)
    >>> panel.tie
    array([False,  True, False])
    >>> panel.accuracy(["A", "D", "B"])
    0.5
    """
    # Check arguments
    coded = as_answer_codes(answers, key)
    policy = _POLICY[as_choice(ties, "ties", tuple(_POLICY))]
    high, low = as_key(rng) if ties == "random" else (0, 0)

    # Compute
    n_queries, n_judges = coded.shape
    frequency = np.zeros(max(coded.n_classes, 1), dtype=np.int64)
    if ties == "frequency":
        valid = coded.codes[coded.codes >= 0]
        frequency += np.bincount(valid, minlength=frequency.size)
    judge, count, n_valid, n_tied = np.empty((4, n_queries), dtype=np.int32)
    run_chunks(
        lambda start, stop, counts: plurality_rows(
            coded.codes, policy, frequency, high, low, counts,
            judge, count, n_valid, n_tied, start, stop,
        ),
        n_queries,
        cost_ns=10 + 5 * n_judges,
        workers=workers,
        scratch=lambda: np.zeros(frequency.size, dtype=np.int32),
    )  # fmt: skip

    # Wrap
    return _wrap(coded, ties, judge, count, n_valid, n_tied)


def _wrap(coded: Any, ties: str, judge: Any, count: Any, n_valid: Any, n_tied: Any) -> Consensus:
    values = np.empty(len(coded.values) + 1, dtype=object)  # the last is None, for code -1
    values[:-1] = coded.values
    code = np.empty(len(judge), dtype=np.int32)
    take_rows(coded.value_codes, judge, code, 0, len(judge))
    with np.errstate(invalid="ignore"):
        agreement = count / n_valid
    tie = n_tied > 1
    return Consensus(
        answer=values[code],
        agreement=agreement,
        count=count,
        n_valid=n_valid,
        tie=tie,
        n_tied=n_tied,
        judge=judge,
        ties=ties,
        n_unanswered=int((n_valid == 0).sum()),
        n_ties=int(tie.sum()),
        _coded=coded,
    )
