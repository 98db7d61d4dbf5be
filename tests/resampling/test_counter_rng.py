"""The counter-based streams: published vectors, exactness, and the laws drawn from them."""

import numpy as np
import pytest
from reference import rng as reference
from scipy import special, stats

from ropoll_core._kernels import counter_rng
from ropoll_core._rng import as_key

KEY = as_key(20240607)


def filled(name, n, *, key=KEY, stream=0, start=0, dtype=np.float64, extra=()):
    out = np.empty(n, dtype=dtype)
    getattr(counter_rng, name)(*key, stream, start, *extra, out)
    return out


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [  # Random123's known answers for philox4x32, 10 rounds
        (
            (0, 0, 0, 0),
            (0, 0),
            (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8),
        ),
        (
            (0xFFFFFFFF,) * 4,
            (0xFFFFFFFF,) * 2,
            (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD),
        ),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)
def test_published_vectors(counter, key, expected):
    assert reference.philox(counter, key) == expected
    high = key[1] << 32 | key[0]
    index, stream = counter[1] << 32 | counter[0], counter[3] << 32 | counter[2]
    # Word 2 * index of a stream is the first half of block `index`.
    if 2 * index < 2**64:
        words = filled(
            "fill_bits", 2, key=(high, 0), stream=stream, start=2 * index, dtype=np.uint64
        )
        assert int(words[0]) == expected[1] << 32 | expected[0]
        assert int(words[1]) == expected[3] << 32 | expected[2]


def test_stream_equals_the_plain_twin_and_has_no_pieces():
    whole = filled("fill_bits", 101, stream=7, start=3, dtype=np.uint64)
    twin = [reference.block(*KEY, 7, i // 2)[i % 2] for i in range(3, 104)]
    assert whole.tolist() == twin
    pieces = [
        filled("fill_bits", stop - start, stream=7, start=3 + start, dtype=np.uint64)
        for start, stop in [(0, 1), (1, 50), (50, 101)]
    ]
    np.testing.assert_array_equal(np.concatenate(pieces), whole)


def test_keys_and_streams_differ():
    seen = {
        filled("fill_bits", 4, key=key, stream=stream, dtype=np.uint64).tobytes()
        for key in (KEY, as_key(1), (KEY[0] ^ 1, KEY[1]), counter_rng.subkey(*KEY, 5))
        for stream in (0, 1, 2**40)
    }
    assert len(seen) == 12


@pytest.mark.parametrize("n", [1, 2, 3, 463, 2**32 + 1, 3 * 2**61, 2**63 - 1])
def test_bounded_equals_the_plain_twin(n):
    values = filled("fill_bounded", 64, stream=2, dtype=np.int64, extra=(n,))
    assert values.tolist() == [reference.bounded(*KEY, 2, i, n) for i in range(64)]


def test_bounded_rejects_where_it_must():
    # At n = 3 * 2^61 a quarter of the words is rejected: some element needs a second block.
    def first_block_fails(i, n=3 * 2**61):
        return all(w * n % 2**64 < 2**64 % n for w in reference.block(*KEY, 2, i))

    assert any(first_block_fails(i) for i in range(64))


def test_bounded_is_uniform():
    values = filled("fill_bounded", 200_000, stream=11, dtype=np.int64, extra=(7,))
    assert stats.chisquare(np.bincount(values, minlength=7)).pvalue > 1e-3


def test_log_and_quantile_against_scipy():
    x = np.concatenate([np.geomspace(1e-300, 1e300, 5001), np.linspace(0.5, 2.0, 5001)])
    out = np.empty_like(x)
    counter_rng.log_rows(x, out)
    np.testing.assert_allclose(out, np.log(x), rtol=4e-16, atol=0)
    p = np.concatenate([np.geomspace(1e-300, 0.5, 5001), np.linspace(0.5, 1 - 1e-9, 5001)])
    counter_rng.quantile_rows(p, out)
    np.testing.assert_allclose(out, special.ndtri(p), rtol=2e-14, atol=1e-15)


@pytest.mark.parametrize(
    ("name", "law"),
    [("fill_uniform", "uniform"), ("fill_normal", "norm"), ("fill_cauchy", "cauchy")],
)
def test_laws(name, law):
    values = filled(name, 100_000, stream=3)
    assert np.isfinite(values).all()
    assert stats.kstest(values, law).pvalue > 1e-3


def test_uniform_range_and_exact_bits():
    bits = filled("fill_bits", 1000, stream=3, dtype=np.uint64)
    values = filled("fill_uniform", 1000, stream=3)
    np.testing.assert_array_equal(values, (bits >> np.uint64(11)) / 2.0**53)
    assert values.min() >= 0
    assert values.max() < 1


def test_normals_keep_their_bits():
    # Fixed values: a change here is a change of every simulated study.
    values = filled("fill_normal", 4, key=(1, 2), stream=3)
    words = [reference.block(1, 2, 3, i // 2)[i % 2] for i in range(4)]
    expected = special.ndtri([((w >> 12) + 0.5) / 2**52 for w in words])
    np.testing.assert_allclose(values, expected, rtol=1e-14)


@pytest.mark.parametrize(
    ("n", "part", "whole"),
    [
        (20, 1, 2),
        (20, 1, 7),
        (5000, 1, 5000),
        (5000, 12, 5000),
        (1000, 400, 1000),
        (1000, 950, 1000),
        (10**6, 3, 10**6),
        (10**6, 123_456, 10**6),
        (7, 7, 7),
        (0, 1, 2),
        (9, 0, 4),
    ],
)
def test_binomials(n, part, whole):
    out = np.empty(20_000, dtype=np.int64)
    counter_rng.fill_binomial(*KEY, 5, n, part, whole, out)
    twin = [reference.binomial(*KEY, 5, i << 32, n, part, whole) for i in range(300)]
    assert out[:300].tolist() == twin
    law = stats.binom(n, part / whole)
    if law.var() == 0:
        assert (out == law.mean()).all()
        return
    edges = np.unique(law.ppf(np.linspace(0, 1, 21)[1:-1]))
    seen = np.bincount(np.searchsorted(edges, out), minlength=edges.size + 1)
    expected = np.diff(law.cdf(edges), prepend=0, append=1) * out.size
    kept = expected > 5
    assert (
        stats.chisquare(seen[kept], expected[kept] * seen[kept].sum() / expected[kept].sum()).pvalue
        > 1e-3
    )
    assert seen[~kept].sum() <= 40
