/* Krum, multi-Krum, Bulyan and the Huber mean, for one block.
 *
 * Variant body: included once per instruction set; see panel_lanes.h for what an algorithm is.
 */
namespace ROPOLL_NS {

#include "lanes.h"
#include "panel_lanes.h"

/* cost[i] = sum of squared distances from judge i to its `close` nearest living others;
 * infinite for judges that do not live. `row` is scratch of n. */
template <class V>
static inline void krum_costs(const Block<V> &p, const V *square, const V *alive, V close, V *row,
                              V *cost) {
    const V inf = all<V>(std::numeric_limits<double>::infinity());
    for (ptrdiff_t i = 0; i < p.n; i++) {
        for (ptrdiff_t j = 0; j < p.n; j++)
            row[j] = pick(less(all<V>(0.0), alive[j]), square[i * p.n + j], inf);
        row[i] = inf;
        sort_values(row, p.n);
        V sum = all<V>(0.0);
        for (ptrdiff_t j = 0; j < p.n; j++)
            sum += pick(less(all<V>((double)j), close), row[j], all<V>(0.0));
        cost[i] = pick(less(all<V>(0.0), alive[i]), sum, inf);
    }
}

template <class V> static inline void mark_valid(const Block<V> &p, V *alive) {
    for (ptrdiff_t k = 0; k < p.n; k++)
        alive[k] = pick(less(all<V>((double)k), p.m), all<V>(1.0), all<V>(0.0));
}

/* Mean of the count[0] judges with the smallest sums over their count[1] nearest; Krum for one. */
struct MultiKrum {
    static constexpr bool squares = true;
    static ptrdiff_t spare(ptrdiff_t n, ptrdiff_t) { return n * n + 3 * n; }

    template <class V> void operator()(Block<V> &p) const {
        const ptrdiff_t n = p.n;
        const V inf = all<V>(std::numeric_limits<double>::infinity());
        V *square = p.spare, *alive = square + n * n, *row = alive + n, *cost = row + n;
        mark_valid(p, alive);
        squared_distances(p, square);
        krum_costs(p, square, alive, p.count[1], row, cost);
        for (ptrdiff_t k = 0; k < n; k++) p.used[k] = all<V>(0.0);
        const int rounds = most(p.count[0]);
        for (int round = 0; round < rounds; round++) {
            const V best = first_smallest(p, cost);
            for (ptrdiff_t k = 0; k < n; k++) {
                const auto take = equal(all<V>((double)k), best) &
                                  less(all<V>((double)round), p.count[0]);
                p.used[k] = pick(take, all<V>(1.0), p.used[k]);
                cost[k] = pick(take, inf, cost[k]);
            }
        }
        p.n_used = p.count[0];
        mean_of_used(p);
    }
};

/* Krum picks count[0] judges one by one, each among the judges left; of their values in each
 * attribute the count[0] - 2 count[1] nearest to the median are averaged. count[1] is n_faulty. */
struct Bulyan {
    static constexpr bool squares = true;
    static ptrdiff_t spare(ptrdiff_t n, ptrdiff_t) { return n * n + 3 * n; }

    template <class V> void operator()(Block<V> &p) const {
        const ptrdiff_t n = p.n;
        const V inf = all<V>(std::numeric_limits<double>::infinity());
        V *square = p.spare, *alive = square + n * n, *row = alive + n, *cost = row + n;
        mark_valid(p, alive);
        squared_distances(p, square);
        for (ptrdiff_t k = 0; k < n; k++) p.used[k] = all<V>(0.0);
        const int rounds = most(p.count[0]);
        for (int round = 0; round < rounds; round++) {
            const V left = p.m - all<V>((double)round);
            const V close = smaller(larger(left - p.count[1] - 2.0, all<V>(1.0)), left - 1.0);
            krum_costs(p, square, alive, close, row, cost);
            const V best = first_smallest(p, cost);
            for (ptrdiff_t k = 0; k < n; k++) {
                const auto take = equal(all<V>((double)k), best) &
                                  less(all<V>((double)round), p.count[0]);
                p.used[k] = pick(take, all<V>(1.0), p.used[k]);
                alive[k] = pick(take, all<V>(0.0), alive[k]);
            }
        }
        p.n_used = p.count[0];
        for (ptrdiff_t a = 0; a < p.d; a++) {
            for (ptrdiff_t k = 0; k < n; k++)
                row[k] = pick(less(all<V>(0.0), p.used[k]), p.x[k * p.d + a], inf);
            sort_values(row, n);
            p.y[a] = all<V>(0.0);
            for (int l = 0; l < lanes_of(p.m); l++) mean_around_median(p, row, a, l);
        }
    }

