/* Several panels side by side, one a lane: the driver and the primitives of the lane kernels.
 *
 * Part of a variant body (see for_each_variant.h), after lanes.h inside `namespace ROPOLL_NS`.
 *
 * An algorithm is a struct with `template <class V> void operator()(Block<V> &) const`. V is a
 * vector of doubles or one long double; the same source serves both, because all that lanes.h
 * can do to the one is given here for the other. Lanes never mix and no operation is fused, so all
 * variants give the same bits. Panels whose squares could leave the range of a double are done
 * again in long double, whose exponents reach 1e4932 on x86-64; where long double is no wider,
 * their far judges are infinitely far.
 */

template <class V> struct Block {
    ptrdiff_t n, d; /* n: all judges, so that no lane depends on another's m */
    bool weighted;
    V m;        /* valid judges of each lane, as a real number; at least 1 */
    V count[2]; /* what the options' tables give for m */
    V *x;       /* [n][d]; 0 from judge m on */
    V *w;       /* [n]; 0 from judge m on, 1 before it if there are no weights */
    V *y;       /* [d], the result */
    V *used;    /* [n], nonzero where the judge takes part */
    V n_used;
    V converged; /* nonzero unless an iteration ended early */
    V *spare;   /* scratch, see *_SPARE of each algorithm */
};

LANE_INLINE bool less(long double a, long double b) { return a < b; }
LANE_INLINE bool at_most(long double a, long double b) { return a <= b; }
LANE_INLINE bool equal(long double a, long double b) { return a == b; }
LANE_INLINE long double pick(bool c, long double yes, long double no) { return c ? yes : no; }
LANE_INLINE long double larger(long double a, long double b) { return a > b ? a : b; }
LANE_INLINE long double smaller(long double a, long double b) { return a < b ? a : b; }
LANE_INLINE long double root(long double v) { return std::sqrt(v); }

LANE_INLINE vec floor_of(vec v) {
    for (int l = 0; l < W; l++) v[l] = std::floor(v[l]);
    return v;
}
LANE_INLINE long double floor_of(long double v) { return std::floor(v); }

/* A truth value a lane. */
template <class V> using Mask = decltype(less(V{}, V{}));
LANE_INLINE bool every(mask c) { return bits(c) == ALL_LANES; }
LANE_INLINE bool every(bool c) { return c; }

LANE_INLINE double lane(const vec &v, int l) { return v[l]; }
LANE_INLINE long double lane(long double v, int) { return v; }
LANE_INLINE void set_lane(vec &v, int l, double value) { v[l] = value; }
LANE_INLINE void set_lane(long double &v, int, double value) { v = value; }
LANE_INLINE int lanes_of(const vec &) { return W; }
LANE_INLINE int lanes_of(long double) { return 1; }

template <class V> static inline int most(V v) {
    int best = 0;
    for (int l = 0; l < lanes_of(v); l++) best = (int)lane(v, l) > best ? (int)lane(v, l) : best;
    return best;
}

/* What merge_exchange() does to a pair: order values, or values that carry another along. The
 * calls are structs because GCC gives a lambda no target of its own. */
template <class V> struct OrderValues {
    V *s;
    void operator()(ptrdiff_t i, ptrdiff_t j) const {
        const V a = s[i], b = s[j];
        s[i] = smaller(a, b);
        s[j] = larger(b, a); /* of equal ones the other: 0 and -0 are both kept */
    }
};

template <class V> struct OrderPairs {
    V *s, *t;
    void operator()(ptrdiff_t i, ptrdiff_t j) const {
        const V a = s[i], b = s[j], u = t[i], v = t[j];
        s[i] = smaller(a, b);
        s[j] = larger(b, a);
        const auto kept = less(a, b);
        t[i] = pick(kept, u, v);
        t[j] = pick(kept, v, u);
    }
};

/* Batcher's merge exchange (Knuth, TAOCP 5.2.2, algorithm M): the order of comparisons does not
 * depend on the data, so every lane sorts at once. */
template <class F> static inline void merge_exchange(ptrdiff_t n, F order) {
    if (n < 2) return;
    ptrdiff_t top = 1;
    while (2 * top < n) top *= 2;
    for (ptrdiff_t p = top; p > 0; p /= 2) {
        ptrdiff_t q = top, r = 0, gap = p;
        for (;;) {
            const ptrdiff_t end = n - gap;
            for (ptrdiff_t run = r; run < end; run += 2 * p) { /* all i with (i & p) == r */
                const ptrdiff_t stop = run + p < end ? run + p : end;
                for (ptrdiff_t i = run; i < stop; i++) order(i, i + gap);
            }
            if (q == p) break;
            gap = q - p;
            q /= 2;
            r = p;
        }
    }
}

template <class V> static inline void sort_values(V *s, ptrdiff_t n) {
    merge_exchange(n, OrderValues<V>{s});
}

template <class V> static inline void sort_pairs(V *s, V *t, ptrdiff_t n) {
    merge_exchange(n, OrderPairs<V>{s, t});
}

