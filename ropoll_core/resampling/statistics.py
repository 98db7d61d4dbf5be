"""Statistics that are functions of additive moments.

A statistic of this kind needs only the totals of each column over a resample, so the data are
summed once, by task, and a resample costs a sum of n_tasks short rows. Statistics combine with
``+ - * /`` and numbers; a difference of two is paired, since all statistics of one call see the
same draws. A statistic with several outputs has a leading axis of that size.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.resampling import as_returned
from ropoll_core._jit.callbacks import Callback, is_jit_function, raise_again, totals_callback
from ropoll_core._kernels import callbacks
from ropoll_core._kernels import totals as kernels

__all__ = [
    "Columns",
    "Mean",
    "OfTotals",
    "Ratio",
    "Statistic",
    "Totals",
    "as_list",
    "divide",
    "is_several",
]

Column = Hashable
# Weight, numerator and denominator; no denominator means the number of rows.
RatioTerm = tuple[float, Column, Column | None]


class Columns(dict[Column, int]):
    """Number of each column by name. Remembers lists it looked up: every block asks again."""

    def __init__(self, names: Sequence[Column]):
        super().__init__((name, number) for number, name in enumerate(names))
        self._found: dict[int, tuple[list[Column], NDArray[np.int64]]] = {}

    def places(self, names: list[Column]) -> NDArray[np.int64]:
        """Numbers of some columns, of a list that does not change."""
        found = self._found.get(id(names))  # the list is held too, so its id stays its own
        if found is None:
            places = np.array([self[name] for name in names], dtype=np.int64)
            found = self._found[id(names)] = names, places
        return found[1]


class Totals:
    """Moment totals of a block of resamples, by column name.

    Holds what statistics computed from it already, so that a statistic used twice, as in
    ``a - b`` and ``b``, is computed once.
    """

    def __init__(self, columns: Columns, totals: NDArray[np.float64], n_rows: Any):
        self.columns, self.totals, self.n_rows = columns, totals, n_rows
        self._values: dict[int, NDArray[np.float64]] = {}

    def places(self, columns: list[Column]) -> NDArray[np.int64]:
        """Numbers of the totals' rows that hold some columns."""
        return self.columns.places(columns)

    def value(self, statistic: Statistic) -> NDArray[np.float64]:
        """The statistic, shape (n_resamples,) or (size, n_resamples)."""
        found = self._values.get(id(statistic))
        if found is None:
            found = self._values[id(statistic)] = statistic._compute(self)
        return found


class Statistic:
    """A function of moment totals: see :class:`Ratio`, :class:`EffectiveVotes`."""

    # Above NumPy's own, so that ``2.0 * statistic`` comes here from a NumPy scalar too.
    __array_ufunc__: ClassVar[None] = None

    def _columns(self) -> set[Column] | None:
        """Columns it reads; None for all."""
        raise NotImplementedError

    def _compute(self, totals: Totals) -> NDArray[np.float64]:
        raise NotImplementedError

    def _ratio_terms(self) -> list[list[RatioTerm]]:
        """For each output the ratios whose weighted sum it is, up to a constant."""
        raise TypeError(
            "method='studentized' takes sums and differences of Ratio and Mean, times numbers; "
            f"got {type(self).__name__.lstrip('_')}"
        )

    def __add__(self, other: Any) -> Statistic:
        return _Combined(operator.add, self, other)

    def __radd__(self, other: Any) -> Statistic:
        return _Combined(operator.add, other, self)

    def __sub__(self, other: Any) -> Statistic:
        return _Combined(operator.sub, self, other)

    def __rsub__(self, other: Any) -> Statistic:
        return _Combined(operator.sub, other, self)

    def __mul__(self, other: Any) -> Statistic:
        return _Combined(operator.mul, self, other)

    def __rmul__(self, other: Any) -> Statistic:
        return _Combined(operator.mul, other, self)

    def __truediv__(self, other: Any) -> Statistic:
        return _Combined(divide, self, other)

    def __rtruediv__(self, other: Any) -> Statistic:
        return _Combined(divide, other, self)

    def __neg__(self) -> Statistic:
        return _Combined(operator.mul, -1.0, self)

    def __getitem__(self, index: int | slice) -> Statistic:
        return _Mapped(operator.itemgetter(index), self)

    def __iter__(self) -> Any:
        raise TypeError("a statistic has no length before it meets data; take s[0], s[1:], ...")

    def sqrt(self) -> Statistic:
        """Its square root; undefined where it is negative."""
        return _Mapped(_sqrt, self)

    def mean(self) -> Statistic:
        """The mean of its outputs; undefined where one is."""
        return _Mapped(_mean, self)


