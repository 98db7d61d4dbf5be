"""Figures of a sweep, as matplotlib figures; needs the extra ``plot``.

Nothing of matplotlib's global state is used or changed: each function makes its own ``Figure``,
to be saved with ``figure.savefig(path)``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core import scores as aggregators
from ropoll_core._checks.options import as_choice
from ropoll_core._results.study import Sweep
from ropoll_core.contamination.corruptions import CORRUPTIONS
from ropoll_core.contamination.juries import simulate_jury
from ropoll_core.contamination.panels import corrupt

__all__ = ["breakdown_figure", "gallery_figure", "jury_size_figure", "premium_figure"]

# Okabe and Ito's colours, told apart by most colour-blind readers; markers say it again.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
# A panel whose errors span more than this has a logarithmic axis.
_DECADES = 30.0


def _new_figure(width: float, height: float) -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("figures need matplotlib: pip install 'ropoll-core[plot]'") from None
    return Figure(figsize=(width, height), layout="constrained")


def _style(sweep: Sweep, method: int) -> dict[str, Any]:
    return {
        "color": _COLOURS[method % len(_COLOURS)],
        "marker": _MARKERS[method % len(_MARKERS)],
        "markersize": 4.5,
        "linewidth": 1.6 if method == 0 else 1.1,
        "label": sweep.methods[method].replace("_", " "),
    }


def _curve(axes: Any, x: Any, sweep: Sweep, place: tuple[Any, ...], method: int) -> None:
    """One method's RMSE with its interval."""
    index = (*place, method)
    if np.isnan(sweep.rmse[index]).all():
        return
    style = _style(sweep, method)
    axes.plot(x, sweep.rmse[index], **style)
    axes.fill_between(
        x, sweep.rmse_low[index], sweep.rmse_high[index], color=style["color"], alpha=0.15, lw=0
    )


def _scale_errors(axes: Any, values: NDArray[np.float64]) -> None:
    values = values[np.isfinite(values) & (values > 0)]
    if values.size and values.max() > _DECADES * values.min():
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)


def _legend(figure: Any, axes: Any) -> None:
    handles, labels = axes.get_legend_handles_labels()
    inches = 0.6 + 0.085 * max(map(len, labels), default=1)  # an entry, at the default font
    columns = max(int(figure.get_figwidth() / inches), 1)
    figure.legend(
        handles, labels, loc="outside lower center", ncols=min(columns, len(labels)), frameon=False
    )


