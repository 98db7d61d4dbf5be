"""Ballots of many panels: tallies.

Votes are (n_queries, n_judges) bytes 0, 1 or -1 (missing); `ballots.h` says how a row is read.
Single-query functions are there or first here, then the loops over [start, stop).

Contract. A byte that is no ballot stops a loop, which returns the index of its row (else -1):
the caller words the error. A query without a valid ballot has decision -1 and margin 0, and is
neither tied nor pivotal. Weights are finite and not negative, (n_judges,) or one row a query;
a judge of weight 0 has no seat.
"""

from libc.math cimport fabs
from libc.stdint cimport int8_t, int32_t, uint8_t

TIE_WITHIN = TIE


cdef inline bint weighted_pivotal(
    const int8_t *row, const double *weights, Py_ssize_t n_judges, WeightedCount c, int8_t tie
) noexcept nogil:
    """Whether moving one ballot of positive weight changes the decision."""
    cdef double slack = TIE * c.total, step
    cdef int8_t decision = decide_weighted(c.lean, slack, tie)
    cdef Py_ssize_t j
    for j in range(n_judges):
        if row[j] >= 0 and weights[j] > 0:
            step = 2 * weights[j]
            if row[j]:
                step = -step
            if decide_weighted(c.lean + step, slack, tie) != decision:
                return True
    return False


def tally_rows(
    const int8_t[:, ::1] votes,
    int8_t tie_value,
    int8_t[::1] decision,
    int32_t[::1] ones,
    int32_t[::1] n_valid,
    int32_t[::1] margin,
    uint8_t[::1] tie,
    uint8_t[::1] is_pivotal,
    Py_ssize_t start,
    Py_ssize_t stop,
):
    """Tally each query of [start, stop); `tie_value` is the decision of a tie (0, 1 or -1)."""
    cdef Py_ssize_t i, n_judges = votes.shape[1]
    cdef const int8_t *first = &votes[0, 0]
    cdef const int8_t *end = first + votes.shape[0] * n_judges
    cdef RowCount c
    cdef int32_t lean
    with nogil:
        for i in range(start, stop):
            c = count_row(first + i * n_judges, n_judges, end)
            if not c.ok:
                break
            lean = 2 * c.ones - c.valid
            decision[i] = decide(lean, tie_value) if c.valid else -1
            ones[i] = c.ones
            n_valid[i] = c.valid
            margin[i] = lean if lean >= 0 else -lean
            tie[i] = (lean == 0) & (c.valid > 0)
            is_pivotal[i] = pivotal(c.ones, c.valid, tie_value)
        else:
            i = -1
    return i


def weighted_tally_rows(
    const int8_t[:, ::1] votes,
    const double[:, ::1] weights,
    int8_t tie_value,
    int8_t[::1] decision,
    int32_t[::1] ones,
    int32_t[::1] n_valid,
    double[::1] margin,
    uint8_t[::1] tie,
    uint8_t[::1] is_pivotal,
    Py_ssize_t start,
    Py_ssize_t stop,
):
    """As tally_rows; a margin is n_valid |weight of ones - weight of zeros| / weight of both."""
    cdef Py_ssize_t i, n_judges = votes.shape[1]
    cdef Py_ssize_t step = n_judges if weights.shape[0] > 1 else 0
    cdef const int8_t *row
    cdef const double *row_weights
    cdef WeightedCount c
    cdef bint tied
    with nogil:
        for i in range(start, stop):
            row = &votes[i, 0]
            row_weights = &weights[0, 0] + i * step
            c = count_weighted(row, row_weights, n_judges)
            if not c.ok:
                break
            tied = c.valid > 0 and fabs(c.lean) <= TIE * c.total
            decision[i] = decide_weighted(c.lean, TIE * c.total, tie_value) if c.valid else -1
            ones[i] = c.ones
            n_valid[i] = c.valid
            margin[i] = c.valid * fabs(c.lean) / c.total if c.valid and not tied else 0
            tie[i] = tied
            is_pivotal[i] = weighted_pivotal(row, row_weights, n_judges, c, tie_value)
        else:
            i = -1
    return i


def invalid_byte(const int8_t[::1] ballots):
    """Position of the first byte that is no ballot, or -1."""
    cdef Py_ssize_t i = 0, size = ballots.shape[0]
    cdef const int8_t *first
    if size == 0:
        return -1
    first = &ballots[0]
    with nogil:
        while size - i >= 8 and all_ballots(load_word(first + i)):
            i += 8
        while i < size and -1 <= first[i] <= 1:
            i += 1
    return i if i < size else -1
