"""Moment totals of task resamples, and the draws behind them.

Contract: tables are laid out as include/resample.h says; moments are finite; n_tasks from 1 to
2^31 - 1. Totals are double: exact for integers up to 2^53. A row of `scratch` (at most 16 rows)
holds the draws of one resample: at least n_tasks words, rounded up to a multiple of 128.
"""

from libc.stdint cimport int16_t, int32_t, int64_t, uint64_t

from ropoll_core._kernels.counter_rng cimport counter_key
from ropoll_core._kernels.simd cimport active_variant

cdef extern from "resample.h" nogil:
    int RESAMPLE_INT16
    int RESAMPLE_INT32
    int RESAMPLE_FLOAT64
    ctypedef struct resample_problem:
        counter_key key
        const void *table
        int64_t n_tasks
        int64_t n_moments
        int64_t n_blocks
        int64_t flush
        int64_t tile
        int64_t index_stride
        int vectors
        int value
    void total_resamples_c "total_resamples"(
        int variant, const resample_problem *problem, int64_t start, int64_t stop,
        void *index_scratch, double *out, int64_t stride
    ) noexcept
    void draw_tasks_c "draw_tasks"(
        counter_key key, int64_t resample, int64_t n_tasks, void *scratch, int64_t *out
    ) noexcept

ctypedef fused moment:
    int16_t
    int32_t
    double


def total_resamples(
    uint64_t high, uint64_t low, const moment[:, :, ::1] table, Py_ssize_t n_moments,
    Py_ssize_t flush, Py_ssize_t start, Py_ssize_t stop, int32_t[:, ::1] scratch,
    double[:, ::1] out
):
    """Totals of resamples start .. stop - 1 into the first columns of out (n_moments, ...).

    table is (n_blocks, n_tasks, width).
    """
    cdef resample_problem problem
    problem.key.high = high
    problem.key.low = low
    problem.table = &table[0, 0, 0]
    problem.n_blocks = table.shape[0]
    problem.n_tasks = table.shape[1]
    problem.n_moments = n_moments
    problem.flush = flush
    problem.tile = scratch.shape[0]
    problem.index_stride = scratch.shape[1]
    problem.vectors = <int> (table.shape[2] * <Py_ssize_t> sizeof(moment) // 32)
    if moment is int16_t:
        problem.value = RESAMPLE_INT16
    elif moment is int32_t:
        problem.value = RESAMPLE_INT32
    else:
        problem.value = RESAMPLE_FLOAT64
    with nogil:
        total_resamples_c(
            active_variant(), &problem, start, stop, &scratch[0, 0], &out[0, 0], out.shape[1]
        )


def draw_tasks(
    uint64_t high, uint64_t low, Py_ssize_t resample, int32_t[:, ::1] scratch, int64_t[::1] out
):
    """Task indices of one resample of out.shape[0] tasks, in the order in which they are drawn."""
    cdef counter_key key
    key.high = high
    key.low = low
    with nogil:
        draw_tasks_c(key, resample, out.shape[0], &scratch[0, 0], &out[0])


ctypedef fused summand:
    int64_t
    double


def sum_rows(const int64_t[::1] codes, const summand[:, :] rows, summand[:, ::1] out):
    """Add row i of rows to row codes[i] of out."""
    cdef Py_ssize_t i, m
    cdef int64_t code
    with nogil:
        for i in range(codes.shape[0]):
            code = codes[i]
            for m in range(rows.shape[1]):
                out[code, m] += rows[i, m]
