"""Calls of compiled user statistics by address, without the GIL.

Contract: an address is that of a C function as `_jit.callbacks` makes them; it sets `failed` and
returns NaN where the user's function raised. Rows are grouped by task: task t has the rows
starts[t] .. starts[t + 1] - 1.
"""

from libc.stdint cimport int64_t, uint16_t, uint64_t
from libc.string cimport memcpy

from ropoll_core._kernels.counter_rng cimport make_key
from ropoll_core._kernels.resample cimport draw_tasks_c, resample_problem

ctypedef double (*totals_function)(double *totals, int64_t n, int64_t *failed) noexcept nogil
ctypedef double (*rows_function)(
    double *rows, int64_t n_rows, int64_t n_columns, int64_t *failed
) noexcept nogil


def map_totals(size_t address, const double[:, :] totals, double[::1] column, double[::1] out):
    """out[c] = f(totals[:, c]). Returns the first column on which it failed, or -1."""
    cdef totals_function function = <totals_function> address
    cdef Py_ssize_t c, m, failed_at = -1
    cdef int64_t failed = 0
    with nogil:
        for c in range(out.shape[0]):
            for m in range(totals.shape[0]):
                column[m] = totals[m, c]
            out[c] = function(&column[0], totals.shape[0], &failed)
            if failed:
                failed_at = c
                break
    return failed_at


def call_rows(size_t address, double[:, ::1] rows):
    """f(rows), and whether it failed."""
    cdef rows_function function = <rows_function> address
    cdef int64_t failed = 0
    cdef double value
    with nogil:
        value = function(&rows[0, 0], rows.shape[0], rows.shape[1], &failed)
    return value, failed != 0


def map_resamples(
    size_t address, uint64_t high, uint64_t low, const double[:, ::1] rows,
    const int64_t[::1] starts, Py_ssize_t part_size, Py_ssize_t start, Py_ssize_t stop,
    uint16_t[:, ::1] indices, int64_t[::1] drawn,
    double[:, ::1] copy, double[::1] out
):
    """out[r] = f(rows of resample r) for r from start to stop - 1.

    Returns (stop, 0), or (r, -1) where it failed on resample r, or (r, n) where resample r has
    n rows and `copy` has room for fewer.
    """
    cdef rows_function function = <rows_function> address
    cdef resample_problem problem
    cdef Py_ssize_t r = start, t, filled, size, needed, n_tasks = drawn.shape[0]
    cdef Py_ssize_t width = rows.shape[1]
    cdef int64_t failed = 0
    problem.key = make_key(high, low)
    problem.n_tasks = n_tasks
    problem.part_size = part_size
    problem.n_parts = (n_tasks + part_size - 1) // part_size
    problem.piece = indices.shape[1]
    needed = 0
    with nogil:
        while r < stop:
            draw_tasks_c(&problem, r, &indices[0, 0], &drawn[0])
            needed = 0
            for t in range(n_tasks):
                needed += starts[drawn[t] + 1] - starts[drawn[t]]
            if needed > copy.shape[0]:
                break
            filled = 0
            for t in range(n_tasks):
                size = starts[drawn[t] + 1] - starts[drawn[t]]
                memcpy(
                    &copy[filled, 0], &rows[starts[drawn[t]], 0],
                    <size_t> (size * width) * sizeof(double)
                )
                filled += size
            out[r] = function(&copy[0, 0], filled, width, &failed)
            if failed:
                break
            r += 1
    if r == stop:
        return stop, 0
    return r, -1 if failed else needed
