/* One, two and three judges, one query a lane: closed form. Part of a body.
 *
 * Two: the middle if their weights are equal, else the heavier. Three:
 *
 * with g_i = <x_j - x_i, x_k - x_i> and e, e' the squared sides at the vertex of smallest g,
 * the area term S = sqrt(e e' - g^2) is well conditioned. Equal weights: a vertex of 120
 * degrees or more, else barycentric weights ~ 1/(g_i + S/sqrt 3). Weighted: a vertex whose
 * weight holds the pull of the others, else ~ 1/(g_i/S + cot M_i), M the triangle of weights.
 * The result is that vertex plus parts of its sides, so that a far outlier costs no digits.
 *
 * Certificate: with barycentric weights l_i >= 0 the forces l_i (x_i - z)/k balance, and none is
 * longer than w_i for k = max l_i r_i/w_i. They are a dual point, of value sum l_i r_i^2/k, so
 * the gap is at most (1 - min/max) F over the three l_i r_i/w_i, and over their squares all the
 * more: no root is taken. r_i^2 = l_j^2 e_j + l_k^2 e_k + 2 l_j l_k g_i cancels no more than to
 * half of its terms at equal weights, where no angle of a triangle solved so is above 120
 * degrees; at others its first two terms bound the rounding. Lanes that miss the certificate
 * (extreme scale, degenerate weights) are left unsettled.
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

/* Weights of three judges, and what the closed form takes from them. */
struct Triple {
    vec w[3];
    vec pull[3];        /* 1/w^2 */
    vec cot[3];         /* of the angles of the triangle of weights */
    vec hold[3];        /* a vertex is the median if g |g| < hold e e' there */
    mask outweighed[3]; /* by the two others, should they be copies */
};

LANE_INLINE vec size_of(vec a) { return larger(a, -a); }

/* w (3,). Where one weight is not less than the others together there is no such triangle, and
 * the cotangents are not numbers. */
static void weigh_triple(const vec *w, const GmPanels &P, Triple &t) {
    const double tight = P.is_float ? 1e-5 : 1e-12;
    /* Four areas of the triangle of weights (Heron's formula, Kahan's order). */
    const vec low = smaller(w[0], w[1]), high = larger(w[0], w[1]);
    const vec a = larger(high, w[2]), b = larger(low, smaller(high, w[2])), c = smaller(low, w[2]);
    const vec T = root((a + (b + c)) * (c - (a - b)) * (c + (a - b)) * (a + (b - c)));
    for (int i = 0; i < 3; i++) {
        const vec u = w[(i + 1) % 3], v = w[(i + 2) % 3];
        const vec s = w[i] * w[i], others = u * u + v * v;
        const vec cosine = 0.5 * (s * (1.0 - tight) - others) / (u * v);
        t.w[i] = w[i];
        t.pull[i] = 1.0 / s;
        t.cot[i] = (others - s) / T;
        t.hold[i] = cosine * size_of(cosine) - tight;
        t.outweighed[i] = less(w[i], (u + v) * (1.0 - tight));
    }
}

/* More than the rounding of a squared distance or of the area, relative to their terms: sums over
 * 8 attributes round by 10 half units, 1.1e-15, and no more than four of them are combined. */
const double ROUNDING = 1e-14;

/* The sides p = x_1 - x_0, q = x_2 - x_0, o = x_2 - x_1. */
template <int D>
LANE_INLINE void sides(const vec *x, vec *p, vec *q, vec *o) {
#pragma GCC unroll 16
    for (int k = 0; k < D; k++) {
        p[k] = x[D + k] - x[k];
        q[k] = x[2 * D + k] - x[k];
        o[k] = x[2 * D + k] - x[D + k];
    }
}

/* Half of the work: squared sides, inner products at the vertices, where the median is. */
struct Triangle {
    vec pp, qq, oo, g0, g1, g2;
    vec l0, l1, l2;   /* barycentric weights of the median */
    vec both, extent; /* product and sum of the squared sides at the vertex of largest angle */
    mask b1, b2;      /* the vertex to start from is x_1, x_2 */
    mask corner;      /* it is the median, to rounding */
    mask sure;        /* and beyond that */
    mask sound;       /* barycentric weights are not negative */
};

