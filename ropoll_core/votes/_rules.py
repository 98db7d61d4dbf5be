"""Which ballot a signal replaces."""

from __future__ import annotations

from typing import Any

from ropoll_core._checks.options import as_count

__all__ = ["RULES", "as_rule"]

RULES = ("uniform", "majority")


def as_rule(rule: Any, n_judges: int) -> str | int:
    """A name of `RULES`, or the index of a judge."""
    if isinstance(rule, str):
        if rule not in RULES:
            raise ValueError(
                f"rule must be one of {', '.join(RULES)}, or the index of a judge; got {rule!r}"
            )
        return rule
    return as_count(rule, "rule", least=0, most=n_judges - 1)
