/* From the moments of tasks to the table that resample.h reads. Bodies in moments_body.h.
 *
 * Rows are n_columns numbers each. Ranges widen those that lowest and highest hold. A block of
 * `count` columns from `first` on goes, less the lowest of its column, to rows of `width`, padded
 * with zeros; what is left fits the type of the table.
 */
#ifndef ROPOLL_MOMENTS_H
#define ROPOLL_MOMENTS_H

#include <stdint.h>

#include "simd.h"

namespace moments_variants {
#define ROPOLL_BODY "moments_body.h"
#include "for_each_variant.h"
}  // namespace moments_variants

static inline void find_ranges(int variant, const int64_t *rows, int64_t n_rows,
                               int64_t n_columns, int64_t *lowest, int64_t *highest) {
    using namespace moments_variants;
    static void (*const table[])(const int64_t *, int64_t, int64_t, int64_t *, int64_t *) =
        ROPOLL_VARIANTS_OF(ranges_of);
    table[variant](rows, n_rows, n_columns, lowest, highest);
}

template <typename From, typename To>
static inline void pack_rows(int variant, const From *rows, int64_t n_rows, int64_t n_columns,
                             int64_t first, int64_t count, const From *lowest, To *table,
                             int64_t width) {
    using namespace moments_variants;
#if ROPOLL_X86
    if (variant == ROPOLL_AVX512)
        return avx512::pack_rows_of<From, To>(rows, n_rows, n_columns, first, count, lowest, table,
                                              width);
    if (variant == ROPOLL_AVX2)
        return avx2::pack_rows_of<From, To>(rows, n_rows, n_columns, first, count, lowest, table,
                                            width);
#endif
    generic::pack_rows_of<From, To>(rows, n_rows, n_columns, first, count, lowest, table, width);
}

#endif