    template <class V>
    static void mean_around_median(Block<V> &p, const V *row, ptrdiff_t a, int l) {
        const int taken = (int)lane(p.n_used, l), keep = taken - 2 * (int)lane(p.count[1], l);
        if (keep < 1) return; /* a lane without a result */
        int low = 0, high = taken - 1;
        const auto median = (lane(row[(taken - 1) / 2], l) + lane(row[taken / 2], l)) / 2;
        while (high - low + 1 > keep) {
            if (median - lane(row[low], l) > lane(row[high], l) - median)
                low++;
            else
                high--;
        }
        auto sum = lane(row[low], l);
        for (int k = low + 1; k <= high; k++) sum += lane(row[k], l);
        set_lane(p.y[a], l, sum / keep);
    }
};

/* Minimiser of sum_i w_i rho(|x_i - z|), rho(r) = r^2/2 up to the threshold c and c r - c^2/2
 * beyond. Starts at, and works relative to, the coordinate-wise median, later the nearest judge. Newton steps with a line
 * search on the slope, which is monotone along a line because the objective is convex; where the
 * Hessian is singular, a step towards the reweighted mean. */
struct HuberMean {
    double threshold, tol;
    int max_iter;
    static constexpr bool squares = true;
    static ptrdiff_t spare(ptrdiff_t n, ptrdiff_t d) { return d * d + 6 * d + 2 * n + n * d; }

    template <class V> struct Point {
        V *z, *gradient; /* the descent direction sum w psi (x - z) */
        V objective, norm, weight, farthest;
        V inside, reach; /* weight of the judges well within the threshold, and how far they are */
    };

    template <class V> void operator()(Block<V> &p) const {
        const ptrdiff_t d = p.d;
        V *hessian = p.spare, *origin = hessian + d * d, *rest = origin + d;
        Point<V> now{rest, rest + d, V{}, V{}, V{}, V{}, V{}, V{}};
        Point<V> next{rest + 2 * d, rest + 3 * d, V{}, V{}, V{}, V{}, V{}, V{}};
        V *step = rest + 4 * d, *column_spare = rest + 5 * d;
        for (ptrdiff_t a = 0; a < d; a++) {
            column(p, a, column_spare);
            origin[a] = median(p, column_spare);
            now.z[a] = all<V>(0.0);
        }
        V *const scores = p.x;
        p.x = column_spare + 2 * p.n; /* relative to the origin */
        for (ptrdiff_t k = 0; k < p.n; k++)
            for (ptrdiff_t a = 0; a < d; a++) p.x[k * d + a] = scores[k * d + a] - origin[a];
        Mask<V> done = less(all<V>(0.0), all<V>(0.0));
        for (int iteration = 0;; iteration++) {
            if (iteration % 8 == 7) recentre(p, scores, origin, now.z, next, done);
            evaluate(p, now);
            done = done | near_minimum(p, now);
            if (every(done) || iteration == max_iter) break;
            newton_step(p, now, hessian, step);
            const V length = search(p, now, step, next, done);
            for (ptrdiff_t a = 0; a < d; a++)
                now.z[a] = pick(done, now.z[a], now.z[a] + length * step[a]);
        }
        p.converged = pick(done, all<V>(1.0), all<V>(0.0));
        p.x = scores;
        for (ptrdiff_t a = 0; a < d; a++) p.y[a] = now.z[a] + origin[a];
    }

    /* Whether one of two bounds on the objective's excess is at most tol times the objective.
     * |gradient| times the distance to the farthest judge: the minimiser is in the judges' hull.
     * |gradient|^2/(2 inside), where the inner judges hold: it asks for no gradient smaller than
     * rounding leaves it among far judges. That one is held to tol^2, for a point as accurate. */
    template <class V> Mask<V> near_minimum(const Block<V> &p, const Point<V> &at) const {
        const double strict = tol < 1 ? tol : 1;
        return at_most(at.norm * at.farthest, tol * at.objective) |
               (held(p, at) & at_most(at.norm, strict * root(2.0 * at.inside * at.objective)));
    }

