"""How far more judges help the mean: equicorrelated error, saturation, bias."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.study import as_reals
from ropoll_core._results.study import plain

__all__ = ["equicorrelated_mse", "mean_bias", "saturation"]


def saturation(n_judges: Any, correlation: Any) -> Any:
    """Number of independent judges that a panel of correlated ones is worth.

    N_eff = N / (1 + (N - 1) gamma), which tends to 1 / gamma as judges are added.

    Parameters
    ----------
    n_judges : int or array
        N, at least 1; ``numpy.inf`` gives the limit 1 / gamma.
    correlation : float or array
        gamma, the correlation of any two judges, from -1 / (N - 1) to 1.

    Returns
    -------
    float or ndarray
        N_eff; infinite at gamma = -1 / (N - 1), where the errors cancel.

    Raises
    ------
    TypeError, ValueError
        If an argument is not a number, or out of its range.

    Notes
    -----
    Corollary 1 of arXiv 2606.30931.

    Examples
    --------
    >>> from ropoll_core import theory
    >>> theory.saturation([1, 3, 13], 0.5)
    array([1.        , 1.5       , 1.85714286])
    >>> import numpy as np
    >>> theory.saturation(np.inf, 0.5)
    2.0
    """
    n = as_reals(n_judges, "n_judges", low=1, infinite=True)
    gamma = as_reals(correlation, "correlation", low=-1, high=1)
    with np.errstate(invalid="ignore"):  # infinity times zero, in the branch not taken
        inverse = np.where(np.isinf(n), gamma, (1 + (n - 1) * gamma) / n)
    _check_possible(inverse, n, gamma)
    with np.errstate(divide="ignore"):
        return plain(1 / inverse)


def _check_possible(inverse: Any, n: Any, gamma: Any) -> None:
    if (bad := inverse < 0).any():
        place = np.unravel_index(int(bad.argmax()), bad.shape)
        n, gamma = (np.broadcast_to(a, bad.shape)[place] for a in (n, gamma))
        raise ValueError(
            f"correlation must be at least -1 / (n_judges - 1), got {gamma:g} "
            f"for {n:g} judges: no such panel exists"
        )


def equicorrelated_mse(sigma: Any, n_judges: Any, n_attributes: Any, correlation: Any) -> Any:
    """Mean squared error of the mean of a clean, equicorrelated panel.

    E |mean - truth|^2 = d sigma^2 (1 + (N - 1) gamma) / N, summed over the attributes.

    Parameters
    ----------
    sigma : float or array
        Standard deviation of a judge's error on one attribute.
    n_judges : int or array
        N, at least 1; ``numpy.inf`` gives the floor d sigma^2 gamma.
    n_attributes : int or array
        d, at least 1.
    correlation : float or array
        gamma, the correlation of the errors of any two judges.

    Returns
    -------
    float or ndarray
        In squared score units.

    Raises
    ------
    TypeError, ValueError
        If an argument is not a number, or out of its range.

    Notes
    -----
    Corollary 1 of arXiv 2606.30931.

    Examples
    --------
    >>> from ropoll_core import theory
    >>> theory.equicorrelated_mse(0.5, 3, 4, 0.25)
    0.5
    """
    sigma = as_reals(sigma, "sigma", low=0)
    d = as_reals(n_attributes, "n_attributes", low=1)
    return plain(d * sigma**2 / saturation(n_judges, correlation))


def mean_bias(alpha: Any, centre: Any, truth: Any) -> NDArray[np.float64]:
    """Bias of the mean under contamination: (1/N) sum_i alpha_i (mu_i - truth).

    It grows without bound with the distance of one corrupted judge, whatever the panel's size.

    Parameters
    ----------
    alpha : array of shape (n_judges,)
        Probability that each judge is corrupted, from 0 to 1.
    centre : array of shape (n_judges, n_attributes) or (n_attributes,)
        Mean vector mu_i of each judge's corrupted scores.
    truth : array of shape (n_attributes,)
        True scores of the item.

    Returns
    -------
    ndarray of shape (n_attributes,)
        In score units.

    Raises
    ------
    TypeError, ValueError
        If an argument is not a number, out of its range, or of another shape.

    Notes
    -----
    Proposition 2 of arXiv 2606.30931.

    Examples
    --------
    >>> from ropoll_core import theory
    >>> theory.mean_bias([0.3, 0.0, 0.0], [4.0, 4.0], [2.0, 1.0])
    array([0.2, 0.3])
    """
    alpha = as_reals(alpha, "alpha", low=0, high=1)
    truth = as_reals(truth, "truth")
    centre = as_reals(centre, "centre")
    if alpha.ndim != 1 or not alpha.size:
        raise ValueError(f"alpha must have shape (n_judges,), got {alpha.shape}")
    if truth.ndim != 1:
        raise ValueError(f"truth must have shape (n_attributes,), got {truth.shape}")
    if centre.shape not in {truth.shape, (alpha.size, truth.size)}:
        raise ValueError(
            f"centre must have shape {truth.shape} or {(alpha.size, truth.size)}, "
            f"got {centre.shape}"
        )
    shift = np.broadcast_to(centre - truth, (alpha.size, truth.size))
    bias: NDArray[np.float64] = alpha @ shift / alpha.size
    return bias
