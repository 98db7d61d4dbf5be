"""Panel design: every sub-panel of one size."""

from __future__ import annotations

import itertools
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.law import LARGEST_PANEL
from ropoll_core._checks.options import as_choice, as_count
from ropoll_core._results.jury_uses import BestPanel
from ropoll_core._rng import as_generator
from ropoll_core.jury._graded import Graded, grade_codes, grade_table, tie_credit
from ropoll_core.jury._inputs import inputs_from, stack_inputs
from ropoll_core.jury._law import TIE_RULES, evaluate_law
from ropoll_core.jury._resample import task_numbers

__all__ = ["best_panel"]

MOST_PANELS = 100_000
CRITERIA = ("measured_accuracy", "predicted_accuracy", "measured_floor", "predicted_floor")

Floats = NDArray[np.float64]


def best_panel(
    answers: Any,
    gold: Any,
    size: int,
    *,
    ties: str = "uniform",
    key: Any = None,
    missing: str = "omit",
    max_attractors: int = 6,
    tasks: Any = None,
    n_folds: int = 5,
    rng: Any = None,
    workers: int | None = None,
) -> BestPanel:
    """Rank all sub-panels of one size, and show what the best is worth on other queries.

    Parameters
    ----------
    answers : table, (n_queries, n_judges)
        As for :func:`consensus`.
    gold : array_like, (n_queries,)
        Right answers; queries without one are left out and counted.
    size : int
        Judges in a panel, 2 to n_judges.
    ties, key
        As for :func:`selective_accuracy`.
    missing : {"omit", "wrong"}
        "omit" leaves out queries on which some judge did not answer, so that all panels are
        compared on the same ones; "wrong" takes such an answer as wrong and shared with nobody.
    max_attractors : int
        Length of the profile of the law.
    tasks : array_like, (n_queries,), optional
        Whole tasks go to a fold. Default: each query on its own.
    n_folds : int
        For each fold, the panel is chosen on the others and scored on it.
    rng : None, int, numpy.random.SeedSequence or numpy.random.Generator
        Deals the tasks to the folds.
    workers : int, optional

    Returns
    -------
    BestPanel
        The ranking; for each criterion the panel chosen, its accuracy on the queries that it was
        chosen on (`apparent`) and that of the choice on held-out queries (`cross_fitted`).

    Raises
    ------
    TypeError, ValueError
        Bad tables or options; more than 100,000 panels; fewer tasks than folds.

    Notes
    -----
    Of many panels that are equally good, the best on some queries looks better than it is: the
    difference of `apparent` and `cross_fitted` is that winner's curse. Costs about 0.1 us a
    query and panel, and judge.

    Examples
    --------
    >>> from ropoll_core import ConsensusLaw, jury
    >>> answers = ConsensusLaw(0.6, 0.3, [0.5, 0.3]).simulate(6, 400, rng=1)
    >>> result = jury.best_panel(answers, [0] * 400, 4, rng=2)
    >>> len(result.members), result.apparent["measured_accuracy"] > result.mean_accuracy
    (15, True)
    """
    # Check arguments
    ties = as_choice(ties, "ties", TIE_RULES)
    max_attractors = as_count(max_attractors, "max_attractors", most=LARGEST_PANEL)
    n_folds = as_count(n_folds, "n_folds", least=2)
    graded = grade_table(answers, gold, key=key, missing=missing, complete=True, workers=workers)
    n_judges = graded.codes.shape[1]
    if n_judges < 2:
        raise ValueError(f"answers must have at least 2 judges, got {n_judges}")
    size = as_count(size, "size", least=2, most=min(n_judges, LARGEST_PANEL))
    if math.comb(n_judges, size) > MOST_PANELS:
        raise ValueError(
            f"size must leave at most {MOST_PANELS:,} panels, "
            f"got {math.comb(n_judges, size):,} of {size} among {n_judges} judges"
        )
    of_task = task_numbers(tasks, graded.n_given, graded.rows)
    fold = _deal(of_task, n_folds, rng)

    # Compute: totals of each panel in each fold, then everything from sums of those
    members = np.array(list(itertools.combinations(range(n_judges), size)), dtype=np.intp)
    n_slots = min(max_attractors, size)
    totals = [_panel_totals(graded, panel, n_slots, ties, fold, n_folds, workers)
              for panel in members]  # fmt: skip
    inputs = np.stack([t.inputs for t in totals])  # (n_panels, n_moments, n_folds)
    right, floor = np.stack([t.right for t in totals]), np.stack([t.floor for t in totals])
    n_rows = np.bincount(fold, minlength=n_folds).astype(np.float64)
    rule = TIE_RULES.index(ties)
    whole = _criteria(_all(inputs), _all(right), _all(floor), n_rows.sum(), size, rule)
    without = _criteria(
        _all(inputs) - inputs, _all(right) - right, _all(floor) - floor,
        n_rows.sum() - n_rows, size, rule,
    )  # fmt: skip
    choice = {name: _choose(name, whole[name])[0] for name in CRITERIA}
    by_fold = {name: _choose(name, without[name]) for name in CRITERIA}
    scored = {name: right[at, np.arange(n_folds)].sum() / n_rows.sum()
              for name, at in by_fold.items()}  # fmt: skip

    # Wrap
    ranking = {name: value[:, 0] for name, value in whole.items()}
    order = np.argsort(-ranking["measured_accuracy"], kind="stable")
    return BestPanel(
        members=members[order],
        **{name: value[order] for name, value in ranking.items()},
        mean_accuracy=float(ranking["measured_accuracy"].mean()),
        chosen={name: tuple(int(j) for j in members[at]) for name, at in choice.items()},
        apparent={name: float(ranking["measured_accuracy"][at]) for name, at in choice.items()},
        cross_fitted={name: float(value) for name, value in scored.items()},
        fold_choice={name: members[at] for name, at in by_fold.items()},
        ties=ties,
        n_queries=len(graded.gold),
        n_no_gold=graded.n_no_gold,
        n_incomplete=graded.n_incomplete,
        n_folds=n_folds,
    )


