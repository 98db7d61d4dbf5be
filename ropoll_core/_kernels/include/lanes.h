/* Lane vectors of the current variant: one problem a lane. Part of a body (no include guard),
 * inside `namespace ROPOLL_NS`. The one vector library of all lane kernels.
 *
 * Every operation acts on each lane by itself, and fused multiply-add is written out where it
 * is meant (contraction is off), so a lane's bits never depend on its neighbours. The maskz
 * forms of intrinsics are the plain ones without GCC 12's false warnings.
 */

enum { W = ROPOLL_VECTOR_BYTES / (int)sizeof(double) };

typedef double vec __attribute__((vector_size(ROPOLL_VECTOR_BYTES)));
typedef long long ints __attribute__((vector_size(ROPOLL_VECTOR_BYTES)));

#define LANE_INLINE static inline __attribute__((always_inline))

template <typename V = vec>
LANE_INLINE V all(double a) { return a - V{}; }

/* A truth value a lane, comparisons (false where a side is NaN) and choice. Written out, since
 * GCC's vector ?: is weak on mask registers, and in GCC 12 unsound for SSE2. */
#if ROPOLL_VECTOR_BYTES == 64
struct mask { __mmask8 m; };
LANE_INLINE mask operator&(mask a, mask b) { return {(__mmask8)(a.m & b.m)}; }
LANE_INLINE mask operator|(mask a, mask b) { return {(__mmask8)(a.m | b.m)}; }
LANE_INLINE mask operator~(mask a) { return {(__mmask8)~a.m}; }
LANE_INLINE mask less(vec a, vec b) {
    return {_mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_LT_OQ)};
}
LANE_INLINE mask at_most(vec a, vec b) {
    return {_mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_LE_OQ)};
}
LANE_INLINE mask equal(vec a, vec b) {
    return {_mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_EQ_OQ)};
}
LANE_INLINE vec pick(mask c, vec yes, vec no) {
    return (vec)_mm512_mask_blend_pd(c.m, (__m512d)no, (__m512d)yes);
}
LANE_INLINE vec larger(vec a, vec b) {
    return (vec)_mm512_maskz_max_pd(0xff, (__m512d)a, (__m512d)b);
}
LANE_INLINE vec smaller(vec a, vec b) {
    return (vec)_mm512_maskz_min_pd(0xff, (__m512d)a, (__m512d)b);
}
#else
struct mask { ints m; };
LANE_INLINE mask operator&(mask a, mask b) { return {a.m & b.m}; }
LANE_INLINE mask operator|(mask a, mask b) { return {a.m | b.m}; }
LANE_INLINE mask operator~(mask a) { return {~a.m}; }
LANE_INLINE vec pick(mask c, vec yes, vec no) {
#if ROPOLL_VECTOR_BYTES == 32
    return (vec)_mm256_blendv_pd((__m256d)no, (__m256d)yes, (__m256d)c.m);
#else
    return (vec)(((ints)yes & c.m) | ((ints)no & ~c.m));
#endif
}
#if ROPOLL_VECTOR_BYTES == 32
LANE_INLINE mask less(vec a, vec b) {
    return {(ints)_mm256_cmp_pd((__m256d)a, (__m256d)b, _CMP_LT_OQ)};
}
LANE_INLINE mask at_most(vec a, vec b) {
    return {(ints)_mm256_cmp_pd((__m256d)a, (__m256d)b, _CMP_LE_OQ)};
}
LANE_INLINE mask equal(vec a, vec b) {
    return {(ints)_mm256_cmp_pd((__m256d)a, (__m256d)b, _CMP_EQ_OQ)};
}
LANE_INLINE vec larger(vec a, vec b) { return (vec)_mm256_max_pd((__m256d)a, (__m256d)b); }
LANE_INLINE vec smaller(vec a, vec b) { return (vec)_mm256_min_pd((__m256d)a, (__m256d)b); }
#elif ROPOLL_X86
LANE_INLINE mask less(vec a, vec b) { return {(ints)_mm_cmplt_pd((__m128d)a, (__m128d)b)}; }
LANE_INLINE mask at_most(vec a, vec b) { return {(ints)_mm_cmple_pd((__m128d)a, (__m128d)b)}; }
LANE_INLINE mask equal(vec a, vec b) { return {(ints)_mm_cmpeq_pd((__m128d)a, (__m128d)b)}; }
LANE_INLINE vec larger(vec a, vec b) { return (vec)_mm_max_pd((__m128d)a, (__m128d)b); }
LANE_INLINE vec smaller(vec a, vec b) { return (vec)_mm_min_pd((__m128d)a, (__m128d)b); }
#else
LANE_INLINE mask less(vec a, vec b) { return {a < b}; }
LANE_INLINE mask at_most(vec a, vec b) { return {a <= b}; }
LANE_INLINE mask equal(vec a, vec b) { return {a == b}; }
LANE_INLINE vec larger(vec a, vec b) { return pick(less(b, a), a, b); }
LANE_INLINE vec smaller(vec a, vec b) { return pick(less(a, b), a, b); }
#endif
#endif

