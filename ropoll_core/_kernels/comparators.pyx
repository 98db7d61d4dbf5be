"""Mean, coordinate-wise median, trimmed means, medoid, means of groups of judges.

Contract: see panels.pyx for the batch and panels.h for NaN, zero weights and infinities.
`n_cut[m]` is how many judges (values at each end, for the coordinate-wise trimmed mean) go when
m are valid; 0 <= n_cut[m] < m (2 n_cut[m] < m). `wanted`: that it is 0 is worth a status.
`scratch` has the length that scratch_size() says, for the variant active when the rows are
computed.
"""

from cython cimport floating

from ropoll_core._kernels.panels cimport Batch, CBatch, Options
from ropoll_core._kernels.simd cimport active_variant

cdef extern from "comparators.h" namespace "ropoll_comparators":
    ptrdiff_t scratch_doubles(int, int, ptrdiff_t, ptrdiff_t) noexcept nogil
    void rows(
        int, int, const CBatch &, const Options &, double *, ptrdiff_t, ptrdiff_t
    ) noexcept nogil

cdef extern from "comparators.h":
    int COORDINATEWISE_MEDIAN, COORDINATEWISE_TRIMMED_MEAN, TRIMMED_MEAN, MEDOID

cdef extern from "mean.h" namespace "ropoll_mean":
    ptrdiff_t mean_scratch(ptrdiff_t, ptrdiff_t) noexcept nogil
    void mean(const CBatch &, double *, ptrdiff_t, ptrdiff_t) noexcept nogil

cdef extern from "groups.h" namespace "ropoll_mean":
    ptrdiff_t group_scratch(ptrdiff_t, ptrdiff_t) noexcept nogil
    void group_means(
        const CBatch &, const int *, ptrdiff_t, void *, double *, ptrdiff_t, ptrdiff_t
    ) noexcept nogil


cdef dict METHODS = {
    "coordinatewise_median": COORDINATEWISE_MEDIAN,
    "coordinatewise_trimmed_mean": COORDINATEWISE_TRIMMED_MEAN,
    "trimmed_mean": TRIMMED_MEAN,
    "medoid": MEDOID,
}


def scratch_size(str method, Py_ssize_t n_judges, Py_ssize_t n_attributes):
    """Doubles of scratch a thread needs for `method`."""
    if method == "mean":
        return mean_scratch(n_judges, n_attributes)
    if method == "group_means":
        return group_scratch(n_judges, n_attributes)
    return scratch_doubles(active_variant(), METHODS[method], n_judges, n_attributes)


def mean_rows(Batch batch, Py_ssize_t start, Py_ssize_t stop, double[::1] scratch):
    """Mean vector of panels start..stop."""
    with nogil:
        mean(batch.c, &scratch[0], start, stop)


def group_means_rows(
    Batch batch, const int[::1] order, floating[:, :, ::1] means, Py_ssize_t start,
    Py_ssize_t stop, double[::1] scratch
):
    """Means of means.shape[1] groups of judges, taken in `order`; means[0] is panel `start`."""
    cdef Py_ssize_t n_groups = means.shape[1]
    cdef void *to = &means[0, 0, 0]
    with nogil:
        group_means(batch.c, &order[0], n_groups, to, &scratch[0], start, stop)


def coordinatewise_median_rows(
    Batch batch, Py_ssize_t start, Py_ssize_t stop, double[::1] scratch
):
    """Median of each attribute by itself, weighted if there are weights."""
    _rows(COORDINATEWISE_MEDIAN, batch, None, False, start, stop, scratch)


def coordinatewise_trimmed_mean_rows(
    Batch batch, const int[::1] n_cut, bint wanted, Py_ssize_t start, Py_ssize_t stop,
    double[::1] scratch
):
    """Mean of each attribute without its n_cut lowest and n_cut highest values."""
    _rows(COORDINATEWISE_TRIMMED_MEAN, batch, n_cut, wanted, start, stop, scratch)


def trimmed_mean_rows(
    Batch batch, const int[::1] n_cut, bint wanted, Py_ssize_t start, Py_ssize_t stop,
    double[::1] scratch
):
    """Mean of the judges that are not among the n_cut farthest from the mean vector."""
    _rows(TRIMMED_MEAN, batch, n_cut, wanted, start, stop, scratch)


def medoid_rows(Batch batch, Py_ssize_t start, Py_ssize_t stop, double[::1] scratch):
    """The judge with the least weighted sum of distances to the others."""
    _rows(MEDOID, batch, None, False, start, stop, scratch)


cdef void _rows(
    int method, Batch batch, const int[::1] n_cut, bint wanted, Py_ssize_t start,
    Py_ssize_t stop, double[::1] scratch
) noexcept:
    cdef Options options = Options([NULL, NULL], 1, wanted, 0, 0, 0)
    cdef int variant = active_variant()
    if n_cut is not None:
        options.table[0] = &n_cut[0]
    with nogil:
        rows(variant, method, batch.c, options, &scratch[0], start, stop)