/* Column `a` into s[0..n), missing judges last. */
template <class V> static inline void column(const Block<V> &p, ptrdiff_t a, V *s) {
    const V inf = all<V>(std::numeric_limits<double>::infinity());
    for (ptrdiff_t k = 0; k < p.n; k++)
        s[k] = pick(less(all<V>((double)k), p.m), p.x[k * p.d + a], inf);
}

/* Half-way between two values, whatever their size. */
template <class V> static inline V midpoint(V low, V high) {
    const V sum = low + high;
    return pick(equal(sum - sum, all<V>(0.0)), 0.5 * sum, 0.5 * low + 0.5 * high);
}

template <class V> static inline V plain_median(const Block<V> &p, V *s) {
    sort_values(s, p.n);
    const V low = floor_of(0.5 * (p.m - 1.0)), high = floor_of(0.5 * p.m);
    V below = s[0], above = s[0];
    for (ptrdiff_t k = 1; k < p.n; k++) {
        const V index = all<V>((double)k);
        below = pick(equal(index, low), s[k], below);
        above = pick(equal(index, high), s[k], above);
    }
    return midpoint(below, above);
}

/* Midpoint of the interval of minimisers of sum w |x - z|. Sums of weights that differ by
 * rounding only count as equal, so equal weights give what no weights give. */
template <class V> static inline V weighted_median(const Block<V> &p, V *s, V *t) {
    V total = all<V>(0.0);
    for (ptrdiff_t k = 0; k < p.n; k++) {
        t[k] = p.w[k];
        total += p.w[k];
    }
    sort_pairs(s, t, p.n);
    const V slack = total * (2.0 * (double)p.n * std::numeric_limits<double>::epsilon());
    const V lower = 0.5 * total - slack, upper = 0.5 * total + slack;
    V below = s[0], above = s[0], before = all<V>(0.0);
    for (ptrdiff_t k = 0; k < p.n; k++) {
        const V after = before + t[k];
        below = pick(less(before, lower) & at_most(lower, after), s[k], below);
        above = pick(at_most(before, upper) & less(upper, after), s[k], above);
        before = after;
    }
    return midpoint(below, above);
}

/* Median of a column; s holds 2 n. */
template <class V> static inline V median(const Block<V> &p, V *s) {
    return p.weighted ? weighted_median(p, s, s + p.n) : plain_median(p, s);
}

/* How far sums over judges and attributes may be apart and yet be equal but for rounding. */
template <class V> static inline double rounding(const Block<V> &p) {
    return 4.0 * (double)(p.n + p.d) * std::numeric_limits<double>::epsilon();
}

/* Index of the smallest of cost[0..n), the earliest of those that rounding cannot tell apart. */
template <class V> static inline V first_smallest(const Block<V> &p, const V *cost) {
    const ptrdiff_t n = p.n;
    V least = cost[0];
    for (ptrdiff_t k = 1; k < n; k++) least = smaller(least, cost[k]);
    const V limit = least * (1.0 + rounding(p));
    V index = all<V>(0.0);
    for (ptrdiff_t k = n; k-- > 0;)
        index = pick(at_most(cost[k], limit), all<V>((double)k), index);
    return index;
}

/* square[i * n + j] = |x_i - x_j|^2, 0 on the diagonal and for missing judges. */
template <class V> static inline void squared_distances(const Block<V> &p, V *square) {
    const ptrdiff_t n = p.n, d = p.d;
    for (ptrdiff_t j = 0; j < n; j++) {
        square[j * n + j] = all<V>(0.0);
        for (ptrdiff_t i = 0; i < j; i++) {
            V sum = all<V>(0.0);
            for (ptrdiff_t a = 0; a < d; a++) {
                const V t = p.x[i * d + a] - p.x[j * d + a];
                sum += t * t;
            }
            sum = pick(less(all<V>((double)j), p.m), sum, all<V>(0.0));
            square[i * n + j] = square[j * n + i] = sum;
        }
    }
}

/* Mean of the judges with used[k] nonzero, n_used of them. */
template <class V> static inline void mean_of_used(Block<V> &p) {
    for (ptrdiff_t a = 0; a < p.d; a++) {
        V sum = all<V>(0.0);
        for (ptrdiff_t k = 0; k < p.n; k++)
            sum += pick(less(all<V>(0.0), p.used[k]), p.x[k * p.d + a], all<V>(0.0));
        p.y[a] = sum / p.n_used;
    }
}

/* ---- one lane again in long double ---- */

/* Squares of smaller or greater numbers may leave the range of a double. */
const double SMALLEST = 1e-130, GREATEST = 1e130;

