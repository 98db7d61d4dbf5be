/* Geometric median by Newton's method, one query a lane, D attributes. Part of a body.
 *
 * 1. The cost of every data point; b = the cheapest. If the pull of the others at b is not
 *    more than the weight there, b is the median (Vardi & Zhang 2000).
 * 2. Else leave b along the pull by the exact one-dimensional Newton step, everything as an
 *    offset from b, so that common offsets and far outliers cost nothing.
 * 3. Newton with LDL^T until the certificate holds. An overshoot (slope along the step turned)
 *    halves the step.
 *
 * A lane that ends unsettled is left to the robust solver: NaN and overflow (extreme scale), a
 * nearly singular matrix (points nearly on a line, where the minimiser may not be unique), a
 * data point on the edge of the test, too many steps.
 */

/* Solves H p = g by LDL^T, H packed by rows; returns the smallest pivot. */
template <int D>
LANE_INLINE vec solve_lanes(vec *H, const vec *g, vec *p) {
    vec inverse[D], least;
#pragma GCC unroll 16
    for (int j = 0; j < D; j++) {
        vec *row = H + j * (j + 1) / 2;
#pragma GCC unroll 16
        for (int k = 0; k < j; k++) {
            const vec *other = H + k * (k + 1) / 2;
#pragma GCC unroll 16
            for (int l = 0; l < k; l++) row[k] = fnma(row[l], other[l], row[k]);
        }
        vec pivot = row[j];
#pragma GCC unroll 16
        for (int k = 0; k < j; k++) {
            const vec scaled = row[k];
            row[k] = scaled * inverse[k];
            pivot = fnma(scaled, row[k], pivot);
        }
        least = j == 0 ? pivot : smaller(pivot, least);
        inverse[j] = 1.0 / pivot;
    }
#pragma GCC unroll 16
    for (int j = 0; j < D; j++) {
        p[j] = g[j];
#pragma GCC unroll 16
        for (int k = 0; k < j; k++) p[j] = fnma(H[j * (j + 1) / 2 + k], p[k], p[j]);
    }
#pragma GCC unroll 16
    for (int j = D - 1; j >= 0; j--) {
        p[j] = p[j] * inverse[j];
#pragma GCC unroll 16
        for (int k = j + 1; k < D; k++) p[j] = fnma(H[k * (k + 1) / 2 + j], p[k], p[j]);
    }
    return least;
}

/* Cost of every data point; the cheapest into b, its cost returned. */
template <int D>
LANE_INLINE vec cheapest_point(const vec *x, const vec *w, vec *cost, ptrdiff_t n, vec *b) {
    for (ptrdiff_t i = 0; i < n; i++) cost[i] = all(0);
    for (ptrdiff_t i = 1; i < n; i++) {
        const vec *xi = x + i * D;
        vec sum = all(0);
        for (ptrdiff_t j = 0; j < i; j++) {
            vec t[D];
#pragma GCC unroll 16
            for (int k = 0; k < D; k++) t[k] = xi[k] - x[j * D + k];
            const vec r = root(square<D>(t));
            sum = fma(w[j], r, sum);
            cost[j] = fma(w[i], r, cost[j]);
        }
        cost[i] += sum;
    }
    vec least = cost[0];
#pragma GCC unroll 16
    for (int k = 0; k < D; k++) b[k] = x[k];
    for (ptrdiff_t i = 1; i < n; i++) {
        const mask better = less(cost[i], least);
        least = pick(better, cost[i], least);
#pragma GCC unroll 16
        for (int k = 0; k < D; k++) b[k] = pick(better, x[i * D + k], b[k]);
    }
    return least;
}

