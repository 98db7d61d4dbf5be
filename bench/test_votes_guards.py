"""Guards: ballots stay far ahead of NumPy, and near the memory's speed, with room for noise."""

import numpy as np
import pytest
from timing import compare, interleave, read_call
from votes import every_rule_and_subset, exhaustive_loop, make_panel, numpy_tally

from ropoll_core import votes


@pytest.fixture(scope="module")
def panel():
    return make_panel(2_000_000, 7)


def best_ratio(calls, **options):
    timings = interleave(calls, rounds=7)
    (row,) = compare("", "", timings, "ours", **options)
    return row.high


def test_every_rule_and_subset_costs_one_pass(panel):
    found = every_rule_and_subset(*panel)
    assert found[0].gain == pytest.approx(exhaustive_loop(*panel), abs=1e-9)
    calls = {"ours": lambda: every_rule_and_subset(*panel), "loop": lambda: exhaustive_loop(*panel)}
    assert best_ratio(calls) > 20


def test_the_pass_keeps_up_with_memory(panel):
    read, n_bytes = read_call()
    calls = {"ours": lambda: votes.distinct_ballots(*panel), "read": read}
    share = best_ratio(calls, scale={"read": 9 * 2_000_000 / n_bytes})
    assert share > 0.25


def test_tally_is_ahead_of_numpy(panel):
    result = votes.tally(panel[0])
    for ours, plain in zip(
        (result.decision, result.ones, result.margin, result.tie, result.pivotal),
        numpy_tally(panel[0]),
        strict=True,
    ):
        np.testing.assert_array_equal(ours, plain)
    calls = {"ours": lambda: votes.tally(panel[0]), "numpy": lambda: numpy_tally(panel[0])}
    assert best_ratio(calls) > 2
