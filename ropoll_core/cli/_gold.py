"""Scores of a user with the truth beside them: a judge of the table, or another table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from ropoll_core.cli._scores import left_out_line
from ropoll_core.tables import Panel, TableError, read_scores

__all__ = ["read_with_gold"]

Scores = NDArray[np.float64]


def read_with_gold(
    file: Path, gold: str | None, gold_file: Path | None, reading: dict[str, Any], *, quiet: bool
) -> tuple[tuple[Scores, Scores], str]:
    """Truth and scores of the items of `file`, and a line that says what they are."""
    if gold is None and gold_file is None:
        raise ValueError(
            "--gold must name the judge whose scores are the truth, or --gold-file a table of them"
        )
    if gold is not None and gold_file is not None:
        raise ValueError("--gold and --gold-file both say what the truth is: give one")
    if reading["scale"] is None and file.exists():
        raise ValueError("--scale must be given for scores of your own: --scale LOW HIGH")
    panel = read_scores(file, **reading)
    if gold is not None:
        truth, scores = _by_judge(file, panel, gold)
        besides = f" besides {gold}"
    else:
        assert gold_file is not None
        truth, scores, besides = _by_file(file, panel, gold_file, reading), panel.scores, ""
    if scores.shape[1] < 2:
        raise ValueError(f"{file} must hold at least two judges{besides}")
    if not quiet:
        left_out_line(panel, Console(stderr=True, highlight=False))
    return (truth, scores), f"{file.name}: {len(scores)} items, {scores.shape[1]} judges{besides}"


def _by_judge(file: Path, panel: Panel, gold: str) -> tuple[Scores, Scores]:
    names = panel.judges.tolist()
    if gold not in names:
        listed = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
        raise ValueError(f"--gold must be a judge of {file}: {listed}; got {gold!r}")
    place = names.index(gold)
    return np.ascontiguousarray(panel.scores[:, place]), np.delete(panel.scores, place, axis=1)


def _by_file(file: Path, panel: Panel, gold_file: Path, reading: dict[str, Any]) -> Scores:
    """The scores of the other table, by the items and attributes of the panel."""
    one = len(panel.attributes) == 1  # which may be called otherwise there
    own = {
        "judge": None,
        "only_judge": "gold",
        "where": None,
        "attributes": None if one else panel.attributes.tolist(),
    }
    gold = read_scores(gold_file, **(reading | own))
    if one and len(gold.attributes) > 1:
        raise TableError(
            f"{gold_file}: {file} has one attribute, and here are {', '.join(gold.attributes)}"
        )
    place = {item: row for row, item in enumerate(gold.items)}
    rows = np.array([place.get(item, -1) for item in panel.items])
    if not (rows >= 0).any():
        raise TableError(f"{gold_file}: no item of {file} is there, {panel.items[0]!r} for one")
    truth: Scores = np.where((rows >= 0)[:, None], gold.scores[rows, 0], np.nan)
    return truth
