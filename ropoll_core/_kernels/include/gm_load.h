/* Which judges of which queries are valid, and their scores into lanes. Part of a body.
 *
 * A block of queries is classified first; queries of equal shape then share lane groups, in
 * whatever order, since no lane sees its neighbours. The input is read through its strides.
 */

/* What a lane solver found for W queries. */
struct Found {
    vec objective, gap, steps;
    mask done; /* lanes that are settled */
    vec *z;    /* (n_attributes,) absolute */
};

template <int D>
LANE_INLINE vec inner(const vec *a, const vec *b) {
    vec s = a[0] * b[0];
#pragma GCC unroll 16
    for (int k = 1; k < D; k++) s = fma(a[k], b[k], s);
    return s;
}

template <int D>
LANE_INLINE vec square(const vec *t) {
    return inner<D>(t, t);
}

/* Objectives of a size at which no square has underflowed or overflowed. */
LANE_INLINE mask ordinary(vec F) { return less(all(1e-130), F) & less(F, all(1e150)); }

/* Lanes whose n points are one and the same; only looked at where F says it may be so. */
template <int D>
LANE_INLINE mask all_equal(const vec *x, ptrdiff_t n, vec F) {
    mask same = equal(F, all(0));
    if (__builtin_expect(bits(same) == 0, 1)) return same;
    for (ptrdiff_t i = 1; i < n; i++)
        for (int k = 0; k < D; k++) same = same & equal(x[i * D + k], x[k]);
    return same;
}

/* The books of one block: its queries by what is to be done with them. Places count from
 * `first`; arrays by place have room for one more, the pattern of a query without a gap. */
struct Block {
    ptrdiff_t first;
    int count, size;       /* queries here; most queries */
    unsigned char *gap;    /* (size + 1, n_judges) the judge has a score that is not finite */
    unsigned char *gaps;   /* by place: such a judge */
    int32_t *touched;      /* places with gaps */
    int n_touched;
    bool sorted;           /* `order` and `tally` are those of a full block without gaps */
    int32_t *n_valid;      /* by place */
    int8_t *state;         /* by place: GM_CERTIFIED, or the status if nothing is to be solved */
    int8_t *weighted;      /* by place: valid weights differ */
    double *top;           /* by place: largest valid weight */
    const int32_t **slots; /* by place: its valid judges */
    int32_t *own_slots;    /* (size + 1, n_judges) room for these */
    int32_t *order;        /* places sorted by (n_valid, weighted), nothing to solve first */
    int32_t *tally;        /* (2 n_judges + 3) where each such bucket starts in `order` */
    int32_t *left;         /* places that the lanes did not settle */
    int n_left;

    void touch(int32_t place) {
        if (gaps[place]) return;
        gaps[place] = 1;
        touched[n_touched++] = place;
    }
};

static inline const char *query_at(const GmPanels &P, ptrdiff_t q) {
    return P.scores + q * P.query_stride;
}

static inline const double *weights_at(const GmPanels &P, ptrdiff_t q) {
    return P.weights + q * P.weight_stride;
}

/* Notes the judge and the query of score `e` of a block of consecutive scores; returns the first
 * score of the next judge. */
static inline ptrdiff_t note_gap(Block &B, ptrdiff_t e, ptrdiff_t n, ptrdiff_t d) {
    const uint32_t cell = (uint32_t)e / (uint32_t)d, place = cell / (uint32_t)n;
    B.gap[cell] = 1;
    B.touch((int32_t)place);
    return (ptrdiff_t)(cell + 1) * d;
}

