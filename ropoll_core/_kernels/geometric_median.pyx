"""Geometric medians of score panels, certified.

Contract of `Job.run(start, stop, scratch)`: writes rows start..stop of every output given to
the job; scratch holds `scratch_bytes(n_judges, n_attributes)` bytes. NaN makes a judge missing
for its query; a query without a valid judge, or with +-inf, becomes NaN with a status; nothing
is raised. Weights must be finite and not negative. An empty range writes nothing. The mathematics
is in include/gm_*.h.
"""

from libc.stdint cimport int8_t, int64_t, uintptr_t

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

ctypedef fused real:
    float
    double


def scratch_bytes(Py_ssize_t n_judges, Py_ssize_t n_attributes):
    """Bytes of scratch that one thread needs."""
    return gm_scratch_bytes(n_judges, n_attributes) + 64


cdef class Job:
    """One call: input, output and options, held while chunks run."""

    cdef GmPanels panels
    cdef object held
    cdef unsigned char seen[GM_N_STATUS + 1]

    def __cinit__(self):
        self.panels.seen = self.seen

    def options(
        self, *, bint propagate, int solver, int max_iter, double tol, double step, double eta
    ):
        """Set every option; see struct GmPanels."""
        self.panels.propagate = propagate
        self.panels.solver = solver
        self.panels.max_iter = max_iter
        self.panels.tol = tol
        self.panels.step = step
        self.panels.eta = eta

    def arrays(
        self, const real[:, :, :] scores, real[:, :] median, const double[:, ::1] weights=None
    ):
        """Set input (n_queries, n_judges, n_attributes) and output (n_queries, n_attributes)."""
        cdef GmPanels *P = &self.panels
        self.held = (scores.base, median.base, None if weights is None else weights.base)
        P.is_float = real is float
        P.n_judges, P.n_attributes = scores.shape[1], scores.shape[2]
        P.query_stride, P.judge_stride = scores.strides[0], scores.strides[1]
        P.attribute_stride = scores.strides[2]
        P.median_query_stride, P.median_attribute_stride = median.strides[0], median.strides[1]
        if scores.shape[0] == 0:
            return
        P.scores = <const char *> &scores[0, 0, 0]
        P.median = <char *> &median[0, 0]
        if weights is not None:
            P.weights = &weights[0, 0]
            P.weight_stride = 0 if weights.shape[0] == 1 else weights.shape[1]

    def details(
        self, double[::1] objective, double[::1] gap, int64_t[::1] n_valid, int64_t[::1] n_iter,
        int8_t[::1] status, double[:, ::1] influence,
    ):
        """Set the outputs of a full result: (n_queries,) each, (n_queries, n_judges) the last."""
        if status.shape[0] == 0:
            return
        self.held = (self.held, objective.base, gap.base, n_valid.base, n_iter.base, status.base,
                     influence.base)
        self.panels.objective = &objective[0]
        self.panels.gap = &gap[0]
        self.panels.n_valid = &n_valid[0]
        self.panels.n_iter = &n_iter[0]
        self.panels.status = &status[0]
        self.panels.influence = &influence[0, 0]

    def run(self, Py_ssize_t start, Py_ssize_t stop, unsigned char[::1] scratch):
        """Solve queries start..stop."""
        cdef char *work = <char *> ((<uintptr_t> &scratch[0] + 63) & ~<uintptr_t> 63)
        with nogil:
            gm_run(active_variant(), &self.panels, start, stop, work)

    def statuses_seen(self):
        """Status codes met so far, in order, and whether any judge was missing."""
        codes = [code for code in range(GM_N_STATUS) if self.seen[code]]
        return codes, bool(self.seen[GM_N_STATUS])
