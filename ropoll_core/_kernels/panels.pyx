"""A batch of panels, its weights and where the results go, as one argument of a kernel.

Contract: the caller has checked everything. `scores` (n_queries, n_judges, n_attributes), any
strides; `weights` None or contiguous float64 (1 or n_queries, n_judges); `out`
(n_queries, n_attributes), any strides, of the type of `scores`: float32 or float64, native and
aligned. `status` (n_queries,) and `seen` (8,) are uint8, `seen` zeroed. `report` is None or
(n_valid, n_used, used): int32, int32, uint8 (n_queries, n_judges). No array is empty.
"""


cdef class Batch:
    def __cinit__(self, scores, weights, out, unsigned char[::1] status,
                  unsigned char[::1] seen, bint propagate, report=None):
        cdef const double[:, :, :] x8
        cdef const float[:, :, :] x4
        cdef const double[:, ::1] w
        cdef double[:, :] y8
        cdef float[:, :] y4
        cdef int[::1] count
        cdef unsigned char[:, ::1] used
        self.keep = (scores, weights, out, status, seen, report)
        self.c.single = scores.itemsize == 4
        if self.c.single:
            x4, y4 = scores, out
            self.c.scores = <const char *> &x4[0, 0, 0]
            self.c.out = <char *> &y4[0, 0]
            self._set_shape(x4.shape, x4.strides, y4.strides)
        else:
            x8, y8 = scores, out
            self.c.scores = <const char *> &x8[0, 0, 0]
            self.c.out = <char *> &y8[0, 0]
            self._set_shape(x8.shape, x8.strides, y8.strides)
        if weights is not None:
            w = weights
            self.c.weights = &w[0, 0]
            self.c.weight_stride = w.shape[1] if w.shape[0] > 1 else 0
        self.c.propagate = propagate
        self.c.status = &status[0]
        self.c.seen = &seen[0]
        if report is not None:
            count = report[0]
            self.c.n_valid = &count[0]
            count = report[1]
            self.c.n_used = &count[0]
            used = report[2]
            self.c.used = &used[0, 0]

    def set_status(self, Py_ssize_t query, unsigned char status):
        """Replace the status of a query that a later kernel found wanting."""
        self.c.status[query] = status
        self.c.seen[status] = 1

    cdef void _set_shape(self, const Py_ssize_t *shape, const Py_ssize_t *strides,
                         const Py_ssize_t *out_strides) noexcept:
        self.c.n_judges = shape[1]
        self.c.n_attributes = shape[2]
        self.c.query_stride = strides[0]
        self.c.judge_stride = strides[1]
        self.c.attribute_stride = strides[2]
        self.c.out_query_stride = out_strides[0]
        self.c.out_attribute_stride = out_strides[1]