    /* Whether the pulls w psi (x - z), less each inner judge's share of their sum, are feasible for
     * the dual problem; at a judge, whether the minimiser is within the threshold of it. */
    template <class V> Mask<V> held(const Block<V> &p, const Point<V> &at) const {
        return at_most(at.norm, (threshold - at.reach) * at.inside * (1.0 + rounding(p)));
    }

    /* Makes the nearest judge the origin, in lanes that are not done: rounding hides no more what
     * is near it, however far the others are. Moves there if it holds the minimum, which a step that
     * is 2^50 times the threshold would miss. */
    template <class V>
    void recentre(const Block<V> &p, const V *scores, V *origin, V *z, Point<V> &at,
                  Mask<V> done) const {
        const ptrdiff_t n = p.n, d = p.d;
        V nearest = all<V>(std::numeric_limits<double>::infinity()), index = all<V>(0.0);
        for (ptrdiff_t k = 0; k < n; k++) {
            const V square = squared_distance(p, z, k);
            const auto nearer = less(square, nearest) & less(all<V>(0.0), p.w[k]);
            nearest = pick(nearer, square, nearest);
            index = pick(nearer, all<V>((double)k), index);
        }
        for (ptrdiff_t a = 0; a < d; a++) {
            V shift = all<V>(0.0), centre = all<V>(0.0);
            for (ptrdiff_t k = 0; k < n; k++) {
                const auto here = equal(all<V>((double)k), index);
                shift = pick(here, p.x[k * d + a], shift);
                centre = pick(here, scores[k * d + a], centre);
            }
            origin[a] = pick(done, origin[a], centre);
            z[a] = pick(done, z[a], z[a] - shift);
            at.z[a] = all<V>(0.0);
            for (ptrdiff_t k = 0; k < n; k++) p.x[k * d + a] = scores[k * d + a] - origin[a];
        }
        evaluate(p, at);
        const Mask<V> here = held(p, at);
        for (ptrdiff_t a = 0; a < d; a++) z[a] = pick(done, z[a], pick(here, at.z[a], z[a]));
    }

    /* How far to go along `step`: to where at most a third of the slope is left, either way. */
    template <class V>
    V search(const Block<V> &p, const Point<V> &from, const V *step, Point<V> &at,
             Mask<V> done) const {
        V low = all<V>(0.0), high = all<V>(-1.0), length = all<V>(1.0), slope = all<V>(0.0);
        for (ptrdiff_t a = 0; a < p.d; a++) slope += from.gradient[a] * step[a];
        for (int trial = 0; trial < 50; trial++) {
            for (ptrdiff_t a = 0; a < p.d; a++) at.z[a] = from.z[a] + length * step[a];
            evaluate(p, at);
            V rest = all<V>(0.0);
            for (ptrdiff_t a = 0; a < p.d; a++) rest += at.gradient[a] * step[a];
            done = done | (at_most(rest, slope / 3.0) & at_most(slope / -3.0, rest));
            if (every(done)) break;
            const auto beyond = less(rest, all<V>(0.0));
            low = pick(beyond, low, length);
            high = pick(beyond, length, high);
            const auto between = less(all<V>(0.0), high);
            const V next = pick(between, 0.5 * (low + high), 4.0 * length);
            length = pick(done, length, next);
        }
        return length;
    }

    template <class V> void evaluate(const Block<V> &p, Point<V> &at) const {
        const V c = all<V>(threshold), one = all<V>(1.0);
        at.objective = at.weight = at.farthest = at.norm = all<V>(0.0);
        at.inside = at.reach = all<V>(0.0);
        for (ptrdiff_t a = 0; a < p.d; a++) at.gradient[a] = all<V>(0.0);
        for (ptrdiff_t k = 0; k < p.n; k++) {
            const V r = root(squared_distance(p, at.z, k));
            const auto beyond = less(c, r);
            const V w = p.w[k], psi = pick(beyond, c / r, one);
            at.objective += w * pick(beyond, c * (r - 0.5 * c), 0.5 * r * r);
            at.weight += w * psi;
            const auto inner = less(r, 0.999 * c);
            at.inside += pick(inner, w, all<V>(0.0));
            at.reach = pick(inner, larger(r, at.reach), at.reach);
            at.farthest = pick(less(all<V>(0.0), w), larger(r, at.farthest), at.farthest);
            for (ptrdiff_t a = 0; a < p.d; a++)
                at.gradient[a] += w * psi * (p.x[k * p.d + a] - at.z[a]);
        }
        for (ptrdiff_t a = 0; a < p.d; a++) at.norm += at.gradient[a] * at.gradient[a];
        at.norm = root(at.norm);
    }

