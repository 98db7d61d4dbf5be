/* Coordinate-wise median and trimmed mean, trimmed mean by distance, medoid, for one block.
 *
 * Variant body: included once per instruction set. An algorithm says whether it squares scores
 * (then panels far from 1 are done again in long double) and how many vectors of scratch it needs.
 */
namespace ROPOLL_NS {

#include "lanes.h"
#include "panel_lanes.h"

struct CoordinatewiseMedian {
    static constexpr bool squares = false;
    static ptrdiff_t spare(ptrdiff_t n, ptrdiff_t) { return 2 * n; }

    template <class V> void operator()(Block<V> &p) const {
        for (ptrdiff_t a = 0; a < p.d; a++) {
            column(p, a, p.spare);
            p.y[a] = median(p, p.spare);
        }
    }
};

/* count[0]: values to cut at each end. */
struct CoordinatewiseTrimmedMean {
    static constexpr bool squares = true; /* not squares, but sums that overflow */
    static ptrdiff_t spare(ptrdiff_t n, ptrdiff_t) { return n; }

    template <class V> void operator()(Block<V> &p) const {
        const V first = p.count[0], end = p.m - p.count[0];
        p.n_used = end - first;
        for (ptrdiff_t a = 0; a < p.d; a++) {
            column(p, a, p.spare);
            sort_values(p.spare, p.n);
            V sum = all<V>(0.0);
            for (ptrdiff_t k = 0; k < p.n; k++) {
                const V index = all<V>((double)k);
                sum += pick(at_most(first, index) & less(index, end), p.spare[k], all<V>(0.0));
            }
            p.y[a] = sum / p.n_used;
        }
    }
};

/* count[0]: judges to drop, those farthest from the mean vector; of equally far ones the last. */
struct TrimmedMean {
    static constexpr bool squares = true;
    static ptrdiff_t spare(ptrdiff_t n, ptrdiff_t) { return n; }

    template <class V> void operator()(Block<V> &p) const {
        V *distance = p.spare; /* squared; -1 once dropped */
        for (ptrdiff_t k = 0; k < p.n; k++)
            p.used[k] = pick(less(all<V>((double)k), p.m), all<V>(1.0), all<V>(0.0));
        p.n_used = p.m;
        mean_of_used(p);
        const int rounds = most(p.count[0]);
        if (rounds == 0) return;
        for (ptrdiff_t k = 0; k < p.n; k++) {
            V sum = all<V>(0.0);
            for (ptrdiff_t a = 0; a < p.d; a++) {
                const V t = p.x[k * p.d + a] - p.y[a];
                sum += t * t;
            }
            distance[k] = pick(less(all<V>(0.0), p.used[k]), sum, all<V>(-1.0));
        }
        for (int round = 0; round < rounds; round++) {
            V farthest = distance[0], index = all<V>(0.0);
            for (ptrdiff_t k = 1; k < p.n; k++) {
                const auto later = at_most(larger(farthest, all<V>(0.0)), distance[k]);
                index = pick(later, all<V>((double)k), index);
                farthest = larger(farthest, distance[k]);
            }
            for (ptrdiff_t k = 0; k < p.n; k++) {
                const auto drop = equal(all<V>((double)k), index) &
                                  less(all<V>((double)round), p.count[0]);
                distance[k] = pick(drop, all<V>(-1.0), distance[k]);
                p.used[k] = pick(drop, all<V>(0.0), p.used[k]);
            }
        }
        p.n_used = p.m - p.count[0];
        mean_of_used(p);
    }
};

/* The judge with the least weighted sum of distances to the others. */
struct Medoid {
    static constexpr bool squares = true;
    static ptrdiff_t spare(ptrdiff_t n, ptrdiff_t) { return n * n + n; }

    template <class V> void operator()(Block<V> &p) const {
        V *distance = p.spare, *cost = p.spare + p.n * p.n;
        squared_distances(p, distance);
        for (ptrdiff_t i = 0; i < p.n * p.n; i++) distance[i] = root(distance[i]);
        for (ptrdiff_t k = 0; k < p.n; k++) {
            cost[k] = all<V>(0.0);
            for (ptrdiff_t i = 0; i < p.n; i++) cost[k] += p.w[i] * distance[k * p.n + i];
        }
        const V limit = least_cost(p, cost) * (1.0 + rounding(p));
        V tied = all<V>(0.0), best = all<V>(0.0);
        for (ptrdiff_t k = p.n; k-- > 0;) {
            const auto close = at_most(cost[k], limit);
            tied += pick(close, all<V>(1.0), all<V>(0.0));
            best = pick(close, all<V>((double)k), best);
        }
        if (most(tied) > 1) best = by_differences(p, distance, cost, best);
        for (ptrdiff_t k = 0; k < p.n; k++)
            p.used[k] = pick(equal(all<V>((double)k), best), all<V>(1.0), all<V>(0.0));
        p.n_used = all<V>(1.0);
        mean_of_used(p); /* of one judge: its scores */
    }

