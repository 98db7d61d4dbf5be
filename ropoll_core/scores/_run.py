"""One hand-off from checked panels to a kernel, and what is said about the result."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.panels import Panels
from ropoll_core._checks.scores import raise_infinite, raise_missing
from ropoll_core._kernels.panels import Batch
from ropoll_core._parallel import run_chunks
from ropoll_core._results.aggregate import Aggregate, AggregateStatus, AggregationWarning

__all__ = ["run_panels"]

_LANES = 8  # of the widest variant, so that chunks start alike in all
_INFINITE = len(AggregateStatus)  # the flags after the statuses, as panels.h numbers them
_MISSING = _INFINITE + 1


def run_panels(
    panels: Panels,
    kernel: Callable[..., None],
    *options: Any,
    scratch: int | Callable[[], Any],
    cost_ns: float,
    reasons: dict[AggregateStatus, str] | None = None,
    by_judge: bool = True,
) -> NDArray[Any] | Aggregate:
    """Run ``kernel(batch, *options, start, stop, scratch)`` over all panels and wrap the result.

    `scratch` is how many doubles each thread gets, or makes what it gets. `reasons` says for each
    status worth a warning how a sentence about the queries that have it goes on. `by_judge`: whole
    judges are used or not.
    """
    n_queries, n_judges, _ = panels.scores.shape
    status = np.empty(n_queries, np.uint8)
    seen = np.zeros(_MISSING + 1, np.uint8)
    report = None
    if panels.full_output:
        report = (
            np.empty(n_queries, np.int32),
            np.empty(n_queries, np.int32),
            np.empty((n_queries, n_judges), np.uint8),
        )
    if n_queries:
        propagate = panels.nan_policy == "propagate"
        batch = Batch(panels.scores, panels.weights, panels.rows, status, seen, propagate, report)
        run_chunks(
            lambda start, stop, own: kernel(batch, *options, start, stop, own),
            n_queries,
            cost_ns=cost_ns,
            workers=panels.workers,
            lanes=_LANES,
            scratch=scratch if callable(scratch) else lambda: np.empty(scratch),
        )
        _raise_bad(panels, seen)
    if report is None:
        for code, reason in (reasons or {}).items():
            if seen[code]:
                _warn(status, code, reason, panels.lead)
        return panels.out
    n_valid, n_used, used = report
    lead = panels.lead
    return Aggregate(
        panels.out,
        n_valid.reshape(lead),
        n_used.reshape(lead),
        status.reshape(lead),
        used.view(np.bool_).reshape(*lead, n_judges) if by_judge else None,
    )


def _raise_bad(panels: Panels, seen: NDArray[np.uint8]) -> None:
    if seen[_INFINITE]:
        raise_infinite(panels.scores, panels.lead, panels.weights)
    if seen[_MISSING] and panels.nan_policy == "raise":
        raise_missing(panels.scores, panels.lead, panels.weights)


def _warn(
    status: NDArray[np.uint8], code: AggregateStatus, reason: str, lead: tuple[int, ...]
) -> None:
    found = np.flatnonzero(status == code)
    first: Any = int(found[0])
    if len(lead) > 1:
        first = tuple(int(i) for i in np.unravel_index(found[0], lead))
    where = f" (first: query {first})" if lead else ""
    warnings.warn(
        f"{found.size} of {status.size} queries{where} {reason}",
        AggregationWarning,
        stacklevel=4,
    )
