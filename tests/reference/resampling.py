"""Plain twins of the resampling engine: draws one by one, statistics by their formulas."""

import itertools
import math

import numpy as np
from reference import rng


def _words(key, stream, group):
    """The 32-bit words of one group: first halves of 16 blocks, then second halves."""
    blocks = [rng.block(*key, stream, 16 * group + i) for i in range(16)]
    halves = [b[0] for b in blocks] + [b[1] for b in blocks]
    return [half >> shift & 0xFFFFFFFF for half in halves for shift in (0, 32)]


def _indices(key, stream, first_group, n_values, n_draws):
    """Two draws a word: the digits, to base n_values, of one draw below n_values ** 2."""
    square = n_values**2

    def accepted(word):
        return word * square % 2**32 >= 2**32 % square

    def words():
        for group in itertools.count(first_group):
            yield from _words(key, stream, group)

    source = words()
    first = [next(source) for _ in range(-(-n_draws // 2))]
    spares = (word for word in source if accepted(word))
    kept = [word if accepted(word) else next(spares) for word in first]
    pairs = [divmod(word * square >> 32, n_values) for word in kept]
    return list(itertools.chain.from_iterable(pairs))[:n_draws]


def draws(key, resample, n_tasks, few=8192, part=1024):
    """Task indices of one resample."""
    if n_tasks < few:
        return _indices(key, resample, 0, n_tasks, n_tasks)
    found, left = [], n_tasks
    for number, start in enumerate(range(0, n_tasks, part)):
        size = min(part, n_tasks - start)
        stream = resample | 1 << 63
        n = rng.binomial(*key, stream, number << 32, left, size, n_tasks - start)
        for piece, done in enumerate(range(0, n, 2048)):
            words = _indices(key, resample | number << 40, piece << 32, size, min(2048, n - done))
            found += [start + word for word in words]
        left -= n
    return found


def type_counts(key, resample, sizes):
    """How many of sum(sizes) draws fall on each type."""
    whole = left = sum(sizes)
    counts = []
    for number, size in enumerate(sizes):
        counts.append(rng.binomial(*key, resample | 1 << 63, number << 32, left, size, whole))
        left -= counts[-1]
        whole -= size
    return counts


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
