"""Errors of aggregators over corruptions, rates and committees."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.options import as_count, as_flag, as_real
from ropoll_core._checks.resampling import as_tasks
from ropoll_core._checks.study import as_scale, as_truth, as_valid_scores
from ropoll_core._results.study import Sweep
from ropoll_core.contamination.cells import Committee, Study, cell_totals
from ropoll_core.contamination.corruptions import CORRUPTIONS
from ropoll_core.contamination.methods import Method, as_method, refusal
from ropoll_core.contamination.panels import (
    as_corruption,
    check_limits,
    natural_failure_rate,
    stream_key,
)
from ropoll_core.contamination.plan import (
    Plan,
    as_committees,
    as_named,
    as_rate_rows,
)
from ropoll_core.contamination.state import SweepState
from ropoll_core.resampling import OfTotals, bootstrap

__all__ = ["PAPER_METHODS", "PAPER_RATES", "sweep"]

#: Aggregators compared unless others are named.
PAPER_METHODS = ("geometric_median", "mean", "coordinatewise_median", "trimmed_mean")
#: Corruption rates used unless others are given.
PAPER_RATES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)


def sweep(
    truth: Any,
    scores: Any,
    *,
    scale: Any,
    methods: Sequence[str] | Mapping[str, Any] = PAPER_METHODS,
    corruptions: Sequence[str] | Mapping[str, Any] = tuple(CORRUPTIONS),
    rates: Any = PAPER_RATES,
    committees: Sequence[Any] | Mapping[str, Any] | None = None,
    n_replicates: int = 20,
    colluding: bool = False,
    baseline: str | None = "mean",
    tasks: Any = None,
    n_resamples: int = 2000,
    confidence_level: float = 0.95,
    rng: Any = None,
    workers: int | None = None,
    progress: Callable[[int, int], Any] | None = None,
    state: str | os.PathLike[str] | None = None,
) -> Sweep:
    """Error of every method under every corruption, at every rate, for every committee.

    Each panel is generated once and read by all methods; its draws depend on (rng, replicate,
    item, judge, attribute) alone, so curves over rates and committees are paired.

    Parameters
    ----------
    truth : array of shape (n_items, n_attributes)
        Items whose truth is NaN are left out and counted.
    scores : array of shape (n_items, n_judges, n_attributes)
        Scores of the jury as it is, generated (:func:`simulate_jury`) or real; NaN where
        missing. A missing judge stays missing.
    scale : (float, float)
        Ends of the scale of scores.
    methods : sequence of str, or mapping
        Names known to ``scores.aggregate``; or label -> name or function from panels
        (n_panels, n_judges, n_attributes) to estimates (n_panels, n_attributes).
    corruptions : sequence of str, or mapping
        Names in `CORRUPTIONS`; or label -> name or function of :class:`CorruptedCells`.
    rates : array of shape (n_rates,) or (n_rates, n_judges)
        Probability that a cell is corrupted, for all judges or for each.
    committees : sequence or mapping, optional
        Each entry is a list of judges, or an integer n: n judges drawn for each panel, which
        averages over all committees of that size. None: the whole jury. A mapping names them.
    n_replicates : int
        Independent corruptions of each item.
    colluding : bool
        As in :func:`corrupt`.
    baseline : str or None
        The method that `ratio` compares with.
    tasks : array of shape (n_items,), optional
        The task of each item; tasks are what the bootstrap draws. None: each item is one.
    n_resamples, confidence_level
        Of the bootstrap; 0 resamples leave the intervals out (NaN).
    rng : None, int, numpy.random.SeedSequence or numpy.random.Generator
    workers : int, optional
        Threads; the result does not depend on it. -1: all cores.
    progress : callable, optional
        Called with (cells done, all cells) as the sweep goes.
    state : path, optional
        A file that keeps what is done; a run that was interrupted and is started again with the
        same data, options and `rng` goes on from it, to the same result.

    Returns
    -------
    Sweep
        Arrays over (committee, corruption, rate, method); `table()` and `premium`.

    Raises
    ------
    TypeError, ValueError
        If an argument is of another type or shape, or out of range; if `state` belongs to
        another sweep.

    Notes
    -----
    The protocol of arXiv 2606.30931. A method that refuses panels of a
    committee's size (ValueError) is noted in `not_applicable`. Memory does not grow with the
    number of replicates or cells, apart from the result.

    Examples
    --------
    >>> from ropoll_core import contamination
    >>> jury = contamination.simulate_jury(
    ...     200, 7, 4, scale=(0, 4), sigma=0.5, correlation=0.4, rng=1
    ... )
    >>> result = contamination.sweep(
    ...     jury.truth, jury.scores, scale=(0, 4), methods=["geometric_median", "mean"],
    ...     corruptions=["cauchy-far"], rates=[0, 0.3], n_replicates=3, rng=2,
    ... )
    >>> result.rmse.shape
    (1, 1, 2, 2)
    >>> bool(result.ratio[0, 0, 1, 0] < 0.2)
    True
    """
    # Check arguments
    clean, _ = as_valid_scores(scores)
    n_items, n_judges, n_attributes = clean.shape
    check_limits(n_judges, n_attributes)
    known = as_truth(truth, n_items, n_attributes)
    named_methods = as_named(methods, "methods", as_method)
    named_corruptions = as_named(corruptions, "corruptions", as_corruption)
    rate_rows = as_rate_rows(rates, n_judges)
    seats = as_committees(committees, n_judges)
    if baseline is not None and baseline not in named_methods:
        raise ValueError(
            f"baseline must be None or one of the methods {', '.join(named_methods)}; "
            f"got {baseline!r}"
        )
    n_resamples = as_count(n_resamples, "n_resamples", least=0)
    level = as_real(
        confidence_level, "confidence_level", low=0, high=1, open_low=True, open_high=True
    )
    if state is not None and rng is None:
        raise ValueError("state needs a fixed rng, got None: no other run could go on from it")
    use = ~np.isnan(known).any(axis=1)
    if not use.any():
        raise ValueError("truth must be known for at least one item")
    study = Study(
        truth=np.ascontiguousarray(known[use]),
        scores=np.ascontiguousarray(clean[use]),
        scale=as_scale(scale),
        colluding=as_flag(colluding, "colluding"),
        n_replicates=as_count(n_replicates, "n_replicates", most=2**31),
        key=stream_key(rng),
    )
    codes, _ = as_tasks(tasks, n_items)

    # Compute
    refused = _refusals(named_methods, seats, n_attributes)
    plan = Plan(
        study, named_methods, named_corruptions, rate_rows, seats,
        None if codes is None else codes[use], baseline,
        n_resamples, level, refused,
    )  # fmt: skip
    shape = (len(seats), len(named_corruptions), len(rate_rows))
    arrays = _no_results(*shape, len(named_methods))
    done = SweepState(state, plan.fingerprint(), arrays, shape)
    _run(plan, done, workers, progress)

    # Wrap
    natural = natural_failure_rate(study.scores)
    return Sweep(
        methods=tuple(named_methods),
        corruptions=tuple(named_corruptions),
        committees=tuple(seat.name for seat in seats),
        rates=_mean_rates(rate_rows),
        **arrays,
        effective_rate=_effective_rates(natural, rate_rows, seats),
        natural_failure_rate=natural,
        not_applicable=refused,
        n_judges=np.array([seat.size for seat in seats]),
        n_panels=int(use.sum()) * study.n_replicates,
        n_unknown=int((~use).sum()),
        baseline=baseline,
        confidence_level=level,
    )


_ERRORS = ("rmse", "rmse_low", "rmse_high", "ratio", "ratio_low", "ratio_high")


def _no_results(*shape: int) -> dict[str, NDArray[Any]]:
    """Arrays of results of `shape` before any method has run."""
    arrays: dict[str, NDArray[Any]] = {name: np.full(shape, np.nan) for name in _ERRORS}
    arrays["n_undefined"] = np.zeros(shape, dtype=np.int64)
    return arrays


def _refusals(
    methods: Mapping[str, Method], seats: Sequence[Committee], n_attributes: int
) -> dict[tuple[str, str], str]:
    """(method, committee) -> why the method refuses panels of that size."""
    return {
        (name, seat.name): reason
        for name, method in methods.items()
        for seat in seats
        if (reason := refusal(method, seat.size, n_attributes)) is not None
    }


def _mean_rates(rates: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of all judges; one rate for all is itself, for the mean of equal numbers may round."""
    mean: NDArray[np.float64] = np.where(
        np.ptp(rates, axis=1) == 0, rates[:, 0], rates.mean(axis=1)
    )
    return mean


