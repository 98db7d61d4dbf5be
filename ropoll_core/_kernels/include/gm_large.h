/* Geometric median for many attributes, or many judges: Weiszfeld's map accelerated, one query
 * a lane. Part of a body.
 *
 * 1. The judge nearest to the mean becomes the origin; one Weiszfeld step leads into the bulk.
 * 2. Anderson acceleration, three steps deep, of z -> z + g/A, g the pull and A = sum w/r. A
 *    step that raised the objective is taken back in favour of the plain one, which cannot.
 * 3. A lane is settled by the certificate alone. Lanes heading for a data point test it
 *    (Vardi & Zhang 2000); what is left (next to a data point, on a line, extreme scale) goes
 *    to the robust solver.
 */

enum { ANDERSON_DEPTH = 3 };

/* Work vectors, (d,) each. */
struct Large {
    vec *z, *f, *g, *mean, *old_z, *old_f, *b, *row;
    vec *df[ANDERSON_DEPTH], *dz[ANDERSON_DEPTH]; /* differences of f, and of z + f */
    vec point; /* by lane: the judge that is the median, or -1 */
};

/* What one pass over the judges sees at z, beside g = sum a (x - z), a = w/r; judges exactly at
 * z pull nowhere. */
struct Pass {
    vec F, A;       /* sum w r, sum w/r */
    vec norm, lean; /* |g|^2, <g, mean - z> */
    vec top, which; /* largest a, and whose */
    vec here;       /* weight exactly at z */
};

/* J judges. FETCH: the rows of the next J are wanted in the first cache meanwhile. */
template <int J, bool FETCH>
LANE_INLINE void pass_judges(
    const vec *x, const vec *w, const vec *z, vec *g, ptrdiff_t i, ptrdiff_t d, Pass &p) {
    const ptrdiff_t ds = row_stride(d);
    const vec *row = x + i * ds;
    vec s[J], a[J];
    for (int j = 0; j < J; j++) s[j] = all(0);
    for (ptrdiff_t k = 0; k < d; k++) {
        const vec at = z[k];
#pragma GCC unroll 8
        for (int j = 0; j < J; j++) {
            const vec t = row[j * ds + k] - at;
            s[j] = fma(t, t, s[j]);
        }
    }
#pragma GCC unroll 8
    for (int j = 0; j < J; j++) {
        const mask copy = equal(s[j], all(0));
        p.here += pick(copy, w[i + j], all(0));
        a[j] = pick(copy, all(0), w[i + j] * inverse_root(larger(s[j], all(1e-280))));
        p.F = fma(a[j], s[j], p.F);
        p.A += a[j];
        const mask more = less(p.top, a[j]);
        p.top = pick(more, a[j], p.top);
        p.which = pick(more, all((double)(i + j)), p.which);
    }
    for (ptrdiff_t k = 0; k < d; k++) {
        vec sum = g[k];
#pragma GCC unroll 8
        for (int j = 0; j < J; j++) {
            if (FETCH) __builtin_prefetch(row + (J + j) * ds + k);
            sum = fma(a[j], row[j * ds + k], sum);
        }
        g[k] = sum;
    }
}

static Pass pass_all(
    const vec *x, const vec *w, const vec *z, const vec *mean, vec *g, ptrdiff_t n,
    ptrdiff_t d) {
    Pass p;
    p.F = p.A = p.norm = p.lean = p.top = p.which = p.here = all(0);
    for (ptrdiff_t k = 0; k < d; k++) g[k] = all(0);
    ptrdiff_t i = 0;
    /* Rows are read twice: as many at once as the first cache holds beside the next ones. */
    if (8 * d * (ptrdiff_t)sizeof(vec) > 24 * 1024)
        for (; i + 4 <= n; i += 4) pass_judges<4, true>(x, w, z, g, i, d, p);
    for (; i + 8 <= n; i += 8) pass_judges<8, false>(x, w, z, g, i, d, p);
    for (; i + 4 <= n; i += 4) pass_judges<4, false>(x, w, z, g, i, d, p);
    for (; i < n; i++) pass_judges<1, false>(x, w, z, g, i, d, p);
    for (ptrdiff_t k = 0; k < d; k++) {
        g[k] = fnma(p.A, z[k], g[k]);
        p.norm = fma(g[k], g[k], p.norm);
        p.lean = fma(g[k], mean[k] - z[k], p.lean);
    }
    return p;
}

/* Row `which` of each lane into out. */
static void take_row(const vec *x, vec which, ptrdiff_t d, vec *out) {
    for (int l = 0; l < W; l++) {
        const vec *row = x + (ptrdiff_t)which[l] * row_stride(d);
        for (ptrdiff_t k = 0; k < d; k++) out[k][l] = row[k][l];
    }
}

