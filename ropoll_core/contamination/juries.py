"""Generated juries whose truth is known."""

from __future__ import annotations

from typing import Any

import numpy as np

from ropoll_core._checks.options import as_count, as_real
from ropoll_core._checks.study import as_rates, as_reals, as_scale, as_truth
from ropoll_core._kernels import contamination as kernels
from ropoll_core._parallel import run_chunks
from ropoll_core._results.study import SimulatedJury
from ropoll_core.contamination.panels import check_limits, stream_key

__all__ = ["simulate_jury"]


def simulate_jury(
    n_items: int,
    n_judges: int,
    n_attributes: int,
    *,
    scale: Any,
    sigma: Any,
    correlation: float = 0.0,
    failure_rate: Any = 0.0,
    truth: Any = None,
    rng: Any = None,
    workers: int | None = None,
) -> SimulatedJury:
    """Generate a clean jury: scores are the truth plus equicorrelated Gaussian errors.

    Judge i reports y* + sigma_i (sqrt(gamma) g + sqrt(1 - gamma) e_i) on each attribute, with
    g common to the judges of the item; with probability `failure_rate` it reports nothing.

    Parameters
    ----------
    n_items, n_judges, n_attributes : int
        At least 1 each.
    scale : (float, float)
        The truth is uniform between these; scores are not clipped to it, so that the laws of
        `theory` hold exactly.
    sigma : float or array of shape (n_judges,)
        Standard deviation of a judge's error on one attribute.
    correlation : float
        gamma, from 0 to 1: correlation of the errors of any two judges.
    failure_rate : float or array of shape (n_judges,)
        Probability that a judge is missing on an item.
    truth : array of shape (n_items, n_attributes), optional
        The true scores, in place of drawn ones.
    rng : None, int, numpy.random.SeedSequence or numpy.random.Generator
        Every draw is a function of (rng, item, judge, attribute) alone.
    workers : int, optional
        Threads; the result does not depend on it.

    Returns
    -------
    SimulatedJury
        `truth`, `scores` and the parameters.

    Raises
    ------
    TypeError, ValueError
        If an argument is of another type or shape, or out of range.

    Notes
    -----
    The observation model of arXiv 2606.30931 without contamination, which
    :func:`corrupt` adds. Cost O(n_items n_judges n_attributes), about 20 ns a value.

    Examples
    --------
    >>> from ropoll_core import contamination, theory
    >>> jury = contamination.simulate_jury(
    ...     2000, 5, 4, scale=(0, 4), sigma=0.5, correlation=0.5, rng=1
    ... )
    >>> jury.scores.shape
    (2000, 5, 4)
    >>> abs(theory.judge_correlation(jury.scores, truth=jury.truth).gamma - 0.5) < 0.02
    True
    """
    # Check arguments
    n_items = as_count(n_items, "n_items")
    n_judges = as_count(n_judges, "n_judges")
    n_attributes = as_count(n_attributes, "n_attributes")
    check_limits(n_judges, n_attributes)
    low, high = as_scale(scale)
    spread = as_reals(sigma, "sigma", low=0)
    if spread.shape not in {(), (n_judges,)}:
        raise ValueError(f"sigma must be a number or have shape ({n_judges},), got {spread.shape}")
    spread = np.ascontiguousarray(np.broadcast_to(spread, n_judges))
    gamma = as_real(correlation, "correlation", low=0, high=1)
    failures = as_rates(failure_rate, "failure_rate", n_judges)
    key = stream_key(rng)

    # Compute
    cost_ns = 20.0 * (n_judges + 1) * n_attributes
    if truth is None:
        known = np.empty((n_items, n_attributes))
        run_chunks(
            lambda start, stop: kernels.draw_truth_rows(key, low, high, start, stop, known),
            n_items,
            cost_ns=10.0 * n_attributes,
            workers=workers,
        )
    else:
        known = as_truth(truth, n_items, n_attributes)
    scores = np.empty((n_items, n_judges, n_attributes))
    shared, own = spread * np.sqrt(gamma), spread * np.sqrt(1 - gamma)
    run_chunks(
        lambda start, stop: kernels.simulate_rows(
            key, known, shared, own, failures, start, stop, scores
        ),
        n_items,
        cost_ns=cost_ns,
        workers=workers,
    )

    # Wrap
    return SimulatedJury(
        truth=known,
        scores=scores,
        scale=(low, high),
        sigma=spread,
        correlation=gamma,
        failure_rate=failures,
    )