template <int D, bool WEIGHTED>
LANE_INLINE void place_median(const vec *x, const Triple &t, Triangle &T) {
    const vec zero = all(0), one = all(1);
    vec p[D], q[D], o[D];
    sides<D>(x, p, q, o);
    const vec pp = inner<D>(p, p), qq = inner<D>(q, q), oo = inner<D>(o, o);
    const vec g0 = inner<D>(p, q), g1 = -inner<D>(p, o), g2 = inner<D>(q, o);
    mask b1 = less(g1, g0) & at_most(g1, g2), b2 = less(g2, g0) & less(g2, g1);
    const vec g = pick(b1, g1, pick(b2, g2, g0));
    const vec uu = pick(b2, qq, pp), vv = pick(b1 | b2, oo, qq), both = uu * vv;
    const vec S = root(larger(fnma(g, g, both), zero));

    vec c0, c1, c2;
    mask corner;
    if (WEIGHTED) {
        const mask at0 = less(g0 * size_of(g0), t.hold[0] * (pp * qq)) |
                         (equal(pp, zero) & t.outweighed[2]) | (equal(qq, zero) & t.outweighed[1]);
        const mask at1 = less(g1 * size_of(g1), t.hold[1] * (pp * oo)) |
                         (equal(oo, zero) & t.outweighed[0]);
        const mask at2 = less(g2 * size_of(g2), t.hold[2] * (qq * oo));
        corner = T.sure = at0 | at1 | at2;
        b1 = at1 | (b1 & ~corner), b2 = at2 | (b2 & ~corner);
        c0 = fma(S, t.cot[0], g0), c1 = fma(S, t.cot[1], g1), c2 = fma(S, t.cot[2], g2);
        T.sound = at_most(zero, smaller(c0, smaller(c1, c2))) | corner;
    } else {
        /* 120 degrees or more. On the edge the vertex is as good as the minimum to rounding. */
        const vec signed_square = g * size_of(g);
        corner = at_most(signed_square, (ROUNDING - 0.25) * both);
        T.sure = at_most(signed_square, (-ROUNDING - 0.25) * both);
        T.sound = equal(zero, zero);
        const vec h = S * 0.57735026918962576451;
        c0 = g0 + h, c1 = g1 + h, c2 = g2 + h;
    }
    const vec l0 = c1 * c2, l1 = c0 * c2, l2 = c0 * c1;
    const vec scale = 1.0 / (l0 + l1 + l2);
    T.l0 = pick(corner, pick(b1 | b2, zero, one), l0 * scale);
    T.l1 = pick(corner, pick(b1, one, zero), l1 * scale);
    T.l2 = pick(corner, pick(b2, one, zero), l2 * scale);
    T.pp = pp, T.qq = qq, T.oo = oo, T.g0 = g0, T.g1 = g1, T.g2 = g2;
    T.both = both, T.extent = uu + vv;
    T.b1 = b1, T.b2 = b2, T.corner = corner;
}

/* The other half: its certificate and coordinates. */
template <int D, bool WEIGHTED>
LANE_INLINE void certify_median(
    const vec *x, const Triple &t, const Triangle &T, const GmPanels &P, Found &out) {
    const vec zero = all(0), l0 = T.l0, l1 = T.l1, l2 = T.l2;
    const vec u0 = l0 * l0, u1 = l1 * l1, u2 = l2 * l2;
    const vec m0 = fma(u1, T.pp, u2 * T.qq), m1 = fma(u0, T.pp, u2 * T.oo),
              m2 = fma(u0, T.qq, u1 * T.oo);
    const vec r0 = fma(2.0 * T.g0, l1 * l2, m0), r1 = fma(2.0 * T.g1, l0 * l2, m1),
              r2 = fma(2.0 * T.g2, l0 * l1, m2);
    const vec f0 = WEIGHTED ? u0 * t.pull[0] : u0, f1 = WEIGHTED ? u1 * t.pull[1] : u1,
              f2 = WEIGHTED ? u2 * t.pull[2] : u2;
    const vec t0 = f0 * r0, t1 = f1 * r1, t2 = f2 * r2;
    const vec most = larger(t0, larger(t1, t2)), least = smaller(t0, smaller(t1, t2));
    vec spread = most - least;
    if (WEIGHTED)
        spread = fma(all(ROUNDING), larger(f0 * m0, larger(f1 * m1, f2 * m2)), spread);
    const mask held = at_most(spread, (P.tol - 2 * ROUNDING) * most) & ~T.corner;
    const mask vertex = P.tol < 2 * ROUNDING ? T.sure : T.corner;
    const mask ordinary = less(all(1e-140), T.extent) & less(T.extent, all(1e140)) &
                          (at_most(all(1e-280), T.both) | equal(T.both, zero));
    out.done = (ordinary & T.sound & (held | vertex)) | all_equal<D>(x, 3, T.extent);
    out.objective = out.gap = out.steps = zero;
    if (P.status) {
        const vec d0 = root(larger(r0, zero)), d1 = root(larger(r1, zero)),
                  d2 = root(larger(r2, zero));
        out.objective = WEIGHTED ? fma(t.w[0], d0, fma(t.w[1], d1, t.w[2] * d2)) : d0 + d1 + d2;
        const vec relative = pick(T.corner, all(2 * ROUNDING), spread / most + 2 * ROUNDING);
        out.gap = pick(T.sure, zero, relative * out.objective);
    }

    vec p[D], q[D], o[D];
    sides<D>(x, p, q, o);
    const mask b1 = T.b1, b2 = T.b2;
    const vec a = pick(b1, -l0, pick(b2, zero, l1)), b = pick(b2, -l0, pick(b1, zero, l2)),
              c = pick(b1, l2, pick(b2, -l1, zero));
#pragma GCC unroll 16
    for (int k = 0; k < D; k++) {
        const vec from = pick(b1, x[D + k], pick(b2, x[2 * D + k], x[k]));
        out.z[k] = from + fma(a, p[k], fma(b, q[k], c * o[k]));
    }
}

template <int D, bool WEIGHTED>
static void closed_lanes(const vec *x, const Triple &t, const GmPanels &P, Found &out) {
    Triangle T;
    place_median<D, WEIGHTED>(x, t, T);
    certify_median<D, WEIGHTED>(x, t, T, P, out);
}
