/* Results into the caller's arrays. Part of a body. */

/* Queries between one that is worked on and those whose memory is fetched meanwhile. */
enum { AHEAD = 64 };

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

/* The medians alone, lane l's d attributes at row[l]. */
template <typename T>
LANE_INLINE void store_medians(const GmPanels &P, char *const *row, ptrdiff_t d, const vec *z) {
#pragma GCC unroll 8
    for (int l = 0; l < W; l++) __builtin_prefetch(row[l] + AHEAD * P.median_query_stride, 1);
    if (P.median_attribute_stride == (ptrdiff_t)sizeof(T)) return scatter_run<T>(row, d, z);
    for (int l = 0; l < W; l++)
        for (ptrdiff_t k = 0; k < d; k++)
            *(T *)(row[l] + k * P.median_attribute_stride) = (T)z[k][l];
}

/* Notes what became of `count` lanes whose medians alone are asked for. */
static inline void note_lanes(
    const GmPanels &P, Block &B, const int32_t *places, int count, mask settled, mask several) {
    const unsigned done = bits(settled), many = bits(several);
    if (done & many) P.seen[GM_NOT_UNIQUE] = 1;
    if (done & ~many) P.seen[GM_CERTIFIED] = 1;
    if (done == ALL_LANES) return;
    for (int l = 0; l < count; l++) { /* no branch for each lane: it could not be foreseen */
        B.left[B.n_left] = places[l];
        B.n_left += !(done >> l & 1);
    }
}

/* The first `count` lanes, with all that is asked for; what is not settled is noted as left. */
template <typename T>
static void store_lanes(
    const GmPanels &P, Block &B, const int32_t *places, int count, const Found &found,
    mask several, double *one) {
    if (!P.status) {
        char *row[W];
        for (int l = 0; l < W; l++)
            row[l] = P.median + (B.first + places[l]) * P.median_query_stride;
        store_medians<T>(P, row, P.n_attributes, found.z); /* those left are written again */
        return note_lanes(P, B, places, count, found.done, several);
    }
    for (int l = 0; l < count; l++) {
        const int place = places[l];
        if (!(bits(found.done) >> l & 1)) {
            B.left[B.n_left++] = place;
            continue;
        }
        for (ptrdiff_t k = 0; k < P.n_attributes; k++) one[k] = found.z[k][l];
        const int status = bits(several) >> l & 1 ? GM_NOT_UNIQUE : GM_CERTIFIED;
        const GmAnswer a = {found.objective[l], found.gap[l], (int)found.steps[l], status};
        store<T>(P, B, place, one, a);
    }
}
