"""Answers against gold: the counts behind everything that needs to know what is right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.answers import as_answer_codes, as_gold_codes
from ropoll_core._checks.options import as_choice
from ropoll_core._kernels.plurality import grade_rows
from ropoll_core._parallel import run_chunks

__all__ = ["MISSING", "Graded", "grade_codes", "grade_table", "tie_credit"]

MISSING = ("omit", "wrong")
Counts = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Graded:
    """Queries that have a gold answer, with the counts of each."""

    codes: Counts  # (n_queries, n_judges), -1 missing
    gold: Counts  # (n_queries,), below 0: nobody gave it
    n_classes: int
    rows: NDArray[np.intp]  # which rows of the input these are
    count: Counts  # size of the largest class
    n_valid: Counts
    n_tied: Counts  # how many classes have that size
    n_correct: Counts
    slots: Counts  # (n_queries, n_slots) sizes of the wrong classes, largest first
    n_given: int
    n_no_gold: int
    n_incomplete: int  # queries left out for a missing answer

    @property
    def modal(self) -> NDArray[np.bool_]:
        """Whether the gold answer is one of the largest classes."""
        found: NDArray[np.bool_] = (self.n_correct == self.count) & (self.count > 0)
        return found

    @property
    def errors(self) -> NDArray[np.bool_]:
        """(n_queries, n_judges): a judge answered, and not the gold answer."""
        wrong: NDArray[np.bool_] = (self.codes != self.gold[:, None]) & (self.codes >= 0)
        return wrong


def grade_table(
    answers: Any,
    gold: Any,
    *,
    key: Any,
    missing: str,
    complete: bool = False,
    n_slots: int = 0,
    workers: int | None = None,
) -> Graded:
    """Check and grade; `complete` leaves out queries in which some judge is missing."""
    # Check arguments
    missing = as_choice(missing, "missing", MISSING)
    coded = as_answer_codes(answers, key)
    wanted = as_gold_codes(gold, coded)

    # Missing answers: a class of its own each under "wrong"
    codes, n_classes = coded.codes, coded.n_classes
    if missing == "wrong":
        lonely = n_classes + np.arange(codes.shape[1], dtype=np.int32)
        codes = np.where(codes < 0, lonely, codes)
        n_classes += codes.shape[1]

    # Leave out what cannot be graded
    known = wanted != -1
    full = (codes >= 0).all(axis=1) if complete else np.ones(len(codes), dtype=bool)
    rows = np.flatnonzero(known & full)
    if rows.size == 0:
        raise ValueError(
            f"no query is left: of {len(codes)}, {int((~known).sum())} have no gold answer"
            + (f" and {int((known & ~full).sum())} lack an answer" if complete else "")
        )
    if not (coded.codes[rows] >= 0).any():
        raise ValueError("answers are all missing")
    return grade_codes(
        codes[rows],
        wanted[rows],
        n_classes,
        rows,
        n_slots=n_slots,
        n_given=len(codes),
        n_no_gold=int((~known).sum()),
        n_incomplete=int((known & ~full).sum()),
        workers=workers,
    )


def grade_codes(
    codes: Counts,
    gold: Counts,
    n_classes: int,
    rows: NDArray[np.intp],
    *,
    n_slots: int,
    n_given: int,
    n_no_gold: int,
    n_incomplete: int,
    workers: int | None,
) -> Graded:
    """Count, on codes that are in order."""
    codes = np.ascontiguousarray(codes)
    n_queries, n_judges = codes.shape
    count, n_valid, n_tied, n_correct = np.empty((4, n_queries), dtype=np.int32)
    slots = np.empty((n_queries, n_slots), dtype=np.int32)
    run_chunks(
        lambda start, stop, counts: grade_rows(
            codes, gold, counts, count, n_valid, n_tied, n_correct, slots, start, stop
        ),
        n_queries,
        cost_ns=10 + 8 * n_judges,
        workers=workers,
        scratch=lambda: np.zeros(max(n_classes, 1), dtype=np.int32),
    )
    return Graded(
        codes, gold, n_classes, rows, count, n_valid, n_tied, n_correct, slots,
        n_given, n_no_gold, n_incomplete,
    )  # fmt: skip


def tie_credit(modal: NDArray[np.bool_], n_tied: Counts, rule: str) -> NDArray[np.float64]:
    """Credit of a consensus by tie rule; see ConsensusLaw."""
    if rule == "correct":
        return modal.astype(np.float64)
    if rule == "strict":
        modal = modal & (n_tied == 1)
        return modal.astype(np.float64)
    credit: NDArray[np.float64] = np.where(modal, 1.0 / np.maximum(n_tied, 1), 0.0)
    return credit
