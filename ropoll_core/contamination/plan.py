"""A sweep's options, checked, and the digest of everything its result depends on."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.options import as_count
from ropoll_core._checks.study import as_reals
from ropoll_core._version import __version__
from ropoll_core.contamination.cells import Committee, Study
from ropoll_core.contamination.corruptions import Corruption
from ropoll_core.contamination.methods import Method, NamedMethod

__all__ = ["Plan", "as_committees", "as_named", "as_rate_rows"]


@dataclass(frozen=True)
class Plan:
    """A sweep, checked."""

    study: Study
    methods: dict[str, Method]
    corruptions: dict[str, Corruption]
    rates: NDArray[np.float64]
    seats: list[Committee]
    tasks: NDArray[np.int64] | None
    baseline: str | None
    n_resamples: int
    level: float
    refused: dict[tuple[str, str], str]

    def fingerprint(self) -> str:
        """A digest of everything that the result depends on."""
        study = self.study
        digest = hashlib.sha256()
        for array in (study.truth, study.scores, self.rates, self.tasks):
            digest.update(b"none" if array is None else array.tobytes())
        options = [
            __version__,
            study.scores.shape,
            {name: _origin(method) for name, method in self.methods.items()},
            {name: _origin(function) for name, function in self.corruptions.items()},
            [(seat.name, seat.size, seat.judges.tolist()) for seat in self.seats],
            [study.scale, study.colluding, study.n_replicates, study.key],
            [self.baseline, self.n_resamples, self.level],
        ]
        digest.update(json.dumps(options).encode())
        return digest.hexdigest()


def _origin(function: Any) -> str:
    """Where a function comes from: what can be known of it without running it."""
    if isinstance(function, NamedMethod):
        return repr(function)
    if isinstance(function, functools.partial):
        return f"{_origin(function.func)} {function.args!r} {function.keywords!r}"
    return f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', '')}"


def as_named(value: Any, argument: str, single: Callable[[Any], Any]) -> dict[str, Any]:
    """Names or label -> thing, as label -> what `single` makes of it."""
    if isinstance(value, str) or not isinstance(value, (Mapping, Sequence)):
        raise TypeError(
            f"{argument} must be a sequence of names or a mapping, got {type(value).__name__}"
        )
    if not isinstance(value, Mapping):
        strange = [item for item in value if not isinstance(item, str)]
        if strange:
            raise TypeError(
                f"{argument} must hold names, or be a mapping to functions, got {strange[0]!r}"
            )
        if len(set(value)) < len(value):
            raise ValueError(f"{argument} must not repeat a name, got {list(value)!r}")
        value = {item: item for item in value}
    if not value:
        raise ValueError(f"{argument} must not be empty")
    return {str(label): single(item) for label, item in value.items()}


def as_rate_rows(rates: Any, n_judges: int) -> NDArray[np.float64]:
    """Rates as (n_rates, n_judges)."""
    array = as_reals(rates, "rates", low=0, high=1)
    if array.ndim == 1 and array.size:
        array = np.repeat(array[:, None], n_judges, axis=1)
    if array.ndim != 2 or array.shape[1] != n_judges or not len(array):
        raise ValueError(
            f"rates must have shape (n_rates,) or (n_rates, {n_judges}), got {np.shape(rates)}"
        )
    return np.ascontiguousarray(array)


def as_committees(value: Any, n_judges: int) -> list[Committee]:
    if value is None:
        value = [range(n_judges)]
    if isinstance(value, str) or not isinstance(value, (Mapping, Sequence)):
        raise TypeError(
            "committees must be a sequence of sizes and lists of judges, or a mapping to them, "
            f"got {type(value).__name__}"
        )
    pairs = value.items() if isinstance(value, Mapping) else ((None, entry) for entry in value)
    seats = [_as_committee(name, entry, n_judges) for name, entry in pairs]
    if not seats:
        raise ValueError("committees must not be empty")
    names = [seat.name for seat in seats]
    if len(set(names)) < len(names):
        raise ValueError(f"committees must differ, got {names}")
    return seats


def _as_committee(name: str | None, entry: Any, n_judges: int) -> Committee:
    if np.ndim(entry) == 0:
        size = as_count(entry, "committees", most=n_judges)
        if size < n_judges:
            return Committee(name or f"{size} of {n_judges}", size, np.empty(0, dtype=np.int64))
        entry = range(n_judges)
    judges = [as_count(j, "committees", least=0, most=n_judges - 1) for j in entry]
    if not judges or len(set(judges)) < len(judges):
        raise ValueError(f"committees must list different judges, at least one, got {judges}")
    whole = judges == list(range(n_judges))
    label = f"all {n_judges}" if whole else "+".join(map(str, judges))
    return Committee(name or label, len(judges), np.array(judges, dtype=np.int64))
