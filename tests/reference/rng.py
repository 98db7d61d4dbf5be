"""Philox4x32-10 and bounded integers in plain Python integers."""

import itertools
import math

MASK = 0xFFFFFFFF


def philox(counter, key):
    """Four 32-bit words from four counter words and two key words."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = (p1 >> 32) ^ c1 ^ k0, p1 & MASK, (p0 >> 32) ^ c3 ^ k1, p0 & MASK
        k0, k1 = (k0 + 0x9E3779B9) & MASK, (k1 + 0xBB67AE85) & MASK
    return c0, c1, c2, c3


def block(high, low, stream, index):
    """Two 64-bit words of one block."""
    upper = stream ^ low
    c0, c1, c2, c3 = philox(
        (index & MASK, index >> 32, upper & MASK, upper >> 32), (high & MASK, high >> 32)
    )
    return c1 << 32 | c0, c3 << 32 | c2


def bounded(high, low, stream, index, n):
    """Lemire's unbiased integer in [0, n)."""
    threshold = (1 << 64) % n
    attempt = 0
    while True:
        for word in block(high, low, stream, index + (attempt << 56)):
            if (word * n) % (1 << 64) >= threshold:
                return word * n >> 64
        attempt += 1


def log(x):
    """fdlibm's logarithm, operation by operation."""
    m, k = math.frexp(x)
    if m < math.sqrt(0.5):
        m, k = 2 * m, k - 1
    f = m - 1.0
    s = f / (2.0 + f)
    z = s * s
    series = 1.479819860511658591e-01
    for term in (
        1.531383769920937332e-01,
        1.818357216161805012e-01,
        2.222219843214978396e-01,
        2.857142874366239149e-01,
        3.999999999940941908e-01,
        6.666666666666735130e-01,
    ):
        series = term + z * series
    series = z * series
    half = 0.5 * f * f
    low = s * (half + series) + k * 1.90821492927058770002e-10
    return k * 6.93147180369123816490e-01 - ((half - low) - f)


def _tail(k):
    if k < 10:
        # log k! less Stirling's approximation, ten digits after the point or more.
        return (
            0.0810614667953272,
            0.0413406959554092,
            0.0276779256849983,
            0.02079067210376509,
            0.0166446911898211,
            0.0138761288230707,
            0.0118967099458917,
            0.0104112652619720,
            0.00925546218271273,
            0.00833056343336287,
        )[int(k)]
    square = (k + 1) * (k + 1)
    return (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / (k + 1)


def _pairs(high, low, stream, index):
    for number in itertools.count(index):
        yield [((w >> 12) + 0.5) / 2**52 for w in block(high, low, stream, number)]


def binomial(high, low, stream, index, n, part, whole):
    """Successes in n trials of probability part / whole."""
    if n == 0 or part == 0:
        return 0
    if part == whole:
        return n
    if 2 * part > whole:
        return n - _half_binomial(_pairs(high, low, stream, index), n, (whole - part) / whole)
    return _half_binomial(_pairs(high, low, stream, index), n, part / whole)


def _half_binomial(pairs, n, p):
    if n * p < 10:
        rate, trials = log(1 - p), 0.0
        for count, u in enumerate(itertools.chain.from_iterable(pairs)):
            trials += math.ceil(log(u) / rate)
            if trials > n:
                return count
    odds = p / (1 - p)
    spread = math.sqrt(n * p * (1 - p))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    c = n * p + 0.5
    alpha = (2.83 + 5.1 / b) * spread
    m = math.floor((n + 1.0) * p)
    for u, v in pairs:
        u -= 0.5
        us = 0.5 - abs(u)
        k = math.floor((2 * a / us + b) * u + c)
        if us >= 0.07 and v <= 0.92 - 4.2 / b:
            return k
        if not 0 <= k <= n:
            continue
        bound = (m + 0.5) * log((m + 1) / (odds * (n - m + 1)))
        bound += (n + 1) * log((n - m + 1) / (n - k + 1))
        bound += (k + 0.5) * log(odds * (n - k + 1) / (k + 1))
        bound += _tail(m) + _tail(n - m) - _tail(k) - _tail(n - k)
        if log(v * alpha / (a / (us * us) + b)) <= bound:
            return k
