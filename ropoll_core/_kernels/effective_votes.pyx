"""Effective votes from moment totals, over the columns (resamples) of a block.

Contract: totals are exact integers in double. A correlation whose denominator is not positive is
NaN (the errors of a judge do not vary). A judge without one defined correlation in a panel is
left out of its mean and of its size; a panel with fewer than two judges left is NaN. An infinite
result is the formula's own: a mean correlation of exactly -1 / (k - 1).
"""

from libc.math cimport NAN, sqrt
from libc.stdint cimport int64_t, uint64_t


cdef inline double phi_one(double n, double i, double j, double both) noexcept nogil:
    # Pearson correlation of two 0/1 variables; every product below 2^53 is exact.
    cdef double scale = (n * i - i * i) * (n * j - j * j)
    return (n * both - i * j) / sqrt(scale) if scale > 0.0 else NAN


def phi_rows(const double[:, :] totals, const int64_t[:, ::1] columns, double[:, ::1] out):
    """out[p, c]: correlation of pair p, whose n, E_i, E_j, E_ij are the totals' rows columns[p]."""
    cdef Py_ssize_t p, c
    cdef int64_t n, i, j, both
    with nogil:
        for p in range(columns.shape[0]):
            n, i, j, both = columns[p, 0], columns[p, 1], columns[p, 2], columns[p, 3]
            for c in range(out.shape[1]):
                out[p, c] = phi_one(totals[n, c], totals[i, c], totals[j, c], totals[both, c])


cdef double effective_votes_one(
    const double[:, ::1] phi, const int64_t[::1] pairs, const int64_t[:, ::1] judges, Py_ssize_t c
) noexcept nogil:
    """n_eff of one panel in one resample, judges without a defined correlation left out."""
    cdef Py_ssize_t q
    cdef uint64_t seen = 0
    cdef double total = 0.0, n_pairs = 0.0, k, value
    for q in range(pairs.shape[0]):
        value = phi[pairs[q], c]
        if value == value:
            total += value
            n_pairs += 1.0
            seen |= (<uint64_t> 1 << judges[q, 0]) | (<uint64_t> 1 << judges[q, 1])
    if n_pairs == 0.0:
        return NAN
    k = 0.0
    while seen:
        k += <double> (seen & 1)
        seen >>= 1
    return k / (1.0 + (k - 1.0) * (total / n_pairs))


def panel_rows(
    const double[:, ::1] phi, const int64_t[::1] pairs, const int64_t[:, ::1] judges,
    double[::1] out
):
    """out[c]: n_eff of the panel made of `pairs`; judges (n_pairs, 2), numbered below 64."""
    cdef Py_ssize_t q, c
    cdef double k = 0.5 + sqrt(0.25 + 2.0 * pairs.shape[0])
    cdef double n_pairs = <double> pairs.shape[0]
    cdef int64_t p
    with nogil:
        for c in range(out.shape[0]):
            out[c] = 0.0
        for q in range(pairs.shape[0]):
            p = pairs[q]
            for c in range(out.shape[0]):
                out[c] += phi[p, c]
        for c in range(out.shape[0]):
            out[c] = k / (1.0 + (k - 1.0) * (out[c] / n_pairs))
        for c in range(out.shape[0]):
            if out[c] != out[c]:
                out[c] = effective_votes_one(phi, pairs, judges, c)
