"""Guards: ballots stay far ahead of NumPy, and near the memory's speed, with room for noise."""

import numpy as np
import pytest
from timing import interleave, read_call
from votes import (
    every_rule_and_subset,
    exhaustive_loop,
    make_panel,
    numpy_moments,
    numpy_tally,
    subset_loop,
)

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
    assert best_ratio(calls) > 20


def test_the_pass_keeps_up_with_memory(panel):
    read, n_bytes = read_call()
    calls = {"ours": lambda: votes.distinct_ballots(*panel), "read": read}
    assert best_ratio(calls) * (9 * 4_000_000 / n_bytes) > 0.35


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


def test_small_calls_are_ahead_of_numpy():
    small, tasks = make_panel(3241, 7), np.arange(3241) // 7
    calls = {"ours": lambda: votes.substitution(*small), "loop": lambda: exhaustive_loop(*small)}
    assert best_ratio(calls) > 1.4
    moments = votes.task_moments(*small, tasks=tasks)
    plain = numpy_moments(*small, tasks)
    assert len(moments.data) == len(plain) == 42
    np.testing.assert_array_equal(moments.data["gain"], plain[2])
    np.testing.assert_array_equal(moments.data["errors", 6, 7], plain[-1])
    calls = {
        "ours": lambda: votes.task_moments(*small, tasks=tasks),
        "numpy": lambda: numpy_moments(*small, tasks),
    }
    assert best_ratio(calls) > 2


def test_sub_panels_by_task_are_ahead_of_numpy_without_tasks():
    nine, tasks = make_panel(3241, 9), np.arange(3241) // 7
    sweep = votes.subset_sweep(*nine, 5, tasks=tasks)
    assert sweep.gain == pytest.approx(subset_loop(*nine, sweep.members), abs=1e-9)
    calls = {
        "ours": lambda: votes.subset_sweep(*nine, 5, tasks=tasks),
        "loop": lambda: subset_loop(*nine, sweep.members),
    }
    assert best_ratio(calls) > 2
