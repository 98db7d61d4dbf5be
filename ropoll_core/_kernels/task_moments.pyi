from typing import Any

OUTCOMES: tuple[str, ...]

def outcome_rows(
    votes: Any, signal: Any, labels: Any, codes: Any, rule: int, shares: Any, out: Any
) -> None: ...
def survey_rows(votes: Any, signal: Any, labels: Any, n_of_size: Any) -> tuple[int, int]: ...
def error_rows(
    votes: Any,
    signal: Any,
    labels: Any,
    codes: Any,
    single: Any,
    both: Any,
    wrong: Any,
) -> None: ...
def pair_rows(
    votes: Any,
    signal: Any,
    labels: Any,
    codes: Any,
    out: Any,
    errors: Any,
) -> None: ...
