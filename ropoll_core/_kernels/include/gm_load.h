/* Which judges of which queries are valid, and their scores into lanes. Part of a body.
 *
 * A block of queries is classified first; queries of equal shape then share lane groups, in
 * whatever order, since no lane sees its neighbours. The input is read through its strides.
 */

/* What a lane solver found for W queries. */
template <int D>
struct Settled {
    vec z[D]; /* absolute */
    vec objective, gap, steps;
    mask done;
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

/* Lanes whose n points are one and the same; only looked at where F says it may be so. */
template <int D>
LANE_INLINE mask all_equal(const vec *x, ptrdiff_t n, vec F) {
    mask same = equal(F, all(0));
    if (__builtin_expect(bits(same) == 0, 1)) return same;
    for (ptrdiff_t i = 1; i < n; i++)
        for (int k = 0; k < D; k++) same = same & equal(x[i * D + k], x[k]);
    return same;
}

/* The queries of one block, by what is to be done with them. */
struct Block {
    ptrdiff_t first; /* query of place 0 */
    int count;
    int32_t *n_valid; /* by place; 0 where nothing is to be solved */
    int8_t *state;    /* by place: the status if nothing is to be solved */
    int8_t *weighted; /* by place: valid weights differ */
    double *top;      /* by place: largest valid weight */
    int32_t *slots;   /* (count, n_judges) valid judges first, where not all are */
    int32_t *order;   /* places sorted by (n_valid, weighted) */
    int32_t *tally;   /* (2 n_judges + 3) */
    int32_t *left;    /* places that the lanes did not settle */
    int n_left;
};

static inline const char *query_at(const GmPanels &P, ptrdiff_t q) {
    return P.scores + q * P.query_stride;
}

static inline const double *weights_at(const GmPanels &P, ptrdiff_t q) {
    return P.weights + q * P.weight_stride;
}

template <typename T>
static bool row_has_infinite(const GmPanels &P, const char *row) {
    for (ptrdiff_t k = 0; k < P.n_attributes; k++)
        if (__builtin_isinf(*(const T *)(row + k * P.attribute_stride))) return true;
    return false;
}

/* One query with a non-finite score or with weights. `bad` has lane's bit where a judge's
 * scores are not all finite. */
template <typename T>
static void classify_query(
    const GmPanels &P, Block &B, int place, const unsigned char *bad, int lane) {
    const ptrdiff_t n = P.n_judges, q = B.first + place;
    const double *w = P.weights ? weights_at(P, q) : nullptr;
    int32_t *slots = B.slots + place * n;
    int valid = 0;
    double top = 0, low = INFINITY;
    for (ptrdiff_t i = 0; i < n; i++) {
        const double weight = w ? w[i] : 1.0;
        if (!(weight > 0)) continue;
        if (bad[i] >> lane & 1) {
            P.seen[GM_SEEN_MISSING] = 1;
            if (row_has_infinite<T>(P, query_at(P, q) + i * P.judge_stride))
                B.state[place] = GM_INFINITE;
            else if (P.propagate && B.state[place] != GM_INFINITE)
                B.state[place] = GM_PROPAGATED;
            continue;
        }
        slots[valid++] = (int32_t)i;
        top = weight > top ? weight : top;
        low = weight < low ? weight : low;
    }
    B.n_valid[place] = valid;
    B.top[place] = top;
    B.weighted[place] = low != top;
    if (valid == 0 && B.state[place] == GM_CERTIFIED) B.state[place] = GM_ALL_MISSING;
}

/* True if every score of the block is finite, for a contiguous block. */
template <typename T>
static bool all_finite(const T *x, ptrdiff_t count) {
    vec sum = {};
    ptrdiff_t i = 0;
    for (; i + W <= count; i += W) {
        vec v;
        for (int l = 0; l < W; l++) v[l] = (double)x[i + l];
        sum += v * 0.0;
    }
    double rest = 0;
    for (; i < count; i++) rest += (double)x[i] * 0.0;
    return bits(equal(sum, sum)) == ALL_LANES && rest == rest;
}

template <typename T>
static bool is_contiguous(const GmPanels &P) {
    return P.attribute_stride == (ptrdiff_t)sizeof(T) &&
           P.judge_stride == P.n_attributes * (ptrdiff_t)sizeof(T) &&
           P.query_stride == P.n_judges * P.judge_stride;
}

template <typename T>
static void classify(const GmPanels &P, Block &B, unsigned char *bad) {
    const ptrdiff_t n = P.n_judges, d = P.n_attributes;
    const char *scores = query_at(P, B.first);
    const bool clean = is_contiguous<T>(P) && all_finite((const T *)scores, B.count * n * d);
    for (int place = 0; place < B.count; place++) {
        B.n_valid[place] = (int32_t)n;
        B.state[place] = GM_CERTIFIED;
        B.weighted[place] = 0;
        B.top[place] = 1;
    }
    if (clean && !P.weights) return;
    for (int first = 0; first < B.count; first += W) {
        const char *p[W];
        for (int l = 0; l < W; l++) {
            const int place = first + l < B.count ? first + l : B.count - 1;
            p[l] = scores + place * P.query_stride;
        }
        unsigned any = 0;
        for (ptrdiff_t i = 0; i < n; i++) {
            vec sum = {};
            if (!clean)
                for (ptrdiff_t k = 0; k < d; k++)
                    sum += gather<T>(p, i * P.judge_stride + k * P.attribute_stride) * 0.0;
            bad[i] = (unsigned char)bits(~equal(sum, sum));
            any |= bad[i];
        }
        for (int l = 0; l < W && first + l < B.count; l++)
            if (P.weights || (any >> l & 1)) classify_query<T>(P, B, first + l, bad, l);
    }
}

/* Fills B.order and B.tally: places sorted by 2 n_valid + weighted; bucket c runs from
 * tally[c] to tally[c + 1]. Places with nothing to solve come first. */
static void sort_block(const GmPanels &P, Block &B) {
    const ptrdiff_t n_keys = 2 * P.n_judges + 2;
    for (ptrdiff_t c = 0; c <= n_keys; c++) B.tally[c] = 0;
    auto key = [&B](int place) {
        return B.state[place] == GM_CERTIFIED ? 2 * B.n_valid[place] + B.weighted[place] : 0;
    };
    for (int place = 0; place < B.count; place++) B.tally[key(place) + 1]++;
    for (ptrdiff_t c = 0; c < n_keys; c++) B.tally[c + 1] += B.tally[c];
    for (int place = 0; place < B.count; place++) B.order[B.tally[key(place)]++] = place;
    for (ptrdiff_t c = n_keys; c > 0; c--) B.tally[c] = B.tally[c - 1];
    B.tally[0] = 0;
}

/* Scores of the W queries at `places` into x (n, d) and their weights over the largest into
 * w (n,). */
template <typename T>
static void load_lanes(
    const GmPanels &P, const Block &B, const int32_t *places, ptrdiff_t n, vec *x, vec *w) {
    const ptrdiff_t d = P.n_attributes;
    const char *p[W], *row[W];
    for (int l = 0; l < W; l++) p[l] = query_at(P, B.first + places[l]);
    const bool complete = n == P.n_judges;
    for (ptrdiff_t i = 0; i < n; i++) {
        for (int l = 0; l < W; l++) {
            const ptrdiff_t judge = complete ? i : B.slots[places[l] * P.n_judges + i];
            row[l] = p[l] + judge * P.judge_stride;
        }
        for (ptrdiff_t k = 0; k < d; k++) x[i * d + k] = gather<T>(row, k * P.attribute_stride);
        if (!P.weights) {
            w[i] = all(1);
            continue;
        }
        for (int l = 0; l < W; l++) {
            const ptrdiff_t judge = complete ? i : B.slots[places[l] * P.n_judges + i];
            w[i][l] = weights_at(P, B.first + places[l])[judge] / B.top[places[l]];
        }
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
    auto judge_at = [&](int32_t i) {
        return valid == n ? i : B.slots[place * n + i];
    };
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
    const bool complete = n == P.n_judges;
    for (ptrdiff_t i = 0; i < n; i++) {
        const ptrdiff_t judge = complete ? i : B.slots[place * P.n_judges + i];
        const char *row = query_at(P, q) + judge * P.judge_stride;
        for (ptrdiff_t k = 0; k < d; k++)
            x[i * d + k] = (double)*(const T *)(row + k * P.attribute_stride);
        w[i] = P.weights ? weights_at(P, q)[judge] / B.top[place] : 1.0;
    }
}
