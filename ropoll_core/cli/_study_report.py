"""What `ropoll simulate` writes: tables for the terminal and a page in Markdown."""

from __future__ import annotations

import datetime
import os
import platform
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ropoll_core._results.study import Sweep
from ropoll_core._version import __version__
from ropoll_core.cli._study import Study

__all__ = ["FIGURES", "markdown", "save_figures", "summary_rate", "summary_rows"]

FIGURES = {
    "rmse_by_rate.png": "RMSE by corruption rate for each corruption, largest committee. "
    "The band is the 95 % task-bootstrap interval.",
    "jury_size.png": "RMSE by the size of the committee.",
    "premium.png": "What robustness costs when nobody is corrupted.",
    "gallery.png": "Panels of two attributes: clean and corrupted judges, the mean and the "
    "geometric median.",
}

_GENERATED_NOTE = (
    " The paper reports a gamma_W of .45 to .53 on its benchmarks: real items differ in how hard "
    "they are, and all judges miss the hard ones; those of a generated jury do not."
)


def save_figures(study: Study, folder: Path) -> list[Path]:
    """Draw the figures that the study allows, and say which."""
    from ropoll_core.contamination import figures

    folder.mkdir(parents=True, exist_ok=True)
    drawn: dict[str, Any] = {"rmse_by_rate.png": figures.breakdown_figure(study.grid)}
    if study.sizes.n_judges.size > 1:
        drawn["jury_size.png"] = figures.jury_size_figure(study.sizes)
    if study.grid.baseline is not None and (study.grid.rates == 0).any():
        drawn["premium.png"] = figures.premium_figure(study.grid)
    drawn["gallery.png"] = figures.gallery_figure()
    for name, figure in drawn.items():
        figure.savefig(folder / name, dpi=110)
    return [folder / name for name in drawn]


def summary_rate(sweep: Sweep) -> int:
    """Index of the rate that the summary shows: 0.3 if there, else the highest."""
    return int(np.argmin(np.abs(sweep.rates - 0.3))) if sweep.rates.max() >= 0.3 else -1


def summary_rows(sweep: Sweep, committee: int) -> list[list[str]]:
    """RMSE of each method at rate 0.3, a row for each corruption, for one committee."""
    rate = summary_rate(sweep)
    return [
        [name, *(_number(value) for value in sweep.rmse[committee, k, rate])]
        for k, name in enumerate(sweep.corruptions)
    ]


def _number(value: float) -> str:
    if np.isnan(value):
        return "-"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}" if value >= 10 else f"{value:.3f}"


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [
        "| " + " | ".join(header) + " |",
        "|" + "---|" * len(header),
        *("| " + " | ".join(row) + " |" for row in rows),
        "",
    ]


def markdown(study: Study, *, command: str, seconds: float, figures: str | None) -> str:
    """The page: what was run, the claims and where they hold, tables, figures."""
    grid = study.grid
    lines = [
        "# The contamination study",
        "",
        "Written by the program, not by hand. Command:",
        "",
        f"    {command}",
        "",
        f"ropoll_core {__version__}, {datetime.date.today().isoformat()}, {_machine()}; "
        f"{seconds:.0f} s.",
        "",
        f"Data: {study.source}. {grid.n_panels:,} panels in each cell of the grid "
        f"({len(grid.committees)} committees x {len(grid.corruptions)} corruptions x "
        f"{len(grid.rates)} rates), each read by {len(grid.methods)} methods. "
        "RMSE is per attribute, in units of the scale.",
        "",
        f"Correlation between judges: gamma {study.gamma:.2f} of the scores, "
        f"{study.error_gamma:.2f} of the errors; gamma_W "
        + ", ".join(
            f"{g:.2f} at p = {p:g}"
            for g, p in zip(study.indicator.gamma, study.indicator.quantiles, strict=True)
        )
        + "."
        + _GENERATED_NOTE * study.generated,
        "",
        *_claims(study),
        *_tables(study),
    ]
    if figures is not None:
        lines += ["## Figures", ""]
        for name, caption in FIGURES.items():
            lines += [f"![{caption}]({figures}/{name})", "", caption, ""]
    return "\n".join(lines)


def _claims(study: Study) -> list[str]:
    if not study.claims:
        return []
    held = sum(claim.holds for claim in study.claims)
    rows = [
        [claim.statement, claim.committee, "yes" if claim.holds else "**no**", claim.measured]
        for claim in sorted(study.claims, key=lambda claim: claim.statement)
    ]
    return [
        "## Where the paper's claims hold, and where they do not",
        "",
        f"{held} of {len(rows)} hold. Rates are the probability that a judge is corrupted on an "
        "item, so at rate 0.3 a committee of three has a corrupted majority on 22 % of the items, "
        "and one of five on 16 %; where those agree, no aggregator survives. A Cauchy variable has "
        "no variance: errors under cauchy-far grow with the number of panels, and their intervals "
        "are wide.",
        "",
        *_table(["claim", "committee", "holds", "measured"], rows),
        *_worse(study.grid),
    ]


def _worse(grid: Sweep) -> list[str]:
    """Cells in which the geometric median is worse than the mean, beyond its interval."""
    if "geometric_median" not in grid.methods or grid.baseline != "mean":
        return []
    median = grid.methods.index("geometric_median")
    worse = grid.ratio_low[..., median] > 1
    rows = []
    for seat, committee in enumerate(grid.committees):
        for k, corruption in enumerate(grid.corruptions):
            at = np.flatnonzero(worse[seat, k] & (grid.rates > 0))
            if at.size:
                most = float(grid.ratio[seat, k, at, median].max() - 1)
                rates = ", ".join(f"{rate:g}" for rate in grid.rates[at])
                rows.append([corruption, committee, rates, f"{most:+.1%}"])
    rows.sort(key=lambda row: row[0])
    if not rows:
        return []
    return [
        "Where the geometric median is worse than the mean (the whole interval of the ratio "
        "above 1):",
        "",
        *_table(["corruption", "committee", "at rates", "by up to"], rows),
    ]


def _tables(study: Study) -> list[str]:
    grid = study.grid
    names = [name.replace("_", " ") for name in grid.methods]
    rate = grid.rates[summary_rate(grid)]
    lines = [f"## RMSE at corruption rate {rate:g}", ""]
    for seat, committee in enumerate(grid.committees):
        lines += [f"Committee: {committee} judges.", ""]
        lines += _table(["corruption", *names], summary_rows(grid, seat))
    if (grid.rates == 0).any() and grid.baseline is not None:
        lines += ["## Premium at rate 0", "", f"RMSE above that of the {grid.baseline}.", ""]
        rows = [
            [committee, *("-" if np.isnan(v) else f"{v:+.1%}" for v in grid.premium[seat])]
            for seat, committee in enumerate(grid.committees)
        ]
        lines += _table(["committee", *names], rows)
    refused = sorted(
        {f"{method}, {seat}: {why}" for (method, seat), why in grid.not_applicable.items()}
    )
    if refused:
        lines += ["Not applicable:", "", *(f"- {entry}" for entry in refused), ""]
    return lines


def _machine() -> str:
    name = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            models = [line.split(":", 1)[1].strip() for line in file if "model name" in line]
        name = models[0] if models else name
    except OSError:
        pass
    return f"{name}, {os.cpu_count()} cores, Python {platform.python_version()}"
