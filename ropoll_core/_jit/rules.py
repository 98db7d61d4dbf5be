"""A user's replacement rule, inlined by Numba in the loop over every replacement."""

from __future__ import annotations

import importlib
import weakref
from typing import Any

__all__ = ["flip_driver"]

_compiled: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


def flip_driver(rule: Any) -> Any:
    """Compiled ``(votes, weights, signal, tie, flip) -> row``, kept as long as the rule.

    ``flip[i]`` becomes the probability that the decision changes when the rule chooses the
    ballot to replace by ``signal[i]``: the share of the rule's weight on judges whose
    replacement flips it. A tally within ``tie`` of its total weight is decided as 0. Returns
    the first row where a weight of the rule is negative or not finite, or -1.
    """
    found = _compiled.get(rule)
    if found is None:
        found = _compiled[rule] = _compile(rule)
    return found


def _compile(rule: Any) -> Any:
    numba: Any = importlib.import_module("numba")

    def driver(votes, weights, signal, tie, flip):  # type: ignore[no-untyped-def]
        n_queries, n_judges = votes.shape
        for i in range(n_queries):
            seats = weights[i % weights.shape[0]]
            lean = 0.0
            total = 0.0
            for j in range(n_judges):
                if votes[i, j] >= 0:
                    lean += seats[j] if votes[i, j] == 1 else -seats[j]
                    total += seats[j]
            decision = lean > tie * total
            chosen = 0.0
            flipped = 0.0
            flip[i] = 0.0
            if signal[i] < 0:
                continue
            for j in range(n_judges):
                if votes[i, j] < 0 or seats[j] == 0.0:
                    continue
                weight = 1.0 * rule(votes[i], j, signal[i])
                if not 0.0 <= weight < float("inf"):
                    return i
                chosen += weight
                moved = lean
                if votes[i, j] != signal[i]:
                    moved += 2.0 * seats[j] if signal[i] == 1 else -2.0 * seats[j]
                if (moved > tie * total) != decision:
                    flipped += weight
            if chosen > 0.0:
                flip[i] = flipped / chosen
        return -1

    return numba.njit(nogil=True)(driver)
