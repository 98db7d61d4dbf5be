/* Means of groups of judges of one panel, for the median of means.
 *
 * The valid judges, in the order given, are cut into n_groups runs whose sizes differ by at most
 * one, the longer ones first. A panel with fewer valid judges than groups is PANEL_TOO_FEW. The
 * groups' means take the place of judges in an array that the geometric median kernel reads; a
 * panel without a result is NaN there.
 */
#ifndef ROPOLL_GROUPS_H
#define ROPOLL_GROUPS_H

#include "mean.h"

namespace ropoll_mean {

/* `order` is a permutation of the judges. */
template <class T>
static void group_means_of(const Batch &b, const int *order, ptrdiff_t n_groups, T *means,
                           double *scratch, ptrdiff_t start, ptrdiff_t stop) {
    const ptrdiff_t n = b.n_judges, d = b.n_attributes;
    Panel all = packed_panel(scratch, n, d);
    double *sorted = scratch + packed_doubles(n, d), *y = sorted + n * d;
    int *place = (int *)(y + d); /* of each judge among the packed, -1: not valid */
    for (ptrdiff_t q = start; q < stop; q++, means += n_groups * d) {
        PanelStatus status = load_panel<T>(b, q, all);
        if (status == PANEL_OK && all.m < n_groups) status = PANEL_TOO_FEW;
        note_panel(b, q, all, status, all.m);
        if (status != PANEL_OK) {
            for (ptrdiff_t i = 0; i < n_groups * d; i++)
                means[i] = std::numeric_limits<T>::quiet_NaN();
            continue;
        }
        for (ptrdiff_t j = 0; j < n; j++) place[j] = -1;
        for (int k = 0; k < all.m; k++) place[all.judge[k]] = k;
        double *to = sorted;
        for (ptrdiff_t j = 0; j < n; j++) {
            const int k = place[order[j]];
            if (k < 0) continue;
            for (ptrdiff_t a = 0; a < d; a++) *to++ = all.x[k * d + a];
        }
        Panel group = all;
        group.x = sorted;
        for (ptrdiff_t g = 0; g < n_groups; g++, group.x += group.m * d) {
            group.m = (int)(all.m / n_groups + (g < all.m % n_groups));
            mean_packed(group, false, d, y);
            for (ptrdiff_t a = 0; a < d; a++) means[g * d + a] = (T)y[a];
        }
    }
}

/* Scratch, in doubles. */
static inline ptrdiff_t group_scratch(ptrdiff_t n, ptrdiff_t d) {
    return packed_doubles(n, d) + n * d + d + n;
}

static inline void group_means(const Batch &b, const int *order, ptrdiff_t n_groups, void *means,
                               double *scratch, ptrdiff_t start, ptrdiff_t stop) {
    if (b.single)
        group_means_of<float>(b, order, n_groups, (float *)means, scratch, start, stop);
    else
        group_means_of<double>(b, order, n_groups, (double *)means, scratch, start, stop);
}

} /* namespace ropoll_mean */

#endif
