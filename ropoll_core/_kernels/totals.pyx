"""Ratios and effective votes from moment totals, over the columns (resamples) of a block.

Contract: totals are exact integers in double. A correlation whose denominator is not positive is
NaN (the errors of a judge do not vary). Such a judge is left out of the mean and of the size of
its panel; one judge left is worth one vote, none is NaN, and NaN is a panel with a judge who
varies, but not where a partner answered too. The least possible mean correlation, -1 / (k - 1),
gives infinity; less, which only correlations over different queries reach, NaN.
"""

from libc.math cimport INFINITY, NAN, fabs, sqrt
from libc.stdint cimport int64_t, uint64_t


cdef inline double phi_one(double n, double i, double j, double both) noexcept nogil:
    # One root of the product, not two: equal or opposite errors give exactly 1 or -1. Products
    # of totals below 2^53 are exact.
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


cdef inline double kish(double k, double mean_phi) noexcept nogil:
    cdef double design = 1.0 + (k - 1.0) * mean_phi
    cdef double value = k / design if design > 0.0 else NAN
    return INFINITY if fabs(design) < 1e-12 * k else value


cdef inline bint varies(double n, double wrong) noexcept nogil:
    return n * wrong - wrong * wrong > 0.0


cdef double effective_votes_one(
    const double[:, :] totals, const int64_t[:, ::1] columns, const double[:, ::1] phi,
    const int64_t[::1] pairs, const int64_t[:, ::1] judges, Py_ssize_t c
) noexcept nogil:
    """n_eff of one panel in one resample, judges whose errors do not vary left out."""
    cdef Py_ssize_t q
    cdef int64_t p
    cdef uint64_t used = 0, left, i, j
    cdef double total = 0.0, n_pairs = 0.0, k = 0.0, n
    for q in range(pairs.shape[0]):
        p = pairs[q]
        n = totals[columns[p, 0], c]
        if varies(n, totals[columns[p, 1], c]):
            used |= <uint64_t> 1 << judges[q, 0]
        if varies(n, totals[columns[p, 2], c]):
            used |= <uint64_t> 1 << judges[q, 1]
    for q in range(pairs.shape[0]):
        i = used >> judges[q, 0] & 1
        j = used >> judges[q, 1] & 1
        if i & j:
            total += phi[pairs[q], c]
            n_pairs += 1.0
    left = used
    while left:
        k += <double> (left & 1)
        left >>= 1
    if k < 2.0:
        return k if k == 1.0 else NAN
    return kish(k, total / n_pairs)


def panel_rows(
    const double[:, :] totals, const int64_t[:, ::1] columns, const double[:, ::1] phi,
    const int64_t[::1] pairs, const int64_t[:, ::1] judges, const int64_t[::1] starts,
    double[:, ::1] out
):
    """out[i, c]: n_eff of panel i, made of the pairs from starts[i] to starts[i + 1] - 1.

    judges (n_pairs, 2) are the two of each pair, numbered below 64.
    """
    cdef Py_ssize_t i, q, c, first, stop
    cdef double k, n_pairs
    cdef int64_t p
    with nogil:
        for i in range(out.shape[0]):
            first, stop = starts[i], starts[i + 1]
            n_pairs = <double> (stop - first)
            k = 0.5 + sqrt(0.25 + 2.0 * n_pairs)
            for c in range(out.shape[1]):
                out[i, c] = 0.0
            for q in range(first, stop):
                p = pairs[q]
                for c in range(out.shape[1]):
                    out[i, c] += phi[p, c]
            for c in range(out.shape[1]):
                out[i, c] = kish(k, out[i, c] / n_pairs)
            for c in range(out.shape[1]):
                if out[i, c] != out[i, c]:
                    out[i, c] = effective_votes_one(
                        totals, columns, phi, pairs[first:stop], judges[first:stop], c
                    )


def ratio_rows(
    const double[:, :] totals, const int64_t[::1] tops, const int64_t[::1] bottoms,
    double[:, ::1] out
):
    """out[i, c] = totals[tops[i], c] / totals[bottoms[i], c]; NaN where that is zero."""
    cdef Py_ssize_t i, c, top, bottom
    with nogil:
        for i in range(out.shape[0]):
            top, bottom = tops[i], bottoms[i]
            for c in range(out.shape[1]):
                out[i, c] = (
                    totals[top, c] / totals[bottom, c] if totals[bottom, c] != 0.0 else NAN
                )