/* a * b + c and c - a * b, fused where the instruction set has it. */
LANE_INLINE vec fma(vec a, vec b, vec c) {
#if ROPOLL_VECTOR_BYTES == 64
    return (vec)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif ROPOLL_VECTOR_BYTES == 32
    return (vec)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
    return a * b + c;
#endif
}

LANE_INLINE vec fnma(vec a, vec b, vec c) {
#if ROPOLL_VECTOR_BYTES == 64
    return (vec)_mm512_fnmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif ROPOLL_VECTOR_BYTES == 32
    return (vec)_mm256_fnmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
    return c - a * b;
#endif
}

LANE_INLINE vec root(vec a) {
#if ROPOLL_VECTOR_BYTES == 64
    return (vec)_mm512_maskz_sqrt_pd(0xff, (__m512d)a);
#elif ROPOLL_VECTOR_BYTES == 32
    return (vec)_mm256_sqrt_pd((__m256d)a);
#elif ROPOLL_X86
    return (vec)_mm_sqrt_pd((__m128d)a);
#else
    vec r;
    for (int l = 0; l < W; l++) r[l] = __builtin_sqrt(a[l]);
    return r;
#endif
}

/* 1/sqrt(a) to about two units in the last place, for a normal and positive. */
LANE_INLINE vec inverse_root(vec a) {
#if ROPOLL_VECTOR_BYTES == 64
    /* 14 bits from the table, doubled twice (Goldschmidt): cheaper than sqrt and divide. */
    const vec y = (vec)_mm512_maskz_rsqrt14_pd(0xff, (__m512d)a), half = all(0.5);
    vec g = a * y, h = half * y;
    vec e = fnma(g, h, half);
    g = fma(g, e, g);
    h = fma(h, e, h);
    e = fnma(g, h, half);
    h = fma(h, e, h);
    return h + h;
#else
    return 1.0 / root(a);
#endif
}

enum { ALL_LANES = (1 << W) - 1 };

/* Bit l set where lane l of the mask is true. */
LANE_INLINE unsigned bits(mask c) {
#if ROPOLL_VECTOR_BYTES == 64
    return c.m;
#elif ROPOLL_VECTOR_BYTES == 32
    return (unsigned)_mm256_movemask_pd((__m256d)c.m);
#elif ROPOLL_X86
    return (unsigned)_mm_movemask_pd((__m128d)c.m);
#else
    unsigned b = 0;
    for (int l = 0; l < W; l++) b |= ((unsigned)c.m[l] & 1u) << l;
    return b;
#endif
}

/* Element `at` bytes behind each lane's pointer, widened to double. */
template <typename T>
LANE_INLINE vec gather(const char *const *p, ptrdiff_t at) {
#define ROPOLL_AT(l) (double)*(const T *)(p[l] + at)
#if ROPOLL_VECTOR_BYTES == 64
    return (vec){ROPOLL_AT(0), ROPOLL_AT(1), ROPOLL_AT(2), ROPOLL_AT(3),
                 ROPOLL_AT(4), ROPOLL_AT(5), ROPOLL_AT(6), ROPOLL_AT(7)};
#elif ROPOLL_VECTOR_BYTES == 32
    return (vec){ROPOLL_AT(0), ROPOLL_AT(1), ROPOLL_AT(2), ROPOLL_AT(3)};
#else
    return (vec){ROPOLL_AT(0), ROPOLL_AT(1)};
#endif
#undef ROPOLL_AT
}

