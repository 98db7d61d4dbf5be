"""The consensus law: distribution of the modal size and of a correct consensus.

Source: "LLMs as a Jury" (arXiv 2607.10139), in its general form: several shared attractors,
answers that nobody shares, and three ways to credit a tie.

p ~ Beta is the chance that a member is correct on a query, with mean `a` and intra-query
correlation `rho`; a wrong member lands on attractor j with probability s_j, else alone.

Every quantity is a sum of products of non-negative terms, without a subtraction, so it is
accurate to a few ulp at every limit (rho and a at 0 and 1) and needs no logarithm: the
beta-binomial is taken with q = 1 - rho as products of (a q + i rho), and 64-fold products of
such terms neither overflow nor lose a value above 1e-280.

Contract: 0 <= a, rho <= 1 and s_j >= 0 with sum at most 1; 1 <= n <= 64; `binomial` holds
binom(w, i) for w, i <= 64. A parameter set with a NaN gives NaN.
"""

cdef enum:
    WIDTH = 65  # member counts 0 to 64


cdef inline void beta_binomial_one(
    double a, double rho, Py_ssize_t n, const double[:, ::1] binomial, double* pmf
) noexcept nogil:
    """pmf[c] = Pr(c of n correct)."""
    cdef double q = 1.0 - rho, b = 1.0 - a, total = 1.0, rising = 1.0
    cdef double falling[WIDTH]
    cdef Py_ssize_t i, c
    # prod_{i<c} (a q + i rho) prod_{i<n-c} (b q + i rho) / prod_{i<n} (q + i rho). The factors
    # of i = 0 hold one q more above than below for 0 < c < n, and as many for c = 0 and n.
    falling[0] = 1.0
    falling[1] = 1.0
    for i in range(1, n):
        total *= q + i * rho
        falling[i + 1] = falling[i] * (b * q + i * rho)
    for c in range(n + 1):
        if c > 1:
            rising *= a * q + (c - 1) * rho
        pmf[c] = binomial[n, c] * (rising / total) * falling[n - c]
        if c == 0:
            pmf[c] *= b
        elif c == n:
            pmf[c] *= a
        else:
            pmf[c] *= a * b * q


cdef inline void wrong_sizes_one(
    const double* attractors, Py_ssize_t n_attractors, double alone, Py_ssize_t n,
    Py_ssize_t size, const double[:, ::1] binomial, double* reach,
) noexcept nogil:
    """reach[t (n + 1) + w] = Pr(of w wrong members no attractor has more than `size` and
    exactly t have `size`), for size >= 2: a recursion over the attractors.
    """
    cdef Py_ssize_t width = n + 1, j, w, t, i
    cdef double power[WIDTH]
    cdef double sum_, s
    for w in range(width):
        for t in range(w // size + 1):
            reach[t * width + w] = 0.0
        reach[w] = alone * reach[w - 1] if w > 0 else 1.0
    for j in range(n_attractors):
        s = attractors[j]
        if s == 0.0:
            continue
        power[0] = 1.0
        for i in range(1, size + 1):
            power[i] = power[i - 1] * s
        # Downwards, so that what is read still lacks this attractor.
        for w in range(n, 0, -1):
            for t in range(w // size, -1, -1):
                sum_ = 0.0
                for i in range(min(size - 1, w - t * size) + 1):
                    sum_ += binomial[w, i] * power[i] * reach[t * width + w - i]
                if t > 0:
                    sum_ += binomial[w, size] * power[size] * reach[(t - 1) * width + w - size]
                reach[t * width + w] = sum_


cdef inline void all_different_one(
    const double* attractors, Py_ssize_t n_attractors, double alone, Py_ssize_t n,
    double* reach,
) noexcept nogil:
    """reach[w] = Pr(w wrong members gave w different answers)."""
    cdef Py_ssize_t j, w
    reach[0] = 1.0
    for w in range(1, n + 1):
        reach[w] = alone * reach[w - 1]
    for j in range(n_attractors):
        for w in range(n, 0, -1):
            reach[w] += w * attractors[j] * reach[w - 1]


cdef inline void law_one(
    double a, double rho, const double* attractors, Py_ssize_t n_attractors, Py_ssize_t n,
    const double[:, ::1] binomial, double* reach,
    double* size_pmf, double* correct, double* uniform, double* strict, double* floor,
) noexcept nogil:
    """For each modal size g = 1..n, at index g - 1: Pr(g) and Pr(g and correct) by tie rule."""
    cdef double pmf[WIDTH]
    cdef double alone = 1.0, with_ties, some
    cdef Py_ssize_t width = n + 1, j, g, c, t, w
    beta_binomial_one(a, rho, n, binomial, pmf)
    for j in range(n_attractors):
        alone -= attractors[j]
    alone = max(alone, 0.0)

    all_different_one(attractors, n_attractors, alone, n, reach)
    size_pmf[0] = pmf[1] * reach[n - 1] + pmf[0] * reach[n]
    correct[0] = pmf[1] * reach[n - 1]
    uniform[0] = correct[0] / n
    strict[0] = correct[0] if n == 1 else 0.0

    for g in range(2, n + 1):
        wrong_sizes_one(attractors, n_attractors, alone, n, g, binomial, reach)
        w = n - g
        strict[g - 1] = pmf[g] * reach[w]
        correct[g - 1] = strict[g - 1]
        uniform[g - 1] = strict[g - 1]
        for t in range(1, w // g + 1):
            with_ties = pmf[g] * reach[t * width + w]
            correct[g - 1] += with_ties
            uniform[g - 1] += with_ties / (1 + t)
        size_pmf[g - 1] = correct[g - 1]
        for c in range(min(g, n - g + 1)):
            some = 0.0
            for t in range(1, (n - c) // g + 1):
                some += reach[t * width + n - c]
            size_pmf[g - 1] += pmf[c] * some
    # Unanimous and wrong; a panel of one is unanimous whatever it says.
    floor[0] = pmf[0] if n == 1 else pmf[0] * reach[width + n]


def law_rows(
    const double[::1] accuracy, const double[::1] correlation, const double[:, ::1] attractors,
    Py_ssize_t n, const double[:, ::1] binomial, double[::1] reach,
    double[:, ::1] size_pmf, double[:, :, ::1] correct, double[::1] floor,
    Py_ssize_t start, Py_ssize_t stop,
):
    """Evaluate parameter sets; `correct` is (3, n_sets, n) for ties correct, uniform, strict.

    `reach` is scratch of one thread, (n + 1) (n // 2 + 1) at least. `attractors` may have no
    column.
    """
    cdef Py_ssize_t n_attractors = attractors.shape[1], row
    cdef const double* slots = NULL
    with nogil:
        for row in range(start, stop):
            if n_attractors > 0:
                slots = &attractors[row, 0]
            law_one(
                accuracy[row], correlation[row], slots, n_attractors, n, binomial, &reach[0],
                &size_pmf[row, 0], &correct[0, row, 0], &correct[1, row, 0], &correct[2, row, 0],
                &floor[row],
            )
