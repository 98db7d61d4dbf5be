"""Aggregators by name, with the options that a study gives them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.options import as_choice
from ropoll_core.scores import METHODS, AggregateStatus

__all__ = ["Method", "NamedMethod", "as_method", "method_options", "refusal", "run_method"]

Method = Callable[..., Any]


def method_options(name: str, n_judges: int) -> dict[str, Any]:
    """Options that a study gives a named method on panels of `n_judges`.

    Trimming takes 30 % of the judges (of the values at each end, by coordinate); Krum and its kin
    allow for as many faulty judges as they can; medians of means take judges in pairs; random
    directions have a fixed seed. For other options give `sweep` a function.
    """
    if name in {"trimmed_mean", "coordinatewise_trimmed_mean"}:
        return {"proportion": 0.3}
    if name in {"krum", "multi_krum"}:
        return {"n_faulty": max((n_judges - 3) // 2, 0)}
    if name == "bulyan":
        return {"n_faulty": max((n_judges - 3) // 4, 0)}
    if name in {"median_of_means", "geometric_median_of_means"}:
        return {"n_groups": (n_judges + 1) // 2}
    if name == "random_tukey_median":
        return {"rng": 0}
    return {}


@dataclass(frozen=True)
class NamedMethod:
    """An aggregator of `scores`, with the options of :func:`method_options`."""

    name: str

    def __call__(self, panels: NDArray[np.float64], **extra: Any) -> Any:
        options = method_options(self.name, panels.shape[-2])
        return METHODS[self.name](panels, **options, **extra)

    @property
    def warns(self) -> bool:
        """Whether it warns about what it could not do, unless asked for its full output."""
        return self.name != "geometric_median"


def as_method(method: Any) -> Method:
    """A function from panels to estimates, from a name or as given."""
    if isinstance(method, str):
        named = NamedMethod(as_choice(method, "method", METHODS))
        parameters = inspect.signature(METHODS[method]).parameters.values()
        needed = {p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty}
        lacking = sorted(needed - set(method_options(method, 1)))
        if lacking:
            raise TypeError(
                f"method {method!r} needs {', '.join(lacking)}: map a label to a function, such as "
                f"functools.partial(scores.{method}, {lacking[0]}=...)"
            )
        return named
    if not callable(method):
        raise TypeError(f"methods must map to names or functions, got {type(method).__name__}")
    function: Method = method
    return function


def run_method(method: Method, panels: NDArray[np.float64]) -> Any:
    """Estimates of one block of panels.

    What a method cannot do is found out once, by :func:`refusal`: here its full output is asked
    for in place of a warning for each block.
    """
    if isinstance(method, NamedMethod) and method.warns:
        return method(panels, full_output=True).value
    return method(panels)


def refusal(method: Method, n_judges: int, n_attributes: int) -> str | None:
    """Why `method` has nothing to say about panels of this size; None if it has.

    A method that raises ValueError on a panel of valid judges, or says that it did less than
    was asked: a trimmed mean that can trim nobody is not one.
    """
    panel = np.zeros((1, n_judges, n_attributes))
    panel[:] = np.arange(n_judges)[:, None]
    named = isinstance(method, NamedMethod) and method.warns
    try:
        result = method(panel, full_output=True) if named else method(panel)
    except ValueError as error:
        return str(error)
    if named and result.status[0] != AggregateStatus.OK:
        return AggregateStatus(result.status[0]).name.lower().replace("_", " ")
    return None
