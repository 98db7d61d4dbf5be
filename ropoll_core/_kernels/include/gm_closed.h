/* One, two and three judges, one query a lane: closed form. Part of a body.
 *
 * Two: the middle if their weights are equal, else the heavier. Three:
 *
 * With side vectors e_i, g_i = <x_j - x_i, x_k - x_i> and b the vertex of smallest g, the
 * area term S = sqrt(|e||e'| - g^2) is well conditioned. Equal weights: x_b if its angle is
 * 120 degrees or more, else barycentric weights ~ 1/(g_i + S/sqrt 3). Weighted: a vertex whose
 * weight holds the pull of the others, else ~ 1/(g_i/S + cot M_i), M the triangle of weights.
 * The certificate is evaluated at the result, as an offset from b; lanes that miss it (a
 * median next to a vertex, extreme scale, three points on a line) are left unsettled.
 */

/* One or two judges. `several`: lanes where every point between the two is a median. */
static void pair_lanes(
    const vec *x, const vec *w, ptrdiff_t n, ptrdiff_t d, Found &found, mask &several) {
    const vec *y = x + (n - 1) * d, a = w[0], b = w[n - 1];
    const vec mine = pick(equal(a, b), all(0.5), pick(less(a, b), all(0), all(1)));
    vec s = all(0), reach = all(0);
    for (ptrdiff_t k = 0; k < d; k++) {
        const vec t = y[k] - x[k];
        s = fma(t, t, s);
        reach = larger(reach, larger(t, -t));
        found.z[k] = fma(mine, x[k], (1.0 - mine) * y[k]);
    }
    const mask same = equal(reach, all(0));
    found.objective = pick(same, all(0), smaller(a, b) * root(s));
    found.gap = found.steps = all(0);
    found.done = same | (less(all(1e-260), s) & less(s, all(1e300)));
    several = equal(a, b) & ~same;
}

