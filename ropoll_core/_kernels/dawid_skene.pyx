"""Dawid-Skene for binary ballots: the expectation step, with the sums the next step needs.

Contract. Votes are 0, 1 or -1 (missing); rows come with counts. `log_odds[j, v]` is
log P(v | truth 1) - log P(v | truth 0) of judge j, finite; `log_zero[j, v]` is the second term;
`prior` holds log P(truth = 1) and log P(truth = 0). Rows are summed in order, by one thread, so
the result is the same every time.
"""

from libc.math cimport exp, log1p
from libc.stdint cimport int8_t, int64_t


cdef inline double log_sigmoid(double x) noexcept nogil:
    return -log1p(exp(-x)) if x > 0 else x - log1p(exp(x))


def expectation(
    const int8_t[:, ::1] votes,
    const int64_t[:] counts,
    const double[:, ::1] log_odds,
    const double[:, ::1] log_zero,
    const double[::1] prior,
    double[::1] posterior,
    double[:, :, ::1] expected,
):
    """Fill `posterior`, add up expected[j, truth, vote], and return the log-likelihood."""
    cdef Py_ssize_t i, j, n_judges = votes.shape[1]
    cdef double odds, zero, one, likelihood = 0
    cdef int8_t vote
    with nogil:
        expected[:, :, :] = 0
        for i in range(votes.shape[0]):
            odds = prior[0] - prior[1]
            zero = prior[1]
            for j in range(n_judges):
                vote = votes[i, j]
                if vote >= 0:
                    odds += log_odds[j, vote]
                    zero += log_zero[j, vote]
            one = exp(log_sigmoid(odds))
            posterior[i] = one
            likelihood += counts[i] * (zero - log_sigmoid(-odds))
            for j in range(n_judges):
                vote = votes[i, j]
                if vote >= 0:
                    expected[j, 1, vote] += counts[i] * one
                    expected[j, 0, vote] += counts[i] * exp(log_sigmoid(-odds))
    return likelihood
