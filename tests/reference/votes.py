"""Plain twins of the ballot analysis: loops over queries, judges and replacements."""

import collections
import itertools
from fractions import Fraction

import numpy as np


def random_panel(seed, n, k, missing=0.0):
    """Ballots, signal and labels that lean towards the truth, with gaps."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n).astype(np.int8)
    votes = np.where(rng.random((n, k)) < 0.65, labels[:, None], 1 - labels[:, None])
    signal = np.where(rng.random(n) < 0.85, labels, 1 - labels)
    for array in (votes, signal, labels):
        array[rng.random(array.shape) < missing] = -1
    return votes.astype(np.int8), signal.astype(np.int8), labels


def decide(row, weights=None, tie=0):
    """Decision of one row of ballots, None where nobody voted."""
    weights = [1] * len(row) if weights is None else weights
    seats = [(int(v), w) for v, w in zip(row, weights, strict=True) if v >= 0 and w > 0]
    if not seats:
        return None
    ones = sum(w for v, w in seats if v == 1)
    zeros = sum(w for v, w in seats if v == 0)
    return 1 if ones > zeros else 0 if ones < zeros else tie


def seats_of(row, weights=None):
    return [j for j in range(len(row)) if row[j] >= 0 and (weights is None or weights[j] > 0)]


def is_pivotal(row, weights=None, tie=0):
    """Whether moving one ballot to the other side changes the decision."""
    now = decide(row, weights, tie)
    for j in seats_of(row, weights):
        moved = list(row)
        moved[j] = 1 - moved[j]
        if decide(moved, weights, tie) != now:
            return True
    return False


def replaced_judges(row, rule, weights=None):
    """The judges a rule may replace, each with equal probability."""
    seats = seats_of(row, weights)
    if rule == "uniform":
        return seats
    if rule == "majority":
        now = decide(row, weights)
        side = [j for j in seats if row[j] == now]
        return side
    return [j for j in seats if j == rule]


def probability_of_one(row, signal, rule, weights=None):
    """Expected decision after the replacement, as a fraction."""
    now = decide(row, weights)
    chosen = replaced_judges(row, rule, weights)
    if signal < 0 or not chosen:
        return Fraction(now)
    total = 0
    for j in chosen:
        after = list(row)
        after[j] = int(signal)
        total += decide(after, weights)
    return Fraction(total, len(chosen))


def stratum(row):
    k = sum(v >= 0 for v in row)
    lean = 2 * sum(v == 1 for v in row) - k
    return abs(lean) if k % 2 else lean


def substitution(votes, signal, labels, rule, weights=None):
    """Total gain, and (n, errors, gain) by stratum, as fractions."""
    strata = {}
    total = Fraction(0)
    for i, row in enumerate(votes.tolist()):
        w = None if weights is None else (weights if weights.ndim == 1 else weights[i]).tolist()
        before, label = decide(row, w), int(labels[i])
        if before is None or label < 0:
            continue
        after = probability_of_one(row, int(signal[i]), rule, w)
        gain = (after if label else 1 - after) - (before == label)
        key = stratum(row) if w is None else int(is_pivotal(row, w))
        n, errors, gained = strata.get(key, (0, 0, Fraction(0)))
        strata[key] = (n + 1, errors + (before != label), gained + gain)
        total += gain
    return total, strata


def phi_matrix(errors):
    """Pearson correlations, pair by pair, over the queries both answered."""
    k = errors.shape[1]
    phi = np.full((k, k), np.nan)
    for i in range(k):
        for j in range(k):
            both = (errors[:, i] >= 0) & (errors[:, j] >= 0)
            x, y = errors[both, i].astype(float), errors[both, j].astype(float)
            if both.any() and x.std() > 0 and y.std() > 0:
                phi[i, j] = ((x - x.mean()) * (y - y.mean())).mean() / (x.std() * y.std())
    return phi


def judge_counts(votes, labels, judge):
    """(tp, fp, tn, fn) of one judge, query by query."""
    tp = fp = tn = fn = 0
    for vote, label in zip(votes[:, judge].tolist(), labels.tolist(), strict=True):
        if vote < 0 or label < 0:
            continue
        tp += vote == 1 and label == 1
        fp += vote == 1 and label == 0
        tn += vote == 0 and label == 0
        fn += vote == 0 and label == 1
    return tp, fp, tn, fn


def majority_odds(accuracies, label):
    """Probability that independent judges decide rightly, over all outcomes."""
    total = 0.0
    for outcome in itertools.product((0, 1), repeat=len(accuracies)):
        odds = np.prod(
            [p if right else 1 - p for p, right in zip(accuracies, outcome, strict=True)]
        )
        ballots = [label if right else 1 - label for right in outcome]
        total += odds * (decide(ballots) == label)
    return total


def dawid_skene(votes, smoothing, n_iter):
    """Expectation-maximisation on every query, with products of probabilities."""
    n, k = votes.shape
    posterior = np.array([np.mean(row[row >= 0]) for row in votes])
    for _ in range(n_iter):
        share = (posterior.sum() + smoothing) / (n + 2 * smoothing)
        rates = np.empty((k, 2, 2))
        for j in range(k):
            for truth, weight in ((0, 1 - posterior), (1, posterior)):
                sums = [weight[votes[:, j] == v].sum() + smoothing for v in (0, 1)]
                rates[j, truth] = np.array(sums) / sum(sums)
        like = np.ones((n, 2)) * [1 - share, share]
        for j in range(k):
            for v in (0, 1):
                like[votes[:, j] == v] *= rates[j, :, v]
        posterior = like[:, 1] / like.sum(axis=1)
    return posterior, share, rates[:, 1, 1], rates[:, 0, 0]


def winner(row):
    """The class with most ballots; None for a tie or no ballots."""
    counts = collections.Counter(v for v in row if v is not None).most_common()
    if not counts or (len(counts) > 1 and counts[0][1] == counts[1][1]):
        return None
    return counts[0][0]


def plurality(row, signal, gold, rule):
    """(right before, expected right after, pivotal, lead) of one query."""
    seats = [j for j, v in enumerate(row) if v is not None]
    now = winner(row)
    counts = [n for _, n in collections.Counter(row[j] for j in seats).most_common()]
    lead = 0 if now is None else counts[0] - (counts[1] if len(counts) > 1 else 0)
    chosen = seats
    if rule == "majority":
        chosen = [j for j in seats if row[j] == now]
    elif rule != "uniform":
        chosen = [j for j in seats if j == rule]

    def after(j, answer):
        return winner([answer if i == j else v for i, v in enumerate(row)])

    pivotal = any(after(j, c) != now for j in seats for c in {*[row[i] for i in seats], "unseen"})
    right = now is not None and now == gold
    expected = Fraction(int(right))
    if signal is not None and chosen:
        expected = Fraction(sum(after(j, signal) == gold for j in chosen), len(chosen))
    return right, expected, pivotal, lead
