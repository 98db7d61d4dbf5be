"""Replacing one ballot of a plurality over any number of classes: every replacement tried.

Contract. Codes are -1 (missing, never replaced) or 0 to n_classes - 1, in votes, signal and
gold; gold may be -1 for unknown. The outcome is the class with most ballots; a tie has none
(-1) and is never correct. `counts` has n_classes entries, zero on entry and on return: scratch
of one thread.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t


cdef inline int32_t outcome_one(
    const int32_t *codes, Py_ssize_t n_judges, const int32_t *counts, int32_t extra
) noexcept nogil:
    """Class with most ballots among those of the row and `extra` (-1 for none); -1 if tied."""
    cdef Py_ssize_t j
    cdef int32_t best = -1, c, most = 0
    cdef bint tied = False
    for j in range(n_judges + 1):
        c = codes[j] if j < n_judges else extra
        if c < 0 or c == best:
            continue
        if counts[c] > most:
            best, most, tied = c, counts[c], False
        elif counts[c] == most and most > 0:
            tied = True
    return -1 if tied else best


cdef inline int32_t moved_one(
    const int32_t *codes, Py_ssize_t n_judges, int32_t *counts, int32_t old, int32_t new
) noexcept nogil:
    """Outcome once a ballot has gone from class `old` to class `new`."""
    cdef int32_t outcome
    counts[old] -= 1
    counts[new] += 1
    outcome = outcome_one(codes, n_judges, counts, new)
    counts[old] += 1
    counts[new] -= 1
    return outcome


def replacement_rows(
    const int32_t[:, ::1] codes,
    const int32_t[::1] signal,
    const int32_t[::1] gold,
    int32_t[::1] counts,
    int32_t[::1] outcome,
    int32_t[::1] lead,
    uint8_t[:, ::1] correct_after,
    Py_ssize_t start,
    Py_ssize_t stop,
):
    """Outcome, lead over the runner-up; and whether the outcome is right once ballot j is
    replaced by the signal (as it stands, if the ballot or the signal is missing)."""
    cdef Py_ssize_t i, j, n_judges = codes.shape[1]
    cdef const int32_t *row
    cdef int32_t *scratch = &counts[0]
    cdef int32_t now, after, first, second
    with nogil:
        for i in range(start, stop):
            row = &codes[i, 0]
            for j in range(n_judges):
                if row[j] >= 0:
                    scratch[row[j]] += 1
            now = outcome_one(row, n_judges, scratch, -1)
            outcome[i] = now
            for j in range(n_judges):
                after = now
                if row[j] >= 0 and signal[i] >= 0:
                    after = moved_one(row, n_judges, scratch, row[j], signal[i])
                correct_after[i, j] = after >= 0 and after == gold[i]
            first, second = 0, 0
            for j in range(n_judges):
                if row[j] >= 0:
                    if row[j] == now:
                        first = scratch[row[j]]
                    elif scratch[row[j]] > second:
                        second = scratch[row[j]]
            lead[i] = first - second if now >= 0 else 0
            for j in range(n_judges):
                if row[j] >= 0:
                    scratch[row[j]] = 0
