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

/* -- The whole panel as one histogram of ballot patterns -------------------------------------
 *
 * A row without a gap, of at most 12 ballots, falls in cell
 *     pattern | label << n_judges | signal << (n_judges + 1)
 * of `complete`. A row with a missing ballot, label or signal falls in cell
 *     ((signal + 1) * 3 + label + 1) * 3^n_judges + sum_j digit_j 3^j,  digit 2 for a missing one
 * of `gapped`; `ternary[p]` is sum_j bit_j(p) 3^j.
 *
 * Rows of up to eight ballots without a gap are taken eight at a time: one test serves them all.
 * Measured: more copies of the table, against equal neighbours waiting for each other, gain
 * nothing, and AVX2 gains 8 %.
 */
struct Queries {
    const int8_t *votes, *end;
    const int8_t *signal, *labels;
    ptrdiff_t n_judges, signal_step, labels_step; /* steps are 1, or 0 for a constant */
};

struct PatternTables {
    int64_t *complete, *gapped;
    const int32_t *ternary;
    int64_t n_gapped;
};

static inline uint64_t eight_from(const int8_t *values, ptrdiff_t step, ptrdiff_t i) {
    return step ? load_word(values + i) : LOW_BITS * static_cast<uint8_t>(values[0]);
}

/* Counts blocks of eight rows from row i, and returns the first row it did not count: fewer than
 * eight are left before `stop` or before the end of the array, or one of the eight has a gap. */
template <int K>
static ptrdiff_t count_blocks(const Queries &q, int64_t *complete, ptrdiff_t i, ptrdiff_t stop) {
    constexpr uint64_t mask = K == 8 ? LOW_BITS : LOW_BITS & ((uint64_t(1) << (8 * K % 64)) - 1);
    for (; stop - i >= 8; i += 8) {
        const int8_t *row = q.votes + i * K;
        if (q.end - row < 8 * K + 8) break; /* the last row is read as a whole word */
        const uint64_t signal = eight_from(q.signal, q.signal_step, i);
        const uint64_t label = eight_from(q.labels, q.labels_step, i);
        uint64_t any = signal | label;
        for (int j = 0; j < K; ++j) any |= load_word(row + 8 * j);
        if (any & ~LOW_BITS) break;
        const uint64_t sides = label | signal << 1;
        for (int r = 0; r < 8; ++r) {
            const uint64_t pattern = ((load_word(row + r * K) & mask) * GATHER) >> 56;
            complete[pattern | ((sides >> (8 * r)) & 3) << K] += 1;
        }
    }
    return i;
}

static inline ptrdiff_t count_blocks(const Queries &q, int64_t *complete, ptrdiff_t i,
                                     ptrdiff_t stop) {
    switch (q.n_judges) {
        case 1: return count_blocks<1>(q, complete, i, stop);
        case 2: return count_blocks<2>(q, complete, i, stop);
        case 3: return count_blocks<3>(q, complete, i, stop);
        case 4: return count_blocks<4>(q, complete, i, stop);
        case 5: return count_blocks<5>(q, complete, i, stop);
        case 6: return count_blocks<6>(q, complete, i, stop);
        case 7: return count_blocks<7>(q, complete, i, stop);
        case 8: return count_blocks<8>(q, complete, i, stop);
        default: return i;
    }
}

/* False, and nothing counted, if the row, its signal or its label is no ballot. */
static inline bool count_one(const Queries &q, PatternTables *out, ptrdiff_t i) {
    const ptrdiff_t k = q.n_judges, n_low = k < 8 ? k : 8;
    const int8_t *row = q.votes + i * k;
    const uint64_t low = load_bytes(row, n_low), high = load_bytes(row + n_low, k - n_low);
    const int8_t signal = q.signal[i * q.signal_step], label = q.labels[i * q.labels_step];
    const uint64_t sides = static_cast<uint8_t>(signal) | uint64_t(static_cast<uint8_t>(label)) << 8;
    if (!all_ballots(low) || !all_ballots(high) || !all_ballots(sides)) return false;
    const uint32_t missing = gather_low_bits(low >> 7) | gather_low_bits(high >> 7) << 8;
    const uint32_t ones = (gather_low_bits(low) | gather_low_bits(high) << 8) & ~missing;
    if (missing == 0 && signal >= 0 && label >= 0) {
        out->complete[ones | uint32_t(label) << k | uint32_t(signal) << (k + 1)] += 1;
    } else {
        const int64_t three_to_k = 2 * int64_t(out->ternary[(1 << k) - 1]) + 1;
        const int64_t side = (signal + 1) * 3 + label + 1; /* which of the nine blocks */
        out->gapped[side * three_to_k + out->ternary[ones] + 2 * int64_t(out->ternary[missing])] +=
            1;
        out->n_gapped += 1;
    }
    return true;
}

/* Returns the first row of [start, stop) that count_one refuses, or -1. */
static inline int64_t pattern_counts(const Queries &q, PatternTables *out, ptrdiff_t start,
                                     ptrdiff_t stop) {
    for (ptrdiff_t i = start; i < stop;) {
        i = count_blocks(q, out->complete, i, stop);
        for (const ptrdiff_t until = stop - i < 8 ? stop : i + 8; i < until; ++i)
            if (!count_one(q, out, i)) return i;
    }
    return -1;
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
