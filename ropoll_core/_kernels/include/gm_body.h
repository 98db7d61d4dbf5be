/* Geometric median of a range of queries: the parts put together for one instruction set. */

namespace ROPOLL_NS {

#include "lanes.h"
#include "gm_load.h"
#include "gm_newton.h"
#include "gm_closed.h"
#include "gm_weiszfeld.h"

/* Lanes are compiled for up to this many attributes. */
enum { MOST_LANE_ATTRIBUTES = 8 };

struct Scratch {
    vec *x, *w, *cost;
    vec *z0, *z1, *z2; /* (d,) */
    double *row, *row_w, *z;
    char *robust;
    unsigned char *bad;
};

/* Writes what is known of one query, in the caller's weights. */
template <typename T>
static void store(
    const GmPanels &P, const Block &B, int place, const double *z, const GmAnswer &a) {
    const ptrdiff_t q = B.first + place;
    const double unit = B.top[place];
    char *median = P.median + q * P.median_query_stride;
    for (ptrdiff_t k = 0; k < P.n_attributes; k++)
        *(T *)(median + k * P.median_attribute_stride) = (T)z[k];
    P.seen[a.status] = 1;
    if (!P.status) return;
    P.objective[q] = a.objective * unit;
    P.gap[q] = a.gap * unit;
    P.n_valid[q] = B.n_valid[place];
    P.n_iter[q] = a.n_iter;
    P.status[q] = (int8_t)a.status;
    write_influence<T>(P, B, place, a.status <= GM_NOT_CERTIFIED ? z : nullptr);
}

template <typename T, int D>
static void store_lanes(
    const GmPanels &P, Block &B, const int32_t *places, int count, const Settled<D> &S) {
    const unsigned done = bits(S.done);
    for (int l = 0; l < count; l++) {
        const int place = places[l];
        if (!(done >> l & 1)) {
            B.left[B.n_left++] = place;
            continue;
        }
        double z[D];
        for (int k = 0; k < D; k++) z[k] = S.z[k][l];
        const GmAnswer a = {S.objective[l], S.gap[l], (int)S.steps[l], GM_CERTIFIED};
        store<T>(P, B, place, z, a);
    }
}

/* One bucket: `count` places of n valid judges each. */
template <typename T, int D>
static void solve_bucket(
    const GmPanels &P, Block &B, const int32_t *places, int count, ptrdiff_t n, bool weighted,
    Scratch &S) {
    for (int first = 0; first < count; first += W) {
        const int here = count - first < W ? count - first : W;
        int32_t group[W];
        for (int l = 0; l < W; l++) group[l] = places[first + (l < here ? l : here - 1)];
        load_lanes<T>(P, B, group, n, S.x, S.w);
        Settled<D> settled;
        if (n > 3)
            newton_lanes<D>(S.x, S.w, S.cost, n, P, settled);
        else if (weighted)
            closed_lanes<D, true>(S.x, S.w, P, settled);
        else
            closed_lanes<D, false>(S.x, S.w, P, settled);
        store_lanes<T, D>(P, B, group, here, settled);
    }
}

template <typename T>
static void solve_lanes_of(
    const GmPanels &P, Block &B, const int32_t *places, int count, ptrdiff_t n, bool weighted,
    Scratch &S) {
    switch (P.n_attributes) {
#define ROPOLL_CASE(D) \
    case D: return solve_bucket<T, D>(P, B, places, count, n, weighted, S);
        ROPOLL_CASE(2)
        ROPOLL_CASE(3)
        ROPOLL_CASE(4)
        ROPOLL_CASE(5)
        ROPOLL_CASE(6)
        ROPOLL_CASE(7)
        ROPOLL_CASE(8)
#undef ROPOLL_CASE
    }
}

template <typename T>
static void solve_weiszfeld(
    const GmPanels &P, Block &B, const int32_t *places, int count, ptrdiff_t n, Scratch &S) {
    for (int first = 0; first < count; first += W) {
        int32_t group[W];
        for (int l = 0; l < W; l++)
            group[l] = places[first + l < count ? first + l : count - 1];
        load_lanes<T>(P, B, group, n, S.x, S.w);
        vec objective, gap, steps;
        weiszfeld_lanes(S.x, S.w, S.cost, S.z0, S.z1, n, P, S.z2, objective, gap, steps);
        for (int l = 0; l < W && first + l < count; l++) {
            for (ptrdiff_t k = 0; k < P.n_attributes; k++) S.z[k] = S.z0[k][l];
            const bool good = gap[l] <= P.tol * objective[l];
            const GmAnswer a = {
                objective[l], gap[l], (int)steps[l], good ? GM_CERTIFIED : GM_NOT_CERTIFIED};
            store<T>(P, B, group[l], S.z, a);
        }
    }
}

template <typename T>
static void solve_robust(const GmPanels &P, Block &B, int place, Scratch &S) {
    const ptrdiff_t n = B.n_valid[place];
    load_one<T>(P, B, place, n, S.row, S.row_w);
    GmAnswer a;
    gm_scalar::solve_one(
        S.row, S.row_w, n, P.n_attributes, P.tol, gm_line_tolerance(P.is_float), P.max_iter,
        S.robust, S.z, a);
    store<T>(P, B, place, S.z, a);
}

template <typename T>
static void solve_block(const GmPanels &P, Block &B, Scratch &S) {
    classify<T>(P, B, S.bad);
    sort_block(P, B);
    B.n_left = 0;
    for (int32_t i = 0; i < B.tally[1]; i++) {
        const int place = B.order[i];
        for (ptrdiff_t k = 0; k < P.n_attributes; k++) S.z[k] = NAN;
        const GmAnswer a = {NAN, NAN, 0, B.state[place]};
        store<T>(P, B, place, S.z, a);
    }
    const bool lanes = P.n_attributes > 1 && P.n_attributes <= MOST_LANE_ATTRIBUTES;
    for (ptrdiff_t n = 1; n <= P.n_judges; n++)
        for (int weighted = 0; weighted < 2; weighted++) {
            const int32_t from = B.tally[2 * n + weighted], to = B.tally[2 * n + weighted + 1];
            if (P.solver == GM_WEISZFELD)
                solve_weiszfeld<T>(P, B, B.order + from, to - from, n, S);
            else if (lanes && n > 2)
                solve_lanes_of<T>(P, B, B.order + from, to - from, n, weighted, S);
            else
                for (int32_t i = from; i < to; i++) B.left[B.n_left++] = B.order[i];
        }
    for (int i = 0; i < B.n_left; i++) solve_robust<T>(P, B, B.left[i], S);
}

static void run(const GmPanels &P, ptrdiff_t start, ptrdiff_t stop, char *scratch) {
    const ptrdiff_t n = P.n_judges, d = P.n_attributes;
    const int size = gm_block_size(n, d);
    char *at = scratch;
    auto take = [&at](size_t bytes) {
        char *p = at;
        at += (bytes + 63) & ~(size_t)63;
        return p;
    };
    Scratch S;
    S.x = (vec *)take((size_t)(n * d) * GM_LANE_BYTES);
    S.w = (vec *)take((size_t)n * GM_LANE_BYTES);
    S.cost = (vec *)take((size_t)n * GM_LANE_BYTES);
    S.z0 = (vec *)take((size_t)d * GM_LANE_BYTES);
    S.z1 = (vec *)take((size_t)d * GM_LANE_BYTES);
    S.z2 = (vec *)take((size_t)d * GM_LANE_BYTES);
    S.row = (double *)take((size_t)(n * d) * sizeof(double));
    S.row_w = (double *)take((size_t)n * sizeof(double));
    S.z = (double *)take((size_t)d * sizeof(double));
    S.robust = take(gm_scalar::work_bytes(n, d));
    S.bad = (unsigned char *)take((size_t)n);
    Block B;
    B.n_valid = (int32_t *)take((size_t)size * 4);
    B.order = (int32_t *)take((size_t)size * 4);
    B.left = (int32_t *)take((size_t)size * 4);
    B.slots = (int32_t *)take((size_t)(size * n) * 4);
    B.tally = (int32_t *)take((size_t)(2 * n + 3) * 4);
    B.top = (double *)take((size_t)size * 8);
    B.state = (int8_t *)take((size_t)size);
    B.weighted = (int8_t *)take((size_t)size);
    for (ptrdiff_t q = start; q < stop; q += size) {
        B.first = q;
        B.count = (int)(stop - q < size ? stop - q : size);
        if (P.is_float)
            solve_block<float>(P, B, S);
        else
            solve_block<double>(P, B, S);
    }
}

}  // namespace ROPOLL_NS
