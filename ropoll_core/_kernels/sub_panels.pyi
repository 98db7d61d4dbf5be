from typing import Any

def stratum_rows(
    votes: Any,
    signal: Any,
    labels: Any,
    counts: Any,
    panels: Any,
    rule: int,
    out: Any,
    gain: Any,
    start: int,
    stop: int,
    scratch: Any,
) -> None: ...
def task_rows(
    votes: Any,
    signal: Any,
    labels: Any,
    codes: Any,
    panels: Any,
    rule: int,
    shares: Any,
    out: Any,
    start: int,
    stop: int,
) -> None: ...
