/* Method numbers and the table of variants behind comparators.pyx. */
#ifndef ROPOLL_COMPARATORS_H
#define ROPOLL_COMPARATORS_H

#include "mean.h"
#include "panels.h"
#include "simd.h"

enum { COORDINATEWISE_MEDIAN, COORDINATEWISE_TRIMMED_MEAN, TRIMMED_MEAN, MEDOID };

namespace ropoll_comparators {

#define ROPOLL_BODY "comparators_body.h"
#include "for_each_variant.h"

static inline ptrdiff_t scratch_doubles(int variant, int method, ptrdiff_t n, ptrdiff_t d) {
    static ptrdiff_t (*const table[])(int, ptrdiff_t, ptrdiff_t) =
        ROPOLL_VARIANTS_OF(scratch_doubles);
    return table[variant](method, n, d);
}

static inline void rows(int variant, int method, const Batch &b, const Options &o,
                        double *scratch, ptrdiff_t start, ptrdiff_t stop) {
    static void (*const table[])(int, const Batch &, const Options &, double *, ptrdiff_t,
                                 ptrdiff_t) = ROPOLL_VARIANTS_OF(run);
    table[variant](method, b, o, scratch, start, stop);
}

} /* namespace ropoll_comparators */

#endif
