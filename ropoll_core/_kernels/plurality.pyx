"""Plurality over coded answers.

Contract
--------
* ``codes`` are -1 (missing) or 0 to n_classes - 1; ``counts`` has n_classes entries, zero on
  entry and on return: scratch of one thread.
* A row with no valid answer gets judge -1 and zeros. Where a tie leaves no single answer
  (policy NO_CHOICE) the judge is -1 too, and n_tied tells the two apart.
* ``gold`` codes: below 0 means that no answer of the row is correct.
"""

from libc.stdint cimport int32_t, int64_t, uint64_t

from ropoll_core._kernels.counter_rng cimport bounded_draw, counter_key, make_key

cdef extern from "plurality.h":
    enum:
        PLURALITY_LANES
        PLURALITY_MOST
    void plurality_block(
        const int32_t* codes, int rows, int n_judges, int32_t* judge,
        int32_t* count, int32_t* n_valid, int32_t* n_tied
    ) noexcept nogil

cdef enum:
    FIRST = 0
    FREQUENCY = 1
    RANDOM = 2
    NO_CHOICE = 3


cdef inline void count_one(
    const int32_t* codes, Py_ssize_t n_judges, int32_t* counts,
    int32_t* count, int32_t* n_valid, int32_t* n_tied,
) noexcept nogil:
    """Size of the modal class, valid answers and number of modal classes; fills `counts`."""
    cdef Py_ssize_t j
    cdef int32_t now, best = 0, tied = 0, valid = 0
    for j in range(n_judges):
        if codes[j] < 0:
            continue
        valid += 1
        counts[codes[j]] += 1
        now = counts[codes[j]]
        if now > best:
            best = now
            tied = 1
        elif now == best:
            tied += 1
    count[0] = best
    n_valid[0] = valid
    n_tied[0] = tied


cdef inline void clear_one(
    const int32_t* codes, Py_ssize_t n_judges, int32_t* counts
) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(n_judges):
        if codes[j] >= 0:
            counts[codes[j]] = 0


cdef inline Py_ssize_t nth_modal(
    const int32_t* codes, Py_ssize_t n_judges, int32_t* counts, int32_t best, int32_t nth
) noexcept nogil:
    """First judge of the nth modal class in the order of the judges; spoils `counts`."""
    cdef Py_ssize_t j
    for j in range(n_judges):
        if codes[j] >= 0 and counts[codes[j]] == best:
            if nth == 0:
                return j
            nth -= 1
            counts[codes[j]] = 0
    return -1


cdef inline Py_ssize_t most_frequent_modal(
    const int32_t* codes, Py_ssize_t n_judges, const int32_t* counts, int32_t best,
    const int64_t* frequency,
) noexcept nogil:
    """First judge whose modal class is the most frequent of the modal ones."""
    cdef Py_ssize_t j, chosen = -1
    for j in range(n_judges):
        if codes[j] >= 0 and counts[codes[j]] == best:
            if chosen < 0 or frequency[codes[j]] > frequency[codes[chosen]]:
                chosen = j
    return chosen


cdef inline void rank_wrong_one(
    const int32_t* codes, Py_ssize_t n_judges, int32_t gold, int32_t* counts,
    int32_t* slots, Py_ssize_t n_slots,
) noexcept nogil:
    """Sizes of the wrong classes, largest first, the n_slots largest; spoils `counts`."""
    cdef Py_ssize_t j, slot
    cdef int32_t size, other
    for slot in range(n_slots):
        slots[slot] = 0
    for j in range(n_judges):
        if codes[j] < 0 or codes[j] == gold:
            continue
        size = counts[codes[j]]
        counts[codes[j]] = 0
        slot = 0
        while size > 0 and slot < n_slots:
            if size > slots[slot]:
                other = slots[slot]
                slots[slot] = size
                size = other
            slot += 1