/* Notes every judge with a score that is not finite, of a block of consecutive scores. */
template <typename T>
static void scan_run(Block &B, const T *x, ptrdiff_t n, ptrdiff_t d) {
    const ptrdiff_t count = B.count * n * d;
    const vec zero = all(0);
    ptrdiff_t e = 0;
    for (; e + 4 * W <= count; e += 4 * W) {
        vec v[4];
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++) v[j] = load_run(x + e + j * W) * 0.0;
        const vec sum = (v[0] + v[1]) + (v[2] + v[3]);
        if (__builtin_expect(bits(equal(sum, zero)) == ALL_LANES, 1)) continue;
        ptrdiff_t next = e; /* a missing judge is noted once, not at each of its scores */
        for (int j = 0; j < 4; j++) {
            const ptrdiff_t at = e + j * W;
            unsigned bad = ALL_LANES & ~bits(equal(v[j], zero));
            while (bad) {
                const ptrdiff_t skip = next - at;
                if (skip > 0) bad = skip < W ? bad >> skip << skip : 0;
                if (!bad) break;
                next = note_gap(B, at + __builtin_ctz(bad), n, d);
            }
        }
    }
    for (; e < count; e++)
        if ((double)x[e] * 0.0 != 0.0) note_gap(B, e, n, d);
}

/* The same for one query, through the strides. */
template <typename T>
static void scan_query(const GmPanels &P, Block &B, int32_t place) {
    for (ptrdiff_t i = 0; i < P.n_judges; i++) {
        const char *row = query_at(P, B.first + place) + i * P.judge_stride;
        double sum = 0;
        for (ptrdiff_t k = 0; k < P.n_attributes; k++)
            sum += (double)*(const T *)(row + k * P.attribute_stride) * 0.0;
        if (sum == 0) continue;
        B.gap[place * P.n_judges + i] = 1;
        B.touch(place);
    }
}

/* The same for the queries that were left; those without a gap stay so. */
template <typename T>
static void scan_left(const GmPanels &P, Block &B) {
    const int n_left = B.n_left;
    B.n_left = 0;
    for (int i = 0; i < n_left; i++) {
        const int32_t place = B.left[i];
        scan_query<T>(P, B, place);
        B.left[B.n_left] = place;
        B.n_left += !B.gaps[place];
    }
}

template <typename T>
static bool judge_infinite(const GmPanels &P, const char *row) {
    for (ptrdiff_t k = 0; k < P.n_attributes; k++)
        if (__builtin_isinf(*(const T *)(row + k * P.attribute_stride))) return true;
    return false;
}

/* True if the scores of a query lie one behind the other. */
template <typename T>
static inline bool query_contiguous(const GmPanels &P) {
    return P.attribute_stride == (ptrdiff_t)sizeof(T) &&
           P.judge_stride == P.n_attributes * (ptrdiff_t)sizeof(T);
}

/* The books of one place. */
template <typename T>
static void classify_query(const GmPanels &P, Block &B, int place) {
    const ptrdiff_t n = P.n_judges, q = B.first + place;
    const double *w = P.weights ? weights_at(P, q) : nullptr;
    int32_t *slots = B.own_slots + place * n;
    int valid = 0;
    double top = 0, low = INFINITY;
    B.state[place] = GM_CERTIFIED;
    for (ptrdiff_t i = 0; i < n; i++) {
        const double weight = w ? w[i] : 1.0;
        if (!(weight > 0)) continue;
        if (B.gap[place * n + i]) {
            P.seen[GM_SEEN_MISSING] = 1;
            if (judge_infinite<T>(P, query_at(P, q) + i * P.judge_stride))
                B.state[place] = GM_INFINITE;
            else if (P.propagate && B.state[place] != GM_INFINITE)
                B.state[place] = GM_PROPAGATED;
            continue;
        }
        slots[valid++] = (int32_t)i;
        top = weight > top ? weight : top;
        low = weight < low ? weight : low;
    }
    B.slots[place] = slots;
    B.n_valid[place] = valid;
    B.top[place] = top;
    B.weighted[place] = valid > 0 && low != top;
    if (valid == 0 && B.state[place] == GM_CERTIFIED) B.state[place] = GM_ALL_MISSING;
}

static inline int32_t bucket_of(const Block &B, int place) {
    return B.state[place] == GM_CERTIFIED ? 2 * B.n_valid[place] + B.weighted[place] : 0;
}

/* Makes the books of one place those of another, and forgets its gaps. */
static inline void copy_books(const GmPanels &P, Block &B, int from, int to) {
    B.state[to] = B.state[from];
    B.n_valid[to] = B.n_valid[from];
    B.weighted[to] = B.weighted[from];
    B.top[to] = B.top[from];
    B.slots[to] = B.slots[from];
    B.gaps[to] = 0;
    __builtin_memset(B.gap + to * P.n_judges, 0, (size_t)P.n_judges);
}

