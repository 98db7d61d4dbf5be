"""Plain twins of the resampling engine: draws one by one, statistics by their formulas."""

import itertools
import math

import numpy as np
from reference import rng


def _words(key, resample, group, bits):
    """The words of one group: first halves of 16 blocks, then second halves."""
    blocks = [rng.block(*key, resample, 16 * group + i) for i in range(16)]
    halves = [b[0] for b in blocks] + [b[1] for b in blocks]
    mask = (1 << bits) - 1
    return [half >> shift & mask for half in halves for shift in range(0, 64, bits)]


def draws(key, resample, n_tasks):
    """Task indices of one resample."""
    bits = 16 if n_tasks < 65535 else 32
    threshold = (1 << bits) % n_tasks
    per_group = 2048 // bits

    def accepted(word):
        return (word * n_tasks) % (1 << bits) >= threshold

    def words():
        for group in itertools.count():
            yield from _words(key, resample, group, bits)

    stream = words()
    first = [next(stream) for _ in range(n_tasks)]
    assert per_group * bits == 2048
    spares = (word for word in stream if accepted(word))
    kept = [word if accepted(word) else next(spares) for word in first]
    return [word * n_tasks >> bits for word in kept]


def replicate_totals(key, moments, n_resamples):
    """Moment totals of each resample, (n_moments, n_resamples)."""
    moments = np.asarray(moments)
    return np.array(
        [moments[draws(key, r, len(moments))].sum(axis=0) for r in range(n_resamples)]
    ).T


def effective_votes(errors):
    """n_eff of a complete 0/1 error matrix, judges without variance left out."""
    errors = np.asarray(errors, dtype=float)
    errors = errors[:, errors.std(axis=0) > 0]
    k = errors.shape[1]
    if k < 2:
        return float(k) if k else math.nan
    phi = [np.corrcoef(errors[:, i], errors[:, j])[0, 1] for i in range(k) for j in range(i)]
    scale = 1 + (k - 1) * np.mean(phi)
    return math.inf if abs(scale) < 1e-12 else k / scale


def error_moments(errors):
    """Columns n, E_j, E_ij of an error matrix, and their names."""
    errors = np.asarray(errors)
    k = errors.shape[1]
    columns = {"n": np.ones(len(errors), dtype=np.int64)}
    columns |= {f"e{j}": errors[:, j] for j in range(k)}
    columns |= {
        f"e{i},{j}": errors[:, i] * errors[:, j] for i, j in itertools.combinations(range(k), 2)
    }
    names = (
        "n",
        [f"e{j}" for j in range(k)],
        [f"e{i},{j}" for i, j in itertools.combinations(range(k), 2)],
    )
    return columns, names


def jackknife(statistic, rows, tasks):
    """The statistic (a function of rows) without each task."""
    return np.array([statistic(rows[tasks != task]) for task in np.unique(tasks)])
