"""Poisson bootstrap: weights keyed by task, so that shards add up; and random permutations.

Contract: hashes name tasks; the weight of a task in a resample is Poisson(1), to 2^-32, a pure
function of (key, resample, hash). Totals are double: exact for integers up to 2^53.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from ropoll_core._kernels.counter_rng cimport (
    bounded_draw,
    counter_block,
    counter_draw,
    counter_key,
    make_key,
)

# P(weight <= k) of Poisson(1) as 32-bit words: the weight is how many of them a word reaches.
cdef uint32_t[13] THRESHOLDS
cdef double EXP = 0.36787944117144233
cdef double _term = EXP, _sum = 0.0
cdef int _k
for _k in range(13):
    _sum += _term
    THRESHOLDS[_k] = <uint32_t> (_sum * 4294967296.0 if _sum < 1.0 - 1e-10 else 4294967295.0)
    _term /= _k + 1


cdef inline int weight_of(uint32_t word) noexcept nogil:
    cdef int weight = 0
    while weight < 12 and word >= THRESHOLDS[weight]:
        weight += 1
    return weight


cdef inline uint32_t word_of(counter_block block, int64_t resample) noexcept nogil:
    cdef uint64_t half = block.second if resample & 2 else block.first
    return <uint32_t> (half >> 32) if resample & 1 else <uint32_t> half


def add_totals(
    uint64_t high, uint64_t low, const uint64_t[::1] hashes, const double[:, ::1] moments,
    Py_ssize_t start, Py_ssize_t stop, double[:, ::1] totals
):
    """Add weight x moments of every task to the totals of resamples start .. stop - 1.

    totals is (n_resamples, n_moments); start is a multiple of 4.
    """
    cdef counter_key key = make_key(high, low)
    cdef counter_block block
    cdef Py_ssize_t t, r, m
    cdef int weight
    cdef double factor
    with nogil:
        for t in range(hashes.shape[0]):
            for r in range(start, stop):
                if r & 3 == 0:
                    block = counter_draw(key, hashes[t], <uint64_t> r >> 2)
                weight = weight_of(word_of(block, r))
                if weight == 0:
                    continue
                factor = <double> weight
                for m in range(moments.shape[1]):
                    totals[r, m] += factor * moments[t, m]


def permute(
    uint64_t high, uint64_t low, Py_ssize_t number, const int64_t[::1] order,
    const int64_t[::1] starts, int64_t[::1] out
):
    """Permutation `number` within groups: group g is order[starts[g]:starts[g + 1]].

    out[order[i]] is the row that takes the place of row order[i] (Fisher and Yates).
    """
    cdef counter_key key = make_key(high, low)
    cdef Py_ssize_t g, i, j, first, size
    cdef int64_t held
    with nogil:
        for i in range(order.shape[0]):
            out[order[i]] = order[i]
        for g in range(starts.shape[0] - 1):
            first = starts[g]
            size = starts[g + 1] - first
            for i in range(size - 1, 0, -1):
                j = <Py_ssize_t> bounded_draw(
                    key, <uint64_t> number, <uint64_t> (first + i), <uint64_t> (i + 1)
                )
                held = out[order[first + i]]
                out[order[first + i]] = out[order[first + j]]
                out[order[first + j]] = held
