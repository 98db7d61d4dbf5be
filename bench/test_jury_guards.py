"""The jury's kernels must stay far ahead of their twins; room for a noisy machine."""

import jury
import numpy as np
import pytest
from timing import interleave

from ropoll_core import ConsensusLaw, consensus


def ratio(calls, rounds=5):
    timings = interleave(calls, rounds=rounds)
    return timings["twin"].best / timings["ours"].best


@pytest.mark.parametrize("kind", ["int64", "text", "objects"])
def test_consensus_against_pandas_groupby_mode(kind):
    codes = jury.answers(200_000)
    letters = np.array(list("ABCDEFGHIJ"))[codes]
    table = {"int64": codes, "text": letters, "objects": letters.astype(object)}[kind]
    # 200,000 rows against 2,000: a hundred times the work, and 20 times faster at it.
    twin = interleave(
        {"ours": lambda: consensus(table), "twin": lambda: jury.pandas_mode(table[:2_000])}
    )
    assert 100 * twin["twin"].best / twin["ours"].best > 20


def test_consensus_agrees_with_and_outruns_its_numpy_twin():
    codes = jury.answers(200_000)
    _, count, tie = jury.numpy_bincount(codes)
    ours = consensus(codes)
    np.testing.assert_array_equal(ours.count, count)
    np.testing.assert_array_equal(ours.tie, tie)
    twins = {"ours": lambda: consensus(codes), "twin": lambda: jury.numpy_bincount(codes)}
    assert ratio(twins) > 1.5


def test_law_of_many_parameter_sets():
    a, rho, masses = jury.law_parameters(20_000)
    law = ConsensusLaw(a, rho, masses)
    some = (a[:5], rho[:5], masses[:5])
    twins = {
        "ours": lambda: law.accuracy(4),
        "twin": lambda: [jury.law_by_loops(*one, 4) for one in zip(*some, strict=True)],
    }
    # 4,000 times the sets in less than 20 times the time.
    assert ratio(twins) > 1 / 20


def test_fit_with_its_intervals():
    table, gold = jury.fit_data()
    twins = {
        "ours": lambda: ConsensusLaw.fit(table, gold, n_resamples=2_000, rng=1),
        "twin": lambda: jury.fit_by_numpy(table, gold, 200),
    }
    # Ten times the resamples, with the law and what was measured, in less time.
    assert ratio(twins, rounds=3) > 1
