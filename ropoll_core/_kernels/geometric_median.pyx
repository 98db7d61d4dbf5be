"""Geometric medians of score panels, certified.

Contract of `Job.run(start, stop, scratch)`: writes rows start..stop of every output given to
the job; scratch holds `scratch_bytes(n_judges, n_attributes)` bytes. NaN makes a judge missing
for its query; a query without a valid judge, or with +-inf, becomes NaN with a status; nothing
is raised. Weights must be finite and not negative. An empty range writes nothing. The mathematics
is in include/gm_*.h.
"""

from cpython.buffer cimport (
    PyBUF_C_CONTIGUOUS,
    PyBUF_STRIDES,
    PyBUF_WRITABLE,
    PyBuffer_Release,
    PyObject_GetBuffer,
)
from libc.stdint cimport int8_t, int64_t, uintptr_t
from libc.string cimport memset

from ropoll_core._kernels.simd cimport active_variant

cdef extern from "geometric_median.h" nogil:
    struct GmPanels:
        const char *scores
        Py_ssize_t query_stride, judge_stride, attribute_stride
        int is_float
        Py_ssize_t n_judges, n_attributes
        const double *weights
        Py_ssize_t weight_stride
        int propagate, solver, max_iter
        double tol, step, eta
        char *median
        Py_ssize_t median_query_stride, median_attribute_stride
        double *objective
        double *gap
        int64_t *n_valid
        int64_t *n_iter
        int8_t *status
        double *influence
        unsigned char *seen
    enum:
        GM_N_STATUS
    size_t gm_scratch_bytes(Py_ssize_t n, Py_ssize_t d)
    void gm_run(int variant, const GmPanels *P, Py_ssize_t start, Py_ssize_t stop, char *scratch)

cdef size_t geometric_median_scratch(
    Py_ssize_t n_judges, Py_ssize_t n_attributes
) noexcept nogil:
    return gm_scratch_bytes(n_judges, n_attributes) + 64


cdef int geometric_median_one(
    const double *scores, const double *weights, Py_ssize_t n_judges, Py_ssize_t n_attributes,
    double *median, char *scratch,
) noexcept nogil:
    cdef GmPanels P
    cdef unsigned char seen[GM_N_STATUS + 1]
    cdef int code
    memset(&P, 0, sizeof(P))
    memset(seen, 0, sizeof(seen))
    P.scores = <const char *> scores
    P.attribute_stride = sizeof(double)
    P.judge_stride = n_attributes * sizeof(double)
    P.query_stride = n_judges * P.judge_stride
    P.n_judges, P.n_attributes = n_judges, n_attributes
    P.weights = weights
    P.max_iter = 200
    P.tol = 1e-12
    P.median = <char *> median
    P.median_query_stride = n_attributes * sizeof(double)
    P.median_attribute_stride = sizeof(double)
    P.seen = seen
    gm_run(active_variant(), &P, 0, 1, aligned(scratch))
    for code in range(GM_N_STATUS):
        if seen[code]:
            return code
    return -1  # not reached: every query has a status


cdef inline char *aligned(char *scratch) noexcept nogil:
    return <char *> ((<uintptr_t> scratch + 63) & ~<uintptr_t> 63)


def scratch_bytes(Py_ssize_t n_judges, Py_ssize_t n_attributes):
    """Bytes of scratch that one thread needs."""
    return geometric_median_scratch(n_judges, n_attributes)


cdef class Job:
    """One call: input, output and options, held while chunks run.

    scores (n_queries, n_judges, n_attributes) and median (n_queries, n_attributes): float32 or
    float64 alike, native, aligned, any strides. weights: None or contiguous float64 (1 or
    n_queries, n_judges). details: None or contiguous (objective, gap, n_valid, n_iter, status,
    influence): float64, float64, int64, int64, int8, (n_queries, n_judges) float64. Options as
    in struct GmPanels.
    """

    cdef GmPanels panels
    cdef unsigned char seen[GM_N_STATUS + 1]
    cdef Py_buffer held[9]
    cdef int n_held

    def __cinit__(
        self, scores, median, weights, details, *, bint propagate, int solver, int max_iter,
        double tol, double step, double eta,
    ):
        cdef GmPanels *P = &self.panels
        P.seen = self.seen
        P.propagate, P.solver, P.max_iter = propagate, solver, max_iter
        P.tol, P.step, P.eta = tol, step, eta
        cdef Py_buffer *x = self._hold(scores, PyBUF_STRIDES)
        P.scores = <const char *> x.buf
        P.is_float = x.itemsize == 4
        P.n_judges, P.n_attributes = x.shape[1], x.shape[2]
        P.query_stride, P.judge_stride = x.strides[0], x.strides[1]
        P.attribute_stride = x.strides[2]
        cdef Py_buffer *y = self._hold(median, PyBUF_STRIDES | PyBUF_WRITABLE)
        P.median = <char *> y.buf
        P.median_query_stride, P.median_attribute_stride = y.strides[0], y.strides[1]
        cdef Py_buffer *w
        if weights is not None:
            w = self._hold(weights, PyBUF_C_CONTIGUOUS)
            P.weights = <const double *> w.buf
            P.weight_stride = 0 if w.shape[0] == 1 else w.shape[1]
        if details is not None:
            P.objective = <double *> self._hold(details[0], PyBUF_C_CONTIGUOUS).buf
            P.gap = <double *> self._hold(details[1], PyBUF_C_CONTIGUOUS).buf
            P.n_valid = <int64_t *> self._hold(details[2], PyBUF_C_CONTIGUOUS).buf
            P.n_iter = <int64_t *> self._hold(details[3], PyBUF_C_CONTIGUOUS).buf
            P.status = <int8_t *> self._hold(details[4], PyBUF_C_CONTIGUOUS).buf
            P.influence = <double *> self._hold(details[5], PyBUF_C_CONTIGUOUS).buf

    cdef Py_buffer *_hold(self, array, int flags) except NULL:
        # A plain buffer: a typed memoryview costs more than solving a small panel.
        cdef Py_buffer *buffer = &self.held[self.n_held]
        PyObject_GetBuffer(array, buffer, flags)
        self.n_held += 1
        return buffer

    def __dealloc__(self):
        for i in range(self.n_held):
            PyBuffer_Release(&self.held[i])

    def run(self, Py_ssize_t start, Py_ssize_t stop, unsigned char[::1] scratch):
        """Solve queries start..stop."""
        cdef char *work = <char *> &scratch[0]
        with nogil:
            gm_run(active_variant(), &self.panels, start, stop, aligned(work))

    def statuses_seen(self):
        """Status codes met so far, in order, and whether any judge was missing."""
        cdef int code
        return [code for code in range(GM_N_STATUS) if self.seen[code]], self.seen[GM_N_STATUS] != 0
