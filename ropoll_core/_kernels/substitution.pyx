"""What replacing one ballot by a signal does to the decision, summed over queries.

A tie is decided as 0 throughout. Queries come with a count each, so that equal queries need to
be seen once. Every sum is an integer: nothing depends on order or chunks.

One closed form serves odd and even panels (Propositions 1 and 2 of "Blind to the Pivotal
Vote"): with s ones of k valid ballots, h = floor(k / 2) and decision d = [s > h], a replacement
can change the decision only if the signal is not d and s is h or h + 1, and then it does so
exactly when the replaced ballot was d.

Contract. Votes are 0, 1 or -1 (missing, never replaced); signal and labels 0, 1 or -1. Bytes
that are none of these must have been refused before. A query without label or signal is in
`cross` only; a query without a valid ballot is in the cells of n_valid = 0.
"""

from libc.stdint cimport int8_t, int32_t, int64_t

from ropoll_core._kernels.ballots cimport (
    TIE, RowCount, WeightedCount, count_row, count_weighted, decide_weighted
)


cdef inline int8_t moved(double lean, int8_t vote, double weight, double slack) noexcept nogil:
    """The decision once a ballot has gone over to the other side."""
    return decide_weighted(lean - 2 * weight if vote else lean + 2 * weight, slack, 0)


def cell_rows(
    const int8_t[:, ::1] votes,
    const int8_t[:] signal,
    const int8_t[:] labels,
    const int64_t[:] counts,
    int64_t[:, :, ::1] cross,
    int64_t[:, :, ::1] flips,
    Py_ssize_t start,
    Py_ssize_t stop,
):
    """Add the queries of [start, stop) to the table of cells (n_valid, ones).

    cell = n_valid (n_judges + 1) + ones. `cross[cell, signal + 1, label + 1]` counts queries,
    `flips[cell, label, j]` those whose decision changes when ballot j is replaced.
    """
    cdef Py_ssize_t i, j, cell, n_judges = votes.shape[1]
    cdef const int8_t *first = &votes[0, 0]
    cdef const int8_t *end = first + votes.shape[0] * n_judges
    cdef const int8_t *row
    cdef RowCount c
    cdef int8_t decision
    with nogil:
        for i in range(start, stop):
            row = first + i * n_judges
            c = count_row(row, n_judges, end)
            cell = c.valid * (n_judges + 1) + c.ones
            cross[cell, signal[i] + 1, labels[i] + 1] += counts[i]
            if signal[i] >= 0 and labels[i] >= 0 and can_flip(c.ones, c.valid, signal[i]):
                decision = 1 - signal[i]
                for j in range(n_judges):
                    if row[j] == decision:
                        flips[cell, labels[i], j] += counts[i]


def weighted_cell_rows(
    const int8_t[:, ::1] votes,
    const double[:, ::1] weights,
    const int8_t[:] signal,
    const int8_t[:] labels,
    const int64_t[:] counts,
    int64_t[:, :, ::1] cross,
    int64_t[:, :, ::1] flips,
    Py_ssize_t start,
    Py_ssize_t stop,
):
    """As cell_rows for a weighted panel, every replacement tried.

    cell = ((n_valid (n_judges + 1) + ones) 2 + decision) 2 + pivotal.
    """
    cdef Py_ssize_t i, j, cell, n_judges = votes.shape[1]
    cdef Py_ssize_t step = n_judges if weights.shape[0] > 1 else 0
    cdef const int8_t *row
    cdef const double *w
    cdef WeightedCount c
    cdef int8_t decision
    cdef bint pivotal
    cdef double slack
    with nogil:
        for i in range(start, stop):
            row = &votes[i, 0]
            w = &weights[0, 0] + i * step
            c = count_weighted(row, w, n_judges)
            slack = TIE * c.total
            decision = decide_weighted(c.lean, slack, 0)
            pivotal = False
            for j in range(n_judges):
                if row[j] >= 0 and w[j] > 0:
                    pivotal |= moved(c.lean, row[j], w[j], slack) != decision
            cell = ((c.valid * (n_judges + 1) + c.ones) * 2 + decision) * 2 + pivotal
            cross[cell, signal[i] + 1, labels[i] + 1] += counts[i]
            if pivotal and signal[i] >= 0 and labels[i] >= 0:
                for j in range(n_judges):
                    if row[j] == 1 - signal[i] and w[j] > 0:
                        if moved(c.lean, row[j], w[j], slack) != decision:
                            flips[cell, labels[i], j] += counts[i]