def divide(numerator: Any, denominator: Any) -> NDArray[np.float64]:
    """The quotient, NaN where the denominator is zero."""
    if isinstance(denominator, float) and denominator != 0.0:
        return np.asarray(numerator / denominator)
    numerator, denominator = np.broadcast_arrays(numerator, denominator)
    out = np.full(numerator.shape, np.nan)
    np.divide(numerator, denominator, out=out, where=denominator != 0)
    return out


def _sqrt(values: NDArray[np.float64]) -> NDArray[np.float64]:
    out = np.full(values.shape, np.nan)
    np.sqrt(values, out=out, where=values >= 0)
    return out


def _mean(values: NDArray[np.float64]) -> NDArray[np.float64]:
    # Term by term: the order of the sum must not depend on how many resamples a block holds.
    if values.ndim == 1:
        return values
    total: NDArray[np.float64] = values[0].copy()
    for row in values[1:]:
        total += row
    total /= values.shape[0]
    return total


class _Combined(Statistic):
    """Two statistics, or one and a number, under an arithmetic operation."""

    def __init__(self, operation: Callable[[Any, Any], Any], left: Any, right: Any):
        self._operation = operation
        self._left, self._right = _operand(left), _operand(right)

    def _columns(self) -> set[Column] | None:
        return _union([s for s in (self._left, self._right) if isinstance(s, Statistic)])

    def _compute(self, totals: Totals) -> NDArray[np.float64]:
        sides = [
            totals.value(side) if isinstance(side, Statistic) else side
            for side in (self._left, self._right)
        ]
        with np.errstate(invalid="ignore"):  # inf - inf: NaN, counted as undefined
            value: NDArray[np.float64] = self._operation(*sides)
        return value

    def _ratio_terms(self) -> list[list[RatioTerm]]:
        left, right = self._left, self._right
        if self._operation in (operator.add, operator.sub):
            sign = 1.0 if self._operation is operator.add else -1.0
            sides: list[list[list[RatioTerm]]] = [
                side._ratio_terms() if isinstance(side, Statistic) else [[]]
                for side in (left, right)
            ]
            size = max(len(side) for side in sides)
            lefts, rights = (side * size if len(side) == 1 else side for side in sides)
            return [a + _weighted(b, sign) for a, b in zip(lefts, rights, strict=True)]
        if self._operation is operator.mul and not isinstance(left, Statistic):
            left, right = right, left
        if isinstance(left, Statistic) and isinstance(right, float):
            weight = right if self._operation is operator.mul else 1.0 / right
            return [_weighted(output, weight) for output in left._ratio_terms()]
        return super()._ratio_terms()


class _Mapped(Statistic):
    """A function of one statistic."""

    def __init__(self, function: Callable[[Any], Any], of: Statistic):
        self._function, self._of = function, of

    def _columns(self) -> set[Column] | None:
        return self._of._columns()

    def _compute(self, totals: Totals) -> NDArray[np.float64]:
        value: NDArray[np.float64] = self._function(totals.value(self._of))
        return value


def _weighted(terms: list[RatioTerm], weight: float) -> list[RatioTerm]:
    return [(weight * own, top, bottom) for own, top, bottom in terms]


def _operand(value: Any) -> Statistic | float:
    if isinstance(value, Statistic):
        return value
    if isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool):
        return float(value)
    raise TypeError(
        f"a statistic combines with a statistic or a number, got {type(value).__name__}"
    )


def _union(statistics: Sequence[Statistic]) -> set[Column] | None:
    wanted: set[Column] = set()
    for statistic in statistics:
        columns = statistic._columns()
        if columns is None:
            return None
        wanted |= columns
    return wanted


def is_several(columns: Any) -> bool:
    """Whether an argument is a list of columns; a tuple is the name of one."""
    return isinstance(columns, (list, range, np.ndarray))


def as_list(columns: Any) -> list[Column]:
    """Columns with plain Python names."""
    return [c.item() if isinstance(c, np.generic) else c for c in columns]


