"""Moment totals of task resamples, and the draws behind them.

Contract: tables are laid out as include/resample.h says; moments are finite; 1 <= n_tasks;
part_size is at most 2^13; resamples are numbered below 2^40, parts below 2^23. Totals are double:
exact for integers up to 2^53. Scratch for the indices of draws comes from ``scratch_shape``.
"""

from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint64_t

from ropoll_core._kernels.counter_rng cimport counter_key, make_key
from ropoll_core._kernels.simd cimport active_variant

cdef extern from "resample.h" nogil:
    void total_resamples_c "total_resamples"(
        int variant, const resample_problem *problem, int64_t start, int64_t stop,
        uint16_t *indices, double *scratch, double *out, int64_t stride
    ) noexcept
    void total_types_c "total_types"(
        counter_key key, const double *rows, const int64_t *n_of, int64_t n_types,
        int64_t n_moments, int64_t start, int64_t stop, int64_t *counts, double *column,
        double *out, int64_t stride
    ) noexcept

cdef extern from "moments.h" nogil:
    void find_ranges_c "find_ranges"(
        int variant, const int64_t *rows, int64_t n_rows, int64_t n_columns, int64_t *lowest,
        int64_t *highest
    ) noexcept
    void pack_rows_c "pack_rows"[From, To](
        int variant, const From *rows, int64_t n_rows, int64_t n_columns, int64_t first,
        int64_t count, const From *lowest, To *table, int64_t width
    ) noexcept

TILE = RESAMPLE_TILE

ctypedef fused moment:
    uint8_t
    int16_t
    int32_t
    double

ctypedef fused summand:
    int64_t
    double


cdef void set_draws(
    resample_problem *problem, uint64_t high, uint64_t low, Py_ssize_t n_tasks,
    Py_ssize_t part_size, const uint16_t[:, ::1] indices
) noexcept nogil:
    problem.key = make_key(high, low)
    problem.n_tasks = n_tasks
    problem.part_size = part_size
    problem.n_parts = (n_tasks + part_size - 1) // part_size
    problem.piece = indices.shape[1]
    problem.index_stride = indices.shape[1] if indices.shape[0] > 1 else 0


def scratch_shape(Py_ssize_t n_tasks, Py_ssize_t part_size, Py_ssize_t n_blocks):
    """Shape of the scratch array of indices (uint16) for a table of n_blocks."""
    if n_tasks > part_size:
        return 1, RESAMPLE_PIECE
    words = (n_tasks + RESAMPLE_GROUP - 1) // RESAMPLE_GROUP * RESAMPLE_GROUP
    return (RESAMPLE_SHORT_TILE if n_blocks > 1 else 1), words