/* Starts the books of a call: under shared weights every place as a query without a gap. The
 * pattern is kept at place `size`, behind the block. */
template <typename T>
static void open_books(const GmPanels &P, Block &B) {
    __builtin_memset(B.gap, 0, (size_t)((B.size + 1) * P.n_judges));
    __builtin_memset(B.gaps, 0, (size_t)(B.size + 1));
    B.n_touched = 0;
    B.sorted = false;
    if (P.weight_stride != 0) return;
    classify_query<T>(P, B, B.size);
    for (int place = 0; place < B.size; place++) copy_books(P, B, B.size, place);
}

/* Orders the places by bucket; under shared weights those without a gap share one, which is
 * empty if they are `solved`. */
static void sort_block(const GmPanels &P, Block &B, bool solved) {
    const ptrdiff_t n_buckets = 2 * P.n_judges + 2;
    const bool shared = P.weight_stride == 0;
    const int many = shared ? B.n_touched : B.count; /* places with books of their own */
    auto place_of = [&](int i) { return shared ? B.touched[i] : i; };
    int32_t *tally = B.tally, *order = B.order;
    for (ptrdiff_t c = 0; c <= n_buckets; c++) tally[c] = 0;
    for (int i = 0; i < many; i++) tally[bucket_of(B, place_of(i)) + 1]++;
    const int32_t common = shared ? bucket_of(B, B.size) : 0;
    if (!solved) tally[common + 1] += B.count - many;
    for (ptrdiff_t c = 0; c < n_buckets; c++) tally[c + 1] += tally[c];
    if (shared && !solved) {
        const unsigned char *gaps = B.gaps;
        int32_t at = tally[common];
        const int32_t end = at + B.count - many;
        for (int32_t place = 0; at < end; place++) {
            order[at] = place;
            at += !gaps[place];
        }
        tally[common] = at;
    }
    for (int i = 0; i < many; i++) {
        const int32_t place = place_of(i);
        order[tally[bucket_of(B, place)]++] = place;
    }
    for (ptrdiff_t c = n_buckets; c > 0; c--) tally[c] = tally[c - 1];
    tally[0] = 0;
}

/* Books for B.count queries from B.first on. A block without a gap under shared weights costs
 * one look at its memory; one with gaps, work for these alone. If `solved`, only the queries
 * that were left are looked at, and only those with a gap are ordered. */
template <typename T>
static void classify(const GmPanels &P, Block &B, bool solved) {
    const ptrdiff_t n = P.n_judges, d = P.n_attributes;
    const bool shared = P.weight_stride == 0;
    const bool clean_before = B.n_touched == 0;
    for (int i = 0; i < B.n_touched; i++) copy_books(P, B, B.size, B.touched[i]);
    B.n_touched = 0;
    if (solved)
        scan_left<T>(P, B);
    else if (query_contiguous<T>(P) && P.query_stride == n * P.judge_stride)
        scan_run(B, (const T *)query_at(P, B.first), n, d);
    else
        for (int place = 0; place < B.count; place++) scan_query<T>(P, B, place);
    const bool usual = shared && B.n_touched == 0 && B.count == B.size;
    if (usual && clean_before && B.sorted) return;
    if (shared)
        for (int i = 0; i < B.n_touched; i++) classify_query<T>(P, B, B.touched[i]);
    else
        for (int place = 0; place < B.count; place++) classify_query<T>(P, B, place);
    sort_block(P, B, solved);
    B.sorted = usual;
}

/* Vectors from judge to judge in lanes: off the powers of two, on which all judges would meet in
 * the same few lines of the cache. */
static inline ptrdiff_t row_stride(ptrdiff_t d) { return d % 32 == 0 ? d + 1 : d; }

/* Scores of the W queries at `places` into x (n, row_stride(d)), their weights over the largest
 * into w (n,). A query of fewer than n valid judges repeats its first with weight 0, which changes
 * no bit of its result. */