/* Lanes whose points do not all lie on one line through z. */
static mask off_a_line(const vec *x, const vec *z, ptrdiff_t n, ptrdiff_t d) {
    const ptrdiff_t ds = row_stride(d);
    vec reach = all(0);
    for (ptrdiff_t k = 0; k < d; k++) reach += (x[k] - z[k]) * (x[k] - z[k]);
    const mask at_first = equal(reach, all(0)); /* then the second judge gives the direction */
    mask off = {};
    for (ptrdiff_t i = 1; i < n && bits(off) != ALL_LANES; i++) {
        vec aa = all(0), bb = all(0), ab = all(0);
        for (ptrdiff_t k = 0; k < d; k++) {
            const vec a = pick(at_first, x[ds + k], x[k]) - z[k], b = x[i * ds + k] - z[k];
            aa = fma(a, a, aa);
            bb = fma(b, b, bb);
            ab = fma(a, b, ab);
        }
        off = off | less(ab * ab, 0.999999999 * aa * bb);
    }
    return off;
}

/* Least squares in the past differences: H their inner products, y those with the residual.
 * Overwrites y by the coefficients, 0 for a difference that is (nearly) in the span of others. */
LANE_INLINE void anderson_weights(const vec (*H)[ANDERSON_DEPTH], vec *y) {
    vec R[ANDERSON_DEPTH][ANDERSON_DEPTH], RD[ANDERSON_DEPTH][ANDERSON_DEPTH];
    vec inverse[ANDERSON_DEPTH];
#pragma GCC unroll 4
    for (int j = 0; j < ANDERSON_DEPTH; j++) {
        vec pivot = H[j][j];
#pragma GCC unroll 4
        for (int l = 0; l < j; l++) {
            vec scaled = H[j][l];
#pragma GCC unroll 4
            for (int k = 0; k < l; k++) scaled = fnma(RD[j][k], R[l][k], scaled);
            RD[j][l] = scaled;
            R[j][l] = scaled * inverse[l];
            pivot = fnma(scaled, R[j][l], pivot);
        }
        inverse[j] = pick(less(1e-12 * H[j][j], pivot), 1.0 / pivot, all(0));
#pragma GCC unroll 4
        for (int l = 0; l < j; l++) y[j] = fnma(R[j][l], y[l], y[j]);
    }
#pragma GCC unroll 4
    for (int j = ANDERSON_DEPTH - 1; j >= 0; j--) {
        y[j] *= inverse[j];
#pragma GCC unroll 4
        for (int l = j + 1; l < ANDERSON_DEPTH; l++) y[j] = fnma(R[l][j], y[l], y[j]);
    }
}

