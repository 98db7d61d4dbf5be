"""Panels generated to given margins, and the one that "Blind to the Pivotal Vote" reports."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.options import as_count
from ropoll_core._results.base import Result
from ropoll_core._rng import as_generator

__all__ = ["DemoPanel", "MarginCell", "demo_panel", "panel_with_margins"]


@dataclasses.dataclass(frozen=True)
class MarginCell:
    """How many queries of a margin there are, and who errs on them.

    Attributes
    ----------
    margin : int
        ``|2 s - k|``: odd, for a panel of odd size.
    n, n_errors, n_signal_errors : int
        Queries; wrong decisions of the panel, and wrong signals, among them.
    group : str
        A label of the queries, to tell cells of one margin apart.
    """

    margin: int
    n: int
    n_errors: int
    n_signal_errors: int
    group: str = ""


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class DemoPanel(Result):
    """A generated panel; arrays have one row a query.

    Attributes
    ----------
    votes : int8 array (n_queries, n_judges)
    signal, labels : int8 arrays (n_queries,)
    tasks, groups : arrays of str (n_queries,)
    """

    votes: NDArray[np.int8]
    signal: NDArray[np.int8]
    labels: NDArray[np.int8]
    tasks: NDArray[np.str_]
    groups: NDArray[np.str_]


# 3,241 queries: 463 tasks of 7 candidates, 7 judges. Margins, errors and pivotal gains are those
# the paper prints; how the 370 errors beyond margin 1 and the 306 of the signal divide, it does
# not print, and is made up here.
PUBLISHED = (
    MarginCell(1, 236, 110, 40, "first"),
    MarginCell(1, 289, 89, 56, "second"),
    MarginCell(3, 740, 190, 92, "rest"),
    MarginCell(5, 1026, 120, 124, "rest"),
    MarginCell(7, 950, 60, 90, "rest"),
)


def panel_with_margins(
    cells: Sequence[MarginCell], *, n_judges: int, task_size: int = 1, rng: Any = None
) -> DemoPanel:
    """Generate a panel of odd size with exact counts by margin.

    Parameters
    ----------
    cells : sequence of MarginCell
    n_judges : int
        Odd.
    task_size : int
        Consecutive queries of one task.
    rng : None, int, numpy.random.SeedSequence or numpy.random.Generator
        Order of the queries, labels, who dissents, and where the signal errs.

    Returns
    -------
    DemoPanel

    Raises
    ------
    ValueError
        If `n_judges` is even, a margin does not occur in a panel of that size, or a cell has
        more errors than queries.

    Examples
    --------
    >>> from ropoll_core import tally
    >>> from ropoll_core.votes import MarginCell, panel_with_margins
    >>> panel = panel_with_margins([MarginCell(1, 5, 2, 1), MarginCell(3, 4, 0, 0)], n_judges=3)
    >>> sorted(tally(panel.votes).margin.tolist())
    [1, 1, 1, 1, 1, 3, 3, 3, 3]
    """
    n_judges = as_count(n_judges, "n_judges")
    task_size = as_count(task_size, "task_size")
    if n_judges % 2 == 0:
        raise ValueError(f"n_judges must be odd, got {n_judges}")
    for position, cell in enumerate(cells):
        if not (0 < cell.margin <= n_judges and cell.margin % 2 == 1):
            raise ValueError(
                f"cells must have odd margins up to {n_judges}, got {cell.margin} at {position}"
            )
        if not 0 <= max(cell.n_errors, cell.n_signal_errors) <= cell.n:
            raise ValueError(f"cells must not have more errors than queries, got {cell}")
    generator = as_generator(rng)

    sizes = [cell.n for cell in cells]
    n = sum(sizes)
    order = generator.permutation(n)
    labels = generator.integers(0, 2, n, dtype=np.int8)
    n_dissent = np.repeat([(n_judges - cell.margin) // 2 for cell in cells], sizes)
    groups = np.repeat([cell.group for cell in cells], sizes)
    wrong = np.concatenate([np.arange(cell.n) < cell.n_errors for cell in cells])
    misled = np.concatenate(
        [generator.permutation(cell.n) < cell.n_signal_errors for cell in cells]
    )
    # Judges dissent at unequal rates: the later, the oftener.
    keys = generator.random((n, n_judges)) / np.linspace(1.0, 2.0, n_judges)
    rank = keys.argsort(axis=1).argsort(axis=1)
    decision = np.where(wrong, 1 - labels, labels)
    votes = np.where(rank < n_dissent[:, None], 1 - decision[:, None], decision[:, None])
    signal = np.where(misled, 1 - labels, labels)
    return DemoPanel(
        votes=votes[order].astype(np.int8),
        signal=signal[order].astype(np.int8),
        labels=labels[order],
        tasks=np.array([f"task-{i // task_size:04d}" for i in range(n)]),
        groups=groups[order],
    )


def demo_panel(rng: Any = 1) -> DemoPanel:
    """A panel with the counts that "Blind to the Pivotal Vote" reports.

    3,241 queries (463 tasks of 7 candidates) before 7 judges: margins 1/3/5/7 on
    525/740/1026/950 queries, 199 of 569 wrong decisions at margin 1, a signal that errs on 402
    queries, 96 of them at margin 1; the pivotal queries fall into groups of 236 and 289
    (arXiv:2608.06940).

    Parameters
    ----------
    rng : None, int, numpy.random.SeedSequence or numpy.random.Generator
        The counts do not depend on it.

    Returns
    -------
    DemoPanel

    Examples
    --------
    >>> from ropoll_core import substitution
    >>> from ropoll_core.votes import demo_panel
    >>> panel = demo_panel()
    >>> result = substitution(panel.votes, panel.signal, panel.labels)
    >>> result.n.tolist(), round(100 * result.pivotal_gain, 2)
    ([525, 740, 1026, 950], 11.21)
    """
    return panel_with_margins(PUBLISHED, n_judges=7, task_size=7, rng=rng)