/* x (n, D) is overwritten by offsets from b; cost (n,) is scratch. */
template <int D>
static void newton_lanes(
    vec *x, const vec *w, vec *cost, ptrdiff_t n, const GmPanels &P, Found &out) {
    const vec zero = all(0), tiny = all(1e-280);
    const vec tight = all(P.is_float ? 1e-5 : 1e-12);
    vec b[D];
    out.objective = cheapest_point<D>(x, w, cost, n, b);
    const mask same = all_equal<D>(x, n, out.objective);

    /* Recentre; the pull at b. */
    vec pull[D], mean[D], here = zero, total = zero;
#pragma GCC unroll 16
    for (int k = 0; k < D; k++) pull[k] = mean[k] = zero;
    for (ptrdiff_t i = 0; i < n; i++) {
        vec *t = x + i * D;
#pragma GCC unroll 16
        for (int k = 0; k < D; k++) t[k] -= b[k];
        const vec s = square<D>(t);
        const mask copy = equal(s, zero);
        const vec ir = inverse_root(larger(s, tiny));
        const vec a = pick(copy, zero, w[i] * ir);
        cost[i] = a * ir * ir;
        here += pick(copy, w[i], zero);
        total += w[i];
#pragma GCC unroll 16
        for (int k = 0; k < D; k++) {
            pull[k] = fma(a, t[k], pull[k]);
            mean[k] = fma(w[i], t[k], mean[k]);
        }
    }
#pragma GCC unroll 16
    for (int k = 0; k < D; k++) mean[k] /= total;
    const vec force = root(square<D>(pull));
    const vec excess = force - here, edge = tight * total;
    mask settled = (less(excess, -edge) & ordinary(out.objective)) | same;
    const mask idle = less(excess, edge) | ~ordinary(out.objective);
    out.gap = out.steps = zero;

    /* Leave b along u = pull/force. */
    vec u[D], curve = zero;
#pragma GCC unroll 16
    for (int k = 0; k < D; k++) u[k] = pull[k] / force;
    for (ptrdiff_t i = 0; i < n; i++) {
        const vec *t = x + i * D;
        vec along = t[0] * u[0];
#pragma GCC unroll 16
        for (int k = 1; k < D; k++) along = fma(t[k], u[k], along);
        /* a (1 - (u.u_i)^2) = a/r^2 (r^2 - (u.t)^2) */
        curve = fma(cost[i], larger(square<D>(t) - along * along, zero), curve);
    }
    const vec leap = excess / curve;
    vec z[D], p[D], slope = zero;
#pragma GCC unroll 16
    for (int k = 0; k < D; k++) {
        z[k] = pick(settled, zero, u[k] * leap);
        p[k] = zero;
    }

    const int cap = P.max_iter < 16 ? P.max_iter : 16;
    for (int pass = 1; bits(settled | idle) != ALL_LANES; pass++) {
        vec g[D], H[D * (D + 1) / 2], F = zero, A = zero;
#pragma GCC unroll 16
        for (int k = 0; k < D; k++) g[k] = zero;
#pragma GCC unroll 90
        for (int k = 0; k < D * (D + 1) / 2; k++) H[k] = zero;
        for (ptrdiff_t i = 0; i < n; i++) {
            vec t[D];
#pragma GCC unroll 16
            for (int k = 0; k < D; k++) t[k] = x[i * D + k] - z[k];
            const vec s = larger(square<D>(t), tiny);
            const vec ir = inverse_root(s), a = w[i] * ir, c = a * ir * ir;
            F = fma(a, s, F);
            A += a;
#pragma GCC unroll 16
            for (int j = 0; j < D; j++) {
                g[j] = fma(a, t[j], g[j]);
                const vec ct = c * t[j];
#pragma GCC unroll 16
                for (int k = 0; k <= j; k++)
                    H[j * (j + 1) / 2 + k] = fnma(ct, t[k], H[j * (j + 1) / 2 + k]);
            }
        }
        vec lean = zero, turned = zero;
#pragma GCC unroll 16
        for (int k = 0; k < D; k++) {
            lean = fma(g[k], mean[k] - z[k], lean);
            turned = fma(g[k], p[k], turned);
            H[k * (k + 1) / 2 + k] += A;
        }
        const vec rho = root(square<D>(g)) / total;
        const vec gap = larger(fma(rho, F, lean) / (1.0 + rho), zero);

        vec next[D];
        const vec pivot = solve_lanes<D>(H, g, next);
        /* rho: beside a far outlier a small gap alone does not fix the place. */
        const mask sound = less(1e-10 * A, pivot) & at_most(gap, P.tol * F) &
                           at_most(rho, all(8 * P.tol));
        const mask now = sound & ~settled & ~idle;
        out.objective = pick(now, F, out.objective);
        out.gap = pick(now, gap, out.gap);
        out.steps = pick(now, all(pass), out.steps);
        settled = settled | now;
        if (pass >= cap) break;

        const mask overshot = less(turned, -0.9 * slope);
        vec descent = zero;
#pragma GCC unroll 16
        for (int k = 0; k < D; k++) {
            const vec half = 0.5 * p[k];
            const vec move = pick(overshot, -half, next[k]);
            z[k] = pick(settled, z[k], z[k] + move);
            p[k] = pick(overshot, half, next[k]);
            descent = fma(g[k], next[k], descent);
        }
        slope = pick(overshot, 0.5 * slope, descent);
    }
    out.done = settled;
#pragma GCC unroll 16
    for (int k = 0; k < D; k++) out.z[k] = b[k] + z[k];
}
