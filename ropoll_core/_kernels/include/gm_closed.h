/* One, two and three judges, one query a lane: closed form. Part of a body.
 *
 * Two: the middle if their weights are equal, else the heavier. Three:
 *
 * with g_i = <x_j - x_i, x_k - x_i> and e, e' the squared sides at the vertex of smallest g,
 * the area term S = sqrt(e e' - g^2) is well conditioned. Equal weights: a vertex of 120
 * degrees or more, else barycentric weights ~ 1/(g_i + S/sqrt 3). Weighted: a vertex whose
 * weight holds the pull of the others, else ~ 1/(g_i/S + cot M_i), M the triangle of weights.
 * The certificate is evaluated at the result; lanes that miss it (a median next to a vertex, a
 * far outlier first, extreme scale, three points on a line) are left unsettled.
 */

/* One or two judges. `several`: lanes where every point between the two is a median. */
static void pair_lanes(
    const vec *x, const vec *w, ptrdiff_t n, ptrdiff_t d, Found &found, mask &several) {
    const vec *y = x + (n - 1) * row_stride(d), a = w[0], b = w[n - 1];
    const mask even = equal(a, b), lighter = less(a, b);
    vec s = all(0), reach = all(0);
    for (ptrdiff_t k = 0; k < d; k++) {
        const vec t = y[k] - x[k];
        s = fma(t, t, s);
        reach = larger(reach, larger(t, -t));
        /* One judge, or the heavier of two, to the bit: halves of odd subnormals are not. */
        const vec middle = pick(equal(t, all(0)), x[k], 0.5 * x[k] + 0.5 * y[k]);
        found.z[k] = pick(even, middle, pick(lighter, y[k], x[k]));
    }
    const mask same = equal(reach, all(0));
    found.objective = pick(same, all(0), smaller(a, b) * root(s));
    found.gap = found.steps = all(0);
    found.done = same | (less(all(1e-260), s) & less(s, all(1e300)));
    several = even & ~same;
}

template <int D, bool WEIGHTED>
static void closed_lanes(const vec *x, const vec *w, const GmPanels &P, Found &out) {
    const vec zero = all(0), tiny = all(1e-280);
    const double tight = P.is_float ? 1e-5 : 1e-12;
    vec p[D], q[D], o[D]; /* sides: x_1 - x_0, x_2 - x_0, x_2 - x_1 */
#pragma GCC unroll 16
    for (int k = 0; k < D; k++) {
        p[k] = x[D + k] - x[k];
        q[k] = x[2 * D + k] - x[k];
        o[k] = x[2 * D + k] - x[D + k];
    }
    const vec pp = inner<D>(p, p), qq = inner<D>(q, q), oo = inner<D>(o, o);
    const vec g0 = inner<D>(p, q), g1 = -inner<D>(p, o), g2 = inner<D>(q, o);
    const vec both0 = pp * qq, both1 = pp * oo, both2 = qq * oo;
    /* The squared area term from the vertex of the smallest g. */
    const mask b1 = less(g1, g0) & at_most(g1, g2), b2 = less(g2, g0) & less(g2, g1);
    const vec g = pick(b1, g1, pick(b2, g2, g0));
    const vec S2 = fnma(g, g, pick(b1, both1, pick(b2, both2, both0)));
    const vec S = root(larger(S2, zero));

    vec w0 = all(1), w1 = w0, w2 = w0, share = all(1.0 / 3), l0, l1, l2;
    mask at0, at1, at2;
    if (WEIGHTED) {
        w0 = w[0], w1 = w[1], w2 = w[2];
        share = 1.0 / (w0 + w1 + w2);
        const vec s0 = w0 * w0, s1 = w1 * w1, s2 = w2 * w2;
        /* A vertex is the median if the squared pull of the others is below its weight's. */
        const vec hold = all(1.0 - tight);
        const vec ip = inverse_root(larger(pp, tiny)), iq = inverse_root(larger(qq, tiny)),
                  io = inverse_root(larger(oo, tiny));
        at0 = less(s1 + s2 + 2.0 * w1 * w2 * (g0 * ip * iq), s0 * hold);
        at1 = less(s0 + s2 + 2.0 * w0 * w2 * (g1 * ip * io), s1 * hold);
        at2 = less(s0 + s1 + 2.0 * w0 * w1 * (g2 * iq * io), s2 * hold);
        const vec cot =
            1.0 / root(2.0 * (s0 * s1 + s1 * s2 + s2 * s0) - (s0 * s0 + s1 * s1 + s2 * s2));
        const vec inverse_S = 1.0 / S;
        const vec c0 = fma(g0, inverse_S, (s1 + s2 - s0) * cot);
        const vec c1 = fma(g1, inverse_S, (s0 + s2 - s1) * cot);
        const vec c2 = fma(g2, inverse_S, (s0 + s1 - s2) * cot);
        l0 = c1 * c2, l1 = c0 * c2, l2 = c0 * c1;
    } else {
        /* cosine < -1/2; or a copy, which outweighs the third */
        const vec quarter = all(0.25 + tight);
        at0 = (less(g0, zero) & less(quarter * both0, g0 * g0)) | equal(pp, zero) |
              equal(qq, zero);
        at1 = (less(g1, zero) & less(quarter * both1, g1 * g1)) | equal(oo, zero);
        at2 = less(g2, zero) & less(quarter * both2, g2 * g2);
        const vec h = S * 0.57735026918962576451;
        const vec c0 = g0 + h, c1 = g1 + h, c2 = g2 + h;
        l0 = c1 * c2, l1 = c0 * c2, l2 = c0 * c1;
    }
    const vec scale = 1.0 / (l0 + l1 + l2);
    l1 = pick(at1, all(1), pick(at0 | at2, zero, l1 * scale));
    l2 = pick(at2, all(1), pick(at0 | at1, zero, l2 * scale));

    /* Certificate at z, an offset from x_0. |mean - z| <= F/W, so the gap is at most 2 rho F. */
    vec z[D], t1[D], t2[D], norm = zero;
#pragma GCC unroll 16
    for (int k = 0; k < D; k++) {
        z[k] = fma(l1, p[k], l2 * q[k]);
        t1[k] = p[k] - z[k];
        t2[k] = q[k] - z[k];
    }
    const vec a0 = square<D>(z), a1 = square<D>(t1), a2 = square<D>(t2);
    const vec r0 = w0 * inverse_root(larger(a0, tiny)), r1 = w1 * inverse_root(larger(a1, tiny)),
              r2 = w2 * inverse_root(larger(a2, tiny));
    const vec F = fma(a0, r0, fma(a1, r1, a2 * r2));
#pragma GCC unroll 16
    for (int k = 0; k < D; k++) {
        const vec s = fma(r1, t1[k], fnma(r0, z[k], r2 * t2[k]));
        norm = fma(s, s, norm);
    }
    const mask corner = at0 | at1 | at2;
    out.objective = F;
    out.gap = pick(corner, zero, 2.0 * F * (root(norm) * share));
    out.steps = zero;
    out.done = (less(all(1e-70), F) & less(F, all(1e70)) & at_most(out.gap, P.tol * F)) |
               all_equal<D>(x, 3, F);
#pragma GCC unroll 16
    for (int k = 0; k < D; k++)
        out.z[k] = pick(at1, x[D + k], pick(at2, x[2 * D + k], x[k] + z[k]));
}
