from typing import Any

def replacement_rows(
    codes: Any,
    signal: Any,
    gold: Any,
    counts: Any,
    outcome: Any,
    lead: Any,
    correct_after: Any,
    start: int,
    stop: int,
) -> None: ...
