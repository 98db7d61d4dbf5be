/* Task resampling: moment totals of with-replacement draws. Bodies in resample_body.h. */
#ifndef ROPOLL_RESAMPLE_H
#define ROPOLL_RESAMPLE_H

#include <stdint.h>
#include <string.h>

#include "counter_rng.h"
#include "simd.h"
#if ROPOLL_X86
#include <immintrin.h>
#endif

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "the order of draws is defined by little-endian words");

enum { RESAMPLE_INT16 = 0, RESAMPLE_INT32 = 1, RESAMPLE_FLOAT64 = 2 };
enum { RESAMPLE_TILE = 16 };

/* table: n_blocks x n_tasks x (vectors * 32 bytes), 32-byte aligned, columns padded with zeros,
 * vectors <= 8. flush: draws whose sum cannot leave the range of the value type. tile: resamples
 * whose indices are held at once, at most RESAMPLE_TILE, index_stride words apart. */
typedef struct {
    counter_key key;
    const void *table;
    int64_t n_tasks, n_moments, n_blocks, flush, tile, index_stride;
    int vectors, value;
} resample_problem;

namespace resample_variants {
#define ROPOLL_BODY "resample_body.h"
#include "for_each_variant.h"
}  // namespace resample_variants

static inline void total_resamples(int variant, const resample_problem *problem, int64_t start,
                                   int64_t stop, void *index_scratch, double *out,
                                   int64_t stride) {
#if ROPOLL_X86
    if (variant == ROPOLL_AVX512)
        return resample_variants::avx512::total_resamples_of(problem, start, stop, index_scratch, out, stride);
    if (variant == ROPOLL_AVX2)
        return resample_variants::avx2::total_resamples_of(problem, start, stop, index_scratch, out, stride);
#endif
    resample_variants::generic::total_resamples_of(problem, start, stop, index_scratch, out, stride);
}

/* The drawn task indices of one resample, as total_resamples draws them. */
static inline void draw_tasks(counter_key key, int64_t resample, int64_t n_tasks, void *scratch,
                              int64_t *out) {
    if (n_tasks < 65535) {
        resample_variants::generic::draw_resample<uint16_t, uint32_t>(key, (uint64_t)resample, (uint16_t)n_tasks,
                                                   (uint16_t *)scratch);
        for (int64_t j = 0; j < n_tasks; ++j) out[j] = ((const uint16_t *)scratch)[j];
    } else {
        resample_variants::generic::draw_resample<uint32_t, uint64_t>(key, (uint64_t)resample, (uint32_t)n_tasks,
                                                   (uint32_t *)scratch);
        for (int64_t j = 0; j < n_tasks; ++j) out[j] = ((const uint32_t *)scratch)[j];
    }
}

#endif
