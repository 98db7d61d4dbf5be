"""Tukey's halfspace median: exact for up to three attributes, by random directions for any.

Contract: see panels.pyx for the batch, tukey.h for the rest. `directions` is (n, n_attributes).
"""

from ropoll_core._kernels.panels cimport Batch, CBatch

cdef extern from "tukey.h" namespace "ropoll_tukey":
    ptrdiff_t median_scratch(ptrdiff_t, ptrdiff_t) noexcept nogil
    ptrdiff_t random_scratch(ptrdiff_t, ptrdiff_t) noexcept nogil
    void median(const CBatch &, double *, ptrdiff_t, ptrdiff_t) noexcept nogil
    void random_median(
        const CBatch &, const double *, ptrdiff_t, double *, ptrdiff_t, ptrdiff_t
    ) noexcept nogil


def scratch_size(Py_ssize_t n_judges, Py_ssize_t n_attributes, bint exact):
    """Doubles of scratch a thread needs."""
    if exact:
        return median_scratch(n_judges, n_attributes)
    return random_scratch(n_judges, n_attributes)


def tukey_median_rows(Batch batch, Py_ssize_t start, Py_ssize_t stop, double[::1] scratch):
    """Centroid of the region of greatest halfspace depth."""
    with nogil:
        median(batch.c, &scratch[0], start, stop)


def random_tukey_median_rows(
    Batch batch, const double[:, ::1] directions, Py_ssize_t start, Py_ssize_t stop,
    double[::1] scratch
):
    """Mean of the judges of greatest depth along `directions`."""
    with nogil:
        random_median(
            batch.c, &directions[0, 0], directions.shape[0], &scratch[0], start, stop
        )
