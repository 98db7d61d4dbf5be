/* One score vector of the Huber contamination model of arXiv 2606.30931.
 *
 * Every draw is a pure function of (key, replicate, purpose, item, judge, attribute), so a cell
 * is the same whatever the chunk, the committee, the rate and the other cells are: curves over
 * rates and committees are paired by themselves.
 */
#ifndef ROPOLL_CONTAMINATION_H
#define ROPOLL_CONTAMINATION_H

#include "counter_rng.h"

/* Bits of a block's index: item | judge | attribute; of its stream: replicate | purpose. */
enum { CELL_ATTRIBUTE_BITS = 12, CELL_JUDGE_BITS = 12, CELL_PURPOSE_BITS = 8 };

/* Purposes; those of corruptions are DRAW_VALUE + k, k the corruption's own stream. */
enum {
    DRAW_TRUTH = 0,
    DRAW_SHARED_ERROR = 1,
    DRAW_OWN_ERROR = 2,
    DRAW_FAILURE = 3,
    DRAW_MEMBER = 4,
    DRAW_CORRUPTED = 5,
    DRAW_VALUE = 16
};

enum {
    CORRUPT_NONE = -1,
    CORRUPT_ZEROS = 0,
    CORRUPT_INVERTED = 1,
    CORRUPT_BIMODAL = 2,
    CORRUPT_CAUCHY_FAR = 3,
    CORRUPT_SYCOPHANTIC = 4,
    CORRUPT_NOISY_TRUTH = 5
};

/* Constants printed in the paper, in its score units. */
static const double CAUCHY_SHIFT = 10.0, CAUCHY_SPREAD = 2.0, NOISE_SIGMA = 0.8;

static inline counter_block cell_draw(counter_key key, uint64_t replicate, int purpose,
                                      uint64_t item, uint64_t judge, uint64_t attribute) {
    const uint64_t stream = replicate << CELL_PURPOSE_BITS | (uint64_t)purpose;
    const uint64_t index =
        (item << CELL_JUDGE_BITS | judge) << CELL_ATTRIBUTE_BITS | attribute;
    return counter_draw(key, stream, index);
}

/* What judge `judge` reports on one attribute once corrupted. */
static inline double corrupted_score(int kind, double truth, double low, double high,
                                     counter_key key, uint64_t replicate, uint64_t item,
                                     uint64_t judge, uint64_t attribute) {
    if (kind == CORRUPT_ZEROS) return 0.0;
    if (kind == CORRUPT_INVERTED) return low + high - truth;
    if (kind == CORRUPT_SYCOPHANTIC) return high;
    const counter_block block = cell_draw(key, replicate, DRAW_VALUE, item, judge, attribute);
    if (kind == CORRUPT_BIMODAL) return open_uniform_from_bits(block.first) < 0.5 ? low : high;
    if (kind == CORRUPT_CAUCHY_FAR)
        return truth + CAUCHY_SHIFT + CAUCHY_SPREAD * (high - low) * cauchy_from_block(block);
    const double noisy = truth + NOISE_SIGMA * normal_from_bits(block.first);
    return noisy < low ? low : noisy > high ? high : noisy;
}

#endif
