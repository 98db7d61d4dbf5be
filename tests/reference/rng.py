"""Philox4x32-10 and bounded integers in plain Python integers."""

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