/* W consecutive elements, widened to double. */
template <typename T>
LANE_INLINE vec load_run(const T *p) {
#if ROPOLL_VECTOR_BYTES == 64
    if (sizeof(T) == sizeof(float))
        return (vec)_mm512_maskz_cvtps_pd(0xff, _mm256_loadu_ps((const float *)p));
#elif ROPOLL_VECTOR_BYTES == 32
    if (sizeof(T) == sizeof(float)) return (vec)_mm256_cvtps_pd(_mm_loadu_ps((const float *)p));
#endif
    vec v;
    if (sizeof(T) == sizeof(double))
        __builtin_memcpy(&v, p, sizeof v);
    else
        for (int l = 0; l < W; l++) v[l] = (double)p[l];
    return v;
}

/* Turns W vectors of W into their transpose. */
LANE_INLINE void transpose(vec *v) {
#if ROPOLL_VECTOR_BYTES == 64
    vec a[8], b[8];
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        a[2 * i] = __builtin_shufflevector(v[2 * i], v[2 * i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        a[2 * i + 1] = __builtin_shufflevector(v[2 * i], v[2 * i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
#pragma GCC unroll 2
    for (int i = 0; i < 8; i += 4)
#pragma GCC unroll 2
        for (int j = 0; j < 2; j++) {
            const vec p = a[i + j], q = a[i + j + 2];
            b[i + j] = __builtin_shufflevector(p, q, 0, 1, 8, 9, 4, 5, 12, 13);
            b[i + j + 2] = __builtin_shufflevector(p, q, 2, 3, 10, 11, 6, 7, 14, 15);
        }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        v[i] = __builtin_shufflevector(b[i], b[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        v[i + 4] = __builtin_shufflevector(b[i], b[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
#elif ROPOLL_VECTOR_BYTES == 32
    const vec a = __builtin_shufflevector(v[0], v[1], 0, 4, 2, 6);
    const vec b = __builtin_shufflevector(v[0], v[1], 1, 5, 3, 7);
    const vec c = __builtin_shufflevector(v[2], v[3], 0, 4, 2, 6);
    const vec e = __builtin_shufflevector(v[2], v[3], 1, 5, 3, 7);
    v[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
    v[1] = __builtin_shufflevector(b, e, 0, 1, 4, 5);
    v[2] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
    v[3] = __builtin_shufflevector(b, e, 2, 3, 6, 7);
#else
    const vec a = v[0], b = v[1];
    v[0] = __builtin_shufflevector(a, b, 0, 2);
    v[1] = __builtin_shufflevector(a, b, 1, 3);
#endif
}

/* `count` >= W consecutive elements behind each lane's pointer. The last W may overlap. */
template <typename T>
LANE_INLINE void gather_run(const char *const *p, ptrdiff_t count, vec *out) {
    for (ptrdiff_t k = 0; k < count; k += W) {
        const ptrdiff_t at = k + W <= count ? k : count - W;
        vec v[W];
#pragma GCC unroll 8
        for (int l = 0; l < W; l++) v[l] = load_run((const T *)p[l] + at);
        transpose(v);
#pragma GCC unroll 8
        for (int l = 0; l < W; l++) out[at + l] = v[l];
    }
}

/* The first `count` <= W elements of v, narrowed to T. */
template <typename T>
LANE_INLINE void store_run(T *p, vec v, int count) {
#if ROPOLL_VECTOR_BYTES == 64
    const __mmask8 some = (__mmask8)(ALL_LANES >> (W - count));
    if (sizeof(T) == sizeof(float))
        _mm256_mask_storeu_ps((float *)p, some, _mm512_maskz_cvtpd_ps(0xff, (__m512d)v));
    else
        _mm512_mask_storeu_pd((double *)p, some, (__m512d)v);
#else
    if (sizeof(T) == sizeof(double) && count == W)
        __builtin_memcpy(p, &v, sizeof v);
    else
        for (int l = 0; l < count; l++) p[l] = (T)v[l];
#endif
}

/* Lane l of `count` vectors in a row behind pointer l: gather_run turned round. */
template <typename T>
LANE_INLINE void scatter_run(char *const *p, int count, const vec *in) {
    for (int k = 0; k < count; k += W) {
        const int at = count < W || k + W <= count ? k : count - W;
        vec v[W];
#pragma GCC unroll 8
        for (int l = 0; l < W; l++) v[l] = in[at + l < count ? at + l : count - 1];
        transpose(v);
#pragma GCC unroll 8
        for (int l = 0; l < W; l++) store_run((T *)p[l] + at, v[l], count < W ? count : W);
    }
}
