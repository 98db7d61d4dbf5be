"""From a ``rng=`` argument (SPEC 7) to the key of a counter-based stream.

Every random number of the package is a pure function of (key, counter), so results do not
depend on threads, chunks or vector width, nor on NumPy's global state.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

__all__ = ["as_generator", "as_key"]


def as_key(rng: Any) -> tuple[int, int]:
    """Return two 64-bit integers that key a stream.

    Parameters
    ----------
    rng : None, int, numpy.random.SeedSequence or numpy.random.Generator
        None takes fresh entropy; a Generator is advanced by two draws.

    Raises
    ------
    TypeError, ValueError
        If `rng` is of another type, or a negative integer.
    """
    if isinstance(rng, np.random.Generator):
        high, low = rng.integers(0, 2**64, size=2, dtype=np.uint64, endpoint=False)
        return int(high), int(low)
    if not isinstance(rng, np.random.SeedSequence):
        rng = np.random.SeedSequence(_as_seed(rng))
    high, low = rng.generate_state(2, np.uint64)
    return int(high), int(low)


def as_generator(rng: Any) -> np.random.Generator:
    """The same stream as a NumPy generator, for draws whose number or law is not fixed."""
    return np.random.Generator(np.random.Philox(key=as_key(rng)))


def _as_seed(rng: Any) -> int | None:
    if rng is None:
        return None
    if isinstance(rng, (bool, np.bool_)):
        raise TypeError(f"rng must not be a bool, got {rng!r}")
    try:
        seed = operator.index(rng)
    except TypeError:
        raise TypeError(
            "rng must be None, an int, a numpy SeedSequence or a numpy Generator, "
            f"got {type(rng).__name__}"
        ) from None
    if seed < 0:
        raise ValueError(f"rng must not be negative, got {seed}")
    return seed
