"""Fitting the consensus law, and holding its predictions against what was measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.answers import as_group_codes
from ropoll_core._checks.law import LARGEST_PANEL
from ropoll_core._checks.options import as_count, as_plain_array, as_real
from ropoll_core._results.jury import Interval, LawFit
from ropoll_core._rng import as_key
from ropoll_core.jury._graded import Graded, grade_table
from ropoll_core.jury._inputs import inputs_from, n_input_moments, stack_inputs
from ropoll_core.jury._law import TIE_RULES, ConsensusLaw, at_least, evaluate_law
from ropoll_core.jury._resample import Resampling, clopper_pearson, interval_at, task_numbers

__all__ = ["fit_law"]

Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]


def fit_law(
    answers: Any,
    gold: Any,
    *,
    key: Any,
    missing: str,
    max_attractors: int,
    tasks: Any,
    split: Any,
    groups: Any,
    options: Resampling,
) -> LawFit:
    """See ConsensusLaw.fit."""
    # Check arguments
    max_attractors = as_count(max_attractors, "max_attractors", most=LARGEST_PANEL)
    if split is not None and groups is not None:
        raise ValueError("give split or groups, not both: each says what is held out")
    graded = grade_table(
        answers,
        gold,
        key=key,
        missing=missing,
        complete=True,
        n_slots=max_attractors,
        workers=options.workers,
    )
    n_judges = graded.codes.shape[1]
    if not 2 <= n_judges <= LARGEST_PANEL:
        raise ValueError(f"answers must have 2 to {LARGEST_PANEL} judges, got {n_judges}")
    of_task = task_numbers(tasks, graded.n_given, graded.rows)
    options = options._replace(rng=np.random.SeedSequence(as_key(options.rng)))

    # Compute
    everything = np.ones(len(graded.gold), dtype=bool)
    calibrate = everything
    if split is not None:
        calibrate = _calibration_rows(split, graded, of_task, options.rng)
    fit = _fit_parts(graded, of_task, calibrate, everything if split is None else ~calibrate,
                     options)  # fmt: skip
    if groups is None:
        return fit
    group, names = as_group_codes(groups, graded.n_given, "groups")
    group = group[graded.rows]
    present = [number for number in range(len(names)) if (group == number).any()]
    if len(present) < 2:
        raise ValueError(f"groups must have at least two groups, got {len(present)}")
    held_out = {
        names[number]: _fit_parts(graded, of_task, group != number, group == number, options)
        for number in present
    }
    return replace(fit, held_out=held_out)


def _calibration_rows(
    split: Any, graded: Graded, of_task: NDArray[Any], seed: np.random.SeedSequence
) -> Mask:
    """Rows to calibrate on: as marked, or a share of the tasks drawn at random."""
    array = as_plain_array(split, "split")
    if array.ndim == 0 and array.dtype.kind != "b":
        share = as_real(split, "split", low=0.0, high=1.0, open_low=True, open_high=True)
        numbers = np.unique(of_task)
        draw = np.random.Generator(np.random.Philox(seed.spawn(1)[0]))
        chosen = draw.permutation(numbers)[: round(share * numbers.size)]
        rows: Mask = np.isin(of_task, chosen)
    elif array.dtype.kind == "b" and array.shape == (graded.n_given,):
        rows = array[graded.rows]
    else:
        raise ValueError(
            f"split must be a number in (0, 1) or a bool array of shape ({graded.n_given},), True "
            f"to calibrate; got dtype {array.dtype}, shape {array.shape}"
        )
    if not rows.any() or rows.all():
        raise ValueError(
            f"split must leave queries on both sides, got {int(rows.sum())} to calibrate on and "
            f"{int((~rows).sum())} to predict"
        )
    return rows


class _Layout(NamedTuple):
    """Where things stand among the outputs of the statistic."""

    n_judges: int
    n_slots: int

    def parts(self) -> dict[str, slice]:
        sizes = {"inputs": 2 + self.n_slots, "floor": 2, "predicted": 3, "measured": 3, "gap": 3,
                 "coverage": self.n_judges, "measured_coverage": self.n_judges}  # fmt: skip
        parts, start = {}, 0
        for name, size in sizes.items():
            parts[name] = slice(start, start + size)
            start += size
        return parts


def _evaluation_moments(graded: Graded) -> tuple[NDArray[np.int64], list[int]]:
    """1, unanimous and wrong, modal size by size, right by number of tied classes."""
    n_queries, n_judges = graded.codes.shape
    tied = sorted(int(t) for t in np.unique(graded.n_tied[graded.modal]))
    moments = np.zeros((n_queries, 2 + n_judges + len(tied)), dtype=np.int64)
    moments[:, 0] = 1
    moments[:, 1] = (graded.count == n_judges) & (graded.n_correct == 0)
    moments[np.arange(n_queries), 1 + graded.count] = 1
    for column, t in enumerate(tied, start=2 + n_judges):
        moments[:, column] = graded.modal & (graded.n_tied == t)
    return moments, tied


def _statistic(layout: _Layout, tied: list[int]) -> Callable[[Floats], Floats]:
    n_judges = layout.n_judges
    n_inputs = n_input_moments(n_judges, layout.n_slots)
    rules = {"correct": [1.0] * len(tied), "uniform": [1.0 / t for t in tied],
             "strict": [float(t == 1) for t in tied]}  # fmt: skip

    def statistic(totals: Floats) -> Floats:
        inputs = inputs_from(totals[:n_inputs], n_judges)
        table = evaluate_law(*inputs.usable(), n_judges)
        predicted = table.correct.sum(axis=-1)
        n, floor = totals[n_inputs], totals[n_inputs + 1]
        sizes = totals[n_inputs + 2 : n_inputs + 2 + n_judges]
        right = totals[n_inputs + 2 + n_judges :]
        measured = np.zeros((3, totals.shape[1]))
        for row, rule in zip(measured, TIE_RULES, strict=True):
            for credit, count in zip(rules[rule], right, strict=True):
                row += credit * count
        with np.errstate(invalid="ignore", divide="ignore"):
            measured /= n
            floor = floor / n
            coverage = at_least(sizes.T).T / n
        return np.concatenate([
            [inputs.accuracy, inputs.correlation], inputs.attractors.T, [table.floor, floor],
            predicted, measured, predicted - measured, at_least(table.size).T, coverage,
        ])  # fmt: skip

    return statistic


def _fit_parts(
    graded: Graded, of_task: NDArray[Any], calibrate: Mask, evaluate: Mask, options: Resampling
) -> LawFit:
    """Fit to some rows, measure on some rows; the same or others."""
    n_judges, n_slots = graded.codes.shape[1], min(graded.slots.shape[1], graded.codes.shape[1])
    graded = replace(graded, slots=graded.slots[:, :n_slots])
    layout = _Layout(n_judges, n_slots)
    inputs = stack_inputs(graded) * calibrate[:, None]
    outcomes, tied = _evaluation_moments(graded)
    moments = np.concatenate([inputs, outcomes * evaluate[:, None]], axis=1)

    totals = inputs.sum(axis=0, dtype=np.float64)[:, None]
    estimate = inputs_from(totals, n_judges)
    a, rho, masses = (part[0] for part in estimate.usable())
    boot = options.run(_statistic(layout, tied), moments, of_task)

    # Wrap
    where = layout.parts()

    def by_rule(name: str) -> dict[str, Interval]:
        return {
            rule: interval_at(boot, where[name].start + at) for at, rule in enumerate(TIE_RULES)
        }

    n_errors = totals[1 : n_judges + 1, 0]
    reason = ""
    if np.isnan(rho):
        reason = (
            "the correlation of errors is undefined: no two judges are both sometimes right and "
            f"sometimes wrong; errors of the judges: {n_errors.astype(int)} of {int(totals[0, 0])}"
        )
    constant = np.isin(n_errors, (0, totals[0, 0]))
    n_calibration, n_evaluation = int(calibrate.sum()), int(evaluate.sum())
    floor_events = int((outcomes[:, 1] * evaluate).sum())
    exact = clopper_pearson(floor_events, n_evaluation, options.confidence_level)
    return LawFit(
        law=None if reason else ConsensusLaw(float(a), float(rho), masses),
        reason=reason,
        member_accuracy=interval_at(boot, 0),
        correlation=interval_at(boot, 1),
        attractors=interval_at(boot, slice(2, 2 + n_slots)),
        predicted_accuracy=by_rule("predicted"),
        measured_accuracy=by_rule("measured"),
        accuracy_gap=by_rule("gap"),
        predicted_floor=interval_at(boot, where["floor"].start),
        measured_floor=Interval(floor_events / n_evaluation, *exact),
        floor_events=floor_events,
        predicted_coverage=interval_at(boot, where["coverage"]),
        measured_coverage=interval_at(boot, where["measured_coverage"]),
        accuracy_by_member=1.0 - n_errors / n_calibration,
        left_out=tuple(int(j) for j in np.flatnonzero(constant)),
        n_members=n_judges,
        n_calibration=n_calibration,
        n_evaluation=n_evaluation,
        n_no_gold=graded.n_no_gold,
        n_incomplete=graded.n_incomplete,
        n_tasks=boot.n_tasks,
        n_resamples=options.n_resamples,
        n_undefined=int(np.isnan(boot.replicates[where["predicted"].start]).sum()),
        n_negative=int((boot.replicates[1] < 0.0).sum()),
        held_out={},
    )  # fmt: skip
