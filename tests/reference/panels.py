"""Panels of every kind that a geometric median has to get right, easy and hostile.

Each family is a function (rng, n, d) -> one panel (n, d) in float64. `FAMILIES` has them all by
name; `ORDINARY` names those that a user meets, where nothing may fail to certify.
"""

from __future__ import annotations

import numpy as np


def gaussian(rng, n, d):
    return rng.normal(size=(n, d))


def corrupted(rng, n, d):
    """Gaussian with 30 % of the judges far off."""
    panel = rng.normal(size=(n, d))
    panel[rng.random(n) < 0.3] += 10
    return panel


def likert(rng, n, d):
    """Integers 1..5 with judges that gave zeros and judges that agree to the letter."""
    panel = rng.integers(1, 6, size=(n, d)).astype(float)
    panel[rng.random(n) < 0.15] = 0
    copies = rng.random(n) < 0.3
    panel[copies] = panel[rng.integers(n, size=copies.sum())]
    return panel


def binary(rng, n, d):
    return rng.integers(0, 2, size=(n, d)).astype(float)


def graded(rng, n, d):
    return rng.integers(0, 5, size=(n, d)) / 4


def continuous(rng, n, d):
    return rng.random(size=(n, d))


def all_equal(rng, n, d):
    return np.repeat(rng.normal(size=(1, d)), n, axis=0)


def collinear(rng, n, d):
    """On a line exactly: whole numbers."""
    start, step = rng.integers(-5, 6, size=(2, d)).astype(float)
    return start + rng.integers(-9, 10, size=(n, 1)) * step


def collinear_rounded(rng, n, d):
    """On a line but for the rounding of the coordinates."""
    start, step = rng.normal(size=(2, d))
    return start + rng.normal(size=(n, 1)) * step


def near_collinear(size):
    def family(rng, n, d):
        return collinear_rounded(rng, n, d) + size * rng.normal(size=(n, d))

    return family


def clustered(rng, n, d):
    """Three clusters, tight beside their distance."""
    centres = rng.normal(size=(3, d))
    return centres[rng.integers(3, size=n)] + 10.0 ** rng.uniform(-9, -2) * rng.normal(size=(n, d))


def two_clusters(rng, n, d):
    """Two clusters of equal mass (n even): the objective is almost flat between them."""
    centres = rng.normal(size=(2, d))
    return centres[np.arange(n) % 2] + 10.0 ** rng.uniform(-9, -2) * rng.normal(size=(n, d))


