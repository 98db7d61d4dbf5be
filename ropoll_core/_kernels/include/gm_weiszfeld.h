/* The plain batched Weiszfeld iteration, one query a lane, any number of attributes. Part of a
 * body.
 *
 * z <- sum_i a_i x_i / sum_i a_i, a_i = w_i / max(|x_i - z|, eta), from the weighted mean, until
 * a step is no longer than `step` or `max_iter` steps are taken. Offsets are from the first
 * judge and scaled by a power of two, which changes no digit and spares 1e200 and 1e-200.
 * The certificate is taken at the end with true distances: this iteration can stop anywhere.
 */

/* x (n, row_stride(d)) is overwritten; z, t (d,) and r (n,) are scratch, z the median on return. */
static void weiszfeld_lanes(
    vec *x, const vec *w, vec *r, vec *z, vec *t, ptrdiff_t n, const GmPanels &P, vec *origin,
    vec &objective, vec &gap, vec &steps) {
    const ptrdiff_t d = P.n_attributes, ds = row_stride(d);
    const vec zero = all(0), tiny = all(1e-300);
    vec reach = zero, total = zero;
    for (ptrdiff_t k = 0; k < d; k++) origin[k] = x[k];
    for (ptrdiff_t i = 0; i < n; i++) {
        total += w[i];
        for (ptrdiff_t k = 0; k < d; k++) {
            x[i * ds + k] = 0.5 * x[i * ds + k] - 0.5 * origin[k];
            reach = larger(reach, larger(x[i * ds + k], -x[i * ds + k]));
        }
    }
    /* The power of two at or below `reach`. */
    const ints exponent = (ints)reach & 0x7ff0000000000000LL;
    const vec unit = pick(less(all(1e-300), reach), (vec)exponent, all(1e-300));
    const vec eta = all(0.5 * P.eta) / unit, enough = all(0.5 * P.step) / unit;
    for (ptrdiff_t k = 0; k < d; k++) z[k] = zero;
    for (ptrdiff_t i = 0; i < n; i++)
        for (ptrdiff_t k = 0; k < d; k++) {
            x[i * ds + k] /= unit;
            z[k] = fma(w[i] / total, x[i * ds + k], z[k]);
        }
    mask done = {};
    steps = zero;
    for (int pass = 0; pass < P.max_iter && bits(done) != ALL_LANES; pass++) {
        vec sum = zero, moved = zero;
        for (ptrdiff_t k = 0; k < d; k++) t[k] = zero;
        for (ptrdiff_t i = 0; i < n; i++) {
            vec s = zero;
            for (ptrdiff_t k = 0; k < d; k++) {
                const vec e = x[i * ds + k] - z[k];
                s = fma(e, e, s);
            }
            const vec a = w[i] / larger(root(s), eta);
            sum += a;
            for (ptrdiff_t k = 0; k < d; k++) t[k] = fma(a, x[i * ds + k], t[k]);
        }
        for (ptrdiff_t k = 0; k < d; k++) {
            const vec next = t[k] / sum, e = next - z[k];
            moved = fma(e, e, moved);
            z[k] = pick(done, z[k], next);
        }
        steps = pick(done, steps, steps + 1.0);
        done = done | at_most(root(moved), enough);
    }

    /* Certificate: all pulls, or the nearest judge (and its copies) answering the others. */
    vec nearest = all(INFINITY), F = zero;
    for (ptrdiff_t i = 0; i < n; i++) {
        vec s = zero;
        for (ptrdiff_t k = 0; k < d; k++) {
            const vec e = x[i * ds + k] - z[k];
            s = fma(e, e, s);
        }
        r[i] = root(s);
        nearest = smaller(nearest, r[i]);
        F = fma(w[i], r[i], F);
    }
    vec far2 = zero, all2 = zero, lean = zero, lean_near = zero, here = zero;
    for (ptrdiff_t i = 0; i < n; i++) here += pick(equal(r[i], nearest), w[i], zero);
    for (ptrdiff_t k = 0; k < d; k++) {
        vec far = zero, near_pull = zero, near_t = zero, mean = zero;
        for (ptrdiff_t i = 0; i < n; i++) {
            const vec e = w[i] * (x[i * ds + k] - z[k]), a = e / larger(r[i], tiny);
            const mask near = equal(r[i], nearest);
            far += pick(near, zero, a);
            near_pull += pick(near, a, zero);
            near_t += pick(near, e, zero);
            mean += e;
        }
        const vec pull = far + near_pull;
        all2 = fma(pull, pull, all2);
        far2 = fma(far, far, far2);
        lean = fma(pull, mean / total, lean);
        lean_near = fma(far, near_t / here, lean_near);
    }
    const vec rho = root(all2) / total;
    const vec first = pick(less(zero, nearest), fma(rho, F, lean) / (1.0 + rho), all(INFINITY));
    const vec theta = smaller(here / larger(root(far2), tiny), all(1));
    const vec F_near = here * nearest;
    const vec second = (1.0 - theta) * (F - F_near) + F_near + theta * lean_near;
    gap = larger(smaller(first, second), zero) * unit * 2.0;
    objective = F * unit * 2.0;
    for (ptrdiff_t k = 0; k < d; k++) z[k] = fma(z[k] * unit, all(2), origin[k]);
}
