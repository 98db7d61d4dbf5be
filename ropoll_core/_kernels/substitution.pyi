from typing import Any

def stratum_rows(
    votes: Any,
    signal: Any,
    labels: Any,
    counts: Any,
    rule: int,
    sums: Any,
    gains: Any,
    left_out: Any,
    start: int,
    stop: int,
) -> None: ...
def weighted_stratum_rows(
    votes: Any,
    weights: Any,
    signal: Any,
    labels: Any,
    counts: Any,
    rule: int,
    sums: Any,
    gains: Any,
    left_out: Any,
    start: int,
    stop: int,
) -> None: ...
def weighted_flip_rows(
    votes: Any,
    weights: Any,
    rule: int,
    flips: Any,
    of: Any,
    start: int,
    stop: int,
) -> None: ...
