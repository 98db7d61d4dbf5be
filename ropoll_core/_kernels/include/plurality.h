/* Plurality of up to PLURALITY_LANES rows side by side, panels of up to PLURALITY_MOST judges.
 *
 * Every two judges are compared, so no table of classes is needed and plain loops over the lanes
 * vectorise: k (k - 1) / 2 comparisons a row, cheaper than counting for small panels.
 */
#ifndef ROPOLL_PLURALITY_H
#define ROPOLL_PLURALITY_H

#include <stdint.h>

enum { PLURALITY_LANES = 64, PLURALITY_MOST = 16 };

/* codes: rows x n_judges, negative where missing. count, n_valid, n_tied and judge as in
 * plurality.pyx, with the first listed of tied classes; judge -1 where nobody answered. */
static inline void plurality_block(const int32_t *codes, int rows, int n_judges, int32_t *judge,
                                   int32_t *count, int32_t *n_valid, int32_t *n_tied) {
    int32_t answer[PLURALITY_MOST][PLURALITY_LANES], votes[PLURALITY_MOST][PLURALITY_LANES];
    int32_t best[PLURALITY_LANES], valid[PLURALITY_LANES], at_best[PLURALITY_LANES];
    int32_t first[PLURALITY_LANES];
    for (int j = 0; j < n_judges; ++j) {
        for (int l = 0; l < rows; ++l) answer[j][l] = codes[l * n_judges + j];
        for (int l = rows; l < PLURALITY_LANES; ++l) answer[j][l] = -1;
        /* A missing answer gets a negative number of its own and so equals no other. */
        for (int l = 0; l < PLURALITY_LANES; ++l) {
            const int32_t missing = answer[j][l] < 0;
            answer[j][l] = missing ? -1 - j : answer[j][l];
            votes[j][l] = 1 - missing;
        }
    }
    for (int l = 0; l < PLURALITY_LANES; ++l) best[l] = valid[l] = at_best[l] = 0, first[l] = -1;
    for (int j = 0; j < n_judges; ++j)
        for (int l = 0; l < PLURALITY_LANES; ++l) valid[l] += votes[j][l];
    for (int j = 1; j < n_judges; ++j)
        for (int i = 0; i < j; ++i)
            for (int l = 0; l < PLURALITY_LANES; ++l) {
                const int32_t same = answer[i][l] == answer[j][l];
                votes[i][l] += same;
                votes[j][l] += same;
            }
    for (int j = 0; j < n_judges; ++j)
        for (int l = 0; l < PLURALITY_LANES; ++l)
            best[l] = votes[j][l] > best[l] ? votes[j][l] : best[l];
    for (int j = n_judges - 1; j >= 0; --j)
        for (int l = 0; l < PLURALITY_LANES; ++l) {
            const int32_t modal = (votes[j][l] == best[l]) & (best[l] > 0);
            at_best[l] += modal;
            first[l] = modal ? j : first[l];
        }
    /* A class at the top has exactly `best` judges, so the quotient is whole. */
    for (int l = 0; l < PLURALITY_LANES; ++l)
        at_best[l] = (int32_t)((float)at_best[l] / (float)(best[l] > 0 ? best[l] : 1));
    for (int l = 0; l < rows; ++l) {
        judge[l] = first[l];
        count[l] = best[l];
        n_valid[l] = valid[l];
        n_tied[l] = at_best[l];
    }
}

#endif
