# Counter-based random numbers for other kernels: see include/counter_rng.h.
from libc.stdint cimport uint64_t

cdef extern from "counter_rng.h" nogil:
    ctypedef struct counter_key:
        uint64_t high
        uint64_t low
    ctypedef struct counter_block:
        uint64_t first
        uint64_t second
    counter_block counter_draw(counter_key key, uint64_t stream, uint64_t index) noexcept
    counter_key counter_subkey(counter_key key, uint64_t part) noexcept
    uint64_t word_draw(counter_key key, uint64_t stream, uint64_t position) noexcept
    uint64_t bounded_draw(counter_key key, uint64_t stream, uint64_t index, uint64_t n) noexcept
    double uniform_from_bits(uint64_t bits) noexcept
    double open_uniform_from_bits(uint64_t bits) noexcept
    double normal_from_bits(uint64_t bits) noexcept
    double normal_quantile(double p) noexcept
    double cauchy_from_block(counter_block block) noexcept
    double exact_log(double x) noexcept


cdef inline counter_key make_key(uint64_t high, uint64_t low) noexcept nogil:
    cdef counter_key key
    key.high = high
    key.low = low
    return key
