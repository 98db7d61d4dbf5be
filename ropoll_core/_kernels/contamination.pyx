"""Simulated juries, corrupted panels and their errors, over ranges of items.

Contract. NaN in scores is a missing judge: it is copied and stays missing when corrupted, in
all its attributes. NaN in truth gives NaN. No item: nothing is written. Shapes, ranges and
index limits (MOST_*) are the caller's to check. Panels lie replicate by replicate, the items
of the range in order within each.
"""

from libc.math cimport NAN, isnan
from libc.stdint cimport int64_t, uint8_t, uint64_t

from ropoll_core._kernels.counter_rng cimport (
    counter_block, counter_key, make_key, normal_from_bits, open_uniform_from_bits,
    uniform_from_bits
)

cdef extern from "contamination.h" nogil:
    enum:
        CELL_ATTRIBUTE_BITS
        CELL_JUDGE_BITS
        CELL_PURPOSE_BITS
        DRAW_TRUTH
        DRAW_SHARED_ERROR
        DRAW_OWN_ERROR
        DRAW_FAILURE
        DRAW_MEMBER
        DRAW_CORRUPTED
        DRAW_VALUE
        CORRUPT_NONE
        CORRUPT_ZEROS
        CORRUPT_INVERTED
        CORRUPT_BIMODAL
        CORRUPT_CAUCHY_FAR
        CORRUPT_SYCOPHANTIC
        CORRUPT_NOISY_TRUTH
    counter_block cell_draw(
        counter_key, uint64_t, int, uint64_t, uint64_t, uint64_t
    ) noexcept
    double corrupted_score(
        int, double, double, double, counter_key, uint64_t, uint64_t, uint64_t, uint64_t
    ) noexcept

KINDS = {
    "zeros": CORRUPT_ZEROS,
    "inverted": CORRUPT_INVERTED,
    "bimodal-random": CORRUPT_BIMODAL,
    "cauchy-far": CORRUPT_CAUCHY_FAR,
    "sycophantic": CORRUPT_SYCOPHANTIC,
    "noisy-gt": CORRUPT_NOISY_TRUTH,
}
NO_KIND = CORRUPT_NONE
MOST_JUDGES = (1 << CELL_JUDGE_BITS) - 1
MOST_ATTRIBUTES = 1 << CELL_ATTRIBUTE_BITS
MOST_STREAMS = (1 << CELL_PURPOSE_BITS) - DRAW_VALUE
# Colluding judges draw their values as this one judge, whose index no real judge has.
cdef uint64_t RINGLEADER = (1 << CELL_JUDGE_BITS) - 1


cdef class Source:
    """What panels are drawn from: truth, clean scores, and how judges are corrupted.

    truth (n_items, d), scores (n_items, J, d), rates (J,), key as two integers, scale.
    """

    cdef const double[:, ::1] truth
    cdef const double[:, :, ::1] scores
    cdef const double[::1] rates
    cdef counter_key key
    cdef double low, high
    cdef bint colluding

    def __init__(self, truth, scores, rates, key, scale, colluding):
        self.truth, self.scores, self.rates = truth, scores, rates
        self.key = make_key(key[0], key[1])
        self.low, self.high = scale
        self.colluding = colluding


cdef inline bint is_member(
    counter_key key, uint64_t replicate, uint64_t item, Py_ssize_t judge,
    Py_ssize_t wanted, Py_ssize_t left,
) noexcept nogil:
    # Selection sampling (Knuth, TAOCP 2, 3.4.2 S): `wanted` of the `left` judges from here on.
    cdef counter_block block = cell_draw(key, replicate, DRAW_MEMBER, item, <uint64_t>judge, 0)
    return left * uniform_from_bits(block.first) < wanted