def near_duplicates(rng, n, d):
    """A few vectors, each many times but for the last digits."""
    centres = rng.normal(size=(max(n // 3, 1), d))
    noise = 10.0 ** rng.uniform(-15, -9) * rng.normal(size=(n, d))
    return centres[rng.integers(len(centres), size=n)] + noise


def outliers(size):
    """One to floor((n - 1) / 2) judges of the given size, in random directions."""

    def family(rng, n, d):
        panel = rng.normal(size=(n, d))
        if n >= 3:
            far = rng.permutation(n)[: rng.integers(1, (n - 1) // 2 + 1)]
            panel[far] = size * rng.uniform(-1, 1, size=(len(far), d))
        return panel

    return family


def mixed_judges(rng, n, d):
    """Each judge on a scale of its own, 1e-12 to 1e12."""
    return rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-12, 12, size=(n, 1))


def mixed_attributes(rng, n, d):
    """Each attribute on a scale of its own, 1e-12 to 1e12."""
    return rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-12, 12, size=d)


def offset(rng, n, d):
    return rng.normal(size=(n, d)) + 1e9


def scaled(size):
    def family(rng, n, d):
        return size * rng.normal(size=(n, d))

    return family


def subnormal(rng, n, d):
    """A few units of the smallest number there is."""
    return rng.integers(-50, 51, size=(n, d)) * 5e-324


def largest(rng, n, d):
    """Near the largest finite number, on both sides."""
    return np.finfo(float).max * rng.uniform(-1, 1, size=(n, d))


def tight(rng, n, d):
    """Judge 0 is the median and the others' pull is its own weight, to the last digit.

    Opposite pairs cancel; what is left is one judge, or two at an angle of 120 degrees.
    """
    if d == 1 or n < 3:
        return gaussian(rng, n, d)
    panel = np.zeros((n, d))
    rest = 1 if n % 2 == 0 else 2
    axes = np.linalg.qr(rng.normal(size=(d, d)))[0] if n % 3 else np.eye(d)
    angle = 0.0 if rest == 1 else np.pi / 3
    for k in range(rest):
        arm = np.cos(angle) * axes[0] + (-1) ** k * np.sin(angle) * axes[1]
        panel[1 + k] = rng.uniform(0.5, 5) * arm
    for k in range(1 + rest, n - 1, 2):
        arm = rng.normal(size=d)
        panel[k], panel[k + 1] = arm * rng.uniform(0.5, 5), -arm * rng.uniform(0.5, 5)
    return panel + rng.integers(-3, 4, size=d)


def near_tight(rng, n, d):
    """`tight`, turned by 1e-3 to 1e-15 to one side or the other."""
    panel = tight(rng, n, d)
    return panel + 10.0 ** rng.uniform(-15, -3) * rng.normal(size=(n, d))


def symmetric(rng, n, d):
    """Opposite pairs: the median is their centre and no judge is there (n even)."""
    arms = rng.normal(size=(n - n // 2, d))
    return np.concatenate([arms, -arms])[:n]


def simplex(rng, n, d):
    """Axis vectors: every pair equally far apart."""
    panel = np.zeros((n, d))
    panel[np.arange(n), np.arange(n) % d] = 1 + np.arange(n) // d
    return panel


FAMILIES = {
    "gaussian": gaussian,
    "corrupted": corrupted,
    "likert": likert,
    "binary": binary,
    "graded": graded,
    "continuous": continuous,
    "all equal": all_equal,
    "collinear": collinear,
    "collinear, rounded": collinear_rounded,
    **{f"near collinear {size:g}": near_collinear(size) for size in (1e-6, 1e-8, 1e-10)},
    **{f"near collinear {size:g}": near_collinear(size) for size in (1e-12, 1e-14)},
    "clustered": clustered,
    "two clusters": two_clusters,
    "near duplicates": near_duplicates,
    **{f"outliers {size:g}": outliers(size) for size in (1e3, 1e6, 1e12, 1e30)},
    **{f"outliers {size:g}": outliers(size) for size in (1e100, 1e154, 1e200, 1e307, 1.7e308)},
    "mixed judges": mixed_judges,
    "mixed attributes": mixed_attributes,
    "offset": offset,
    **{f"times {size:g}": scaled(size) for size in (1e-200, 1e-30, 1e30, 1e200)},
    "subnormal": subnormal,
    "largest": largest,
    "tight": tight,
    "near tight": near_tight,
    "symmetric": symmetric,
    "simplex": simplex,
}

ORDINARY = (
    "gaussian",
    "corrupted",
    "likert",
    "binary",
    "graded",
    "continuous",
    "all equal",
    "collinear",
    "clustered",
    "outliers 1000",
    "outliers 1e+06",
    "tight",
    "symmetric",
    "simplex",
)


def with_missing(rng, panels, share=0.15):
    """A copy with NaN strewn in: a whole judge, or one attribute of a judge."""
    panels = panels.copy()
    panels[rng.random(panels.shape[:-1]) < share / 2] = np.nan
    panels[rng.random(panels.shape) < share / 2 / panels.shape[-1]] = np.nan
    return panels


def with_weights(rng, shape):
    """Weights over four decades with zeros among them, never all zero."""
    weights = 10.0 ** rng.uniform(-2, 2, size=shape)
    weights[rng.random(shape) < 0.2] = 0
    weights[..., 0] = np.maximum(weights[..., 0], 0.5)
    return weights
