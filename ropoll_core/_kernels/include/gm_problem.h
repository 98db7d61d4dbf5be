/* One query in extended precision: its points, the value and pull at a place, the certificate.
 *
 * The part under the robust solver that decides nothing: gm_scalar.h does the solving.
 */
#ifndef ROPOLL_GM_PROBLEM_H
#define ROPOLL_GM_PROBLEM_H

#include <math.h>

#include <algorithm>

#include "gm_types.h"

namespace gm_scalar {

typedef long double real;

/* Above this many attributes (or points) Newton's matrix (or all pairs) is not formed. */
enum { MOST_NEWTON = 160, MOST_PAIRS = 512 };

struct Problem {
    ptrdiff_t m, d;   /* distinct points */
    real *x, *w;      /* (m, d) offsets from the origin; (m,) */
    real W;           /* sum of w */
    real *mean;       /* weighted mean, as an offset */
    real *r;          /* (m,) distances from the point last evaluated */
    real *z, *g, *p, *try_z, *try_g, *best, *far; /* (d,) */
    real *H;          /* (d, d), or unused */
    real *key;        /* (m,) sort keys */
    ptrdiff_t *order; /* (m,) */
};

static inline size_t work_bytes(ptrdiff_t n, ptrdiff_t d) {
    const ptrdiff_t h = d <= MOST_NEWTON ? d * d : 0;
    return sizeof(real) * (size_t)(n * d + 3 * n + 8 * d + h) + sizeof(ptrdiff_t) * (size_t)n;
}

static inline void carve(Problem &P, char *work, ptrdiff_t n, ptrdiff_t d) {
    real *at = (real *)work;
    auto take = [&at](ptrdiff_t count) { real *p = at; at += count; return p; };
    P.d = d;
    P.x = take(n * d);
    P.w = take(n), P.r = take(n), P.key = take(n);
    P.mean = take(d), P.z = take(d), P.g = take(d), P.p = take(d);
    P.try_z = take(d), P.try_g = take(d), P.best = take(d), P.far = take(d);
    P.H = take(d <= MOST_NEWTON ? d * d : 0);
    P.order = (ptrdiff_t *)at;
}

static inline real dot(const real *a, const real *b, ptrdiff_t d) {
    real s = 0;
    for (ptrdiff_t k = 0; k < d; k++) s += a[k] * b[k];
    return s;
}

static inline real distance(const real *a, const real *b, ptrdiff_t d) {
    real s = 0;
    for (ptrdiff_t k = 0; k < d; k++) s += (a[k] - b[k]) * (a[k] - b[k]);
    return sqrtl(s);
}

/* Exact copies become one point of their total weight. */
static void merge_copies(Problem &P, const double *x, const double *w, ptrdiff_t n) {
    const ptrdiff_t d = P.d;
    P.m = 0;
    P.W = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        const double *row = x + i * d;
        ptrdiff_t j = 0;
        for (; j < P.m; j++) {
            ptrdiff_t k = 0;
            while (k < d && P.x[j * d + k] == (real)row[k]) k++;
            if (k == d) break;
        }
        if (j == P.m) {
            for (ptrdiff_t k = 0; k < d; k++) P.x[j * d + k] = row[k];
            P.w[j] = 0;
            P.order[j] = i;
            P.m++;
        }
        P.w[j] += w[i];
        P.W += w[i];
    }
}

/* Sum of w_i (x_i - z)/r_i over the points away from z into g, F as the value; fills r.
 * `here` receives the weight of the points exactly at z, `pull` sum w_i/r_i. */
static real evaluate(Problem &P, const real *z, real *g, real &here, real &pull) {
    const ptrdiff_t d = P.d;
    real F = 0;
    here = pull = 0;
    for (ptrdiff_t k = 0; k < d; k++) g[k] = 0;
    for (ptrdiff_t i = 0; i < P.m; i++) {
        const real *x = P.x + i * d, r = distance(x, z, d);
        P.r[i] = r;
        if (r == 0) {
            here += P.w[i];
            continue;
        }
        const real a = P.w[i] / r;
        for (ptrdiff_t k = 0; k < d; k++) g[k] += a * (x[k] - z[k]);
        F += P.w[i] * r;
        pull += a;
    }
    return F;
}

/* Bound on F(z) - min F after evaluate(z, g). A dual point is a force of length <= w_i on each
 * judge, the forces balanced. First: all unit pulls, scaled and shifted to balance. Then, for
 * the k nearest judges, whose directions rounding (or a kink) leaves open: they answer the
 * pull of all others in proportion to their weights. The smallest of these is the gap. */
static real certificate(Problem &P, const real *z, const real *g, real F, real here) {
    const ptrdiff_t d = P.d, m = P.m;
    const real length = sqrtl(dot(g, g, d));
    real gap = INFINITY;
    if (here == 0) {
        real lean = 0;
        for (ptrdiff_t k = 0; k < d; k++) lean += g[k] * (P.mean[k] - z[k]);
        const real rho = length / P.W;
        gap = std::max((rho * F + lean) / (1 + rho), (real)0);
        if (gap <= 1e-16L * F) return gap;
    }
    for (ptrdiff_t i = 0; i < m; i++) P.order[i] = i;
    std::sort(P.order, P.order + m, [&P](ptrdiff_t a, ptrdiff_t b) {
        return P.r[a] < P.r[b] || (P.r[a] == P.r[b] && a < b);
    });
    real near_w = 0, near_F = 0;
    real *far = P.far, *near_t = P.try_z; /* sum over the near of w (x - z) */
    for (ptrdiff_t k = 0; k < d; k++) far[k] = g[k], near_t[k] = 0;
    for (ptrdiff_t c = 0; c + 1 < m; c++) {
        const ptrdiff_t i = P.order[c];
        const real r = P.r[i], w = P.w[i];
        for (ptrdiff_t k = 0; k < d; k++) {
            const real t = w * (P.x[i * d + k] - z[k]);
            near_t[k] += t;
            if (r != 0) far[k] -= t / r;
        }
        near_w += w;
        near_F += w * r;
        if (near_F > gap || near_F > 1e-3L * F) break;
        const real pull = sqrtl(dot(far, far, d));
        const real theta = pull > near_w ? near_w / pull : 1;
        const real bound =
            (1 - theta) * (F - near_F) + near_F + theta * dot(far, near_t, d) / near_w;
        gap = std::min(gap, std::max(bound, (real)0));
    }
    return gap;
}

}  // namespace gm_scalar

#endif
