/* Mean vector of each panel, and means of groups of judges.
 *
 * A panel without weights, missing judges or a report is summed straight from memory; the sum
 * itself tells whether that was right, since a NaN, an infinity or an overflow leaves a sum that
 * is not finite. Every other panel is packed first. Sums run in judge order in double.
 */
#ifndef ROPOLL_MEAN_H
#define ROPOLL_MEAN_H

#include "panels.h"

namespace ropoll_mean {

/* y = weighted mean of the judges of `p`, packed with step 1. Weights are at most 1. */
static inline void mean_packed(const Panel &p, bool weighted, ptrdiff_t d, double *y) {
    double total = weighted ? 0 : p.m;
    if (weighted)
        for (int k = 0; k < p.m; k++) total += p.w[k];
    /* Values near the largest double are summed again 2^64 times smaller. */
    for (double scale = 1; scale > 0x1p-65; scale *= 0x1p-64) {
        double spoilt = 0;
        for (ptrdiff_t a = 0; a < d; a++) y[a] = 0;
        for (int k = 0; k < p.m; k++) {
            const double w = weighted ? p.w[k] * scale : scale;
            for (ptrdiff_t a = 0; a < d; a++) y[a] += w * p.x[k * d + a];
        }
        for (ptrdiff_t a = 0; a < d; a++) {
            spoilt += y[a] - y[a];
            y[a] = y[a] / total / scale;
        }
        if (spoilt == 0) return;
    }
}

/* Sums of the columns of a panel of D attributes side by side in memory; D = 0: any number. */
template <class T, int D>
static inline bool sum_straight(const char *row, ptrdiff_t judge_stride, ptrdiff_t n, ptrdiff_t d,
                                double *out) {
    double fixed[D ? D : 1];
    double *sum = D ? fixed : out;
    const ptrdiff_t width = D ? D : d;
    for (ptrdiff_t a = 0; a < width; a++) sum[a] = 0;
    for (ptrdiff_t j = 0; j < n; j++, row += judge_stride)
        for (ptrdiff_t a = 0; a < width; a++) sum[a] += ((const T *)row)[a];
    double spoilt = 0;
    for (ptrdiff_t a = 0; a < width; a++) {
        spoilt += sum[a] - sum[a];
        out[a] = sum[a];
    }
    return spoilt == 0;
}

template <class T>
static inline void mean_one(const Batch &b, ptrdiff_t q, Panel &p, double *y) {
    const PanelStatus status = load_panel<T>(b, q, p);
    if (status == PANEL_OK) mean_packed(p, b.weights != nullptr, b.n_attributes, y);
    store_panel<T, double>(b, q, p, status, y, 1, p.m, nullptr);
}

template <class T, int D>
static void mean_rows(const Batch &b, double *scratch, ptrdiff_t start, ptrdiff_t stop) {
    const ptrdiff_t n = b.n_judges, d = b.n_attributes;
    double *y = scratch;
    Panel p = packed_panel(scratch + d, n, d);
    const bool straight =
        !b.weights && !b.n_valid && (b.attribute_stride == (ptrdiff_t)sizeof(T) || d == 1);
    for (ptrdiff_t q = start; q < stop; q++) {
        const char *row = b.scores + q * b.query_stride;
        if (!straight || !sum_straight<T, D>(row, b.judge_stride, n, d, y)) {
            mean_one<T>(b, q, p, y);
            continue;
        }
        char *to = b.out + q * b.out_query_stride;
        for (ptrdiff_t a = 0; a < d; a++, to += b.out_attribute_stride) *(T *)to = (T)(y[a] / n);
        b.status[q] = PANEL_OK;
    }
}

template <class T>
static void mean_rows_of(const Batch &b, double *scratch, ptrdiff_t start, ptrdiff_t stop) {
    switch (b.n_attributes) {
        case 1: return mean_rows<T, 1>(b, scratch, start, stop);
        case 2: return mean_rows<T, 2>(b, scratch, start, stop);
        case 3: return mean_rows<T, 3>(b, scratch, start, stop);
        case 4: return mean_rows<T, 4>(b, scratch, start, stop);
        case 5: return mean_rows<T, 5>(b, scratch, start, stop);
        case 6: return mean_rows<T, 6>(b, scratch, start, stop);
        case 7: return mean_rows<T, 7>(b, scratch, start, stop);
        case 8: return mean_rows<T, 8>(b, scratch, start, stop);
        default: return mean_rows<T, 0>(b, scratch, start, stop);
    }
}

/* Scratch, in doubles. */
static inline ptrdiff_t mean_scratch(ptrdiff_t n, ptrdiff_t d) { return d + packed_doubles(n, d); }

static inline void mean(const Batch &b, double *scratch, ptrdiff_t start, ptrdiff_t stop) {
    if (b.single)
        mean_rows_of<float>(b, scratch, start, stop);
    else
        mean_rows_of<double>(b, scratch, start, stop);
}

} /* namespace ropoll_mean */

#endif
