"""One cell of a sweep: panels of one committee, corrupted one way, through every method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._kernels import contamination as kernels
from ropoll_core._parallel import run_chunks
from ropoll_core.contamination.corruptions import Corruption, kind_of
from ropoll_core.contamination.methods import Method, run_method
from ropoll_core.contamination.panels import fill_cells

__all__ = ["Committee", "Study", "cell_totals"]

# Panels generated at a time: they and the estimates stay in a core's cache while every method
# reads them, and calling a method (a few us) costs little beside running it.
_PANEL_BYTES = 1 << 18
_MOST_PANELS = 2048


@dataclass(frozen=True)
class Committee:
    """Who sits: these judges, or `size` of all drawn afresh for each panel if there are none."""

    name: str
    size: int
    judges: NDArray[np.int64]


@dataclass(frozen=True)
class Study:
    """What all cells share."""

    truth: NDArray[np.float64]
    scores: NDArray[np.float64]
    scale: tuple[float, float]
    colluding: bool
    n_replicates: int
    key: tuple[int, int]


def cell_totals(
    study: Study,
    committee: Committee,
    function: Corruption,
    rates: NDArray[np.float64],
    methods: dict[str, Method],
    workers: int | None,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Squared errors summed over replicates, and how many, each of shape (n_methods, n_items)."""
    n_items, n_attributes = study.truth.shape
    source = kernels.Source(
        study.truth, study.scores, rates, study.key, study.scale, study.colluding
    )
    totals = np.zeros((len(methods), n_items))
    counts = np.zeros((len(methods), n_items), dtype=np.int64)
    shape = (committee.size, n_attributes)
    n_panels = min(max(_PANEL_BYTES // (8 * committee.size * n_attributes), 1), _MOST_PANELS)
    n_together = min(study.n_replicates, n_panels)
    n_block = max(n_panels // n_together, 1)

    def scratch() -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
        rows = n_together * n_block
        return np.empty((rows, *shape)), np.empty((rows, committee.size), dtype=np.uint8)

    def kernel(first: int, last: int, own: tuple[Any, Any]) -> None:
        for start in range(first * n_block, min(last * n_block, n_items), n_block):
            stop = min(start + n_block, n_items)
            for replicate in range(0, study.n_replicates, n_together):
                n = min(n_together, study.n_replicates - replicate)
                panels, hit = (array[: n * (stop - start)] for array in own)
                kernels.corrupt_rows(
                    source, kind_of(function), committee.judges, committee.size,
                    replicate, n, start, stop, panels, hit,
                )  # fmt: skip
                if kind_of(function) == kernels.NO_KIND:
                    _fill(study, source, function, committee, replicate, n, start, panels, hit)
                for m, (name, method) in enumerate(methods.items()):
                    estimates = _estimates(name, method, panels)
                    kernels.add_squared_errors(
                        study.truth, estimates, start, stop, totals[m], counts[m]
                    )

    n_blocks = -(-n_items // n_block)
    # A block lasts milliseconds, so each is a chunk of its own.
    run_chunks(kernel, n_blocks, cost_ns=5e6, workers=workers, scratch=scratch)
    if not np.isfinite(totals).all():
        m, item = np.argwhere(~np.isfinite(totals))[0]
        raise ValueError(
            f"method {list(methods)[m]} must give finite estimates or NaN whose squared error is "
            f"a double, got an infinity at item {item}, committee {committee.name}"
        )
    return totals, counts


def _fill(
    study: Study,
    source: kernels.Source,
    function: Corruption,
    committee: Committee,
    replicate: int,
    n_replicates: int,
    start: int,
    panels: NDArray[np.float64],
    hit: NDArray[np.uint8],
) -> None:
    n_items = len(panels) // n_replicates
    replicates = np.repeat(np.arange(replicate, replicate + n_replicates), n_items)
    items = np.tile(np.arange(start, start + n_items), n_replicates)
    if committee.judges.size:
        members = np.broadcast_to(committee.judges, hit.shape)
    else:
        members = np.empty(hit.shape, dtype=np.int64)
        kernels.member_rows(
            source, committee.size, replicate, n_replicates, start, start + n_items, members
        )
    fill_cells(source, function, study.truth, replicates, items, members, study.scale, panels, hit)


def _estimates(name: str, method: Method, panels: NDArray[np.float64]) -> NDArray[np.float64]:
    view = panels.view()
    view.flags.writeable = False  # the next method reads the same panels
    estimates = np.ascontiguousarray(run_method(method, view), dtype=np.float64)
    expected = (panels.shape[0], panels.shape[2])
    if estimates.shape != expected:
        raise ValueError(
            f"method {name} must give shape (n_panels, n_attributes) = {expected}, "
            f"got {estimates.shape}"
        )
    return estimates
