"""Plain twins of the jury area: the obvious, however slow."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import mpmath
import numpy as np


def modal_classes(row):
    """(classes with the largest count in order of first sight, that count, valid answers)."""
    valid = [x for x in row if x is not None]
    counts = Counter(valid)
    if not counts:
        return [], 0, 0
    best = max(counts.values())
    return [x for x in counts if counts[x] == best], best, len(valid)


def credit(row, gold, rule):
    """Credit of a row whose consensus is graded by a tie rule of the law."""
    modal, _, _ = modal_classes(row)
    if gold not in modal:
        return 0.0
    if rule == "correct":
        return 1.0
    return 1.0 / len(modal) if rule == "uniform" else float(len(modal) == 1)


def beta_binomial(a, rho, n, c):
    """Pr(c of n correct) for 0 < rho < 1, from the Beta function, in the arithmetic of mpmath."""
    k = 1 / mpmath.mpf(rho) - 1
    alpha, beta = mpmath.mpf(a) * k, (1 - mpmath.mpf(a)) * k
    return mpmath.binomial(n, c) * mpmath.beta(c + alpha, n - c + beta) / mpmath.beta(alpha, beta)


def exact_beta_binomial(a, rho, n, c):
    """The same with rational numbers, from E[p^c (1-p)^(n-c)]; rho = 0 and 1 included."""
    a, rho = Fraction(a), Fraction(rho)
    if rho == 1:
        return a if c == n else 1 - a if c == 0 else Fraction(0)
    r = rho / (1 - rho)
    value = Fraction(math.comb(n, c))
    for i in range(c):
        value *= a + i * r
    for i in range(n - c):
        value *= 1 - a + i * r
    for i in range(n):
        value /= 1 + i * r
    return value


def law_by_enumeration(a, rho, attractors, n):
    """Every way n members can answer, with rational numbers.

    Returns {g: Pr(modal size g)} and {rule: {g: Pr(g and correct)}}.
    """
    masses = [Fraction(s) for s in attractors]
    alone = 1 - sum(masses)
    size = {g: Fraction(0) for g in range(1, n + 1)}
    correct = {rule: dict(size) for rule in ("correct", "uniform", "strict")}
    for c in range(n + 1):
        chance_c = exact_beta_binomial(a, rho, n, c)
        for where in itertools.product(range(len(masses) + 1), repeat=n - c):
            chance = chance_c
            row = ["right"] * c
            for member, slot in enumerate(where):
                chance *= masses[slot] if slot < len(masses) else alone
                row.append(slot if slot < len(masses) else ("alone", member))
            modal, g, _ = modal_classes(row)
            size[g] += chance
            if "right" in modal:
                correct["correct"][g] += chance
                correct["uniform"][g] += chance / len(modal)
                correct["strict"][g] += chance if len(modal) == 1 else 0
    return size, correct


def law_in_high_precision(a, rho, attractors, n, digits=50):
    """Accuracy by tie rule, size distribution and floor by exponential generating functions.

    Another road than the kernel's: for each bound m the number of ways is the coefficient of
    x^w in exp(alone x) prod_j sum_{i <= m} (s_j x)^i / i!, and sizes are differences over m.
    """
    with mpmath.workdps(digits + 40):
        masses = [mpmath.mpf(s) for s in attractors]
        alone = max(1 - mpmath.fsum(masses), mpmath.mpf(0))
        pmf = [_pmf(a, rho, n, c) for c in range(n + 1)]
        below = {m: _bounded(masses, alone, n, m) for m in range(n + 1)}
        accuracy = dict.fromkeys(("correct", "uniform", "strict"), mpmath.mpf(0))
        for c in range(1, n + 1):
            by_ties = _with_ties(masses, alone, n, c)
            accuracy["correct"] += pmf[c] * below[c][n - c]
            accuracy["strict"] += pmf[c] * below[c - 1][n - c]
            accuracy["uniform"] += pmf[c] * mpmath.fsum(
                chance / (1 + t) for t, chance in by_ties.items()
            )
        at_most = [
            mpmath.fsum(pmf[c] * below[m][n - c] for c in range(m + 1)) for m in range(n + 1)
        ]
        size = [at_most[g] - at_most[g - 1] for g in range(1, n + 1)]
        floor = pmf[0] * (mpmath.fsum(s**n for s in masses) if n > 1 else 1)
        return accuracy, size, floor


def _pmf(a, rho, n, c):
    if 0 < rho < 1 and 0 < a < 1:
        return beta_binomial(a, rho, n, c)
    if rho == 1 or a in (0, 1):
        return mpmath.mpf(a) if c == n else 1 - mpmath.mpf(a) if c == 0 else mpmath.mpf(0)
    return mpmath.binomial(n, c) * mpmath.mpf(a) ** c * (1 - mpmath.mpf(a)) ** (n - c)


def _times(left, right, n):
    return [mpmath.fsum(left[i] * right[w - i] for i in range(w + 1)) for w in range(n + 1)]


def _bounded(masses, alone, n, m):
    """Pr(no wrong class above m | w wrong) for w = 0..n."""
    if m == 0:
        return [mpmath.mpf(w == 0) for w in range(n + 1)]
    series = [alone**w / mpmath.factorial(w) for w in range(n + 1)]
    for s in masses:
        one = [s**i / mpmath.factorial(i) if i <= m else mpmath.mpf(0) for i in range(n + 1)]
        series = _times(series, one, n)
    return [series[w] * mpmath.factorial(w) for w in range(n + 1)]


def _with_ties(masses, alone, n, c):
    """{t: Pr(no wrong class above c and exactly t of size c | n - c wrong)}."""
    w = n - c
    if c == 1:
        return {w: _bounded(masses, alone, n, 1)[w]}
    series = {0: [alone**i / mpmath.factorial(i) for i in range(w + 1)]}
    for s in masses:
        less = [s**i / mpmath.factorial(i) if i < c else mpmath.mpf(0) for i in range(w + 1)]
        full = [s**i / mpmath.factorial(i) if i == c else mpmath.mpf(0) for i in range(w + 1)]
        update = {}
        for t, old in series.items():
            for extra, factor in ((0, less), (1, full)):
                new = _times(old, factor, w)
                before = update.get(t + extra, [mpmath.mpf(0)] * (w + 1))
                update[t + extra] = [x + y for x, y in zip(before, new, strict=True)]
        series = update
    return {t: s[w] * mpmath.factorial(w) for t, s in series.items()}


def law_inputs(rows, gold, n_slots):
    """(a, rho, profile) of complete rows: means, numpy.corrcoef over pairs, sorted classes."""
    errors = np.array([[x != g for x in row] for row, g in zip(rows, gold, strict=True)], float)
    varied = errors[:, errors.std(axis=0) > 0]
    phi = [
        np.corrcoef(varied[:, i], varied[:, j])[0, 1]
        for i, j in itertools.combinations(range(varied.shape[1]), 2)
    ]
    slots = np.zeros(n_slots)
    for row, g in zip(rows, gold, strict=True):
        sizes = sorted(Counter(x for x in row if x != g).values(), reverse=True)
        for j, size in enumerate(sizes[:n_slots]):
            slots[j] += size
    return 1 - errors.mean(), np.mean(phi), slots / errors.sum()


def select(pool, panel):
    """(jury's index, support, self-consistency's index) of one query."""
    usable = [i for i, x in enumerate(pool) if x is not None]
    if not usable:
        return -1, 0, -1
    jury = max(usable, key=lambda i: (panel.count(pool[i]), pool.count(pool[i]), -i))
    frequent = max(usable, key=lambda i: (pool.count(pool[i]), -i))
    return jury, panel.count(pool[jury]), frequent


def cascade(rows, gold, rule):
    """Accuracy, escalation and mean calls over all pairs, query by query."""
    right, escalated, n = 0.0, 0, 0
    for row, g in zip(rows, gold, strict=True):
        for i, j in itertools.combinations(range(len(row)), 2):
            n += 1
            if row[i] is not None and row[i] == row[j]:
                right += row[i] == g
            else:
                escalated += 1
                right += credit(row, g, rule)
    rate = escalated / n
    return right / n, rate, 2 + (len(rows[0]) - 2) * rate


def dial(rows, gold, rule):
    """{agreement: (coverage, accuracy)}."""
    levels, credits = [], []
    for row, g in zip(rows, gold, strict=True):
        _, count, n_valid = modal_classes(row)
        levels.append(Fraction(count, n_valid) if n_valid else Fraction(-1))
        credits.append(credit(row, g, rule))
    out = {}
    for level in sorted({x for x in levels if x > 0}, reverse=True):
        kept = [c for c, x in zip(credits, levels, strict=True) if x >= level]
        out[level] = (len(kept) / len(rows), sum(kept) / len(kept))
    return out