template <class T, class A>
static void redo_wide(const Batch &b, ptrdiff_t q, const Panel &panel, PanelStatus status,
                      const Block<vec> &from, int l, const A &algorithm) {
    /* The lane's own strided values are copied out first: the wide block takes fresh scratch. */
    Block<long double> p;
    p.n = panel.m;
    p.d = from.d;
    p.weighted = from.weighted;
    p.m = panel.m;
    for (int t = 0; t < 2; t++) p.count[t] = from.count[t][l];
    p.x = (long double *)(from.spare + A::spare(from.n, from.d));
    p.w = p.x + p.n * p.d;
    p.y = p.w + p.n;
    p.used = p.y + p.d;
    p.spare = p.used + p.n;
    for (ptrdiff_t i = 0; i < p.n * p.d; i++) p.x[i] = from.x[i][l];
    for (ptrdiff_t k = 0; k < p.n; k++) p.w[k] = from.w[k][l], p.used[k] = 1;
    p.n_used = p.m;
    p.converged = 1;
    algorithm(p);
    if (status == PANEL_OK && p.converged == 0) status = PANEL_NOT_CONVERGED;
    store_panel<T>(b, q, panel, status, p.y, 1, (int)p.n_used, p.used);
}

/* ---- the driver ---- */

/* Vectors of scratch that rows() needs for an algorithm; each part has room for a wide block. */
template <class A> static inline ptrdiff_t scratch_vectors(ptrdiff_t n, ptrdiff_t d) {
    const ptrdiff_t wide = (ptrdiff_t)((sizeof(long double) + sizeof(vec) - 1) / sizeof(vec));
    const ptrdiff_t one = n * d + 2 * n + d + A::spare(n, d);
    return (1 + (A::squares ? wide : 0)) * one + n + 2;
}

template <class T, class A>
static void rows_of(const Batch &b, const Options &options, double *scratch, ptrdiff_t start,
                    ptrdiff_t stop, const A &algorithm) {
    const ptrdiff_t n = b.n_judges, d = b.n_attributes;
    vec *base = (vec *)(((size_t)scratch + sizeof(vec) - 1) / sizeof(vec) * sizeof(vec));
    Block<vec> p;
    p.n = n;
    p.d = d;
    p.weighted = b.weights != nullptr;
    p.x = base;
    p.w = p.x + n * d;
    p.y = p.w + n;
    p.used = p.y + d;
    int *judges = (int *)(p.used + n); /* W rows of n */
    p.spare = p.used + 2 * n;
    for (ptrdiff_t q = start; q < stop; q += W) {
        const int count = (int)(stop - q < W ? stop - q : W);
        PanelStatus status[W];
        Panel panel[W];
        for (int l = 0; l < W; l++) {
            panel[l] = Panel{(double *)p.x + l, (double *)p.w + l, judges + l * n, W, 0, 0};
            status[l] = l < count ? load_panel<T>(b, q + l, panel[l]) : PANEL_ALL_MISSING;
            const int m = status[l] == PANEL_OK ? panel[l].m : 0;
            if (status[l] == PANEL_OK && m < options.fewest) status[l] = PANEL_TOO_FEW;
            for (ptrdiff_t i = m * d; i < n * d; i++) panel[l].x[i * W] = 0;
            if (!p.weighted)
                for (ptrdiff_t k = 0; k < m; k++) panel[l].w[k * W] = 1;
            for (ptrdiff_t k = m; k < n; k++) panel[l].w[k * W] = 0;
            const int counted = m > 0 ? m : 1; /* an empty lane computes on one zero judge */
            p.m[l] = counted;
            for (int t = 0; t < 2; t++)
                p.count[t][l] = options.table[t] ? options.table[t][counted] : 0;
        }
        for (ptrdiff_t k = 0; k < p.n; k++) p.used[k] = all(1);
        p.n_used = p.m;
        p.converged = all(1);
        algorithm(p);
        vec small = all(1), large = all(0);
        if (A::squares && sizeof(T) == sizeof(double))
            for (ptrdiff_t i = 0; i < p.n * d; i++) {
                const vec size = larger(p.x[i], -p.x[i]);
                large = larger(large, size);
                small = smaller(small, pick(less(all(0), size), size, all(1)));
            }
        for (int l = 0; l < count; l++) {
            const int used = (int)p.n_used[l];
            if (status[l] == PANEL_OK && options.trimming && used == panel[l].m)
                status[l] = PANEL_NOTHING_TRIMMED;
            if (small[l] < SMALLEST || large[l] > GREATEST)
                redo_wide<T>(b, q + l, panel[l], status[l], p, l, algorithm);
            else {
                if (status[l] == PANEL_OK && p.converged[l] == 0) status[l] = PANEL_NOT_CONVERGED;
                store_panel<T>(b, q + l, panel[l], status[l], (double *)p.y + l, W, used,
                               (double *)p.used + l);
            }
        }
    }
}

template <class A>
static void rows(const Batch &b, const Options &options, double *scratch, ptrdiff_t start,
                 ptrdiff_t stop, const A &algorithm) {
    if (b.single)
        rows_of<float>(b, options, scratch, start, stop, algorithm);
    else
        rows_of<double>(b, options, scratch, start, stop, algorithm);
}
