/* The variants of a body of panel_lanes.h algorithms, and the calls that go to one of them.
 *
 * Part of a namespace, like for_each_variant.h: no guards, and ROPOLL_BODY names the body, which
 * has scratch_doubles() and run() by method number.
 */
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
