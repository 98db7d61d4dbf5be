"""Ballots: substitution, tallies, sub-panels and the permutation null beside NumPy.

Run as a script for the table; `measure` gives it to other code. One thread throughout.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
from timing import Row, compare, interleave, print_rows, read_call

from ropoll_core import votes

__all__ = ["every_rule_and_subset", "exhaustive_loop", "make_panel", "measure"]

Panel = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]


def make_panel(n_queries: int, n_judges: int, seed: int = 0) -> Panel:
    """Ballots right 70 % of the time, a signal right 88 % of the time."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n_queries, dtype=np.int8)
    right = rng.random((n_queries, n_judges), dtype=np.float32) < 0.7
    ballots = np.where(right, labels[:, None], 1 - labels[:, None]).astype(np.int8)
    signal = np.where(rng.random(n_queries) < 0.88, labels, 1 - labels).astype(np.int8)
    return ballots, signal, labels


def exhaustive_loop(ballots: Any, signal: Any, labels: Any) -> float:
    """Uniform gain by replacing each ballot in turn: what a careful user writes in NumPy."""
    k = ballots.shape[1]
    ones = ballots.sum(axis=1, dtype=np.int16)
    before = (2 * ones > k) == labels
    right = np.zeros(len(labels), np.int16)
    for judge in range(k):
        replaced = ones - ballots[:, judge] + signal
        right += (2 * replaced > k) == labels
    return float((right / k - before).mean())


def every_rule_and_subset(ballots: Any, signal: Any, labels: Any) -> list[Any]:
    """Every rule on the panel, and the uniform rule on each of its sub-panels."""
    distinct = votes.distinct_ballots(ballots, signal, labels)
    columns = (distinct.votes, distinct.signal, distinct.labels)
    k = ballots.shape[1]
    rules: list[Any] = ["uniform", "majority", *range(k)]
    found: list[Any] = [
        votes.substitution(*columns, rule=rule, counts=distinct.counts) for rule in rules
    ]
    sizes = range(1, k + 1)
    found += [votes.subset_sweep(*columns, size, counts=distinct.counts) for size in sizes]
    return found


def numpy_tally(ballots: Any) -> tuple[Any, ...]:
    """Decision, ones, margin, tie and pivotality of a panel without gaps, in NumPy."""
    k = ballots.shape[1]
    ones = ballots.sum(axis=1, dtype=np.int32)
    lean = 2 * ones - k
    return lean > 0, ones, np.abs(lean), lean == 0, (ones == k // 2) | (ones == k // 2 + 1)


def brute_permutations(ballots: Any, signal: Any, labels: Any, n: int) -> list[float]:
    """Pivotal gain with the errors of the signal shuffled, `n` times."""
    rng = np.random.default_rng(0)
    wrong = signal != labels
    gains = []
    for _ in range(n):
        shuffled = np.where(rng.permutation(wrong), 1 - labels, labels)
        gains.append(exhaustive_loop(ballots, shuffled, labels))
    return gains


def subset_loop(ballots: Any, signal: Any, labels: Any, panels: Any) -> list[float]:
    """The exhaustive loop on every sub-panel."""
    return [exhaustive_loop(ballots[:, panel], signal, labels) for panel in panels]


def numpy_moments(ballots: Any, signal: Any, labels: Any, tasks: Any) -> list[Any]:
    """The same 42 sums by task, of panels without gaps: a bincount each."""
    k = ballots.shape[1]
    ones = ballots.sum(axis=1, dtype=np.int16)
    decision = 2 * ones > k
    pivotal = (ones == k // 2) | (ones == k // 2 + 1)
    right = signal == labels
    flips = pivotal * (decision != signal) * np.where(decision, ones, k - ones)
    errors = np.column_stack([ballots, signal]) != labels[:, None]
    columns = [pivotal, np.where(right, flips, -flips), decision == labels, right, pivotal & right]
    columns += list(errors.T)
    columns += [errors[:, i] & errors[:, j] for i in range(k + 1) for j in range(i + 1, k + 1)]
    return [np.bincount(tasks), *(np.bincount(tasks, weights=column) for column in columns)]


def measure(n_queries: int = 10_000_000, rounds: int = 7) -> list[Row]:
    """The table; `n_queries` is the size of the large problem."""
    large = make_panel(n_queries, 7)
    small = make_panel(3241, 7)
    nine = make_panel(3241, 9)
    tasks = np.arange(3241) // 7
    read, n_bytes = read_call()
    panels = votes.subset_sweep(*nine, 5).members
    table: list[Row] = []

    def add(
        what: str,
        case: str,
        calls: dict[str, Callable[[], object]],
        *,
        targets: dict[str, float] | None = None,
        scale: dict[str, float] | None = None,
    ) -> None:
        timings = interleave(calls, rounds=rounds)
        table.extend(compare(what, case, timings, "ours", targets=targets, scale=scale))

    case = f"{n_queries:,} x 7"
    add(
        "every rule and subset",
        case,
        {
            "ours": lambda: every_rule_and_subset(*large),
            "NumPy loop, uniform only": lambda: exhaustive_loop(*large),
            "reading the bytes": read,
        },
        targets={"NumPy loop, uniform only": 30, "reading the bytes": 0.35},
        scale={"reading the bytes": 9 * n_queries / n_bytes},
    )
    add(
        "the one pass over the data",
        case,
        {"ours": lambda: votes.distinct_ballots(*large), "reading the bytes": read},
        scale={"reading the bytes": 9 * n_queries / n_bytes},
    )
    add(
        "substitution, one rule",
        case,
        {
            "ours": lambda: votes.substitution(*large),
            "NumPy loop, uniform only": lambda: exhaustive_loop(*large),
        },
    )
    add(
        "tally",
        case,
        {"ours": lambda: votes.tally(large[0]), "NumPy": lambda: numpy_tally(large[0])},
    )
    add(
        "substitution, one rule",
        "3,241 x 7",
        {
            "ours": lambda: votes.substitution(*small),
            "NumPy loop, uniform only": lambda: exhaustive_loop(*small),
        },
    )
    add(
        "permutation null, exact",
        "3,241 x 7",
        {
            "ours": lambda: votes.permutation_control(*small),
            "200 permutations, NumPy": lambda: brute_permutations(*small, 200),
        },
    )
    add(
        "126 sub-panels of 5 by task",
        "3,241 x 9, 463 tasks",
        {
            "ours": lambda: votes.subset_sweep(*nine, 5, tasks=tasks),
            "NumPy loop, no tasks": lambda: subset_loop(*nine, panels),
        },
    )
    add(
        "42 moments by task",
        "3,241 x 7, 463 tasks",
        {
            "ours": lambda: votes.task_moments(*small, tasks=tasks),
            "NumPy, a bincount each": lambda: numpy_moments(*small, tasks),
        },
    )
    return table


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    print_rows(measure(arguments.queries, arguments.rounds))
