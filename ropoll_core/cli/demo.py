"""`ropoll demo`: a small generated panel with one failing judge, looked over and aggregated."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from ropoll_core._checks.options import as_count
from ropoll_core.cli._common import console, reported
from ropoll_core.cli._demo_votes import demo_votes
from ropoll_core.cli.aggregate import print_consensus
from ropoll_core.cli.doctor import print_report
from ropoll_core.contamination import corrupt, simulate_jury
from ropoll_core.tables import (
    aggregate_panel,
    consensus_columns,
    inspect_scores,
    read_scores,
    write_table,
)

__all__ = ["demo"]

_JUDGES = ("ada", "bea", "cyd", "dot", "eve")
_ATTRIBUTES = ("correct", "complete", "clear", "concise")
_N_ITEMS = 200
_SCALE = (0.0, 5.0)
_SIGMA = 0.5
_FAILURE_RATE = 0.02
_CORRUPTION_RATE = 0.6

_MODEL = f"""\
{_N_ITEMS} items x {len(_JUDGES)} judges x {len(_ATTRIBUTES)} attributes on a scale from \
{_SCALE[0]:g} to {_SCALE[1]:g}.
Each judge gives the truth plus Gaussian noise (sigma {_SIGMA:g}), rounded to tenths, and fails \
to answer on {_FAILURE_RATE:.0%} of the items.
{_JUDGES[-1]} is broken: on {_CORRUPTION_RATE:.0%} of the items it reports zero on every attribute.
"""


def demo(
    folder: Annotated[
        Path, typer.Argument(help="Folder for the files; made if it is not there.")
    ] = Path("ropoll-demo"),
    seed: Annotated[int, typer.Option(help="Of the generated panel.", metavar="N")] = 1,
    votes: Annotated[
        bool, typer.Option("--votes", help="A panel of ballots instead; run pivotal on it.")
    ] = False,
) -> None:
    """Generate a small panel with one failing judge; run doctor and aggregate on it."""
    screen = console()
    with reported():
        as_count(seed, "--seed", least=0)
    if votes:
        with reported():
            path = folder / "votes.csv"
            _new_folder(folder, path)
            demo_votes(path, seed, screen)
        return
    with reported():
        scores, consensus = folder / "scores.csv", folder / "consensus.csv"
        _new_folder(folder, scores, consensus)
        truth = _write_panel(scores, seed)
        screen.print(_MODEL)
        screen.print(f"$ ropoll doctor {scores}", style="bold")
        print_report(inspect_scores(scores), screen)
        screen.print(f"\n$ ropoll aggregate {scores} -o {consensus}", style="bold")
        panel = read_scores(scores)
        result = aggregate_panel(panel)
        write_table(consensus, consensus_columns(result))
        print_consensus(result, consensus, screen)
        average = aggregate_panel(panel, method="mean").consensus
    screen.print(
        f"\nmean distance to the truth: geometric median "
        f"{_distance(result.consensus, truth):.3f}, mean {_distance(average, truth):.3f}"
    )


def _new_folder(folder: Path, *files: Path) -> None:
    for path in files:
        if path.exists():
            raise FileExistsError(17, "is there already; name another folder", str(path))
    folder.mkdir(parents=True, exist_ok=True)


def _write_panel(path: Path, seed: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Write the panel in semi-wide form, rows without an answer left out; return the truth."""
    jury = simulate_jury(
        _N_ITEMS,
        len(_JUDGES),
        len(_ATTRIBUTES),
        scale=_SCALE,
        sigma=_SIGMA,
        failure_rate=_FAILURE_RATE,
        rng=seed,
    )
    rate = np.zeros(len(_JUDGES))
    rate[-1] = _CORRUPTION_RATE
    given = corrupt(jury.truth, jury.scores, "zeros", rate=rate, scale=_SCALE, rng=seed).scores
    rounded = np.clip(given, *_SCALE).round(1)
    item, judge = np.nonzero(~np.isnan(rounded).any(axis=2))
    columns = {
        "item": np.array([f"item-{i:03d}" for i in item], dtype=object),
        "judge": np.array(_JUDGES, dtype=object)[judge],
        **{name: rounded[item, judge, a] for a, name in enumerate(_ATTRIBUTES)},
    }
    write_table(path, columns)
    return jury.truth


def _distance(
    points: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    truth: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
) -> float:
    return float(np.nanmean(np.sqrt(np.square(points - truth).sum(axis=1))))