def total_resamples(
    uint64_t high, uint64_t low, const moment[:, :, ::1] table, const double[::1] base,
    Py_ssize_t n_moments, Py_ssize_t flush, Py_ssize_t part_size, Py_ssize_t start, Py_ssize_t stop,
    uint16_t[:, ::1] indices, double[:, ::1] scratch, double[:, ::1] out
):
    """Totals of resamples start .. stop - 1 into the first columns of out (n_moments, ...).

    table is (n_blocks, n_tasks, width), base (n_blocks * width,) what the totals start from,
    scratch (TILE, width).
    """
    cdef resample_problem problem
    set_draws(&problem, high, low, table.shape[1], part_size, indices)
    problem.table = &table[0, 0, 0]
    problem.base = &base[0]
    problem.n_blocks = table.shape[0]
    problem.n_moments = n_moments
    problem.flush = flush
    problem.vectors = <int> (table.shape[2] * <Py_ssize_t> sizeof(moment) // 32)
    if moment is uint8_t:
        problem.value = RESAMPLE_UINT8
    elif moment is int16_t:
        problem.value = RESAMPLE_INT16
    elif moment is int32_t:
        problem.value = RESAMPLE_INT32
    else:
        problem.value = RESAMPLE_FLOAT64
    with nogil:
        total_resamples_c(
            active_variant(), &problem, start, stop, &indices[0, 0], &scratch[0, 0],
            &out[0, 0], out.shape[1]
        )


def total_types(
    uint64_t high, uint64_t low, const double[:, ::1] rows, const int64_t[::1] n_of,
    Py_ssize_t start, Py_ssize_t stop, int64_t[::1] counts, double[::1] column,
    double[:, ::1] out
):
    """Totals of resamples start .. stop - 1 of tasks of a few types, n_of[type] of each."""
    cdef counter_key key = make_key(high, low)
    with nogil:
        total_types_c(
            key, &rows[0, 0], &n_of[0], rows.shape[0], rows.shape[1], start, stop, &counts[0],
            &column[0], &out[0, 0], out.shape[1]
        )


def draw_tasks(
    uint64_t high, uint64_t low, Py_ssize_t resample, Py_ssize_t part_size,
    uint16_t[:, ::1] indices, int64_t[::1] out
):
    """Task indices of one resample of out.shape[0] tasks, in the order in which they are added."""
    cdef resample_problem problem
    set_draws(&problem, high, low, out.shape[0], part_size, indices)
    with nogil:
        draw_tasks_c(&problem, resample, &indices[0, 0], &out[0])


def find_ranges(const int64_t[:, ::1] rows, int64_t[::1] lowest, int64_t[::1] highest):
    """Lower `lowest` and raise `highest`, one of each a column, to what the rows hold."""
    with nogil:
        find_ranges_c(
            active_variant(), &rows[0, 0], rows.shape[0], rows.shape[1], &lowest[0], &highest[0]
        )


def pack_rows(
    const summand[:, ::1] rows, Py_ssize_t first, Py_ssize_t count, const summand[::1] lowest,
    moment[:, ::1] table
):
    """table[i, c] = rows[i, first + c] - lowest[first + c] for c below count, else 0."""
    with nogil:
        pack_rows_c(
            active_variant(), &rows[0, 0], rows.shape[0], rows.shape[1], first, count, &lowest[0],
            &table[0, 0], table.shape[1]
        )


def sum_rows(const int64_t[::1] codes, const summand[:, :] rows, summand[:, ::1] out):
    """Add row i of rows to row codes[i] of out."""
    cdef Py_ssize_t i, m
    cdef int64_t code
    with nogil:
        for i in range(codes.shape[0]):
            code = codes[i]
            for m in range(rows.shape[1]):
                out[code, m] += rows[i, m]


cdef inline uint64_t mix(uint64_t h) noexcept nogil:
    h = (h ^ (h >> 30)) * <uint64_t> 0xBF58476D1CE4E5B9
    h = (h ^ (h >> 27)) * <uint64_t> 0x94D049BB133111EB
    return h ^ (h >> 31)


def find_types(
    const int64_t[:, :] rows, int64_t[::1] slots, int64_t[::1] first, int64_t[::1] n_of
):
    """Distinct rows: first[type] the first row of each, n_of[type] how many rows equal it.

    Returns their number, or -1 where there are more than first.shape[0]. slots is a hash table:
    all -1, its length a power of two above first.shape[0].
    """
    cdef Py_ssize_t i, m, n_types = 0, place, other
    cdef uint64_t h, mask = <uint64_t> slots.shape[0] - 1
    with nogil:
        for i in range(rows.shape[0]):
            h = 0
            for m in range(rows.shape[1]):
                h = (h + <uint64_t> rows[i, m]) * <uint64_t> 0x9E3779B97F4A7C15
                h ^= h >> 29
            place = <Py_ssize_t> (mix(h) & mask)
            while slots[place] >= 0:
                other = first[slots[place]]
                m = 0
                while m < rows.shape[1] and rows[i, m] == rows[other, m]:
                    m += 1
                if m == rows.shape[1]:
                    break
                place = (place + 1) & <Py_ssize_t> mask
            if slots[place] >= 0:
                n_of[slots[place]] += 1
                continue
            if n_types == first.shape[0]:
                n_types = -1
                break
            slots[place] = n_types
            first[n_types] = i
            n_of[n_types] = 1
            n_types += 1
    return n_types
