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

/* The queries of one block, by what is to be done with them; places count from `first`. */
struct Block {
    ptrdiff_t first;
    int count, size;  /* queries here; room */
    bool gaps;        /* a query of the last block was not all finite */
    bool usual;       /* the books say: every place as a query without a missing judge */
    int32_t *n_valid; /* by place */
    int8_t *state;    /* by place: GM_CERTIFIED, or the status if nothing is to be solved */
    int8_t *weighted; /* by place: valid weights differ */
    double *top;      /* by place: largest valid weight */
    const int32_t **slots; /* by place: its valid judges */
    int32_t *own_slots;    /* (size, n_judges) room for these */
    int32_t *order;   /* places sorted by (n_valid, weighted), nothing to solve first */
    int32_t *tally;   /* (2 n_judges + 3) where each such bucket starts in `order` */
    int32_t *left;    /* places that the lanes did not settle */
    int n_left;
};

static inline const char *query_at(const GmPanels &P, ptrdiff_t q) {
    return P.scores + q * P.query_stride;
}

static inline const double *weights_at(const GmPanels &P, ptrdiff_t q) {
    return P.weights + q * P.weight_stride;
}

/* True if `count` consecutive scores are all finite. */
template <typename T>
static bool all_finite(const T *x, ptrdiff_t count) {
    vec sum = {};
    ptrdiff_t i = 0;
    for (; i + W <= count; i += W) sum += load_run(x + i) * 0.0;
    double rest = 0;
    if (i < count && count >= W)
        sum += load_run(x + count - W) * 0.0;
    else
        for (; i < count; i++) rest += (double)x[i] * 0.0;
    return bits(equal(sum, sum)) == ALL_LANES && rest == 0;
}

template <typename T>
static bool judge_finite(const GmPanels &P, const char *row) {
    if (P.attribute_stride == (ptrdiff_t)sizeof(T))
        return all_finite((const T *)row, P.n_attributes);
    double sum = 0;
    for (ptrdiff_t k = 0; k < P.n_attributes; k++)
        sum += (double)*(const T *)(row + k * P.attribute_stride) * 0.0;
    return sum == 0;
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

/* The books of one place. `finite`: no score of the query needs to be looked at. */
template <typename T>
static void classify_query(const GmPanels &P, Block &B, int place, bool finite) {
    const ptrdiff_t n = P.n_judges, q = B.first + place;
    const double *w = P.weights ? weights_at(P, q) : nullptr;
    int32_t *slots = B.own_slots + place * n;
    int valid = 0;
    double top = 0, low = INFINITY;
    B.state[place] = GM_CERTIFIED;
    for (ptrdiff_t i = 0; i < n; i++) {
        const double weight = w ? w[i] : 1.0;
        if (!(weight > 0)) continue;
        const char *row = query_at(P, q) + i * P.judge_stride;
        if (!finite && !judge_finite<T>(P, row)) {
            P.seen[GM_SEEN_MISSING] = 1;
            if (judge_infinite<T>(P, row))
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

static void sort_block(const GmPanels &P, Block &B) {
    const ptrdiff_t n_buckets = 2 * P.n_judges + 2;
    for (ptrdiff_t c = 0; c <= n_buckets; c++) B.tally[c] = 0;
    for (int place = 0; place < B.count; place++) B.tally[bucket_of(B, place) + 1]++;
    for (ptrdiff_t c = 0; c < n_buckets; c++) B.tally[c + 1] += B.tally[c];
    for (int place = 0; place < B.count; place++) B.order[B.tally[bucket_of(B, place)]++] = place;
    for (ptrdiff_t c = n_buckets; c > 0; c--) B.tally[c] = B.tally[c - 1];
    B.tally[0] = 0;
}

/* Books for B.count queries from B.first on. A block of finite scores under shared weights
 * costs one look at its memory: its books are the usual ones. */
template <typename T>
static void classify(const GmPanels &P, Block &B) {
    const ptrdiff_t length = P.n_judges * P.n_attributes;
    const bool runs = query_contiguous<T>(P);
    const bool one_run = runs && P.query_stride == length * (ptrdiff_t)sizeof(T);
    const T *scores = (const T *)query_at(P, B.first);
    /* After a block with a missing judge, queries are looked at one by one at once. */
    const bool usual = P.weight_stride == 0 && one_run && !B.gaps &&
                       all_finite(scores, B.count * length);
    if (usual && B.usual && B.count == B.size) return;
    bool gaps = false;
    int like = -1; /* a place of finite scores: under shared weights all such are alike */
    for (int place = 0; place < B.count; place++) {
        const T *query = (const T *)query_at(P, B.first + place);
        const bool finite = usual || (runs && all_finite(query, length));
        gaps |= !finite;
        if (!finite || P.weight_stride != 0 || like < 0) {
            classify_query<T>(P, B, place, finite);
            if (finite) like = place;
            continue;
        }
        B.state[place] = B.state[like];
        B.n_valid[place] = B.n_valid[like];
        B.weighted[place] = B.weighted[like];
        B.top[place] = B.top[like];
        B.slots[place] = B.slots[like];
    }
    sort_block(P, B);
    B.usual = usual && B.count == B.size;
    B.gaps = gaps;
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
    const char *p[W];
    bool complete = true;
    for (int l = 0; l < W; l++) {
        p[l] = query_at(P, B.first + places[l]);
        complete &= B.n_valid[places[l]] == P.n_judges;
    }
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
    long double total = 0, here = 0;
    auto judge_at = [&](int32_t i) { return B.slots[place][i]; };
    auto weight = [&](ptrdiff_t judge) {
        return P.weights ? weights_at(P, q)[judge] / B.top[place] : 1.0;
    };
    for (int32_t i = 0; i < valid; i++) {
        const ptrdiff_t judge = judge_at(i);
        const char *row = query_at(P, q) + judge * P.judge_stride;
        long double s = 0;
        for (ptrdiff_t k = 0; k < d; k++) {
            const long double t = (long double)*(const T *)(row + k * P.attribute_stride) - z[k];
            s += t * t;
        }
        if (s == 0) {
            here += weight(judge);
            share[judge] = -1; /* exactly at the median */
        } else {
            const long double pull = weight(judge) / __builtin_sqrtl(s);
            total += pull;
            share[judge] = (double)pull;
        }
    }
    for (int32_t i = 0; i < valid; i++) {
        const ptrdiff_t judge = judge_at(i);
        if (here > 0)
            share[judge] = share[judge] == -1 ? (double)(weight(judge) / here) : 0;
        else
            share[judge] = (double)(share[judge] / total);
    }
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
