# One panel at a time, for other compiled code.
#
# scores: n_judges x n_attributes doubles, row by row; a NaN makes its judge missing. weights:
# n_judges finite doubles, none negative, or NULL. median: n_attributes doubles, NaN where there
# is none. scratch: geometric_median_scratch bytes, of any alignment, one for each thread. Returns
# the code of ropoll_core.scores.Status, or 5 for +-inf among the scores. Checks nothing else.
cdef size_t geometric_median_scratch(
    Py_ssize_t n_judges, Py_ssize_t n_attributes
) noexcept nogil

cdef int geometric_median_one(
    const double *scores, const double *weights, Py_ssize_t n_judges, Py_ssize_t n_attributes,
    double *median, char *scratch,
) noexcept nogil
