"""Sub-panels: the table of strata of every panel that a list of judges makes.

Contract: as in substitution.pyx, and queries come with counts. `panels` holds judge numbers,
one panel a row. A query without a label, or without a valid ballot in the sub-panel, is left
out of it. Work is cut by panel, so every panel is finished by one thread.
"""

from libc.stdint cimport int8_t, int32_t, int64_t

from ropoll_core._kernels.ballots cimport RowCount
from ropoll_core._kernels.substitution cimport UNIFORM, can_flip, flips_of


cdef inline RowCount count_panel(
    const int8_t *row, const int32_t *panel, Py_ssize_t size
) noexcept nogil:
    cdef RowCount c
    cdef Py_ssize_t j
    c.ones = c.valid = 0
    for j in range(size):
        c.ones += row[panel[j]] == 1
        c.valid += row[panel[j]] >= 0
    return c


cdef inline int64_t signed_flips(
    const int8_t *row, RowCount c, int8_t signal, int8_t label, int64_t rule
) noexcept nogil:
    """Replacements that put the decision right, or minus those that put it wrong."""
    cdef int64_t flips
    if signal < 0 or not can_flip(c.ones, c.valid, signal):
        return 0
    flips = flips_of(rule, c.ones, c.valid, signal, row[rule] if rule >= 0 else 0)
    return flips if signal == label else -flips


def stratum_rows(
    const int8_t[:, ::1] votes,
    const int8_t[:] signal,
    const int8_t[:] labels,
    const int64_t[:] counts,
    const int32_t[:, ::1] panels,
    int64_t rule,
    int64_t[:, :, ::1] out,
    double[:, ::1] gain,
    Py_ssize_t start,
    Py_ssize_t stop,
    int64_t[:, ::1] scratch,
):
    """out[panel, 0 or 1, slot] counts queries and errors, gain[panel, slot] sums the gain.

    slot = stratum + size of the panel. `scratch` is (size + 1, 2 size + 1).
    """
    cdef Py_ssize_t p, i, v, slot, size = panels.shape[1]
    cdef RowCount c
    cdef int32_t lean
    with nogil:
        for p in range(start, stop):
            scratch[:, :] = 0
            for i in range(votes.shape[0]):
                c = count_panel(&votes[i, 0], &panels[p, 0], size)
                if labels[i] < 0 or c.valid == 0:
                    continue
                lean = 2 * c.ones - c.valid
                slot = size + (-lean if c.valid & 1 and lean < 0 else lean)
                out[p, 0, slot] += counts[i]
                out[p, 1, slot] += counts[i] * ((lean > 0) != labels[i])
                scratch[c.valid, slot] += counts[i] * signed_flips(
                    &votes[i, 0], c, signal[i], labels[i], rule
                )
            for slot in range(2 * size + 1):
                gain[p, slot] = 0
                for v in range(1, size + 1):
                    gain[p, slot] += <double> scratch[v, slot] / (v if rule == UNIFORM else 1)


def task_rows(
    const int8_t[:, ::1] votes,
    const int8_t[:] signal,
    const int8_t[:] labels,
    const int64_t[:] codes,
    const int32_t[:, ::1] panels,
    int64_t rule,
    const int64_t[::1] shares,
    int64_t[:, :, ::1] out,
    Py_ssize_t start,
    Py_ssize_t stop,
):
    """out[panel, task]: n, n_pivotal, gain (in units as in task_moments.pyx), panel_correct."""
    cdef Py_ssize_t p, i, size = panels.shape[1]
    cdef RowCount c
    cdef int64_t flips
    cdef int64_t *to
    with nogil:
        for p in range(start, stop):
            for i in range(votes.shape[0]):
                c = count_panel(&votes[i, 0], &panels[p, 0], size)
                if labels[i] < 0 or c.valid == 0:
                    continue
                to = &out[p, codes[i], 0]
                flips = signed_flips(&votes[i, 0], c, signal[i], labels[i], rule)
                to[0] += 1
                to[1] += c.ones == c.valid // 2 or c.ones == c.valid // 2 + 1
                to[2] += flips * (shares[c.valid] if rule == UNIFORM else 1)
                to[3] += (2 * c.ones > c.valid) == labels[i]
