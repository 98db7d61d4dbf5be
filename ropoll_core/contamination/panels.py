"""Corrupted copies of a jury's scores, by the per-case protocol."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.options import as_count, as_flag
from ropoll_core._checks.study import as_rates, as_reals, as_scale, as_truth, as_valid_scores
from ropoll_core._kernels import contamination as kernels
from ropoll_core._kernels.counter_rng import subkey
from ropoll_core._parallel import run_chunks
from ropoll_core._results.study import CorruptedScores, plain
from ropoll_core._rng import as_key
from ropoll_core.contamination.corruptions import (
    CORRUPTIONS,
    CorruptedCells,
    Corruption,
    kind_of,
)

__all__ = ["as_corruption", "corrupt", "effective_rate", "fill_cells", "natural_failure_rate"]


def corrupt(
    truth: Any,
    scores: Any,
    corruption: str | Callable[[CorruptedCells], Any],
    *,
    rate: Any,
    scale: Any,
    replicate: int = 0,
    colluding: bool = False,
    rng: Any = None,
    workers: int | None = None,
) -> CorruptedScores:
    """Corrupt (item, judge) cells of a jury's scores, each with probability `rate`.

    The per-case protocol: the jury keeps its size, and what a hit judge reports is replaced. A
    judge that is missing stays missing, so a judge with natural failure rate f is lost or
    corrupted at the effective rate f + (1 - f) rate.

    Parameters
    ----------
    truth : array of shape (n_items, n_attributes)
    scores : array of shape (n_items, n_judges, n_attributes)
        NaN where missing; a judge with a missing attribute is missing for that item.
    corruption : str or callable
        A name in `CORRUPTIONS`, or a function of :class:`CorruptedCells`.
    rate : float or array of shape (n_judges,)
        Probability that a cell is corrupted; an array gives each judge its own.
    scale : (float, float)
        Lower and upper end of the scale of scores.
    replicate : int
        Which of the independent draws of this `rng`.
    colluding : bool
        The judges hit on one item report one and the same vector, where it is random.
    rng : None, int, numpy.random.SeedSequence or numpy.random.Generator
        Every draw is a function of (rng, replicate, item, judge, attribute) alone, and a cell
        hit at one rate is hit at every higher one.
    workers : int, optional
        Threads; the result does not depend on it.

    Returns
    -------
    CorruptedScores
        `scores`, `hit`, rates.

    Raises
    ------
    TypeError, ValueError
        If an argument is of another type or shape, out of range, or holds +-inf.

    Notes
    -----
    The contamination model of arXiv 2606.30931. Cost O(n_items n_judges n_attributes), about
    10 ns a value.

    Examples
    --------
    >>> import numpy as np
    >>> from ropoll_core import contamination
    >>> truth = np.array([[1.0, 3.0]])
    >>> scores = np.array([[[1.2, 2.9], [0.9, 3.1]]])
    >>> contamination.corrupt(truth, scores, "inverted", rate=[0, 1], scale=(0, 4)).scores
    array([[[1.2, 2.9],
            [3. , 1. ]]])
    """
    # Check arguments
    clean, valid = as_valid_scores(scores)
    n_items, n_judges, n_attributes = clean.shape
    check_limits(n_judges, n_attributes)
    known = as_truth(truth, n_items, n_attributes)
    function = as_corruption(corruption)
    rates = as_rates(rate, "rate", n_judges)
    ends = as_scale(scale)
    replicate = as_count(replicate, "replicate", least=0, most=2**31)
    colluding = as_flag(colluding, "colluding")

    # Compute
    source = kernels.Source(known, clean, rates, stream_key(rng), ends, colluding)
    everyone = np.arange(n_judges)
    out = np.empty_like(clean)
    hit = np.empty((n_items, n_judges), dtype=np.uint8)

    def kernel(start: int, stop: int) -> None:
        panels, cells = out[start:stop], hit[start:stop]
        kernels.corrupt_rows(
            source, kind_of(function), everyone, 0, replicate, 1, start, stop, panels, cells
        )
        if kind_of(function) == kernels.NO_KIND:
            replicates = np.full(stop - start, replicate)
            members = np.broadcast_to(everyone, cells.shape)
            items = np.arange(start, stop)
            fill_cells(source, function, known, replicates, items, members, ends, panels, cells)

    run_chunks(kernel, n_items, cost_ns=15.0 * n_judges * (1 + n_attributes), workers=workers)

    # Wrap
    natural = _failure_rate(clean, valid)
    return CorruptedScores(
        scores=out,
        hit=hit.astype(bool),
        rate=rates,
        natural_failure_rate=natural,
        effective_rate=natural + (1 - natural) * rates,
    )


def fill_cells(
    source: kernels.Source,
    function: Corruption,
    truth: NDArray[np.float64],
    replicates: NDArray[np.int64],
    items: NDArray[np.int64],
    members: NDArray[np.int64],
    scale: tuple[float, float],
    panels: NDArray[np.float64],
    hit: NDArray[np.uint8],
) -> None:
    """Replace the hit cells of `panels` by what a user's corruption gives for them.

    `replicates`, `items` (n_panels,) and `members` (n_panels, n_judges) say what the panels are.
    """
    panel, place = np.nonzero(hit)
    if not panel.size:
        return
    cells = CorruptedCells(
        source,
        truth[items[panel]],
        panels[panel, place],
        np.ascontiguousarray(replicates[panel], dtype=np.int64),
        np.ascontiguousarray(items[panel], dtype=np.int64),
        np.ascontiguousarray(members[panel, place], dtype=np.int64),
        scale,
    )
    values = np.asarray(function(cells))
    name = getattr(function, "__name__", repr(function))
    if values.dtype.kind not in "iuf":
        raise TypeError(f"corruption {name} must give real numbers, got dtype {values.dtype}")
    if values.shape != cells.truth.shape:
        raise ValueError(
            f"corruption {name} must give shape (n_cells, n_attributes) = {cells.truth.shape}, "
            f"got {values.shape}"
        )
    if np.isinf(values).any():
        raise ValueError(f"corruption {name} must give finite numbers or NaN, got an infinity")
    panels[panel, place] = values


def as_corruption(corruption: Any) -> Corruption:
    """The function behind a name of the registry, or the callable itself."""
    if isinstance(corruption, str):
        if corruption not in CORRUPTIONS:
            raise ValueError(
                f"corruption must be one of {', '.join(CORRUPTIONS)}, or a function; "
                f"got {corruption!r}"
            )
        return CORRUPTIONS[corruption]
    if not callable(corruption):
        raise TypeError(
            f"corruption must be a string or a function, got {type(corruption).__name__}"
        )
    function: Corruption = corruption
    return function


def stream_key(rng: Any) -> tuple[int, int]:
    """Key of the draws of this package, apart from other uses of the same `rng`."""
    return subkey(*as_key(rng), int.from_bytes(b"contamin"))


def check_limits(n_judges: int, n_attributes: int) -> None:
    """Raise for more judges or attributes than the counters of the draws can tell apart."""
    if n_judges > kernels.MOST_JUDGES or n_attributes > kernels.MOST_ATTRIBUTES:
        raise ValueError(
            f"scores must have at most {kernels.MOST_JUDGES} judges and "
            f"{kernels.MOST_ATTRIBUTES} attributes, got {n_judges} and {n_attributes}"
        )


def natural_failure_rate(scores: Any) -> NDArray[np.float64]:
    """Share of items on which each judge failed by itself: missing, or zeros only.

    Parameters
    ----------
    scores : array of shape (n_items, n_judges, n_attributes)

    Returns
    -------
    ndarray of shape (n_judges,)
        NaN if there is no item.

    Raises
    ------
    TypeError, ValueError
        If `scores` is not an array of numbers of that shape, or holds +-inf.

    Examples
    --------
    >>> from ropoll_core import contamination
    >>> contamination.natural_failure_rate([[[0, 0], [3, 4]], [[2, 0], [1, float("nan")]]])
    array([0.5, 0.5])
    """
    return _failure_rate(*as_valid_scores(scores))


def _failure_rate(clean: NDArray[np.float64], valid: NDArray[np.bool_]) -> NDArray[np.float64]:
    failed = ~valid
    nothing = np.nonzero(clean[:, :, 0] == 0)
    failed[nothing] = (clean[nothing] == 0).all(axis=1)
    if not len(failed):
        return np.full(failed.shape[1], np.nan)
    rate: NDArray[np.float64] = failed.mean(axis=0)
    return rate


def effective_rate(natural: Any, rate: Any) -> Any:
    """f + (1 - f) r: probability that a judge failed by itself or was corrupted.

    Parameters
    ----------
    natural, rate : float or array
        f and r, from 0 to 1.

    Returns
    -------
    float or ndarray

    Raises
    ------
    TypeError, ValueError
        If an argument is not a number, or out of its range.

    Examples
    --------
    >>> from ropoll_core import contamination
    >>> contamination.effective_rate(0.1, [0.0, 0.5])
    array([0.1 , 0.55])
    """
    f = as_reals(natural, "natural", low=0, high=1)
    r = as_reals(rate, "rate", low=0, high=1)
    return plain(f + (1 - f) * r)