cdef inline int32_t settle_one(
    const int32_t* codes, Py_ssize_t n_judges, int policy, const int64_t* frequency,
    counter_key key, Py_ssize_t row, int32_t* counts,
) noexcept nogil:
    """The judge that a policy other than FIRST takes from a tied row; -1 for NO_CHOICE."""
    cdef int32_t count, n_valid, n_tied, nth
    cdef Py_ssize_t judge
    if policy == NO_CHOICE:
        return -1
    count_one(codes, n_judges, counts, &count, &n_valid, &n_tied)
    if policy == FREQUENCY:
        judge = most_frequent_modal(codes, n_judges, counts, count, frequency)
    else:
        nth = <int32_t> bounded_draw(key, 0, <uint64_t> row, <uint64_t> n_tied)
        judge = nth_modal(codes, n_judges, counts, count, nth)
    clear_one(codes, n_judges, counts)
    return <int32_t> judge


def plurality_rows(
    const int32_t[:, ::1] codes, int policy, const int64_t[::1] frequency,
    uint64_t key_high, uint64_t key_low, int32_t[::1] counts,
    int32_t[::1] judge, int32_t[::1] count, int32_t[::1] n_valid, int32_t[::1] n_tied,
    Py_ssize_t start, Py_ssize_t stop,
):
    """First judge of the chosen modal class, its size, valid answers, modal classes of each row.

    `frequency` (n_classes,) is read under FREQUENCY only. RANDOM draws one number for a tied
    row, a function of the key and the row's index.
    """
    cdef Py_ssize_t n_judges = codes.shape[1], q, rows
    cdef const int32_t* row
    cdef int32_t* scratch
    cdef const int64_t* weight
    cdef counter_key key = make_key(key_high, key_low)
    if stop <= start:
        return
    scratch = &counts[0]
    weight = &frequency[0]
    with nogil:
        if n_judges <= PLURALITY_MOST:
            q = start
            while q < stop:
                rows = min(stop - q, <Py_ssize_t> PLURALITY_LANES)
                plurality_block(
                    &codes[q, 0], <int> rows, <int> n_judges,
                    &judge[q], &count[q], &n_valid[q], &n_tied[q],
                )
                q += rows
        else:
            for q in range(start, stop):
                row = &codes[q, 0]
                count_one(row, n_judges, scratch, &count[q], &n_valid[q], &n_tied[q])
                judge[q] = -1
                if count[q] > 0:
                    judge[q] = <int32_t> nth_modal(row, n_judges, scratch, count[q], 0)
                clear_one(row, n_judges, scratch)
        if policy != FIRST:
            for q in range(start, stop):
                if n_tied[q] > 1:
                    judge[q] = settle_one(
                        &codes[q, 0], n_judges, policy, weight, key, q, scratch
                    )


def take_rows(
    const int32_t[:, ::1] codes, const int32_t[::1] judge, int32_t[::1] out,
    Py_ssize_t start, Py_ssize_t stop,
):
    """out[q] = codes[q, judge[q]], -1 where judge is -1."""
    cdef Py_ssize_t q
    with nogil:
        for q in range(start, stop):
            out[q] = codes[q, judge[q]] if judge[q] >= 0 else -1


def grade_rows(
    const int32_t[:, ::1] codes, const int32_t[::1] gold, int32_t[::1] counts,
    int32_t[::1] count, int32_t[::1] n_valid, int32_t[::1] n_tied, int32_t[::1] n_correct,
    int32_t[:, ::1] slots, Py_ssize_t start, Py_ssize_t stop,
):
    """Modal class, correct answers and the sizes of the wrong classes, largest first."""
    cdef Py_ssize_t n_judges = codes.shape[1], n_slots = slots.shape[1], q
    cdef const int32_t* row
    cdef int32_t* scratch
    if stop <= start:
        return
    scratch = &counts[0]
    with nogil:
        for q in range(start, stop):
            row = &codes[q, 0]
            count_one(row, n_judges, scratch, &count[q], &n_valid[q], &n_tied[q])
            n_correct[q] = scratch[gold[q]] if gold[q] >= 0 else 0
            if n_slots > 0:
                rank_wrong_one(row, n_judges, gold[q], scratch, &slots[q, 0], n_slots)
            clear_one(row, n_judges, scratch)