static void large_lanes(
    vec *x, const vec *w, ptrdiff_t n, const GmPanels &P, Large &L, Found &out) {
    const ptrdiff_t d = P.n_attributes, ds = row_stride(d);
    const vec zero = all(0);
    const double tight = P.is_float ? 1e-5 : 1e-12;
    vec total = zero;
    for (ptrdiff_t i = 0; i < n; i++) total += w[i];

    for (ptrdiff_t k = 0; k < d; k++) L.mean[k] = zero;
    for (ptrdiff_t i = 0; i < n; i++)
        for (ptrdiff_t k = 0; k < d; k++) L.mean[k] = fma(w[i], x[i * ds + k], L.mean[k]);
    for (ptrdiff_t k = 0; k < d; k++) L.z[k] = L.mean[k] = L.mean[k] / total;
    Pass p = pass_all(x, w, L.z, L.mean, L.g, n, d);
    take_row(x, p.which, d, out.z);
    for (ptrdiff_t k = 0; k < d; k++) {
        L.mean[k] -= out.z[k];
        L.z[k] = L.mean[k] + L.g[k] / p.A;
    }
    for (ptrdiff_t i = 0; i < n; i++)
        for (ptrdiff_t k = 0; k < d; k++) x[i * ds + k] -= out.z[k];
    mask settled = {}, at_point = {};
    out.objective = out.gap = out.steps = zero;
    L.point = all(-1);

    vec last_F = all(INFINITY);
    vec H[ANDERSON_DEPTH][ANDERSON_DEPTH];
    for (int j = 0; j < ANDERSON_DEPTH; j++) {
        for (int l = 0; l < ANDERSON_DEPTH; l++) H[j][l] = zero;
        for (ptrdiff_t k = 0; k < d; k++) L.df[j][k] = L.dz[j][k] = zero;
    }
    for (ptrdiff_t k = 0; k < d; k++) L.old_z[k] = L.old_f[k] = zero;
    const int cap = P.max_iter < 40 ? P.max_iter : 40;
    for (int pass = 1; bits(settled) != ALL_LANES; pass++) {
        p = pass_all(x, w, L.z, L.mean, L.g, n, d);
        const vec rho = root(p.norm) / total;
        const vec gap = larger(fma(rho, p.F, p.lean) / (1.0 + rho), zero);
        /* rho: beside a far outlier a small gap alone does not fix the place. */
        const mask now = at_most(gap, P.tol * p.F) & at_most(rho, all(8 * P.tol)) &
                         ordinary(p.F) & ~settled;
        out.objective = pick(now, p.F, out.objective);
        out.gap = pick(now, gap, out.gap);
        out.steps = pick(now, all(pass), out.steps);
        settled = settled | now;
        if (pass == 4 || pass == 8 || pass == 16) {
            const mask ask = less(0.5 * p.A, p.top) & ~settled;
            if (bits(ask)) {
                take_row(x, p.which, d, L.b);
                const Pass at = pass_all(x, w, L.b, L.mean, L.row, n, d);
                const mask found = ask & ordinary(at.F) &
                                   less(root(at.norm), at.here - tight * total);
                out.objective = pick(found, at.F, out.objective);
                out.steps = pick(found, all(pass), out.steps);
                L.point = pick(found, p.which, L.point);
                for (ptrdiff_t k = 0; k < d; k++) L.z[k] = pick(found, L.b[k], L.z[k]);
                settled = settled | found;
                at_point = at_point | found;
            }
        }
        if (pass >= cap) break;

        /* Back to the plain step where the objective rose. */
        const mask rose = less(last_F * (1.0 + 1e-13), p.F);
        const vec inverse_A = 1.0 / p.A;
        vec y[ANDERSON_DEPTH], dots[ANDERSON_DEPTH];
        for (int j = 0; j < ANDERSON_DEPTH; j++) y[j] = dots[j] = zero;
        /* The newest difference comes first; the oldest falls out. */
        vec *df0 = L.df[ANDERSON_DEPTH - 1], *dz0 = L.dz[ANDERSON_DEPTH - 1];
        for (int j = ANDERSON_DEPTH - 1; j > 0; j--) {
            L.df[j] = L.df[j - 1], L.dz[j] = L.dz[j - 1];
            for (int l = j; l > 0; l--) H[j][l] = H[l][j] = H[j - 1][l - 1];
        }
        L.df[0] = df0, L.dz[0] = dz0;
        const mask none = pass == 1 ? equal(zero, zero) : rose;
        const vec *d1 = L.df[1], *d2 = L.df[2];
        for (ptrdiff_t k = 0; k < d; k++) {
            const vec f = L.g[k] * inverse_A;
            const vec df = pick(none, zero, f - L.old_f[k]);
            L.f[k] = f;
            L.df[0][k] = df;
            L.dz[0][k] = pick(none, zero, L.z[k] - L.old_z[k] + df);
            y[0] = fma(df, f, y[0]);
            y[1] = fma(d1[k], f, y[1]);
            y[2] = fma(d2[k], f, y[2]);
            dots[0] = fma(df, df, dots[0]);
            dots[1] = fma(df, d1[k], dots[1]);
            dots[2] = fma(df, d2[k], dots[2]);
        }
        for (int j = 0; j < ANDERSON_DEPTH; j++) H[0][j] = H[j][0] = dots[j];
        anderson_weights(H, y);
        const vec *e0 = L.dz[0], *e1 = L.dz[1], *e2 = L.dz[2];
        for (ptrdiff_t k = 0; k < d; k++) {
            const vec z = L.z[k], f = L.f[k], old_z = L.old_z[k], old_f = L.old_f[k];
            vec next = fnma(y[0], e0[k], z + f);
            next = fnma(y[1], e1[k], next);
            next = fnma(y[2], e2[k], next);
            L.z[k] = pick(settled, z, pick(rose, old_z + old_f, next));
            L.old_z[k] = pick(rose, old_z, z);
            L.old_f[k] = pick(rose, old_f, f);
        }
        last_F = pick(rose, last_F, p.F);
    }
    /* All but at a judge, where squares lose their digits: to the test in more of them. */
    const mask clear = less(p.top * p.F, 1e30 * total);
    out.done = settled & (at_point | (clear & off_a_line(x, L.z, n, d)));
    for (ptrdiff_t k = 0; k < d; k++) out.z[k] += L.z[k];
}
