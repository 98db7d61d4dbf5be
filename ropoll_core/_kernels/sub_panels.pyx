"""Sub-panels: sums over the queries for every panel that a list of judges makes.

In a panel of `size` judges a query falls in the cell
    (n_valid (size + 1) + ones) n_sides + side
where its side is (signal + 1) 3 + label + 1, and 9 (vote + 1) more if the rule is a judge who
votes so. What a query adds to any sum depends on its cell alone, and `outcomes` says what: a
query with a ballot and a label, whether it is pivotal, its gain (counted in 1/n_valid under
UNIFORM, else in ones), and whether the panel is right. A panel costs no more than adding up a
few columns, many rows to an instruction, and one step a row.

Contract: as in substitution.pyx. `panels` holds judge numbers, one panel a row; columns and sides
come from `panel_columns`; `block` is scratch of one thread, not empty, and rows are taken that
many at a time. Work is cut by panel, so one thread finishes each.
"""

from libc.stdint cimport int8_t, int32_t, int64_t

from ropoll_core._kernels.substitution cimport UNIFORM, can_flip, flips_of


def count_sides(int64_t rule):
    """How many sides there are under the rule."""
    return 27 if rule >= 0 else 9


def outcome_table(int64_t rule, int64_t size, int64_t[:, ::1] out):
    """Fill (n_cells, 4): query, pivotal, gain, right. Cells that no query has are 0."""
    cdef int64_t k, s, side, n_sides = count_sides(rule)
    cdef int64_t gain
    cdef int8_t signal, label, vote
    cdef int64_t *to
    out[:, :] = 0
    for k in range(1, size + 1):
        for s in range(k + 1):
            for side in range(n_sides):
                vote, signal, label = side // 9 - 1, side // 3 % 3 - 1, side % 3 - 1
                if label < 0:
                    continue
                to = &out[(k * (size + 1) + s) * n_sides + side, 0]
                to[0] = 1
                to[1] = s == k // 2 or s == k // 2 + 1
                to[3] = (2 * s > k) == label
                if can_flip(s, k, signal):
                    gain = flips_of(rule, s, k, signal, vote)
                    to[2] = gain if signal == label else -gain


def panel_columns(
    const int8_t[:, ::1] votes,
    const int8_t[:] signal,
    const int8_t[:] labels,
    int64_t rule,
    int64_t size,
    int32_t[:, ::1] columns,
    int32_t[::1] sides,
):
    """What each ballot adds to the number of a cell, (n_judges, n_rows), and the sides."""
    cdef Py_ssize_t i, j, n_judges = votes.shape[1]
    cdef int32_t n_sides = count_sides(rule)
    cdef int32_t valid = n_sides * <int32_t> (size + 1)
    cdef int8_t vote
    with nogil:
        for i in range(votes.shape[0]):
            sides[i] = (signal[i] + 1) * 3 + labels[i] + 1
            if rule >= 0:
                sides[i] += 9 * (votes[i, rule] + 1)
            for j in range(n_judges):
                vote = votes[i, j]
                columns[j, i] = (vote >= 0) * valid + (vote == 1) * n_sides


cdef inline void find_cells(
    const int32_t[:, ::1] columns, const int32_t[::1] sides, const int32_t[::1] panel,
    Py_ssize_t first, Py_ssize_t n, int32_t *cells
) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef const int32_t *column = &sides[first]
    for i in range(n):
        cells[i] = column[i]
    for j in range(panel.shape[0]):
        column = &columns[panel[j], first]
        for i in range(n):
            cells[i] += column[i]


def stratum_rows(
    const int32_t[:, ::1] columns,
    const int32_t[::1] sides,
    const int64_t[:] counts,
    const int32_t[:, ::1] panels,
    int64_t rule,
    const int64_t[:, ::1] outcomes,
    int64_t[:, :, ::1] out,
    double[:, ::1] gain,
    Py_ssize_t start,
    Py_ssize_t stop,
    int32_t[::1] block,
    int64_t[::1] n_in,
    int64_t[::1] gains,
):
    """out[panel, 0 or 1, slot] counts queries and errors, gain[panel, slot] sums the gain.

    slot = stratum + size of the panel. `n_in` and `gains` are scratch too, of n_cells and
    2 size + 1; `out` and `gain` are 0 on entry.
    """
    cdef Py_ssize_t p, first, n, i, slot, size = panels.shape[1]
    cdef Py_ssize_t n_sides = n_in.shape[0] // ((size + 1) * (size + 1))
    cdef int64_t k, s, lean, cell
    with nogil:
        for p in range(start, stop):
            n_in[:] = 0
            first = 0
            while first < sides.shape[0]:
                n = min(block.shape[0], sides.shape[0] - first)
                find_cells(columns, sides, panels[p], first, n, &block[0])
                for i in range(n):
                    n_in[block[i]] += counts[first + i]
                first += n
            for k in range(1, size + 1):
                gains[:] = 0
                for s in range(k + 1):
                    lean = 2 * s - k
                    slot = size + (-lean if lean < 0 and k % 2 == 1 else lean)
                    cell = (k * (size + 1) + s) * n_sides
                    for cell in range(cell, cell + n_sides):
                        out[p, 0, slot] += n_in[cell] * outcomes[cell, 0]
                        out[p, 1, slot] += n_in[cell] * (outcomes[cell, 0] - outcomes[cell, 3])
                        gains[slot] += n_in[cell] * outcomes[cell, 2]
                for slot in range(2 * size + 1):
                    gain[p, slot] += <double> gains[slot] / (k if rule == UNIFORM else 1)


def task_rows(
    const int32_t[:, ::1] columns,
    const int32_t[::1] sides,
    const int64_t[:] codes,
    const int32_t[:, ::1] panels,
    const int64_t[:, ::1] outcomes,
    int64_t[:, :, ::1] out,
    Py_ssize_t start,
    Py_ssize_t stop,
    int32_t[::1] block,
):
    """Add the outcomes of each query to out[panel, task]."""
    cdef Py_ssize_t p, first, n, i
    cdef const int64_t *of
    cdef int64_t *to
    with nogil:
        for p in range(start, stop):
            first = 0
            while first < sides.shape[0]:
                n = min(block.shape[0], sides.shape[0] - first)
                find_cells(columns, sides, panels[p], first, n, &block[0])
                for i in range(n):
                    of = &outcomes[block[i], 0]
                    to = &out[p, codes[first + i], 0]
                    to[0] += of[0]
                    to[1] += of[1]
                    to[2] += of[2]
                    to[3] += of[3]
                first += n
