/* Body of totals.pyx, compiled once for each instruction set: see for_each_variant.h.
 *
 * Lanes run across resamples, a tile of them at a time, whose correlations stay in cache.
 */
namespace ROPOLL_NS {

typedef double lanes __attribute__((vector_size(ROPOLL_VECTOR_BYTES), aligned(8)));

static void effective_votes_of(const effective_votes_problem *p) {
    enum { TILE = EFFECTIVE_VOTES_TILE, PARTS = TILE / (ROPOLL_VECTOR_BYTES / sizeof(double)) };
    for (int64_t first = 0; first < p->n_columns; first += TILE) {
        const int64_t left = p->n_columns - first, count = left < TILE ? left : TILE;
        const double *totals = p->totals + first;
        for (int64_t q = 0; q < p->n_pairs; ++q) {
            const int64_t *rows = p->columns + 4 * q;
            const double *n = totals + rows[0] * p->stride, *i = totals + rows[1] * p->stride;
            const double *j = totals + rows[2] * p->stride, *both = totals + rows[3] * p->stride;
            double *__restrict phi = p->phi + q * TILE;
            for (int64_t c = 0; c < count; ++c) phi[c] = phi_of_totals(n[c], i[c], j[c], both[c]);
            for (int64_t c = count; c < TILE; ++c) phi[c] = 0.0;
        }
        for (int64_t panel = 0; panel < p->n_panels; ++panel) {
            const double n_pairs = (double)(p->starts[panel + 1] - p->starts[panel]);
            const double k = 0.5 + sqrt(0.25 + 2.0 * n_pairs);
            lanes sum[PARTS] = {};
            for (int64_t q = p->starts[panel]; q < p->starts[panel + 1]; ++q) {
                const lanes *phi = (const lanes *)(p->phi + p->pairs[q] * TILE);
                for (int v = 0; v < PARTS; ++v) sum[v] += phi[v];
            }
            double value[TILE];
            memcpy(value, sum, sizeof value);
            int undefined = 0;
            for (int c = 0; c < TILE; ++c) {
                value[c] = kish(k, value[c] / n_pairs);
                undefined |= value[c] != value[c];
            }
            if (undefined)
                for (int64_t c = 0; c < count; ++c)
                    if (value[c] != value[c])
                        value[c] = effective_votes_of_varying(p, panel, first + c, p->phi + c);
            memcpy(p->out + panel * p->out_stride + first, value, (size_t)count * sizeof *value);
        }
    }
}

}  // namespace ROPOLL_NS