class Ratio(Statistic):
    """Ratio of two column totals: a ratio of sums over the drawn tasks.

    Not the mean of the tasks' own ratios, which is another estimand: for that, give each task
    one row that holds its ratio, and take the :class:`Mean`.

    Parameters
    ----------
    numerator, denominator : column, or list of columns
        A column is a name of `data`, or a number for an array. Lists give one output an entry;
        a single column goes with every entry of a list.

    Examples
    --------
    >>> import numpy as np
    >>> from ropoll_core import resampling
    >>> hits, calls = np.array([3, 1, 2, 4]), np.array([5, 5, 4, 5])
    >>> data = {"hits": hits, "calls": calls}
    >>> result = resampling.bootstrap(resampling.Ratio("hits", "calls"), data, rng=1)
    >>> round(float(result.estimate), 4)
    0.5263
    """

    def __init__(self, numerator: Any, denominator: Any):
        self._several = is_several(numerator) or is_several(denominator)
        tops = as_list(numerator) if is_several(numerator) else [numerator]
        bottoms = as_list(denominator) if is_several(denominator) else [denominator]
        sizes = {len(tops), len(bottoms)} - {1}
        if len(sizes) > 1 or 0 in sizes:
            raise ValueError(
                "numerator and denominator must be single columns or lists of one length, "
                f"got {len(tops)} and {len(bottoms)} columns"
            )
        size = max(len(tops), len(bottoms))
        self._numerator = tops if len(tops) == size else tops * size
        self._denominator = bottoms if len(bottoms) == size else bottoms * size

    def _columns(self) -> set[Column] | None:
        return {*self._numerator, *self._denominator}

    def _compute(self, totals: Totals) -> NDArray[np.float64]:
        tops, bottoms = totals.places(self._numerator), totals.places(self._denominator)
        value = np.empty((tops.size, totals.totals.shape[1]))
        kernels.ratio_rows(totals.totals, tops, bottoms, value)
        return value if self._several else value[0]

    def _ratio_terms(self) -> list[list[RatioTerm]]:
        pairs = zip(self._numerator, self._denominator, strict=True)
        return [[(1.0, top, bottom)] for top, bottom in pairs]


class Mean(Statistic):
    """Mean of a column over the rows of a resample (tasks weigh by their rows).

    Parameters
    ----------
    column : column, or list of columns
        A list gives one output an entry.
    """

    def __init__(self, column: Any):
        self._several = is_several(column)
        self._of = as_list(column) if self._several else [column]

    def _columns(self) -> set[Column] | None:
        return set(self._of)

    def _compute(self, totals: Totals) -> NDArray[np.float64]:
        value = divide(totals.totals[totals.places(self._of)], totals.n_rows)
        return value if self._several else value[0]

    def _ratio_terms(self) -> list[list[RatioTerm]]:
        return [[(1.0, column, None)] for column in self._of]


class OfTotals(Statistic):
    """A user's own function of the moment totals.

    Parameters
    ----------
    function : callable
        Takes an array (n_moments, n) whose columns are the totals of n resamples, in the order
        of the columns of `data`, and returns (n,), or (size, n) for several outputs. It is
        called on blocks, and must treat every column alike. NaN means undefined.
        A function made by ``numba.njit`` takes the totals (n_moments,) of one resample and
        returns a number; it runs without the GIL.

    Examples
    --------
    >>> import numpy as np
    >>> from ropoll_core import resampling
    >>> data = np.array([[3, 5], [1, 5], [2, 4], [4, 5]])
    >>> log_odds = resampling.OfTotals(lambda t: np.log(t[0] / (t[1] - t[0])))
    >>> round(float(resampling.bootstrap(log_odds, data, rng=1).estimate), 4)
    0.1054
    """

    def __init__(self, function: Callable[[NDArray[np.float64]], Any]):
        if not callable(function):
            raise TypeError(f"OfTotals takes a function, got {type(function).__name__}")
        self._function = function
        self._callback = totals_callback(function) if is_jit_function(function) else None

    def _columns(self) -> set[Column] | None:
        return None

    def _compute(self, totals: Totals) -> NDArray[np.float64]:
        n = totals.totals.shape[1]
        if self._callback is not None:
            return self._compute_jitted(self._callback, totals.totals)
        value = as_returned(self._function(totals.totals), "totals")
        if value.ndim not in (1, 2) or value.shape[-1] != n:
            raise ValueError(
                f"a statistic of totals of shape {totals.totals.shape} must return shape ({n},) "
                f"or (size, {n}), got {value.shape}"
            )
        return value

    def _compute_jitted(
        self, callback: Callback, totals: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        out = np.empty(totals.shape[1])
        column = np.empty(totals.shape[0])
        failed = callbacks.map_totals(callback.address, totals, column, out)
        if failed >= 0:
            raise_again(self._function, totals[:, failed].copy())
        return out
