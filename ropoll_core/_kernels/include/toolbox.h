/* Method numbers and the table of variants behind toolbox.pyx. */
#ifndef ROPOLL_TOOLBOX_H
#define ROPOLL_TOOLBOX_H

#include "panels.h"
#include "simd.h"

enum { MULTI_KRUM, BULYAN, HUBER_MEAN };

namespace ropoll_toolbox {

#define ROPOLL_BODY "toolbox_body.h"
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

} /* namespace ropoll_toolbox */

#endif
