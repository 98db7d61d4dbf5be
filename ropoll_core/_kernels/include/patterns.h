/* A whole panel as one histogram of ballot patterns. Rows many at a time: patterns_body.h.
 *
 * The ballots of a row, its label and its signal are the digits of a number, the first ballot
 * lowest. A row without a gap, of at most 12 ballots, falls in the cell of `complete` that this
 * number names in base 2; any other, with 2 for what is missing, in that of `gapped` in base 3.
 * `ternary[p]` reads the binary digits of p in base 3.
 *
 * Contract: as in ballots.h; signal and labels are checked like votes.
 */
#ifndef ROPOLL_PATTERNS_H
#define ROPOLL_PATTERNS_H

#include "ballots.h"
#include "simd.h"
#if ROPOLL_X86
#include <immintrin.h>
#endif

namespace ropoll {

struct Queries {
    const int8_t *votes, *end;
    const int8_t *signal, *labels;
    ptrdiff_t n_judges, signal_step, labels_step; /* steps are 1, or 0 for a constant */
};

/* `gapped` is null until a row needs it. */
struct PatternTables {
    int64_t *complete, *gapped;
    const int32_t *ternary;
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

/* False, and nothing counted, if the row, its signal or its label is no ballot, or if it has a
 * gap and there is no table for those. */
static inline bool count_one(const Queries &q, const PatternTables &out, ptrdiff_t i) {
    const ptrdiff_t k = q.n_judges, n_low = k < 8 ? k : 8;
    const int8_t *row = q.votes + i * k;
    const uint64_t low = load_bytes(row, n_low), high = load_bytes(row + n_low, k - n_low);
    const int8_t signal = q.signal[i * q.signal_step], label = q.labels[i * q.labels_step];
    const uint64_t sides = static_cast<uint8_t>(signal) | uint64_t(static_cast<uint8_t>(label)) << 8;
    if (!all_ballots(low) || !all_ballots(high) || !all_ballots(sides)) return false;
    const uint32_t missing = gather_low_bits(low >> 7) | gather_low_bits(high >> 7) << 8;
    const uint32_t ones = (gather_low_bits(low) | gather_low_bits(high) << 8) & ~missing;
    if (missing == 0 && signal >= 0 && label >= 0) {
        out.complete[ones | uint32_t(label) << k | uint32_t(signal) << (k + 1)] += 1;
        return true;
    }
    if (!out.gapped) return false;
    const uint32_t digits = ones | uint32_t(label == 1) << k | uint32_t(signal == 1) << (k + 1);
    const uint32_t gaps = missing | uint32_t(label < 0) << k | uint32_t(signal < 0) << (k + 1);
    out.gapped[out.ternary[digits] + 2 * int64_t(out.ternary[gaps])] += 1;
    return true;
}

enum { PATTERN_ROWS = 64 }; /* rows that a SIMD variant tests at once */

namespace patterns_variants {
#define ROPOLL_BODY "patterns_body.h"
#include "for_each_variant.h"
}  // namespace patterns_variants

static inline ptrdiff_t count_wide(int variant, const Queries &q, int64_t *complete, ptrdiff_t i,
                                   ptrdiff_t stop) {
    using namespace patterns_variants;
    static ptrdiff_t (*const table[])(const Queries &, int64_t *, ptrdiff_t, ptrdiff_t) =
        ROPOLL_VARIANTS_OF(count_wide);
    return table[variant](q, complete, i, stop);
}

/* Returns the first row of [start, stop) that count_one refuses, or `stop`. */
static inline ptrdiff_t pattern_counts(int variant, const Queries &q, const PatternTables &out,
                                       ptrdiff_t start, ptrdiff_t stop) {
    for (ptrdiff_t i = start; i < stop;) {
        i = count_wide(variant, q, out.complete, i, stop);
        const ptrdiff_t wide = stop - i < PATTERN_ROWS ? stop : i + PATTERN_ROWS;
        while (i < wide) {
            i = count_blocks(q, out.complete, i, wide);
            for (const ptrdiff_t until = wide - i < 8 ? wide : i + 8; i < until; ++i)
                if (!count_one(q, out, i)) return i;
        }
    }
    return stop;
}

}  // namespace ropoll

#endif