template <int D, bool WEIGHTED>
static void closed_lanes(const vec *x, const vec *w, const GmPanels &P, Found &out) {
    const vec zero = all(0), tiny = all(1e-280);
    const double tight = P.is_float ? 1e-5 : 1e-12;
    /* Sides from x_0: p to x_1, q to x_2; g_i from their products. */
    vec p[D], q[D];
#pragma GCC unroll 16
    for (int k = 0; k < D; k++) {
        p[k] = x[D + k] - x[k];
        q[k] = x[2 * D + k] - x[k];
    }
    vec o[D];
#pragma GCC unroll 16
    for (int k = 0; k < D; k++) o[k] = x[2 * D + k] - x[D + k];
    const vec pp = inner<D>(p, p), qq = inner<D>(q, q), oo = inner<D>(o, o);
    const vec g0 = inner<D>(p, q), g1 = -inner<D>(p, o), g2 = inner<D>(q, o);
    /* Rotate so that b is the vertex of the smallest g: sides from b in u and v. */
    const mask b1 = less(g1, g0) & at_most(g1, g2), b2 = less(g2, g0) & less(g2, g1);
    vec u[D], v[D], b[D];
#pragma GCC unroll 16
    for (int k = 0; k < D; k++) {
        u[k] = pick(b1, o[k], pick(b2, -q[k], p[k]));
        v[k] = pick(b1, -p[k], pick(b2, -o[k], q[k]));
        b[k] = pick(b1, x[D + k], pick(b2, x[2 * D + k], x[k]));
    }
    const vec uu = pick(b1, oo, pick(b2, qq, pp)), vv = pick(b1, pp, pick(b2, oo, qq));
    const vec gb = pick(b1, g1, pick(b2, g2, g0));
    const vec gu = pick(b1, g2, pick(b2, g0, g1)), gv = pick(b1, g0, pick(b2, g1, g2));
    vec wb = all(1), wu = wb, wv = wb;
    if (WEIGHTED) {
        wb = pick(b1, w[1], pick(b2, w[2], w[0]));
        wu = pick(b1, w[2], pick(b2, w[0], w[1]));
        wv = pick(b1, w[0], pick(b2, w[1], w[2]));
    }
    const vec share = WEIGHTED ? 1.0 / (wb + wu + wv) : all(1.0 / 3);
    const vec squares = uu * vv, S = root(larger(fnma(gb, gb, squares), zero));

    vec lu, lv, lb;
    mask vertex, at_u = {}, at_v = {};
    if (WEIGHTED) {
        /* A vertex is the median if the squared pull of the others is below its weight's. */
        const vec iu = inverse_root(larger(uu, tiny)), iv = inverse_root(larger(vv, tiny));
        const vec cosine = gb * iu * iv;
        const vec side = pick(b1, qq, pick(b2, pp, oo)), is = inverse_root(larger(side, tiny));
        const vec hold = all(1.0 - tight);
        vertex = less(wu * wu + wv * wv + 2.0 * wu * wv * cosine, wb * wb * hold);
        at_u = less(wb * wb + wv * wv + 2.0 * wb * wv * (gu * iu * is), wu * wu * hold);
        at_v = less(wb * wb + wu * wu + 2.0 * wb * wu * (gv * iv * is), wv * wv * hold);
        const vec sb = wb * wb, su = wu * wu, sv = wv * wv;
        const vec area = 2.0 * (sb * su + su * sv + sv * sb) - (sb * sb + su * su + sv * sv);
        const vec cot = 1.0 / root(area);
        lb = 1.0 / (gb / S + (su + sv - sb) * cot);
        lu = 1.0 / (gu / S + (sb + sv - su) * cot);
        lv = 1.0 / (gv / S + (sb + su - sv) * cot);
    } else {
        /* cosine < -1/2 */
        vertex = (less(gb, zero) & less((0.25 + tight) * squares, gb * gb)) | equal(uu, zero) |
                 equal(vv, zero);
        const vec h = S * 0.57735026918962576451;
        /* 1/(gb + h) etc, without division until the end */
        const vec cb = gb + h, cu = gu + h, cv = gv + h;
        lb = cu * cv;
        lu = cb * cv;
        lv = cb * cu;
    }
    const vec scale = 1.0 / (lb + lu + lv);
    lu = pick(vertex | at_v, zero, lu * scale);
    lv = pick(vertex | at_u, zero, lv * scale);
    if (WEIGHTED) {
        lu = pick(at_u, all(1), lu);
        lv = pick(at_v, all(1), lv);
    }

    /* Certificate at z = lu u + lv v, offsets from b. */
    vec z[D], tu[D], tv[D], s[D];
#pragma GCC unroll 16
    for (int k = 0; k < D; k++) {
        z[k] = fma(lu, u[k], lv * v[k]);
        tu[k] = u[k] - z[k];
        tv[k] = v[k] - z[k];
    }
    const vec zz = inner<D>(z, z), au = inner<D>(tu, tu), av = inner<D>(tv, tv);
    const vec rb = inverse_root(larger(zz, tiny)), ru = inverse_root(larger(au, tiny)),
              rv = inverse_root(larger(av, tiny));
    const vec F = wb * (zz * rb) + wu * (au * ru) + wv * (av * rv);
    vec lean = zero, norm = zero;
#pragma GCC unroll 16
    for (int k = 0; k < D; k++) {
        s[k] = wu * ru * tu[k] + wv * rv * tv[k] - wb * rb * z[k];
        const vec mean = fma(wu, u[k], wv * v[k]) * share;
        lean = fma(s[k], mean - z[k], lean);
        norm = fma(s[k], s[k], norm);
    }
    /* without the factor 1/(1 + rho) <= 1 */
    const vec rho = root(norm) * share, gap = larger(fma(rho, F, lean), zero);
    const mask corner = vertex | at_u | at_v;
    out.objective = F;
    out.gap = pick(corner, zero, gap);
    out.steps = zero;
    out.done = (less(all(1e-70), F) & less(F, all(1e70)) & at_most(out.gap, P.tol * F) &
                (corner | at_most(rho, all(8 * P.tol)))) | all_equal<D>(x, 3, F);
#pragma GCC unroll 16
    for (int k = 0; k < D; k++) out.z[k] = b[k] + z[k];
}
