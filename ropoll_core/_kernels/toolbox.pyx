"""Krum, multi-Krum, Bulyan, the Huber mean.

Contract: see panels.pyx for the batch and panels.h for NaN, zero weights and infinities. Tables
are indexed by the number m of valid judges, 0..n_judges; panels with fewer than `fewest` valid
judges are marked and made NaN, whatever the tables say for them. `scratch` has the length that
scratch_size() says, for the variant active when the rows are computed.
"""

from ropoll_core._kernels.panels cimport Batch, CBatch, Options
from ropoll_core._kernels.simd cimport active_variant

cdef extern from "toolbox.h" namespace "ropoll_toolbox":
    ptrdiff_t scratch_doubles(int, int, ptrdiff_t, ptrdiff_t) noexcept nogil
    void rows(
        int, int, const CBatch &, const Options &, double *, ptrdiff_t, ptrdiff_t
    ) noexcept nogil

cdef extern from "toolbox.h":
    int MULTI_KRUM, BULYAN, HUBER_MEAN


cdef dict METHODS = {"multi_krum": MULTI_KRUM, "bulyan": BULYAN, "huber_mean": HUBER_MEAN}


def scratch_size(str method, Py_ssize_t n_judges, Py_ssize_t n_attributes):
    """Doubles of scratch a thread needs for `method`."""
    return scratch_doubles(active_variant(), METHODS[method], n_judges, n_attributes)


def multi_krum_rows(
    Batch batch, const int[::1] n_selected, const int[::1] n_close, int fewest,
    Py_ssize_t start, Py_ssize_t stop, double[::1] scratch
):
    """Mean of the n_selected judges with the smallest sums of n_close squared distances."""
    cdef Options options = Options([&n_selected[0], &n_close[0]], fewest, False, 0, 0, 0)
    cdef int variant = active_variant()
    with nogil:
        rows(variant, MULTI_KRUM, batch.c, options, &scratch[0], start, stop)


def bulyan_rows(
    Batch batch, const int[::1] n_taken, const int[::1] n_faulty, int fewest,
    Py_ssize_t start, Py_ssize_t stop, double[::1] scratch
):
    """n_taken judges by repeated Krum, then the mean of the values nearest to their median."""
    cdef Options options = Options([&n_taken[0], &n_faulty[0]], fewest, False, 0, 0, 0)
    cdef int variant = active_variant()
    with nogil:
        rows(variant, BULYAN, batch.c, options, &scratch[0], start, stop)


def huber_mean_rows(
    Batch batch, double threshold, double tol, int max_iter,
    Py_ssize_t start, Py_ssize_t stop, double[::1] scratch
):
    """Minimiser of the Huber loss of the distances to the judges."""
    cdef Options options = Options([NULL, NULL], 1, False, threshold, tol, max_iter)
    cdef int variant = active_variant()
    with nogil:
        rows(variant, HUBER_MEAN, batch.c, options, &scratch[0], start, stop)
