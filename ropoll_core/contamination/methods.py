"""Aggregators by name, with the options that a study gives them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.options import as_choice
from ropoll_core.scores import METHODS, AggregateStatus

__all__ = ["METHOD_OPTIONS", "Method", "as_method", "refusal", "run_method"]

Method = Callable[..., Any]

#: Options of the methods that need some; for others of them give `sweep` a function.
METHOD_OPTIONS: dict[str, dict[str, Any]] = {
    "trimmed_mean": {"proportion": 0.3},
    "coordinatewise_trimmed_mean": {"proportion": 0.3},
}


def as_method(method: Any) -> Method:
    """A function from panels to estimates, from a name or as given."""
    if isinstance(method, str):
        as_choice(method, "method", METHODS)
        return functools.partial(METHODS[method], **METHOD_OPTIONS.get(method, {}))
    if not callable(method):
        raise TypeError(f"methods must map to names or functions, got {type(method).__name__}")
    function: Method = method
    return function


def _warns(method: Method) -> bool:
    """Whether it is a named method that would warn about what it could not do."""
    return isinstance(method, functools.partial) and method.func in _WARNING


_WARNING = frozenset(f for name, f in METHODS.items() if name != "geometric_median")


def run_method(method: Method, panels: NDArray[np.float64]) -> Any:
    """Estimates of one block of panels.

    What a method cannot do is found out once, by :func:`refusal`: here its full output is asked
    for in place of a warning for each block.
    """
    return method(panels, full_output=True).value if _warns(method) else method(panels)


def refusal(method: Method, n_judges: int, n_attributes: int) -> str | None:
    """Why `method` has nothing to say about panels of this size; None if it has.

    A method that raises ValueError on a panel of valid judges, or says that it did less than
    was asked: a trimmed mean that can trim nobody is not one.
    """
    panel = np.zeros((1, n_judges, n_attributes))
    panel[:] = np.arange(n_judges)[:, None]
    try:
        result = method(panel, full_output=True) if _warns(method) else method(panel)
    except ValueError as error:
        return str(error)
    if _warns(method) and result.status[0] != AggregateStatus.OK:
        return AggregateStatus(result.status[0]).name.lower().replace("_", " ")
    return None
