"""Best-of-N by jury support."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.answers import AnswerCodes, as_answer_codes, as_gold_codes
from ropoll_core._checks.options import as_plain_array
from ropoll_core._kernels.candidates import select_rows
from ropoll_core._parallel import run_chunks
from ropoll_core._results.jury import Interval
from ropoll_core._results.jury_uses import CandidateSelection
from ropoll_core.jury._resample import Resampling, interval_at, task_numbers

__all__ = ["select_candidate"]

Floats = NDArray[np.float64]


def select_candidate(
    candidates: Any,
    panel: Any,
    *,
    gold: Any = None,
    scores: Any = None,
    key: Any = None,
    tasks: Any = None,
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
    rng: Any = None,
    workers: int | None = None,
) -> CandidateSelection:
    """Select, for each query, the candidate answer that most panel members gave too.

    Parameters
    ----------
    candidates : table, (n_queries, n_candidates)
        The pool: answers among which to select, in their order; missing ones cannot be.
    panel : table, (n_queries, n_members)
        Answers of the panel members.
    gold : array_like, (n_queries,), optional
        Right answers. With them, the jury is set against self-consistency, the argmax of
        `scores` and the oracle.
    scores : array_like of float, (n_queries, n_candidates), optional
        A verifier's score of each candidate; NaN for none.
    key : callable, optional
        Takes an answer to its equivalence class, as for :func:`consensus`.
    tasks : array_like, (n_queries,), optional
        Whole tasks are resampled. Default: each query on its own.
    n_resamples : int
    confidence_level : float
    rng : None, int, numpy.random.SeedSequence or numpy.random.Generator
    workers : int, optional

    Returns
    -------
    CandidateSelection
        index, answer, support; with gold: accuracy of each selector, the jury's gain over the
        others and its one-sided p-value, from one set of resamples.

    Raises
    ------
    TypeError, ValueError
        Bad tables or options; numbers of queries that differ; no gold answer at all.

    Notes
    -----
    The selector of "LLMs as a Jury" (arXiv 2607.10139): support by the panel, then frequency in
    the pool, then the earliest. An answer that most members gave but no candidate has falls to
    the best supported candidate. Self-consistency: frequency in the pool, then the earliest.

    Examples
    --------
    >>> from ropoll_core import jury
    >>> pool = [["7", "7", "9"], ["x", "y", "y"]]
    >>> panel = [["9", "9", "7", "8"], ["z", "z", "z", "x"]]
    >>> chosen = jury.select_candidate(pool, panel)
    >>> chosen.index, chosen.support
    (array([2, 0], dtype=int32), array([2, 1], dtype=int32))
    """
    # Check arguments
    if key is not None and not callable(key):
        raise TypeError(f"key must be callable, got {type(key).__name__}")
    pool = as_answer_codes(candidates, key, "candidates")
    members = as_answer_codes(panel, key, "panel")
    n_queries, n_candidates = pool.shape
    if members.shape[0] != n_queries:
        raise ValueError(
            f"panel must have the {n_queries} queries of candidates, got {members.shape[0]}"
        )
    ranks = None if scores is None else _as_candidate_scores(scores, pool)
    wanted = None if gold is None else as_gold_codes(gold, pool)
    if wanted is not None and (wanted == -1).all():
        raise ValueError(f"gold must have an answer for some query, all {n_queries} are missing")
    rows = np.arange(n_queries) if wanted is None else np.flatnonzero(wanted != -1)
    of_task = task_numbers(tasks, n_queries, rows)

    # Compute
    to_pool = np.array([pool.class_of.get(c, -1) for c in members.class_of] + [-1], dtype=np.int32)
    votes = np.ascontiguousarray(to_pool[members.codes])
    index, support, frequent = np.empty((3, n_queries), dtype=np.int32)
    run_chunks(
        lambda start, stop: select_rows(pool.codes, votes, index, support, frequent, start, stop),
        n_queries,
        cost_ns=10 + n_candidates * (n_candidates + votes.shape[1]),
        workers=workers,
    )
    accuracy: dict[str, Interval] = {}
    gain: dict[str, Interval] = {}
    p_value: dict[str, float] = {}
    if wanted is not None:
        chosen = {"jury": index, "self_consistency": frequent}
        if ranks is not None:
            chosen["argmax_score"] = ranks
        correct = {name: _is_right(pool, at, wanted)[rows] for name, at in chosen.items()}
        correct["oracle"] = (pool.codes == wanted[:, None]).any(axis=1)[rows]
        options = Resampling(n_resamples, confidence_level, rng, workers)
        accuracy, gain, p_value = _compare(correct, of_task, options)

    # Wrap
    return CandidateSelection(
        index=index,
        answer=_answers_at(pool, index),
        support=support,
        n_unsupported=int(((support == 0) & (index >= 0)).sum()),
        accuracy=accuracy,
        gain=gain,
        p_value=p_value,
        n_queries=n_queries,
        n_no_gold=n_queries - len(rows),
    )


def _as_candidate_scores(scores: Any, pool: AnswerCodes) -> NDArray[np.int32]:
    """Index of the best scored candidate, the earliest of equals; -1 where none has a score."""
    array = as_plain_array(scores, "scores", fill="numpy.nan")
    if array.dtype.kind not in "iuf":
        raise TypeError(f"scores must hold real numbers, got dtype {array.dtype}")
    if array.shape != pool.shape:
        raise ValueError(
            f"scores must have the shape of candidates, {pool.shape}, got {array.shape}"
        )
    usable = ~np.isnan(array) & (pool.codes >= 0)
    best = np.where(usable, array, -np.inf).max(axis=1, keepdims=True)
    at: NDArray[np.int32] = (usable & (array == best)).argmax(axis=1).astype(np.int32)
    at[~usable.any(axis=1)] = -1
    return at


def _is_right(
    pool: AnswerCodes, index: NDArray[np.int32], gold: NDArray[np.int32]
) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = (pool.codes[np.arange(len(index)), index] == gold) & (index >= 0)
    return found


def _answers_at(pool: AnswerCodes, index: NDArray[np.int32]) -> NDArray[np.object_]:
    answer = np.full(len(index), None, dtype=object)
    for row in np.flatnonzero(index >= 0):
        answer[row] = pool.values[pool.value_codes[row, index[row]]]
    return answer


def _compare(
    correct: dict[str, NDArray[np.bool_]], of_task: NDArray[np.int64], options: Resampling
) -> tuple[dict[str, Interval], dict[str, Interval], dict[str, float]]:
    names = list(correct)
    moments = np.stack([np.ones(len(of_task), dtype=np.int64), *correct.values()], axis=1)

    def statistic(totals: Floats) -> Floats:
        share = totals[1:] / totals[0]
        return np.concatenate([share, (totals[1] - totals[2:]) / totals[0]])

    boot = options.run(statistic, moments, of_task)
    accuracy = {name: interval_at(boot, at) for at, name in enumerate(names)}
    others = list(enumerate(names[1:], start=len(names)))
    gain = {name: interval_at(boot, at) for at, name in others}
    p_value = {name: float(np.asarray(boot.p_not_positive)[at]) for at, name in others}
    return accuracy, gain, p_value
