/* Body of resample.pyx, compiled once for each instruction set: see for_each_variant.h.
 *
 * Lanes run across blocks of random bits and across moments, never across the terms of a sum, so
 * every variant gives the same bits, with floating-point moments too.
 */
namespace ROPOLL_NS {

typedef uint64_t lane64 __attribute__((vector_size(ROPOLL_VECTOR_BYTES)));
typedef uint32_t lane32 __attribute__((vector_size(ROPOLL_VECTOR_BYTES)));

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

static inline __attribute__((always_inline)) lane64 xor_of_three(lane64 a, lane64 b, lane64 c) {
#if ROPOLL_X86 && ROPOLL_VECTOR_BYTES == 64
    return (lane64)_mm512_ternarylogic_epi64((__m512i)a, (__m512i)b, (__m512i)c, 0x96);
#else
    return a ^ b ^ c;
#endif
}

/* Two scaled indices below n from each low half of a and of b, side by side; all ones for a half
 * that is rejected. `rejected` collects those. */
static inline __attribute__((always_inline)) lane64 two_pairs(lane64 a, lane64 b, lane64 n,
                                                              lane32 threshold,
                                                              lane32 *rejected) {
    const uint64_t upper = (uint64_t)0xFFFFFFFFu << 32;
    const lane64 a1 = product_of_low_halves(a, n), a2 = product_of_low_halves(a1, n);
    const lane64 b1 = product_of_low_halves(b, n), b2 = product_of_low_halves(b1, n);
    const lane64 first = (a1 >> 32) | (b1 & upper), second = (a2 >> 32) | (b2 & upper);
    const lane32 rest = (lane32)((a2 & ~upper) | (b2 << 32));
    const lane32 mark = (lane32)(rest < threshold);
    *rejected |= mark;
    const int shift = RESAMPLE_SHIFT;
    return (first << shift) | (second << (16 + shift)) | (lane64)mark;
}

/* The draws of a stream below n_values <= 2^13. */
typedef struct {
    round_keys keys;
    uint64_t upper;
    uint32_t n_values, threshold;
} draw_source;

/* Scaled indices, or REJECTED, of groups of 16 blocks; whether there are any of the latter. Counter
 * words sit in 64-bit lanes whose upper halves are never read. */
template <int GROUPS>
static inline int index_groups(const draw_source &source, uint64_t group, uint16_t *indices) {
    /* A round waits for its multiplications: the more blocks at once, up to the registers. */
    enum { LANES = ROPOLL_VECTOR_BYTES / 8, MOST = LANES == 8 ? 8 : 2, ALL = 16 * GROUPS / LANES };
    enum { VECTORS = ALL < MOST ? ALL : MOST };
    const lane64 zero = {}, m0 = zero + PHILOX_M0, m1 = zero + PHILOX_M1, n = zero + source.n_values;
    const lane32 threshold = (lane32){} + source.threshold;
    lane32 rejected = {};
    lane64 lanes;
    for (int l = 0; l < LANES; ++l) lanes[l] = (uint64_t)l;
    for (int first = 0; first < 16 * GROUPS; first += VECTORS * LANES) {
        lane64 c0[VECTORS], c1[VECTORS], c2[VECTORS], c3[VECTORS];
        for (int v = 0; v < VECTORS; ++v) {
            c0[v] = lanes + (16 * group + (uint64_t)(first + v * LANES));
            c1[v] = c0[v] >> 32;
            c2[v] = zero + source.upper;
            c3[v] = c2[v] >> 32;
        }
        for (int round = 0; round < PHILOX_ROUNDS; ++round) {
            const lane64 k0 = zero + source.keys.first[round];
            const lane64 k1 = zero + source.keys.second[round];
            for (int v = 0; v < VECTORS; ++v) {
                const lane64 p0 = product_of_low_halves(m0, c0[v]);
                const lane64 p1 = product_of_low_halves(m1, c2[v]);
                c0[v] = xor_of_three(p1 >> 32, c1[v], k0);
                c1[v] = p1;
                c2[v] = xor_of_three(p0 >> 32, c3[v], k1);
                c3[v] = p0;
            }
        }
        for (int v = 0; v < VECTORS; ++v) {
            const lane64 a = two_pairs(c0[v], c1[v], n, threshold, &rejected);
            const lane64 b = two_pairs(c2[v], c3[v], n, threshold, &rejected);
            /* First halves of the blocks of a group, then second halves; four indices each. */
            const int block = first + v * LANES;
            uint16_t *to = indices + 4 * (32 * (block / 16) + block % 16);
            memcpy(to, &a, sizeof a);
            memcpy(to + 4 * 16, &b, sizeof b);
        }
    }
    uint32_t any = 0;
    for (int l = 0; l < 2 * LANES; ++l) any |= rejected[l];
    return any != 0;
}

/* Put the accepted pairs beyond those of n_draws in the place of rejected ones; groups from
 * `group` on follow those of `indices`. */
static __attribute__((noinline)) void replace_rejected(const draw_source &source, uint64_t group,
                                                       int64_t n_draws, uint16_t *indices,
                                                       uint16_t *end) {
    alignas(64) uint16_t more[RESAMPLE_GROUP];
    const int64_t n = n_draws + n_draws % 2;
    uint16_t *spare = indices + n;
    for (int64_t first = 0; first < n; first += 64) {
        /* `indices` goes on to the end of the group, so a whole step can be looked at. */
        uint16_t found = 0;
        for (int i = 0; i < 64; ++i) found |= (uint16_t)-(indices[first + i] == RESAMPLE_REJECTED);
        if (!found) continue;
        for (int64_t i = first; i < n && i < first + 64; i += 2)
            while (indices[i] == RESAMPLE_REJECTED) {
                if (spare == end) {
                    index_groups<1>(source, group++, more);
                    spare = more;
                    end = more + RESAMPLE_GROUP;
                }
                indices[i] = *spare++;
                indices[i + 1] = *spare++;
            }
    }
}

/* n_draws indices below n_values <= 2^13, scaled, from group first_group of the stream on.
 * `indices` has room for whole groups. */
static void draw_indices(counter_key key, uint64_t stream, uint64_t first_group, int64_t n_values,
                         int64_t n_draws, uint16_t *indices) {
    const uint32_t n = (uint32_t)n_values, square = n * n;
    const draw_source source = {schedule(key), stream ^ key.low, n, (0 - square) % square};
    const int64_t n_groups = (n_draws + RESAMPLE_GROUP - 1) / RESAMPLE_GROUP;
    int rejected = 0;
    int64_t g = 0;
    for (; g + 4 <= n_groups; g += 4)
        rejected |= index_groups<4>(source, first_group + (uint64_t)g,
                                    indices + g * RESAMPLE_GROUP);
    for (; g < n_groups; ++g)
        rejected |= index_groups<1>(source, first_group + (uint64_t)g,
                                    indices + g * RESAMPLE_GROUP);
    if (rejected)
        replace_rejected(source, first_group + (uint64_t)n_groups, n_draws, indices,
                         indices + n_groups * RESAMPLE_GROUP);
}

/* The widest vectors that cut rows of VECTORS x 32 bytes evenly. */
template <int VECTORS> struct row_cut {
    enum { MOST = VECTORS % 2 ? 32 : 64 };
    enum { BYTES = ROPOLL_VECTOR_BYTES < MOST ? ROPOLL_VECTOR_BYTES : MOST };
    enum { PARTS = VECTORS * 32 / BYTES };
};

/* What sums of a type of moments go on in, and the place of column c of `width` there: bytes are
 * added as even columns and odd ones. */
template <typename Value> struct totals_of {
    typedef double type;
    static int64_t place(int64_t c, int64_t) { return c; }
};
template <> struct totals_of<uint8_t> {
    typedef int32_t type;
    static int64_t place(int64_t c, int64_t width) { return c / 2 + c % 2 * (width / 2); }
};

/* The row of a scaled index. */
template <typename Row, int VECTORS>
static inline const Row *row_at(const void *table, uint16_t index) {
    return (const Row *)((const char *)table + (size_t)index * (VECTORS * 32 >> RESAMPLE_SHIFT));
}

/* Add the drawn rows of one block of columns to totals. Sums run in Value for at most `flush`
 * draws, which its range allows, then move to double. */
template <typename Value, int VECTORS>
static void sum_block(const Value *table, const uint16_t *indices, int64_t n_draws, int64_t flush,
                      double *totals) {
    enum { BYTES = row_cut<VECTORS>::BYTES, PARTS = row_cut<VECTORS>::PARTS };
    enum { LANES = BYTES / sizeof(Value) };
    typedef Value row __attribute__((vector_size(BYTES)));
    for (int64_t start = 0; start < n_draws; start += flush) {
        const int64_t stop = n_draws - start < flush ? n_draws : start + flush;
        row sum[PARTS] = {};
        for (int64_t j = start; j < stop; ++j) {
            const row *drawn = row_at<row, VECTORS>(table, indices[j]);
            for (int v = 0; v < PARTS; ++v) sum[v] += drawn[v];
        }
        for (int v = 0; v < PARTS; ++v)
            for (int l = 0; l < LANES; ++l) totals[v * LANES + l] += (double)sum[v][l];
    }
}

/* Sums of rows of bytes in 16-bit lanes: of the pairs of an even column and the odd one after it,
 * and of the odd columns alone. */
template <int VECTORS> struct byte_sums {
    enum { BYTES = row_cut<VECTORS>::BYTES, PARTS = row_cut<VECTORS>::PARTS };
    typedef uint8_t row __attribute__((vector_size(BYTES)));
    typedef uint16_t half_row __attribute__((vector_size(BYTES)));
    half_row pairs[PARTS], odd[PARTS];

    void add_one(const uint8_t *table, uint16_t index) {
        const half_row *drawn = row_at<half_row, VECTORS>(table, index);
        for (int v = 0; v < PARTS; ++v) {
            pairs[v] += drawn[v];
            odd[v] += drawn[v] >> 8;
        }
    }

    void add_four(const uint8_t *table, const uint16_t *indices) {
        uint64_t four; /* indices in one load: loads are what this waits for */
        memcpy(&four, indices, sizeof four);
        const row *a = row_at<row, VECTORS>(table, (uint16_t)four);
        const row *b = row_at<row, VECTORS>(table, (uint16_t)(four >> 16));
        const row *c = row_at<row, VECTORS>(table, (uint16_t)(four >> 32));
        const row *d = row_at<row, VECTORS>(table, (uint16_t)(four >> 48));
        for (int v = 0; v < PARTS; ++v) {
            const half_row sum = (half_row)((a[v] + b[v]) + (c[v] + d[v]));
            pairs[v] += sum;
            odd[v] += sum >> 8;
        }
    }
};

/* The same for bytes below 64, four rows of which are added as bytes. */
template <int VECTORS>
static void sum_bytes(const uint8_t *table, const uint16_t *indices, int64_t n_draws,
                      int64_t flush, int32_t *totals) {
    enum { WIDTH = VECTORS * 32 };
    for (int64_t start = 0; start < n_draws; start += flush) {
        const int64_t stop = n_draws - start < flush ? n_draws : start + flush;
        byte_sums<VECTORS> sums = {};
        int64_t j = start;
        for (; j + 8 <= stop; j += 8) {
            sums.add_four(table, indices + j);
            sums.add_four(table, indices + j + 4);
        }
        if (j + 4 <= stop) {
            sums.add_four(table, indices + j);
            j += 4;
        }
        for (; j < stop; ++j) sums.add_one(table, indices[j]);
        uint16_t pairs[WIDTH / 2], odd[WIDTH / 2];
        memcpy(pairs, sums.pairs, sizeof pairs);
        memcpy(odd, sums.odd, sizeof odd);
        for (int i = 0; i < WIDTH / 2; ++i) {
            totals[i] += (uint16_t)(pairs[i] - (odd[i] << 8));
            totals[WIDTH / 2 + i] += odd[i];
        }
    }
}

template <int VECTORS, typename Value>
static inline void sum_rows(const Value *table, const uint16_t *indices, int64_t n_draws,
                            int64_t flush, double *totals) {
    sum_block<Value, VECTORS>(table, indices, n_draws, flush, totals);
}

template <int VECTORS>
static inline void sum_rows(const uint8_t *table, const uint16_t *indices, int64_t n_draws,
                            int64_t flush, int32_t *totals) {
    sum_bytes<VECTORS>(table, indices, n_draws, flush, totals);
}

template <typename Value, typename Total>
static void sum_any_block(int vectors, const Value *table, const uint16_t *indices,
                          int64_t n_draws, int64_t flush, Total *totals) {
    switch (vectors) {
    case 1: return sum_rows<1>(table, indices, n_draws, flush, totals);
    case 2: return sum_rows<2>(table, indices, n_draws, flush, totals);
    case 3: return sum_rows<3>(table, indices, n_draws, flush, totals);
    case 4: return sum_rows<4>(table, indices, n_draws, flush, totals);
    case 5: return sum_rows<5>(table, indices, n_draws, flush, totals);
    case 6: return sum_rows<6>(table, indices, n_draws, flush, totals);
    case 7: return sum_rows<7>(table, indices, n_draws, flush, totals);
    default: return sum_rows<8>(table, indices, n_draws, flush, totals);
    }
}

/* Draws of one resample from one part, added up piece by piece. With `held`, `indices` has the
 * (only) piece already. */
template <typename Value, typename Total>
static void sum_part(const resample_problem *p, const Value *table, uint64_t resample,
                     int64_t part, int64_t n_draws, int held, uint16_t *indices, Total *totals) {
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

/* Ask for a share, that of resample r of `count`, of the rows of the part after this one. */
static inline void fetch_next(const resample_problem *p, const void *table, int64_t part,
                              int64_t r, int64_t count) {
    if (part + 1 >= p->n_parts) return;
    const int64_t row = p->vectors * 32, after = p->n_tasks - (part + 1) * p->part_size;
    const int64_t bytes = (after < p->part_size ? after : p->part_size) * row;
    const char *next = (const char *)table + p->part_size * row;
    for (int64_t i = bytes * r / count; i < bytes * (r + 1) / count; i += 64)
        __builtin_prefetch(next + i, 0, 2);
}

/* Moment totals of resamples start .. stop - 1, written as columns of out (n_moments, stride). */
template <typename Value>
static void total_resamples(const resample_problem *p, int64_t start, int64_t stop,
                            uint16_t *indices, double *scratch, double *out, int64_t stride) {
    typedef totals_of<Value> sums;
    const int64_t width = (int64_t)p->vectors * (int64_t)(32 / sizeof(Value));
    typename sums::type *tile = (typename sums::type *)scratch;
    /* One part stays in cache anyhow, and its draws or totals should too. */
    const int64_t most = p->n_parts == 1 ? RESAMPLE_SHORT_TILE : RESAMPLE_TILE;
    for (int64_t first = start; first < stop; first += most) {
        const int64_t left = stop - first, count = left < most ? left : most;
        for (int64_t b = 0; b < p->n_blocks; ++b) {
            const Value *block = (const Value *)p->table + b * p->n_tasks * width;
            int64_t draws_left[RESAMPLE_TILE];
            for (int64_t r = 0; r < count; ++r) draws_left[r] = p->n_tasks;
            memset(tile, 0, (size_t)(count * width) * sizeof *tile);
            /* Resamples inside, parts outside: the rows of a part stay in cache. */
            for (int64_t part = 0; part < p->n_parts; ++part) {
                const Value *table = block + part * p->part_size * width;
                for (int64_t r = 0; r < count; ++r) {
                    const uint64_t resample = (uint64_t)(first + r);
                    const int64_t n_draws = draws_of_part(p, resample, part, draws_left[r]);
                    draws_left[r] -= n_draws;
                    fetch_next(p, table, part, r, count);
                    sum_part<Value>(p, table, resample, part, n_draws, p->n_parts == 1 && b > 0,
                                    indices + r * p->index_stride, tile + r * width);
                }
            }
            const int64_t columns = p->n_moments - b * width;
            for (int64_t m = 0; m < (columns < width ? columns : width); ++m) {
                const double base = p->base[b * width + m];
                const typename sums::type *from = tile + sums::place(m, width);
                double *column = out + (b * width + m) * stride + (first - start);
                for (int64_t r = 0; r < count; ++r) column[r] = base + (double)from[r * width];
            }
        }
    }
}

static void total_resamples_of(const resample_problem *p, int64_t start, int64_t stop,
                               uint16_t *indices, double *scratch, double *out, int64_t stride) {
    if (p->value == RESAMPLE_UINT8)
        total_resamples<uint8_t>(p, start, stop, indices, scratch, out, stride);
    else if (p->value == RESAMPLE_INT16)
        total_resamples<int16_t>(p, start, stop, indices, scratch, out, stride);
    else if (p->value == RESAMPLE_INT32)
        total_resamples<int32_t>(p, start, stop, indices, scratch, out, stride);
    else
        total_resamples<double>(p, start, stop, indices, scratch, out, stride);
}

}  // namespace ROPOLL_NS
