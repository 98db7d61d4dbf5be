/* Body of patterns.h, once for each instruction set: blocks of PATTERN_ROWS rows without a gap.
 *
 * Cells of a block go to a buffer, and are counted from there: additions to the table then run
 * beside the arithmetic of the next block. Measured at 7 judges: a quarter faster than eight rows
 * at a time in plain words; 512-bit vectors gain nothing more, nor do several tables, against
 * equal neighbours waiting for each other, more than 3 %.
 */
namespace ROPOLL_NS {

#if ROPOLL_VECTOR_BYTES < 32

static inline ptrdiff_t count_wide(const Queries &, int64_t *, ptrdiff_t i, ptrdiff_t) { return i; }

#else

/* Cells of rows i to i + 63; returns whether all of them are bytes 0 and 1. */
static inline bool cells_of(const Queries &q, ptrdiff_t i, __m256i spread, __m256i weights,
                            uint64_t *cells) {
    const ptrdiff_t k = q.n_judges;
    const __m256i zero = _mm256_setzero_si256();
    const __m128i to_cell = _mm_cvtsi64_si128(k);
    __m256i any = zero;
    uint64_t any_side = 0;
    for (ptrdiff_t n = 0; n < PATTERN_ROWS; n += 8) {
        const int8_t *row = q.votes + (i + n) * k;
        __builtin_prefetch(row + 4096); /* the hardware's own stops at each page */
        const uint64_t signal = eight_from(q.signal, q.signal_step, i + n);
        const uint64_t label = eight_from(q.labels, q.labels_step, i + n);
        any_side |= signal | label;
        const uint64_t sides = label | signal << 1;
        for (ptrdiff_t r = 0; r < 8; r += 4) { /* two rows to each half of a vector */
            const __m128i *low = reinterpret_cast<const __m128i *>(row + r * k);
            const __m128i *high = reinterpret_cast<const __m128i *>(row + (r + 2) * k);
            const __m256i raw = _mm256_inserti128_si256(
                _mm256_castsi128_si256(_mm_loadu_si128(low)), _mm_loadu_si128(high), 1);
            any = _mm256_or_si256(any, raw);
            const __m256i rows = _mm256_shuffle_epi8(raw, spread);
            const __m256i bits = _mm256_and_si256(_mm256_sub_epi8(zero, rows), weights);
            const __m128i four = _mm_cvtsi64_si128(static_cast<int64_t>(sides >> (8 * r)));
            const __m256i side = _mm256_sll_epi64(_mm256_cvtepu8_epi64(four), to_cell);
            _mm256_store_si256(reinterpret_cast<__m256i *>(cells + n + r),
                               _mm256_or_si256(_mm256_sad_epu8(bits, zero), side));
        }
    }
    return (any_side & ~LOW_BITS) == 0 && _mm256_testz_si256(any, _mm256_set1_epi8(~1));
}

/* As count_blocks, PATTERN_ROWS rows at a time. */
static ptrdiff_t count_wide(const Queries &q, int64_t *complete, ptrdiff_t i, ptrdiff_t stop) {
    const ptrdiff_t k = q.n_judges;
    if (k > 8) return i;
    alignas(32) uint8_t place[32], weight[32]; /* of ballot j of a row, at byte j of its word */
    for (int b = 0; b < 32; ++b) {
        const int row = b % 16 / 8, j = b % 8;
        place[b] = static_cast<uint8_t>(j < k ? row * k + j : 0x80);
        weight[b] = static_cast<uint8_t>(j < k ? 1 << j : 0);
    }
    const __m256i spread = _mm256_load_si256(reinterpret_cast<const __m256i *>(place));
    const __m256i weights = _mm256_load_si256(reinterpret_cast<const __m256i *>(weight));
    alignas(32) uint64_t cells[PATTERN_ROWS];
    for (; stop - i >= PATTERN_ROWS; i += PATTERN_ROWS) {
        /* the last load takes 16 bytes from row 62 on */
        if (q.end - (q.votes + i * k) < (PATTERN_ROWS - 2) * k + 16) break;
        if (!cells_of(q, i, spread, weights, cells)) break;
        for (int n = 0; n < PATTERN_ROWS; ++n) complete[cells[n]] += 1;
    }
    return i;
}

#endif

}  // namespace ROPOLL_NS