def _run(
    plan: Plan,
    done: SweepState,
    workers: int | None,
    progress: Callable[[int, int], Any] | None,
) -> None:
    """Fill `done`, cell by cell."""
    report = progress if progress is not None else _silent
    report(int(done.cells.sum()), done.cells.size)
    try:
        for cell in map(tuple, np.argwhere(~done.cells)):
            clean = not plan.rates[cell[2]].any()
            # Nobody is corrupted at rate 0, so all corruptions have one and the same cell.
            if clean and cell[1] > 0:
                done.copy(cell, (cell[0], 0, cell[2]))
            else:
                done.finish(cell, _cell(plan, cell, workers))
            report(int(done.cells.sum()), done.cells.size)
    finally:
        done.save()


def _silent(done: int, total: int) -> None:
    """No progress report."""


def _cell(plan: Plan, cell: tuple[int, ...], workers: int | None) -> dict[str, NDArray[Any]]:
    """Results of one cell, each (n_methods,)."""
    seat = plan.seats[cell[0]]
    function = list(plan.corruptions.values())[cell[1]]
    apply = [(name, seat.name) not in plan.refused for name in plan.methods]
    methods = dict(itertools.compress(plan.methods.items(), apply))
    names = list(methods)
    values = _no_results(len(plan.methods))
    if not methods:
        return values
    totals, counts = cell_totals(plan.study, seat, function, plan.rates[cell[2]], methods, workers)
    reference = names.index(plan.baseline) if plan.baseline in names else None
    estimate, low, high = _intervals(plan, totals, counts, reference, workers)
    n = len(names)
    for prefix, numbers in (("", estimate), ("_low", low), ("_high", high)):
        values[f"rmse{prefix}"][apply] = numbers[:n]
        if reference is not None:
            values[f"ratio{prefix}"][apply] = numbers[n:]
    n_panels = plan.study.n_replicates * plan.study.truth.shape[0]
    values["n_undefined"][apply] = n_panels - counts.sum(axis=1)
    return values