template <typename T>
static void load_lanes(
    const GmPanels &P, const Block &B, const int32_t *places, ptrdiff_t n, vec *x, vec *w) {
    const ptrdiff_t d = P.n_attributes, ds = row_stride(d);
    const char *p[W], *base = query_at(P, B.first);
    for (int l = 0; l < W; l++) p[l] = base + places[l] * P.query_stride;
    const bool complete = B.n_valid[places[0]] == P.n_judges; /* the fewest of the group */
    const bool run = complete && query_contiguous<T>(P) && n * d >= W && ds == d;
    if (run) gather_run<T>(p, n * d, x);
    for (ptrdiff_t i = 0; i < n; i++) {
        const bool shared = complete && !P.weights;
        if (shared) w[i] = all(1);
        if (shared && run) continue;
        const char *row[W];
        for (int l = 0; l < W; l++) {
            const bool valid = i < B.n_valid[places[l]];
            const ptrdiff_t judge = B.slots[places[l]][valid ? i : 0];
            row[l] = p[l] + judge * P.judge_stride;
            if (!shared) {
                const double *weight = P.weights ? weights_at(P, B.first + places[l]) : nullptr;
                w[i][l] = !valid ? 0.0 : weight ? weight[judge] / B.top[places[l]] : 1.0;
            }
        }
        if (run) continue;
        if (P.attribute_stride == (ptrdiff_t)sizeof(T) && d >= W)
            gather_run<T>(row, d, x + i * ds);
        else
            for (ptrdiff_t k = 0; k < d; k++)
                x[i * ds + k] = gather<T>(row, k * P.attribute_stride);
    }
}

/* Each judge's share of w_i/r_i at z into P.influence; judges exactly at z take all. `z` is
 * NULL where the query has no median. */
template <typename T>
static void write_influence(const GmPanels &P, const Block &B, int place, const double *z) {
    const ptrdiff_t n = P.n_judges, d = P.n_attributes, q = B.first + place;
    double *share = P.influence + q * n;
    for (ptrdiff_t i = 0; i < n; i++) share[i] = z ? 0 : NAN;
    if (!z) return;
    const int32_t valid = B.n_valid[place];
    auto judge_at = [&](int32_t i) { return B.slots[place][i]; };
    auto weight = [&](ptrdiff_t judge) {
        return P.weights ? weights_at(P, q)[judge] / B.top[place] : 1.0;
    };
    auto distance = [&](ptrdiff_t judge) {
        const char *row = query_at(P, q) + judge * P.judge_stride;
        long double s = 0;
        for (ptrdiff_t k = 0; k < d; k++) {
            const long double t = (long double)*(const T *)(row + k * P.attribute_stride) - z[k];
            s += t * t;
        }
        return __builtin_sqrtl(s);
    };
    long double here = 0, nearest = __builtin_inf(), total = 0;
    for (int32_t i = 0; i < valid; i++) {
        const long double r = distance(judge_at(i));
        if (r == 0)
            here += weight(judge_at(i));
        else if (r < nearest)
            nearest = r;
    }
    /* Pulls beside the nearest judge's, for 1/r alone may be beyond a double. */
    for (int32_t i = 0; i < valid; i++) {
        const ptrdiff_t judge = judge_at(i);
        const long double r = distance(judge);
        if (here > 0)
            share[judge] = r == 0 ? (double)(weight(judge) / here) : 0;
        else
            share[judge] = (double)(weight(judge) * (nearest / r));
        total += share[judge];
    }
    if (here > 0) return;
    for (int32_t i = 0; i < valid; i++)
        share[judge_at(i)] = (double)(share[judge_at(i)] / total);
}

/* Valid scores of one query into x (n, d), its weights over the largest into w (n,). */
template <typename T>
static void load_one(
    const GmPanels &P, const Block &B, int place, ptrdiff_t n, double *x, double *w) {
    const ptrdiff_t q = B.first + place, d = P.n_attributes;
    for (ptrdiff_t i = 0; i < n; i++) {
        const ptrdiff_t judge = B.slots[place][i];
        const char *row = query_at(P, q) + judge * P.judge_stride;
        for (ptrdiff_t k = 0; k < d; k++)
            x[i * d + k] = (double)*(const T *)(row + k * P.attribute_stride);
        w[i] = P.weights ? weights_at(P, q)[judge] / B.top[place] : 1.0;
    }
}
