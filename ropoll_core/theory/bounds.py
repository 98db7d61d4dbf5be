"""How far the geometric median can be from the truth when judges are corrupted."""

from __future__ import annotations

from typing import Any

import numpy as np

from ropoll_core._checks.study import as_reals
from ropoll_core._results.study import BreakdownBound, plain
from ropoll_core.theory.saturation import saturation

__all__ = [
    "breakdown_bound",
    "breakdown_floor",
    "cluster_radius",
    "geometric_constant",
    "minimax_lower_bound",
]


def geometric_constant(alpha: Any) -> Any:
    """C_alpha = (1 - alpha) / sqrt(1 - 2 alpha).

    If all but a share `alpha` of the points lie within r of z, the geometric median lies within
    C_alpha r of z, wherever the other points are.

    Parameters
    ----------
    alpha : float or array
        Share of points that may lie anywhere, from 0 to below 1/2.

    Returns
    -------
    float or ndarray
        At least 1; infinite as alpha nears the breakdown point 1/2.

    Raises
    ------
    TypeError, ValueError
        If `alpha` is not a number, or out of its range.

    Notes
    -----
    Lemma 1 of arXiv 2606.30931.

    Examples
    --------
    >>> from ropoll_core import theory
    >>> theory.geometric_constant([0.0, 0.3])
    array([1.        , 1.10679718])
    """
    alpha = _as_alpha(alpha)
    return plain((1 - alpha) / np.sqrt(1 - 2 * alpha))


def cluster_radius(
    sigma: Any,
    n_attributes: Any,
    alpha: Any,
    slack: Any,
    *,
    norm_constant: float = 1.0,
    tail_constant: float = 0.5,
) -> Any:
    """Radius around the truth that holds enough of the clean judges.

    rho = sigma (C_1 sqrt(d) + sqrt(log(2 (1 - alpha) / beta) / c)): a clean judge is outside
    with probability at most beta / (2 (1 - alpha)).

    Parameters
    ----------
    sigma : float or array
        Standard deviation of a clean judge's error on one attribute.
    n_attributes : int or array
        d, at least 1.
    alpha : float or array
        Probability that a judge is corrupted, from 0 to below 1/2.
    slack : float or array
        beta, positive, with alpha + beta below 1/2.
    norm_constant, tail_constant : float
        C_1 and c of P(|error| > sigma (C_1 sqrt(d) + t)) <= exp(-c t^2). The defaults, 1 and
        1/2, are those of Gaussian errors independent over attributes (Gaussian concentration);
        other sub-Gaussian errors need their own.

    Returns
    -------
    float or ndarray
        In score units.

    Raises
    ------
    TypeError, ValueError
        If an argument is not a number, or out of its range.

    Notes
    -----
    Theorem 1 of arXiv 2606.30931.

    Examples
    --------
    >>> from ropoll_core import theory
    >>> round(theory.cluster_radius(1.0, 4, 0.2, 0.1), 4)
    4.3548
    """
    sigma = as_reals(sigma, "sigma", low=0)
    d = as_reals(n_attributes, "n_attributes", low=1)
    alpha, beta = _shares(alpha, slack)
    norm = as_reals(norm_constant, "norm_constant", low=0, open_low=True)
    tail = as_reals(tail_constant, "tail_constant", low=0, open_low=True)
    return plain(sigma * (norm * np.sqrt(d) + np.sqrt(np.log(2 * (1 - alpha) / beta) / tail)))


