/* Rows of ballots, eight at a time in one 64-bit word.
 *
 * A ballot is a byte: 0, 1, or 0xFF (-1, missing). A row is n_judges bytes, rows follow each
 * other without gaps. One multiplication sums the eight low bits of a word, another gathers
 * them into eight neighbouring bits, so neither needs a SIMD variant or a popcount instruction.
 *
 * Contract: a byte that is no ballot is reported (`ok` false, or the index of its row), never
 * counted. A missing ballot counts for nothing. An empty row has no decision.
 */
#ifndef ROPOLL_BALLOTS_H
#define ROPOLL_BALLOTS_H

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ropoll {

constexpr uint64_t LOW_BITS = 0x0101010101010101ULL;
constexpr uint64_t GATHER = 0x0102040810204080ULL;

static inline uint64_t little_endian(uint64_t word) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap64(word);
#else
    return word;
#endif
}

static inline uint64_t load_bytes(const int8_t *from, ptrdiff_t n_bytes) {
    uint64_t word = 0;
    std::memcpy(&word, from, static_cast<size_t>(n_bytes));
    return little_endian(word);
}

static inline uint64_t load_word(const int8_t *from) { return load_bytes(from, 8); }

/* Sum of the low bits of the eight bytes. */
static inline int sum_low_bits(uint64_t word) {
    return static_cast<int>(((word & LOW_BITS) * LOW_BITS) >> 56);
}

/* Low bit of byte i to bit i. */
static inline uint32_t gather_low_bits(uint64_t word) {
    return static_cast<uint32_t>(((word & LOW_BITS) * GATHER) >> 56);
}

static inline bool all_ballots(uint64_t word) {
    const uint64_t missing = (word >> 7) & LOW_BITS;
    return ((word ^ (missing * 0xFF)) & (~LOW_BITS | missing)) == 0;
}

struct RowCount {
    int32_t ones, valid;
    bool ok;
};

static inline void count_word(uint64_t word, int32_t *ones, int32_t *missing, bool *ok) {
    const int n_missing = sum_low_bits(word >> 7);
    *ones += sum_low_bits(word) - n_missing;
    *missing += n_missing;
    *ok &= all_ballots(word);
}

/* `end` is one past the last byte of the whole array: bytes of a next row may be read, and are
 * masked off, but never bytes beyond it. */
static inline RowCount count_row(const int8_t *row, ptrdiff_t n_judges, const int8_t *end) {
    int32_t ones = 0, missing = 0;
    bool ok = true;
    ptrdiff_t left = n_judges;
    for (; left >= 8; left -= 8, row += 8) count_word(load_word(row), &ones, &missing, &ok);
    if (left > 0) {
        const uint64_t word = end - row >= 8 ? load_word(row) & ((uint64_t(1) << (8 * left)) - 1)
                                             : load_bytes(row, left);
        count_word(word, &ones, &missing, &ok);
    }
    return {ones, static_cast<int32_t>(n_judges) - missing, ok};
}

/* -- Decisions ------------------------------------------------------------------------------- */

/* A weighted tally within rounding of zero is a tie. */
constexpr double TIE = 1e-12;

struct WeightedCount {
    double lean, total;  /* sum of w (2 v - 1), sum of w, over the valid ballots */
    int32_t ones, valid; /* ballots of positive weight */
    bool ok;
};

static inline WeightedCount count_weighted(const int8_t *row, const double *weights,
                                           ptrdiff_t n_judges) {
    WeightedCount c = {0.0, 0.0, 0, 0, true};
    for (ptrdiff_t j = 0; j < n_judges; ++j) {
        const int8_t vote = row[j];
        if (vote != 0 && vote != 1) {
            c.ok &= vote == -1;
        } else if (weights[j] > 0) {
            c.lean += vote ? weights[j] : -weights[j];
            c.total += weights[j];
            c.ones += vote;
            c.valid += 1;
        }
    }
    return c;
}

/* 1 or 0 by the sign of the tally, `tie` at zero or, for a weighted one, within `slack` of it. */
static inline int8_t decide(int32_t lean, int8_t tie) {
    return static_cast<int8_t>((lean > 0) + (lean == 0) * tie); /* no branch: votes are noise */
}

/* Whether moving one ballot changes the decision. */
static inline bool pivotal(int32_t ones, int32_t valid, int8_t tie) {
    const int32_t lean = 2 * ones - valid;
    const int8_t now = decide(lean, tie);
    return ((ones > 0) & (decide(lean - 2, tie) != now)) |
           ((ones < valid) & (decide(lean + 2, tie) != now));
}

static inline int8_t decide_weighted(double lean, double slack, int8_t tie) {
    return lean > slack ? 1 : lean < -slack ? 0 : tie;
}

}  // namespace ropoll

#endif
