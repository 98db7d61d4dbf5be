"""Substitution of one ballot among more than two classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.answers import as_answer_codes
from ropoll_core._kernels import plurality_substitution as kernels
from ropoll_core._parallel import run_chunks
from ropoll_core._results.votes import Substitution
from ropoll_core.votes._rules import as_rule
from ropoll_core.votes._substitution import StratumTable, summarise

__all__ = ["plurality_substitution"]


def plurality_substitution(
    answers: Any, signal: Any, gold: Any, *, rule: Any = "uniform", workers: int | None = None
) -> Substitution:
    """Replace one ballot of a plurality vote by a signal: the exact expected gain.

    Parameters
    ----------
    answers : array_like (n_queries, n_judges)
        Ballots of any hashable type; None or NaN is missing.
    signal, gold : array_like (n_queries,)
        The signal's answer (missing: nothing is replaced) and the right one (missing: the query
        is left out, and counted).
    rule : {"uniform", "majority"} or int
        Which ballot is replaced: each valid one with equal probability; one of the winning
        class (none, if the vote is tied); that of this judge, if valid.
    workers : int, optional
        Threads; see :func:`ropoll_core.default_workers`.

    Returns
    -------
    Substitution
        As for binary ballots, but a tie has no winner and is never correct; a query is pivotal
        if some ballot, given to some class, changes the winner; and strata are the lead of the
        winner over the runner-up, 0 for a tie.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong type or shape.

    Notes
    -----
    Every replacement is tried: k^2 steps a query. One ballot changes a lead by 2 at most, and
    at 2 or below some ballot changes the winner, so that the pivotal strata are 0, 1 and 2.

    Examples
    --------
    >>> from ropoll_core.votes import plurality_substitution
    >>> result = plurality_substitution([["A", "A", "B"], ["A", "B", "C"]], ["B", "B"], ["B", "B"])
    >>> result.total_gain, result.n_pivotal, result.stratum.tolist()
    (Fraction(4, 3), 2, [0, 1])
    """
    # Check arguments: answers / signal / gold / rule
    coded = as_answer_codes(answers)
    n_queries, n_judges = coded.shape
    classes = dict(coded.class_of)
    signal_codes = _column(signal, "signal", n_queries, classes)
    gold_codes = _column(gold, "gold", n_queries, classes)
    rule = as_rule(rule, n_judges)

    codes = np.ascontiguousarray(coded.codes)
    outcome, lead = np.empty(n_queries, np.int32), np.empty(n_queries, np.int32)
    after = np.empty((n_queries, n_judges), np.bool_)

    def kernel(start: int, stop: int, counts: NDArray[np.int32]) -> None:
        data = (codes, signal_codes, gold_codes, counts)
        kernels.replacement_rows(*data, outcome, lead, after.view(np.uint8), start, stop)

    run_chunks(
        kernel,
        n_queries,
        cost_ns=3.0 * n_judges**2,
        workers=workers,
        scratch=lambda: np.zeros(max(len(classes), 1), np.int32),
    )
    valid = codes >= 0
    chosen = valid
    if isinstance(rule, int):
        chosen = valid & (np.arange(n_judges) == rule)
    elif rule == "majority":
        chosen = valid & (codes == outcome[:, None])
    return summarise(_by_lead(valid, chosen, outcome, lead, after, signal_codes, gold_codes), rule)


def _by_lead(
    valid: NDArray[np.bool_],
    chosen: NDArray[np.bool_],
    outcome: NDArray[np.int32],
    lead: NDArray[np.int32],
    after: NDArray[np.bool_],
    signal: NDArray[np.int32],
    gold: NDArray[np.int32],
) -> StratumTable:
    """What the result is read off, with leads for strata; a lead above 2 outlives any ballot."""
    n_judges = valid.shape[1]
    strata, pivotal = range(n_judges + 1), range(min(n_judges, 2) + 1)
    voted = valid.any(axis=1)
    scored = voted & (gold >= 0)
    right = scored & (outcome == gold)
    groups = (scored, scored & ~right, scored & (signal >= 0), scored & (signal == gold))
    sums = [np.bincount(lead[rows], minlength=len(strata)) for rows in groups]
    moved = scored & (lead < len(pivotal))
    gained = (chosen & (after != right[:, None])).sum(axis=1) * np.where(right, -1, 1)
    gains = np.zeros((1, len(pivotal), n_judges + 1), np.int64)
    np.add.at(gains[0], (lead[moved], chosen.sum(axis=1)[moved]), gained[moved])
    return StratumTable(
        strata=strata,
        pivotal=pivotal,
        sums=np.stack(sums, axis=1)[None],
        gains=gains,
        n_empty=int((~voted).sum()),
        n_unlabelled=int((voted & ~scored).sum()),
    )


def _column(
    values: Any, argument: str, n_queries: int, classes: dict[Any, int]
) -> NDArray[np.int32]:
    """Codes of a column in the classes of the answers, which grow by what is new."""
    listed = list(values)
    if len(listed) != n_queries:
        raise ValueError(
            f"{argument} must have shape ({n_queries},), one value a query, got {len(listed)}"
        )
    if not listed:
        return np.empty(0, np.int32)
    own = as_answer_codes([[value] for value in listed], None, argument)
    table = [classes.setdefault(value, len(classes)) for value in own.values]
    codes = own.value_codes[:, 0]
    return np.where(codes < 0, -1, np.array([*table, -1], np.int32)[codes]).astype(np.int32)
