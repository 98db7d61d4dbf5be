"""Integer moments of ballots, summed by task: what a task-level bootstrap needs.

Any statistic that is a function of these sums costs a resample no more than adding up the rows
of the tasks drawn.

Contract: as in substitution.pyx; `codes` are task numbers in range. A query without a label or
without a valid ballot adds nothing. Every sum is an integer.
"""

from libc.stdint cimport int8_t, int64_t

from ropoll_core._kernels.ballots cimport RowCount, count_row
from ropoll_core._kernels.substitution cimport UNIFORM, can_flip, flips_of

OUTCOMES = (
    "n", "n_pivotal", "gain", "panel_correct", "n_signal", "signal_correct",
    "n_pivotal_signal", "pivotal_signal_correct",
)


def outcome_rows(
    const int8_t[:, ::1] votes,
    const int8_t[:] signal,
    const int8_t[:] labels,
    const int64_t[:] codes,
    int64_t rule,
    const int64_t[::1] shares,
    int64_t[:, ::1] out,
):
    """Add every query to out[task, :], in the order of OUTCOMES.

    `shares[n_valid]` is unit / n_valid under the uniform rule, where the gain counts in 1/unit;
    under the others it counts in ones.
    """
    cdef Py_ssize_t i, n_judges = votes.shape[1]
    cdef const int8_t *first
    cdef const int8_t *end
    cdef const int8_t *row
    cdef RowCount c
    cdef int64_t *to
    cdef int64_t gain
    cdef bint pivotal, agrees
    if votes.shape[0] == 0:
        return
    first = &votes[0, 0]
    end = first + votes.shape[0] * n_judges
    with nogil:
        for i in range(votes.shape[0]):
            row = first + i * n_judges
            c = count_row(row, n_judges, end)
            if labels[i] < 0 or c.valid == 0:
                continue
            to = &out[codes[i], 0]
            pivotal = c.ones == c.valid // 2 or c.ones == c.valid // 2 + 1
            to[0] += 1
            to[1] += pivotal
            to[3] += (2 * c.ones > c.valid) == labels[i]
            if signal[i] < 0:
                continue
            agrees = signal[i] == labels[i]
            to[4] += 1
            to[5] += agrees
            to[6] += pivotal
            to[7] += pivotal and agrees
            if can_flip(c.ones, c.valid, signal[i]):
                gain = flips_of(rule, c.ones, c.valid, signal[i], row[rule] if rule >= 0 else 0)
                if rule == UNIFORM:
                    gain *= shares[c.valid]
                to[2] += gain if agrees else -gain


def error_rows(
    const int8_t[:, ::1] errors, const int64_t[:] codes, int64_t[:, ::1] single,
    int64_t[:, ::1] both
):
    """Errors of each candidate, and of each pair i < j in row-major order, by task.

    `errors` is 1 for an error; anything else is none.
    """
    cdef Py_ssize_t i, a, b, p, k = errors.shape[1]
    cdef const int8_t *row
    cdef int64_t task
    with nogil:
        for i in range(errors.shape[0]):
            row, task, p = &errors[i, 0], codes[i], 0
            for a in range(k):
                if row[a] == 1:
                    single[task, a] += 1
                    for b in range(a + 1, k):
                        both[task, p + b - a - 1] += row[b] == 1
                p += k - a - 1


def pair_rows(
    const int8_t[:, ::1] errors, const int64_t[:] codes, int64_t[:, :, ::1] out
):
    """For errors with gaps (-1): n, E_i, E_j, E_ij of each pair where both are given, by task."""
    cdef Py_ssize_t i, a, b, p, k = errors.shape[1]
    cdef const int8_t *row
    cdef int64_t task
    with nogil:
        for i in range(errors.shape[0]):
            row, task, p = &errors[i, 0], codes[i], 0
            for a in range(k):
                for b in range(a + 1, k):
                    if row[a] >= 0 and row[b] >= 0:
                        out[task, 0, p] += 1
                        out[task, 1, p] += row[a]
                        out[task, 2, p] += row[b]
                        out[task, 3, p] += row[a] & row[b]
                    p += 1
