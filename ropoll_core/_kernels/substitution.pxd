from libc.stdint cimport int8_t, int32_t, int64_t

# Rules of replacement; the number of a judge is the third.
cdef enum:
    UNIFORM = -2
    MAJORITY = -1


cdef inline bint can_flip(int32_t ones, int32_t valid, int8_t signal) noexcept nogil:
    """Whether some replacement by `signal` changes the decision; without branches."""
    cdef int32_t half = valid >> 1
    return (
        (valid > 0) & (signal >= 0) & ((ones == half) | (ones == half + 1))
        & (signal != (ones > half))
    )


cdef inline int64_t flips_of(
    int64_t rule, int32_t ones, int32_t valid, int8_t signal, int8_t vote
) noexcept nogil:
    """How many replacements that the rule may make flip a decision that can flip.

    Of `valid` under UNIFORM, of 1 under MAJORITY (all of that side do) and for a judge, whose
    ballot is `vote`.
    """
    if rule == UNIFORM:
        return valid - ones if signal else ones
    return rule == MAJORITY or vote == 1 - signal
