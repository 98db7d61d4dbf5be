/* Instruction sets: their names, which of them this processor has, and lane vectors.
 *
 * A kernel with SIMD variants writes its body once, in a header without include guards that
 * puts everything in `namespace ROPOLL_NS` and takes its vector width from ROPOLL_VECTOR_BYTES,
 * and includes it through for_each_variant.h. Lanes run across queries, so strict floating
 * point still vectorises and a lane never depends on its neighbours.
 */
#ifndef ROPOLL_SIMD_H
#define ROPOLL_SIMD_H

#if !defined(__GNUC__)
#error "ropoll_core needs GCC or Clang (vector extensions)"
#endif

#if defined(__x86_64__) || defined(_M_X64)
#define ROPOLL_X86 1
#include <immintrin.h>
#else
#define ROPOLL_X86 0
#endif

enum { ROPOLL_GENERIC = 0, ROPOLL_AVX2 = 1, ROPOLL_AVX512 = 2, ROPOLL_N_VARIANTS = 3 };

/* A table of one function of a variant body, indexed by the active variant. */
#if ROPOLL_X86
#define ROPOLL_VARIANTS_OF(f) {generic::f, avx2::f, avx512::f}
#else
#define ROPOLL_VARIANTS_OF(f) {generic::f, generic::f, generic::f}
#endif

static inline int ropoll_best_variant(void) {
#if ROPOLL_X86
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return ROPOLL_GENERIC;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
        return ROPOLL_AVX512;
    return ROPOLL_AVX2;
#else
    return ROPOLL_GENERIC;
#endif
}

#endif
