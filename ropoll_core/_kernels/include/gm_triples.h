/* Batches of three judges, taken in the order of memory. Part of a body.
 *
 * One pass: queries are solved as if none had a gap, before anything is known of their scores.
 * NaN runs through all of its lane, so a query with a gap is never settled by that; where one
 * or two judges are left of it, it is settled beside the others as a pair. What else is not
 * settled gets books like any other query.
 */

/* Three judges of positive weight, the weights shared, each query one stretch of memory. */
template <typename T>
static bool triples_in_order(const GmPanels &P, const Block &B) {
    return P.n_judges == 3 && P.n_attributes > 1 && P.n_attributes <= MOST_SMALL_D &&
           3 * P.n_attributes >= W && P.solver != GM_WEISZFELD && P.weight_stride == 0 &&
           B.n_valid[B.size] == 3 && query_contiguous<T>(P);
}

/* Settles the lanes in which judges are missing, not all three; x (3, D), w (3,). */
template <int D>
static void settle_pairs(const vec *x, const vec *w, vec *z, mask &done, mask &several) {
    mask valid[3];
    vec reach = all(0); /* passes NaN over */
    for (int i = 0; i < 3; i++) {
        vec sum = all(0);
#pragma GCC unroll 16
        for (int k = 0; k < D; k++) {
            sum = fma(x[i * D + k], all(0), sum);
            reach = larger(size_of(x[i * D + k]), reach);
        }
        valid[i] = equal(sum, all(0));
    }
    vec pair[2 * D], pair_z[D];
#pragma GCC unroll 16
    for (int k = 0; k < D; k++) {
        const vec a = x[k], b = x[D + k], c = x[2 * D + k];
        pair[k] = pick(valid[0], a, pick(valid[1], b, c));
        pair[D + k] = pick(valid[2], c, pick(valid[1], b, a));
    }
    const vec pair_w[2] = {
        pick(valid[0], w[0], pick(valid[1], w[1], w[2])),
        pick(valid[2], w[2], pick(valid[1], w[1], w[0]))};
    Found found;
    found.z = pair_z;
    mask even;
    pair_lanes(pair, pair_w, 2, D, found, even);
    const mask use = found.done & (valid[0] | valid[1] | valid[2]) &
                     ~(valid[0] & valid[1] & valid[2]) & less(reach, all(INFINITY));
    for (int k = 0; k < D; k++) z[k] = pick(use, pair_z[k], z[k]);
    several = even & use;
    done = done | use;
}

/* Groups of lanes that go through either half of the work together. One alone is a chain of
 * dependent operations that leaves the processor idle; the next ones fill the gaps. */
enum { GROUPS = 8 };

template <typename T, int D, bool WEIGHTED>
static void solve_triples(const GmPanels &P, Block &B, Scratch &S) {
    vec w[3], x[GROUPS][3 * D], z[D];
    Triple triple;
    Triangle triangle[GROUPS];
    for (int i = 0; i < 3; i++) w[i] = all(P.weights ? P.weights[i] / B.top[B.size] : 1.0);
    if (WEIGHTED) weigh_triple(w, P, triple);
    Found found;
    found.z = z;
    ptrdiff_t in[W], out[W]; /* of the lanes, from the group's first query */
    for (int l = 0; l < W; l++)
        in[l] = l * P.query_stride, out[l] = l * P.median_query_stride;
    auto lanes_from = [&B](int first) { return B.count - first < W ? B.count - first : W; };
    for (int start = 0; start < B.count; start += GROUPS * W) {
        const int stop = B.count - start < GROUPS * W ? B.count : start + GROUPS * W;
        for (int first = start, g = 0; first < stop; first += W, g++) {
            for (int l = lanes_from(first); l < W; l++) in[l] = in[l - 1]; /* the last again */
            const char *from = query_at(P, B.first + first), *p[W];
#pragma GCC unroll 8
            for (int l = 0; l < W; l++) {
                p[l] = from + in[l];
                for (int at = 0; at < 3 * D * (int)sizeof(T); at += 64)
                    __builtin_prefetch(p[l] + AHEAD * P.query_stride + at);
            }
            gather_run<T>(p, 3 * D, x[g]);
            place_median<D, WEIGHTED>(x[g], triple, triangle[g]);
        }
        for (int first = start, g = 0; first < stop; first += W, g++) {
            const int here = lanes_from(first);
            certify_median<D, WEIGHTED>(x[g], triple, triangle[g], P, found);
            mask several = {};
            const unsigned done = bits(found.done);
            if (done != ALL_LANES && !P.status && !P.propagate) {
                settle_pairs<D>(x[g], w, z, found.done, several);
                if (bits(found.done) != done) P.seen[GM_SEEN_MISSING] = 1;
            }
            int32_t group[W];
#pragma GCC unroll 8
            for (int l = 0; l < W; l++) group[l] = first + l;
            if (P.status) {
                store_lanes<T>(P, B, group, here, found, several, S.one);
                continue;
            }
            for (int l = here; l < W; l++) out[l] = out[l - 1];
            char *to = P.median + (B.first + first) * P.median_query_stride, *row[W];
#pragma GCC unroll 8
            for (int l = 0; l < W; l++) row[l] = to + out[l];
            store_medians<T>(P, row, D, z);
            note_lanes(P, B, group, here, found.done, several);
        }
    }
}
