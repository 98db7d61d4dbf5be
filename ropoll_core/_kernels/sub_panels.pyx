"""Sub-panels: the table of strata of every panel that a list of judges makes.

Ballots come by column, `ones` and `valid` (n_judges, n_rows) of bytes 0 and 1, so that the
tallies of a panel are sums of a few columns, many rows to an instruction; the rest of a row is
without branches, as ballots are noise.

Contract: as in substitution.pyx, and rows come with counts; a ballot that is 1 is valid.
`panels` holds judge numbers, one panel a row; `scratch` is (2, n) bytes pairs of one thread,
n > 0, and rows are taken n at a time. A row without a label, or without a valid ballot in the
sub-panel, is left out of it. Work is cut by panel, so one thread finishes each.
"""

from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint16_t

from ropoll_core._kernels.substitution cimport UNIFORM, can_flip, flips_of


cdef inline void sum_columns(
    const uint8_t[:, ::1] columns, const int32_t[::1] panel, Py_ssize_t first, Py_ssize_t n,
    uint16_t *out
) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef const uint8_t *column
    for i in range(n):
        out[i] = 0
    for j in range(panel.shape[0]):
        column = &columns[panel[j], first]
        for i in range(n):
            out[i] += column[i]


cdef inline int64_t signed_flips(
    int64_t rule, int32_t ones, int32_t valid, int8_t signal, int8_t label, int8_t vote
) noexcept nogil:
    """Replacements that put the decision right, or minus those that put it wrong."""
    cdef int64_t flips = flips_of(rule, ones, valid, signal, vote)
    return can_flip(ones, valid, signal) * flips * (2 * (signal == label) - 1)


cdef inline int8_t vote_of(
    const uint8_t[:, ::1] ones, const uint8_t[:, ::1] valid, int64_t judge, Py_ssize_t row
) noexcept nogil:
    return <int8_t> (ones[judge, row] + valid[judge, row] - 1) if judge >= 0 else 0


def stratum_rows(
    const uint8_t[:, ::1] ones,
    const uint8_t[:, ::1] valid,
    const int8_t[:] signal,
    const int8_t[:] labels,
    const int64_t[:] counts,
    const int32_t[:, ::1] panels,
    int64_t rule,
    int64_t[:, :, ::1] out,
    double[:, ::1] gain,
    Py_ssize_t start,
    Py_ssize_t stop,
    uint16_t[:, ::1] scratch,
    int64_t[:, ::1] gains,
):
    """out[panel, 0 or 1, slot] counts queries and errors, gain[panel, slot] sums the gain.

    slot = stratum + size of the panel. `gains` is scratch too, (size + 1, 2 size + 1).
    """
    cdef Py_ssize_t p, first, n, i, row, slot, size = panels.shape[1]
    cdef int32_t s, k, lean
    cdef int64_t count
    cdef bint scored
    with nogil:
        for p in range(start, stop):
            gains[:, :] = 0
            first = 0
            while first < ones.shape[1]:
                n = min(scratch.shape[1], ones.shape[1] - first)
                sum_columns(ones, panels[p], first, n, &scratch[0, 0])
                sum_columns(valid, panels[p], first, n, &scratch[1, 0])
                for i in range(n):
                    row = first + i
                    s, k = scratch[0, i], scratch[1, i]
                    scored = (labels[row] >= 0) & (k > 0)
                    lean = 2 * s - k
                    slot = size + (lean if (lean >= 0) | (k % 2 == 0) else -lean)
                    count = counts[row] * scored
                    out[p, 0, slot] += count
                    out[p, 1, slot] += count * ((lean > 0) != labels[row])
                    gains[k, slot] += count * signed_flips(
                        rule, s, k, signal[row], labels[row], vote_of(ones, valid, rule, row)
                    )
                first += n
            for slot in range(2 * size + 1):
                gain[p, slot] = 0
                for k in range(1, <int32_t> size + 1):
                    gain[p, slot] += <double> gains[k, slot] / (k if rule == UNIFORM else 1)


def task_rows(
    const uint8_t[:, ::1] ones,
    const uint8_t[:, ::1] valid,
    const int8_t[:] signal,
    const int8_t[:] labels,
    const int64_t[:] codes,
    const int32_t[:, ::1] panels,
    int64_t rule,
    const int64_t[::1] shares,
    int64_t[:, :, ::1] out,
    Py_ssize_t start,
    Py_ssize_t stop,
    uint16_t[:, ::1] scratch,
):
    """out[panel, task]: n, n_pivotal, gain (in units as in task_moments.pyx), panel_correct."""
    cdef Py_ssize_t p, first, n, i, row
    cdef int32_t s, k, half
    cdef int64_t flips
    cdef bint scored
    cdef int64_t *to
    with nogil:
        for p in range(start, stop):
            first = 0
            while first < ones.shape[1]:
                n = min(scratch.shape[1], ones.shape[1] - first)
                sum_columns(ones, panels[p], first, n, &scratch[0, 0])
                sum_columns(valid, panels[p], first, n, &scratch[1, 0])
                for i in range(n):
                    row = first + i
                    s, k = scratch[0, i], scratch[1, i]
                    scored = (labels[row] >= 0) & (k > 0)
                    half = k >> 1
                    flips = scored * signed_flips(
                        rule, s, k, signal[row], labels[row], vote_of(ones, valid, rule, row)
                    )
                    to = &out[p, codes[row], 0]
                    to[0] += scored
                    to[1] += scored & ((s == half) | (s == half + 1))
                    to[2] += flips * (shares[k] if rule == UNIFORM else 1)
                    to[3] += scored & ((s > half) == labels[row])
                first += n
