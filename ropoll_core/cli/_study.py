"""The study behind `ropoll simulate`: a grid of corruptions, and an ablation of the jury's size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core import contamination, theory
from ropoll_core._results.study import Claim, IndicatorCorrelation, Sweep

__all__ = ["PRESETS", "Study", "StudyOptions", "run_study"]

#: Generated juries: the size of the paper's study, and one that takes seconds.
PRESETS: dict[str, dict[str, Any]] = {
    "quick": {"n_items": 300, "n_replicates": 5},
    "paper": {"n_items": 2000, "n_replicates": 20},
}
# Scales and attributes are HelpSteer-2's, gamma the paper's; sigma is this program's choice.
_JURY: dict[str, Any] = {
    "n_judges": 13,
    "n_attributes": 5,
    "scale": (0.0, 4.0),
    "sigma": 0.7,
    "correlation": 0.5,
    "failure_rate": 0.02,
}
_METHODS = (
    *contamination.PAPER_METHODS,
    "coordinatewise_trimmed_mean",
    "medoid",
    "krum",
)
_SIZES = (3, 5, 7, 13)
_SIZE_RATES = (0.0, 0.3)
_SIZE_CORRUPTION = "bimodal-random"


@dataclass(frozen=True)
class StudyOptions:
    """What to run; None stands for the preset's value."""

    preset: str = "quick"
    jury: dict[str, Any] = field(default_factory=dict)
    scale: tuple[float, float] | None = None
    methods: tuple[str, ...] = _METHODS
    corruptions: tuple[str, ...] = tuple(contamination.CORRUPTIONS)
    rates: tuple[float, ...] = contamination.PAPER_RATES
    sizes: tuple[int, ...] | None = None
    n_replicates: int | None = None
    colluding: bool = False
    seed: int = 0
    workers: int = -1
    state: Path | None = None


@dataclass(frozen=True)
class Study:
    """What was found."""

    source: str
    generated: bool
    n_items: int
    n_judges: int
    n_attributes: int
    gamma: float
    error_gamma: float
    indicator: IndicatorCorrelation
    grid: Sweep
    sizes: Sweep
    claims: tuple[Claim, ...]

    def table(self) -> dict[str, NDArray[Any]]:
        """Both sweeps in one table, told apart by the column `part`."""
        parts = {"grid": self.grid.table(), "sizes": self.sizes.table()}
        rows = {part: len(next(iter(table.values()))) for part, table in parts.items()}
        columns = {
            name: np.concatenate([table[name] for table in parts.values()])
            for name in parts["grid"]
        }
        return {"part": np.repeat(list(rows), list(rows.values())), **columns}


def run_study(
    options: StudyOptions,
    data: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None,
    source: str = "",
    progress: Callable[[str, int, int], Any] | None = None,
) -> Study:
    """Run the grid and the ablation on generated juries, or on (truth, scores) of the user's.

    `progress` is called with what is running, how many cells are done and how many there are.
    """
    preset = PRESETS[options.preset]
    if data is None:
        jury: dict[str, Any] = _JURY | {"n_items": preset["n_items"]} | options.jury
        scale = options.scale or jury["scale"]
        made = contamination.simulate_jury(
            **(jury | {"scale": scale}), rng=options.seed, workers=options.workers
        )
        truth, scores = made.truth, made.scores
        source = _describe(jury, scale)
    else:
        truth, scores = data
        if options.scale is None:
            raise ValueError("scale must be given for scores of your own")
        scale = options.scale
    n_items, n_judges, n_attributes = scores.shape
    sizes = options.sizes or tuple(sorted({n for n in _SIZES if n < n_judges} | {n_judges}))
    common: dict[str, Any] = {
        "scale": scale,
        "methods": options.methods,
        "n_replicates": preset["n_replicates"]
        if options.n_replicates is None
        else options.n_replicates,
        "colluding": options.colluding,
        "baseline": "mean" if "mean" in options.methods else None,
        "rng": options.seed,
        "workers": options.workers,
    }
    grid = contamination.sweep(
        truth, scores, **common, corruptions=options.corruptions, rates=options.rates,
        committees=sizes, state=options.state, progress=_labelled(progress, "corruptions"),
    )  # fmt: skip
    ablated = _SIZE_CORRUPTION
    if ablated not in options.corruptions:
        ablated = options.corruptions[0]
    by_size = contamination.sweep(
        truth, scores, **common, corruptions=[ablated], rates=_SIZE_RATES,
        committees=list(range(1, n_judges + 1)), progress=_labelled(progress, "jury sizes"),
        state=None if options.state is None else Path(f"{options.state}.sizes"),
    )  # fmt: skip
    return Study(
        source=source,
        generated=data is None,
        n_items=n_items,
        n_judges=n_judges,
        n_attributes=n_attributes,
        gamma=_gamma(scores),
        error_gamma=_gamma(scores, truth),
        indicator=theory.indicator_correlation(scores, truth),
        grid=grid,
        sizes=by_size,
        claims=_claims(grid, by_size),
    )


def _describe(jury: dict[str, Any], scale: tuple[float, float]) -> str:
    return (
        f"generated jury: {jury['n_items']} items, {jury['n_judges']} judges, "
        f"{jury['n_attributes']} attributes, scale {scale[0]:g} to {scale[1]:g}, "
        f"sigma {jury['sigma']:g}, correlation of errors {jury['correlation']:g}, "
        f"natural failure rate {jury['failure_rate']:g}"
    )


def _labelled(
    progress: Callable[[str, int, int], Any] | None, label: str
) -> Callable[[int, int], Any] | None:
    if progress is None:
        return None
    return lambda done, total: progress(label, done, total)


def _gamma(scores: NDArray[np.float64], truth: NDArray[np.float64] | None = None) -> float:
    return theory.judge_correlation(scores, truth=truth).gamma


def _claims(grid: Sweep, sizes: Sweep) -> tuple[Claim, ...]:
    """The paper's claims, if the grid holds what they speak of."""
    try:
        return contamination.check_claims(grid, sizes)
    except ValueError:
        return ()
