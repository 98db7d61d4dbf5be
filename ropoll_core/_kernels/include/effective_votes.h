/* Effective votes of panels from moment totals. Bodies in effective_votes_body.h.
 *
 * n_eff = k / (1 + (k - 1) mean phi) over the columns (resamples) of totals, which are exact
 * integers in double. A correlation whose denominator is not positive is NaN (the errors of a
 * judge do not vary). Such a judge is left out of the mean and of the size of its panel; one judge
 * left is worth one vote, none is NaN, and NaN is a panel with a judge who varies, but not where a
 * partner answered too. The least possible mean correlation, -1 / (k - 1), gives infinity; less,
 * which only correlations over different queries reach, NaN.
 */
#ifndef ROPOLL_EFFECTIVE_VOTES_H
#define ROPOLL_EFFECTIVE_VOTES_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "simd.h"

enum { EFFECTIVE_VOTES_TILE = 32 };

/* totals: rows `stride` apart, n_columns of them used. columns: for each pair the rows that hold
 * its n, E_i, E_j and E_ij. Panel i is made of the pairs pairs[starts[i]] up to
 * pairs[starts[i + 1] - 1]; judges, two for each entry of pairs, are numbered below 64.
 * phi: scratch, n_pairs x EFFECTIVE_VOTES_TILE. out: panel i in row i, out_stride apart. */
typedef struct {
    const double *totals;
    int64_t stride, n_columns;
    const int64_t *columns;
    int64_t n_pairs;
    const int64_t *pairs, *judges, *starts;
    int64_t n_panels;
    double *phi, *out;
    int64_t out_stride;
} effective_votes_problem;

/* One root of the product, not two: equal or opposite errors give exactly 1 or -1. Products of
 * totals below 2^53 are exact. */
static inline double phi_of_totals(double n, double i, double j, double both) {
    const double scale = (n * i - i * i) * (n * j - j * j);
    return scale > 0.0 ? (n * both - i * j) / sqrt(scale) : NAN;
}

static inline double kish(double k, double mean_phi) {
    const double design = 1.0 + (k - 1.0) * mean_phi;
    const double value = design > 0.0 ? k / design : NAN;
    return fabs(design) < 1e-12 * k ? INFINITY : value;
}

static inline int errors_vary(double n, double wrong) { return n * wrong - wrong * wrong > 0.0; }

/* n_eff of panel i in column c, judges whose errors do not vary left out; phi is that column's. */
static inline double effective_votes_of_varying(const effective_votes_problem *p, int64_t i,
                                                int64_t c, const double *phi) {
    uint64_t used = 0;
    for (int64_t q = p->starts[i]; q < p->starts[i + 1]; ++q) {
        const int64_t *rows = p->columns + 4 * p->pairs[q];
        const double n = p->totals[rows[0] * p->stride + c];
        for (int side = 0; side < 2; ++side)
            if (errors_vary(n, p->totals[rows[1 + side] * p->stride + c]))
                used |= (uint64_t)1 << p->judges[2 * q + side];
    }
    double total = 0.0, n_pairs = 0.0, k = 0.0;
    for (int64_t q = p->starts[i]; q < p->starts[i + 1]; ++q)
        if (used >> p->judges[2 * q] & used >> p->judges[2 * q + 1] & 1) {
            total += phi[p->pairs[q] * EFFECTIVE_VOTES_TILE];
            n_pairs += 1.0;
        }
    for (; used; used &= used - 1) k += 1.0;
    if (k < 2.0) return k == 1.0 ? k : NAN;
    return kish(k, total / n_pairs);
}

namespace effective_votes_variants {
#define ROPOLL_BODY "effective_votes_body.h"
#include "for_each_variant.h"
}  // namespace effective_votes_variants

static inline void effective_votes(int variant, const effective_votes_problem *problem) {
    using namespace effective_votes_variants;
    static void (*const table[])(const effective_votes_problem *) =
        ROPOLL_VARIANTS_OF(effective_votes_of);
    table[variant](problem);
}

#endif