def _intervals(
    plan: Plan,
    totals: NDArray[np.float64],
    counts: NDArray[np.int64],
    reference: int | None,
    workers: int | None,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Estimate, low and high of each method's RMSE, then of its ratio to the reference's."""
    n = len(totals)

    def errors(moments: NDArray[np.float64]) -> NDArray[np.float64]:
        with np.errstate(divide="ignore", invalid="ignore"):
            rmse = np.sqrt(moments[:n] / moments[n:])
            if reference is None:
                return rmse
            return np.concatenate([rmse, rmse / rmse[reference]])

    moments = np.concatenate([totals, counts.astype(np.float64)])
    estimate = errors(moments.sum(axis=1, keepdims=True))[:, 0]
    if plan.n_resamples == 0:
        return estimate, np.full_like(estimate, np.nan), np.full_like(estimate, np.nan)
    result = bootstrap(
        OfTotals(errors),
        moments.T,
        tasks=plan.tasks,
        n_resamples=plan.n_resamples,
        confidence_level=plan.level,
        rng=np.random.SeedSequence(plan.study.key),
        workers=workers,
    )
    return estimate, result.low, result.high


def _effective_rates(
    natural: NDArray[np.float64], rates: NDArray[np.float64], seats: list[Committee]
) -> NDArray[np.float64]:
    by_judge = natural + (1 - natural) * rates
    return np.stack(
        [by_judge[:, seat.judges if seat.judges.size else ...].mean(axis=1) for seat in seats]
    )
