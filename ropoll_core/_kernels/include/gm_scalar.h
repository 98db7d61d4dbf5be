/* The robust solver: one query at a time in extended precision.
 *
 * Takes what the lanes do not settle: mixed scales, collinear and nearly collinear panels,
 * minimisers next to a data point, outliers to 1e308, everything times 1e-200. The exponent
 * range of `long double` (x86, and quad precision elsewhere) makes scaling needless; where
 * long double is double such queries may end as GM_NOT_CERTIFIED, never as a wrong claim.
 *
 * Contract: n >= 1 valid rows, finite, weights positive and finite. Always ends: every loop
 * has a cap.
 */
#ifndef ROPOLL_GM_SCALAR_H
#define ROPOLL_GM_SCALAR_H

#include "gm_problem.h"

namespace gm_scalar {

/* Solves (H + tiny) p = g in place by LDL^T; false if a pivot is not positive. */
static bool solve_newton(real *H, const real *g, real *p, ptrdiff_t d) {
    real trace = 0;
    for (ptrdiff_t k = 0; k < d; k++) trace += H[k * d + k];
    const real ridge = trace * 1e-19L;
    for (ptrdiff_t j = 0; j < d; j++) {
        real *row = H + j * d;
        for (ptrdiff_t k = 0; k < j; k++) {
            real s = row[k];
            for (ptrdiff_t l = 0; l < k; l++) s -= row[l] * H[k * d + l];
            row[k] = s; /* L D */
        }
        real pivot = row[j] + ridge;
        for (ptrdiff_t k = 0; k < j; k++) {
            const real scaled = row[k];
            row[k] = scaled / H[k * d + k];
            pivot -= scaled * row[k];
        }
        if (!(pivot > 0)) return false;
        row[j] = pivot;
    }
    for (ptrdiff_t j = 0; j < d; j++) {
        real s = g[j];
        for (ptrdiff_t k = 0; k < j; k++) s -= H[j * d + k] * p[k];
        p[j] = s;
    }
    for (ptrdiff_t j = d - 1; j >= 0; j--) {
        real s = p[j] / H[j * d + j];
        for (ptrdiff_t k = j + 1; k < d; k++) s -= H[k * d + j] * p[k];
        p[j] = s;
    }
    return true;
}

/* Newton's direction at z, or the Weiszfeld step where Newton has none. */
static void direction(Problem &P, const real *z, const real *g, real pull) {
    const ptrdiff_t d = P.d;
    bool newton = d <= MOST_NEWTON;
    if (newton) {
        std::fill(P.H, P.H + d * d, (real)0);
        for (ptrdiff_t i = 0; i < P.m; i++) {
            if (P.r[i] == 0) continue;
            const real a = P.w[i] / P.r[i];
            real *u = P.try_z;
            for (ptrdiff_t k = 0; k < d; k++) u[k] = (P.x[i * d + k] - z[k]) / P.r[i];
            for (ptrdiff_t j = 0; j < d; j++)
                for (ptrdiff_t k = 0; k <= j; k++) P.H[j * d + k] -= a * u[j] * u[k];
        }
        for (ptrdiff_t k = 0; k < d; k++) P.H[k * d + k] += pull;
        newton = solve_newton(P.H, g, P.p, d) && dot(P.p, g, d) > 0 &&
                 dot(P.p, P.p, d) < INFINITY;
    }
    if (!newton)
        for (ptrdiff_t k = 0; k < d; k++) P.p[k] = g[k] / pull;
}

/* Slope of -F along p at z + t p. */
static real slope(Problem &P, const real *z, real t) {
    const ptrdiff_t d = P.d;
    for (ptrdiff_t k = 0; k < d; k++) P.try_z[k] = z[k] + t * P.p[k];
    real s = 0;
    for (ptrdiff_t i = 0; i < P.m; i++) {
        const real *x = P.x + i * d;
        real along = 0, square = 0;
        for (ptrdiff_t k = 0; k < d; k++) {
            const real e = x[k] - P.try_z[k];
            along += e * P.p[k];
            square += e * e;
        }
        if (square > 0) s += P.w[i] * along / sqrtl(square);
    }
    return s;
}

/* A step length t along p, F convex along it: brackets the zero of the slope and stops once
 * the slope has fallen to a third. The zero may be a hundred orders of magnitude away (a tight
 * cluster to be left for far outliers), so the bracket grows and shrinks by its exponent. */
static real step_length(Problem &P, const real *z, real slope0) {
    real low = 0, high = 1, at_low = slope0, at_high = slope(P, z, 1), factor = 4;
    for (int grow = 0; grow < 24 && at_high > 0.3L * slope0; grow++) {
        low = high, at_low = at_high;
        high *= factor;
        if (factor < 1e60L) factor *= factor;
        at_high = slope(P, z, high);
    }
    if (fabsl(at_high) <= 0.3L * slope0 || at_high > 0) return high;
    for (int cut = 0; cut < 80; cut++) {
        real t = low + (high - low) * at_low / (at_low - at_high);
        const real edge = 0.1L * (high - low);
        t = std::min(std::max(t, low + edge), high - edge);
        if (low > 0 && high > 100 * low) t = sqrtl(low * high);
        const real s = slope(P, z, t);
        if (fabsl(s) <= 0.3L * slope0) return t;
        if (s > 0)
            low = t, at_low = s;
        else
            high = t, at_high = s;
    }
    return low > 0 ? low : high;
}

/* Leaves the data point b (offset zero) along its excess pull g, by the exact Newton step of
 * the one-dimensional problem. */
static void leave(Problem &P, const real *from, const real *g, real excess) {
    const ptrdiff_t d = P.d;
    const real length = sqrtl(dot(g, g, d));
    real curve = 0, nearest = INFINITY;
    for (ptrdiff_t i = 0; i < P.m; i++) {
        if (P.r[i] == 0) continue;
        real along = 0;
        for (ptrdiff_t k = 0; k < d; k++) along += (P.x[i * d + k] - from[k]) * g[k];
        along /= P.r[i] * length;
        curve += P.w[i] / P.r[i] * std::max(1 - along * along, (real)0);
        nearest = std::min(nearest, P.r[i]);
    }
    real t = excess / curve;
    if (!(t < nearest)) t = nearest / 2;
    for (ptrdiff_t k = 0; k < d; k++) P.z[k] = from[k] + t * g[k] / length;
}

/* Newton steps from P.z until the place is settled, not only the value: with an outlier at
 * 1e12 every point among the other judges has a gap far below tol * F. Settled is a pull at
 * rounding, or a step far below the distance to the nearest data point. */
static void iterate(Problem &P, double tol, int max_iter, GmAnswer &out) {
    const ptrdiff_t d = P.d;
    real best_F = INFINITY, best_gap = INFINITY, best_pull = INFINITY, moved = INFINITY;
    bool best_good = false;
    int idle = 0;
    out.n_iter = 0;
    for (;;) {
        real here, pull;
        const real F = evaluate(P, P.z, P.g, here, pull);
        const real gap = certificate(P, P.z, P.g, F, here);
        const real length = sqrtl(dot(P.g, P.g, d));
        const real excess = std::max(length - here, (real)0);
        const bool good = gap <= tol * F;
        idle = excess < best_pull / 2 ? 0 : idle + 1;
        const bool closer = good ? excess < best_pull : gap < best_gap;
        if (good > best_good || (good == best_good && closer)) {
            best_gap = gap, best_F = F, best_good = good;
            std::copy(P.z, P.z + d, P.best);
        }
        best_pull = std::min(best_pull, excess);
        real nearest = INFINITY;
        for (ptrdiff_t i = 0; i < P.m; i++)
            if (P.r[i] > 0) nearest = std::min(nearest, P.r[i]);
        const bool settled = excess <= 1e-18L * P.W || moved <= 1e-14L * nearest;
        if ((settled && best_good) || idle > (best_good ? 12 : 40) || out.n_iter >= max_iter)
            break;
        out.n_iter++;
        if (here > 0) {
            std::copy(P.z, P.z + d, P.try_g);
            leave(P, P.try_g, P.g, excess);
            moved = INFINITY;
            continue;
        }
        direction(P, P.z, P.g, pull);
        const real t = step_length(P, P.z, dot(P.g, P.p, d));
        for (ptrdiff_t k = 0; k < d; k++) P.z[k] += t * P.p[k];
        moved = t * sqrtl(dot(P.p, P.p, d));
    }
    std::copy(P.best, P.best + d, P.z);
    out.objective = (double)best_F;
    out.gap = (double)best_gap;
    out.status = best_good ? GM_CERTIFIED : GM_NOT_CERTIFIED;
}

/* If all points lie on one line to rounding and half of the weight lies on either side of a
 * stretch of it: the middle of that stretch into z. False if not so, or if the pull at the
 * middle does not bear it out.
 *
 * Rounding is `slack` of a point's offset and of the origin's size, not of the farthest
 * point's: beside an outlier at 1e99 anything would be a line. */
static bool middle_of_a_line(
    Problem &P, const double *origin, double slack, double tol, GmAnswer &out) {
    const ptrdiff_t d = P.d, m = P.m;
    ptrdiff_t tip = 0;
    real reach = 0, size = 0;
    for (ptrdiff_t k = 0; k < d; k++) size += (real)origin[k] * origin[k];
    size = sqrtl(size);
    for (ptrdiff_t i = 0; i < m; i++) {
        const real s = dot(P.x + i * d, P.x + i * d, d);
        if (s > reach) reach = s, tip = i;
    }
    const real *e = P.x + tip * d;
    for (ptrdiff_t i = 0; i < m; i++) {
        const real *x = P.x + i * d, along = dot(x, e, d) / reach;
        real off = 0;
        for (ptrdiff_t k = 0; k < d; k++) {
            const real t = x[k] - along * e[k];
            off += t * t;
        }
        if (sqrtl(off) > slack * (sqrtl(dot(x, x, d)) + size)) return false;
        P.key[i] = along;
        P.order[i] = i;
    }
    std::sort(P.order, P.order + m, [&P](ptrdiff_t a, ptrdiff_t b) {
        return P.key[a] < P.key[b] || (P.key[a] == P.key[b] && a < b);
    });
    const real half = P.W / 2, tie = 1e-15L * P.W;
    real below = 0;
    ptrdiff_t c = 0;
    while (c + 1 < m && below + P.w[P.order[c]] < half - tie) below += P.w[P.order[c++]];
    if (c + 1 == m || below + P.w[P.order[c]] > half + tie) return false;
    const real *a = P.x + P.order[c] * d, *b = P.x + P.order[c + 1] * d;
    for (ptrdiff_t k = 0; k < d; k++) P.z[k] = (a[k] + b[k]) / 2;
    real here, pull;
    const real F = evaluate(P, P.z, P.g, here, pull);
    const real gap = certificate(P, P.z, P.g, F, here);
    out.objective = (double)F;
    out.gap = (double)gap;
    out.n_iter = 0;
    out.status = GM_NOT_UNIQUE;
    return gap <= tol * F && sqrtl(dot(P.g, P.g, d)) <= tol * P.W;
}

/* Tests data points: returns one that is the median, or -1 and in `start` the best of them.
 * `spare` is what it holds beyond the pull of the others: 0 on the edge of the test. */
static ptrdiff_t data_point_test(Problem &P, ptrdiff_t &start, real &spare) {
    const ptrdiff_t d = P.d;
    real least = INFINITY, least_excess = INFINITY;
    start = 0;
    /* With very many points, only a sample can be tried: the iteration visits the others. */
    const ptrdiff_t stride = P.m <= MOST_PAIRS ? 1 : P.m / 64;
    for (ptrdiff_t j = 0; j < P.m; j += stride) {
        real here, pull;
        const real F = evaluate(P, P.x + j * d, P.g, here, pull);
        const real excess = sqrtl(dot(P.g, P.g, d)) - here;
        if (excess <= 0) {
            spare = -excess;
            return j;
        }
        /* F cannot rank points that differ by less than its rounding. */
        const real blur = 1e-18L * F;
        if (F < least - blur || (F < least + blur && excess < least_excess)) {
            least = std::min(F, least), least_excess = excess, start = j;
        }
    }
    return -1;
}

static void set_origin(Problem &P, const double *origin) {
    const ptrdiff_t d = P.d;
    for (ptrdiff_t k = 0; k < d; k++) P.mean[k] = 0;
    for (ptrdiff_t i = 0; i < P.m; i++)
        for (ptrdiff_t k = 0; k < d; k++) {
            P.x[i * d + k] -= origin[k];
            P.mean[k] += P.w[i] / P.W * P.x[i * d + k];
        }
}

/* The median of rows x (n, d) with weights w into z, absolute. */
static void solve_one(
    const double *x, const double *w, ptrdiff_t n, ptrdiff_t d, double tol, double slack,
    int max_iter, char *work, double *z, GmAnswer &out) {
    Problem P;
    carve(P, work, n, d);
    merge_copies(P, x, w, n);
    ptrdiff_t start = 0;
    real spare = P.W;
    const ptrdiff_t found = P.m == 1 ? 0 : data_point_test(P, start, spare);
    const ptrdiff_t base = found >= 0 ? found : start;
    /* The row that point came from: its coordinates are exact doubles. */
    const double *origin = x;
    for (ptrdiff_t i = 0; i < n; i++) {
        ptrdiff_t k = 0;
        while (k < d && P.x[base * d + k] == (real)x[i * d + k]) k++;
        if (k == d) {
            origin = x + i * d;
            break;
        }
    }
    set_origin(P, origin);
    /* A point on the edge of the test may be one end of a stretch of medians. */
    const bool sharp = spare > 1e-15L * P.W;
    if (!(found >= 0 && sharp) && middle_of_a_line(P, origin, slack, tol, out)) {
        for (ptrdiff_t k = 0; k < d; k++) z[k] = (double)(P.z[k] + origin[k]);
        return;
    }
    for (ptrdiff_t k = 0; k < d; k++) P.z[k] = 0;
    real here, pull;
    const real F = evaluate(P, P.z, P.g, here, pull);
    if (found >= 0) {
        out.objective = (double)F;
        out.gap = 0;
        out.n_iter = 0;
        out.status = GM_CERTIFIED;
    } else {
        leave(P, P.x + base * d, P.g, sqrtl(dot(P.g, P.g, d)) - here);
        iterate(P, tol, max_iter, out);
    }
    for (ptrdiff_t k = 0; k < d; k++) z[k] = (double)(P.z[k] + origin[k]);
}

}  // namespace gm_scalar

#endif
