"""What a corrupted judge reports: the six types of the paper, and the registry of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.options import as_count
from ropoll_core._kernels import contamination as kernels

__all__ = [
    "CORRUPTIONS",
    "CorruptedCells",
    "bimodal_random",
    "cauchy_far",
    "inverted",
    "noisy_gt",
    "register_corruption",
    "sycophantic",
    "zeros",
]


class CorruptedCells:
    """The (item, judge) cells that a corruption has to fill, and its random numbers.

    Attributes
    ----------
    truth, scores : ndarray of shape (n_cells, n_attributes)
        The truth of the cell's item, and what the judge would have reported.
    items, judges, replicates : ndarray of shape (n_cells,)
        Positions of the cells in the data, and the seed they are drawn for.
    low, high : float
        Ends of the scale.
    """

    def __init__(
        self,
        source: kernels.Source,
        truth: NDArray[np.float64],
        scores: NDArray[np.float64],
        replicates: NDArray[np.int64],
        items: NDArray[np.int64],
        judges: NDArray[np.int64],
        scale: tuple[float, float],
    ) -> None:
        self._source = source
        self.truth, self.scores = truth, scores
        self.replicates, self.items, self.judges = replicates, items, judges
        self.low, self.high = scale

    def normal(self, stream: int = 0) -> NDArray[np.float64]:
        """Independent standard normals of shape (n_cells, n_attributes).

        Parameters
        ----------
        stream : int
            From 0 to 239: each gives other numbers. The same stream gives the same ones again,
            whatever the order and company of the cells; colluding judges share them.
        """
        return self._draw(True, stream)

    def uniform(self, stream: int = 0) -> NDArray[np.float64]:
        """Independent uniforms in (0, 1), as :meth:`normal`."""
        return self._draw(False, stream)

    def _draw(self, normal: bool, stream: int) -> NDArray[np.float64]:
        stream = as_count(stream, "stream", least=0, most=kernels.MOST_STREAMS - 1)
        out = np.empty(self.truth.shape)
        kernels.draw_cells(
            self._source, normal, stream, self.replicates, self.items, self.judges, out
        )
        return out

    def _built_in(self, name: str) -> NDArray[np.float64]:
        out = np.empty(self.truth.shape)
        kernels.corrupt_cells(
            self._source, kernels.KINDS[name], self.replicates, self.items, self.judges, out
        )
        return out


#: A corruption: takes the cells that were hit, gives their scores (n_cells, n_attributes).
Corruption = Callable[[CorruptedCells], NDArray[Any]]


def zeros(cells: CorruptedCells) -> NDArray[np.float64]:
    """All zeros, as a failed parse filled with 0 (whatever the scale's lower end is).

    Parameters
    ----------
    cells : CorruptedCells

    Returns
    -------
    ndarray of shape (n_cells, n_attributes)
    """
    return cells._built_in("zeros")


def inverted(cells: CorruptedCells) -> NDArray[np.float64]:
    """The truth mirrored on the scale: low + high - truth.

    Parameters
    ----------
    cells : CorruptedCells

    Returns
    -------
    ndarray of shape (n_cells, n_attributes)
    """
    return cells._built_in("inverted")


def bimodal_random(cells: CorruptedCells) -> NDArray[np.float64]:
    """Each attribute at one end of the scale, by a fair coin.

    Parameters
    ----------
    cells : CorruptedCells

    Returns
    -------
    ndarray of shape (n_cells, n_attributes)
    """
    return cells._built_in("bimodal-random")


def cauchy_far(cells: CorruptedCells) -> NDArray[np.float64]:
    """truth + 10 + 2 (high - low) t, t standard Cauchy for each attribute.

    Parameters
    ----------
    cells : CorruptedCells

    Returns
    -------
    ndarray of shape (n_cells, n_attributes)
    """
    return cells._built_in("cauchy-far")


def sycophantic(cells: CorruptedCells) -> NDArray[np.float64]:
    """The top of the scale on every attribute.

    Parameters
    ----------
    cells : CorruptedCells

    Returns
    -------
    ndarray of shape (n_cells, n_attributes)
    """
    return cells._built_in("sycophantic")


def noisy_gt(cells: CorruptedCells) -> NDArray[np.float64]:
    """The control: truth + N(0, 0.8^2), clipped to the scale.

    Parameters
    ----------
    cells : CorruptedCells

    Returns
    -------
    ndarray of shape (n_cells, n_attributes)
    """
    return cells._built_in("noisy-gt")


_REGISTRY: dict[str, Corruption] = {
    "zeros": zeros,
    "inverted": inverted,
    "bimodal-random": bimodal_random,
    "cauchy-far": cauchy_far,
    "sycophantic": sycophantic,
    "noisy-gt": noisy_gt,
}
#: Name -> function of the corruptions known, read-only; see :func:`register_corruption`.
CORRUPTIONS: Mapping[str, Corruption] = MappingProxyType(_REGISTRY)


def register_corruption(name: str, function: Corruption) -> Corruption:
    """Add a corruption that :func:`corrupt` and :func:`sweep` know by `name`.

    Parameters
    ----------
    name : str
        Not yet taken.
    function : callable
        Takes :class:`CorruptedCells`, gives an array (n_cells, n_attributes) of what those
        judges report, NaN for nothing. Random numbers come from `cells.normal` and
        `cells.uniform` alone: then a result depends on the seed and not on chunks or threads.

    Returns
    -------
    callable
        `function`, so that this serves as a decorator's body.

    Raises
    ------
    TypeError
        If `name` is not a string, or `function` cannot be called.
    ValueError
        If `name` is taken.

    Examples
    --------
    >>> from ropoll_core import contamination
    >>> def half_blind(cells):
    ...     return cells.truth.mean(axis=1, keepdims=True) + 0.1 * cells.normal()
    >>> _ = contamination.register_corruption("half-blind", half_blind)
    >>> "half-blind" in contamination.CORRUPTIONS
    True
    """
    if not isinstance(name, str):
        raise TypeError(f"name must be a string, got {type(name).__name__}")
    if not callable(function):
        raise TypeError(f"function must be callable, got {type(function).__name__}")
    if name in _REGISTRY:
        raise ValueError(f"name must not be taken, got {name!r}, a corruption already registered")
    _REGISTRY[name] = function
    return function


def kind_of(function: Corruption) -> int:
    """The code by which the kernel fills cells itself; NO_KIND for a user's function."""
    for name, code in kernels.KINDS.items():
        if _REGISTRY[name] is function:
            return code
    return kernels.NO_KIND
