/* Body of resample.pyx, compiled once for each instruction set: see for_each_variant.h.
 *
 * Lanes run across blocks of random bits and across moments, never across the terms of a sum, so
 * every variant gives the same bits, with floating-point moments too.
 */
namespace ROPOLL_NS {

typedef uint64_t lane64 __attribute__((vector_size(ROPOLL_VECTOR_BYTES)));

static inline __attribute__((always_inline)) lane64 product_of_low_halves(lane64 a, lane64 b) {
#if ROPOLL_X86 && ROPOLL_VECTOR_BYTES == 64
    return (lane64)_mm512_maskz_mul_epu32(0xFF, (__m512i)a, (__m512i)b);
#elif ROPOLL_X86 && ROPOLL_VECTOR_BYTES == 32
    return (lane64)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#elif ROPOLL_X86
    return (lane64)_mm_mul_epu32((__m128i)a, (__m128i)b);
#else
    return (a & 0xFFFFFFFFu) * (b & 0xFFFFFFFFu);
#endif
}

/* Blocks 16 g .. 16 g + 15 of a stream: words[l] the first half of block l, words[16 + l] the
 * second. Counter words sit in 64-bit lanes whose upper halves are never read. */
static inline void draw_group(counter_key key, uint64_t stream, uint64_t group, uint64_t *words) {
    enum { LANES = ROPOLL_VECTOR_BYTES / 8, PAIR = 2, STEP = PAIR * LANES };
    const uint64_t upper = stream ^ key.low;
    const lane64 zero = {}, m0 = zero + PHILOX_M0, m1 = zero + PHILOX_M1;
    for (int first = 0; first < 16; first += STEP) {
        lane64 c0[PAIR], c1[PAIR], c2[PAIR], c3[PAIR];
        uint32_t k0 = (uint32_t)key.high, k1 = (uint32_t)(key.high >> 32);
        for (int v = 0; v < PAIR; ++v) {
            uint64_t index[LANES];
            for (int l = 0; l < LANES; ++l) index[l] = 16 * group + (uint64_t)(first + v * LANES + l);
            memcpy(&c0[v], index, sizeof index);
            c1[v] = c0[v] >> 32;
            c2[v] = zero + upper;
            c3[v] = c2[v] >> 32;
        }
        for (int round = 0; round < PHILOX_ROUNDS; ++round) {
            for (int v = 0; v < PAIR; ++v) {
                const lane64 p0 = product_of_low_halves(m0, c0[v]);
                const lane64 p1 = product_of_low_halves(m1, c2[v]);
                c0[v] = (p1 >> 32) ^ c1[v] ^ (zero + k0);
                c1[v] = p1;
                c2[v] = (p0 >> 32) ^ c3[v] ^ (zero + k1);
                c3[v] = p0;
            }
            k0 += PHILOX_W0;
            k1 += PHILOX_W1;
        }
        for (int v = 0; v < PAIR; ++v) {
            const lane64 a = (c0[v] & 0xFFFFFFFFu) | (c1[v] << 32);
            const lane64 b = (c2[v] & 0xFFFFFFFFu) | (c3[v] << 32);
            memcpy(words + first + v * LANES, &a, sizeof a);
            memcpy(words + 16 + first + v * LANES, &b, sizeof b);
        }
    }
}

/* One group of draws: index or REJECTED for each word. Returns whether any was rejected. */
static inline int draw_group_indices(counter_key key, uint64_t stream, uint64_t group,
                                     uint16_t n_values, uint16_t threshold, uint16_t *indices) {
    alignas(64) uint64_t words[32];
    draw_group(key, stream, group, words);
    const uint16_t *drawn = (const uint16_t *)words;
    uint16_t any = 0;
    for (int i = 0; i < RESAMPLE_GROUP; ++i) {
        const uint32_t product = (uint32_t)drawn[i] * n_values;
        const uint16_t rejected = (uint16_t)product < threshold ? RESAMPLE_REJECTED : 0;
        indices[i] = (uint16_t)(product >> 16) | rejected;
        any |= rejected;
    }
    return any != 0;
}

/* Whether one of 16 indices is REJECTED. */
static inline int any_rejected(const uint16_t *indices) {
#if ROPOLL_X86 && ROPOLL_VECTOR_BYTES >= 32
    const __m256i words = _mm256_loadu_si256((const __m256i *)indices);
    return _mm256_movemask_epi8(_mm256_cmpeq_epi16(words, _mm256_set1_epi8(-1))) != 0;
#else
    int found = 0;
    for (int i = 0; i < 16; ++i) found |= indices[i] == RESAMPLE_REJECTED;
    return found;
#endif
}

/* n_draws indices below n_values < 2^16 - 1, from group first_group of the stream on. `indices`
 * has room for whole groups. */
static void draw_indices(counter_key key, uint64_t stream, uint64_t first_group, int64_t n_values,
                         int64_t n_draws, uint16_t *indices) {
    const uint16_t n = (uint16_t)n_values, threshold = (uint16_t)(65536 % n_values);
    const int64_t n_groups = (n_draws + RESAMPLE_GROUP - 1) / RESAMPLE_GROUP;
    int any = 0;
    for (int64_t g = 0; g < n_groups; ++g)
        any |= draw_group_indices(key, stream, first_group + (uint64_t)g, n, threshold,
                                  indices + g * RESAMPLE_GROUP);
    if (!any) return;
    uint16_t more[RESAMPLE_GROUP];
    uint16_t *spare = indices + n_draws, *end = indices + n_groups * RESAMPLE_GROUP;
    uint64_t group = first_group + (uint64_t)n_groups;
    for (int64_t first = 0; first < n_draws; first += 16) {
        /* `indices` goes on to the end of the group, so a whole step can be looked at. */
        if (!any_rejected(indices + first)) continue;
        const int64_t stop = n_draws - first < 16 ? n_draws : first + 16;
        for (int64_t j = first; j < stop; ++j) {
            while (indices[j] == RESAMPLE_REJECTED) {
                if (spare == end) {
                    draw_group_indices(key, stream, group++, n, threshold, more);
                    spare = more;
                    end = more + RESAMPLE_GROUP;
                }
                indices[j] = *spare++;
            }
        }
    }
}

/* Add the drawn rows of one block of columns, VECTORS x 32 bytes wide, to totals. Sums run in
 * Value for at most `flush` draws, which its range allows, then move to double. */
template <typename Value, int VECTORS>
static void sum_block(const Value *table, const uint16_t *indices, int64_t n_draws, int64_t flush,
                      double *totals) {
    enum { BYTES = ROPOLL_VECTOR_BYTES < 32 ? ROPOLL_VECTOR_BYTES : 32 };
    enum { LANES = BYTES / sizeof(Value), PARTS = VECTORS * 32 / BYTES, WIDTH = PARTS * LANES };
    typedef Value row __attribute__((vector_size(BYTES)));
    for (int64_t start = 0; start < n_draws; start += flush) {
        const int64_t stop = n_draws - start < flush ? n_draws : start + flush;
        row sum[PARTS] = {};
        for (int64_t j = start; j < stop; ++j) {
            const row *drawn = (const row *)(table + (int64_t)indices[j] * WIDTH);
            for (int v = 0; v < PARTS; ++v) sum[v] += drawn[v];
        }
        for (int v = 0; v < PARTS; ++v)
            for (int l = 0; l < LANES; ++l) totals[v * LANES + l] += (double)sum[v][l];
    }
}

template <typename Value>
static void sum_any_block(int vectors, const Value *table, const uint16_t *indices,
                          int64_t n_draws, int64_t flush, double *totals) {
    switch (vectors) {
    case 1: return sum_block<Value, 1>(table, indices, n_draws, flush, totals);
    case 2: return sum_block<Value, 2>(table, indices, n_draws, flush, totals);
    case 3: return sum_block<Value, 3>(table, indices, n_draws, flush, totals);
    case 4: return sum_block<Value, 4>(table, indices, n_draws, flush, totals);
    case 5: return sum_block<Value, 5>(table, indices, n_draws, flush, totals);
    case 6: return sum_block<Value, 6>(table, indices, n_draws, flush, totals);
    case 7: return sum_block<Value, 7>(table, indices, n_draws, flush, totals);
    default: return sum_block<Value, 8>(table, indices, n_draws, flush, totals);
    }
}

/* Draws of one resample from one part, added up piece by piece. With `held`, `indices` has the
 * (only) piece already. */
template <typename Value>
static void sum_part(const resample_problem *p, const Value *table, uint64_t resample,
                     int64_t part, int64_t n_draws, int held, uint16_t *indices, double *totals) {
    const int64_t first = part * p->part_size;
    const int64_t left = p->n_tasks - first;
    const int64_t n_values = left < p->part_size ? left : p->part_size;
    for (int64_t done = 0, piece = 0; done < n_draws; done += p->piece, ++piece) {
        const int64_t n = n_draws - done < p->piece ? n_draws - done : p->piece;
        if (!held)
            draw_indices(p->key, part_stream(resample, part), (uint64_t)piece << 32, n_values, n,
                         indices);
        sum_any_block<Value>(p->vectors, table, indices, n, p->flush, totals);
    }
}

/* Moment totals of resamples start .. stop - 1, written as columns of out (n_moments, stride). */
template <typename Value>
static void total_resamples(const resample_problem *p, int64_t start, int64_t stop,
                            uint16_t *indices, int64_t *counts, double *out, int64_t stride) {
    enum { MOST = 8 * 32 / sizeof(Value) };
    const int64_t width = (int64_t)p->vectors * (int64_t)(32 / sizeof(Value));
    double tile[RESAMPLE_TILE * MOST];
    for (int64_t first = start; first < stop; first += RESAMPLE_TILE) {
        const int64_t left = stop - first, count = left < RESAMPLE_TILE ? left : RESAMPLE_TILE;
        for (int64_t r = 0; r < count; ++r)
            split_draws(p, (uint64_t)(first + r), counts + r * p->n_parts);
        for (int64_t b = 0; b < p->n_blocks; ++b) {
            memset(tile, 0, sizeof(double) * RESAMPLE_TILE * width);
            /* Resamples inside, parts outside: the rows of a part stay in cache. */
            for (int64_t part = 0; part < p->n_parts; ++part) {
                const Value *table =
                    (const Value *)p->table + (b * p->n_tasks + part * p->part_size) * width;
                for (int64_t r = 0; r < count; ++r)
                    sum_part<Value>(p, table, (uint64_t)(first + r), part,
                                    counts[r * p->n_parts + part], p->n_parts == 1 && b > 0,
                                    indices + r * p->index_stride, tile + r * width);
            }
            const int64_t columns = p->n_moments - b * width;
            for (int64_t m = 0; m < (columns < width ? columns : width); ++m) {
                double *column = out + (b * width + m) * stride + (first - start);
                for (int64_t r = 0; r < count; ++r) column[r] = tile[r * width + m];
            }
        }
    }
}

static void total_resamples_of(const resample_problem *p, int64_t start, int64_t stop,
                               uint16_t *indices, int64_t *counts, double *out, int64_t stride) {
    if (p->value == RESAMPLE_INT16)
        total_resamples<int16_t>(p, start, stop, indices, counts, out, stride);
    else if (p->value == RESAMPLE_INT32)
        total_resamples<int32_t>(p, start, stop, indices, counts, out, stride);
    else
        total_resamples<double>(p, start, stop, indices, counts, out, stride);
}

}  // namespace ROPOLL_NS