    template <class V>
    static V squared_distance(const Block<V> &p, const V *z, ptrdiff_t k) {
        V sum = all<V>(0.0);
        for (ptrdiff_t a = 0; a < p.d; a++) {
            const V t = p.x[k * p.d + a] - z[a];
            sum += t * t;
        }
        return sum;
    }

    /* step = H^-1 gradient by LDL^T, H = sum w (I inside, c/r (I - u u^T) outside); towards the
     * reweighted mean where H is singular to rounding. */
    template <class V>
    void newton_step(const Block<V> &p, const Point<V> &at, V *h, V *step) const {
        const ptrdiff_t d = p.d;
        const V c = all<V>(threshold);
        for (ptrdiff_t i = 0; i < d * d; i++) h[i] = all<V>(0.0);
        for (ptrdiff_t a = 0; a < d; a++) h[a * d + a] = at.weight;
        for (ptrdiff_t k = 0; k < p.n; k++) {
            const V square = squared_distance(p, at.z, k), r = root(square);
            const V bend = pick(less(c, r), p.w[k] * c / (r * square), all<V>(0.0));
            for (ptrdiff_t a = 0; a < d; a++) {
                const V scaled = bend * (p.x[k * d + a] - at.z[a]);
                for (ptrdiff_t b = 0; b <= a; b++)
                    h[a * d + b] -= scaled * (p.x[k * d + b] - at.z[b]);
            }
        }
        for (ptrdiff_t a = 0; a < d; a++) {
            step[a] = at.gradient[a];
            for (ptrdiff_t b = 0; b < a; b++) {
                V dot = h[a * d + b];
                for (ptrdiff_t e = 0; e < b; e++) dot -= h[a * d + e] * h[b * d + e] * h[e * d + e];
                h[a * d + b] = dot / h[b * d + b];
                step[a] -= h[a * d + b] * step[b];
            }
            for (ptrdiff_t e = 0; e < a; e++)
                h[a * d + a] -= h[a * d + e] * h[a * d + e] * h[e * d + e];
        }
        for (ptrdiff_t a = 0; a < d; a++) step[a] /= h[a * d + a];
        for (ptrdiff_t a = d; a-- > 0;)
            for (ptrdiff_t b = a + 1; b < d; b++) step[a] -= h[b * d + a] * step[b];
        V smallest = at.weight;
        for (ptrdiff_t a = 0; a < d; a++)
            smallest = smaller(h[a * d + a], smallest);
        const auto regular = less(1e-14 * at.weight, smallest);
        for (ptrdiff_t a = 0; a < d; a++)
            step[a] = pick(regular, step[a], at.gradient[a] / at.weight);
    }
};

/* ---- by number, for the table of variants ---- */

static ptrdiff_t scratch_doubles(int method, ptrdiff_t n, ptrdiff_t d) {
    switch (method) {
        case MULTI_KRUM: return W * scratch_vectors<MultiKrum>(n, d);
        case BULYAN: return W * scratch_vectors<Bulyan>(n, d);
        default: return W * scratch_vectors<HuberMean>(n, d);
    }
}

static void run(int method, const Batch &b, const Options &o, double *scratch, ptrdiff_t start,
                ptrdiff_t stop) {
    switch (method) {
        case MULTI_KRUM: return rows(b, o, scratch, start, stop, MultiKrum{});
        case BULYAN: return rows(b, o, scratch, start, stop, Bulyan{});
        default:
            return rows(b, o, scratch, start, stop, HuberMean{o.threshold, o.tol, o.max_iter});
    }
}

} /* namespace ROPOLL_NS */
