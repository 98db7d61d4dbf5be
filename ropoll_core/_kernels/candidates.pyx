"""The candidate that most panel members support.

Contract: codes are -1 (missing) or classes shared by pool and panel; -1 in the panel also
stands for an answer that no candidate of any query has. A row without a candidate gets -1 and
support 0. O(n_candidates (n_candidates + n_members)) a row.
"""

from libc.stdint cimport int32_t


cdef inline int32_t occurrences(
    const int32_t* codes, Py_ssize_t n_codes, int32_t code
) noexcept nogil:
    cdef Py_ssize_t i
    cdef int32_t found = 0
    for i in range(n_codes):
        found += codes[i] == code
    return found


cdef inline void select_one(
    const int32_t* pool, Py_ssize_t n_candidates, const int32_t* panel, Py_ssize_t n_members,
    int32_t* index, int32_t* support, int32_t* most_frequent,
) noexcept nogil:
    cdef Py_ssize_t i
    cdef int32_t votes, copies, best_copies = 0, most_copies = 0
    index[0] = -1
    support[0] = 0
    most_frequent[0] = -1
    for i in range(n_candidates):
        if pool[i] < 0:
            continue
        votes = occurrences(panel, n_members, pool[i])
        copies = occurrences(pool, n_candidates, pool[i])
        if index[0] < 0 or votes > support[0] or (votes == support[0] and copies > best_copies):
            index[0] = <int32_t> i
            support[0] = votes
            best_copies = copies
        if copies > most_copies:
            most_frequent[0] = <int32_t> i
            most_copies = copies


def select_rows(
    const int32_t[:, ::1] pool, const int32_t[:, ::1] panel,
    int32_t[::1] index, int32_t[::1] support, int32_t[::1] most_frequent,
    Py_ssize_t start, Py_ssize_t stop,
):
    """Best supported candidate, its support, and the most frequent candidate of each row."""
    cdef Py_ssize_t n_candidates = pool.shape[1], n_members = panel.shape[1], q
    with nogil:
        for q in range(start, stop):
            select_one(
                &pool[q, 0], n_candidates, &panel[q, 0], n_members,
                &index[q], &support[q], &most_frequent[q],
            )
