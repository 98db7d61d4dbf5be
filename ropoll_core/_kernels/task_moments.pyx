"""Integer moments of ballots, summed by task: what a task-level bootstrap needs.

Any statistic that is a function of these sums costs a resample no more than adding up the rows
of the tasks drawn.

Contract: as in substitution.pyx; `codes` are task numbers in range. A query is scored if it has a
label and a valid ballot; others add nothing. Every sum is an integer. Candidates are the judges
and, where `signal` is given, the signal; a candidate errs where its ballot is not the label.
"""

from libc.stdint cimport int8_t, int32_t, int64_t

from ropoll_core._kernels.ballots cimport RowCount, count_row
from ropoll_core._kernels.substitution cimport UNIFORM, can_flip, flips_of

OUTCOMES = (
    "n", "n_pivotal", "gain", "panel_correct", "n_signal", "signal_correct",
    "n_pivotal_signal", "pivotal_signal_correct",
)


def outcome_rows(
    const int8_t[:, ::1] votes,
    const int8_t[:] signal,
    const int8_t[:] labels,
    const int64_t[:] codes,
    int64_t rule,
    const int64_t[::1] shares,
    int64_t[:, ::1] out,
):
    """Add every query to out[task, :], in the order of OUTCOMES.

    `shares[n_valid]` is unit / n_valid under the uniform rule, where the gain counts in 1/unit;
    under the others it counts in ones.
    """
    cdef Py_ssize_t i, n_judges = votes.shape[1]
    cdef const int8_t *first
    cdef const int8_t *end
    cdef const int8_t *row
    cdef RowCount c
    cdef int64_t *to
    cdef int64_t gain
    cdef bint pivotal, agrees
    if votes.shape[0] == 0:
        return
    first = &votes[0, 0]
    end = first + votes.shape[0] * n_judges
    with nogil:
        for i in range(votes.shape[0]):
            row = first + i * n_judges
            c = count_row(row, n_judges, end)
            if labels[i] < 0 or c.valid == 0:
                continue
            to = &out[codes[i], 0]
            pivotal = c.ones == c.valid // 2 or c.ones == c.valid // 2 + 1
            to[0] += 1
            to[1] += pivotal
            to[3] += (2 * c.ones > c.valid) == labels[i]
            if signal[i] < 0:
                continue
            agrees = signal[i] == labels[i]
            to[4] += 1
            to[5] += agrees
            to[6] += pivotal
            to[7] += pivotal and agrees
            if can_flip(c.ones, c.valid, signal[i]):
                gain = flips_of(rule, c.ones, c.valid, signal[i], row[rule] if rule >= 0 else 0)
                if rule == UNIFORM:
                    gain *= shares[c.valid]
                to[2] += gain if agrees else -gain


def survey_rows(
    const int8_t[:, ::1] votes,
    const int8_t[:] signal,
    const int8_t[:] labels,
    int64_t[::1] n_of_size,
):
    """Count the scored queries by their number of valid ballots.

    Reads every byte of votes. Returns the first row where one is no ballot, or -1, and how many
    scored queries have no signal.
    """
    cdef Py_ssize_t i, n_judges = votes.shape[1]
    cdef int64_t n_abstained = 0
    cdef const int8_t *first
    cdef RowCount c
    if votes.shape[0] == 0:
        return -1, 0
    first = &votes[0, 0]
    with nogil:
        for i in range(votes.shape[0]):
            c = count_row(first + i * n_judges, n_judges, first + votes.shape[0] * n_judges)
            if not c.ok:
                break
            if labels[i] >= 0 and c.valid > 0:
                n_of_size[c.valid] += 1
                n_abstained += signal[i] < 0
        else:
            i = -1
    return i, n_abstained


def error_rows(
    const int8_t[:, ::1] votes,
    const int8_t[:] signal,
    const int8_t[:] labels,
    const int64_t[:] codes,
    int64_t[:, ::1] single,
    int64_t[:, ::1] both,
    int32_t[::1] wrong,
):
    """Errors of each candidate, and of each pair i < j in row-major order, by task.

    For queries that every candidate answered, or none of the judges. `wrong` is scratch, one
    more than there are candidates: those that err are listed first, without branches.
    """
    cdef Py_ssize_t i, a, b, n, first, n_judges = votes.shape[1], k = wrong.shape[0] - 1
    cdef int32_t j
    cdef int64_t task
    with nogil:
        for i in range(votes.shape[0]):
            if labels[i] < 0 or votes[i, 0] < 0:
                continue
            n = 0
            for j in range(<int32_t> k):
                wrong[n] = j
                n += (votes[i, j] if j < n_judges else signal[i]) != labels[i]
            task = codes[i]
            for a in range(n):
                single[task, wrong[a]] += 1
                first = wrong[a] * (2 * k - wrong[a] - 1) // 2 - wrong[a] - 1
                for b in range(a + 1, n):
                    both[task, first + wrong[b]] += 1


cdef inline bint load_errors(
    const int8_t *row, Py_ssize_t n_judges, int8_t signal, int8_t label, int8_t[::1] errors
) noexcept nogil:
    """1 where a candidate errs, 0 where not, -1 where it is silent; whether any judge voted."""
    cdef Py_ssize_t j
    cdef bint voted = False
    for j in range(n_judges):
        errors[j] = (row[j] != label) | -(row[j] < 0)
        voted |= row[j] >= 0
    if errors.shape[0] > n_judges:
        errors[n_judges] = (signal != label) | -(signal < 0)
    return voted


def pair_rows(
    const int8_t[:, ::1] votes,
    const int8_t[:] signal,
    const int8_t[:] labels,
    const int64_t[:] codes,
    int64_t[:, :, ::1] out,
    int8_t[::1] errors,
):
    """With gaps: n, E_i, E_j, E_ij of each pair where both answered, by task."""
    cdef Py_ssize_t i, a, b, p, k = errors.shape[0]
    cdef int64_t task
    with nogil:
        for i in range(votes.shape[0]):
            if labels[i] < 0 or not load_errors(
                &votes[i, 0], votes.shape[1], signal[i], labels[i], errors
            ):
                continue
            task, p = codes[i], 0
            for a in range(k):
                for b in range(a + 1, k):
                    if errors[a] >= 0 and errors[b] >= 0:
                        out[task, 0, p] += 1
                        out[task, 1, p] += errors[a]
                        out[task, 2, p] += errors[b]
                        out[task, 3, p] += errors[a] & errors[b]
                    p += 1
