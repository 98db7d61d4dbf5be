"""Simulated juries, corrupted scores, sweeps and correlations, the obvious way."""

import math

import numpy as np
from reference.rng import block
from scipy.special import ndtri

from ropoll_core._kernels.counter_rng import subkey
from ropoll_core._rng import as_key

TRUTH, SHARED, OWN, FAILURE, MEMBER, CORRUPTED, VALUE = 0, 1, 2, 3, 4, 5, 16
RINGLEADER = 4095


class Draws:
    """The random numbers of one `rng`, one at a time."""

    def __init__(self, rng):
        self.key = subkey(*as_key(rng), int.from_bytes(b"contamin"))

    def words(self, replicate, purpose, item, judge, attribute):
        index = item << 24 | judge << 12 | attribute
        return block(*self.key, replicate << 8 | purpose, index)

    def uniform(self, *place):
        return (self.words(*place)[0] >> 11) * 2.0**-53

    def normals(self, *place):
        return [float(ndtri(((word >> 12) + 0.5) * 2.0**-52)) for word in self.words(*place)]


def simulate(n_items, n_judges, n_attributes, *, scale, sigma, correlation, failure_rate, rng):
    draws = Draws(rng)
    low, high = scale
    truth = np.empty((n_items, n_attributes))
    scores = np.empty((n_items, n_judges, n_attributes))
    for item in range(n_items):
        for a in range(n_attributes):
            truth[item, a] = low + (high - low) * draws.uniform(0, TRUTH, item, 0, a)
            common = draws.normals(0, SHARED, item, 0, a)[0]
            for judge in range(n_judges):
                own = draws.normals(0, OWN, item, judge, a)[0]
                error = math.sqrt(correlation) * common + math.sqrt(1 - correlation) * own
                scores[item, judge, a] = truth[item, a] + sigma[judge] * error
        for judge in range(n_judges):
            if draws.uniform(0, FAILURE, item, judge, 0) < failure_rate[judge]:
                scores[item, judge] = np.nan
    return truth, scores


def corrupt(truth, scores, kind, *, rate, scale, replicate=0, colluding=False, rng):
    draws = Draws(rng)
    low, high = scale
    out, hit = scores.copy(), np.zeros(scores.shape[:2], dtype=bool)
    for item, judge in np.ndindex(hit.shape):
        if np.isnan(scores[item, judge]).any():
            out[item, judge] = np.nan
            continue
        if draws.uniform(replicate, CORRUPTED, item, judge, 0) >= rate[judge]:
            continue
        hit[item, judge] = True
        for a, true in enumerate(truth[item]):
            speaker = RINGLEADER if colluding else judge
            first, second = draws.normals(replicate, VALUE, item, speaker, a)
            out[item, judge, a] = {
                "zeros": 0.0,
                "inverted": low + high - true,
                "bimodal-random": low if first < 0 else high,
                "cauchy-far": true + 10 + 2 * (high - low) * first / second,
                "sycophantic": high,
                "noisy-gt": min(max(true + 0.8 * first, low), high),
            }[kind]
    return out, hit


def pearson_pairs(columns, valid):
    """Mean correlation of the pairs of columns that have one, and how many have none."""
    found, undefined = [], 0
    n_judges = columns.shape[1]
    for i in range(n_judges):
        for j in range(i):
            both = valid[:, i] & valid[:, j]
            x, y = columns[both, i], columns[both, j]
            if both.sum() < 2 or len(set(x)) == 1 or len(set(y)) == 1:
                undefined += 1
            else:
                found.append(np.corrcoef(x, y)[0, 1])
    return (np.mean(found) if found else np.nan), undefined
