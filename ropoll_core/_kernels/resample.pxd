# The draws of a resample, for kernels that need the tasks themselves: see include/resample.h.
from libc.stdint cimport int64_t, uint16_t

from ropoll_core._kernels.counter_rng cimport counter_key

cdef extern from "resample.h" nogil:
    int RESAMPLE_UINT8
    int RESAMPLE_INT16
    int RESAMPLE_INT32
    int RESAMPLE_FLOAT64
    int RESAMPLE_TILE
    int RESAMPLE_SHORT_TILE
    int RESAMPLE_GROUP
    int RESAMPLE_PIECE
    ctypedef struct resample_problem:
        counter_key key
        const void *table
        const double *base
        int64_t n_tasks
        int64_t n_moments
        int64_t n_blocks
        int64_t flush
        int64_t part_size
        int64_t n_parts
        int64_t piece
        int64_t index_stride
        int vectors
        int value
    void draw_tasks_c "draw_tasks"(
        const resample_problem *problem, int64_t resample, uint16_t *indices, int64_t *out
    ) noexcept