def breakdown_bound(
    sigma: Any,
    n_judges: Any,
    n_attributes: Any,
    alpha: Any,
    *,
    slack: Any,
    correlation: Any = None,
    norm_constant: float = 1.0,
    tail_constant: float = 0.5,
) -> BreakdownBound:
    """Bound on the error of the geometric median of a contaminated panel.

    |median - truth| <= C_{alpha + beta} rho, rho the :func:`cluster_radius`. Judges that fail
    independently: with probability at least 1 - exp(-N beta^2 / 2) (Theorem 1). Judges whose
    indicators of success are correlated: at least 1 - 1 / (beta^2 N_eff), N_eff from
    `correlation` (Lemma 3).

    Parameters
    ----------
    sigma, n_attributes, alpha, slack, norm_constant, tail_constant
        As in :func:`cluster_radius`.
    n_judges : int or array
        N, at least 1.
    correlation : float or array, optional
        gamma_W, see :func:`indicator_correlation`. None: independent judges.

    Returns
    -------
    BreakdownBound
        `bound`, `probability`, `constant`, `radius`.

    Raises
    ------
    TypeError, ValueError
        If an argument is not a number, or out of its range.

    Notes
    -----
    Theorem 1 and Lemma 3 of arXiv 2606.30931. A probability that is not positive is given as it
    is: the theorem then promises nothing for so few judges.

    Examples
    --------
    >>> from ropoll_core import theory
    >>> theory.breakdown_bound(0.5, 300, 4, 0.2, slack=0.15)
    BreakdownBound
      bound        2.4778
      probability  0.965782
      constant     1.18673
      radius       2.08792
    """
    n = as_reals(n_judges, "n_judges", low=1)
    radius = cluster_radius(
        sigma, n_attributes, alpha, slack, norm_constant=norm_constant, tail_constant=tail_constant
    )
    alpha, beta = _shares(alpha, slack)
    constant = geometric_constant(alpha + beta)
    if correlation is None:
        failure = np.exp(-n * beta**2 / 2)
    else:
        failure = 1 / (beta**2 * saturation(n, correlation))
    return BreakdownBound(
        bound=plain(constant * radius),
        probability=plain(1 - failure),
        constant=constant,
        radius=radius,
    )


def breakdown_floor(sigma: Any, n_attributes: Any, alpha: Any) -> Any:
    """Error that no number of judges removes: sigma alpha sqrt(d) / (1 - alpha).

    The bias of the geometric median of many judges when the corrupted ones lie far away in one
    direction, to first order in alpha and 1/d; the exact bias is larger. A factor sqrt(d) above
    what any estimator must pay, see :func:`minimax_lower_bound`.

    Parameters
    ----------
    sigma : float or array
        Standard deviation of a clean judge's error on one attribute.
    n_attributes : int or array
        d, at least 1.
    alpha : float or array
        Probability that a judge is corrupted, from 0 to below 1/2.

    Returns
    -------
    float or ndarray
        In score units.

    Raises
    ------
    TypeError, ValueError
        If an argument is not a number, or out of its range.

    Notes
    -----
    The statistical-computational gap of arXiv 2606.30931.

    Examples
    --------
    >>> from ropoll_core import theory
    >>> theory.breakdown_floor(0.5, 4, 0.2)
    0.25
    """
    sigma = as_reals(sigma, "sigma", low=0)
    d = as_reals(n_attributes, "n_attributes", low=1)
    alpha = _as_alpha(alpha)
    return plain(sigma * alpha * np.sqrt(d) / (1 - alpha))


def minimax_lower_bound(
    sigma: Any, n_judges: Any, n_attributes: Any, alpha: Any, *, constant: float = 1.0
) -> Any:
    """Shape of the error that every estimator must pay.

    c sigma (sqrt(d / N) + alpha / (1 - alpha)): the price of few judges and that of corruption.

    Parameters
    ----------
    sigma : float or array
        Standard deviation of a clean judge's error on one attribute.
    n_judges : int or array
        N, at least 1; ``numpy.inf`` leaves the price of contamination alone.
    n_attributes : int or array
        d, at least 1.
    alpha : float or array
        Probability that a judge is corrupted, from 0 to below 1/2.
    constant : float
        c. The theorem says that a universal positive one exists, not which: 1 gives the shape.

    Returns
    -------
    float or ndarray
        In score units.

    Raises
    ------
    TypeError, ValueError
        If an argument is not a number, or out of its range.

    Notes
    -----
    Theorem 2 of arXiv 2606.30931.

    Examples
    --------
    >>> from ropoll_core import theory
    >>> theory.minimax_lower_bound(1.0, 16, 4, 0.2)
    0.75
    """
    sigma = as_reals(sigma, "sigma", low=0)
    n = as_reals(n_judges, "n_judges", low=1, infinite=True)
    d = as_reals(n_attributes, "n_attributes", low=1)
    alpha = _as_alpha(alpha)
    c = as_reals(constant, "constant", low=0, open_low=True)
    return plain(c * sigma * (np.sqrt(d / n) + alpha / (1 - alpha)))


def _as_alpha(alpha: Any) -> Any:
    return as_reals(alpha, "alpha", low=0, high=0.5, open_high=True)


def _shares(alpha: Any, slack: Any) -> tuple[Any, Any]:
    alpha = _as_alpha(alpha)
    beta = as_reals(slack, "slack", low=0, high=0.5, open_low=True, open_high=True)
    if (alpha + beta >= 0.5).any():
        raise ValueError(
            f"alpha + slack must be below 1/2, got up to {float((alpha + beta).max()):g}"
        )
    return alpha, beta
