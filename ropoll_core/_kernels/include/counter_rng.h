/* Random numbers as a pure function of (key, stream, index): Philox4x32-10.
 *
 * J. K. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011. A block of 128
 * bits depends on nothing but its key and counter, so a result built on it does not depend on
 * threads, chunks or vector width. The 64-bit half `high` of the key is Philox's key, `low` is
 * folded into the counter's upper half with the stream.
 *
 * Everything here uses integers, + - * / and sqrt only, each exactly rounded by IEEE 754, and
 * no libm: with contraction off (setup.py) every machine gives the same bits. A module that
 * allows fused multiply-add must take its normals from counter_rng.pyx instead.
 */
#ifndef ROPOLL_COUNTER_RNG_H
#define ROPOLL_COUNTER_RNG_H

#include <math.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    uint64_t high, low;
} counter_key;

typedef struct {
    uint64_t first, second;
} counter_block;

enum { PHILOX_ROUNDS = 10 };
#define PHILOX_M0 0xD2511F53u
#define PHILOX_M1 0xCD9E8D57u
#define PHILOX_W0 0x9E3779B9u
#define PHILOX_W1 0xBB67AE85u

/* Block `index` of stream `stream`: 128 independent uniform bits. */
static inline counter_block counter_draw(counter_key key, uint64_t stream, uint64_t index) {
    const uint64_t upper = stream ^ key.low;
    uint32_t c0 = (uint32_t)index, c1 = (uint32_t)(index >> 32);
    uint32_t c2 = (uint32_t)upper, c3 = (uint32_t)(upper >> 32);
    uint32_t k0 = (uint32_t)key.high, k1 = (uint32_t)(key.high >> 32);
    for (int round = 0; round < PHILOX_ROUNDS; ++round) {
        const uint64_t p0 = (uint64_t)PHILOX_M0 * c0, p1 = (uint64_t)PHILOX_M1 * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)p1;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)p0;
        k0 += PHILOX_W0;
        k1 += PHILOX_W1;
    }
    counter_block block;
    block.first = (uint64_t)c1 << 32 | c0;
    block.second = (uint64_t)c3 << 32 | c2;
    return block;
}

/* A key for the streams of one part of the work, independent of its parent's streams. */
static inline counter_key counter_subkey(counter_key key, uint64_t part) {
    const counter_block block = counter_draw(key, part, ~(uint64_t)0);
    counter_key child;
    child.high = block.first;
    child.low = block.second;
    return child;
}

/* Uniform in [0, 1), a multiple of 2^-53. */
static inline double uniform_from_bits(uint64_t bits) {
    return (double)(bits >> 11) * 0x1p-53;
}

/* Uniform in (0, 1), symmetric about 1/2, never 0 or 1. */
static inline double open_uniform_from_bits(uint64_t bits) {
    return ((double)(bits >> 12) + 0.5) * 0x1p-52;
}

/* Natural logarithm of a normal positive number, within 1 ulp (the method of fdlibm's e_log.c). */
static inline double exact_log(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    /* x = 2^k m with m in [sqrt(1/2), sqrt(2)) */
    const uint64_t shifted = bits - 0x3FE6A09E00000000u;
    const double k = (double)((int64_t)shifted >> 52);
    bits -= shifted & 0xFFF0000000000000u;
    double m;
    memcpy(&m, &bits, sizeof m);
    const double f = m - 1.0, s = f / (2.0 + f), z = s * s, half_square = 0.5 * f * f;
    const double series =
        z * (6.666666666666735130e-01 +
             z * (3.999999999940941908e-01 +
                  z * (2.857142874366239149e-01 +
                       z * (2.222219843214978396e-01 +
                            z * (1.818357216161805012e-01 +
                                 z * (1.531383769920937332e-01 + z * 1.479819860511658591e-01))))));
    return k * 6.93147180369123816490e-01 -
           ((half_square - (s * (half_square + series) + k * 1.90821492927058770002e-10)) - f);
}

/* Quantile of the standard normal at p in (0, 1): Wichura's AS 241 (PPND16), Applied
 * Statistics 37 (1988) 477-484; relative error about 1e-16. */
