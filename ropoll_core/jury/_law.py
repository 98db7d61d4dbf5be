"""The closed-form consensus law."""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.law import LARGEST_PANEL, as_attractors, as_fractions
from ropoll_core._checks.options import as_choice, as_count
from ropoll_core._kernels.consensus_law import law_rows
from ropoll_core._parallel import run_chunks
from ropoll_core._results.jury import LawFit
from ropoll_core._rng import as_generator

__all__ = ["TIE_RULES", "ConsensusLaw", "LawTable", "at_least", "evaluate_law"]

TIE_RULES = ("correct", "uniform", "strict")
Floats = NDArray[np.float64]


class LawTable(NamedTuple):
    """The law at panel size n: Pr(modal size g), Pr(g and correct) by tie rule, the floor."""

    size: Floats  # (n_sets, n): g = 1..n
    correct: Floats  # (3, n_sets, n), in the order of TIE_RULES
    floor: Floats  # (n_sets,)


@functools.cache
def _binomials() -> Floats:
    rows = [[math.comb(w, i) for i in range(LARGEST_PANEL + 1)] for w in range(LARGEST_PANEL + 1)]
    return np.array(rows, dtype=np.float64)


def evaluate_law(
    accuracy: Floats, correlation: Floats, attractors: Floats, n: int, workers: int | None = None
) -> LawTable:
    """Evaluate flat arrays of parameter sets; NaN in gives NaN out."""
    n_sets, n_attractors = attractors.shape
    table = LawTable(np.empty((n_sets, n)), np.empty((3, n_sets, n)), np.empty(n_sets))
    run_chunks(
        lambda start, stop, reach: law_rows(
            accuracy, correlation, attractors, n, _binomials(), reach, *table, start, stop
        ),
        n_sets,
        cost_ns=50 + 2.0 * n_attractors * n**3,
        workers=workers,
        scratch=lambda: np.empty((n + 1) * (n // 2 + 1)),
    )
    return table


class ConsensusLaw:
    """How accurate a panel's consensus is, in closed form.

    The chance p that a member is right on a query is Beta with mean `accuracy` and intra-query
    correlation `correlation`; members are independent given p. A wrong member lands on shared
    attractor j (a wrong answer that others land on too) with probability `attractors[j]`, else
    gives an answer of its own. The panel selects the largest class.

    Parameters
    ----------
    accuracy : float or array_like
        Mean accuracy of the members, in [0, 1].
    correlation : float or array_like
        Mean pairwise correlation of their errors, in [0, 1].
    attractors : float or array_like, (..., n_attractors)
        Masses of the shared wrong answers given a wrong member; a number is one attractor.

    Raises
    ------
    TypeError
        If a parameter does not hold real numbers.
    ValueError
        If a parameter leaves [0, 1], the masses sum to more than 1, or shapes do not broadcast.

    Notes
    -----
    Parameters broadcast (attractors without its last axis), and every method then returns
    arrays of that shape. "LLMs as a Jury" (arXiv 2607.10139) prints the law for one attractor
    and ties won by the correct class; this is its general form. Exact to a few ulp including
    the limits 0 and 1 of every parameter. Cost grows as n_attractors * n**3: about 0.4 us
    a parameter set at n = 4 and six attractors, 0.6 ms at n = 64.

    Tie rules of all methods: "correct" gives a tie that holds the correct class to it (the
    paper's rule, an upper bound), "uniform" gives it credit 1 / (number of tied classes), and
    "strict" none.

    Examples
    --------
    >>> from ropoll_core import ConsensusLaw
    >>> law = ConsensusLaw(0.7, 0.47, 0.3)
    >>> [round(law.accuracy(4, ties=rule), 4) for rule in ("correct", "uniform", "strict")]
    [0.8626, 0.7936, 0.7668]
    >>> law.coverage(4).round(4)
    array([1.    , 0.841 , 0.6666, 0.4829])
    >>> round(law.floor(4), 6), float(round(law.coverage(4)[-1] * (1 - law.selective(4)[-1]), 6))
    (0.000924, 0.000924)
    """

    __slots__ = ("attractors", "correlation", "member_accuracy", "shape")

    member_accuracy: Floats
    correlation: Floats
    attractors: Floats
    shape: tuple[int, ...]

    def __init__(self, accuracy: Any, correlation: Any, attractors: Any) -> None:
        # Check arguments
        a = as_fractions(accuracy, "accuracy")
        rho = as_fractions(correlation, "correlation")
        masses = as_attractors(attractors)
        try:
            shape = np.broadcast_shapes(a.shape, rho.shape, masses.shape[:-1])
        except ValueError:
            raise ValueError(
                "accuracy, correlation and attractors (without its last axis) must broadcast, "
                f"got shapes {a.shape}, {rho.shape} and {masses.shape}"
            ) from None
        self.member_accuracy, self.correlation, self.attractors = a, rho, masses
        self.shape = shape

    @classmethod
    def fit(
        cls,
        answers: Any,
        gold: Any,
        *,
        key: Any = None,
        missing: str = "omit",
        max_attractors: int = 6,
        tasks: Any = None,
        split: Any = None,
        groups: Any = None,
        n_resamples: int = 10_000,
        confidence_level: float = 0.95,
        rng: Any = None,
        workers: int | None = None,
    ) -> LawFit:
        """Measure the law's inputs on answers with gold, and test what it predicts from them.

        Parameters
        ----------
        answers : table, (n_queries, n_judges)
            As for :func:`consensus`; 2 to 64 judges.
        gold : array_like, (n_queries,)
            Right answers. Queries without one are left out and counted.
        key : callable or ndarray of int, optional
            Which answers are equivalent, as for :func:`consensus`.
        missing : {"omit", "wrong"}
            "omit" leaves out queries on which some judge did not answer, and counts them;
            "wrong" takes a missing answer as a wrong one that nobody else gives.
        max_attractors : int
            Length of the profile; what lies beyond it counts as shared with nobody.
        tasks : array_like, (n_queries,), optional
            Which queries belong together; whole tasks are resampled. Default: each on its own.
        split : float or ndarray of bool, (n_queries,), optional
            Calibrate on one part and predict the other: True marks queries to calibrate on, a
            number draws that share of the tasks at random.
        groups : array_like, (n_queries,), optional
            Leave-one-group-out: for each group, the law fitted to all others, in `held_out`.
        n_resamples : int
        confidence_level : float
        rng : None, int, numpy.random.SeedSequence or numpy.random.Generator
        workers : int, optional

        Returns
        -------
        LawFit
            The law, its inputs, predictions beside measurements, all with intervals. Where every
            judge but one is always or never right, errors have no correlation: there is no law
            then, its `reason` says so, and what was measured stands.

        Raises
        ------
        TypeError, ValueError
            Bad tables or options; no query left; fewer than two judges.

        Notes
        -----
        Where arXiv 2607.10139 leaves a choice, this is the one made: a is the mean of the
        members' accuracies; rho is the mean over pairs of the Pearson correlation of their 0/1
        errors, pairs without one left out; slot j of the profile is the number of answers in
        each query's j-th largest wrong class, summed over queries, over all wrong answers.

        That profile is sorted within each query, and a wrong answer given only once is a class
        too. So it overstates what is shared: fitted to answers that the law itself generated, as
        below, it predicts less accuracy than is measured, and more agreement.

        Examples
        --------
        >>> from ropoll_core import ConsensusLaw
        >>> answers = ConsensusLaw(0.7, 0.4, [0.5, 0.3]).simulate(4, 2000, rng=1)
        >>> fit = ConsensusLaw.fit(answers, [0] * 2000, rng=2)
        >>> fit.member_accuracy
        0.6989 [0.6841, 0.7137]
        >>> fit.predicted_accuracy["uniform"], fit.measured_accuracy["uniform"]
        (0.7549 [0.7393, 0.7705], 0.7788 [0.7615, 0.7959])
        """
        from ropoll_core.jury._fit import fit_law
        from ropoll_core.jury._resample import Resampling

        return fit_law(
            answers,
            gold,
            key=key,
            missing=missing,
            max_attractors=max_attractors,
            tasks=tasks,
            split=split,
            groups=groups,
            options=Resampling(n_resamples, confidence_level, rng, workers),
        )

    def __repr__(self) -> str:
        if self.shape:
            return f"ConsensusLaw(parameter sets of shape {self.shape})"
        return (
            f"ConsensusLaw(accuracy={float(self.member_accuracy):.6g}, "
            f"correlation={float(self.correlation):.6g}, "
            f"attractors={[round(float(s), 6) for s in self.attractors]})"
        )

    def _table(self, n: int, workers: int | None) -> LawTable:
        n = as_count(n, "n", least=1, most=LARGEST_PANEL)
        a = np.ascontiguousarray(np.broadcast_to(self.member_accuracy, self.shape).reshape(-1))
        rho = np.ascontiguousarray(np.broadcast_to(self.correlation, self.shape).reshape(-1))
        k = self.attractors.shape[-1]
        masses = np.broadcast_to(self.attractors, (*self.shape, k)).reshape(a.size, k)
        return evaluate_law(a, rho, np.ascontiguousarray(masses), n, workers)

    def _give(self, flat: Floats) -> Any:
        """In the shape of the parameters; a float where they are single numbers."""
        shaped = flat.reshape(self.shape + flat.shape[1:])
        return shaped if shaped.ndim else float(shaped)

    def accuracy(self, n: int, *, ties: str = "correct", workers: int | None = None) -> Any:
        """Probability that the consensus of n members is right.

        Parameters
        ----------
        n : int
            Panel size, 1 to 64.
        ties : {"correct", "uniform", "strict"}
            Credit of a tie that holds the correct class: 1, 1 / (tied classes) or 0.
        workers : int, optional
            Threads.

        Returns
        -------
        float or ndarray
            In the shape of the parameters.
        """
        rule = TIE_RULES.index(as_choice(ties, "ties", TIE_RULES))
        return self._give(self._table(n, workers).correct[rule].sum(axis=-1))

    def floor(self, n: int, *, workers: int | None = None) -> Any:
        """Probability that n members are unanimous and wrong: what agreement cannot see.

        sum_j s_j**n E[(1 - p)**n]; for n = 1 any wrong answer.
        """
        return self._give(self._table(n, workers).floor)

    def coverage(self, n: int, *, workers: int | None = None) -> Any:
        """Probability that at least m of n members agree, for m = 1..n.

        Returns
        -------
        ndarray, (..., n)
            At index m - 1, non-increasing; the last is unanimity.
        """
        return self._give(at_least(self._table(n, workers).size))

    def selective(self, n: int, *, ties: str = "correct", workers: int | None = None) -> Any:
        """Accuracy of the consensus where at least m of n members agree, for m = 1..n.

        Returns
        -------
        ndarray, (..., n)
            At index m - 1; NaN where such agreement has probability 0. With :meth:`coverage`,
            the dial between answering everything and abstaining.
        """
        rule = TIE_RULES.index(as_choice(ties, "ties", TIE_RULES))
        table = self._table(n, workers)
        covered = at_least(table.size)
        accuracy = np.full_like(covered, np.nan)
        np.divide(at_least(table.correct[rule]), covered, out=accuracy, where=covered > 0)
        return self._give(accuracy)

    def simulate(self, n: int, n_queries: int, *, rng: Any = None) -> NDArray[np.int32]:
        """Draw the answers of a panel.

        Parameters
        ----------
        n : int
            Panel size.
        n_queries : int
            How many queries.
        rng : None, int, numpy.random.SeedSequence or numpy.random.Generator
            Seed of the draws.

        Returns
        -------
        ndarray of int32, (n_queries, n)
            0 is the correct answer, 1 to n_attractors the shared wrong ones, and larger numbers
            answers that nobody else on the query gives.

        Raises
        ------
        ValueError
            If the parameters are arrays, or a count is below 1.
        """
        # Check arguments
        if self.shape:
            raise ValueError(f"simulate needs single parameters, got shape {self.shape}")
        n = as_count(n, "n")
        n_queries = as_count(n_queries, "n_queries", least=0)
        draw = as_generator(rng)

        # Compute
        p = _draw_success(float(self.member_accuracy), float(self.correlation), n_queries, draw)
        right = draw.random((n_queries, n)) < p[:, None]
        n_attractors = self.attractors.size
        slot = np.searchsorted(
            np.cumsum(self.attractors), draw.random((n_queries, n)), side="right"
        ).astype(np.int32)
        alone = n_attractors + np.arange(n, dtype=np.int32)
        answers = np.where(slot < n_attractors, slot, alone) + np.int32(1)
        answers[right] = 0
        return answers.astype(np.int32, copy=False)


def at_least(by_size: Floats) -> Floats:
    """Sums over modal sizes m and up."""
    return by_size[..., ::-1].cumsum(axis=-1)[..., ::-1]


def _draw_success(a: float, rho: float, n_queries: int, draw: np.random.Generator) -> Floats:
    if rho == 0.0 or a in (0.0, 1.0):
        return np.full(n_queries, a)
    if rho == 1.0:
        return (draw.random(n_queries) < a).astype(np.float64)
    concentration = 1.0 / rho - 1.0
    return draw.beta(a * concentration, (1.0 - a) * concentration, n_queries)
