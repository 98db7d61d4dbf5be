"""Ratios, correlations and effective votes from moment totals, over the columns (resamples).

Contract: totals are exact integers in double, the entries of a row side by side. What is
undefined is NaN; which panels are: see include/effective_votes.h.
"""

from libc.math cimport NAN
from libc.stdint cimport int64_t

from ropoll_core._kernels.simd cimport active_variant

cdef extern from "effective_votes.h" nogil:
    int EFFECTIVE_VOTES_TILE
    ctypedef struct effective_votes_problem:
        const double *totals
        int64_t stride
        int64_t n_columns
        const int64_t *columns
        int64_t n_pairs
        const int64_t *pairs
        const int64_t *judges
        const int64_t *starts
        int64_t n_panels
        double *phi
        double *out
        int64_t out_stride
    double phi_of_totals(double n, double i, double j, double both) noexcept
    void effective_votes_c "effective_votes"(
        int variant, const effective_votes_problem *problem
    ) noexcept

PHI_TILE = EFFECTIVE_VOTES_TILE


def phi_rows(const double[:, :] totals, const int64_t[:, ::1] columns, double[:, ::1] out):
    """out[p, c]: correlation of pair p, whose n, E_i, E_j, E_ij are the totals' rows columns[p]."""
    cdef Py_ssize_t p, c
    cdef int64_t n, i, j, both
    with nogil:
        for p in range(columns.shape[0]):
            n, i, j, both = columns[p, 0], columns[p, 1], columns[p, 2], columns[p, 3]
            for c in range(out.shape[1]):
                out[p, c] = phi_of_totals(totals[n, c], totals[i, c], totals[j, c], totals[both, c])


def effective_votes(
    const double[:, :] totals, const int64_t[:, ::1] columns, const int64_t[::1] pairs,
    const int64_t[:, ::1] judges, const int64_t[::1] starts, double[:, ::1] phi,
    double[:, ::1] out
):
    """out[i, c]: n_eff of panel i, made of the pairs from starts[i] to starts[i + 1] - 1.

    judges (n_pairs, 2) are the two of each pair, numbered below 64; phi is scratch of shape
    (columns.shape[0], PHI_TILE).
    """
    cdef effective_votes_problem problem
    problem.totals = &totals[0, 0]
    problem.stride = totals.strides[0] // <Py_ssize_t> sizeof(double)
    problem.n_columns = out.shape[1]
    problem.columns = &columns[0, 0]
    problem.n_pairs = columns.shape[0]
    problem.pairs = &pairs[0]
    problem.judges = &judges[0, 0]
    problem.starts = &starts[0]
    problem.n_panels = out.shape[0]
    problem.phi = &phi[0, 0]
    problem.out = &out[0, 0]
    problem.out_stride = out.shape[1]
    with nogil:
        effective_votes_c(active_variant(), &problem)


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
