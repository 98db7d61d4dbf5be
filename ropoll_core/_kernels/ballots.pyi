from typing import Any

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
def invalid_byte(ballots: Any) -> int: ...