def breakdown_figure(sweep: Sweep, *, committee: str | None = None) -> Any:
    """RMSE by corruption rate, a panel for each corruption.

    Parameters
    ----------
    sweep : Sweep
    committee : str, optional
        One of ``sweep.committees``; the last by default.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ImportError
        Without matplotlib.
    ValueError
        If there is no such committee.
    """
    name = sweep.committees[-1] if committee is None else committee
    seat = sweep.committees.index(as_choice(name, "committee", sweep.committees))
    columns = min(3, len(sweep.corruptions))
    rows = -(-len(sweep.corruptions) // columns)
    figure = _new_figure(3.4 * columns, 2.7 * rows + 0.7)
    grid = figure.subplots(rows, columns, squeeze=False, sharex=True)
    for k, corruption in enumerate(sweep.corruptions):
        axes = grid[k // columns, k % columns]
        for method in range(len(sweep.methods)):
            _curve(axes, sweep.rates, sweep, (seat, k, slice(None)), method)
        axes.set_title(corruption, fontsize=10)
        _scale_errors(axes, sweep.rmse[seat, k])
        axes.grid(alpha=0.25)
        if k % columns == 0:
            axes.set_ylabel("RMSE")
        if k + columns >= len(sweep.corruptions):
            axes.set_xlabel("corruption rate")
            axes.tick_params(labelbottom=True)
    for spare in range(len(sweep.corruptions), rows * columns):
        grid[spare // columns, spare % columns].set_visible(False)
    _legend(figure, grid[0, 0])
    figure.suptitle(f"Error by corruption rate, {name} judges", fontsize=11)
    return figure


def jury_size_figure(sweep: Sweep, *, corruption: str | None = None) -> Any:
    """RMSE by the size of the jury, a panel for each rate of the sweep.

    Parameters
    ----------
    sweep : Sweep
        Over committees of several sizes.
    corruption : str, optional
        One of ``sweep.corruptions``; the first by default.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ImportError
        Without matplotlib.
    ValueError
        If there is no such corruption.
    """
    name = sweep.corruptions[0] if corruption is None else corruption
    k = sweep.corruptions.index(as_choice(name, "corruption", sweep.corruptions))
    n_rates = len(sweep.rates)
    figure = _new_figure(3.6 * n_rates, 4.2)
    grid = figure.subplots(1, n_rates, squeeze=False)[0]
    order = np.argsort(sweep.n_judges, kind="stable")
    for rate, axes in enumerate(grid):
        for method in range(len(sweep.methods)):
            _curve(axes, sweep.n_judges[order], sweep, (order, k, rate), method)
        what = f"{sweep.rates[rate]:.0%} {name}" if sweep.rates[rate] else "nobody corrupted"
        axes.set_title(what, fontsize=10)
        axes.set_xlabel("judges in the committee")
        axes.set_xticks(sweep.n_judges[order])
        _scale_errors(axes, sweep.rmse[:, k, rate])
        axes.grid(alpha=0.25)
    grid[0].set_ylabel("RMSE")
    _legend(figure, grid[0])
    figure.suptitle("Error by the size of the jury", fontsize=11)
    return figure


def premium_figure(sweep: Sweep) -> Any:
    """Insurance premium: by how much each method's error exceeds the baseline's at rate 0.

    Parameters
    ----------
    sweep : Sweep
        With a rate of 0 and a baseline.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ImportError
        Without matplotlib.
    ValueError
        If no rate is 0, or there is no baseline.
    """
    if sweep.baseline is None or not (sweep.rates == 0).any():
        raise ValueError("sweep must have a baseline and a rate of 0 to have a premium")
    clean = int(np.flatnonzero(sweep.rates == 0)[0])
    others = [m for m, name in enumerate(sweep.methods) if name != sweep.baseline]
    figure = _new_figure(1.6 * len(sweep.committees) + 2.5, 3.8)
    axes = figure.subplots()
    width = 0.8 / max(len(others), 1)
    seats = np.arange(len(sweep.committees))
    for place, method in enumerate(others):
        low, value, high = (
            100 * (array[:, 0, clean, method] - 1)
            for array in (sweep.ratio_low, sweep.ratio, sweep.ratio_high)
        )
        style = _style(sweep, method)
        axes.bar(
            seats + (place - (len(others) - 1) / 2) * width,
            value,
            0.9 * width,
            yerr=[value - low, high - value],
            color=style["color"],
            label=style["label"],
            error_kw={"elinewidth": 0.8},
        )
    axes.axhline(0, color="black", linewidth=0.8)
    axes.set_xticks(seats, [f"{name} judges" for name in sweep.committees])
    axes.set_ylabel(f"RMSE above the {sweep.baseline.replace('_', ' ')}'s (%)")
    axes.set_title("Insurance premium: nobody is corrupted", fontsize=11)
    axes.grid(alpha=0.25, axis="y")
    _legend(figure, axes)
    return figure


def gallery_figure(*, n_judges: int = 11, n_corrupted: int = 4, rng: Any = 0) -> Any:
    """One panel of two attributes for each corruption: judges, truth, mean, geometric median.

    Parameters
    ----------
    n_judges, n_corrupted : int
        Size of the panel, and how many of its judges are corrupted.
    rng : None, int, numpy.random.SeedSequence or numpy.random.Generator

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ImportError
        Without matplotlib.
    """
    scale = (0.0, 4.0)
    truth = np.array([[1.3, 2.9]])
    jury = simulate_jury(1, n_judges, 2, scale=scale, sigma=0.35, truth=truth, rng=rng)
    rate = np.r_[np.ones(n_corrupted), np.zeros(n_judges - n_corrupted)]
    figure = _new_figure(10.2, 7.2)
    grid = figure.subplots(2, 3)
    for axes, name in zip(grid.flat, list(CORRUPTIONS)[:6], strict=True):
        panel = corrupt(truth, jury.scores, name, rate=rate, scale=scale, rng=rng).scores
        _draw_panel(axes, panel[0], n_corrupted, truth[0])
        axes.set_title(name, fontsize=10)
    _legend(figure, grid[0, 0])
    figure.suptitle(
        f"{n_corrupted} of {n_judges} judges corrupted: where the mean and the geometric median go",
        fontsize=11,
    )
    return figure


def _draw_panel(
    axes: Any, panel: NDArray[np.float64], n_corrupted: int, truth: NDArray[np.float64]
) -> None:
    mean = aggregators.aggregate(panel, "mean")
    median = aggregators.aggregate(panel, "geometric_median")
    marks: list[tuple[str, Any, dict[str, Any]]] = [
        ("clean judges", panel[n_corrupted:], {"c": "#999999", "marker": "o", "s": 28}),
        ("corrupted judges", panel[:n_corrupted], {"c": "black", "marker": "x", "s": 36}),
        ("truth", truth, {"c": "#009E73", "marker": "*", "s": 150}),
        ("mean", mean, {"c": "#D55E00", "marker": "s", "s": 60}),
        ("geometric median", median, {"c": "#0072B2", "marker": "D", "s": 60}),
    ]
    low, high, edge = -0.6, 4.6, 0.12
    for label, points, style in marks:
        # What lies outside is drawn on the frame; where the aggregates went is written out.
        places = np.clip(np.atleast_2d(points), low + edge, high - edge)
        axes.scatter(*places.T, label=label, zorder=3, **style)
        if points.ndim == 1 and (places[0] != points).any():
            axes.annotate(
                f"{label} at ({points[0]:.3g}, {points[1]:.3g})", (2.0, 3.95), fontsize=8,
                ha="center", va="top",
            )  # fmt: skip
    axes.plot([0, 4, 4, 0, 0], [0, 0, 4, 4, 0], color="#BBBBBB", linewidth=0.8, zorder=1)
    axes.set_xlim(low, high)
    axes.set_ylim(low, high)
    axes.set_aspect("equal")
