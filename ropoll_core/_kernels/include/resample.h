/* Task resampling: moment totals of with-replacement draws. Bodies in resample_body.h.
 *
 * A resample is n_tasks uniform draws from [0, n_tasks), a pure function of (key, resample,
 * n_tasks). Tasks are cut into parts of part_size; how many draws fall into each part is
 * multinomial (binomial.h), and within a part two draws at a time take a 32-bit word, by
 * N. Brackett-Rozinsky and D. Lemire, "Batched ranged random integer generation", Software:
 * Practice and Experience 55 (2025). Sixteen Philox blocks make a group of 64 words; a rejected
 * word, less than one in n_values^2 / 2^32, is replaced by the next accepted one from beyond the
 * last draw. Up to part_size tasks there is one part and no multinomial.
 *
 * Where rows repeat, a resample of types is the multinomial over them alone.
 */
#ifndef ROPOLL_RESAMPLE_H
#define ROPOLL_RESAMPLE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "binomial.h"
#include "counter_rng.h"
#include "simd.h"
#if ROPOLL_X86
#include <immintrin.h>
#endif

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "the order of draws is defined by little-endian words");

enum { RESAMPLE_UINT8 = 0, RESAMPLE_INT16 = 1, RESAMPLE_INT32 = 2, RESAMPLE_FLOAT64 = 3 };
enum { RESAMPLE_TILE = 128, RESAMPLE_SHORT_TILE = 32 };
enum { RESAMPLE_GROUP = 128, RESAMPLE_PIECE = 2048 };
enum { RESAMPLE_REJECTED = 0xFFFF };
/* Indices are held shifted left by this: the addresses of rows are multiples of 8. */
enum { RESAMPLE_SHIFT = 3 };

/* table: n_blocks x n_tasks x (vectors * 32 bytes), 64-byte aligned, columns padded with zeros,
 * vectors <= 8; bytes are below 64. flush: draws whose sum cannot leave the range of the value
 * type, of 16 bits for bytes. base: what totals start from, for each padded column. Indices: of
 * `piece` draws at a time, which is all n_tasks where there is one part; SHORT_TILE rows
 * index_stride apart if that one part has several blocks, else one row and index_stride 0. Scratch
 * of total_resamples: RESAMPLE_TILE doubles for each column of a block. */
typedef struct {
    counter_key key;
    const void *table;
    const double *base;
    int64_t n_tasks, n_moments, n_blocks, flush;
    int64_t part_size, n_parts, piece, index_stride;
    int vectors, value;
} resample_problem;

/* Streams of a resample: one for the words of each part, one for the counts. */
static inline uint64_t part_stream(uint64_t resample, int64_t part) {
    return resample | (uint64_t)part << 40;
}

static inline uint64_t counts_stream(uint64_t resample) { return resample | (uint64_t)1 << 63; }

/* How many of the draws left after the parts before it fall into a part. */
static inline int64_t draws_of_part(const resample_problem *p, uint64_t resample, int64_t part,
                                    int64_t draws_left) {
    const int64_t tasks = p->n_tasks - part * p->part_size;
    const int64_t size = tasks < p->part_size ? tasks : p->part_size;
    uniform_pairs source = {p->key, counts_stream(resample), (uint64_t)part << 32};
    return binomial_draw(&source, draws_left, size, tasks);
}

/* The keys of Philox's rounds, as the lanes of its counters want them. */
typedef struct {
    uint64_t first[PHILOX_ROUNDS], second[PHILOX_ROUNDS];
} round_keys;

static inline round_keys schedule(counter_key key) {
    round_keys keys;
    uint32_t k0 = (uint32_t)key.high, k1 = (uint32_t)(key.high >> 32);
    for (int round = 0; round < PHILOX_ROUNDS; ++round) {
        keys.first[round] = k0;
        keys.second[round] = k1;
        k0 += PHILOX_W0;
        k1 += PHILOX_W1;
    }
    return keys;
}

namespace resample_variants {
#define ROPOLL_BODY "resample_body.h"
#include "for_each_variant.h"
}  // namespace resample_variants

static inline void total_resamples(int variant, const resample_problem *problem, int64_t start,
                                   int64_t stop, uint16_t *indices, double *scratch,
                                   double *out, int64_t stride) {
#if ROPOLL_X86
    if (variant == ROPOLL_AVX512)
        return resample_variants::avx512::total_resamples_of(problem, start, stop, indices,
                                                             scratch, out, stride);
    if (variant == ROPOLL_AVX2)
        return resample_variants::avx2::total_resamples_of(problem, start, stop, indices, scratch,
                                                           out, stride);
#endif
    resample_variants::generic::total_resamples_of(problem, start, stop, indices, scratch, out,
                                                   stride);
}

/* The task indices of one resample, part after part, as total_resamples draws them. Of
 * `problem`: key, n_tasks, part_size, n_parts and piece. */
static inline void draw_tasks(const resample_problem *p, int64_t resample, uint16_t *indices,
                              int64_t *out) {
    int64_t draws_left = p->n_tasks;
    for (int64_t part = 0; part < p->n_parts; ++part) {
        const int64_t first = part * p->part_size, left = p->n_tasks - first;
        const int64_t n_values = left < p->part_size ? left : p->part_size;
        const int64_t n_draws = draws_of_part(p, (uint64_t)resample, part, draws_left);
        draws_left -= n_draws;
        for (int64_t done = 0, piece = 0; done < n_draws; done += p->piece, ++piece) {
            const int64_t n = n_draws - done < p->piece ? n_draws - done : p->piece;
            resample_variants::generic::draw_indices(p->key, part_stream((uint64_t)resample, part),
                                                     (uint64_t)piece << 32, n_values, n, indices);
            for (int64_t j = 0; j < n; ++j) *out++ = first + (indices[j] >> RESAMPLE_SHIFT);
        }
    }
}

/* Totals of resamples of types: rows (n_types, n_moments) that n_of[type] tasks share. */
static inline void total_types(counter_key key, const double *rows, const int64_t *n_of,
                               int64_t n_types, int64_t n_moments, int64_t start, int64_t stop,
                               int64_t *counts, double *column, double *out, int64_t stride) {
    int64_t n_tasks = 0;
    for (int64_t t = 0; t < n_types; ++t) n_tasks += n_of[t];
    for (int64_t r = start; r < stop; ++r) {
        multinomial_draw(key, counts_stream((uint64_t)r), n_tasks, n_of, n_types, counts);
        for (int64_t m = 0; m < n_moments; ++m) column[m] = 0.0;
        for (int64_t t = 0; t < n_types; ++t) {
            const double weight = (double)counts[t];
            for (int64_t m = 0; m < n_moments; ++m) column[m] += weight * rows[t * n_moments + m];
        }
        for (int64_t m = 0; m < n_moments; ++m) out[m * stride + (r - start)] = column[m];
    }
}

#endif