static inline double normal_quantile(double p) {
    const double q = p - 0.5;
    if (q <= 0.425 && q >= -0.425) {
        const double r = 0.180625 - q * q;
        return q *
               (((((((2.5090809287301226727e+3 * r + 3.3430575583588128105e+4) * r +
                     6.7265770927008700853e+4) * r + 4.5921953931549871457e+4) * r +
                   1.3731693765509461125e+4) * r + 1.9715909503065514427e+3) * r +
                 1.3314166789178437745e+2) * r + 3.3871328727963666080e+0) /
               (((((((5.2264952788528545610e+3 * r + 2.8729085735721942674e+4) * r +
                     3.9307895800092710610e+4) * r + 2.1213794301586595867e+4) * r +
                   5.3941960214247511077e+3) * r + 6.8718700749205790830e+2) * r +
                 4.2313330701600911252e+1) * r + 1.0);
    }
    double r = sqrt(-exact_log(q < 0.0 ? p : 1.0 - p)), value;
    if (r <= 5.0) {
        r -= 1.6;
        value = (((((((7.74545014278341407640e-4 * r + 2.27238449892691845833e-2) * r +
                      2.41780725177450611770e-1) * r + 1.27045825245236838258e+0) * r +
                    3.64784832476320460504e+0) * r + 5.76949722146069140550e+0) * r +
                  4.63033784615654529590e+0) * r + 1.42343711074968357734e+0) /
                (((((((1.05075007164441684324e-9 * r + 5.47593808499534494600e-4) * r +
                      1.51986665636164571966e-2) * r + 1.48103976427480074590e-1) * r +
                    6.89767334985100004550e-1) * r + 1.67638483018380384940e+0) * r +
                  2.05319162663775882187e+0) * r + 1.0);
    } else {
        r -= 5.0;
        value = (((((((2.01033439929228813265e-7 * r + 2.71155556874348757815e-5) * r +
                      1.24266094738807843860e-3) * r + 2.65321895265761230930e-2) * r +
                    2.96560571828504891230e-1) * r + 1.78482653991729133580e+0) * r +
                  5.46378491116411436990e+0) * r + 6.65790464350110377720e+0) /
                (((((((2.04426310338993978564e-15 * r + 1.42151175831644588870e-7) * r +
                      1.84631831751005468180e-5) * r + 7.86869131145613259100e-4) * r +
                    1.48753612908506148525e-2) * r + 1.36929880922735805310e-1) * r +
                  5.99832206555887937690e-1) * r + 1.0);
    }
    return q < 0.0 ? -value : value;
}

/* Standard normal, by inversion: one number for 64 bits, |z| < 8.3. */
static inline double normal_from_bits(uint64_t bits) {
    return normal_quantile(open_uniform_from_bits(bits));
}

/* Standard Cauchy: the ratio of two independent normals. Always finite. */
static inline double cauchy_from_block(counter_block block) {
    return normal_from_bits(block.first) / normal_from_bits(block.second);
}

/* Upper half of a 64 x 64 bit product; *lower gets the rest. */
static inline uint64_t multiply_high(uint64_t a, uint64_t b, uint64_t *lower) {
    const unsigned __int128 product = (unsigned __int128)a * b;
    *lower = (uint64_t)product;
    return (uint64_t)(product >> 64);
}

/* Uniform integer in [0, n), n >= 1, without bias: D. Lemire, "Fast random integer generation
 * in an interval", ACM TOMACS 29 (2019). A block is rejected with probability below n / 2^64
 * twice over; the next attempt counts in the top byte of the index, so index < 2^56. */
static inline uint64_t bounded_draw(counter_key key, uint64_t stream, uint64_t index, uint64_t n) {
    const uint64_t threshold = (0 - n) % n;
    for (uint64_t attempt = 0;; ++attempt) {
        const counter_block block = counter_draw(key, stream, index + (attempt << 56));
        uint64_t lower, value = multiply_high(block.first, n, &lower);
        if (lower >= threshold) return value;
        value = multiply_high(block.second, n, &lower);
        if (lower >= threshold) return value;
    }
}

/* Position i of a stream of 64-bit words: half i % 2 of block i / 2. */
static inline uint64_t word_draw(counter_key key, uint64_t stream, uint64_t position) {
    const counter_block block = counter_draw(key, stream, position >> 1);
    return position & 1 ? block.second : block.first;
}

#endif
