"""Models of a signal, and what each would give on a panel: exactly in expectation."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.ballots import as_ballots, as_column, as_vote_weights, check_ballots
from ropoll_core._checks.options import as_choice, as_real
from ropoll_core._results.vote_analysis import SignalSweep
from ropoll_core._rng import as_generator
from ropoll_core.resampling.statistics import divide
from ropoll_core.votes._rules import as_rule
from ropoll_core.votes._substitution import stratum_table, summarise
from ropoll_core.votes._types import as_types, constant

__all__ = ["SignalModel", "signal_sweep"]


@dataclasses.dataclass(frozen=True)
class SignalModel:
    """A signal whose errors depend on the label alone.

    Attributes
    ----------
    sensitivity, specificity : float
        Probability of 1 where the label is 1, and of 0 where it is 0, when it is given.
    coverage : float
        Probability that it is given; else it abstains.

    Examples
    --------
    >>> from ropoll_core.votes import SignalModel
    >>> SignalModel.nested(0.9, prevalence=0.5)
    SignalModel(sensitivity=1.0, specificity=0.8, coverage=1.0)
    """

    sensitivity: float
    specificity: float
    coverage: float = 1.0

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = as_real(getattr(self, field.name), field.name, low=0.0, high=1.0)
            object.__setattr__(self, field.name, value)

    @classmethod
    def independent(cls, accuracy: float, *, coverage: float = 1.0) -> SignalModel:
        """Equally often right on either label."""
        return cls(accuracy, accuracy, coverage)

    @classmethod
    def nested(
        cls, accuracy: float, *, prevalence: float, errors: str = "accept", coverage: float = 1.0
    ) -> SignalModel:
        """Errors on one side only, as of a test suite that lets some faults pass.

        Parameters
        ----------
        accuracy : float
            Overall; at least what a signal that is always wrong on that side reaches.
        prevalence : float
            Share of label 1.
        errors : {"accept", "reject"}
            Label 0 taken for 1, or the other way round.
        coverage : float

        Notes
        -----
        :meth:`simulate` with one seed nests the errors of such signals: those of the better are
        among those of the worse.
        """
        accuracy = as_real(accuracy, "accuracy", low=0.0, high=1.0)
        prevalence = as_real(prevalence, "prevalence", low=0.0, high=1.0)
        side = as_choice(errors, "errors", ("accept", "reject"))
        share = 1 - prevalence if side == "accept" else prevalence
        if 1 - accuracy > share:
            raise ValueError(
                f"accuracy must be at least {1 - share:g} with all errors on a side that has "
                f"{share:g} of the queries, got {accuracy:g}"
            )
        right = 1 - (1 - accuracy) / share if share else 1.0
        return cls(1.0, right, coverage) if side == "accept" else cls(right, 1.0, coverage)

    def accuracy(self, prevalence: float) -> float:
        """Expected accuracy where given, for a share of label 1."""
        return prevalence * self.sensitivity + (1 - prevalence) * self.specificity

    def simulate(self, labels: Any, rng: Any = None) -> NDArray[np.int8]:
        """Draw a signal for each label: 0, 1, or -1 where it abstains or has no label.

        Query i uses the same two uniform numbers under every model, so models of one seed
        can be compared query by query.
        """
        array = np.asarray(labels)
        column = as_column(array, "labels", array.shape[0] if array.ndim else 0)
        check_ballots(column, "labels")
        generator = as_generator(rng)
        error, given = generator.random((2, column.size))
        right = error < np.where(column == 1, self.sensitivity, self.specificity)
        signal = np.where(right, column, 1 - column)
        return np.where((given < self.coverage) & (column >= 0), signal, -1).astype(np.int8)


def signal_sweep(
    votes: Any,
    labels: Any,
    models: SignalModel | Sequence[SignalModel],
    *,
    rule: Any = "uniform",
    weights: Any = None,
    workers: int | None = None,
) -> SignalSweep:
    """What an independent signal of given quality would give on this panel.

    Parameters
    ----------
    votes, labels, rule, weights, workers
        As in :func:`substitution`.
    models : SignalModel or sequence of them

    Returns
    -------
    SignalSweep
        One entry a model, exact in expectation: nothing is simulated.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong type or shape, or a value is no ballot.

    Notes
    -----
    The gain is linear in what the signal says on each query, so two constant signals, 0 and 1,
    fix it for every model: E[gain] = coverage sum_y sum_v P(v | y) gain(v, y).

    Examples
    --------
    >>> from ropoll_core import signal_sweep
    >>> from ropoll_core.votes import SignalModel
    >>> models = [SignalModel.independent(a) for a in (0.5, 0.75, 1.0)]
    >>> signal_sweep([[1, 1, 0], [1, 0, 0], [1, 1, 1]], [0, 0, 1], models).gain.round(4).tolist()
    [0.0, 0.1111, 0.2222]
    """
    # Check arguments: votes / labels / weights / rule / models
    ballots = as_ballots(votes)
    n_queries, n_judges = ballots.shape
    label_column = as_column(labels, "labels", n_queries)
    seat_weights = as_vote_weights(weights, n_queries, n_judges)
    rule = as_rule(rule, n_judges)
    models = [models] if isinstance(models, SignalModel) else list(models)
    for position, model in enumerate(models):
        if not isinstance(model, SignalModel):
            raise TypeError(
                f"models must hold SignalModel, got {type(model).__name__} at index {position}"
            )

    merge = seat_weights is None or seat_weights.shape[0] == 1
    types = as_types(ballots, None, label_column, merge=merge, workers=workers)
    totals = np.empty((2, 2))  # by signal and label
    for said in (0, 1):
        told = dataclasses.replace(types, signal=constant(said, types.n_types))
        table = stratum_table(told, rule, seat_weights, workers=workers)
        by_label, unit = table.gain()
        totals[said] = [sum(gains) / unit for gains in by_label]
    panel = summarise(table, rule)

    n_scored, n_pivotal = panel.n_scored, panel.n_pivotal
    prevalence = int(table.sums[1, :, 0].sum()) / n_scored if n_scored else math.nan
    gains = np.array(
        [
            m.coverage
            * (
                m.specificity * totals[0, 0]
                + (1 - m.specificity) * totals[1, 0]
                + (1 - m.sensitivity) * totals[0, 1]
                + m.sensitivity * totals[1, 1]
            )
            for m in models
        ],
        dtype=np.float64,
    )
    gain = divide(gains, np.full(len(models), n_scored))
    return SignalSweep(
        signal_accuracy=np.array([m.accuracy(prevalence) for m in models], np.float64),
        accuracy=panel.panel_accuracy + gain,
        gain=gain,
        pivotal_gain=divide(gains, np.full(len(models), n_pivotal)),
        panel_accuracy=panel.panel_accuracy,
        n_scored=n_scored,
        n_pivotal=n_pivotal,
    )
