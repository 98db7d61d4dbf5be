"""`ropoll demo --votes`: a generated panel of ballots, and what the pivotal command says of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from rich.console import Console

from ropoll_core.cli.pivotal import print_pivotal, report_on
from ropoll_core.tables import read_votes, write_table
from ropoll_core.votes import DemoPanel, demo_panel

__all__ = ["demo_votes"]

_JUDGES = ("ada", "bea", "cyd", "dot", "eve", "fay", "gus")
_SIGNAL = "tests"

_MODEL = """\
3,241 items (463 tasks of 7 candidates) x 7 judges, and a signal: the counts by margin, the
errors and the pivotal gains are those that "Blind to the Pivotal Vote" reports; everything else
is drawn at random.
"""


def demo_votes(path: Path, seed: int, screen: Console) -> None:
    """Write the panel to `path` and print the report."""
    screen.print(_MODEL)
    _write(path, demo_panel(seed))
    screen.print(f"$ ropoll pivotal {path} --gold label --signal {_SIGNAL}", style="bold")
    table = read_votes(path, label="label", signal=_SIGNAL)
    report = report_on(table, resamples=10_000, seed=0, workers=-1)
    print_pivotal(table, len(table.items), report, None, screen)


def _write(path: Path, panel: DemoPanel) -> None:
    """One row an item and judge, the signal last."""
    votes = np.column_stack([panel.votes, panel.signal])
    n_items, n_judges = votes.shape
    items = np.array([f"item-{i:04d}" for i in range(n_items)], dtype=object)
    columns = {
        "item": np.repeat(items, n_judges),
        "task": np.repeat(panel.tasks.astype(object), n_judges),
        "judge": np.tile(np.array([*_JUDGES, _SIGNAL], dtype=object), n_items),
        "vote": votes.reshape(-1),
        "label": np.repeat(panel.labels, n_judges),
    }
    write_table(path, columns)
