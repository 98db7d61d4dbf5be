/* Includes the header named by ROPOLL_BODY once for each instruction set.
 *
 * Use:  #define ROPOLL_BODY "my_kernel_body.h"
 *       #include "for_each_variant.h"
 *
 * The body may include other parts of a body, but no system header: those go before, outside the
 * target pragmas.
 * Inside: ROPOLL_NS (namespace), ROPOLL_VECTOR_BYTES, ROPOLL_VARIANT.
 */
#include "simd.h"

#define ROPOLL_NS generic
#define ROPOLL_VECTOR_BYTES 16
#define ROPOLL_VARIANT ROPOLL_GENERIC
#include ROPOLL_BODY
#undef ROPOLL_NS
#undef ROPOLL_VECTOR_BYTES
#undef ROPOLL_VARIANT

#if ROPOLL_X86

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif
#define ROPOLL_NS avx2
#define ROPOLL_VECTOR_BYTES 32
#define ROPOLL_VARIANT ROPOLL_AVX2
#include ROPOLL_BODY
#undef ROPOLL_NS
#undef ROPOLL_VECTOR_BYTES
#undef ROPOLL_VARIANT
#if defined(__clang__)
#pragma clang attribute pop
#pragma clang attribute push(                                                          \
    __attribute__((target("avx2,fma,avx512f,avx512dq,avx512vl,avx512bw"))), apply_to = function)
#else
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx2,fma,avx512f,avx512dq,avx512vl,avx512bw,prefer-vector-width=512")
#endif
#define ROPOLL_NS avx512
#define ROPOLL_VECTOR_BYTES 64
#define ROPOLL_VARIANT ROPOLL_AVX512
#include ROPOLL_BODY
#undef ROPOLL_NS
#undef ROPOLL_VECTOR_BYTES
#undef ROPOLL_VARIANT
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
#undef ROPOLL_BODY
