"""Guards: ballots stay far ahead of NumPy, and near the memory's speed, with room for noise."""

import numpy as np
import pytest
from timing import interleave, read_call
from votes import every_rule_and_subset, exhaustive_loop, make_panel, numpy_tally

from ropoll_core import votes


@pytest.fixture(scope="module")
def panel():
    return make_panel(4_000_000, 7)


def best_ratio(calls):
    """How many times longer the best call of the peer takes than our best."""
    ours, peer = interleave(calls, rounds=15, burst=0.0).values()
    return peer.best / ours.best


def test_every_rule_and_subset_costs_one_pass(panel):
    found = every_rule_and_subset(*panel)
    assert found[0].gain == pytest.approx(exhaustive_loop(*panel), abs=1e-9)
    calls = {"ours": lambda: every_rule_and_subset(*panel), "loop": lambda: exhaustive_loop(*panel)}
    assert best_ratio(calls) > 12


def test_the_pass_keeps_up_with_memory(panel):
    read, n_bytes = read_call()
    calls = {"ours": lambda: votes.distinct_ballots(*panel), "read": read}
    assert best_ratio(calls) * (9 * 4_000_000 / n_bytes) > 0.2


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
