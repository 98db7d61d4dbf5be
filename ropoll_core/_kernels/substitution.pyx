"""What replacing one ballot by a signal does to the decision, summed over queries.

A tie is decided as 0 throughout. Queries come with a count each, so that equal queries need to
be seen once. Every sum is an integer: nothing depends on order or chunks.

One closed form serves odd and even panels (Propositions 1 and 2 of "Blind to the Pivotal
Vote"): with s ones of k valid ballots, h = floor(k / 2) and decision d = [s > h], a replacement
can change the decision only if the signal is not d and s is h or h + 1, and then it does so
exactly when the replaced ballot was d.

Strata: where the count k of valid ballots is odd |2 s - k|, where it is even the signed 2 s - k;
0, 1 and 2 are then pivotal. For weighted panels 1 if pivotal, else 0.

Contract. Votes are 0, 1 or -1 (missing, never replaced); signal and labels 0, 1 or -1. Bytes
that are none of these must have been refused before. `rule` is the number of a judge, UNIFORM
or MAJORITY.

Of a query with a ballot and a label, of stratum s, `sums[label, first + s]` counts: queries,
errors of the panel, answers of the signal, right ones; first is n_judges, and 0 for weighted
panels. `gains[label, s, d]` sums its gain in units of 1/d, the replacements that the rule draws
from. The others are in `left_out`: without a ballot; with one but without a label.
"""

from libc.stdint cimport int8_t, int32_t, int64_t

from ropoll_core._kernels.ballots cimport (
    TIE, RowCount, WeightedCount, count_row, count_weighted, decide_weighted
)


cdef inline void add_query(
    int64_t *to, int64_t count, bint decision, int8_t signal, int8_t label
) noexcept nogil:
    to[0] += count
    to[1] += count * (decision != label)
    to[2] += count * (signal >= 0)
    to[3] += count * (signal == label)


def stratum_rows(
    const int8_t[:, ::1] votes,
    const int8_t[:] signal,
    const int8_t[:] labels,
    const int64_t[:] counts,
    int64_t rule,
    int64_t[:, :, ::1] sums,
    int64_t[:, :, ::1] gains,
    int64_t[::1] left_out,
    Py_ssize_t start,
    Py_ssize_t stop,
):
    """Add the queries of [start, stop), each `counts` times."""
    cdef Py_ssize_t i, n_judges = votes.shape[1]
    cdef const int8_t *first = &votes[0, 0]
    cdef const int8_t *end = first + votes.shape[0] * n_judges
    cdef const int8_t *row
    cdef RowCount c
    cdef int32_t lean, stratum
    cdef int64_t flips
    with nogil:
        for i in range(start, stop):
            row = first + i * n_judges
            c = count_row(row, n_judges, end)
            if c.valid == 0 or labels[i] < 0:
                left_out[c.valid > 0] += counts[i]
                continue
            lean = 2 * c.ones - c.valid
            stratum = -lean if lean < 0 and c.valid % 2 == 1 else lean
            add_query(
                &sums[labels[i], n_judges + stratum, 0], counts[i], lean > 0, signal[i], labels[i]
            )
            if can_flip(c.ones, c.valid, signal[i]):
                flips = flips_of(rule, c.ones, c.valid, signal[i], row[rule] if rule >= 0 else 0)
                flips *= counts[i] if signal[i] == labels[i] else -counts[i]
                gains[labels[i], stratum, c.valid if rule == UNIFORM else 1] += flips


cdef inline bint decision_after(
    double lean, int8_t vote, double weight, double slack
) noexcept nogil:
    """The decision once a ballot has gone over to the other side."""
    return decide_weighted(lean - 2 * weight if vote else lean + 2 * weight, slack, 0)


cdef inline int64_t weighted_flips(
    const int8_t *row, const double *w, Py_ssize_t n_judges, int64_t rule, WeightedCount c,
    bint *pivotal, int64_t *of
) noexcept nogil:
    """How many replacements of those the rule draws from, `of`, let the other side win."""
    cdef double slack = TIE * c.total
    cdef int8_t decision = decide_weighted(c.lean, slack, 0)
    cdef int64_t flips = 0
    cdef Py_ssize_t j
    pivotal[0] = False
    for j in range(n_judges):
        if row[j] >= 0 and w[j] > 0:
            if decision_after(c.lean, row[j], w[j], slack) != decision:
                pivotal[0] = True
                flips += row[j] == decision and (rule < 0 or rule == j)
    of[0] = 1
    if rule == UNIFORM:
        of[0] = c.valid
    elif rule == MAJORITY:
        of[0] = c.ones if decision else c.valid - c.ones
    return flips


def weighted_stratum_rows(
    const int8_t[:, ::1] votes,
    const double[:, ::1] weights,
    const int8_t[:] signal,
    const int8_t[:] labels,
    const int64_t[:] counts,
    int64_t rule,
    int64_t[:, :, ::1] sums,
    int64_t[:, :, ::1] gains,
    int64_t[::1] left_out,
    Py_ssize_t start,
    Py_ssize_t stop,
):
    """The same for weighted panels, every replacement tried."""
    cdef Py_ssize_t i, n_judges = votes.shape[1]
    cdef Py_ssize_t step = n_judges if weights.shape[0] > 1 else 0
    cdef const double *w
    cdef WeightedCount c
    cdef int8_t decision
    cdef bint pivotal
    cdef int64_t flips, of
    with nogil:
        for i in range(start, stop):
            w = &weights[0, 0] + i * step
            c = count_weighted(&votes[i, 0], w, n_judges)
            if c.valid == 0 or labels[i] < 0:
                left_out[c.valid > 0] += counts[i]
                continue
            decision = decide_weighted(c.lean, TIE * c.total, 0)
            flips = weighted_flips(&votes[i, 0], w, n_judges, rule, c, &pivotal, &of)
            add_query(&sums[labels[i], pivotal, 0], counts[i], decision, signal[i], labels[i])
            if flips > 0 and signal[i] == 1 - decision:
                flips *= counts[i] if signal[i] == labels[i] else -counts[i]
                gains[labels[i], 1, of] += flips


def weighted_flip_rows(
    const int8_t[:, ::1] votes,
    const double[:, ::1] weights,
    int64_t rule,
    int64_t[::1] flips,
    int64_t[::1] of,
    Py_ssize_t start,
    Py_ssize_t stop,
):
    """Replacements by the side the panel decided against that flip it, and of how many."""
    cdef Py_ssize_t i, n_judges = votes.shape[1]
    cdef Py_ssize_t step = n_judges if weights.shape[0] > 1 else 0
    cdef const double *w
    cdef WeightedCount c
    cdef bint pivotal
    with nogil:
        for i in range(start, stop):
            w = &weights[0, 0] + i * step
            c = count_weighted(&votes[i, 0], w, n_judges)
            flips[i] = weighted_flips(&votes[i, 0], w, n_judges, rule, c, &pivotal, &of[i])
