/* Body of resample.pyx, compiled once for each instruction set: see for_each_variant.h.
 *
 * A resample is n_tasks uniform draws with replacement from [0, n_tasks), a pure function of
 * (key, resample, n_tasks). Sixteen Philox blocks make a group of 128 16-bit words (or 64 32-bit
 * words); draw j looks at word j, by Lemire's method, and a rejected word (one in
 * 2^16 / (2^16 mod n_tasks)) is replaced by the next accepted one from beyond the last draw.
 * Lanes run across blocks and across moments, never across the terms of a sum, so every variant
 * gives the same bits, with floating-point moments too.
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
template <typename Word, typename Wide>
static inline int draw_group_indices(counter_key key, uint64_t stream, uint64_t group,
                                     Word n_tasks, Word threshold, Word *indices) {
    enum { BITS = 8 * sizeof(Word), WORDS = 256 / sizeof(Word) };
    alignas(64) uint64_t words[32];
    draw_group(key, stream, group, words);
    const Word *drawn = (const Word *)words;
    Word any = 0;
    for (int i = 0; i < WORDS; ++i) {
        const Wide product = (Wide)drawn[i] * n_tasks;
        const Word rejected = (Word)product < threshold ? (Word)~(Word)0 : (Word)0;
        indices[i] = (Word)(product >> BITS) | rejected;
        any |= rejected;
    }
    return any != 0;
}

/* All draws of one resample. `indices` has room for whole groups. n_tasks is below the largest
 * Word, so that value marks a rejected word. */
template <typename Word, typename Wide>
static void draw_resample(counter_key key, uint64_t resample, Word n_tasks, Word *indices) {
    enum { WORDS = 256 / sizeof(Word) };
    const Word rejected = (Word)~(Word)0;
    const Word threshold = (Word)((Word)(0 - n_tasks) % n_tasks);
    const uint64_t n_groups = ((uint64_t)n_tasks + WORDS - 1) / WORDS;
    int any = 0;
    for (uint64_t g = 0; g < n_groups; ++g)
        any |= draw_group_indices<Word, Wide>(key, resample, g, n_tasks, threshold,
                                              indices + g * WORDS);
    if (!any) return;
    Word more[WORDS];
    Word *spare = indices + n_tasks, *end = indices + n_groups * WORDS;
    uint64_t group = n_groups;
    for (uint64_t j = 0; j < n_tasks; ++j) {
        while (indices[j] == rejected) {
            if (spare == end) {
                draw_group_indices<Word, Wide>(key, resample, group++, n_tasks, threshold, more);
                spare = more;
                end = more + WORDS;
            }
            indices[j] = *spare++;
        }
    }
}

/* Sum of the drawn rows of one block of columns, VECTORS x 32 bytes wide, into totals. Sums run
 * in Value for at most `flush` draws, which its range allows, then move to double. */
template <typename Value, typename Word, int VECTORS>
static void sum_block(const Value *table, const Word *indices, int64_t n_draws, int64_t flush,
                      double *totals) {
    enum { LANES = 32 / sizeof(Value), WIDTH = VECTORS * LANES };
    typedef Value row __attribute__((vector_size(32)));
    for (int i = 0; i < WIDTH; ++i) totals[i] = 0.0;
    for (int64_t start = 0; start < n_draws; start += flush) {
        const int64_t stop = n_draws - start < flush ? n_draws : start + flush;
        row sum[VECTORS] = {};
        for (int64_t j = start; j < stop; ++j) {
            const row *drawn = (const row *)(table + (int64_t)indices[j] * WIDTH);
            for (int v = 0; v < VECTORS; ++v) sum[v] += drawn[v];
        }
        for (int v = 0; v < VECTORS; ++v)
            for (int l = 0; l < LANES; ++l) totals[v * LANES + l] += (double)sum[v][l];
    }
}

template <typename Value, typename Word>
static void sum_any_block(int vectors, const Value *table, const Word *indices, int64_t n_draws,
                          int64_t flush, double *totals) {
    switch (vectors) {
    case 1: return sum_block<Value, Word, 1>(table, indices, n_draws, flush, totals);
    case 2: return sum_block<Value, Word, 2>(table, indices, n_draws, flush, totals);
    case 3: return sum_block<Value, Word, 3>(table, indices, n_draws, flush, totals);
    case 4: return sum_block<Value, Word, 4>(table, indices, n_draws, flush, totals);
    case 5: return sum_block<Value, Word, 5>(table, indices, n_draws, flush, totals);
    case 6: return sum_block<Value, Word, 6>(table, indices, n_draws, flush, totals);
    case 7: return sum_block<Value, Word, 7>(table, indices, n_draws, flush, totals);
    default: return sum_block<Value, Word, 8>(table, indices, n_draws, flush, totals);
    }
}

/* Moment totals of resamples start .. stop - 1, written as columns of out (n_moments, stride). */
template <typename Value, typename Word, typename Wide>
static void total_resamples(const resample_problem *p, int64_t start, int64_t stop,
                            void *index_scratch, double *out, int64_t stride) {
    enum { MOST = 8 * 32 / sizeof(Value) };
    const int64_t width = (int64_t)p->vectors * (int64_t)(32 / sizeof(Value));
    Word *indices = (Word *)index_scratch;
    double tile[RESAMPLE_TILE][MOST];
    for (int64_t first = start; first < stop; first += p->tile) {
        const int64_t count = stop - first < p->tile ? stop - first : p->tile;
        for (int64_t b = 0; b < p->n_blocks; ++b) {
            const Value *table = (const Value *)p->table + b * p->n_tasks * width;
            for (int64_t r = 0; r < count; ++r) {
                if (b == 0)
                    draw_resample<Word, Wide>(p->key, (uint64_t)(first + r), (Word)p->n_tasks,
                                              indices + r * p->index_stride);
                sum_any_block<Value, Word>(p->vectors, table, indices + r * p->index_stride,
                                           p->n_tasks, p->flush, tile[r]);
            }
            const int64_t left = p->n_moments - b * width;
            for (int64_t m = 0; m < (left < width ? left : width); ++m) {
                double *column = out + (b * width + m) * stride + (first - start);
                for (int64_t r = 0; r < count; ++r) column[r] = tile[r][m];
            }
        }
    }
}

static void total_resamples_of(const resample_problem *p, int64_t start, int64_t stop,
                               void *index_scratch, double *out, int64_t stride) {
    if (p->n_tasks < 65535) {
        if (p->value == RESAMPLE_INT16)
            total_resamples<int16_t, uint16_t, uint32_t>(p, start, stop, index_scratch, out, stride);
        else if (p->value == RESAMPLE_INT32)
            total_resamples<int32_t, uint16_t, uint32_t>(p, start, stop, index_scratch, out, stride);
        else
            total_resamples<double, uint16_t, uint32_t>(p, start, stop, index_scratch, out, stride);
    } else {
        if (p->value == RESAMPLE_INT16)
            total_resamples<int16_t, uint32_t, uint64_t>(p, start, stop, index_scratch, out, stride);
        else if (p->value == RESAMPLE_INT32)
            total_resamples<int32_t, uint32_t, uint64_t>(p, start, stop, index_scratch, out, stride);
        else
            total_resamples<double, uint32_t, uint64_t>(p, start, stop, index_scratch, out, stride);
    }
}

}  // namespace ROPOLL_NS
