from typing import Any

def expectation(
    votes: Any,
    counts: Any,
    log_odds: Any,
    log_zero: Any,
    prior: Any,
    posterior: Any,
    expected: Any,
) -> float: ...
