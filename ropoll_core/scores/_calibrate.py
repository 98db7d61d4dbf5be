"""Per-judge affine calibration on labelled queries, before any aggregator."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.options import as_choice, as_count, as_flag
from ropoll_core._checks.scores import as_labels, as_scores, raise_infinite
from ropoll_core._results.aggregate import AggregationWarning
from ropoll_core._results.calibration import Calibration
from ropoll_core._rng import as_generator

__all__ = ["calibrate"]


def calibrate(
    scores: Any,
    labels: Any,
    *,
    by: str = "judge",
    n_folds: int = 5,
    rng: Any = None,
    full_output: bool = False,
) -> NDArray[Any] | Calibration:
    """Map each judge's scores onto the scale of the labels, by a line fitted on other queries.

    Judges differ in scale and offset; an aggregator that compares their score vectors takes both
    for disagreement. The result goes into any aggregator.

    Parameters
    ----------
    scores : array_like of shape (n_queries, n_judges, n_attributes)
        Score vectors; a judge with a missing attribute is missing for that query.
    labels : array_like of shape (n_queries, n_attributes)
        Reference scores; NaN for queries without a label.
    by : {"judge", "attribute"}
        One line a judge, or one for each attribute of each judge.
    n_folds : int
        At least 2. The labelled queries are cut into so many random folds whose sizes differ by
        at most one; each is mapped by the lines fitted on the other folds, so that no label
        bears on its own query. Queries without a label use the lines of all labelled ones.
    rng : None, int, SeedSequence or Generator
        Seed of the folds; None takes fresh entropy.
    full_output : bool
        Return a :class:`Calibration` instead.

    Returns
    -------
    float64 array of shape (n_queries, n_judges, n_attributes), or Calibration
        In the units of `labels`; NaN where the score is missing or the judge is left out.

    Raises
    ------
    ValueError
        For an infinite value, a wrong shape or option, or fewer labelled queries than folds.
    TypeError
        For values that are not numbers, or an option of a wrong type.

    Warns
    -----
    AggregationWarning
        If a judge has no line in some fold (fewer than two labelled queries, or equal scores on
        all of them) and is left out of the result as a whole (``full_output=True``: see
        `left_out`).

    Notes
    -----
    Ordinary least squares of the label on the score. It shrinks noisy judges towards the mean of
    the labels, as a predictor should. Labels that faulty judges can influence defeat it: it has
    breakdown point 0 in the labels, while a judge's own line cannot hurt the others'. Cost
    O(n_queries n_judges n_attributes) plus O(n_folds n_judges n_attributes).

    References
    ----------
    .. [1] V. Chernozhukov et al., "Double/debiased machine learning", Econometrics J. 21, 2018,
       for cross-fitting.

    Examples
    --------
    A judge on a scale of ten, one on a scale of five, and a label on half of the queries:

    >>> import numpy as np
    >>> import ropoll_core
    >>> truth = np.array([[1.0], [2], [3], [4], [5], [3], [2], [4]])
    >>> panel = np.stack([2 * truth, truth], axis=1)
    >>> labels = np.where(np.arange(8)[:, None] < 4, truth, np.nan)
    >>> even = ropoll_core.scores.calibrate(panel, labels, n_folds=2)
    >>> ropoll_core.scores.mean(even).round(9).ravel()
    array([1., 2., 3., 4., 5., 3., 2., 4.])
    """
    # Check arguments
    panels, lead = as_scores(scores)
    if len(lead) != 1:
        raise ValueError(f"scores must have exactly 3 axes, got shape {np.shape(scores)}")
    if np.isinf(panels).any():
        raise_infinite(panels, lead)
    target = as_labels(labels, panels)
    pooled = as_choice(by, "by", ("judge", "attribute")) == "judge"
    folds = as_count(n_folds, "n_folds", least=2)
    as_flag(full_output, "full_output")
    labelled = np.asarray(~np.isnan(target).any(axis=1))
    if labelled.sum() < folds:
        raise ValueError(
            f"labels must cover at least n_folds={folds} queries, got {int(labelled.sum())}"
        )

    # Compute: sums of each fold, lines of all folds but one, scores mapped by their own line
    fold = _folds(labelled, folds, rng)
    valid = ~np.isnan(panels).any(axis=2)
    x = np.where(valid[:, :, None], panels, np.nan).astype(np.float64)
    lines = _Lines(x, target, fold, folds, pooled)
    slope, intercept, bad = lines.without_each()
    left_out = np.asarray(bad.any(axis=0))
    calibrated: NDArray[np.float64] = (
        slope[fold] * x + intercept[fold]
    )  # fold -1 is the last line, of all folds
    calibrated[:, left_out] = np.nan

    # Wrap
    if not full_output:
        if left_out.any():
            warnings.warn(
                f"{int(left_out.sum())} of {left_out.size} judges (first: judge "
                f"{int(left_out.argmax())}) have no line in some fold and are left out",
                AggregationWarning,
                stacklevel=2,
            )
        return calibrated
    width = slice(0, 1) if pooled else slice(None)
    return Calibration(
        calibrated,
        slope[-1][:, width].squeeze(-1) if pooled else slope[-1],
        intercept[-1][:, width].squeeze(-1) if pooled else intercept[-1],
        (valid & labelled[:, None]).sum(axis=0),
        fold,
        left_out,
    )


def _folds(labelled: NDArray[np.bool_], n_folds: int, rng: Any) -> NDArray[np.intp]:
    """A fold for each labelled query, -1 for the others."""
    order = as_generator(rng)
    fold = np.full(labelled.size, -1)
    count = int(labelled.sum())
    fold[labelled] = order.permutation(np.arange(count) % n_folds)
    return fold


class _Lines:
    """Least-squares lines from sums over folds; values are taken relative to their means."""

    def __init__(
        self,
        x: NDArray[np.float64],
        target: NDArray[np.float64],
        fold: NDArray[np.intp],
        n_folds: int,
        pooled: bool,
    ) -> None:
        use = fold >= 0
        y = np.broadcast_to(target[use][:, None, :], x[use].shape)
        part = x[use]
        known = ~np.isnan(part)
        axes = (0, 2) if pooled else 0
        count = known.sum(axis=axes, keepdims=True).clip(1)
        # Sums of squares about the means of all labelled queries do not cancel.
        self.x_mid = np.where(known, part, 0).sum(axis=axes, keepdims=True) / count
        self.y_mid = np.where(known, y, 0).sum(axis=axes, keepdims=True) / count
        dx = np.where(known, part - self.x_mid, 0)
        dy = np.where(known, y - self.y_mid, 0)
        terms = np.stack([known, dx, dy, dx * dx, dx * dy])
        if pooled:
            terms = terms.sum(axis=3, keepdims=True)
        self.sums = np.zeros((n_folds, *terms.shape[:1], *terms.shape[2:]))
        np.add.at(self.sums, fold[use], terms.swapaxes(0, 1))
        self.scale = np.abs(dx).max(axis=axes, initial=0, keepdims=True)

    def without_each(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_]]:
        """Slope, intercept (n_folds + 1, n_judges, width) and whether there is none: for each
        fold the line of all others, at the end the line of all."""
        total = self.sums.sum(axis=0)
        rest = np.concatenate([total - self.sums, total[None]])
        n, s_x, s_y, s_xx, s_xy = np.moveaxis(rest, 1, 0)
        n = np.maximum(n, 1)
        spread = s_xx - s_x * s_x / n
        # What is left of equal scores after rounding.
        flat = spread <= n * np.maximum(1e-7 * self.scale, 1e-14 * np.abs(self.x_mid)) ** 2
        slope = np.where(flat, np.nan, (s_xy - s_x * s_y / n) / np.where(flat, 1, spread))
        middle = self.y_mid + s_y / n - slope * (self.x_mid + s_x / n)
        return slope, middle, flat.any(axis=2)
