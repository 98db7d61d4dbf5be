from typing import Any

MOST_PATTERN_JUDGES: int
TIE_WITHIN: float

def tally_rows(
    votes: Any,
    tie_value: int,
    decision: Any,
    ones: Any,
    n_valid: Any,
    margin: Any,
    tie: Any,
    is_pivotal: Any,
    start: int,
    stop: int,
) -> int: ...
def weighted_tally_rows(
    votes: Any,
    weights: Any,
    tie_value: int,
    decision: Any,
    ones: Any,
    n_valid: Any,
    margin: Any,
    tie: Any,
    is_pivotal: Any,
    start: int,
    stop: int,
) -> int: ...
def pattern_rows(
    votes: Any,
    signal: Any,
    labels: Any,
    ternary: Any,
    complete: Any,
    gapped: Any,
    start: int,
    stop: int,
) -> tuple[int, int]: ...
def invalid_byte(ballots: Any) -> int: ...