cdef inline bint write_judge(
    Source source, int kind, uint64_t replicate, Py_ssize_t item, Py_ssize_t judge, double *out
) noexcept nogil:
    """One judge's vector, corrupted or as it is; whether it was hit."""
    cdef Py_ssize_t a, n_attributes = source.truth.shape[1]
    cdef const double *clean = &source.scores[item, judge, 0]
    cdef counter_block block = cell_draw(
        source.key, replicate, DRAW_CORRUPTED, <uint64_t>item, <uint64_t>judge, 0
    )
    cdef bint hit = uniform_from_bits(block.first) < source.rates[judge]
    cdef uint64_t speaker = RINGLEADER if source.colluding else <uint64_t>judge
    if not hit or kind == CORRUPT_NONE or isnan(clean[0]):
        for a in range(n_attributes):
            out[a] = clean[a]
    else:
        for a in range(n_attributes):
            out[a] = corrupted_score(
                kind, source.truth[item, a], source.low, source.high,
                source.key, replicate, <uint64_t>item, speaker, <uint64_t>a,
            )
    return hit and not isnan(clean[0])


def corrupt_rows(
    Source source, int kind, const int64_t[::1] judges, Py_ssize_t n_drawn,
    Py_ssize_t first_replicate, Py_ssize_t n_replicates,
    Py_ssize_t start, Py_ssize_t stop, double[:, :, ::1] panels, uint8_t[:, ::1] hit,
):
    """Panels of items [start, stop) for each replicate, and which of their judges were hit.

    Members are `judges`, or `n_drawn` of all judges drawn for each panel if `judges` is empty.
    kind NO_KIND leaves the hit judges as they are, for the caller to fill.
    """
    cdef Py_ssize_t n_judges = source.scores.shape[1], n_items = stop - start
    cdef Py_ssize_t r, item, judge, place, panel
    cdef uint64_t replicate
    with nogil:
        for r in range(n_replicates):
            replicate = <uint64_t>(first_replicate + r)
            for item in range(start, stop):
                panel = r * n_items + item - start
                if judges.shape[0] > 0:
                    for place in range(judges.shape[0]):
                        hit[panel, place] = write_judge(
                            source, kind, replicate, item, judges[place], &panels[panel, place, 0]
                        )
                    continue
                place = 0
                for judge in range(n_judges):
                    if place < n_drawn and is_member(
                        source.key, replicate, <uint64_t>item, judge,
                        n_drawn - place, n_judges - judge,
                    ):
                        hit[panel, place] = write_judge(
                            source, kind, replicate, item, judge, &panels[panel, place, 0]
                        )
                        place += 1


def member_rows(
    Source source, Py_ssize_t n_drawn, Py_ssize_t first_replicate, Py_ssize_t n_replicates,
    Py_ssize_t start, Py_ssize_t stop, int64_t[:, ::1] members,
):
    """Which judges `corrupt_rows` draws when it is given none."""
    cdef Py_ssize_t n_judges = source.scores.shape[1], n_items = stop - start
    cdef Py_ssize_t r, item, judge, place
    with nogil:
        for r in range(n_replicates):
            for item in range(start, stop):
                place = 0
                for judge in range(n_judges):
                    if place < n_drawn and is_member(
                        source.key, <uint64_t>(first_replicate + r), <uint64_t>item, judge,
                        n_drawn - place, n_judges - judge,
                    ):
                        members[r * n_items + item - start, place] = judge
                        place += 1


def corrupt_cells(
    Source source, int kind, const int64_t[::1] replicates, const int64_t[::1] items,
    const int64_t[::1] judges, double[:, ::1] out,
):
    """The corrupted vectors of the cells listed."""
    cdef Py_ssize_t i, a
    cdef uint64_t speaker
    with nogil:
        for i in range(items.shape[0]):
            speaker = RINGLEADER if source.colluding else <uint64_t>judges[i]
            for a in range(source.truth.shape[1]):
                out[i, a] = corrupted_score(
                    kind, source.truth[items[i], a], source.low, source.high, source.key,
                    <uint64_t>replicates[i], <uint64_t>items[i], speaker, <uint64_t>a,
                )