    /* Smallest cost of a valid judge; the others' become infinite. */
    template <class V> static V least_cost(const Block<V> &p, V *cost) {
        const V inf = all<V>(std::numeric_limits<double>::infinity());
        V least = inf;
        for (ptrdiff_t k = 0; k < p.n; k++) {
            cost[k] = pick(less(all<V>((double)k), p.m), cost[k], inf);
            least = smaller(least, cost[k]);
        }
        return least;
    }

    /* Costs that agree to rounding are told apart by their differences from the cost of `base`,
     * summed without the cancellation: |x_i - x_k| - |x_i - x_b| =
     * <x_b - x_k, 2 x_i - x_k - x_b>/(|x_i - x_k| + |x_i - x_b|). One far judge would otherwise
     * drown what the near ones say. Of judges equal even then, the first. */
    template <class V>
    static V by_differences(const Block<V> &p, const V *distance, V *cost, V base) {
        const ptrdiff_t n = p.n, d = p.d;
        V total = all<V>(0.0);
        for (ptrdiff_t k = 0; k < n; k++) {
            total += p.w[k];
            p.used[k] = distance_to(p, distance, k, base); /* distance from judge k to the base */
        }
        for (ptrdiff_t a = 0; a < d; a++) p.y[a] = score_of(p, a, base);
        for (ptrdiff_t k = 0; k < n; k++) {
            V sum = all<V>(0.0);
            for (ptrdiff_t i = 0; i < n; i++) {
                V dot = all<V>(0.0);
                for (ptrdiff_t a = 0; a < d; a++) {
                    const V x_k = p.x[k * d + a], x_b = p.y[a], x_i = p.x[i * d + a];
                    dot += (x_b - x_k) * ((x_i - x_k) + (x_i - x_b));
                }
                const V both = distance[k * n + i] + p.used[i];
                sum += pick(less(all<V>(0.0), both), p.w[i] * (dot / both), all<V>(0.0));
            }
            cost[k] = sum;
        }
        const V least = least_cost(p, cost), slack = rounding(p) * total;
        V best = all<V>(0.0), reach = all<V>(0.0);
        for (ptrdiff_t k = n; k-- > 0;) reach = pick(at_most(cost[k], least), p.used[k], reach);
        for (ptrdiff_t k = n; k-- > 0;) {
            const auto close = at_most(cost[k], least + slack * (reach + p.used[k]));
            best = pick(close, all<V>((double)k), best);
        }
        return best;
    }

    template <class V>
    static V distance_to(const Block<V> &p, const V *distance, ptrdiff_t k, V index) {
        V found = all<V>(0.0);
        for (ptrdiff_t i = 0; i < p.n; i++)
            found = pick(equal(all<V>((double)i), index), distance[k * p.n + i], found);
        return found;
    }

    template <class V> static V score_of(const Block<V> &p, ptrdiff_t a, V index) {
        V found = all<V>(0.0);
        for (ptrdiff_t i = 0; i < p.n; i++)
            found = pick(equal(all<V>((double)i), index), p.x[i * p.d + a], found);
        return found;
    }
};

/* ---- by number, for the table of variants ---- */

static ptrdiff_t scratch_doubles(int method, ptrdiff_t n, ptrdiff_t d) {
    switch (method) {
        case COORDINATEWISE_MEDIAN: return W * scratch_vectors<CoordinatewiseMedian>(n, d);
        case COORDINATEWISE_TRIMMED_MEAN:
            return W * scratch_vectors<CoordinatewiseTrimmedMean>(n, d);
        case TRIMMED_MEAN: return W * scratch_vectors<TrimmedMean>(n, d);
        default: return W * scratch_vectors<Medoid>(n, d);
    }
}

static void run(int method, const Batch &b, const Options &o, double *scratch, ptrdiff_t start,
                ptrdiff_t stop) {
    switch (method) {
        case COORDINATEWISE_MEDIAN:
            return rows(b, o, scratch, start, stop, CoordinatewiseMedian{});
        case COORDINATEWISE_TRIMMED_MEAN:
            return rows(b, o, scratch, start, stop, CoordinatewiseTrimmedMean{});
        case TRIMMED_MEAN: return rows(b, o, scratch, start, stop, TrimmedMean{});
        default: return rows(b, o, scratch, start, stop, Medoid{});
    }
}

} /* namespace ROPOLL_NS */