def _deal(of_task: NDArray[np.int64], n_folds: int, rng: Any) -> NDArray[np.int64]:
    """Fold of each query; whole tasks, folds of equal numbers of tasks up to one."""
    numbers, place = np.unique(of_task, return_inverse=True)
    if numbers.size < n_folds:
        raise ValueError(f"n_folds must be at most the number of tasks, {numbers.size}")
    draw = as_generator(rng)
    fold = np.empty(numbers.size, dtype=np.int64)
    fold[draw.permutation(numbers.size)] = np.arange(numbers.size) % n_folds
    dealt: NDArray[np.int64] = fold[place.reshape(-1)]
    return dealt


class _Totals(NamedTuple):
    inputs: Floats  # (n_moments, n_folds)
    right: Floats  # (n_folds,) credits
    floor: Floats  # (n_folds,) unanimous and wrong


def _panel_totals(
    graded: Graded,
    panel: NDArray[np.intp],
    n_slots: int,
    ties: str,
    fold: NDArray[np.int64],
    n_folds: int,
    workers: int | None,
) -> _Totals:
    part = grade_codes(
        graded.codes[:, panel], graded.gold, graded.n_classes, graded.rows, n_slots=n_slots,
        n_given=graded.n_given, n_no_gold=graded.n_no_gold, n_incomplete=graded.n_incomplete,
        workers=workers,
    )  # fmt: skip
    floor = (part.count == len(panel)) & (part.n_correct == 0)
    inputs = [np.bincount(fold, column, n_folds) for column in stack_inputs(part).T]
    credit = tie_credit(part.modal, part.n_tied, ties)
    return _Totals(
        np.array(inputs),
        np.bincount(fold, credit, n_folds).astype(np.float64),
        np.bincount(fold, floor, n_folds).astype(np.float64),
    )


def _all(by_fold: Floats) -> Floats:
    whole: Floats = by_fold.sum(axis=-1, keepdims=True)
    return whole


def _criteria(
    inputs: Floats, right: Floats, floor: Floats, n_rows: Any, size: int, rule: int
) -> dict[str, Floats]:
    """Each criterion as (n_panels, n), n sets of queries."""
    n_panels, n_moments, n = inputs.shape
    flat = np.ascontiguousarray(inputs.transpose(1, 0, 2).reshape(n_moments, n_panels * n))
    table = evaluate_law(*inputs_from(flat, size).usable(), size)
    return {
        "measured_accuracy": right / n_rows,
        "predicted_accuracy": table.correct[rule].sum(axis=-1).reshape(n_panels, n),
        "measured_floor": floor / n_rows,
        "predicted_floor": table.floor.reshape(n_panels, n),
    }


def _choose(name: str, values: Floats) -> NDArray[np.intp]:
    """Best panel of each column, the first of equals; a panel without a value never wins."""
    better = -values if name.endswith("floor") else values
    first: NDArray[np.intp] = np.where(np.isnan(better), -np.inf, better).argmax(axis=0)
    return first
