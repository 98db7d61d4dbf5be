"""Fill arrays from the counter-based streams of counter_rng.h.

Contract: a key is the pair of 64-bit integers that ``_rng.as_key`` returns. Element i of `out`
is element ``start + i`` of stream `stream`, whatever the length of `out`, so a stream may be
filled in any pieces. Uniforms, open uniforms and normals use one 64-bit word an element;
Cauchys and bounded integers one block of two words, so element i of those shares its bits with
elements 2i and 2i + 1 of the others: give each use its own stream or key.
"""

from libc.stdint cimport int64_t, uint64_t

cdef extern from "binomial.h" nogil:
    ctypedef struct uniform_pairs:
        counter_key key
        uint64_t stream
        uint64_t index
    int64_t binomial_draw(
        uniform_pairs *source, int64_t n, int64_t part, int64_t whole
    ) noexcept


def fill_bits(uint64_t high, uint64_t low, uint64_t stream, uint64_t start, uint64_t[::1] out):
    """64 uniform bits an element."""
    cdef counter_key key = make_key(high, low)
    cdef Py_ssize_t i
    with nogil:
        for i in range(out.shape[0]):
            out[i] = word_draw(key, stream, start + <uint64_t> i)


def fill_uniform(uint64_t high, uint64_t low, uint64_t stream, uint64_t start, double[::1] out):
    """Uniform in [0, 1)."""
    cdef counter_key key = make_key(high, low)
    cdef Py_ssize_t i
    with nogil:
        for i in range(out.shape[0]):
            out[i] = uniform_from_bits(word_draw(key, stream, start + <uint64_t> i))


def fill_normal(uint64_t high, uint64_t low, uint64_t stream, uint64_t start, double[::1] out):
    """Standard normal."""
    cdef counter_key key = make_key(high, low)
    cdef Py_ssize_t i
    with nogil:
        for i in range(out.shape[0]):
            out[i] = normal_from_bits(word_draw(key, stream, start + <uint64_t> i))


def fill_cauchy(uint64_t high, uint64_t low, uint64_t stream, uint64_t start, double[::1] out):
    """Standard Cauchy."""
    cdef counter_key key = make_key(high, low)
    cdef Py_ssize_t i
    with nogil:
        for i in range(out.shape[0]):
            out[i] = cauchy_from_block(counter_draw(key, stream, start + <uint64_t> i))


def fill_bounded(
    uint64_t high, uint64_t low, uint64_t stream, uint64_t start, uint64_t n, int64_t[::1] out
):
    """Uniform integers in [0, n), 1 <= n < 2^63."""
    cdef counter_key key = make_key(high, low)
    cdef Py_ssize_t i
    with nogil:
        for i in range(out.shape[0]):
            out[i] = <int64_t> bounded_draw(key, stream, start + <uint64_t> i, n)


def fill_binomial(
    uint64_t high, uint64_t low, uint64_t stream, int64_t n, int64_t part, int64_t whole,
    int64_t[::1] out
):
    """Successes in n trials of probability part / whole, 0 <= part <= whole, 1 <= whole.

    Element i uses the blocks from i << 32 of the stream.
    """
    cdef counter_key key = make_key(high, low)
    cdef uniform_pairs source
    cdef Py_ssize_t i
    with nogil:
        for i in range(out.shape[0]):
            source.key = key
            source.stream = stream
            source.index = <uint64_t> i << 32
            out[i] = binomial_draw(&source, n, part, whole)


def subkey(uint64_t high, uint64_t low, uint64_t part):
    """Key of part `part` of the work, as a pair of integers."""
    cdef counter_key child = counter_subkey(make_key(high, low), part)
    return child.high, child.low


def quantile_rows(const double[::1] p, double[::1] out):
    """Standard normal quantiles at p in (0, 1)."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(out.shape[0]):
            out[i] = normal_quantile(p[i])


def log_rows(const double[::1] x, double[::1] out):
    """Natural logarithms of normal positive numbers."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(out.shape[0]):
            out[i] = exact_log(x[i])
