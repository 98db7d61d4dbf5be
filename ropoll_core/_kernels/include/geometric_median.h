/* Entry points of the geometric median: scratch size and one function per instruction set. */
#ifndef ROPOLL_GEOMETRIC_MEDIAN_H
#define ROPOLL_GEOMETRIC_MEDIAN_H

#include "simd.h"

#include "gm_scalar.h"
#include "gm_types.h"

enum { GM_LANE_BYTES = 64 };

/* Queries taken together: they and their books fit the second-level cache. */
static inline int gm_block_size(ptrdiff_t n, ptrdiff_t d) {
    const ptrdiff_t fit = 65536 / (n * d * (ptrdiff_t)sizeof(double)) & ~(ptrdiff_t)15;
    return (int)(fit < 16 ? 16 : fit > 512 ? 512 : fit);
}

/* Bytes of scratch a thread needs; its start must be a multiple of 64. */
static inline size_t gm_scratch_bytes(ptrdiff_t n, ptrdiff_t d) {
    const size_t room = (size_t)gm_block_size(n, d) + 1;
    return (size_t)(n * (d + 1) + 2 * n + 17 * d) * GM_LANE_BYTES + (size_t)(n * d + n + d) * sizeof(double) +
           gm_scalar::work_bytes(n, d) + (size_t)n + room * (4 * 4 + 8 + 8 + 3 + 5 * (size_t)n) +
           (size_t)(2 * n + 3) * 4 + 64 * 64;
}

namespace geometric_median {
#define ROPOLL_BODY "gm_body.h"
#include "for_each_variant.h"
}  // namespace geometric_median

static inline void gm_run(
    int variant, const GmPanels *P, ptrdiff_t start, ptrdiff_t stop, char *scratch) {
    switch (variant) {
#if ROPOLL_X86
        case ROPOLL_AVX512: return geometric_median::avx512::run(*P, start, stop, scratch);
        case ROPOLL_AVX2: return geometric_median::avx2::run(*P, start, stop, scratch);
#endif
        default: return geometric_median::generic::run(*P, start, stop, scratch);
    }
}

#endif
