"""Equal rows of ballots, label and signal counted in one pass: the histogram of `patterns.h`.

Contract. Votes are (n_queries, n_judges) bytes, at most MOST_PATTERN_JUDGES of them a row;
signal and labels contiguous, or constant with stride 0. A byte that is no ballot stops a loop,
which returns the index of its row: the caller words the error.
"""

from libc.stdint cimport int8_t, int32_t, int64_t

from ropoll_core._kernels.simd cimport active_variant

cdef extern from "patterns.h" namespace "ropoll" nogil:
    cppclass Queries:
        const int8_t *votes
        const int8_t *end
        const int8_t *signal
        const int8_t *labels
        Py_ssize_t n_judges
        Py_ssize_t signal_step
        Py_ssize_t labels_step

    cppclass PatternTables:
        int64_t *complete
        int64_t *gapped
        const int32_t *ternary

    Py_ssize_t pattern_counts(
        int variant, const Queries &queries, const PatternTables &out, Py_ssize_t start,
        Py_ssize_t stop
    ) noexcept

MOST_PATTERN_JUDGES = 12


def pattern_rows(
    const int8_t[:, ::1] votes,
    const int8_t[:] signal,
    const int8_t[:] labels,
    const int32_t[::1] ternary,
    int64_t[::1] complete,
    int64_t[::1] gapped,
    Py_ssize_t start,
    Py_ssize_t stop,
):
    """Count the queries of [start, stop) in the two tables; `gapped` may be None.

    Returns `stop`, or the first row that was not counted: a byte of it is no ballot, or it has
    a gap and `gapped` is None.
    """
    cdef Queries queries
    cdef PatternTables tables
    cdef int variant = active_variant()
    queries.n_judges = votes.shape[1]
    queries.votes = &votes[0, 0]
    queries.end = queries.votes + votes.shape[0] * queries.n_judges
    queries.signal, queries.signal_step = &signal[0], signal.strides[0]
    queries.labels, queries.labels_step = &labels[0], labels.strides[0]
    tables.complete, tables.ternary = &complete[0], &ternary[0]
    tables.gapped = NULL
    if gapped is not None:
        tables.gapped = &gapped[0]
    with nogil:
        start = pattern_counts(variant, queries, tables, start, stop)
    return start


cdef inline int8_t next_ballot(int64_t *rest, bint ternary) noexcept nogil:
    """The lowest digit, which is taken off."""
    cdef int64_t digit = rest[0] % 3 if ternary else rest[0] & 1
    rest[0] = rest[0] // 3 if ternary else rest[0] >> 1
    return <int8_t> digit if digit < 2 else -1


def unpack_cells(
    const int64_t[::1] table,
    bint ternary,
    int8_t[:, ::1] votes,
    int8_t[::1] signal,
    int8_t[::1] labels,
    int64_t[::1] counts,
):
    """The rows of the cells that are not 0, in order, and their counts.

    The outputs have a row for each; `ternary` is whether the table is `gapped`.
    """
    cdef Py_ssize_t cell, j, row = 0
    cdef int64_t rest
    with nogil:
        for cell in range(table.shape[0]):
            if table[cell] == 0:
                continue
            rest = cell
            for j in range(votes.shape[1]):
                votes[row, j] = next_ballot(&rest, ternary)
            labels[row] = next_ballot(&rest, ternary)
            signal[row] = next_ballot(&rest, ternary)
            counts[row] = table[cell]
            row += 1
