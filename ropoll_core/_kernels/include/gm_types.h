/* Geometric median: what the parts of the kernel pass to each other. */
#ifndef ROPOLL_GM_TYPES_H
#define ROPOLL_GM_TYPES_H

#include <stddef.h>
#include <stdint.h>

enum {
    GM_CERTIFIED = 0,     /* gap <= tol * objective, the minimiser is unique */
    GM_NOT_UNIQUE = 1,    /* certified; midpoint of a segment of minimisers */
    GM_NOT_CERTIFIED = 2, /* the best point found; its gap is above tol * objective */
    GM_ALL_MISSING = 3,   /* no valid judge of positive weight: NaN */
    GM_PROPAGATED = 4,    /* a judge is missing and nan_policy is "propagate": NaN */
    GM_INFINITE = 5,      /* +-inf among the scores: NaN, for the caller to refuse */
    GM_N_STATUS = 6
};

enum { GM_NEWTON = 0, GM_WEISZFELD = 1 };

/* One call: strided input, contiguous output, options. NULL outputs are not written. */
struct GmPanels {
    const char *scores; /* float or double, native and aligned; strides in bytes */
    ptrdiff_t query_stride, judge_stride, attribute_stride;
    int is_float;
    ptrdiff_t n_judges, n_attributes;
    const double *weights;   /* finite, >= 0; NULL: all equal */
    ptrdiff_t weight_stride; /* doubles from query to query; 0: shared */
    int propagate;           /* a missing judge makes the query NaN */
    int solver;
    int max_iter;
    double tol;   /* Newton: certified gap over objective; also what `certified` means */
    double step;  /* Weiszfeld: stop once no attribute moved further than this ... */
    double eta;   /* ... and its floor under a distance */
    char *median; /* dtype of the scores, strides in bytes */
    ptrdiff_t median_query_stride, median_attribute_stride;
    double *objective, *gap;
    int64_t *n_valid, *n_iter;
    int8_t *status;
    double *influence;   /* (n_queries, n_judges) */
    unsigned char *seen; /* GM_N_STATUS + 1 flags: statuses met; the last: a judge was missing */
};

enum { GM_SEEN_MISSING = GM_N_STATUS };

/* What one query's solver hands back, beside its point. Units: weights as scaled by the loader. */
struct GmAnswer {
    double objective, gap;
    int n_iter, status;
};

/* Relative deviation from a line that counts as rounding of the input. */
static inline double gm_line_tolerance(int is_float) {
    return is_float ? 4.8e-7 : 8.9e-16;
}

#endif
