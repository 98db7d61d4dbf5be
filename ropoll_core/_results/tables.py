"""What the table readers return: arrays, the names of their axes, and what was left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._results.base import Result

__all__ = ["AnswerTable", "LeftOut", "Panel", "PanelConsensus", "TableReport", "VoteTable"]


@dataclass(frozen=True, repr=False)
class LeftOut(Result):
    """What a reader did not turn into a value, counted by reason.

    Attributes
    ----------
    no_row : int
        Cells of the result for which the table has no row.
    empty : int
        Empty cells, nulls, NaN and the usual texts for a missing value.
    declared : int
        Cells that hold one of ``missing_values``.
    bad : int
        Cells that could not be read, counted as missing under ``on_bad="missing"``.
    off_scale : int
        Numbers outside ``scale``, counted as missing under ``on_bad="missing"``.
    rows : int
        Rows that ``where`` (or a choice of attributes, in long form) did not choose.
    examples : tuple of str
        The first bad and off-scale cells, each with its place, column and text.
    """

    no_row: int = 0
    empty: int = 0
    declared: int = 0
    bad: int = 0
    off_scale: int = 0
    rows: int = 0
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, repr=False, eq=False)
class Panel(Result):
    """A panel's scores and the names along its axes.

    Attributes
    ----------
    scores : ndarray of float64, shape (n_items, n_judges, n_attributes)
        NaN where there is no score.
    items, judges, attributes : ndarray of str objects
        Ids exactly as written, in order of first appearance; in semi-wide form attributes are
        in the order of the columns, and where ``attributes=`` was given in that order.
    n_rows : int
        Rows read.
    left_out : LeftOut
        What is missing, by reason.
    metadata : tuple of str
        Text columns that are constant within each item and were not read.
    unused : tuple of str
        Other columns that were not read.
    """

    scores: NDArray[np.float64]
    items: NDArray[np.object_]
    judges: NDArray[np.object_]
    attributes: NDArray[np.object_]
    n_rows: int
    left_out: LeftOut
    metadata: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()


@dataclass(frozen=True, repr=False, eq=False)
class VoteTable(Result):
    """Ballots and the names along their axes.

    Attributes
    ----------
    votes : ndarray of int8, shape (n_items, n_judges)
        1 for the positive class, 0 for the other, -1 where there is no ballot. Without the
        judge that is the signal.
    items, judges : ndarray of str objects
        Ids exactly as written, in order of first appearance.
    labels : ndarray of int8, shape (n_items,), or None
        The labels, coded like the votes; None if the table has none.
    signal : ndarray of int8, shape (n_items,), or None
        The ballots of the judge named as the signal.
    tasks : ndarray of str objects, shape (n_items,), or None
        The task (cluster) of each item.
    classes : tuple of str
        The texts that became 0 and those that became 1, comma-separated, in that order.
    n_rows : int
        Rows read.
    left_out : LeftOut
        What is missing, by reason.
    """

    votes: NDArray[np.int8]
    items: NDArray[np.object_]
    judges: NDArray[np.object_]
    labels: NDArray[np.int8] | None
    signal: NDArray[np.int8] | None
    tasks: NDArray[np.object_] | None
    classes: tuple[str, str]
    n_rows: int
    left_out: LeftOut


@dataclass(frozen=True, repr=False, eq=False)
class AnswerTable(Result):
    """Answers as codes, and the names along their axes.

    Attributes
    ----------
    answers : ndarray of int32, shape (n_items, n_judges)
        Index into `categories`, -1 where there is no answer.
    categories : ndarray of str objects
        The answers' texts in order of first appearance, then gold texts that nobody answered.
    items, judges : ndarray of str objects
        Ids exactly as written, in order of first appearance.
    gold : ndarray of int32, shape (n_items,), or None
        The right answer as an index into `categories`, -1 where it is not given.
    tasks, groups : ndarray of str objects, shape (n_items,), or None
        The task (cluster) and the group of each item.
    n_rows : int
        Rows read.
    left_out : LeftOut
        What is missing, by reason.
    """

    answers: NDArray[np.int32]
    categories: NDArray[np.object_]
    items: NDArray[np.object_]
    judges: NDArray[np.object_]
    gold: NDArray[np.int32] | None
    tasks: NDArray[np.object_] | None
    groups: NDArray[np.object_] | None
    n_rows: int
    left_out: LeftOut


@dataclass(frozen=True, repr=False, eq=False)
class PanelConsensus(Result):
    """A panel's consensus, and judges and items seen from it. Distances are Euclidean.

    Attributes
    ----------
    method : str
        The aggregator.
    items, judges, attributes : ndarray of str objects
        As in the panel.
    consensus : ndarray of shape (n_items, n_attributes)
        NaN where every judge is missing.
    n_valid : ndarray of int64, shape (n_items,)
        Judges with every attribute present.
    status, gap : ndarray of shape (n_items,), or None
        Of the geometric median: its :class:`~ropoll_core._results.scores.Status` and the
        certified gap.
    coverage : ndarray of float64, shape (n_judges,)
        Share of the items on which the judge is valid.
    mean_distance : ndarray of float64, shape (n_judges,)
        Mean distance of the judge to the consensus, over the items on which it is valid.
    mean_influence : ndarray of float64, shape (n_judges,), or None
        Mean share of the pull at the geometric median, over those items. With n judges of
        equal standing it is 1/n.
    moved : ndarray of float64, shape (n_items,)
        How far the mean is from the consensus.
    unsupported : ndarray of bool, shape (n_items,)
        Where the coordinate-wise median is farther from every judge than the judges are from
        the consensus on average: a vector that nobody gave, or came near to giving.
    n_rows, left_out, metadata, unused
        As in the panel.
    """

    method: str
    items: NDArray[np.object_]
    judges: NDArray[np.object_]
    attributes: NDArray[np.object_]
    consensus: NDArray[Any]
    n_valid: NDArray[np.int64]
    status: NDArray[np.int8] | None
    gap: NDArray[np.float64] | None
    coverage: NDArray[np.float64]
    mean_distance: NDArray[np.float64]
    mean_influence: NDArray[np.float64] | None
    moved: NDArray[np.float64]
    unsupported: NDArray[np.bool_]
    n_rows: int
    left_out: LeftOut
    metadata: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()


@dataclass(frozen=True, repr=False, eq=False)
class TableReport(Result):
    """What a table of scores holds, and what is wrong with it.

    Attributes
    ----------
    name : str
        The file, or "table".
    columns : dict of str to str
        Role -> column, for item, judge and, in long form, attribute and score.
    panel : Panel
        What could be read: wrong cells are missing, and of rows with one key one was taken.
    duplicates : int
        Rows whose key an earlier row has.
    wrong : int
        Cells that are not finite numbers or lie off the scale.
    problems : tuple of str
        The first of the wrong cells and of the repeated keys, with their places.
    coverage : ndarray of float64, shape (n_judges,)
        Share of the items on which the judge has every attribute.
    zero_rows : ndarray of int64, shape (n_judges,)
        Items on which the judge gives zero on every attribute: often a failed parse.
    lowest, highest : ndarray of float64, shape (n_judges,)
        Range of the judge's scores; NaN for a judge without any.
    """

    name: str
    columns: dict[str, str]
    panel: Panel
    duplicates: int
    wrong: int
    problems: tuple[str, ...]
    coverage: NDArray[np.float64]
    zero_rows: NDArray[np.int64]
    lowest: NDArray[np.float64]
    highest: NDArray[np.float64]

    @property
    def clean(self) -> bool:
        """Whether every cell and key can be read as it stands."""
        return not self.duplicates and not self.wrong