def draw_cells(
    Source source, bint normal, int stream, const int64_t[::1] replicates,
    const int64_t[::1] items, const int64_t[::1] judges, double[:, ::1] out,
):
    """A standard normal, or a uniform in (0, 1), for each attribute of the cells listed."""
    cdef Py_ssize_t i, a
    cdef uint64_t speaker
    cdef counter_block block
    with nogil:
        for i in range(items.shape[0]):
            speaker = RINGLEADER if source.colluding else <uint64_t>judges[i]
            for a in range(out.shape[1]):
                block = cell_draw(
                    source.key, <uint64_t>replicates[i], DRAW_VALUE + stream,
                    <uint64_t>items[i], speaker, <uint64_t>a,
                )
                if normal:
                    out[i, a] = normal_from_bits(block.first)
                else:
                    out[i, a] = open_uniform_from_bits(block.first)


def add_squared_errors(
    const double[:, ::1] truth, const double[:, ::1] estimates, Py_ssize_t start,
    Py_ssize_t stop, double[::1] totals, int64_t[::1] counts,
):
    """Add each panel's squared error, averaged over attributes, to its item's total.

    `estimates` holds whole replicates of items [start, stop). An estimate with a NaN counts
    for nothing.
    """
    cdef Py_ssize_t n_items = stop - start, n_attributes = truth.shape[1]
    cdef Py_ssize_t panel, item, a
    cdef double error, total
    with nogil:
        for panel in range(estimates.shape[0]):
            item = start + panel % n_items
            total = 0.0
            for a in range(n_attributes):
                error = estimates[panel, a] - truth[item, a]
                total += error * error
            if not isnan(total):
                totals[item] += total / n_attributes
                counts[item] += 1


def draw_truth_rows(
    key, double low, double high, Py_ssize_t start, Py_ssize_t stop, double[:, ::1] truth
):
    """True scores uniform on [low, high]."""
    cdef counter_key own = make_key(key[0], key[1])
    cdef Py_ssize_t item, a
    with nogil:
        for item in range(start, stop):
            for a in range(truth.shape[1]):
                truth[item, a] = low + (high - low) * uniform_from_bits(
                    cell_draw(own, 0, DRAW_TRUTH, <uint64_t>item, 0, <uint64_t>a).first
                )


def simulate_rows(
    key, const double[:, ::1] truth, const double[::1] shared, const double[::1] own_part,
    const double[::1] failure_rates, Py_ssize_t start, Py_ssize_t stop, double[:, :, ::1] scores,
):
    """Scores of clean judges: truth + shared_i g + own_i e_i, g common to the judges of an item.

    A judge that fails (with its failure rate) is NaN.
    """
    cdef counter_key own = make_key(key[0], key[1])
    cdef Py_ssize_t item, judge, a
    cdef double common
    cdef counter_block block
    with nogil:
        for item in range(start, stop):
            for a in range(truth.shape[1]):
                block = cell_draw(own, 0, DRAW_SHARED_ERROR, <uint64_t>item, 0, <uint64_t>a)
                common = normal_from_bits(block.first)
                for judge in range(scores.shape[1]):
                    block = cell_draw(
                        own, 0, DRAW_OWN_ERROR, <uint64_t>item, <uint64_t>judge, <uint64_t>a
                    )
                    scores[item, judge, a] = (
                        truth[item, a] + shared[judge] * common
                        + own_part[judge] * normal_from_bits(block.first)
                    )
            for judge in range(scores.shape[1]):
                block = cell_draw(own, 0, DRAW_FAILURE, <uint64_t>item, <uint64_t>judge, 0)
                if uniform_from_bits(block.first) < failure_rates[judge]:
                    for a in range(truth.shape[1]):
                        scores[item, judge, a] = NAN
