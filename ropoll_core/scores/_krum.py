"""Krum, multi-Krum and Bulyan: judges chosen by the distances to their nearest others."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.options import as_count
from ropoll_core._checks.panels import Panels, as_panels
from ropoll_core._kernels import toolbox
from ropoll_core._results.aggregate import Aggregate, AggregateStatus
from ropoll_core.scores._run import run_panels

__all__ = ["bulyan", "krum", "multi_krum"]


def krum(
    scores: Any,
    *,
    n_faulty: int,
    nan_policy: str = "omit",
    out: NDArray[Any] | None = None,
    workers: int | None = None,
    full_output: bool = False,
) -> NDArray[Any] | Aggregate:
    """The judge's score vector that lies closest to its nearest others (Krum).

    Parameters
    ----------
    scores : array_like of shape (..., n_judges, n_attributes)
        Score vectors. float32 gives float32, everything else float64.
    n_faulty : int
        How many judges may be faulty, at least 0; the panel needs 2 `n_faulty` + 3 judges.
    nan_policy : {"omit", "propagate", "raise"}
        A judge with a missing (NaN) attribute is missing as a whole for that query. "omit" uses
        the others, "propagate" makes the query NaN, "raise" raises.
    out : array of shape (..., n_attributes), optional
        Where to put the result; of the result's dtype.
    workers : int, optional
        Threads; -1 for all cores, None for the default (see ``ropoll_core.default_workers``).
    full_output : bool
        Return an :class:`Aggregate` instead.

    Returns
    -------
    array of shape (..., n_attributes), or Aggregate
        In the units of `scores`. NaN where a query has no valid judge of positive weight.

    Raises
    ------
    ValueError
        For an infinite score (names query, judge and attribute), a wrong shape or option.
    TypeError
        For scores that are not numbers, or an option of a wrong type.

    Warns
    -----
    AggregationWarning
        If a query has fewer valid judges than that: its result is NaN (``full_output=True``: the
        status says so).

    Notes
    -----
    The score of a judge is the sum of squared distances to its m - n_faulty - 2 nearest others
    of m valid judges; the smallest score wins, of equal ones the first. Breakdown point
    n_faulty/n_judges, less than 1/2. Cost O(n_judges^2 (n_attributes + log^2 n_judges)) a query.
    Weights are not defined.

    References
    ----------
    .. [1] P. Blanchard, E. El Mhamdi, R. Guerraoui, J. Stainer, "Machine Learning with
       Adversaries: Byzantine Tolerant Gradient Descent", NeurIPS 2017, section 4.

    Examples
    --------
    >>> import ropoll_core
    >>> panel = [[4, 5], [5, 4], [4, 4], [5, 5], [0, 0]]
    >>> ropoll_core.scores.krum(panel, n_faulty=1)
    array([4., 5.])
    """
    panels = as_panels(
        scores, nan_policy=nan_policy, out=out, workers=workers, full_output=full_output
    )
    return _multi_krum(panels, _as_faulty(n_faulty, panels.n_judges, 2), 1)


def multi_krum(
    scores: Any,
    *,
    n_faulty: int,
    n_selected: int | None = None,
    nan_policy: str = "omit",
    out: NDArray[Any] | None = None,
    workers: int | None = None,
    full_output: bool = False,
) -> NDArray[Any] | Aggregate:
    """Mean of the judges with the smallest Krum scores.

    Parameters
    ----------
    scores : array_like of shape (..., n_judges, n_attributes)
        Score vectors. float32 gives float32, everything else float64.
    n_faulty : int
        How many judges may be faulty, at least 0; the panel needs 2 `n_faulty` + 3 judges.
    n_selected : int, optional
        How many judges to average; default all valid ones but `n_faulty`. 1 is Krum.
    nan_policy : {"omit", "propagate", "raise"}
        A judge with a missing (NaN) attribute is missing as a whole for that query. "omit" uses
        the others, "propagate" makes the query NaN, "raise" raises.
    out : array of shape (..., n_attributes), optional
        Where to put the result; of the result's dtype.
    workers : int, optional
        Threads; -1 for all cores, None for the default (see ``ropoll_core.default_workers``).
    full_output : bool
        Return an :class:`Aggregate` instead.

    Returns
    -------
    array of shape (..., n_attributes), or Aggregate
        In the units of `scores`. NaN where a query has no valid judge of positive weight.

    Raises
    ------
    ValueError
        For an infinite score (names query, judge and attribute), a wrong shape or option.
    TypeError
        For scores that are not numbers, or an option of a wrong type.

    Warns
    -----
    AggregationWarning
        If a query has fewer valid judges than that: its result is NaN (``full_output=True``: the
        status says so).

    Notes
    -----
    Scores as in :func:`krum`, computed once. A query needs max(2 n_faulty + 3, n_selected) valid
    judges. Breakdown point n_faulty/n_judges, less than 1/2. Cost
    O(n_judges^2 (n_attributes + log^2 n_judges)) a query. Weights are not defined.

    References
    ----------
    .. [1] P. Blanchard, E. El Mhamdi, R. Guerraoui, J. Stainer, "Machine Learning with
       Adversaries: Byzantine Tolerant Gradient Descent", NeurIPS 2017, section 5.

    Examples
    --------
    >>> import ropoll_core
    >>> panel = [[4, 5], [5, 4], [4, 4], [5, 5], [0, 0]]
    >>> ropoll_core.scores.multi_krum(panel, n_faulty=1)
    array([4.5, 4.5])
    """
    panels = as_panels(
        scores, nan_policy=nan_policy, out=out, workers=workers, full_output=full_output
    )
    faulty = _as_faulty(n_faulty, panels.n_judges, 2)
    if n_selected is not None:
        n_selected = as_count(n_selected, "n_selected", most=panels.n_judges)
    return _multi_krum(panels, faulty, n_selected)


def bulyan(
    scores: Any,
    *,
    n_faulty: int,
    nan_policy: str = "omit",
    out: NDArray[Any] | None = None,
    workers: int | None = None,
    full_output: bool = False,
) -> NDArray[Any] | Aggregate:
    """Repeated Krum, then the mean of the values nearest to the median in each attribute.

    Parameters
    ----------
    scores : array_like of shape (..., n_judges, n_attributes)
        Score vectors. float32 gives float32, everything else float64.
    n_faulty : int
        How many judges may be faulty, at least 0; the panel needs 4 `n_faulty` + 3 judges.
    nan_policy : {"omit", "propagate", "raise"}
        A judge with a missing (NaN) attribute is missing as a whole for that query. "omit" uses
        the others, "propagate" makes the query NaN, "raise" raises.
    out : array of shape (..., n_attributes), optional
        Where to put the result; of the result's dtype.
    workers : int, optional
        Threads; -1 for all cores, None for the default (see ``ropoll_core.default_workers``).
    full_output : bool
        Return an :class:`Aggregate` instead.

    Returns
    -------
    array of shape (..., n_attributes), or Aggregate
        In the units of `scores`. NaN where a query has no valid judge of positive weight.

    Raises
    ------
    ValueError
        For an infinite score (names query, judge and attribute), a wrong shape or option.
    TypeError
        For scores that are not numbers, or an option of a wrong type.

    Warns
    -----
    AggregationWarning
        If a query has fewer valid judges than that: its result is NaN (``full_output=True``: the
        status says so).

    Notes
    -----
    Of m valid judges m - 2 n_faulty are taken one by one, each the best by Krum among those left
    (with at least one neighbour: two judges nearest to each other then tie, and the first wins,
    so the result may depend on the order of the judges). In each attribute the m - 4 n_faulty of
    their values nearest to their median are averaged, of two equally far the lower. Breakdown
    point n_faulty/n_judges, less than 1/4; unlike with Krum no attribute can be moved far by
    hiding the change among many others. Cost O(n_judges^3 log^2 n_judges + n_judges^2
    n_attributes) a query. Weights are not defined.

    References
    ----------
    .. [1] E. El Mhamdi, R. Guerraoui, S. Rouault, "The Hidden Vulnerability of Distributed
       Learning in Byzantium", ICML 2018, section 4.

    Examples
    --------
    >>> import ropoll_core
    >>> panel = [[4, 5], [5, 4], [4, 4], [5, 5], [4, 5], [5, 5], [0, 0]]
    >>> ropoll_core.scores.bulyan(panel, n_faulty=1)
    array([4., 5.])
    """
    panels = as_panels(
        scores, nan_policy=nan_policy, out=out, workers=workers, full_output=full_output
    )
    _, n, d = panels.scores.shape
    faulty = _as_faulty(n_faulty, n, 4)
    valid = np.arange(n + 1, dtype=np.int32)
    fewest = 4 * faulty + 3
    return run_panels(
        panels,
        toolbox.bulyan_rows,
        valid - 2 * faulty,
        np.full(n + 1, faulty, np.int32),
        fewest,
        scratch=toolbox.scratch_size("bulyan", n, d),
        cost_ns=50 + n * n * (d + 2 * n),
        reasons=_too_few(fewest, "4 n_faulty + 3"),
    )


def _as_faulty(n_faulty: Any, n_judges: int, times: int) -> int:
    """The number of faulty judges, for a method that needs `times` n_faulty + 3 judges."""
    faulty = as_count(n_faulty, "n_faulty", least=0)
    if n_judges < times * faulty + 3:
        raise ValueError(
            f"n_faulty={faulty} needs at least {times} n_faulty + 3 = {times * faulty + 3} judges, "
            f"got {n_judges}"
        )
    return faulty


def _multi_krum(panels: Panels, faulty: int, selected: int | None) -> NDArray[Any] | Aggregate:
    _, n, d = panels.scores.shape
    valid = np.arange(n + 1, dtype=np.int32)
    taken = valid - faulty if selected is None else np.full(n + 1, selected, np.int32)
    fewest = max(2 * faulty + 3, selected or 1)
    return run_panels(
        panels,
        toolbox.multi_krum_rows,
        taken,
        valid - (faulty + 2),
        fewest,
        scratch=toolbox.scratch_size("multi_krum", n, d),
        cost_ns=50 + n * n * (d + 6) / 2,
        reasons=_too_few(fewest, "2 n_faulty + 3 or n_selected"),
    )


def _too_few(fewest: int, rule: str) -> dict[AggregateStatus, str]:
    reason = f"have fewer than {fewest} valid judges ({rule}): their result is NaN"
    return {AggregateStatus.TOO_FEW_JUDGES: reason}
