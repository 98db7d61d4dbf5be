/* Geometric median of a range of queries: the parts put together for one instruction set. */

namespace ROPOLL_NS {

#include "lanes.h"
#include "gm_load.h"
#include "gm_newton.h"
#include "gm_large.h"
#include "gm_closed.h"
#include "gm_weiszfeld.h"
#include "gm_store.h"

struct Scratch {
    vec *x, *w, *cost;
    vec *z, *z1, *z2; /* (d,) */
    Large large;
    Triple triple;
    double *row, *row_w, *one;
    char *robust;
};

/* Above this many judges all pairs cost more than a few steps without them. */
enum { MOST_SMALL = 24 };

/* The numbers of attributes that are compiled. */
#define ROPOLL_EACH_D(CASE) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8)
enum { MOST_SMALL_D = 8 };

#include "gm_triples.h"

/* Few attributes: compiled for each number of them. False if it is not one of those. Three judges
 * are weighted as S.triple says. */
static bool solve_small(const GmPanels &P, ptrdiff_t n, bool weighted, Scratch &S, Found &found) {
    switch (P.n_attributes) {
#define ROPOLL_CASE(D)                                       \
    case D:                                                  \
        if (n > 3)                                           \
            newton_lanes<D>(S.x, S.w, S.cost, n, P, found);  \
        else if (weighted)                                   \
            closed_lanes<D, true>(S.x, S.triple, P, found);  \
        else                                                 \
            closed_lanes<D, false>(S.x, S.triple, P, found); \
        return true;
        ROPOLL_EACH_D(ROPOLL_CASE)
#undef ROPOLL_CASE
        default: return false;
    }
}

/* A median that is a judge's vector: that vector to the bit, not offset plus origin. */
template <typename T>
static void restore_points(
    const GmPanels &P, const Block &B, const int32_t *places, vec point, vec *z) {
    for (int l = 0; l < W; l++) {
        if (point[l] < 0) continue;
        const ptrdiff_t judge = B.slots[places[l]][(ptrdiff_t)point[l]];
        const char *row = query_at(P, B.first + places[l]) + judge * P.judge_stride;
        for (ptrdiff_t k = 0; k < P.n_attributes; k++)
            z[k][l] = (double)*(const T *)(row + k * P.attribute_stride);
    }
}

/* `count` places of at most n valid judges each, sorted by their number. */
template <typename T>
static void solve_bucket(
    const GmPanels &P, Block &B, const int32_t *places, int count, bool weighted, Scratch &S) {
    Found found;
    found.z = S.z;
    for (int first = 0; first < count; first += W) {
        const int here = count - first < W ? count - first : W;
        int32_t group[W];
        for (int l = 0; l < W; l++) group[l] = places[first + (l < here ? l : here - 1)];
        const ptrdiff_t n = B.n_valid[group[W - 1]];
        load_lanes<T>(P, B, group, n, S.x, S.w);
        if (n == 3 && weighted) weigh_triple(S.w, P, S.triple);
        mask several = {};
        if (n <= 2)
            pair_lanes(S.x, S.w, n, P.n_attributes, found, several);
        else if (n > MOST_SMALL || !solve_small(P, n, weighted, S, found)) {
            large_lanes(S.x, S.w, n, P, S.large, found);
            restore_points<T>(P, B, group, S.large.point, found.z);
        }
        store_lanes<T>(P, B, group, here, found, several, S.one);
    }
}

template <typename T>
static void solve_weiszfeld(
    const GmPanels &P, Block &B, const int32_t *places, ptrdiff_t count, Scratch &S) {
    for (int first = 0; first < count; first += W) {
        int32_t group[W];
        for (int l = 0; l < W; l++)
            group[l] = places[first + l < count ? first + l : count - 1];
        const ptrdiff_t n = B.n_valid[group[W - 1]];
        load_lanes<T>(P, B, group, n, S.x, S.w);
        vec objective, gap, steps;
        weiszfeld_lanes(S.x, S.w, S.cost, S.z, S.z1, n, P, S.z2, objective, gap, steps);
        for (int l = 0; l < W && first + l < count; l++) {
            for (ptrdiff_t k = 0; k < P.n_attributes; k++) S.one[k] = S.z[k][l];
            const bool good = gap[l] <= P.tol * objective[l];
            const GmAnswer a = {
                objective[l], gap[l], (int)steps[l], good ? GM_CERTIFIED : GM_NOT_CERTIFIED};
            store<T>(P, B, group[l], S.one, a);
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
        S.robust, S.one, a);
    store<T>(P, B, place, S.one, a);
}

template <typename T>
static void solve_in_order(const GmPanels &P, Block &B, Scratch &S) {
    const bool weighted = B.weighted[B.size];
    switch (P.n_attributes) {
#define ROPOLL_CASE(D)                                     \
    case D:                                                \
        if constexpr (3 * D >= W)                          \
            weighted ? solve_triples<T, D, true>(P, B, S)  \
                     : solve_triples<T, D, false>(P, B, S); \
        break;
        ROPOLL_EACH_D(ROPOLL_CASE)
#undef ROPOLL_CASE
    }
}

template <typename T>
static void solve_block(const GmPanels &P, Block &B, Scratch &S) {
    B.n_left = 0;
    const bool solved = triples_in_order<T>(P, B);
    if (solved) solve_in_order<T>(P, B, S);
    classify<T>(P, B, solved);
    for (int32_t i = 0; i < B.tally[1]; i++) {
        const int place = B.order[i];
        for (ptrdiff_t k = 0; k < P.n_attributes; k++) S.one[k] = NAN;
        const GmAnswer a = {NAN, NAN, 0, B.state[place]};
        store<T>(P, B, place, S.one, a);
    }
    auto bucket = [&](ptrdiff_t from, ptrdiff_t to, bool weighted) {
        from = B.tally[from], to = B.tally[to];
        if (P.solver == GM_WEISZFELD)
            solve_weiszfeld<T>(P, B, B.order + from, to - from, S);
        else if (P.n_attributes > 1)
            solve_bucket<T>(P, B, B.order + from, (int)(to - from), weighted, S);
        else
            for (; from < to; from++) B.left[B.n_left++] = B.order[from];
    };
    /* 2 n + weighted: one and two judges, three of equal weight, three others, the rest. */
    const ptrdiff_t last = 2 * P.n_judges + 2;
    bucket(2, last < 4 ? last : 4, false);
    if (last > 4) bucket(4, 6, false);
    if (last > 6) bucket(6, 7, false), bucket(7, 8, true);
    if (last > 8) bucket(8, last, true);
    for (int i = 0; i < B.n_left; i++) solve_robust<T>(P, B, B.left[i], S);
}

static void run(const GmPanels &P, ptrdiff_t start, ptrdiff_t stop, char *scratch) {
    const ptrdiff_t n = P.n_judges, d = P.n_attributes;
    const ptrdiff_t most = gm_block_size(n, d);
    const int size = (int)(stop - start < most ? stop - start : most);
    char *at = scratch;
    auto take = [&at](size_t bytes) {
        char *p = at;
        at += (bytes + 63) & ~(size_t)63;
        return p;
    };
    Scratch S;
    S.x = (vec *)take((size_t)(n * (d + 1)) * GM_LANE_BYTES);
    S.w = (vec *)take((size_t)n * GM_LANE_BYTES);
    S.cost = (vec *)take((size_t)n * GM_LANE_BYTES);
    auto take_vectors = [&take, d]() { return (vec *)take((size_t)d * GM_LANE_BYTES); };
    S.z = take_vectors(), S.z1 = take_vectors(), S.z2 = take_vectors();
    Large &L = S.large;
    L.z = take_vectors(), L.f = take_vectors(), L.g = take_vectors(), L.mean = take_vectors();
    L.old_z = take_vectors(), L.old_f = take_vectors();
    L.b = take_vectors(), L.row = take_vectors();
    for (int j = 0; j < ANDERSON_DEPTH; j++) L.df[j] = take_vectors(), L.dz[j] = take_vectors();
    S.row = (double *)take((size_t)(n * d) * sizeof(double));
    S.row_w = (double *)take((size_t)n * sizeof(double));
    S.one = (double *)take((size_t)d * sizeof(double));
    S.robust = take(gm_scalar::work_bytes(n, d));
    Block B;
    B.size = size;
    const size_t room = (size_t)size + 1;
    B.n_valid = (int32_t *)take(room * 4);
    B.order = (int32_t *)take(room * 4);
    B.left = (int32_t *)take(room * 4);
    B.touched = (int32_t *)take(room * 4);
    B.own_slots = (int32_t *)take(room * (size_t)n * 4);
    B.slots = (const int32_t **)take(room * sizeof(int32_t *));
    B.tally = (int32_t *)take((size_t)(2 * n + 3) * 4);
    B.top = (double *)take(room * 8);
    B.state = (int8_t *)take(room);
    B.weighted = (int8_t *)take(room);
    B.gap = (unsigned char *)take(room * (size_t)n);
    B.gaps = (unsigned char *)take(room);
    B.first = start;
    if (P.is_float)
        open_books<float>(P, B);
    else
        open_books<double>(P, B);
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
