/* A batch of panels as the score kernels see it, and what makes a judge valid.
 *
 * Contract: scores are native float32 or float64 read through byte strides and never written.
 * A judge with a NaN in any attribute is missing as a whole. A judge of zero weight is absent,
 * whatever its scores. Any infinity of another judge, also a missing one, makes the panel
 * PANEL_INFINITE: the caller raises. Panels without a judge to use give NaN and a status.
 * Nothing else is assumed of the input; n_judges and n_attributes are at least 1.
 *
 * load_panel() packs one panel, whatever lane it is in. gm_load.h is of another kind: it classifies
 * a block of queries first, so that those of equal shape share lanes of a solver whose cost grows
 * with the number of judges, and reads those without a gap in whole vectors.
 */
#ifndef ROPOLL_PANELS_H
#define ROPOLL_PANELS_H

#include <cmath>
#include <cstddef>
#include <limits>

/* The values are those of ropoll_core._results.aggregate.AggregateStatus; the last is for raising
 * only. */
enum PanelStatus : unsigned char {
    PANEL_OK = 0,
    PANEL_NOTHING_TRIMMED = 1,
    PANEL_NOT_CONVERGED = 2,
    PANEL_ALL_MISSING = 3, /* no judge with complete scores and positive weight */
    PANEL_PROPAGATED = 4,
    PANEL_TOO_FEW = 5,
    PANEL_INFINITE = 6,
    PANEL_N_STATUS = 7
};

enum { SEEN_MISSING = PANEL_N_STATUS }; /* in Batch::seen, beside the statuses */

struct Batch {
    const char *scores; /* strides in bytes */
    ptrdiff_t query_stride, judge_stride, attribute_stride;
    ptrdiff_t n_judges, n_attributes;
    int single;          /* scores and out are float32, else float64 */
    const double *weights;   /* null: all equal */
    ptrdiff_t weight_stride; /* in doubles; 0: one row for every query */
    int propagate;       /* a missing judge makes the whole panel missing */
    char *out;
    ptrdiff_t out_query_stride, out_attribute_stride;
    int *n_valid, *n_used; /* null unless a report is wanted, as `used` */
    unsigned char *used;   /* (n_queries, n_judges) */
    unsigned char *status; /* one a query */
    unsigned char *seen;   /* seen[s] = 1: some query had status s */
};

/* What varies by number of valid judges m is tabulated by the caller for m = 0..n_judges. */
struct Options {
    const int *table[2];
    int fewest;   /* fewer valid judges than this: PANEL_TOO_FEW */
    int trimming; /* using every judge is PANEL_NOTHING_TRIMMED */
    double threshold, tol;
    int max_iter;
};

/* The valid judges of one panel, packed to the front in judge order: score a of the k-th at
 * x[(k * n_attributes + a) * step], its weight over the greatest at w[k * step] (untouched when
 * there are no weights), its index at judge[k]. */
struct Panel {
    double *x, *w;
    int *judge;
    ptrdiff_t step;
    int m;       /* judges packed */
    int n_valid; /* judges with complete scores, those of zero weight included */
};

/* A panel packed without gaps into `scratch` of packed_doubles(). */
static inline ptrdiff_t packed_doubles(ptrdiff_t n, ptrdiff_t d) { return n * d + 2 * n; }

static inline Panel packed_panel(double *scratch, ptrdiff_t n, ptrdiff_t d) {
    return Panel{scratch, scratch + n * d, (int *)(scratch + n * d + n), 1, 0, 0};
}

template <class T>
static inline PanelStatus load_panel(const Batch &b, ptrdiff_t q, Panel &p) {
    const ptrdiff_t n = b.n_judges, d = b.n_attributes, step = p.step;
    const char *row = b.scores + q * b.query_stride;
    const double *weights = b.weights ? b.weights + q * b.weight_stride : nullptr;
    double heaviest = 0;
    bool missing = false, infinite = false;
    p.m = p.n_valid = 0;
    for (ptrdiff_t j = 0; j < n; j++, row += b.judge_stride) {
        double *to = p.x + p.m * d * step;
        const char *from = row;
        double spoilt = 0;
        for (ptrdiff_t a = 0; a < d; a++, from += b.attribute_stride, to += step) {
            const double v = *(const T *)from;
            *to = v;
            spoilt += v - v;
        }
        const double weight = weights ? weights[j] : 1.0;
        if (!(spoilt == 0)) {
            if (!(weight > 0)) continue;
            bool has_nan = false, has_infinite = false;
            from = row;
            for (ptrdiff_t a = 0; a < d; a++, from += b.attribute_stride) {
                has_nan |= std::isnan(*(const T *)from);
                has_infinite |= std::isinf(*(const T *)from);
            }
            missing |= has_nan;
            infinite |= has_infinite;
            continue;
        }
        p.n_valid++;
        if (weights) {
            if (!(weight > 0)) continue;
            p.w[p.m * step] = weight;
            heaviest = weight > heaviest ? weight : heaviest;
        }
        p.judge[p.m++] = (int)j;
    }
    if (weights)
        for (int k = 0; k < p.m; k++) p.w[k * step] /= heaviest;
    if (missing) b.seen[SEEN_MISSING] = 1;
    if (infinite) return PANEL_INFINITE;
    if (missing && b.propagate) return PANEL_PROPAGATED;
    return p.m == 0 ? PANEL_ALL_MISSING : PANEL_OK;
}

/* Whether a status comes with a value. */
static inline bool has_value(PanelStatus status) { return status <= PANEL_NOT_CONVERGED; }

/* Write the status and, where wanted, the report; every packed judge is marked as used. */
static inline void note_panel(const Batch &b, ptrdiff_t q, const Panel &p, PanelStatus status,
                              int n_used) {
    b.status[q] = status;
    if (status != PANEL_OK) b.seen[status] = 1;
    if (!b.n_valid) return;
    b.n_valid[q] = p.n_valid;
    b.n_used[q] = has_value(status) ? n_used : 0;
    unsigned char *used = b.used + q * b.n_judges;
    for (ptrdiff_t j = 0; j < b.n_judges; j++) used[j] = 0;
    if (has_value(status))
        for (int k = 0; k < p.m; k++) used[p.judge[k]] = 1;
}

/* The same with the result: y[a * step] are its values, NaN where the status says that there is
 * none. `takes_part[k * step]` is nonzero for the packed judges used; null: all. */
template <class T, class S>
static inline void store_panel(const Batch &b, ptrdiff_t q, const Panel &p, PanelStatus status,
                               const S *y, ptrdiff_t step, int n_used, const S *takes_part) {
    const bool value = has_value(status);
    char *to = b.out + q * b.out_query_stride;
    for (ptrdiff_t a = 0; a < b.n_attributes; a++, to += b.out_attribute_stride)
        *(T *)to = value ? (T)y[a * step] : std::numeric_limits<T>::quiet_NaN();
    note_panel(b, q, p, status, n_used);
    if (!b.n_valid || !value || !takes_part) return;
    for (int k = 0; k < p.m; k++)
        b.used[q * b.n_judges + p.judge[k]] = takes_part[k * step] != 0;
}

#endif
