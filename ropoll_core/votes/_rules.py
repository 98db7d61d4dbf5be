"""Which ballot a signal replaces."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropoll_core._checks.options import as_count

__all__ = ["RULES", "as_rule", "gain_unit", "least_unit", "rule_code", "unit_shares"]

RULES = ("uniform", "majority")


def as_rule(rule: Any, n_judges: int) -> str | int:
    """A name of `RULES`, or the index of a judge."""
    if callable(rule):
        raise TypeError(f"rule must be one of {', '.join(RULES)}, or the index of a judge here")
    if isinstance(rule, str):
        if rule not in RULES:
            raise ValueError(
                f"rule must be one of {', '.join(RULES)}, or the index of a judge; got {rule!r}"
            )
        return rule
    return as_count(rule, "rule", least=0, most=n_judges - 1)


def rule_code(rule: str | int) -> int:
    """The number that kernels know a rule by."""
    return rule if isinstance(rule, int) else {"uniform": -2, "majority": -1}[rule]


def least_unit(rule: str | int, n_valid: Iterable[int]) -> int:
    """The least number of which every gain under the rule is a whole fraction.

    A uniform replacement among k ballots gains in steps of 1/k; other rules in steps of 1.
    """
    return math.lcm(*(k for k in n_valid if k > 0)) if rule == "uniform" else 1


def gain_unit(rule: str | int, n_valid: Iterable[int], n_queries: int) -> int:
    """The least unit, if sums over the queries are exact in it."""
    unit = least_unit(rule, n_valid)
    if unit * max(n_queries, 1) >= 2**53:
        raise ValueError(
            "votes have too many different numbers of valid ballots for integer moments: "
            f"their least common multiple is {unit}, for {n_queries} queries; use the majority rule"
        )
    return unit


def unit_shares(unit: int, n_judges: int) -> NDArray[np.int64]:
    """``unit / k`` for each count k of valid ballots that divides it, else 0."""
    counts = np.arange(n_judges + 1)
    shares = np.zeros(n_judges + 1, np.int64)
    whole = (counts > 0) & (unit % np.maximum(counts, 1) == 0)
    shares[whole] = unit // counts[whole]
    return shares
