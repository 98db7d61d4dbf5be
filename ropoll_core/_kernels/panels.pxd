cdef extern from "panels.h":
    cdef struct CBatch "Batch":
        const char *scores
        ptrdiff_t query_stride
        ptrdiff_t judge_stride
        ptrdiff_t attribute_stride
        ptrdiff_t n_judges
        ptrdiff_t n_attributes
        int single
        const double *weights
        ptrdiff_t weight_stride
        int propagate
        char *out
        ptrdiff_t out_query_stride
        ptrdiff_t out_attribute_stride
        int *n_valid
        int *n_used
        unsigned char *used
        unsigned char *status
        unsigned char *seen
    cdef struct Options:
        const int *table[2]
        int fewest
        int trimming
        double threshold
        double tol
        int max_iter


cdef class Batch:
    cdef CBatch c
    cdef object keep
    cdef void _set_shape(self, const Py_ssize_t *shape, const Py_ssize_t *strides,
                         const Py_ssize_t *out_strides) noexcept
