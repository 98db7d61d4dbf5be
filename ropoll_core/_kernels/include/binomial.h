/* Binomial and multinomial counts from counter-based streams, without libm.
 *
 * W. Hormann, "The generation of binomial random variates", J. Stat. Comput. Simul. 46 (1993):
 * transformed rejection (BTRS) for n p >= 10, else waiting times between successes (L. Devroye,
 * Non-Uniform Random Variate Generation, 1986, X.4.3). Accept decisions are taken in doubles, so
 * the law is exact to about 1e-12.
 */
#ifndef ROPOLL_BINOMIAL_H
#define ROPOLL_BINOMIAL_H

#include "counter_rng.h"

/* Successive pairs of open uniforms of one stream, from block `index` on. */
typedef struct {
    counter_key key;
    uint64_t stream, index;
} uniform_pairs;

static inline void next_pair(uniform_pairs *source, double *u, double *v) {
    const counter_block block = counter_draw(source->key, source->stream, source->index++);
    *u = open_uniform_from_bits(block.first);
    *v = open_uniform_from_bits(block.second);
}

/* log k! less Stirling's approximation of it. */
static inline double stirling_tail(double k) {
    static const double small[10] = {
        0.0810614667953272,  0.0413406959554092,  0.0276779256849983,  0.02079067210376509,
        0.0166446911898211,  0.0138761288230707,  0.0118967099458917,  0.0104112652619720,
        0.00925546218271273, 0.00833056343336287};
    if (k < 10.0) return small[(int)k];
    const double square = (k + 1.0) * (k + 1.0);
    return (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / 1260.0 / square) / square) / (k + 1.0);
}

/* n p < 10 */
static inline int64_t binomial_by_waiting(uniform_pairs *source, int64_t n, double p) {
    const double rate = exact_log(1.0 - p);
    double trials = 0.0, pair[2];
    for (int64_t count = 0;; ++count) {
        if (count % 2 == 0) next_pair(source, &pair[0], &pair[1]);
        trials += ceil(exact_log(pair[count % 2]) / rate);
        if (!(trials <= (double)n)) return count;
    }
}

/* n p >= 10, p <= 1/2 */
static inline int64_t binomial_by_rejection(uniform_pairs *source, int64_t trials, double p) {
    const double n = (double)trials, odds = p / (1.0 - p);
    const double spread = sqrt(n * p * (1.0 - p)), b = 1.15 + 2.53 * spread;
    const double a = -0.0873 + 0.0248 * b + 0.01 * p, c = n * p + 0.5;
    const double quick = 0.92 - 4.2 / b, alpha = (2.83 + 5.1 / b) * spread;
    const double m = floor((n + 1.0) * p);
    for (;;) {
        double u, v;
        next_pair(source, &u, &v);
        u -= 0.5;
        const double us = 0.5 - fabs(u);
        const double k = floor((2.0 * a / us + b) * u + c);
        if (us >= 0.07 && v <= quick) return (int64_t)k;
        if (k < 0.0 || k > n) continue;
        const double bound =
            (m + 0.5) * exact_log((m + 1.0) / (odds * (n - m + 1.0))) +
            (n + 1.0) * exact_log((n - m + 1.0) / (n - k + 1.0)) +
            (k + 0.5) * exact_log(odds * (n - k + 1.0) / (k + 1.0)) + stirling_tail(m) +
            stirling_tail(n - m) - stirling_tail(k) - stirling_tail(n - k);
        if (exact_log(v * alpha / (a / (us * us) + b)) <= bound) return (int64_t)k;
    }
}

/* Successes in n trials of probability part / whole, 0 <= part <= whole. */
static inline int64_t binomial_draw(uniform_pairs *source, int64_t n, int64_t part,
                                    int64_t whole) {
    if (n == 0 || part == 0) return 0;
    if (part == whole) return n;
    const int flip = 2 * part > whole;
    const double p = (double)(flip ? whole - part : part) / (double)whole;
    const int64_t count = (double)n * p < 10.0 ? binomial_by_waiting(source, n, p)
                                               : binomial_by_rejection(source, n, p);
    return flip ? n - count : count;
}

/* Multinomial counts of n draws over parts of the given sizes, as conditional binomials. Part i
 * uses the blocks from i << 32 of the stream. */
static inline void multinomial_draw(counter_key key, uint64_t stream, int64_t n,
                                    const int64_t *sizes, int64_t n_parts, int64_t *counts) {
    int64_t whole = 0;
    for (int64_t i = 0; i < n_parts; ++i) whole += sizes[i];
    for (int64_t i = 0; i < n_parts; ++i) {
        uniform_pairs source = {key, stream, (uint64_t)i << 32};
        counts[i] = binomial_draw(&source, n, sizes[i], whole);
        n -= counts[i];
        whole -= sizes[i];
    }
}

#endif
